//! Histograms of the scores of an audit's trials, on the given data D and on the neighbouring data D', for charts.

use super::evidence::Scores;
use serde::Serialize;

/// Number of bins.
const BINS: usize = 40;

/// Shares of the scores per bin, for D and for D'. Scores beyond the ends, infinite ones too, count in the outermost bins.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Histogram {
    /// Lower end of the first bin.
    pub low: f64,
    /// Upper end of the last bin.
    pub high: f64,
    /// Shares under D, from the first bin on.
    pub given: Vec<f64>,
    /// Shares under D'.
    pub neighbour: Vec<f64>,
}

impl Histogram {
    /// Bins between the 0.1 % and 99.9 % quantiles of the finite scores on D and D' together.
    #[must_use]
    pub fn of(scores: &Scores) -> Self {
        let mut all: Vec<f64> = scores.iter().flatten().copied().filter(|score| score.is_finite()).collect();
        all.sort_by(f64::total_cmp);
        let at =
            |share: f64| all.get(((all.len().max(1) - 1) as f64 * share) as usize).copied().unwrap_or(0.0);
        let (mut low, mut high) = (at(0.001), at(0.999));
        if high <= low {
            (low, high) = (low - 0.5, high + 0.5);
        }
        let shares = |scores: &[f64]| {
            let mut bins = vec![0.0; BINS];
            for score in scores {
                let place = (score - low) / (high - low) * BINS as f64;
                // A cast to `usize` saturates: minus infinity becomes 0.
                bins[(place as usize).min(BINS - 1)] += 1.0 / scores.len() as f64;
            }
            bins
        };
        Self { low, high, given: shares(&scores[0]), neighbour: shares(&scores[1]) }
    }

    /// The middle of a bin.
    #[must_use]
    pub fn middle(&self, bin: usize) -> f64 {
        self.low + (self.high - self.low) * (bin as f64 + 0.5) / self.given.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_score_is_in_a_bin() {
        let scores: Scores = [vec![0.0, 1.0, f64::INFINITY], vec![f64::NEG_INFINITY, 0.25, 0.5, 0.75]];
        let histogram = Histogram::of(&scores);
        for shares in [&histogram.given, &histogram.neighbour] {
            assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
        assert!(Histogram::of(&[vec![2.0], vec![2.0]]).high > 2.0);
    }
}
