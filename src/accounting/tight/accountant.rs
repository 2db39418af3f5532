//! Chooses the method that computes the epsilon of a composition.

use super::binomial;
use super::contour::EpsilonBounds;
use super::curve::{CLOSE, curve, curve_between};
use crate::accounting::accounted_epsilon::EXPONENTIAL_NOTE;
use crate::accounting::pairs::{self, Exponential};
use crate::accounting::{
    Accountant, AccountedEpsilon, Advanced, Basic, Composition, EpsilonKind, Item, Optimal, Rdp, renyi,
};
use crate::vocab::{Cost, Delta};

/// The tight accountant: it computes the hockey-stick divergence of the product of the dominating pairs, by contour
/// integration, exact sums or lattices.
///
/// The add and remove directions are composed separately; the larger epsilon counts. First, delta is replaced by
/// (delta - f) / (1 - f), where f is the probability that at least one (epsilon, delta) guarantee fails.
///
/// The epsilon returned is the upper end of an interval that contains the true epsilon, with one exception: a composition
/// of up to 20,000 equal exponential mechanisms and nothing else. For this composition, the epsilon returned is that of
/// mechanisms fixed in advance, and the upper end is for adaptive choices.
///
/// If the two ends of the interval are within 0.1 % of each other (nearly always, see docs/accounting.md), two
/// compositions whose true epsilons differ by more than 0.1 % are ranked correctly. Compositions with closer true
/// epsilons may be ranked in the wrong order.
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
    /// Whether an upper bound on the composition's epsilon is at most `epsilon`. If the two ends differ, `price` also uses
    /// the theorems of other accountants. If all releases are Poisson-subsampled Gaussians, this function does not use those
    /// theorems, and is faster than `price`. Its answer may then be false although the epsilon of `price` is at most
    /// `epsilon`. For any other composition, the answer is that of `price`.
    pub(crate) fn is_within(self, composition: &Composition, delta: Delta, epsilon: f64) -> bool {
        let items = composition.items();
        // For subsampled Gaussians the bounds of other theorems are rarely smaller, so these bounds are not computed.
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

const FIXED_SIZE_NOTE: &str = "for draws without replacement the true epsilon may be smaller than the upper bound, and no lower bound is known";
const MANY_NOTE: &str = "there are too many equal releases for exact sums; the upper bound is from a lattice or Renyi divergences, and the true epsilon may be smaller";
const DIVERGENCES_NOTE: &str = "for some releases only bounds on Renyi divergences are known, so the loss of all releases is bounded by Renyi divergences";

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
    // `upper` holds for adaptively chosen mechanisms too. It is the smaller of two bounds: that by dominating pairs and that
    // by Renyi divergences.
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
    // The epsilon of any mechanisms that have these costs and are fixed in advance is a lower bound.
    let lower = if fixed_size {
        0.0
    } else {
        let at = |fraction| curve(items, Exponential::Fraction(fraction), delta).lower;
        [0.4, 0.5, 0.6].map(at).into_iter().fold(0.0, f64::max).min(upper)
    };
    (Answer { lower, epsilon: upper, upper }, EpsilonKind::Bound, note)
}

/// Whether `items` are equal releases, so that an exact sum exists, but are too many for this sum to be computed.
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
