//! A quasi-random design over ranges, and its estimates of Sobol' indices, from which the noise of replications is removed.
//!
//! A and B are matrices with N rows, and each row is a point. They come from N quasi-random points with twice as many
//! coordinates as there are axes: A has the first half of the coordinates of these points, and B the second half. AB_i is A
//! with the i-th column of B, and BA_i is B with the i-th column of A. Let f be the metric at a point, m its mean over A and
//! B, V its variance over A and B, and E the mean over the N rows:
//!
//! * The share of axis i alone is E[(f(B) - m) (f(AB_i) - f(A))] / V (Saltelli, Annoni, Azzini, Campolongo, Ratto and
//!   Tarantola 2010, "Variance based sensitivity analysis of model output", Comput. Phys. Commun. 181:259-270, Table 2 (b)).
//! * The total share of axis i is E[(f(A) - f(AB_i))^2] / (2 V) (Jansen 1999, "Analysis of variance designs for model
//!   output", the same journal 117:35-43).
//! * The share of axes i and j together, which includes the share of each alone, is
//!   E[(f(BA_i) - m) (f(AB_j) - m) - (f(A) - m) (f(B) - m)] / V (Saltelli 2002, "Making best use of model evaluations", the
//!   same journal 145:280-297). The share of the interaction of i and j is this number minus the shares of i alone and of j
//!   alone.
//!
//! The two factors of every product are from two different replications, as in [`super::factorial`], so noise adds nothing
//! to the expectation of the product.

use super::factorial::pairs;
use super::resampling::{Resampled, Variances};
use crate::rng::Key;
use crate::rng::sobol::{MOST_DIMENSIONS, points};

/// Largest number of axes of a design.
pub const MOST_AXES: usize = MOST_DIMENSIONS / 2;

/// The size of a quasi-random design.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Design {
    /// Number of axes, at most [`MOST_AXES`].
    pub axes: usize,
    /// Number of points of A, the N of the design.
    pub rows: usize,
    /// Whether the shares of pairs of axes are estimated too, which takes further cells.
    pub pairs: bool,
}

impl Design {
    /// Number of cells: N (d + 2) for d axes, or N (2 d + 2) with pairs.
    #[must_use]
    pub fn cells(&self) -> usize {
        self.rows * (2 + self.axes * if self.pairs { 2 } else { 1 })
    }

    /// The coordinates of every cell, each in (0, 1): A, B, every AB_i, and every BA_i if there are pairs.
    #[must_use]
    pub fn points(&self, key: Key) -> Vec<Vec<f64>> {
        let joint = points(self.rows, 2 * self.axes, key);
        let (a, b): (Vec<&[f64]>, Vec<&[f64]>) = joint.iter().map(|point| point.split_at(self.axes)).unzip();
        let mut cells: Vec<Vec<f64>> = a.iter().chain(&b).map(|point| point.to_vec()).collect();
        for (own, other) in [(&a, &b), (&b, &a)].into_iter().take(if self.pairs { 2 } else { 1 }) {
            for axis in 0..self.axes {
                cells.extend(own.iter().zip(other).map(|(own, other)| {
                    let mut point = own.to_vec();
                    point[axis] = other[axis];
                    point
                }));
            }
        }
        cells
    }
}

/// The values of a design.
#[derive(Clone, Debug)]
pub(super) struct Designed {
    design: Design,
    /// The values by replication and cell, after subtraction of each replication's mean over A and B. V is computed as a
    /// mean of products of values, so without the subtraction it would contain m^2.
    values: Vec<Vec<f64>>,
}

/// A weighted sum of blocks of cells: the position of each block, and the factor by which the block is multiplied. Each
/// block has one value for each row. The blocks are A, B, every AB_i and every BA_i, in the order of [`Design::points`].
type Terms<'a> = &'a [(usize, f64)];

impl Designed {
    /// The values of a design by replication and cell.
    pub(super) fn new(design: Design, mut values: Vec<Vec<f64>>) -> Self {
        for values in &mut values {
            // The mean is taken over A and B, whose points are spread evenly.
            let plain = 2 * design.rows;
            let mean = values[..plain].iter().sum::<f64>() / plain as f64;
            values.iter_mut().for_each(|value| *value -= mean);
        }
        Self { design, values }
    }
}

/// The values of a design, with one set of weights of the replications and of the rows.
struct Weighted<'a> {
    of: &'a Designed,
    replications: &'a [f64],
    rows: &'a [f64],
    /// The values by cell, added up with the weights of the replications.
    added: Vec<f64>,
    /// The sum, over all ordered pairs of different replications, of the product of the two replications' weights.
    products: f64,
}

impl Weighted<'_> {
    /// The weighted mean of a product, over the rows and over all ordered pairs of different replications. The factors of
    /// the product are the value of `one` in the first replication of the pair and the value of `two` in the second.
    fn product(&self, one: Terms<'_>, two: Terms<'_>) -> f64 {
        let rows = self.of.design.rows;
        let at = |values: &[f64], terms: Terms<'_>, row: usize| -> f64 {
            terms.iter().map(|(block, factor)| factor * values[block * rows + row]).sum()
        };
        let mut sum = 0.0;
        for (row, weight) in self.rows.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
            let mut found = at(&self.added, one, row) * at(&self.added, two, row);
            for (values, own) in self.of.values.iter().zip(self.replications) {
                found -= own * own * at(values, one, row) * at(values, two, row);
            }
            sum += weight * found;
        }
        sum / self.products / self.rows.iter().sum::<f64>()
    }
}

impl Resampled for Designed {
    fn replications(&self) -> usize {
        self.values.len()
    }

    fn rows(&self) -> usize {
        self.design.rows
    }

    fn variances(&self, replications: &[f64], rows: &[f64]) -> Option<Variances> {
        let sum: f64 = replications.iter().sum();
        let products = sum * sum - replications.iter().map(|weight| weight * weight).sum::<f64>();
        if products <= 0.0 {
            return None;
        }
        let mut added = vec![0.0; self.design.cells()];
        for (values, weight) in self.values.iter().zip(replications) {
            added.iter_mut().zip(values).for_each(|(sum, value)| *sum += weight * value);
        }
        let weighted = Weighted { of: self, replications, rows, added, products };
        let axes = self.design.axes;
        let (a, b): (Terms<'_>, Terms<'_>) = (&[(0, 1.0)], &[(1, 1.0)]);
        let (ab, ba) = (|axis: usize| 2 + axis, |axis: usize| 2 + axes + axis);
        let first: Vec<f64> =
            (0..axes).map(|axis| weighted.product(b, &[(ab(axis), 1.0), (0, -1.0)])).collect();
        let total = (0..axes).map(|axis| {
            let change = [(0, 1.0), (ab(axis), -1.0)];
            weighted.product(&change, &change) / 2.0
        });
        let two = |(one, other): (usize, usize)| {
            let together = weighted.product(&[(ba(one), 1.0)], &[(ab(other), 1.0)]) - weighted.product(a, b);
            together - first[one] - first[other]
        };
        let pairs: Vec<f64> =
            if self.design.pairs { pairs(axes).into_iter().map(two).collect() } else { Vec::new() };
        Some(Variances {
            whole: f64::midpoint(weighted.product(a, a), weighted.product(b, b)),
            total: total.collect(),
            first,
            pairs,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::analysis::resampling::shares;
    use std::f64::consts::PI;

    /// Ishigami's function, with a = 7 and b = 0.1, of three numbers, each uniform in (-pi, pi). Its variance V is known,
    /// and so are the parts V_i of each number alone and the part V_13 of the interaction of the first and the third number:
    /// V = a^2/8 + b pi^4/5 + b^2 pi^8/18 + 1/2, V_1 = (1 + b pi^4/5)^2 / 2, V_2 = a^2/8, V_3 = 0, and V_13 = b^2 pi^8
    /// (1/18 - 1/50). Source: Ishigami and Homma 1990; Saltelli et al. 2008, "Global Sensitivity Analysis", section 4.6.
    fn ishigami(u: &[f64]) -> f64 {
        let x: Vec<f64> = u.iter().map(|u| PI * (2.0 * u - 1.0)).collect();
        libm::sin(x[0]) + 7.0 * libm::sin(x[1]).powi(2) + 0.1 * x[2].powi(4) * libm::sin(x[0])
    }

    fn study(rows: usize, replications: usize, noise: f64) -> Designed {
        let design = Design { axes: 3, rows, pairs: true };
        let exact: Vec<f64> =
            design.points(Key::root(3).child("design")).iter().map(|u| ishigami(u)).collect();
        assert_eq!(exact.len(), design.cells());
        let mut stream = Key::root(4).child("noise").stream();
        let mut noisy = |_| {
            let common = noise * stream.normal();
            exact.iter().map(|value| value + common + noise * stream.normal()).collect()
        };
        Designed::new(design, (0..replications).map(&mut noisy).collect())
    }

    fn known() -> (f64, [f64; 3], [f64; 3], [f64; 3]) {
        let (p4, p8) = (PI.powi(4), PI.powi(8));
        let whole = 49.0 / 8.0 + 0.1 * p4 / 5.0 + 0.01 * p8 / 18.0 + 0.5;
        let (first, pair) =
            ([(1.0 + 0.1 * p4 / 5.0).powi(2) / 2.0, 49.0 / 8.0, 0.0], 0.01 * p8 * (1.0 / 18.0 - 1.0 / 50.0));
        (whole, first, [first[0] + pair, first[1], pair], [0.0, pair, 0.0])
    }

    /// 4096 quasi-random points: errors of indices are a few thousandths. The published first-order indices are .3139, .4424
    /// and 0, the total ones .5576, .4424 and .2437.
    #[test]
    fn indices_of_ishigamis_function() {
        let (whole, first, total, pair) = known();
        let published = [0.3139, 0.4424, 0.0, 0.5576, 0.4424, 0.2437];
        let found = study(4096, 2, 0.0).variances(&[1.0; 2], &[1.0; 4096]).unwrap();
        assert!((found.whole / whole - 1.0).abs() < 0.01, "{} {whole}", found.whole);
        for axis in 0..3 {
            let [one, all] = [found.first[axis], found.total[axis]].map(|part| part / found.whole);
            assert!(
                (one - published[axis]).abs() < 0.01 && (one - first[axis] / whole).abs() < 0.01,
                "{axis}: {one}"
            );
            assert!(
                (all - published[3 + axis]).abs() < 0.01 && (all - total[axis] / whole).abs() < 0.01,
                "{axis}: {all}"
            );
            let two = found.pairs[axis] / found.whole;
            assert!((two - pair[axis] / whole).abs() < 0.015, "pair {axis}: {two}");
        }
    }

    /// There are two noises: one that is common to all cells of a replication, and one of each cell. The standard deviation
    /// of each noise is roughly half of that of the function. The noises do not raise the estimated variance, and the
    /// intervals cover the indices.
    #[test]
    fn noise_is_removed() {
        let (whole, first, total, _) = known();
        let found = shares(&study(256, 40, 2.0), 0.0, 0.999, Key::root(1)).unwrap();
        assert!((found.whole.value / whole - 1.0).abs() < 0.2, "{:?} {whole}", found.whole);
        for axis in 0..3 {
            for (share, known) in
                [(found.first.as_ref().unwrap()[axis], first[axis]), (found.total[axis], total[axis])]
            {
                let known = known / whole;
                assert!(
                    share.low.unwrap() <= known && known <= share.high.unwrap(),
                    "{axis}: {share:?} {known}"
                );
                assert!(share.high.unwrap() - share.low.unwrap() < 0.5, "{share:?}");
            }
        }
    }
}
