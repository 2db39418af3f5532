//! Chooses the method that computes the epsilon of a composition.

use super::contour::{self, EpsilonBounds};
use super::{binomial, steps};
use crate::accounting::accounted_epsilon::EXPONENTIAL_NOTE;
use crate::accounting::laws::{Direction, TwoAtoms};
use crate::accounting::pairs::{self, Exponential};
use crate::accounting::{
    Accountant, AccountedEpsilon, Advanced, Basic, Composition, EpsilonKind, Item, Optimal, Rdp, renyi,
    single,
};
use crate::vocab::{Cost, Delta};

/// The hockey-stick divergence of the dominating pairs' product, by contour integration, exact sums or lattices.
///
/// The add and remove directions are composed separately; the larger epsilon counts. First, delta is replaced by
/// (delta - f) / (1 - f), where f is the probability that at least one (epsilon, delta) guarantee fails.
///
/// The epsilon returned is the upper end of an interval that contains the true epsilon, except for up to 20,000 equal
/// exponential mechanisms. For these it is the epsilon for mechanisms fixed in advance, and the upper end is for adaptive
/// choices.
///
/// Where the ends are within 0.1 % of each other (nearly everywhere, see docs/accounting.md), two compositions whose
/// true epsilons differ by more than 0.1 % are ranked correctly; two whose true epsilons are closer may be ranked in
/// the wrong order.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tight;

impl Accountant for Tight {
    fn name(&self) -> &'static str {
        "tight"
    }

    fn about(&self) -> &'static str {
        "the privacy loss distribution, with proven lower and upper bounds (Zhu, Dong and Wang 2022; Doroshenko et al. 2022)"
    }

    fn price(&self, composition: &Composition, delta: Delta) -> AccountedEpsilon {
        let items = composition.items();
        let unpriced = pairs::unpriceable(items);
        if !unpriced.is_empty() {
            return AccountedEpsilon::refused(unpriced, EpsilonKind::Bound, composition);
        }
        let left = match AccountedEpsilon::remaining(composition, delta) {
            Ok(left) => left,
            Err(answer) => return answer,
        };
        let (mut ends, standing, note) = ends(composition, left);
        if standing == EpsilonKind::Bound && ends.upper - ends.lower > EXACT * ends.upper {
            // Unless the ends are equal, another theorem may give a smaller bound. Ends that are not
            // close are mostly from lattices, whose upper end already includes the bound by Renyi
            // divergences, so `Rdp` is computed only if the ends are close.
            let basic =
                Basic.price(composition, delta).epsilon.min(Advanced.price(composition, delta).epsilon);
            let mut most = ends.upper.min(basic);
            if ends.upper - ends.lower <= CLOSE * ends.upper {
                most = most.min(Rdp.price(composition, delta).epsilon);
            }
            ends.upper = most.min(Optimal::below(composition, delta, most));
            ends.epsilon = ends.upper;
            ends.lower = ends.lower.min(ends.upper);
        }
        let mut priced = AccountedEpsilon::plain(ends.epsilon, standing, composition);
        priced.lower = Some(ends.lower);
        priced.upper = Some(ends.upper);
        priced.notes.extend(note.map(str::to_owned));
        priced
    }
}

impl Tight {
    /// Whether an upper bound on the composition's epsilon is at most `epsilon`; faster than
    /// `price`. For subsampled Gaussians it does not use the other theorems that `price` uses if the
    /// ends differ, so it may be false although `price` gives at most `epsilon`.
    pub(crate) fn is_within(self, composition: &Composition, delta: Delta, epsilon: f64) -> bool {
        let items = composition.items();
        // For these costs the bounds of other theorems are rarely smaller, so they are not computed.
        let is_plain = items.iter().all(|item| matches!(item.cost, Cost::PoissonGaussian { .. }));
        if is_plain && pairs::unpriceable(items).is_empty() {
            let ends = curve_between(items, Exponential::Dominating, delta.get(), (epsilon, epsilon));
            return ends.upper <= epsilon;
        }
        self.price(composition, delta).epsilon <= epsilon
    }
}

/// Largest relative distance of ends that count as equal.
const EXACT: f64 = 1e-8;
/// Largest relative distance of ends that are accepted without trying another method.
const CLOSE: f64 = 1e-6;

/// A longer contour is tried only if the relative distance of the two ends that lattices give exceeds this number.
const RESOLUTION: f64 = 1e-3;
/// `effort` of [`contour::epsilon`] for the longer contour that is tried if the two ends that lattices give are farther
/// apart than [`RESOLUTION`].
const LAST_EFFORT: f64 = 20.0;

/// Below this delta, sums of probabilities in doubles are not trusted.
const MIN_DELTA: f64 = 1e-30;

/// The two ends of epsilon, and the epsilon that is reported.
struct Answer {
    lower: f64,
    epsilon: f64,
    upper: f64,
}

impl Answer {
    fn of(ends: EpsilonBounds) -> Self {
        Self { lower: ends.lower, epsilon: ends.upper, upper: ends.upper }
    }
}

const FIXED_SIZE_NOTE: &str =
    "for draws without replacement the upper bound need not be attained, and no lower bound is known";
const MANY_NOTE: &str = "there are too many equal releases for exact sums; the upper bound is from a lattice or Renyi divergences, and need not be attained";
const DIVERGENCES_NOTE: &str =
    "for some releases only bounds on Renyi divergences are known, so these divergences bound all of them";

/// The lower and upper end of epsilon at `delta`, the reported epsilon, its kind, and a note on it if there is one.
fn ends(composition: &Composition, delta: f64) -> (Answer, EpsilonKind, Option<&'static str>) {
    let items = composition.items();
    if items.iter().any(renyi::is_known_by_divergence) {
        // For some items only Renyi divergences are known, so all items are composed by Renyi divergences.
        let upper = renyi::epsilon(items, delta).map_or(0.0, |(epsilon, _)| epsilon);
        return (Answer { lower: 0.0, epsilon: upper, upper }, EpsilonKind::Bound, Some(DIVERGENCES_NOTE));
    }
    let exponential =
        |item: &Item| matches!(item.cost, Cost::ExponentialMechanism { epsilon } if epsilon > 0.0);
    let fixed_size = items.iter().any(|item| matches!(item.cost, Cost::FixedSizeGaussian { .. }));
    let note = if fixed_size { Some(FIXED_SIZE_NOTE) } else { is_long_sum(items).then_some(MANY_NOTE) };
    if !items.iter().any(exponential) {
        let mut answer = Answer::of(curve(items, Exponential::Dominating, delta));
        if fixed_size {
            // The computed lower end is for the dominating pair, which the mechanism itself need not attain.
            answer.lower = 0.0;
        }
        return (answer, EpsilonKind::Bound, note);
    }
    // For adaptively chosen mechanisms, the smaller of two bounds.
    let mut upper = curve(items, Exponential::Dominating, delta).upper;
    if let Some((epsilon, _)) = renyi::epsilon(items, delta) {
        upper = upper.min(epsilon);
    }
    if let [Item { cost: Cost::ExponentialMechanism { epsilon }, count, .. }] = *items
        && count <= binomial::MAX_OF_A_RANGE
    {
        let exact = binomial::bounded_range(epsilon, count, delta);
        let answer = Answer { lower: exact, epsilon: exact, upper: upper.max(exact) };
        return (answer, EpsilonKind::NonAdaptiveBound, Some(EXPONENTIAL_NOTE));
    }
    // The epsilon of any fixed mechanisms with these costs is a lower bound.
    let lower = if fixed_size {
        0.0
    } else {
        let at = |fraction| curve(items, Exponential::Fraction(fraction), delta).lower;
        [0.4, 0.5, 0.6].map(at).into_iter().fold(0.0, f64::max).min(upper)
    };
    (Answer { lower, epsilon: upper, upper }, EpsilonKind::Bound, note)
}

/// Whether these are equal releases whose exact sum is too long to compute.
fn is_long_sum(items: &[Item]) -> bool {
    match items {
        [Item { cost: Cost::ExponentialMechanism { .. }, count, .. }] => *count > binomial::MAX_OF_A_RANGE,
        [
            Item {
                cost: Cost::RandomizedResponse { .. } | Cost::PureDp { .. } | Cost::ApproximateDp { .. },
                count,
                ..
            },
        ] => *count > binomial::MOST,
        _ => false,
    }
}

/// Both ends of epsilon (at least 0) for priceable items, in the worse of the two directions. Where the computation fails,
/// or another bound is tighter, the other bound is used: for the upper end Renyi divergences or the sum of the epsilons,
/// for the lower end the epsilon of one item alone.
pub(in crate::accounting) fn curve(items: &[Item], exponential: Exponential, delta: f64) -> EpsilonBounds {
    curve_below(items, exponential, delta, f64::INFINITY)
}

/// The same as [`curve`], faster: if epsilon is above `ceiling`, the ends need not be close.
pub(in crate::accounting) fn curve_below(
    items: &[Item],
    exponential: Exponential,
    delta: f64,
    ceiling: f64,
) -> EpsilonBounds {
    curve_between(items, exponential, delta, (0.0, ceiling))
}

/// The same as [`curve_below`], faster: the ends need not be close if epsilon is at most `floor` or above `ceiling`.
fn curve_between(
    items: &[Item],
    exponential: Exponential,
    delta: f64,
    (floor, ceiling): (f64, f64),
) -> EpsilonBounds {
    if pairs::total_variation(items) <= delta {
        return EpsilonBounds { lower: 0.0, upper: 0.0 };
    }
    if let Some(epsilon) = closed_form(items, delta) {
        return EpsilonBounds { lower: epsilon, upper: epsilon };
    }
    let total = pairs::pure_total(items);
    let part = |item: &Item| closed_form(std::slice::from_ref(item), delta).unwrap_or(0.0);
    let least = items.iter().map(part).fold(0.0, f64::max).min(total);
    if least > ceiling {
        return EpsilonBounds { lower: least, upper: total };
    }
    // The bound by Renyi divergences; it is computed only if it is needed, for lattices and for a very small delta.
    let mut known: Option<f64> = None;
    let mut other =
        || *known.get_or_insert_with(|| renyi::epsilon(items, delta).map_or(0.0, |found| found.0));
    if delta < MIN_DELTA {
        // Sums of probabilities in double precision do not resolve such a small delta; Renyi divergences do.
        return EpsilonBounds { lower: least, upper: other().min(total).max(least) };
    }
    let directions = if pairs::is_asymmetric(items) { &Direction::BOTH[..] } else { &Direction::BOTH[..1] };
    directions.iter().fold(EpsilonBounds { lower: least, upper: least }, |worst, &direction| {
        let laws = pairs::laws(items, direction, exponential);
        if laws.is_empty() {
            return worst;
        }
        let line = contour::epsilon(&laws, delta, 1.0)
            .filter(|ends| ends.upper.is_finite() && ends.lower.is_finite());
        let ends = match line {
            Some(ends)
                if ends.upper - ends.lower <= CLOSE * ends.upper.max(0.0)
                    || ends.upper <= worst.upper.max(floor)
                    || ends.lower >= ceiling =>
            {
                ends
            }
            line => {
                let mut most = other().min(total);
                if let Some(ends) = line {
                    most = most.min(ends.upper.max(0.0));
                }
                let mut ends = steps::epsilon(&laws, delta, most, worst.upper.max(floor), ceiling);
                ends.lower = line.map_or(0.0, |line| line.lower).max(ends.lower).min(ends.upper);
                let is_of_interest = ends.upper > worst.upper.max(floor) && ends.lower < ceiling;
                if is_of_interest && ends.upper - ends.lower > RESOLUTION * ends.upper {
                    // The two ends that lattices give are not close; a longer contour may give closer ones.
                    let line = contour::epsilon(&laws, delta, LAST_EFFORT)
                        .filter(|line| line.upper.is_finite() && line.lower.is_finite());
                    if let Some(line) = line {
                        ends.upper = ends.upper.min(line.upper.max(0.0));
                        ends.lower = ends.lower.max(line.lower).min(ends.upper);
                    }
                }
                ends
            }
        };
        let upper = worst.upper.max(ends.upper.min(total));
        EpsilonBounds { lower: worst.lower.max(ends.lower).min(upper), upper }
    })
}

/// Epsilon at `delta` in closed form or by binomial sums; `None` if the items have neither.
fn closed_form(items: &[Item], delta: f64) -> Option<f64> {
    if let [item] = items {
        match item.cost {
            Cost::PoissonGaussian { rate, noise_multiplier }
                if item.count == 1 && rate > 0.0 && rate < 1.0 =>
            {
                return Some(single::poisson_epsilon(rate, noise_multiplier, delta));
            }
            // delta(e) = 1 - exp((e - 1/scale) / 2) for 0 <= e <= 1/scale.
            Cost::Laplace { scale } if item.count == 1 => {
                return Some((1.0 / scale + 2.0 * libm::log1p(-delta)).max(0.0));
            }
            Cost::FixedSizeGaussian { population, size, noise_multiplier } if item.count == 1 && size > 0 => {
                let rate = size as f64 / population as f64;
                return Some(single::fixed_size_epsilon(rate, noise_multiplier, delta));
            }
            Cost::RandomizedResponse { epsilon }
            | Cost::PureDp { epsilon }
            | Cost::ApproximateDp { epsilon, .. }
                if epsilon > 0.0 && item.count <= binomial::MOST =>
            {
                return Some(binomial::epsilon(&TwoAtoms::randomized_response(epsilon), item.count, delta));
            }
            Cost::Gaussian { .. }
            | Cost::Laplace { .. }
            | Cost::ExponentialMechanism { .. }
            | Cost::RandomizedResponse { .. }
            | Cost::PoissonGaussian { .. }
            | Cost::FixedSizeGaussian { .. }
            | Cost::PureDp { .. }
            | Cost::ApproximateDp { .. }
            | Cost::ZeroConcentratedDp { .. }
            | Cost::RepeatedGaussian { .. }
            | Cost::PoissonRepeatedGaussian { .. }
            | Cost::Unprotected => {}
        }
    }
    let squares: Option<f64> = items
        .iter()
        .map(|item| match item.cost {
            Cost::Gaussian { noise_multiplier } => {
                Some(item.count as f64 / noise_multiplier / noise_multiplier)
            }
            _ => None,
        })
        .sum();
    match squares {
        Some(0.0) => Some(0.0),
        Some(squares) => Some(single::gaussian_epsilon(squares.sqrt(), delta)),
        None => None,
    }
}
