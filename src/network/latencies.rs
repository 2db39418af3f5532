//! Counts of latencies in classes of at most 0.8 % of their value.
//!
//! Latencies below 256 ns have a class each; each doubling beyond has 128 classes of one width, as in HdrHistogram (Tene) with two
//! significant digits. Only the classes between the smallest and the largest latency so far are stored.

/// Classes per doubling, and the binary logarithm of twice that number.
const PER_DOUBLING: u64 = 128;
const DIGITS: u32 = 8;

/// How many messages had which latency.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Latencies {
    /// The class of the first count.
    first: usize,
    counts: Vec<u64>,
    total: u64,
}

/// The class of a latency in nanoseconds.
#[inline(always)]
fn class(nanos: u64) -> usize {
    let doublings = u64::BITS - (nanos | (2 * PER_DOUBLING - 1)).leading_zeros() - DIGITS;
    (u64::from(doublings) * PER_DOUBLING + (nanos >> doublings)) as usize
}

/// The smallest and the largest latency of a class, in nanoseconds.
fn range(class: usize) -> (u64, u64) {
    let class = class as u64;
    let doublings = (class / PER_DOUBLING).saturating_sub(1);
    let low = (class - doublings * PER_DOUBLING) << doublings;
    (low, low + ((1 << doublings) - 1))
}

impl Latencies {
    /// Counts one message.
    #[inline(always)]
    pub(super) fn add(&mut self, nanos: u64) {
        let class = class(nanos);
        // A class below the first has a place beyond the last.
        match self.counts.get_mut(class.wrapping_sub(self.first)) {
            Some(count) => *count += 1,
            None => self.add_to(class, 1),
        }
        self.total += 1;
    }

    /// Counts several messages.
    pub(super) fn add_many(&mut self, nanos: u64, count: u64) {
        if count > 0 {
            self.add_to(class(nanos), count);
            self.total += count;
        }
    }

    #[cold]
    fn add_to(&mut self, class: usize, count: u64) {
        if self.counts.is_empty() {
            self.first = class;
        }
        if class < self.first {
            self.counts.splice(..0, std::iter::repeat_n(0, self.first - class));
            self.first = class;
        }
        let place = class - self.first;
        if place >= self.counts.len() {
            self.counts.resize(place + 1, 0);
        }
        self.counts[place] += count;
    }

    /// Adds the counts of `other`.
    pub(super) fn merge(&mut self, other: &Self) {
        for (class, &count) in (other.first..).zip(&other.counts).filter(|(_, count)| **count > 0) {
            self.add_to(class, count);
        }
        self.total += other.total;
    }

    /// Number of messages.
    pub(super) fn len(&self) -> u64 {
        self.total
    }

    /// The latency at quantile `q` in [0, 1] in nanoseconds: the largest of the class in which the smallest share of at least
    /// `q` of all messages ends; for 0 the smallest of the first class. `None` without messages.
    pub(super) fn quantile(&self, q: f64) -> Option<u64> {
        let wanted = ((q.min(1.0) * self.total as f64).ceil() as u64).max(1);
        let mut below = 0;
        let class = (self.first..).zip(&self.counts).find(|(_, count)| {
            below += **count;
            below >= wanted
        });
        class.map(|(class, _)| if q == 0.0 { range(class).0 } else { range(class).1 })
    }

    /// The largest latency of each class with messages, and their number.
    pub(super) fn steps(&self) -> impl Iterator<Item = (u64, u64)> {
        let all = (self.first..).zip(&self.counts).filter(|(_, count)| **count > 0);
        all.map(|(class, &count)| (range(class).1, count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_follow_one_another_and_are_narrow() {
        let mut next = 0;
        for place in 0..=class(u64::MAX) {
            let (low, high) = range(place);
            assert_eq!((low, class(low), class(high)), (next, place, place));
            assert!(u128::from(high - low) * 128 <= u128::from(low), "{low} to {high}");
            next = high.wrapping_add(1);
        }
        assert_eq!(next, 0, "the last class ends with the largest number");
    }

    #[test]
    fn quantiles_are_those_of_the_sorted_latencies() {
        let nanos: Vec<u64> = (0..3000u64).map(|k| (k * 7919) % 3001 * (k % 17 + 1) * 991 + k % 3).collect();
        let (mut all, mut parts) = (Latencies::default(), [Latencies::default(), Latencies::default()]);
        nanos.iter().for_each(|&one| all.add(one));
        nanos.iter().enumerate().for_each(|(k, &one)| parts[k % 2].add(one));
        let [mut merged, other] = parts;
        merged.merge(&other);
        assert_eq!(merged, all);
        let mut read = Latencies::default();
        all.steps().for_each(|(latency, count)| read.add_many(latency, count));
        assert_eq!(read, all);
        let mut sorted = nanos;
        sorted.sort_unstable();
        for q in [0.001, 0.1, 0.5, 0.75, 0.99, 1.0] {
            let exact = sorted[((q * sorted.len() as f64).ceil() as usize).max(1) - 1];
            assert_eq!(all.quantile(q), Some(range(class(exact)).1), "{q}");
        }
        assert_eq!(all.quantile(0.0), Some(range(class(sorted[0])).0));
        assert_eq!((Latencies::default().quantile(0.5), all.len()), (None, 3000));
    }
}
