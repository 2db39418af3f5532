//! Bootstrap: weights of resampled observations, and intervals of shares from resampled variances.

use crate::rng::{Key, Stream};
use serde::Serialize;

/// Number of resamples.
pub(super) const RESAMPLES: usize = 1_000;
/// Fewest replications for an interval: fewer have too few different resamples.
const FEWEST: usize = 5;
/// The shares of the variance have intervals only if at most this part of the resamples has a variance that is at most 0 or
/// mere rounding error. (A share of a variance of 0 is undefined.)
const MOST_EMPTY: f64 = 0.05;

/// A number with an interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Share {
    /// The estimate.
    pub value: f64,
    /// Lower end of the interval; absent for fewer than five replications. For a share of the variance, it is also
    /// absent if more than 5 % of the resamples have a variance that is at most 0 or as small as rounding errors.
    pub low: Option<f64>,
    /// Upper end of the interval; absent if the lower end is.
    pub high: Option<f64>,
}

/// Variances between cells, without the noise of replications.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Variances {
    /// The variance between all cells.
    pub(super) whole: f64,
    /// The part of `whole` that each axis explains alone.
    pub(super) first: Vec<f64>,
    /// The part of `whole` that each axis explains alone and in interactions with other axes.
    pub(super) total: Vec<f64>,
    /// The part of `whole` that each pair of axes explains by its interaction, beyond what each of the two axes explains
    /// alone.
    pub(super) pairs: Vec<f64>,
}

impl Variances {
    /// The parts in one sequence: `first`, then `total`, then `pairs`.
    fn parts(&self) -> impl Iterator<Item = f64> {
        self.first.iter().chain(&self.total).chain(&self.pairs).copied()
    }
}

/// Values of a design with replications, from which variances are estimated.
pub(super) trait Resampled {
    /// Number of replications.
    fn replications(&self) -> usize;
    /// Number of rows of the design that are resampled too; 0 for a design that has all combinations.
    fn rows(&self) -> usize;
    /// The variances, each replication and each row counted with its weight; `None` if all weight lies on one replication.
    fn variances(&self, replications: &[f64], rows: &[f64]) -> Option<Variances>;
}

/// Variances with intervals.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Shares {
    /// The variance between all cells.
    pub(super) whole: Share,
    /// The parts of [`Variances::first`] as shares of `whole`; `None` if `whole` is at most 0 or as small as rounding
    /// errors.
    pub(super) first: Option<Vec<Share>>,
    /// The parts of [`Variances::total`] as shares of `whole`; empty if `first` is `None`.
    pub(super) total: Vec<Share>,
    /// The parts of [`Variances::pairs`] as shares of `whole`; empty if `first` is `None`.
    pub(super) pairs: Vec<Share>,
}

/// How often each of `count` observations is drawn in a sample of `count` with replacement.
fn weights(count: usize, stream: &mut Stream) -> Vec<f64> {
    let mut weights = vec![0.0; count];
    for _ in 0..count {
        weights[stream.below(count as u64) as usize] += 1.0;
    }
    weights
}

/// The variances and the shares of a design, with percentile intervals from resampled replications and rows; `key` is the
/// node of the seed tree for the resamples.
///
/// The estimate of a variance is a mean of products of values from different replications (see [`super::factorial`]). In a
/// resample too, [`Resampled::variances`] multiplies only values of different replications, so a replication that is drawn
/// twice is not multiplied with itself. Source of the interval: Efron and Tibshirani 1993,
/// "An Introduction to the Bootstrap", chapter 13. Source of the bootstrap of indices: Archer, Saltelli and Sobol' 1997,
/// "Sensitivity measures, ANOVA-like techniques and the use of bootstrap" (J. Stat. Comput. Simul. 58).
///
/// A variance of at most `nothing` is taken for rounding errors, and has no shares. Returns `None` for fewer than two
/// replications.
pub(super) fn shares(design: &dyn Resampled, nothing: f64, confidence: f64, key: Key) -> Option<Shares> {
    let (n, rows) = (design.replications(), design.rows());
    let found = design.variances(&vec![1.0; n], &vec![1.0; rows])?;
    let mut wholes = Vec::new();
    let mut drawn: Vec<Vec<f64>> = Vec::new();
    let mut usable = 0;
    if n >= FEWEST {
        for resample in 0..RESAMPLES {
            let mut stream = key.index(resample as u64).stream();
            let (by_replication, by_row) = (weights(n, &mut stream), weights(rows, &mut stream));
            let Some(variances) = design.variances(&by_replication, &by_row) else { continue };
            wholes.push(variances.whole);
            usable += 1;
            if variances.whole > nothing {
                drawn.push(variances.parts().map(|part| part / variances.whole).collect());
            }
        }
    }
    let interval = |mut values: Vec<f64>| -> Option<(f64, f64)> {
        values.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let place = share * (values.len() as f64 - 1.0);
            let (below, part) = (place as usize, place.fract());
            let next = values.get(below + 1).or(values.get(below))?;
            Some(values.get(below)? * (1.0 - part) + next * part)
        };
        Some((at((1.0 - confidence) / 2.0)?, at(f64::midpoint(1.0, confidence))?))
    };
    let with = |value: f64, ends: Option<(f64, f64)>| Share {
        value,
        low: ends.map(|ends| ends.0),
        high: ends.map(|ends| ends.1),
    };
    let told = usable > 0 && drawn.len() as f64 >= (1.0 - MOST_EMPTY) * f64::from(usable);
    let mut parts = Vec::new();
    if found.whole > nothing {
        for (place, part) in found.parts().enumerate() {
            let ends = told.then(|| interval(drawn.iter().map(|one| one[place]).collect())).flatten();
            parts.push(with(part / found.whole, ends));
        }
    }
    let pairs = parts.split_off((2 * found.first.len()).min(parts.len()));
    let total = parts.split_off(found.first.len().min(parts.len()));
    let whole = with(found.whole, interval(wholes));
    Some(Shares { whole, first: (found.whole > nothing).then_some(parts), total, pairs })
}
