//! Means of theorems' bounds on regret over the replications of a series.

use crate::protocols::{RegretBound, SeriesRecord};
use std::collections::BTreeMap;

/// A theorem's bound as the first run states it, with the largest possible regrets and the values by round from all runs.
struct CollectedBound {
    bound: RegretBound,
    largest: Vec<f64>,
    values: BTreeMap<u64, Vec<f64>>,
}

/// The bounds of some runs, one per theorem: the mean by round, over the runs for which the theorem gives a bound.
pub(in crate::study) fn mean(runs: &[&SeriesRecord]) -> Vec<RegretBound> {
    let mut found: Vec<CollectedBound> = Vec::new();
    for bound in runs.iter().flat_map(|run| &run.bounds) {
        let same = |known: &&mut CollectedBound| {
            let known = &known.bound;
            (known.side, known.regret, &known.source) == (bound.side, bound.regret, &bound.source)
        };
        let mut new = None;
        let gathered = found.iter_mut().find(same).unwrap_or_else(|| {
            new.insert(CollectedBound { bound: bound.clone(), largest: Vec::new(), values: BTreeMap::new() })
        });
        gathered.largest.push(bound.largest_possible);
        for (round, value) in &bound.points {
            gathered.values.entry(*round).or_default().push(*value);
        }
        found.extend(new);
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let of = |CollectedBound { bound, largest, values }: CollectedBound| RegretBound {
        points: values.into_iter().map(|(round, values)| (round, mean(&values))).collect(),
        largest_possible: mean(&largest),
        ..bound
    };
    found.into_iter().map(of).collect()
}
