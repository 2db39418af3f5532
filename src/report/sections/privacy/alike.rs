//! The parts of a long note that differ from an earlier note, so that only these parts are printed.

/// Smallest number of words of a long note. A shorter note is printed in full.
const LONG: usize = 25;
/// Largest share of the words of a note that may be new.
const NEW: f64 = 0.2;
/// Largest number of places at which a note may differ from an earlier one.
const PLACES: usize = 3;
/// Number of words before and after each difference that are printed with it.
const AROUND: usize = 2;

/// The parts of `new` that differ from `known`, each in quotation marks and with two words before and after it; `None` if
/// `new` is short, if the two are equal, or if they are not alike enough. Words are compared in order. If at some place
/// `new` only lacks words of `known`, the two are not alike enough.
pub(super) fn differences(known: &str, new: &str) -> Option<Vec<String>> {
    let (known, new): (Vec<&str>, Vec<&str>) =
        (known.split_whitespace().collect(), new.split_whitespace().collect());
    if new.len() < LONG {
        return None;
    }
    let mut places: Vec<(usize, usize)> = Vec::new();
    let (mut i, mut j, mut count) = (0, 0, 0);
    let lengths = common_lengths(&known, &new);
    let at = |i: usize, j: usize| lengths[i * (new.len() + 1) + j];
    while i < known.len() || j < new.len() {
        if i < known.len() && j < new.len() && known[i] == new[j] {
            (i, j) = (i + 1, j + 1);
            continue;
        }
        let from = j;
        // Skips the words that only one of the two notes has, up to the next word that both have.
        while (i < known.len() || j < new.len()) && !(i < known.len() && j < new.len() && known[i] == new[j])
        {
            if j < new.len() && (i == known.len() || at(i, j + 1) >= at(i + 1, j)) {
                j += 1;
            } else {
                i += 1;
            }
        }
        if from == j {
            return None;
        }
        count += j - from;
        places.push((from, j));
    }
    let alike = !places.is_empty() && places.len() <= PLACES && count as f64 <= NEW * new.len() as f64;
    let told = |&(from, to): &(usize, usize)| {
        let (from, to) = (from.saturating_sub(AROUND), (to + AROUND).min(new.len()));
        format!("\"{}\"", new[from..to].join(" "))
    };
    alike.then(|| places.iter().map(told).collect())
}

/// Lengths of the longest common subsequences of words, as a matrix with `known.len() + 1` rows and `new.len() + 1`
/// columns. Entry (i, j) is the length for `known[i..]` and `new[j..]`.
fn common_lengths(known: &[&str], new: &[&str]) -> Vec<usize> {
    let width = new.len() + 1;
    let mut lengths = vec![0; (known.len() + 1) * width];
    for i in (0..known.len()).rev() {
        for j in (0..new.len()).rev() {
            lengths[i * width + j] = if known[i] == new[j] {
                lengths[(i + 1) * width + j + 1] + 1
            } else {
                lengths[(i + 1) * width + j].max(lengths[i * width + j + 1])
            };
        }
    }
    lengths
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRAPH: &str = "holds only with a server that follows the protocol; a random graph of masks with 12 neighbours each in which \
                         the agents that answer without colluding are connected, which cannot fail if colluding and absent \
                         agents do not depend on the graph and at most 3 are absent";

    #[test]
    fn only_the_difference_is_told() {
        let more = GRAPH.replace("most 3", "most 4");
        assert_eq!(differences(GRAPH, &more).unwrap(), ["\"at most 4 are absent\""]);
        let fails = more.replace("cannot fail", "fails with probability at most 1e-5");
        let told = differences(GRAPH, &fails).unwrap();
        assert_eq!(
            told,
            [
                "\"connected, which fails with probability at most 1e-5 if colluding\"",
                "\"at most 4 are absent\""
            ]
        );
        // The first of the following notes differs from the known one at two places; the second place is its last word, so
        // no words follow it. For each of the other notes no difference is printed: words are only missing, the note is the
        // same, all words differ, or the note is too short.
        let ended = GRAPH.replace("absent agents", "late agents").replace("are absent", "are late");
        assert_eq!(
            differences(GRAPH, &ended).unwrap(),
            ["\"colluding and late agents do\"", "\"3 are late\""]
        );
        assert_eq!(differences(GRAPH, &GRAPH.replace("a random graph of ", "")), None);
        assert_eq!(differences(GRAPH, GRAPH), None);
        let other: Vec<String> = GRAPH.split(' ').map(|word| format!("{word}s")).collect();
        assert_eq!(differences(GRAPH, &other.join(" ")), None);
        assert_eq!(differences("holds only with A", "holds only with B"), None);
    }
}
