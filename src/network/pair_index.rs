//! Finds a link by its two ends: a hash table with open addressing, whose order affects no result.

use crate::vocab::PartyId;

/// Positions of links, by sender and receiver.
#[derive(Clone, Debug, Default)]
pub(super) struct PairIndex {
    /// The key of a link, which is never 0 (0 marks an empty place), and its position. The length is a power of two, or 0.
    table: Vec<(u64, usize)>,
    len: usize,
}

fn key(from: PartyId, to: PartyId) -> u64 {
    // Plus 1, so that no key is 0. It cannot overflow: ids are positions, and there are fewer than 2^32 parties.
    ((u64::from(from.0) << 32) | u64::from(to.0)) + 1
}

impl PairIndex {
    pub(super) fn get(&self, from: PartyId, to: PartyId) -> Option<usize> {
        if self.table.is_empty() {
            return None;
        }
        let (found, position) = self.table[self.find(key(from, to))];
        (found != 0).then_some(position)
    }

    pub(super) fn insert(&mut self, from: PartyId, to: PartyId, position: usize) {
        if 2 * (self.len + 1) > self.table.len() {
            let larger = vec![(0, 0); (2 * self.table.len()).max(16)];
            for entry in std::mem::replace(&mut self.table, larger) {
                if entry.0 != 0 {
                    let place = self.find(entry.0);
                    self.table[place] = entry;
                }
            }
        }
        let place = self.find(key(from, to));
        self.len += usize::from(self.table[place].0 == 0);
        self.table[place] = (key(from, to), position);
    }

    /// The place of a key, or the empty place where it would be put.
    fn find(&self, key: u64) -> usize {
        let mask = self.table.len() - 1;
        // Fibonacci hashing (Knuth, The Art of Computer Programming 3, section 6.4).
        let mut place = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize & mask;
        while self.table[place].0 != 0 && self.table[place].0 != key {
            place = (place + 1) & mask;
        }
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_is_found_again_and_no_other() {
        let mut index = PairIndex::default();
        let pairs = (0..60).flat_map(|a| (0..60).map(move |b| (PartyId(a), PartyId(b))));
        for (position, (a, b)) in pairs.clone().enumerate().filter(|(position, _)| position % 3 == 0) {
            index.insert(a, b, position);
        }
        for (position, (a, b)) in pairs.enumerate() {
            assert_eq!(index.get(a, b), (position % 3 == 0).then_some(position));
        }
    }
}
