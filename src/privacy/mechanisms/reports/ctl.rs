//! CTL, the curator that Zhou and Tan 2021 propose for the local model: it clips a reward, then adds Laplace noise.

use super::report::RewardMechanism;
use crate::privacy::mechanisms::clipping::{clip_value, symmetric_grid};
use crate::privacy::mechanisms::pair::{Distinguisher, Pair, under_laplace};
use crate::privacy::mechanisms::{Laplace, Mechanism, MechanismError, NoiseArithmetic, Price, all_finite};
use crate::rng::Stream;
use crate::vocab::{Basis, Claim, Cost, Delta, Epsilon, Neighbours, Positive, Sampler};
use std::slice;

/// Whether rewards lie within the bound B + R, to which the noise is scaled: always, since the mechanism clips them; always,
/// by an assumption; with high probability; or not necessarily.
///
/// B bounds the absolute mean rewards, and R the absolute noise of rewards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rewards {
    /// Rewards are clipped to the bound: nothing is assumed.
    Clipped,
    /// No clipping; the noise of rewards is bounded and no reward lies beyond the bound, as Lemma 1 assumes.
    Bounded,
    /// No clipping; each reward lies beyond the bound with probability at most delta, by the distribution of its noise.
    Likely(Delta),
    /// No clipping, and rewards may lie beyond the bound.
    Beyond,
}

/// Clips a reward to [-(B + R), B + R], unless clipping is off, and adds Laplace noise of scale 2 (B + R) / epsilon.
///
/// * Precondition: none with clipping (NaN becomes 0). Without clipping, the assumption that [`Rewards`] names.
/// * Postcondition: epsilon-DP for any two rewards, with clipping or if no reward lies beyond B + R. If rewards lie
///   beyond B + R with probability at most delta: (epsilon, delta)-DP for any two *distributions* of a reward with this
///   property, for example distributions that differ in the mean reward f(x) and have the same noise. This protects the
///   distribution of a reward, not the value that was drawn. Otherwise no finite epsilon holds.
///
/// Proof of (epsilon, delta): let p and q be the probabilities of a reward within the bound under two distributions P
/// and Q of the reward; p and q are at least 1 - delta. Given a reward, a report lies in a set S with some probability. Let
/// m and a be the least and the largest of these probabilities over all rewards within the bound; a is at most 1 and at most
/// e^epsilon m. Write P(S) and Q(S) for the probabilities of a report in S if the reward has the distribution P or Q.
/// Rewards beyond the bound add at most 1 - p to P(S), and at least 0 to Q(S). So P(S) - e^epsilon Q(S) <=
/// p a + (1 - p) - e^epsilon q m <= p a + (1 - p) - q a. The last expression is linear in a, so its largest value for a
/// between 0 and 1 is at an end: it is 1 - p <= delta at a = 0, and 1 - q <= delta at a = 1. (For two distributions of a
/// reward that differ in the mean only, the release is even epsilon B / (B + R)-DP: the two rewards can be coupled to have
/// the same noise, and then differ by at most 2 B.)
///
/// Source: Zhou and Tan 2021, Curator 1 (CTL) and Lemma 1; they assume bounded rewards instead of clipping, and
/// state (epsilon, delta) for unbounded noise with R such that P(|noise| > R) <= delta.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ctl {
    bound: Positive,
    epsilon: Epsilon,
    noise: Laplace,
    rewards: Rewards,
    arithmetic: NoiseArithmetic,
}

const SOURCE: &str = "Zhou and Tan 2021, Lemma 1";

/// The source for rewards that exceed the bound with probability at most delta.
const SOURCE_WITH_DELTA: &str = "Zhou and Tan 2021, section 4.5";

impl Ctl {
    /// A curator for rewards in [-bound, bound], in units of the reward. Without clipping, rewards may lie beyond the
    /// bound, unless [`assuming`](Self::assuming) states otherwise.
    ///
    /// # Errors
    /// If 2 bound / epsilon is not a finite number above 0.
    pub fn new(epsilon: Epsilon, bound: Positive, clip: bool) -> Result<Self, MechanismError> {
        let width = Positive::new(2.0 * bound.get()).map_err(MechanismError::out_of_range)?;
        let noise = Laplace::calibrated(epsilon, width)?;
        let rewards = if clip { Rewards::Clipped } else { Rewards::Beyond };
        Ok(Self { bound, epsilon, noise, rewards, arithmetic: NoiseArithmetic::Exact })
    }

    /// The same mechanism with another statement on whether rewards lie within the bound.
    #[must_use]
    pub const fn assuming(self, rewards: Rewards) -> Self {
        Self { rewards, ..self }
    }

    /// The same mechanism with its noise sampled in this arithmetic.
    ///
    /// # Errors
    /// If exact noise is too large or too small for the bound.
    pub fn with(self, arithmetic: NoiseArithmetic) -> Result<Self, MechanismError> {
        if arithmetic == NoiseArithmetic::Exact {
            symmetric_grid(self.bound, self.scale())?;
        }
        Ok(Self { arithmetic, ..self })
    }

    /// Scale of the noise.
    #[must_use]
    pub fn scale(&self) -> f64 {
        self.noise.scale()
    }

    fn width(&self) -> f64 {
        2.0 * self.bound.get()
    }

    fn cost(&self) -> (Cost, Basis) {
        let laplace = Cost::Laplace { scale: self.scale() / self.width() };
        match self.rewards {
            Rewards::Clipped => (laplace, Basis::Proven),
            Rewards::Bounded => {
                let on = format!(
                    "no reward exceeding B + R = {} in size, since the mechanism does not clip rewards",
                    self.bound
                );
                (laplace, Basis::Conditional { on })
            }
            Rewards::Likely(delta) => {
                let on = format!(
                    "rewards exceeding B + R = {} in size with probability at most {delta} each, by the stated law of \
                     their noise; the mean reward is protected, not the value that was drawn",
                    self.bound
                );
                let cost = Cost::ApproximateDp { epsilon: self.epsilon.get(), delta: delta.get() };
                (cost, Basis::Conditional { on })
            }
            Rewards::Beyond => {
                let why = format!(
                    "rewards are not clipped, and the noise does not hide a reward beyond the bound of {}",
                    self.bound
                );
                (Cost::Unprotected, Basis::Refuted { why })
            }
        }
    }
}

impl Mechanism for Ctl {
    type Input = f64;
    type Output = f64;

    fn price(&self, _: &f64, neighbours: &Neighbours) -> Result<Price, MechanismError> {
        if *neighbours != self.neighbours() {
            return Err(MechanismError::NeighboursNotCovered {
                mechanism: "CTL",
                neighbours: neighbours.clone(),
                covered: match self.rewards {
                    Rewards::Likely(_) => "the distribution of one reward replaced by one with another mean",
                    Rewards::Clipped | Rewards::Bounded | Rewards::Beyond => {
                        "one report replaced by any other"
                    }
                },
            });
        }
        let (cost, basis) = self.cost();
        let (delta, source) = match self.rewards {
            Rewards::Likely(delta) => (delta.get(), SOURCE_WITH_DELTA),
            Rewards::Clipped | Rewards::Bounded | Rewards::Beyond => (0.0, SOURCE),
        };
        let clipped = self.rewards == Rewards::Clipped;
        Ok(Price {
            mechanism: if clipped { "CTL (clipping, Laplace noise)" } else { "CTL without clipping" },
            sampler: Sampler::Full,
            sensitivity: Some(self.width()),
            cost,
            claim: Some(Claim { epsilon: self.epsilon.get(), delta, source: source.to_owned(), cost: None }),
            basis,
            arithmetic: self.arithmetic.recorded(),
        })
    }

    fn privatise(&self, input: &f64, stream: &mut Stream) -> Result<f64, MechanismError> {
        let clipped = self.rewards == Rewards::Clipped;
        let value = if clipped { clip_value(*input, self.bound).0 } else { *input };
        all_finite(&[value])?;
        match self.arithmetic {
            NoiseArithmetic::Exact => {
                let (grid, reach) = symmetric_grid(self.bound, self.scale())?;
                let scale = grid.scale(self.scale() / self.width(), reach);
                Ok(grid.plus_laplace(grid.round(value), scale, stream))
            }
            NoiseArithmetic::Ideal => Ok(value + self.scale() * stream.laplace()),
        }
    }

    /// Rewards of plus and minus ten times the bound: clipping must move them to the bound, and without clipping the loss on
    /// this pair is ten times epsilon. If rewards are assumed to be within the bound, the two rewards are at the bound.
    fn worst_pair(&self, _: &f64) -> Option<Pair<f64>> {
        let far = match self.rewards {
            Rewards::Clipped | Rewards::Beyond => 10.0 * self.bound(),
            Rewards::Bounded | Rewards::Likely(_) => self.bound(),
        };
        Some(Pair::new(far, -far, format!("a reward of {far} or {}", -far)))
    }

    fn distinguisher(&self, [a, b]: [&f64; 2]) -> Result<Distinguisher<f64>, MechanismError> {
        let clipped = self.rewards == Rewards::Clipped;
        let mean = |reward: f64| if clipped { clip_value(reward, self.bound).0 } else { reward };
        let means = [*a, *b].map(|reward| [mean(reward)]);
        Ok(under_laplace([&means[0], &means[1]], self.scale(), slice::from_ref))
    }
}

impl RewardMechanism for Ctl {
    fn neighbours(&self) -> Neighbours {
        match self.rewards {
            Rewards::Clipped | Rewards::Bounded | Rewards::Beyond => Neighbours::AnyValue,
            Rewards::Likely(_) => Neighbours::AnyMean,
        }
    }

    fn bound(&self) -> f64 {
        self.bound.get()
    }

    fn clips(&self) -> bool {
        self.rewards == Rewards::Clipped
    }

    fn exceeds(&self, reward: f64) -> bool {
        clip_value(reward, self.bound).1
    }

    fn variance(&self) -> f64 {
        2.0 * self.scale() * self.scale()
    }

    fn laplace_scale(&self) -> Option<f64> {
        Some(self.scale())
    }

    fn about(&self) -> String {
        let clipping = if self.clips() { "with" } else { "without" };
        format!("CTL {clipping} clipping, bound {:.4}", self.bound())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::mechanisms::pair::KnownLaws;
    use crate::rng::Key;

    fn of(epsilon: f64, rewards: Rewards) -> Ctl {
        let (epsilon, bound) = (Epsilon::new(epsilon).unwrap(), Positive::new(5.0).unwrap());
        Ctl::new(epsilon, bound, false).unwrap().assuming(rewards)
    }

    fn ctl(clip: bool) -> Ctl {
        of(1.0, if clip { Rewards::Clipped } else { Rewards::Beyond })
    }

    #[test]
    fn the_scale_is_the_oracles() {
        // The scales in `ldp_constants` of tests/oracles/ldp_federated_units.json, for B = 4 and R = 1.
        assert_eq!(ctl(true).scale(), 10.0);
        assert_eq!(of(0.5, Rewards::Clipped).scale(), 20.0);
    }

    #[test]
    fn the_certificate_is_void_without_clipping() {
        let sound = ctl(true).price(&0.0, &Neighbours::AnyValue).unwrap();
        assert_eq!((sound.cost, sound.basis), (Cost::Laplace { scale: 1.0 }, Basis::Proven));
        let void = ctl(false).price(&0.0, &Neighbours::AnyValue).unwrap();
        assert_eq!(void.cost, Cost::Unprotected);
        assert!(matches!(void.basis, Basis::Refuted { .. }));
        assert!(ctl(true).price(&0.0, &Neighbours::ReplaceOne).is_err());
        assert!(ctl(true).price(&0.0, &Neighbours::AnyMean).is_err());
    }

    /// Lemma 1 holds under its own assumption, and the price is conditional on this assumption. (An earlier version reported
    /// the lemma as refuted.)
    #[test]
    fn the_lemma_holds_where_its_assumption_does() {
        let bounded = of(1.0, Rewards::Bounded).price(&0.0, &Neighbours::AnyValue).unwrap();
        assert_eq!(bounded.cost, Cost::Laplace { scale: 1.0 });
        assert!(matches!(bounded.basis, Basis::Conditional { on } if on.contains("exceeding B + R = 5")));
        let delta = Delta::new(1e-3).unwrap();
        let likely = of(1.0, Rewards::Likely(delta));
        // Two values, one of them beyond the bound, can be distinguished: the price does not cover such a pair.
        let refused = likely.price(&0.0, &Neighbours::AnyValue).unwrap_err().to_string();
        assert!(refused.contains("the distribution of one reward replaced"), "{refused}");
        let likely = likely.price(&0.0, &Neighbours::AnyMean).unwrap();
        assert_eq!(likely.cost, Cost::ApproximateDp { epsilon: 1.0, delta: 1e-3 });
        assert!(
            matches!(likely.basis, Basis::Conditional { on } if on.contains("the mean reward is protected"))
        );
        let claim = likely.claim.unwrap();
        assert_eq!((claim.delta, claim.source.as_str()), (1e-3, "Zhou and Tan 2021, section 4.5"));
    }

    /// Two distributions of a reward, as far apart as possible; under each, the reward lies beyond the bound with
    /// probability delta. The probabilities of a report above a threshold differ by no more than (epsilon, delta) allows,
    /// and for a large threshold by more than epsilon alone allows.
    #[test]
    fn rewards_beyond_the_bound_with_probability_delta_are_protected_up_to_delta() {
        let (n, delta) = (400_000, 0.05);
        let curator = of(1.0, Rewards::Likely(Delta::new(delta).unwrap()));
        let above = |sign: f64, threshold: f64| {
            let mut stream = Key::root(16).child(&format!("{sign}")).stream();
            let draw = |_: &u32| {
                let reward = if stream.uniform() < delta { 1e6 } else { 5.0 } * sign;
                curator.privatise(&reward, &mut stream).unwrap() > threshold
            };
            (0..n).filter(draw).count() as f64 / f64::from(n)
        };
        for threshold in [0.0, 5.0, 20.0, 100.0] {
            let (p, q) = (above(1.0, threshold), above(-1.0, threshold));
            let needed = p - 1f64.exp() * q;
            let error = 5.0 * ((p + 1f64.exp().powi(2) * q) / f64::from(n)).sqrt();
            assert!(needed <= delta + error, "{threshold}: {needed}");
            assert!(threshold < 100.0 || needed > delta - error - 0.01, "the far rewards show: {needed}");
        }
    }

    /// Shares of reports above a threshold, for two rewards far apart: the ratio of the two shares is e^epsilon with
    /// clipping, and larger without it.
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

    /// A report is the clipped reward plus the scale times the next Laplace deviate of the stream.
    #[test]
    fn noise_in_floating_point_has_the_stated_scale() {
        let (epsilon, bound) = (Epsilon::new(2.0).unwrap(), Positive::new(5.0).unwrap());
        let ctl = Ctl { arithmetic: NoiseArithmetic::Ideal, ..Ctl::new(epsilon, bound, true).unwrap() };
        let key = Key::root(7);
        let expected = 5.0 + ctl.scale() * key.stream().laplace();
        assert_eq!(ctl.privatise(&8.0, &mut key.stream()).unwrap(), expected);
    }

    /// For rewards of 2 and -50 with the bound 5, the log ratio of the densities at a report y is
    /// (|y + 5| - |y - 2|) / scale with clipping, and (|y + 50| - |y - 2|) / scale without clipping.
    #[test]
    fn reports_are_distinguished_by_the_density_of_the_noise() {
        for (clip, low, apart) in [(true, -5.0, 7.0), (false, -50.0, 52.0)] {
            let found = ctl(clip).distinguisher([&2.0, &-50.0]).unwrap();
            for y in [-60.0f64, -3.0, 0.5, 9.0] {
                let expected = ((y - low).abs() - (y - 2.0).abs()) / 10.0;
                assert!((found.log_ratio(&y) - expected).abs() < 1e-15, "{clip} {y}");
            }
            let laws = KnownLaws::laplace(vec![Cost::Laplace { scale: 10.0 / apart }]);
            assert_eq!(found.laws, Some(laws));
        }
        assert_eq!(ctl(true).worst_pair(&0.0).unwrap().inputs, [50.0, -50.0]);
        assert_eq!(of(1.0, Rewards::Bounded).worst_pair(&0.0).unwrap().inputs, [5.0, -5.0]);
        assert_eq!(ctl(true).variance(), 200.0);
        assert!(
            ctl(true).exceeds(5.1) && !ctl(true).exceeds(-5.0) && ctl(true).clips() && !ctl(false).clips()
        );
        assert_eq!(
            (ctl(true).about().as_str(), ctl(true).laplace_scale()),
            ("CTL with clipping, bound 5.0000", Some(10.0))
        );
        assert!(ctl(false).about().starts_with("CTL without clipping"));
    }

    /// The ledger names the mechanism by whether it clips.
    #[test]
    fn the_name_says_whether_rewards_are_clipped() {
        let name = |rewards| of(1.0, rewards).price(&0.0, &Neighbours::AnyValue).unwrap().mechanism;
        assert_eq!(name(Rewards::Clipped), "CTL (clipping, Laplace noise)");
        assert_eq!([Rewards::Bounded, Rewards::Beyond].map(name), ["CTL without clipping"; 2]);
    }

    /// Noise for which no lattice exists is refused in exact arithmetic, and only there.
    #[test]
    fn noise_without_a_lattice_is_refused_in_exact_arithmetic() {
        let tiny = Ctl::new(Epsilon::new(1.0).unwrap(), Positive::new(1e-300).unwrap(), true).unwrap();
        assert!(tiny.with(NoiseArithmetic::Exact).is_err());
        let ideal = tiny.with(NoiseArithmetic::Ideal).unwrap().price(&0.0, &Neighbours::AnyValue).unwrap();
        assert_eq!(ideal.arithmetic, crate::vocab::Arithmetic::Ideal);
    }
}
