//! The outcomes of one arm. They are stored so that the sum of all outcomes whose absolute value is at most a bound is
//! computed fast.

/// Recent outcomes are merged into the sorted list when there are this many of them.
const RECENT: usize = 64;

/// Outcomes sorted by absolute value, with their running sums, and up to 63 recent outcomes that are not sorted yet.
#[derive(Clone, Debug, Default)]
pub(super) struct OutcomeSums {
    /// Sorted by increasing |value|.
    sorted: Vec<f64>,
    /// Entry i is the sum of `sorted[..=i]`.
    running: Vec<f64>,
    recent: Vec<f64>,
    total: f64,
    largest: f64,
}

impl OutcomeSums {
    /// Adds a finite outcome. O(number of outcomes / 64) on average.
    pub(super) fn insert(&mut self, value: f64) {
        self.total += value;
        self.largest = self.largest.max(value.abs());
        self.recent.push(value);
        if self.recent.len() == RECENT {
            self.merge();
        }
    }

    fn merge(&mut self) {
        self.recent.sort_by(|a, b| a.abs().total_cmp(&b.abs()).then(a.total_cmp(b)));
        let mut from = self.sorted.len();
        self.sorted.resize(from + self.recent.len(), 0.0);
        let mut to = self.sorted.len();
        // The values are merged from the largest down, so that no value is overwritten before it is moved.
        while let Some(&value) = self.recent.last() {
            to -= 1;
            if from > 0 && self.sorted[from - 1].abs() > value.abs() {
                from -= 1;
                self.sorted[to] = self.sorted[from];
            } else {
                self.sorted[to] = value;
                self.recent.pop();
            }
        }
        self.running.truncate(to);
        let mut sum = self.running.last().copied().unwrap_or(0.0);
        self.running.extend(self.sorted[to..].iter().map(|&value| {
            sum += value;
            sum
        }));
        self.total = sum;
    }

    /// Sum of the outcomes with an absolute value of at most `bound`.
    pub(super) fn within(&self, bound: f64) -> f64 {
        if self.largest <= bound {
            return self.total;
        }
        let count = self.sorted.partition_point(|value| value.abs() <= bound);
        let sorted = if count == 0 { 0.0 } else { self.running[count - 1] };
        self.recent.iter().fold(sorted, |sum, &value| if value.abs() <= bound { sum + value } else { sum })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Key;

    #[test]
    fn sums_are_those_of_a_plain_loop() {
        let mut stream = Key::root(5).stream();
        let (mut sums, mut plain) = (OutcomeSums::default(), Vec::new());
        for round in 0..1000 {
            let value = 10.0 * stream.laplace();
            sums.insert(value);
            plain.push(value);
            let bound = if round % 7 == 0 { f64::INFINITY } else { 30.0 * stream.uniform() };
            let expected: f64 = plain.iter().filter(|value| value.abs() <= bound).sum();
            assert!((sums.within(bound) - expected).abs() < 1e-9, "round {round}, bound {bound}");
        }
    }
}
