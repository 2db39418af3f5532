//! Finds a link by its two ends: by a direct index in a star and in a small network, otherwise by a hash table.
//!
//! The table uses open addressing; the order of its entries affects no result.

use crate::vocab::PartyId;

/// Largest number of parties for which, in a network other than a star, every pair has a place in the direct index. With
/// this number of parties the direct index takes just under 128 KiB.
const SMALL: usize = 181;
/// Marks a pair without a link.
const NONE: u32 = u32::MAX;

/// The positions of links in the list of all links of the medium, by sender and receiver.
#[derive(Clone, Debug)]
pub(super) struct LinkIndex {
    parties: usize,
    hub: Option<usize>,
    /// Positions of the links of all pairs that have a place here. In a star, these are the pairs of the hub and another
    /// party, in both directions. In any other network of at most `SMALL` parties, these are all pairs.
    direct: Vec<u32>,
    /// Positions of the links of the pairs that have no place in `direct`.
    others: PairIndex,
}

impl LinkIndex {
    /// An empty index for this many parties; `hub` is the position of the hub if the network is a star.
    pub(super) fn new(parties: usize, hub: Option<usize>) -> Self {
        let places = match hub {
            Some(_) => 2 * parties,
            None if parties <= SMALL => parties * parties,
            None => 0,
        };
        Self { parties, hub, direct: vec![NONE; places], others: PairIndex::default() }
    }

    /// The place of a pair in `direct`; a number beyond the end of `direct` if the pair has no place there.
    fn place(&self, from: PartyId, to: PartyId) -> usize {
        match self.hub {
            Some(hub) if to.index() == hub => 2 * from.index(),
            Some(hub) if from.index() == hub => 2 * to.index() + 1,
            Some(_) => usize::MAX,
            None if self.direct.is_empty() => usize::MAX,
            None => from.index() * self.parties + to.index(),
        }
    }

    pub(super) fn get(&self, from: PartyId, to: PartyId) -> Option<usize> {
        match self.direct.get(self.place(from, to)) {
            Some(&position) => (position != NONE).then_some(position as usize),
            None => self.others.get(from, to),
        }
    }

    pub(super) fn insert(&mut self, from: PartyId, to: PartyId, position: usize) {
        let place = self.place(from, to);
        match (self.direct.get_mut(place), u32::try_from(position)) {
            (Some(known), Ok(position)) => *known = position,
            _ => self.others.insert(from, to, position),
        }
    }
}

/// A hash table of the positions of links, by the pair of a link's sender and receiver.
#[derive(Clone, Debug, Default)]
struct PairIndex {
    /// For each link its key, which is never 0 (0 marks an empty place), and its position. The table's length is a power of
    /// two or 0.
    table: Vec<(u64, usize)>,
    len: usize,
}

fn key(from: PartyId, to: PartyId) -> u64 {
    // Plus 1, so that no key is 0. The addition cannot overflow: ids are positions, and there are fewer than 2^32 parties.
    ((u64::from(from.0) << 32) | u64::from(to.0)) + 1
}

impl PairIndex {
    fn get(&self, from: PartyId, to: PartyId) -> Option<usize> {
        if self.table.is_empty() {
            return None;
        }
        let (found, position) = self.table[self.find(key(from, to))];
        (found != 0).then_some(position)
    }

    fn insert(&mut self, from: PartyId, to: PartyId, position: usize) {
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
        for (parties, hub) in [(60, None), (60, Some(7)), (SMALL + 1, None)] {
            let mut index = LinkIndex::new(parties, hub);
            let pairs = (0..60).flat_map(|a| (0..60).map(move |b| (PartyId(a), PartyId(b))));
            for (position, (a, b)) in pairs.clone().enumerate().filter(|(position, _)| position % 3 == 0) {
                index.insert(a, b, position);
            }
            for (position, (a, b)) in pairs.enumerate() {
                assert_eq!(index.get(a, b), (position % 3 == 0).then_some(position));
            }
        }
    }
}
