//! CTL, the curator of the local model: clip a reward, then add Laplace noise.

use super::clipping::clip_value;
use super::{Laplace, Mechanism, MechanismError, Price, all_finite};
use crate::rng::Stream;
use crate::vocab::{Arithmetic, Basis, Claim, Cost, Epsilon, Neighbours, Positive, Sampler};

/// Moves a reward into [-(B + R), B + R] and adds Laplace noise of scale 2 (B + R) / epsilon.
///
/// * Precondition: none with clipping. Without it, no reward may ever exceed B + R in size, which nothing here can
///   check: the price is then [`Cost::Unprotected`] and the claim stands as refuted.
/// * Postcondition: epsilon-DP for any two rewards.
///
/// Source: Zhou and Tan 2021, Algorithm 1 (curator CTL) and Theorem 2; they assume bounded rewards instead of clipping.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ctl {
    bound: Positive,
    epsilon: Epsilon,
    noise: Laplace,
    clip: bool,
}

const SOURCE: &str = "Zhou and Tan 2021, Theorem 2";

impl Ctl {
    /// A curator for rewards in [-bound, bound], in units of the reward.
    ///
    /// # Errors
    /// If 2 bound / epsilon is not a finite number above 0.
    pub fn new(epsilon: Epsilon, bound: Positive, clip: bool) -> Result<Self, MechanismError> {
        let width = Positive::new(2.0 * bound.get()).map_err(MechanismError::out_of_range)?;
        Ok(Self { bound, epsilon, noise: Laplace::calibrated(epsilon, width)?, clip })
    }

    /// Scale of the noise.
    #[must_use]
    pub fn scale(&self) -> f64 {
        self.noise.scale()
    }

    /// The largest reward in size, B + R.
    #[must_use]
    pub fn bound(&self) -> f64 {
        self.bound.get()
    }

    /// Whether a reward lies outside of [-bound, bound]. For the owner's count; nobody else may know.
    #[must_use]
    pub fn exceeds(&self, reward: f64) -> bool {
        clip_value(reward, self.bound).1
    }
}

impl Mechanism for Ctl {
    type Input = f64;
    type Output = f64;

    fn price(&self, _: &f64, neighbours: &Neighbours) -> Result<Price, MechanismError> {
        if *neighbours != Neighbours::AnyValue {
            return Err(MechanismError::NeighboursNotCovered {
                mechanism: "CTL",
                neighbours: neighbours.clone(),
                covered: "one report replaced by any other",
            });
        }
        let width = 2.0 * self.bound.get();
        let (cost, basis) = if self.clip {
            (Cost::Laplace { scale: self.scale() / width }, Basis::Proven)
        } else {
            let why = format!(
                "rewards are not clipped, and one beyond the bound of {} would be told from others by more than the \
                 noise hides",
                self.bound
            );
            (Cost::Unprotected, Basis::Refuted { why })
        };
        Ok(Price {
            mechanism: if self.clip { "CTL (clipping, Laplace noise)" } else { "CTL without clipping" },
            sampler: Sampler::Full,
            sensitivity: Some(width),
            cost,
            claim: Some(Claim {
                epsilon: self.epsilon.get(),
                delta: 0.0,
                source: SOURCE.to_owned(),
                cost: None,
            }),
            basis,
            arithmetic: Arithmetic::Ideal,
        })
    }

    fn privatise(&self, input: &f64, stream: &mut Stream) -> Result<f64, MechanismError> {
        let value = if self.clip { clip_value(*input, self.bound).0 } else { *input };
        all_finite(&[value])?;
        Ok(value + self.noise.scale() * stream.laplace())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Key;

    fn ctl(clip: bool) -> Ctl {
        Ctl::new(Epsilon::new(1.0).unwrap(), Positive::new(5.0).unwrap(), clip).unwrap()
    }

    #[test]
    fn the_scale_is_the_oracles() {
        // ldp_federated_units.json, ldp_constants: B = 4, R = 1.
        assert_eq!(ctl(true).scale(), 10.0);
        let half = Ctl::new(Epsilon::new(0.5).unwrap(), Positive::new(5.0).unwrap(), true).unwrap();
        assert_eq!(half.scale(), 20.0);
    }

    #[test]
    fn the_certificate_is_void_without_clipping() {
        let sound = ctl(true).price(&0.0, &Neighbours::AnyValue).unwrap();
        assert_eq!((sound.cost, sound.basis), (Cost::Laplace { scale: 1.0 }, Basis::Proven));
        let void = ctl(false).price(&0.0, &Neighbours::AnyValue).unwrap();
        assert_eq!(void.cost, Cost::Unprotected);
        assert!(matches!(void.basis, Basis::Refuted { .. }));
        assert!(ctl(true).price(&0.0, &Neighbours::ReplaceOne).is_err());
    }

    /// Counts of half-lines on rewards far apart: their ratio is e^epsilon with clipping and more without it.
    #[test]
    fn counting_finds_epsilon_with_clipping_and_more_without() {
        let n = 200_000;
        let share = |mechanism: Ctl, reward: f64| {
            let mut stream = Key::root(6).child(&format!("{reward}")).stream();
            let above = |_: &u32| mechanism.privatise(&reward, &mut stream).unwrap() > 5.0;
            (0..n).filter(above).count() as f64 / f64::from(n)
        };
        // 5 and -5 are the ends of the range: P(y > 5) is 1/2 and e^-1 / 2.
        for (mechanism, rewards, ratio) in [
            (ctl(true), [5.0, -5.0], 1f64.exp()),
            (ctl(true), [50.0, -50.0], 1f64.exp()),
            (ctl(false), [50.0, -50.0], (1.0 - 0.5 * (-4.5f64).exp()) / (0.5 * (-5.5f64).exp())),
        ] {
            let (high, low) = (share(mechanism, rewards[0]), share(mechanism, rewards[1]));
            let expected_low =
                if rewards[0] == 50.0 && ratio > 3.0 { 0.5 * (-5.5f64).exp() } else { 0.5 / ratio };
            let error = (expected_low * (1.0 - expected_low) / f64::from(n)).sqrt();
            assert!((low - expected_low).abs() < 6.0 * error, "{low} for {expected_low}");
            let relative = 6.0 * (1.0 / (high * f64::from(n)) + 1.0 / (low * f64::from(n))).sqrt();
            assert!(((high / low) / ratio - 1.0).abs() < relative, "{} for {ratio}", high / low);
        }
    }
}
