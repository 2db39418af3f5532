//! Gaussian noise, with the classical and the analytic calibration.

use super::pair::{Distinguisher, Pair, under_gaussian};
use super::rounded::Grid;
use super::{Mechanism, MechanismError, NoiseArithmetic, Price, all_finite};
use crate::accounting::single::{decreasing_root, gaussian_delta};
use crate::rng::Stream;
use crate::vocab::{Basis, Cost, Delta, Epsilon, Neighbours, Positive, Sampler};

/// Adds independent Gaussian noise, of the same standard deviation, to every number.
///
/// * Precondition: numbers are finite, and neighbouring inputs differ by at most `sensitivity` in the L2 norm.
/// * Postcondition: the privacy loss is at most that of one Gaussian release whose noise multiplier is the standard
///   deviation divided by the sensitivity. With exact arithmetic (the default) the standard deviation is larger than stated,
///   to compensate for rounding: by a factor of about 1 + sqrt(n) 2^-30 for n numbers, or by a larger factor if the stated
///   standard deviation and the sensitivity differ by a factor above 2^21.
///
/// Source: Dwork and Roth 2014, Theorem A.1 (classical); Balle and Wang 2018, Theorem 8 (analytic).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gaussian {
    standard_deviation: Positive,
    sensitivity: Positive,
    arithmetic: NoiseArithmetic,
}

/// Largest standard deviation that the analytic calibration returns, in multiples of the sensitivity.
const LARGEST_MULTIPLIER: f64 = 1e9;

impl Gaussian {
    /// Noise of a given standard deviation for a given L2 sensitivity, both in the units of the input.
    #[must_use]
    pub const fn new(standard_deviation: Positive, sensitivity: Positive) -> Self {
        Self { standard_deviation, sensitivity, arithmetic: NoiseArithmetic::Exact }
    }

    /// The same mechanism with its noise sampled in this arithmetic.
    #[must_use]
    pub const fn with(self, arithmetic: NoiseArithmetic) -> Self {
        Self { arithmetic, ..self }
    }

    /// Noise of standard deviation sigma = sensitivity sqrt(2 ln(1.25 / delta)) / epsilon. This sigma is larger than
    /// necessary, and the guarantee is proven only for epsilon below 1.
    ///
    /// # Errors
    /// [`MechanismError::Shape`] for an epsilon of 1 or above, or if sigma is not a finite number above 0.
    pub fn classical(epsilon: Epsilon, delta: Delta, sensitivity: Positive) -> Result<Self, MechanismError> {
        if epsilon.get() >= 1.0 {
            return Err(MechanismError::Shape {
                expected: "an epsilon below 1 for the classical calibration (use the analytic one)"
                    .to_owned(),
                found: epsilon.get().to_string(),
            });
        }
        let sigma = sensitivity.get() * (2.0 * libm::log(1.25 / delta.get())).sqrt() / epsilon.get();
        let standard_deviation = Positive::new(sigma).map_err(MechanismError::out_of_range)?;
        Ok(Self::new(standard_deviation, sensitivity))
    }

    /// Noise of the smallest standard deviation with which one release is (epsilon, delta)-DP, but of at least 1e-9 times
    /// the sensitivity.
    ///
    /// # Errors
    /// [`MechanismError::Shape`] if the standard deviation exceeds 1e9 sensitivities, or is not a finite number above 0.
    pub fn analytic(epsilon: Epsilon, delta: Delta, sensitivity: Positive) -> Result<Self, MechanismError> {
        Self::can_give(epsilon, delta)?;
        let excess = |log_sigma: f64| gaussian_delta(libm::exp(-log_sigma), epsilon.get()) - delta.get();
        let most = libm::log(LARGEST_MULTIPLIER);
        let log_sigma = decreasing_root(-most, most, excess);
        let standard_deviation =
            Positive::new(sensitivity.get() * libm::exp(log_sigma)).map_err(MechanismError::out_of_range)?;
        Ok(Self::new(standard_deviation, sensitivity))
    }

    /// Checks that a release with the largest noise that [`Self::analytic`] allows is (epsilon, delta)-DP.
    ///
    /// # Errors
    /// [`MechanismError::Shape`] if it is not.
    pub(super) fn can_give(epsilon: Epsilon, delta: Delta) -> Result<(), MechanismError> {
        // delta decreases as the noise grows: if the largest noise is not enough, no smaller noise is.
        if gaussian_delta(libm::exp(-libm::log(LARGEST_MULTIPLIER)), epsilon.get()) <= delta.get() {
            return Ok(());
        }
        Err(MechanismError::Shape {
            expected: format!(
                "an epsilon or a delta that Gaussian noise of at most {LARGEST_MULTIPLIER:e} times the sensitivity \
                 gives (raise one of the two)"
            ),
            found: format!("epsilon {:e} with delta {:e}", epsilon.get(), delta.get()),
        })
    }

    /// Standard deviation of the noise, as calibrated.
    #[must_use]
    pub fn standard_deviation(&self) -> f64 {
        self.standard_deviation.get()
    }

    fn multiplier(&self) -> f64 {
        self.standard_deviation.get() / self.sensitivity.get()
    }

    /// The lattice, and the standard deviation of the noise in multiples of its spacing, if at most `moved` numbers differ
    /// between neighbours.
    pub(super) fn exact(&self, moved: usize) -> Result<(Grid, u64), MechanismError> {
        let grid = Grid::between(self.standard_deviation.get(), self.sensitivity.get())?;
        Ok((grid, grid.scale(self.multiplier(), grid.l2(self.sensitivity.get(), moved))))
    }
}

impl Mechanism for Gaussian {
    type Input = Vec<f64>;
    type Output = Vec<f64>;

    fn price(&self, input: &Vec<f64>, _: &Neighbours) -> Result<Price, MechanismError> {
        if self.arithmetic == NoiseArithmetic::Exact {
            self.exact(input.len())?;
        }
        Ok(Price {
            mechanism: "Gaussian noise",
            sampler: Sampler::Full,
            sensitivity: Some(self.sensitivity.get()),
            cost: Cost::Gaussian { noise_multiplier: self.multiplier() },
            claim: None,
            basis: Basis::Proven,
            arithmetic: self.arithmetic.recorded(),
        })
    }

    fn privatise(&self, input: &Vec<f64>, stream: &mut Stream) -> Result<Vec<f64>, MechanismError> {
        all_finite(input)?;
        if self.arithmetic == NoiseArithmetic::Exact {
            let (grid, scale) = self.exact(input.len())?;
            let noisy = |value: &f64| grid.plus_normal(grid.round(*value), scale, stream);
            return Ok(input.iter().map(noisy).collect());
        }
        Ok(input.iter().map(|value| value + self.standard_deviation.get() * stream.normal()).collect())
    }

    /// As many zeros as `like` has numbers; on D' the first one is moved by the whole sensitivity.
    fn worst_pair(&self, like: &Vec<f64>) -> Option<Pair<Vec<f64>>> {
        let mut moved = vec![0.0; like.len()];
        *moved.first_mut()? = self.sensitivity.get();
        let words = format!("one number, 0 or {0}, at sensitivity {0}", self.sensitivity);
        Some(Pair::new(vec![0.0; like.len()], moved, words))
    }

    fn distinguisher(&self, [a, b]: [&Vec<f64>; 2]) -> Result<Distinguisher<Vec<f64>>, MechanismError> {
        Ok(under_gaussian([a, b], self.standard_deviation(), |y| y))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn analytic_calibration_agrees_with_the_oracle() {
        let text = include_str!("../../../tests/oracles/outsourced_release_units.json");
        let oracle: Value = serde_json::from_str(text).unwrap();
        for case in oracle["analytic_gaussian_sigma"].as_array().unwrap() {
            let number = |key: &str| case[key].as_f64().unwrap();
            let found = Gaussian::analytic(
                Epsilon::new(number("eps")).unwrap(),
                Delta::new(number("delta")).unwrap(),
                Positive::new(number("sensitivity")).unwrap(),
            )
            .unwrap();
            let ratio = found.standard_deviation() / number("sigma");
            assert!((ratio - 1.0).abs() < 1e-9, "{} for {case}", found.standard_deviation());
        }
    }

    /// Noise of 1e9 sensitivities has a delta of 4e-10 at epsilon 1e-12; earlier versions returned this noise for a
    /// delta of 1e-14.
    #[test]
    fn a_guarantee_that_no_noise_gives_is_refused() {
        let (delta, one) = (Delta::new(1e-14).unwrap(), Positive::new(1.0).unwrap());
        let refused = Gaussian::analytic(Epsilon::new(1e-12).unwrap(), delta, one).unwrap_err().to_string();
        assert!(refused.contains("at most 1e9 times the sensitivity"), "{refused}");
        assert!(refused.ends_with("found epsilon 1e-12 with delta 1e-14"), "{refused}");
        // Every noise that is returned has the promised epsilon and delta.
        for exponent in 1..14 {
            let epsilon = libm::pow(10.0, -f64::from(exponent));
            if let Ok(noise) = Gaussian::analytic(Epsilon::new(epsilon).unwrap(), delta, one) {
                assert!(gaussian_delta(1.0 / noise.standard_deviation(), epsilon) <= 1e-14 * (1.0 + 1e-6));
            }
        }
    }

    #[test]
    fn the_classical_calibration_needs_more_noise_and_a_small_epsilon() {
        let (delta, one) = (Delta::new(1e-5).unwrap(), Positive::new(1.0).unwrap());
        let half = Epsilon::new(0.5).unwrap();
        let classical = Gaussian::classical(half, delta, one).unwrap();
        let analytic = Gaussian::analytic(half, delta, one).unwrap();
        assert!(classical.standard_deviation() > analytic.standard_deviation());
        assert!(gaussian_delta(1.0 / classical.standard_deviation(), 0.5) < 1e-5);
        assert!(Gaussian::classical(Epsilon::new(1.0).unwrap(), delta, one).is_err());
    }

    /// sigma = sensitivity sqrt(2 ln(1.25 / delta)) / epsilon; by hand, 2 sqrt(2 ln 125000) / 0.5 = 19.379.
    #[test]
    fn the_classical_calibration_is_the_formula_of_dwork_and_roth() {
        let classical = Gaussian::classical(
            Epsilon::new(0.5).unwrap(),
            Delta::new(1e-5).unwrap(),
            Positive::new(2.0).unwrap(),
        );
        let Cost::Gaussian { noise_multiplier } = classical
            .unwrap()
            .with(NoiseArithmetic::Ideal)
            .price(&vec![0.0], &Neighbours::ReplaceOne)
            .unwrap()
            .cost
        else {
            panic!("a Gaussian cost");
        };
        assert!((2.0 * noise_multiplier - 19.379_22).abs() < 1e-4, "{noise_multiplier}");
    }

    /// Noise in floating point is added to the number. Noise that is too small for a lattice is refused in exact arithmetic
    /// only.
    #[test]
    fn noise_in_floating_point_is_added_and_has_no_lattice() {
        let of = |sd: f64| Gaussian::new(Positive::new(sd).unwrap(), Positive::new(sd).unwrap());
        let ideal = |sd| of(sd).with(NoiseArithmetic::Ideal);
        let key = crate::rng::Key::root(4);
        let found = ideal(3.0).privatise(&vec![1.0], &mut key.stream()).unwrap();
        assert_eq!(found, [1.0 + 3.0 * key.stream().normal()]);
        assert!(of(1e-300).price(&vec![0.0], &Neighbours::ReplaceOne).is_err());
        assert!(ideal(1e-300).price(&vec![0.0], &Neighbours::ReplaceOne).is_ok());
    }

    /// The delta that the largest noise gives is accepted, and no smaller delta is.
    #[test]
    fn the_largest_noise_is_permitted() {
        let epsilon = 1e-9;
        let delta = gaussian_delta(libm::exp(-libm::log(LARGEST_MULTIPLIER)), epsilon);
        let of = |delta| {
            let one = Positive::new(1.0).unwrap();
            Gaussian::analytic(Epsilon::new(epsilon).unwrap(), Delta::new(delta).unwrap(), one)
        };
        assert!(of(delta).is_ok() && of(delta.next_down()).is_err());
    }
}
