//! Theorems' bounds on regret, averaged over the replications of a series.

use super::estimator::{Estimator, Pass};
use crate::protocols::{RegretBound, SeriesRecord};
use std::collections::BTreeMap;

/// The sums of one theorem's bound over replications. `bound` is the bound as the first replication with this bound states
/// it, but without values. `largest` adds up the largest possible regrets. `values` adds up the values of the bound, round
/// by round.
#[derive(Debug)]
struct BoundSums {
    bound: RegretBound,
    largest: Estimator,
    values: BTreeMap<u64, Estimator>,
}

/// The bounds on one series in some replications, one entry per theorem.
#[derive(Debug, Default)]
pub(in crate::study) struct BoundMeans(Vec<BoundSums>);

impl BoundMeans {
    /// Adds the bounds of the series in one replication. One pass is enough for means.
    pub(in crate::study) fn add(&mut self, run: &SeriesRecord) {
        for bound in &run.bounds {
            let same = |known: &BoundSums| {
                let known = &known.bound;
                (known.side, known.regret, &known.source) == (bound.side, bound.regret, &bound.source)
            };
            let place = self.0.iter().position(same).unwrap_or_else(|| {
                let bound = RegretBound { points: Vec::new(), ..bound.clone() };
                self.0.push(BoundSums { bound, largest: Estimator::default(), values: BTreeMap::new() });
                self.0.len() - 1
            });
            let sums = &mut self.0[place];
            sums.largest.add(Pass::Means, bound.largest_possible);
            for (round, value) in &bound.points {
                sums.values.entry(*round).or_default().add(Pass::Means, *value);
            }
        }
    }

    /// For each theorem, the mean of its bound by round, over the replications for which it gives a bound.
    pub(in crate::study) fn finish(self) -> Vec<RegretBound> {
        let of = |BoundSums { bound, largest, values }: BoundSums| RegretBound {
            points: values.into_iter().map(|(round, sums)| (round, sums.mean())).collect(),
            largest_possible: largest.mean(),
            ..bound
        };
        self.0.into_iter().map(of).collect()
    }
}
