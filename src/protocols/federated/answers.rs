//! The rounds that an agent has answered. The network can make copies of messages; with this record, the server recognises
//! an answer that arrives a second time.

/// Rounds that one agent has answered, one bit each.
#[derive(Clone, Debug, Default)]
pub(super) struct Answers {
    /// Bit r % 64 of word r / 64 is set if round r was answered. The last word is never 0.
    words: Vec<u64>,
}

impl Answers {
    /// Records that a round was answered; false if that was recorded before.
    pub(super) fn insert(&mut self, round: u64) -> bool {
        let (word, bit) = ((round / 64) as usize, 1u64 << (round % 64));
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        let new = self.words[word] & bit == 0;
        self.words[word] |= bit;
        new
    }

    /// The largest number of a round that was answered, in time or late.
    pub(super) fn latest(&self) -> Option<u64> {
        let word = self.words.last()?;
        Some(self.words.len() as u64 * 64 - 1 - u64::from(word.leading_zeros()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_counts_once_and_the_latest_round_is_known() {
        let mut answers = Answers::default();
        assert_eq!(answers.latest(), None);
        for (round, latest) in [(3, 3), (0, 3), (63, 63), (200, 200), (64, 200), (201, 201)] {
            assert!(answers.insert(round), "{round}");
            assert!(!answers.insert(round), "{round}");
            assert_eq!(answers.latest(), Some(latest));
        }
    }
}
