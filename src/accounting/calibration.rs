//! Calibration to a target epsilon: finds the noise, the sampling rate or the number of rounds of Poisson-subsampled
//! Gaussian releases, the noise of one release, or the epsilon of each of several equal releases.

use super::{Accountant, Basic, Composition, MAX_RELEASES, Optimal, Rdp, Tight};
use crate::vocab::{Cost, Delta, Epsilon, Positive, Probability};

/// The privacy target: the largest epsilon (natural logarithm of a likelihood ratio) at a given delta, for releases on
/// samples of a given rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    /// Largest epsilon, above 0.
    pub epsilon: Epsilon,
    /// Delta at which that epsilon is stated, in (0, 1).
    pub delta: Delta,
    /// Inclusion probability of each unit; 1 for no sampling.
    pub rate: Probability,
}

/// Smallest noise multiplier (standard deviation over L2 sensitivity, dimensionless) that the search considers. If the
/// search returns this number, less noise may be enough.
pub const MIN_NOISE: f64 = 1e-3;
/// Largest noise multiplier that the search considers.
const MAX_NOISE: f64 = 1e6;
/// Largest number of rounds that the search considers. If the search returns this number, more rounds may be possible.
pub const MAX_ROUNDS: u64 = MAX_RELEASES;

impl Target {
    /// Epsilon at the target's delta after `rounds` releases, by the tight accountant: at least 0, may be infinite.
    /// `noise_multiplier` is the noise's standard deviation over the L2 sensitivity, above 0.
    #[must_use]
    pub fn epsilon_after(&self, noise_multiplier: f64, rounds: u64) -> f64 {
        Tight.price(&self.releases(noise_multiplier, rounds), self.delta).epsilon
    }

    fn releases(&self, noise_multiplier: f64, rounds: u64) -> Composition {
        let mut composition = Composition::new();
        composition.add(&Cost::PoissonGaussian { rate: self.rate.get(), noise_multiplier }, rounds);
        composition
    }

    fn kept(&self, noise_multiplier: f64, rounds: u64) -> bool {
        Tight.is_within(&self.releases(noise_multiplier, rounds), self.delta, self.epsilon.get())
    }
}

/// The smallest noise multiplier (relative accuracy 1e-9, rounded up) with which `rounds` rounds have at most the
/// target's epsilon. Also the epsilon (natural logarithm of a likelihood ratio) of these rounds at this noise
/// multiplier. `None` if even a noise multiplier of 1e6 is not enough. If [`MIN_NOISE`] is enough, it is the answer. A
/// noise multiplier is the noise's standard deviation over the L2 sensitivity of the sum.
///
/// Method: bisection with the tight accountant (see [`Tight`]).
#[must_use]
pub fn smallest_noise(target: &Target, rounds: u64) -> Option<(f64, f64)> {
    least_noise(|noise| target.kept(noise, rounds)).map(|noise| (noise, target.epsilon_after(noise, rounds)))
}

/// The smallest noise multiplier for which `is_enough` is true (relative accuracy 1e-9, rounded up). `None` if
/// `is_enough` is false even for 1e6. If it is true for [`MIN_NOISE`], the answer is [`MIN_NOISE`].
fn least_noise(is_enough: impl Fn(f64) -> bool) -> Option<f64> {
    if !is_enough(MAX_NOISE) {
        return None;
    }
    if is_enough(MIN_NOISE) {
        return Some(MIN_NOISE);
    }
    let (mut low, mut high) = (libm::log(MIN_NOISE), libm::log(MAX_NOISE));
    while high - low > 1e-10 {
        let middle = 0.5 * (low + high);
        if is_enough(libm::exp(middle)) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(libm::exp(high))
}

/// The largest inclusion probability, at most the target's, with which `rounds` rounds have at most the target's
/// epsilon. It is rounded down, with an absolute accuracy of 2^-50; it is 0 if every probability that the search tries
/// is too large. `noise_multiplier` is the noise's standard deviation over the L2 sensitivity.
#[must_use]
pub fn largest_rate(target: &Target, noise_multiplier: f64, rounds: u64) -> f64 {
    let kept = |rate: f64| {
        let rate = Probability::new(rate).unwrap_or(target.rate);
        Target { rate, ..*target }.kept(noise_multiplier, rounds)
    };
    largest_below(target.rate.get(), kept)
}

/// The largest number from 0 to `most` for which `kept` is true, rounded down. If `kept` is true
/// for a number, it must be true for all smaller ones.
fn largest_below(most: f64, kept: impl Fn(f64) -> bool) -> f64 {
    if kept(most) {
        return most;
    }
    let (mut low, mut high) = (0.0, most);
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        if kept(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// The largest number of rounds that have at most the target's epsilon with a given noise multiplier, and the epsilon
/// (natural logarithm of a likelihood ratio) after that many rounds. The number is at most [`MAX_ROUNDS`], and 0 if
/// even one round has a larger epsilon. The noise multiplier is the standard deviation over the L2 sensitivity.
#[must_use]
pub fn most_rounds(target: &Target, noise_multiplier: Positive) -> (u64, f64) {
    let noise = noise_multiplier.get();
    let (mut kept, mut broken) = (0, 1);
    // The epsilon of few rounds is the fastest to compute, so the search starts there.
    while target.kept(noise, broken) {
        if broken == MAX_ROUNDS {
            return (MAX_ROUNDS, target.epsilon_after(noise, MAX_ROUNDS));
        }
        kept = broken;
        broken = (8 * broken).min(MAX_ROUNDS);
    }
    while broken - kept > 1 {
        let middle = kept + (broken - kept) / 2;
        if target.kept(noise, middle) {
            kept = middle;
        } else {
            broken = middle;
        }
    }
    (kept, target.epsilon_after(noise, kept))
}

/// The smallest noise multiplier m (dimensionless, relative accuracy 1e-9, rounded up) for which one release has at most
/// `epsilon` (natural logarithm of a likelihood ratio) at `delta`, by Renyi divergences. `release` maps m to the cost of
/// the release. `None` if even an m of 1e6 is not enough. If [`MIN_NOISE`] is enough, it is the answer.
#[must_use]
pub fn smallest_noise_of_one(
    epsilon: Epsilon,
    delta: Delta,
    release: impl Fn(f64) -> Cost,
) -> Option<Positive> {
    let noise = least_noise(|noise| {
        let mut composition = Composition::new();
        composition.add(&release(noise), 1);
        Rdp.price(&composition, delta).epsilon <= epsilon.get()
    });
    noise.and_then(|noise| Positive::new(noise).ok())
}

/// The largest epsilon (natural logarithm of a likelihood ratio) that each of `releases` adaptively chosen releases may
/// have such that the loss of all of them together is at most `epsilon` at `delta`. The result is in (0, `epsilon`] and
/// rounded down, with a relative accuracy of 1e-4.
///
/// `together` maps the epsilon of one release to the composition of all releases. As the loss of all releases, the smallest
/// of three bounds counts: by basic composition, by optimal composition, and by Renyi divergences. All three are quick to
/// compute. The bound by Renyi divergences uses that exponential mechanisms have a bounded range.
#[must_use]
pub fn epsilon_of_each(
    epsilon: Epsilon,
    delta: Delta,
    releases: u64,
    together: impl Fn(f64) -> Composition,
) -> f64 {
    let kept = |each: f64| {
        let bounds: [&dyn Accountant; 3] = [&Basic, &Rdp, &Optimal];
        let composition = together(each);
        bounds.iter().any(|bound| bound.price(&composition, delta).epsilon <= epsilon.get() * (1.0 + 1e-12))
    };
    // By basic composition, an equal part of the total epsilon is always small enough.
    let mut low = libm::log(epsilon.get() / releases.max(1) as f64);
    let mut high = libm::log(epsilon.get());
    if kept(epsilon.get()) {
        return epsilon.get();
    }
    while high - low > 1e-4 {
        let middle = 0.5 * (low + high);
        if kept(libm::exp(middle)) {
            low = middle;
        } else {
            high = middle;
        }
    }
    libm::exp(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A release of pure t-differential privacy on a sample at rate q has the epsilon ln(1 + q (e^t - 1)). So the
    /// largest rate that keeps a given epsilon is (e^epsilon - 1) / (e^t - 1), the inclusion probability of Jorgensen,
    /// Yu and Cormode 2015.
    #[test]
    fn the_largest_rate_is_the_published_one_for_pure_privacy() {
        for (epsilon, t) in [(0.1f64, 1.0f64), (0.5, 1.0), (0.99, 1.0), (0.2, 3.0)] {
            let kept = |q: f64| libm::log1p(q * libm::expm1(t)) <= epsilon;
            let published = epsilon.exp_m1() / t.exp_m1();
            assert!((largest_below(1.0, kept) - published).abs() < 1e-12, "{epsilon} {t}");
        }
        assert_eq!(largest_below(0.3, |q| libm::log1p(q * libm::expm1(1.0)) <= 2.0), 0.3);
    }

    /// At the largest rate the epsilon is reached and not exceeded, and a rate 1 % larger exceeds it.
    #[test]
    fn the_largest_rate_reaches_its_epsilon() {
        let target = |epsilon: f64, rate: f64| Target {
            epsilon: Epsilon::new(epsilon).unwrap(),
            delta: Delta::new(1e-5).unwrap(),
            rate: Probability::new(rate).unwrap(),
        };
        for epsilon in [0.3, 1.0, 3.0] {
            let rate = largest_rate(&target(epsilon, 1.0), 1.0, 20);
            assert!(rate > 0.0 && rate < 1.0, "{rate}");
            assert!(target(epsilon, rate).epsilon_after(1.0, 20) <= epsilon * (1.0 + 1e-9));
            assert!(target(epsilon, 1.01 * rate).epsilon_after(1.0, 20) > epsilon);
        }
        assert_eq!(largest_rate(&target(100.0, 0.25), 1.0, 20), 0.25);
    }

    #[test]
    fn many_releases_may_each_cost_more_than_an_equal_part() {
        let (epsilon, delta) = (Epsilon::new(1.0).unwrap(), Delta::new(1e-6).unwrap());
        let together = |count: u64| {
            move |each: f64| {
                let mut composition = Composition::new();
                composition.add(&Cost::ExponentialMechanism { epsilon: each }, count);
                composition
            }
        };
        assert_eq!(epsilon_of_each(epsilon, delta, 1, together(1)), 1.0);
        let each = epsilon_of_each(epsilon, delta, 50, together(50));
        let reached = Tight.price(&together(50)(each), delta);
        // The upper bound holds for adaptively chosen mechanisms; the smaller `epsilon` holds only for a list fixed in
        // advance.
        let upper = reached.upper.unwrap();
        assert!(upper <= 1.0 && upper > 0.9, "{reached:?}");
        assert!(reached.epsilon < upper && reached.for_adaptive_releases().epsilon == upper);
        assert!(each > 2.0 / 50.0, "{each} is hardly more than an equal part");
    }

    #[test]
    fn noise_and_rounds_are_each_others_inverse() {
        let target = Target {
            epsilon: Epsilon::new(7.053_772_4).unwrap(),
            delta: Delta::new(200f64.powf(-1.1)).unwrap(),
            rate: Probability::new(0.25).unwrap(),
        };
        // DP-FTS-DE's main setting: noise multiplier 1, 40 rounds.
        let (noise, reached) = smallest_noise(&target, 40).unwrap();
        assert!((noise - 1.0).abs() < 1e-7, "{noise}");
        assert!(reached <= target.epsilon.get());
        let (rounds, _) = most_rounds(&target, Positive::new(1.0).unwrap());
        assert_eq!(rounds, 40);
        assert_eq!(most_rounds(&target, Positive::new(0.05).unwrap()).0, 0);
    }

    #[test]
    fn a_search_without_an_answer_returns_its_limit() {
        let target = |epsilon| Target {
            epsilon: Epsilon::new(epsilon).unwrap(),
            delta: Delta::new(1e-5).unwrap(),
            rate: Probability::new(1.0).unwrap(),
        };
        assert_eq!(most_rounds(&target(1000.0), Positive::new(1e9).unwrap()).0, MAX_ROUNDS);
        assert_eq!(smallest_noise(&target(1e6), 1).unwrap().0, MIN_NOISE);
        assert!(smallest_noise(&target(1.0), 1).unwrap().0 > 2.0 * MIN_NOISE);
    }
}
