//! Tests of pairs of neighbours with known output distributions: how releases compose, and how exact the losses are.

use super::*;
use crate::accounting::exact_pair::root;
use crate::accounting::single;
use crate::accounting::{Accountant, Composition, Tight};
use crate::vocab::Delta;

/// A mixture of normal distributions with the same standard deviation: weight and mean of each.
type Mixture = Vec<(f64, f64)>;

fn density(mixture: &Mixture, sd: f64, y: f64) -> f64 {
    let normal =
        |mean: f64| libm::exp(-0.5 * ((y - mean) / sd).powi(2)) / (sd * std::f64::consts::TAU.sqrt());
    mixture.iter().map(|(weight, mean)| weight * normal(*mean)).sum()
}

/// The hockey-stick divergence by the trapezoid rule, the larger of both directions; computed without any
/// accountant.
fn delta_of(sides: &[Mixture; 2], sd: f64, epsilon: f64) -> f64 {
    let one_way = |p: &Mixture, q: &Mixture| {
        let steps = 20_000;
        let (low, high) = (-14.0 * sd - 2.0, 14.0 * sd + 2.0);
        let step = (high - low) / f64::from(steps);
        (0..=steps)
            .map(|k| {
                let y = low + step * f64::from(k);
                (density(p, sd, y) - libm::exp(epsilon) * density(q, sd, y)).max(0.0) * step
            })
            .sum::<f64>()
    };
    one_way(&sides[0], &sides[1]).max(one_way(&sides[1], &sides[0]))
}

fn proven(cost: Cost) -> f64 {
    let composition: Composition = [(&cost, 1)].into_iter().collect();
    Tight.price(&composition, Delta::new(1e-5).unwrap()).epsilon
}

/// The loss of each worst known pair, by quadrature of its densities, equals the mechanism's proven
/// bound.
#[test]
fn worst_known_pairs_attain_the_proven_bounds() {
    let by_quadrature = |sides: &[Mixture; 2], sd| root(1e-5, |epsilon| delta_of(sides, sd, epsilon));
    let whole = |mean: f64| vec![(1.0, mean)];
    for (name, sides, sd, cost) in [
        ("Gaussian", [whole(1.0), whole(0.0)], 3.7, Cost::Gaussian { noise_multiplier: 3.7 }),
        (
            "Poisson sample, others zero",
            [vec![(0.75, 0.0), (0.25, 1.0)], whole(0.0)],
            1.0,
            Cost::PoissonGaussian { rate: 0.25, noise_multiplier: 1.0 },
        ),
        (
            "fixed size, others against it",
            [vec![(0.75, -1.0), (0.25, 1.0)], whole(-1.0)],
            2.0,
            Cost::FixedSizeGaussian { population: 4, size: 1, noise_multiplier: 2.0 },
        ),
    ] {
        let (exact, bound) = (by_quadrature(&sides, sd), proven(cost));
        assert!((exact / bound - 1.0).abs() < 1e-5, "{name}: {exact} of {bound}");
    }
    // A weaker pair, on which the vectors of all other units are zero: the bound is more than 1.5 times its exact
    // loss.
    let weak = [vec![(0.75, 0.0), (0.25, 1.0)], vec![(0.75, 0.0), (0.25, -1.0)]];
    let bound = proven(Cost::FixedSizeGaussian { population: 4, size: 1, noise_multiplier: 2.0 });
    assert!(by_quadrature(&weak, 2.0) < bound / 1.5, "{} of {bound}", by_quadrature(&weak, 2.0));
}

/// The laws that mechanisms state for single releases are combined into one pair. There is no pair if they cannot be
/// composed, or if the law of a release is not known.
#[test]
fn releases_of_one_kind_compose() {
    let (gaussian, none) = (KnownLaws::gaussian(0.5), KnownLaws::gaussian(0.0));
    let of = |releases: &[(Option<&KnownLaws>, u64)]| KnownPair::of(releases.iter().copied());
    let four = of(&[(Some(&gaussian), 3), (Some(&none), 7), (Some(&gaussian), 1)]).unwrap();
    let exact = KnownPair::gaussian(1.0).epsilon(1e-5);
    assert!((four.epsilon(1e-5) - exact).abs() < four.loss(1e-5).error, "{}", four.epsilon(1e-5));
    let largest = KnownLaws::largest(0.5);
    assert_eq!(of(&[(Some(&largest), 4)]).unwrap().epsilon(0.0), 2.0);
    // A release with the losses .5 and -.25, twice, and one with .1 and -2: at most 1.1, and at least -2.5.
    let unequal = [KnownLaws::largest_of([0.5, -0.25]), KnownLaws::largest_of([-2.0, 0.1])];
    assert_eq!(of(&[(Some(&unequal[0]), 2), (Some(&unequal[1]), 1)]).unwrap().epsilon(0.0), 2.5);
    assert!(of(&[(Some(&none), 1)]).is_none() && of(&[(None, 1), (Some(&gaussian), 1)]).is_none());
    assert!(of(&[(Some(&largest), 1), (Some(&gaussian), 1)]).is_none());
}

/// Several rounds, each with a sample of fixed size: the worst known pair has the same laws as a pair with Poisson
/// samples and half the noise multiplier. The proven bound composes a law that is the worst possible one in both
/// directions at the same time. No known pair has such a law, so this pair stays below the bound.
#[test]
fn several_rounds_of_fixed_size_stay_below_the_bound() {
    let delta = 200f64.powf(-1.1);
    let pair =
        KnownPair::composed(vec![(Cost::PoissonGaussian { rate: 0.25, noise_multiplier: 0.5 }, 4)], "");
    let bound: Composition =
        [(&Cost::FixedSizeGaussian { population: 20, size: 5, noise_multiplier: 1.0 }, 4)]
            .into_iter()
            .collect();
    let bound = Tight.price(&bound, Delta::new(delta).unwrap()).epsilon;
    let exact = pair.epsilon(delta);
    assert!((7.86..7.90).contains(&exact) && (8.02..8.04).contains(&bound), "{exact} of {bound}");
}

#[test]
fn curves_without_a_contour_agree_with_known_ones() {
    let (discrete, continuous) =
        (KnownPair::discrete_gaussian(30.0, 9.0).epsilon(1e-5), KnownPair::gaussian(0.3).epsilon(1e-5));
    assert!((discrete / continuous - 1.0).abs() < 1e-3, "{discrete} for {continuous}");
    let laplace = |delta: f64| {
        let composition: Composition = [(&Cost::Laplace { scale: 1.5 }, 1)].into_iter().collect();
        Tight.price(&composition, Delta::new(delta).unwrap()).epsilon
    };
    let pair = KnownPair::composed(vec![(Cost::Laplace { scale: 1.5 }, 1)], "");
    for delta in [1e-5, 0.1, 0.5] {
        assert!((pair.epsilon(delta) - laplace(delta)).abs() < 1e-3, "{delta}");
    }
    let coarse = KnownPair::discrete_gaussian(1.0, 1.0);
    // The result is compared with the sum over the integers, at delta 0.3.
    let curve = |epsilon: f64| {
        let mass = |x: i32| libm::exp(-0.5 * f64::from(x * x));
        let total: f64 = (-9..=9).map(mass).sum();
        (-8..=9).map(|x| (mass(x) - epsilon.exp() * mass(x - 1)).max(0.0)).sum::<f64>() / total
    };
    assert!((curve(coarse.epsilon(0.3)) - 0.3).abs() < 1e-9);
}

/// Exact losses lie between the accountant's two bounds, and the stated error reaches to the lower bound. Where the two
/// bounds are close to each other, the stated error is small.
#[test]
fn the_exact_loss_is_exact_to_its_stated_error() {
    let sampled = |rate, noise_multiplier| Cost::PoissonGaussian { rate, noise_multiplier };
    for costs in [
        vec![(sampled(0.25, 1.0), 4)],
        vec![(sampled(0.35, 0.9), 4)],
        vec![(sampled(0.25, 0.3), 4)],
        vec![(sampled(0.5, 0.8), 2), (sampled(0.25, 1.5), 3)],
        vec![(Cost::Gaussian { noise_multiplier: 2.0 }, 3)],
        vec![(Cost::Laplace { scale: 1.0 }, 3)],
        vec![(sampled(0.03, 1.0), 17)],
        vec![(sampled(0.01, 0.5), 17)],
    ] {
        let composition: Composition = costs.iter().map(|(cost, count)| (cost, *count)).collect();
        for delta in [1e-5, 200f64.powf(-1.1), 0.1] {
            let bound = Tight.price(&composition, Delta::new(delta).unwrap());
            let ExactLoss { epsilon: exact, error } = KnownPair::composed(costs.clone(), "").loss(delta);
            let lower = bound.lower.unwrap();
            // Where the accountant's two bounds are apart, the truth lies between them.
            assert!(exact - error <= lower && lower <= exact + 1e-4, "{costs:?}, {delta}: {exact}");
            assert!(exact <= bound.epsilon + 1e-4, "{costs:?}, {delta}: {exact} above {}", bound.epsilon);
            assert!(error <= (1.001 * (bound.epsilon - lower)).max(1e-4), "{costs:?}, {delta}: {error}");
        }
    }
}

/// With visible sampling of rate q, the unit was in neither of two rounds with probability (1 - q)^2, and the curve
/// is a weighted mean of Gaussian curves.
#[test]
fn visible_sampling_mixes_gaussian_curves() {
    let pair = KnownPair::shown(&[(0.25, 1.0), (0.25, 1.0)]).unwrap();
    let epsilon = pair.epsilon(1e-3);
    let mean =
        0.375 * single::gaussian_delta(1.0, epsilon) + 0.0625 * single::gaussian_delta(2f64.sqrt(), epsilon);
    assert!((mean / 1e-3 - 1.0).abs() < 1e-9, "{mean}");
    let many: Vec<(f64, f64)> = (0..40).map(|k| (0.5, 1.0 + 1e-3 * f64::from(k * k))).collect();
    assert!(KnownPair::shown(&many).is_none());
}

/// Releases with equal output distributions change neither the loss of the other releases nor its premise; without
/// other releases there is no loss to state.
#[test]
fn equal_output_distributions_add_nothing() {
    let laws = |laws: Laws, premise: &'static str| KnownLaws { laws, premise };
    let equal = [
        laws(Laws::Largest([0.0; 2]), "a"),
        laws(Laws::DiscreteGaussian { sigma: 2.0, steps: 0.0 }, "b"),
        laws(Laws::Shown { rate: 0.5, mu: 0.0 }, "c"),
        laws(Laws::Costs(Vec::new()), "e"),
    ];
    let releases = || equal.iter().map(|known| (Some(known), 3));
    assert_eq!(KnownPair::of(releases()), None);
    let costs = laws(Laws::Costs(vec![Cost::Gaussian { noise_multiplier: 1.5 }]), "d");
    let alone = KnownPair::of([(Some(&costs), 1)]).unwrap();
    let (never, infinite) = (KnownLaws::gaussian(1.0), KnownLaws::largest(f64::INFINITY));
    assert_eq!(
        KnownPair::of([(Some(&costs), 1), (Some(&never), 0), (Some(&infinite), 0)]),
        Some(alone.clone())
    );
    assert_eq!(KnownPair::of([(Some(&never), 0)]), None);
    assert_eq!(KnownPair::of([(Some(&costs), 1)].into_iter().chain(releases())), Some(alone));
}
