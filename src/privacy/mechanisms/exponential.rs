//! The exponential mechanism, by exact rejection or by Gumbel noise.

use super::computed::on_computed_numbers;
use super::exact_choice::{Weights, lattice};
use super::pair::{Distinguisher, KnownLaws, Pair};
use super::{Mechanism, MechanismError, NoiseArithmetic, Price, all_finite};
use crate::rng::Stream;
use crate::vocab::{Basis, Cost, Epsilon, Neighbours, NonNegative, Positive, Sampler};

/// Chooses index i with probability proportional to exp(epsilon u_i / (2 sensitivity)), where u_i is its utility. With
/// exact arithmetic this is done by rejection on utilities rounded to a lattice. In floating point, independent standard
/// Gumbel noise is added to each scaled utility, epsilon u_i / (2 sensitivity), and the index of the largest sum is chosen.
///
/// * Precondition: utilities are finite, and no single utility differs by more than `sensitivity` between neighbours,
///   apart from the error stated by [`computed_within`](Self::computed_within). Exact arithmetic refuses an error above
///   2^-11 sensitivities, and floating point ignores the error.
/// * Postcondition: epsilon-bounded-range, and so epsilon-DP.
///
/// Source: McSherry and Talwar 2007; bounded range by Durfee and Rogers 2019, Lemma 3.2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExponentialMechanism {
    epsilon: Epsilon,
    sensitivity: Positive,
    /// Largest distance of a computed utility from its exact value.
    error: f64,
    arithmetic: NoiseArithmetic,
}

impl ExponentialMechanism {
    /// The mechanism with this epsilon and this sensitivity of a utility, in exact arithmetic.
    #[must_use]
    pub const fn new(epsilon: Epsilon, sensitivity: Positive) -> Self {
        Self { epsilon, sensitivity, error: 0.0, arithmetic: NoiseArithmetic::Exact }
    }

    /// A bound on the best of n utilities minus the utility of the chosen index. The bound is exceeded with probability at
    /// most e^-a, for `a` of at least 0. It is (2 sensitivity / epsilon) (ln n + a), plus the effect of rounding. Source:
    /// McSherry and Talwar 2007; Dwork and Roth 2014, Theorem 3.11.
    #[must_use]
    pub fn shortfall(&self, n: usize, a: f64) -> f64 {
        let (spacing, divisor) = match (self.arithmetic, lattice(self.epsilon, self.sensitivity, self.error))
        {
            // Rounding changes each utility by at most half a spacing.
            (NoiseArithmetic::Exact, Ok((grid, divisor))) => (grid.spacing(), divisor as f64),
            _ => (0.0, 0.0),
        };
        let drawn = (spacing * divisor).max(2.0 * self.sensitivity.get() / self.epsilon.get());
        drawn * (libm::log(n as f64) + a) + spacing
    }

    /// The probability of each index, without the rounding of exact arithmetic.
    #[must_use]
    pub fn probabilities(&self, utilities: &[f64]) -> Vec<f64> {
        let scale = self.epsilon.get() / (2.0 * self.sensitivity.get());
        let best = utilities.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = utilities.iter().map(|u| libm::exp(scale * (u - best))).collect();
        let total: f64 = weights.iter().sum();
        weights.into_iter().map(|weight| weight / total).collect()
    }

    /// The logarithms of the probabilities, finite even where a probability is too small for a double.
    fn log_probabilities(&self, utilities: &[f64]) -> Vec<f64> {
        let scale = self.epsilon.get() / (2.0 * self.sensitivity.get());
        let best = utilities.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = utilities.iter().map(|u| libm::exp(scale * (u - best))).sum();
        utilities.iter().map(|u| scale * (u - best) - libm::log(total)).collect()
    }
}

on_computed_numbers!(ExponentialMechanism);

impl Mechanism for ExponentialMechanism {
    type Input = Vec<f64>;
    type Output = usize;

    fn price(&self, _: &Vec<f64>, _: &Neighbours) -> Result<Price, MechanismError> {
        if self.arithmetic == NoiseArithmetic::Exact {
            lattice(self.epsilon, self.sensitivity, self.error)?;
        }
        Ok(Price {
            mechanism: "exponential mechanism",
            sampler: Sampler::Full,
            sensitivity: Some(self.sensitivity.get()),
            cost: Cost::ExponentialMechanism { epsilon: self.epsilon.get() },
            claim: None,
            basis: Basis::Proven,
            arithmetic: self.arithmetic.recorded(),
        })
    }

    fn privatise(&self, utilities: &Vec<f64>, stream: &mut Stream) -> Result<usize, MechanismError> {
        if self.arithmetic == NoiseArithmetic::Exact {
            return Ok(
                Weights::new(self.epsilon, self.sensitivity, self.error, utilities)?.exponential(stream)
            );
        }
        all_finite(utilities)?;
        let scale = self.epsilon.get() / (2.0 * self.sensitivity.get());
        let noisy = utilities.iter().map(|u| scale * u + stream.gumbel());
        argmax(noisy)
    }

    /// Every utility differs by the sensitivity: on the second input the first utility is lower, and every other utility is
    /// higher.
    fn worst_pair(&self, like: &Vec<f64>) -> Option<Pair<Vec<f64>>> {
        worst_utilities(like.len(), self.sensitivity.get())
    }

    fn distinguisher(&self, inputs: [&Vec<f64>; 2]) -> Result<Distinguisher<usize>, MechanismError> {
        Ok(of_choices(inputs.map(|utilities| self.log_probabilities(utilities))))
    }
}

/// Two vectors of n utilities. In the first vector, the first utility is one sensitivity above the other utilities; in the
/// second vector, one sensitivity below them.
pub(super) fn worst_utilities(n: usize, sensitivity: f64) -> Option<Pair<Vec<f64>>> {
    let mut given = vec![0.0; n];
    *given.first_mut()? = sensitivity;
    let neighbour = given.iter().map(|u| sensitivity - u).collect();
    Some(Pair::new(given, neighbour, format!("utilities of {n} options, each moved by {sensitivity}")))
}

/// The test that distinguishes two inputs by the chosen index, from the log probabilities of the indices on each input.
pub(super) fn of_choices([given, neighbour]: [Vec<f64>; 2]) -> Distinguisher<usize> {
    let loss: Vec<f64> = given.iter().zip(&neighbour).map(|(a, b)| a - b).collect();
    let laws = KnownLaws::largest_of(loss.iter().copied());
    Distinguisher::by_ratio(move |&i: &usize| loss[i], laws)
}

/// The first index of the largest value.
pub(super) fn argmax(values: impl Iterator<Item = f64>) -> Result<usize, MechanismError> {
    values
        .enumerate()
        .fold(None, |best: Option<(usize, f64)>, (index, value)| match best {
            Some((_, most)) if value <= most => best,
            _ => Some((index, value)),
        })
        .map(|(index, _)| index)
        .ok_or_else(|| MechanismError::Shape {
            expected: "at least one utility".to_owned(),
            found: "none".to_owned(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_agree_with_the_oracle() {
        // The expected numbers are those of `ku_exp_mech` in tests/oracles/outsourced_release_units.json.
        let mechanism = ExponentialMechanism::new(Epsilon::new(1.0).unwrap(), Positive::new(5.0).unwrap());
        let expected = [
            0.243_957_401_742_485_22,
            0.227_464_373_705_006_7,
            0.266_931_915_306_169_05,
            0.261_646_309_246_338_1,
        ];
        for (found, expected) in mechanism.probabilities(&[0.2, -0.5, 1.1, 0.9]).iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found} for {expected}");
        }
    }

    fn mechanism() -> ExponentialMechanism {
        ExponentialMechanism::new(Epsilon::new(1.5).unwrap(), Positive::new(3.0).unwrap())
    }

    /// In floating point the shortfall is (2 sensitivity / epsilon) (ln n + a); in exact arithmetic it also contains the
    /// effect of rounding to the lattice.
    #[test]
    fn the_shortfall_is_the_formula_and_the_rounding() {
        for (n, a) in [(1, 0.5), (20, 3.0)] {
            let ideal = (6.0 / 1.5) * (libm::log(n as f64) + a);
            let found = mechanism().with(NoiseArithmetic::Ideal).shortfall(n, a);
            assert!((found / ideal - 1.0).abs() < 1e-14);
            let (grid, divisor) = lattice(mechanism().epsilon, mechanism().sensitivity, 0.0).unwrap();
            let expected = grid.spacing() * (divisor as f64 * (libm::log(n as f64) + a) + 1.0);
            let exact = mechanism().shortfall(n, a);
            assert!((exact / expected - 1.0).abs() < 1e-14 && exact > ideal && exact < ideal * 1.000_01);
        }
    }

    /// The loss of a choice is the logarithm of the ratio of its probabilities. On the worst pair of many options, the loss
    /// of the first option is nearly epsilon.
    #[test]
    fn choices_are_distinguished_by_their_probabilities() {
        let (a, b) = (vec![0.3, -1.0, 2.0], vec![1.3, 0.0, 1.0]);
        let found = mechanism().distinguisher([&a, &b]).unwrap();
        let [p, q] = [&a, &b].map(|utilities| mechanism().probabilities(utilities));
        let losses: Vec<f64> = p.iter().zip(&q).map(|(p, q)| libm::log(p / q)).collect();
        for (index, loss) in losses.iter().enumerate() {
            assert!((found.log_ratio(&index) - loss).abs() < 1e-12);
        }
        let Some(KnownLaws { laws: super::super::pair::Laws::Largest(largest), .. }) = found.laws else {
            panic!("a bound");
        };
        for (largest, sign) in largest.iter().zip([1.0, -1.0]) {
            let expected = losses.iter().fold(0.0f64, |most, loss| most.max(sign * loss));
            assert!((largest - expected).abs() < 1e-12 && expected > 0.1);
        }
        let pair = mechanism().worst_pair(&vec![9.0; 1000]).unwrap();
        assert_eq!(
            (&pair.inputs[0][..3], &pair.inputs[1][..3]),
            (&[3.0, 0.0, 0.0][..], &[0.0, 3.0, 3.0][..])
        );
        let found = mechanism().distinguisher([&pair.inputs[0], &pair.inputs[1]]).unwrap();
        assert!((found.log_ratio(&0) - 1.5).abs() < 0.01, "{}", found.log_ratio(&0));
        assert!(mechanism().worst_pair(&Vec::new()).is_none());
    }

    /// Probabilities are computed from differences of utilities, so that large utilities cause no overflow.
    #[test]
    fn probabilities_depend_on_distances_only() {
        let [near, far] = [0.0, 1e6].map(|by| mechanism().probabilities(&[by, by - 1.0, by + 2.0]));
        for (near, far) in near.iter().zip(&far) {
            assert!((near - far).abs() < 1e-12, "{far} for {near}");
        }
    }

    /// In floating point the choice is the largest of the scaled utilities, each with the next Gumbel deviate of the stream.
    #[test]
    fn a_choice_in_floating_point_is_the_largest_with_gumbel_noise() {
        let utilities = vec![0.0, 2.0, 1.0, 3.0];
        for seed in 0..50 {
            let ideal = mechanism().with(NoiseArithmetic::Ideal);
            let chosen = ideal.privatise(&utilities, &mut crate::rng::Key::root(seed).stream()).unwrap();
            let mut stream = crate::rng::Key::root(seed).stream();
            let noisy = utilities.iter().map(|u| u * 1.5 / 6.0 + stream.gumbel());
            assert_eq!(chosen, argmax(noisy).unwrap(), "seed {seed}");
        }
    }

    #[test]
    fn the_first_of_equal_values_is_the_largest() {
        assert_eq!(argmax([1.0, 3.0, 3.0, 2.0].into_iter()).unwrap(), 1);
        assert!(argmax(std::iter::empty()).is_err());
    }
}
