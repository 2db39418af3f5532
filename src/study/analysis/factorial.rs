//! The exact decomposition of the variance between all combinations of levels (analysis of variance). The noise of the
//! replications is removed from this variance and from its parts.
//!
//! Let y_k(c) be the value of replication k in cell c, ybar its mean over the replications, mu its expectation, and P a
//! projection that keeps one effect. The mean square of P mu over the cells is to be estimated. The expected mean square
//! of P ybar is too large, by the mean over the cells of the variance of P ybar. Products of different replications give
//! an estimate without this error. Let <.,.> be the mean over the cells of the product of two functions of the cell. The
//! mean of <P y_k, P y_l> over all pairs k != l has the expectation <P mu, P mu>. The reason is that replications are
//! independent, however much the cells of one replication depend on each other by common random numbers. The mean over
//! pairs is a U-statistic (Hoeffding 1948). The effects are those of Sobol' 1993 and of the analysis of variance for a
//! uniform distribution over the levels.

use super::resampling::{Resampled, Variances};

/// What a projection does along one axis.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Along {
    /// Replaces the values along the axis by their mean.
    Average,
    /// Subtracts the mean of the values along the axis from each of them.
    Centre,
    /// Leaves the values as they are.
    Keep,
}

/// The mean square of the centred values, and the mean square of each effect.
type Squares = (f64, Vec<f64>);

/// The values of a full factorial.
#[derive(Clone, Debug)]
pub(super) struct Factorial {
    /// Number of levels of each axis; the last axis changes fastest.
    levels: Vec<usize>,
    /// The values by replication and cell.
    values: Vec<Vec<f64>>,
    /// The projections: first-order effects of all axes, then total effects of all axes, then interactions of all pairs.
    effects: Vec<Vec<Along>>,
    /// For each replication, the mean square of its centred values and the mean square of each effect.
    squares: Vec<Squares>,
}

impl Factorial {
    /// A full factorial with these values by replication and cell.
    pub(super) fn new(levels: &[usize], values: Vec<Vec<f64>>) -> Self {
        let axes = levels.len();
        let effect = |centred: &[usize], others: Along| {
            (0..axes).map(|axis| if centred.contains(&axis) { Along::Centre } else { others }).collect()
        };
        let mut effects: Vec<Vec<Along>> = Vec::new();
        effects.extend((0..axes).map(|axis| effect(&[axis], Along::Average)));
        effects.extend((0..axes).map(|axis| effect(&[axis], Along::Keep)));
        effects.extend(pairs(axes).into_iter().map(|(a, b)| effect(&[a, b], Along::Average)));
        let mut found = Self { levels: levels.to_vec(), values, effects, squares: Vec::new() };
        found.squares = found.values.iter().map(|values| found.squared(values)).collect();
        found
    }

    /// The mean square of the centred values and of each effect.
    fn squared(&self, values: &[f64]) -> Squares {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let square = |values: &[f64]| values.iter().map(|value| value * value).sum::<f64>() / n;
        let centred: Vec<f64> = values.iter().map(|value| value - mean).collect();
        let of = |effect: &Vec<Along>| square(&self.projected(&centred, effect));
        (square(&centred), self.effects.iter().map(of).collect())
    }

    fn projected(&self, values: &[f64], effect: &[Along]) -> Vec<f64> {
        let mut values = values.to_vec();
        let mut stride = values.len();
        for (&levels, &along) in self.levels.iter().zip(effect) {
            let block = stride;
            stride /= levels;
            if along == Along::Keep {
                continue;
            }
            for start in (0..values.len()).step_by(block) {
                for offset in 0..stride {
                    let places = (0..levels).map(|level| start + offset + level * stride);
                    let mean = places.clone().map(|place| values[place]).sum::<f64>() / levels as f64;
                    for place in places {
                        values[place] = if along == Along::Average { mean } else { values[place] - mean };
                    }
                }
            }
        }
        values
    }
}

/// All pairs of different axes, in each of which the first axis comes before the second.
pub(super) fn pairs(axes: usize) -> Vec<(usize, usize)> {
    (0..axes).flat_map(|a| (a + 1..axes).map(move |b| (a, b))).collect()
}

impl Resampled for Factorial {
    fn replications(&self) -> usize {
        self.values.len()
    }

    fn rows(&self) -> usize {
        0
    }

    fn variances(&self, weights: &[f64], _: &[f64]) -> Option<Variances> {
        let sum: f64 = weights.iter().sum();
        let squared: f64 = weights.iter().map(|weight| weight * weight).sum();
        let products = sum * sum - squared;
        if products <= 0.0 {
            return None;
        }
        let mut added = vec![0.0; self.values.first()?.len()];
        for (values, weight) in self.values.iter().zip(weights) {
            added.iter_mut().zip(values).for_each(|(sum, value)| *sum += weight * value);
        }
        let (whole, effects) = self.squared(&added);
        // The part of a mean square of `added` that is due to products of a replication with itself: the sum over the
        // replications of the squared weight times the replication's own mean square.
        let itself = |of: &dyn Fn(&Squares) -> f64| -> f64 {
            self.squares.iter().zip(weights).map(|(squares, weight)| weight * weight * of(squares)).sum()
        };
        let unbiased: Vec<f64> = effects
            .iter()
            .enumerate()
            .map(|(place, square)| (square - itself(&|squares| squares.1[place])) / products)
            .collect();
        let axes = self.levels.len();
        Some(Variances {
            whole: (whole - itself(&|squares| squares.0)) / products,
            first: unbiased[..axes].to_vec(),
            total: unbiased[axes..2 * axes].to_vec(),
            pairs: unbiased[2 * axes..].to_vec(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Key;
    use crate::study::analysis::resampling::shares;

    /// f(a, b, c) = 3 a + b^2 + 2 a b over the levels 0..4, 0..3 and 0..2: the last axis does nothing.
    fn cells() -> Vec<(f64, f64, f64)> {
        let all = (0..4).flat_map(|a| (0..3).flat_map(move |b| (0..2).map(move |c| (a, b, c))));
        all.map(|(a, b, c)| (f64::from(a), f64::from(b), f64::from(c))).collect()
    }

    fn f((a, b, _): (f64, f64, f64)) -> f64 {
        3.0 * a + b * b + 2.0 * a * b
    }

    /// Computed by hand: a has the variance 5/4. At the mean of b, which is 1, the slope in a is 3 + 2 b = 5, so a alone
    /// explains 25 times 5/4. At the mean of a, which is 3/2, the terms with b are b^2 + 3 b, with the values 0, 4 and
    /// 10. The interaction of a and b has the variance 4 var(a) var(b).
    const FIRST: [f64; 3] = [25.0 * 1.25, (0.0 + 16.0 + 100.0) / 3.0 - 196.0 / 9.0, 0.0];
    const PAIR: f64 = 4.0 * 1.25 * 2.0 / 3.0;

    #[test]
    fn a_known_function_without_noise() {
        let values: Vec<f64> = cells().into_iter().map(f).collect();
        let factorial = Factorial::new(&[4, 3, 2], vec![values.clone(), values]);
        let found = factorial.variances(&[1.0, 1.0], &[]).unwrap();
        let close = |found: f64, known: f64| assert!((found - known).abs() < 1e-9, "{found} {known}");
        for (axis, known) in FIRST.into_iter().enumerate() {
            close(found.first[axis], known);
        }
        for (axis, pair) in [PAIR, PAIR, 0.0].into_iter().enumerate() {
            close(found.total[axis], FIRST[axis] + pair);
        }
        for (pair, known) in found.pairs.iter().zip([PAIR, 0.0, 0.0]) {
            close(*pair, known);
        }
        close(found.whole, FIRST.iter().sum::<f64>() + PAIR);
    }

    /// There are three noises: one that is common to the cells of a replication, one that is c times a random number of the
    /// replication, and one of each cell. On average over 400 studies of 4 replications, the estimates are right. The
    /// tolerance is six standard errors, estimated from the studies.
    #[test]
    fn noise_adds_no_variance() {
        let study = |index: u64| {
            let mut stream = Key::root(index).child("anova").stream();
            let replication = |_| {
                let (common, slope) = (20.0 * stream.normal(), 2.0 * stream.normal());
                cells().into_iter().map(|c| f(c) + common + slope * c.2 + 10.0 * stream.normal()).collect()
            };
            let values: Vec<Vec<f64>> = (0..4).map(replication).collect();
            Factorial::new(&[4, 3, 2], values).variances(&[1.0; 4], &[]).unwrap()
        };
        let studies: Vec<Variances> = (0..400).map(study).collect();
        type Part<'a> = &'a dyn Fn(&Variances) -> f64;
        let known: [(&str, f64, Part<'_>); 5] = [
            ("first a", FIRST[0], &|v| v.first[0]),
            ("first c", 0.0, &|v| v.first[2]),
            ("total c", 0.0, &|v| v.total[2]),
            ("pair a b", PAIR, &|v| v.pairs[0]),
            ("whole", FIRST.iter().sum::<f64>() + PAIR, &|v| v.whole),
        ];
        for (name, known, of) in known {
            let values: Vec<f64> = studies.iter().map(of).collect();
            let estimate = crate::study::results::statistics::Estimate::of(&values).unwrap();
            assert!((estimate.mean - known).abs() < 6.0 * estimate.se, "{name}: {estimate:?} for {known}");
        }
    }

    /// The 95 % interval of the share of the first axis covers this share in at least 85 of 100 studies with 20
    /// replications. With a coverage of 95 %, the probability that fewer than 85 intervals cover the share would be 4e-5.
    /// The coverage of the percentile bootstrap of 20 replications is a little lower than the 95 % that it states.
    #[test]
    fn intervals_cover() {
        let share = FIRST[0] / (FIRST.iter().sum::<f64>() + PAIR);
        let covers = |index: u64| {
            let mut stream = Key::root(index).child("anova intervals").stream();
            let mut replication = |_| cells().into_iter().map(|c| f(c) + 8.0 * stream.normal()).collect();
            let values: Vec<Vec<f64>> = (0..20).map(&mut replication).collect();
            let found = shares(&Factorial::new(&[4, 3, 2], values), 0.0, 0.95, Key::root(index)).unwrap();
            let first = found.first.unwrap()[0];
            first.low.unwrap() <= share && share <= first.high.unwrap()
        };
        let covered = (0..100).filter(|index| covers(*index)).count();
        assert!(covered >= 85, "{covered}");
    }
}
