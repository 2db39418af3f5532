//! The distribution of the results of comparisons in the sparse vector technique, by integration over the noise on the
//! threshold.

/// Scales of Laplace noise: on the threshold, on each number that is compared with the threshold (`number`), and on each
/// value that is released of a number above the threshold (`value`), if values are released.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct NoiseScales<N = f64> {
    pub(super) threshold: N,
    pub(super) number: N,
    pub(super) value: Option<N>,
}

impl NoiseScales {
    pub(super) fn map<M>(self, mut to: impl FnMut(f64) -> M) -> NoiseScales<M> {
        NoiseScales { threshold: to(self.threshold), number: to(self.number), value: self.value.map(to) }
    }
}

/// The integral ends at this many times the larger of two scales (of the noise on the threshold, and of the noise on a
/// number) beyond the outermost points at which the integrand has a kink. The rest of the integral is negligible.
const FAR: f64 = 40.0;

/// Abscissae and weights of the positive half of the Gauss-Legendre rule with eight points.
const RULE: [(f64, f64); 4] = [
    (0.183_434_642_495_649_8, 0.362_683_783_378_362),
    (0.525_532_409_916_329, 0.313_706_645_877_887_3),
    (0.796_666_477_413_626_7, 0.222_381_034_453_374_5),
    (0.960_289_856_497_536_2, 0.101_228_536_290_376_26),
];

/// ln of the probability that the comparisons have the results `above`; `numbers` are relative to the threshold. The
/// probability is the integral, over the noise z on the threshold, of the density of z times the product of the
/// probabilities of all results given z. The integral is split where one of the factors has a kink. The relative error of
/// the probability is below 1e-9 for up to 1000 numbers.
pub(super) fn log_probability(numbers: &[f64], above: &[bool], scales: NoiseScales) -> f64 {
    // Equal numbers with equal results are counted together.
    let mut factors: Vec<(f64, bool, f64)> = Vec::new();
    for (&x, &above) in numbers.iter().zip(above) {
        match factors.iter_mut().find(|(known, same, _)| *known == x && *same != above) {
            Some((_, _, count)) => *count += 1.0,
            None => factors.push((x, !above, 1.0)),
        }
    }
    let log_density = |z: f64| {
        let start = -z.abs() / scales.threshold - libm::log(2.0 * scales.threshold);
        factors.iter().fold(start, |sum, &(x, below, count)| {
            let above_by = (z - x) / scales.number;
            sum + count * log_tail(if below { -above_by } else { above_by })
        })
    };
    let mut kinks: Vec<f64> = factors.iter().map(|(x, _, _)| *x).chain([0.0]).collect();
    kinks.sort_by(f64::total_cmp);
    let far = FAR * scales.threshold.max(scales.number);
    let ends = [kinks[0] - far, kinks[kinks.len() - 1] + far];
    let width = scales.threshold.min(scales.number);
    let mut terms = Vec::new();
    let mut from = ends[0];
    for to in kinks.into_iter().chain([ends[1]]) {
        let pieces = ((to - from) / width).ceil().max(0.0);
        for piece in 0..pieces as usize {
            let half = 0.5 * (to - from) / pieces;
            let centre = from + (2.0 * piece as f64 + 1.0) * half;
            for (abscissa, weight) in RULE {
                for z in [centre - half * abscissa, centre + half * abscissa] {
                    terms.push(log_density(z) + libm::log(weight * half));
                }
            }
        }
        from = to;
    }
    let most = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = terms.into_iter().map(|term| libm::exp(term - most)).sum();
    most + libm::log(sum)
}

/// ln of the probability that standard Laplace noise is at least `x`.
fn log_tail(x: f64) -> f64 {
    if x > 0.0 { -x - std::f64::consts::LN_2 } else { libm::log1p(-0.5 * libm::exp(x)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::mechanisms::{Compared, Mechanism, NoiseArithmetic, SparseVector};
    use crate::rng::Key;
    use crate::vocab::{Epsilon, Finite, Positive};
    use std::collections::BTreeMap;
    use std::num::NonZeroU32;

    fn mechanism(cutoff: u32) -> SparseVector {
        let (epsilon, one) = (Epsilon::new(2.0).unwrap(), Positive::new(1.0).unwrap());
        SparseVector::new(epsilon, one, Finite::new(0.5).unwrap(), NonZeroU32::new(cutoff).unwrap())
    }

    /// The closed form for one number. With noise of scale a on the threshold and of scale b on the number, the noise on the
    /// number exceeds the noise on the threshold by d or more, for d of at least 0, with probability
    /// (b^2 e^(-d/b) - a^2 e^(-d/a)) / (2 (b^2 - a^2)).
    #[test]
    fn the_probability_of_one_comparison_is_the_closed_form() {
        for (a, b) in [(1.5f64, 4.0f64), (40.0, 10.0), (0.02, 0.05)] {
            let scales = NoiseScales { threshold: a, number: b, value: None };
            for d in [0.0, 0.3, 2.0, 30.0].map(|d: f64| d * a.max(b) / 4.0) {
                let above = log_probability(&[-d], &[true], scales);
                let exact = (b * b * libm::exp(-d / b) - a * a * libm::exp(-d / a)) / (2.0 * (b * b - a * a));
                assert!((libm::exp(above) / exact - 1.0).abs() < 1e-9, "{d}: {above} for {exact}");
                let below = log_probability(&[-d], &[false], scales);
                assert!((libm::exp(below) + exact - 1.0).abs() < 1e-9, "{d}: {below}");
            }
        }
        assert_eq!(log_tail(0.0), libm::log1p(-0.5));
    }

    /// The answers for four numbers, with cutoff 2, are drawn 100,000 times in each arithmetic. The frequency of each
    /// list of answers lies within 5 standard errors of its probability. The probabilities of these lists add up to 1.
    #[test]
    fn answers_have_the_computed_probabilities() {
        let numbers = vec![0.0, 1.0, -1.0, 2.0];
        let exact = mechanism(2);
        let scales = exact.scales();
        let relative: Vec<f64> = numbers.iter().map(|x| x - 0.5).collect();
        for arithmetic in [NoiseArithmetic::Exact, NoiseArithmetic::Ideal] {
            let (n, mut counts) = (100_000, BTreeMap::<Vec<bool>, u32>::new());
            let (own, mut stream) = (exact.with(arithmetic), Key::root(17).stream());
            for _ in 0..n {
                let answers = own.privatise(&numbers, &mut stream).unwrap();
                let above = answers.into_iter().map(|answer| answer != Compared::Below).collect();
                *counts.entry(above).or_default() += 1;
            }
            let mut total = 0.0;
            for (above, count) in counts {
                let p = libm::exp(log_probability(&relative[..above.len()], &above, scales));
                total += p;
                let error = 5.0 * (p * (1.0 - p) / f64::from(n)).sqrt();
                assert!((f64::from(count) / f64::from(n) - p).abs() < error, "{above:?}: {count} for {p}");
            }
            assert!((total - 1.0).abs() < 1e-9, "{total}");
        }
    }

    /// The price is hardly larger than the loss: with many numbers, the loss on the worst pair is near epsilon and not above
    /// epsilon. This is tested for two cutoffs, each with and without monotonic numbers.
    #[test]
    fn the_loss_on_the_worst_pair_is_the_price() {
        let like = vec![0.0; 40];
        for cutoff in [1u32, 3] {
            for own in [mechanism(cutoff), mechanism(cutoff).monotonic()] {
                let pair = own.worst_pair(&like).unwrap();
                let test = own.distinguisher([&pair.inputs[0], &pair.inputs[1]]).unwrap();
                let above =
                    (0..40).map(|i| if i < 40 - cutoff { Compared::Below } else { Compared::Above(None) });
                let loss = test.log_ratio(&above.collect());
                assert!(loss <= 2.0 + 1e-9 && loss > 1.999, "{cutoff}: {loss}");
            }
        }
    }
}
