//! Recognises numbers that were seen before, in memory of constant size.

/// The numbers seen so far, if they arrive roughly in order. A number that was never seen also counts as seen once a number
/// has arrived that is larger by a multiple of 65,536 (`PLACES`).
#[derive(Clone, Debug)]
pub(super) struct Recent {
    /// For each remainder modulo `PLACES`, one more than the largest number seen with this remainder; 0 if there was none.
    places: Vec<u64>,
}

const PLACES: u64 = 1 << 16;

impl Recent {
    pub(super) fn new() -> Self {
        Self { places: vec![0; PLACES as usize] }
    }

    /// Adds a number; false if it is known, or so old that it counts as known.
    pub(super) fn insert(&mut self, number: u64) -> bool {
        let place = &mut self.places[(number % PLACES) as usize];
        let new = *place <= number;
        if new {
            *place = number + 1;
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_new_only_once() {
        let mut recent = Recent::new();
        for number in [0, 2, 1, PLACES, 3 * PLACES + 1] {
            assert!(recent.insert(number), "{number}");
            assert!(!recent.insert(number), "{number}");
        }
        assert!(!recent.insert(0), "forgotten numbers count as known");
        assert!(recent.insert(3));
    }
}
