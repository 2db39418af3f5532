//! Theorems' bounds over all replications of a series.

use crate::protocols::{RegretBound, SeriesRecord};
use std::collections::BTreeMap;

/// A bound, the largest possible regret of every run that has it, and its values by round.
type Gathered = (RegretBound, Vec<f64>, BTreeMap<u64, Vec<f64>>);

/// The bounds of some runs, the same theorem's together: the mean by round, over the runs for which it says something.
pub(super) fn mean(runs: &[&SeriesRecord]) -> Vec<RegretBound> {
    let mut found: Vec<Gathered> = Vec::new();
    for bound in runs.iter().flat_map(|run| &run.bounds) {
        let same = |(known, ..): &&mut Gathered| {
            (known.side, known.regret, &known.source) == (bound.side, bound.regret, &bound.source)
        };
        let place = match found.iter_mut().find(same) {
            Some(known) => known,
            None => {
                found.push((bound.clone(), Vec::new(), BTreeMap::new()));
                found.last_mut().expect("just pushed")
            }
        };
        place.1.push(bound.largest_possible);
        for (round, value) in &bound.points {
            place.2.entry(*round).or_default().push(*value);
        }
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let of = |(bound, largest, points): Gathered| RegretBound {
        points: points.into_iter().map(|(round, values)| (round, mean(&values))).collect(),
        largest_possible: mean(&largest),
        ..bound
    };
    found.into_iter().map(of).collect()
}
