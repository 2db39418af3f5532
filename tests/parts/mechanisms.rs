//! The contract of every mechanism, and their output laws against exact probabilities (fixed seeds).

use proptest::prelude::*;
use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use subrosa::audit::reachable_laplace;
use subrosa::conformance;
use subrosa::privacy::mechanisms::clipping::Range;
use subrosa::privacy::mechanisms::outcomes::Outcome;
use subrosa::privacy::mechanisms::{
    BudgetSplit, ClippedGaussian, ClippedLaplace, DiscreteGaussian, DiscreteLaplace, ExponentialMechanism,
    FixedSizeGaussian, Gaussian, Laplace, Lattice, Mechanism, MechanismError, NoiseArithmetic,
    NoisyProjection, NoisyRows, PoissonGaussian, Price, RandomizedResponse, ReportNoisyMax, Rows,
    SparseVector, TreeAggregation,
};
use subrosa::rng::Key;
use subrosa::vocab::{
    Arithmetic, Basis, Cost, Delta, Epsilon, Finite, Neighbours, Positive, Probability, Sampler, TreePlan,
};

fn positive(value: f64) -> Positive {
    Positive::new(value).unwrap()
}

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

/// Price reads the shape of the input only; a bad input is refused before anything is drawn; replays are equal.
fn contract<M>(mechanism: &M, good: &M::Input, other: &M::Input, bad: &M::Input, neighbours: &Neighbours)
where
    M: Mechanism,
    M::Output: PartialEq + std::fmt::Debug,
{
    let price = mechanism.price(good, neighbours).unwrap();
    assert_eq!(price, mechanism.price(other, neighbours).unwrap(), "{mechanism:?}");
    assert_eq!(price.basis, Basis::Proven);
    assert!(!price.mechanism.is_empty());
    let mut stream = Key::root(1).stream();
    assert!(mechanism.privatise(bad, &mut stream).is_err(), "{mechanism:?}");
    let once = mechanism.privatise(good, &mut Key::root(2).stream()).unwrap();
    assert_eq!(once, mechanism.privatise(good, &mut Key::root(2).stream()).unwrap());
}

#[test]
fn every_mechanism_keeps_the_contract() {
    let (a, b, bad) = (vec![1.0, 2.0], vec![-5.0, 7.0], vec![1.0, f64::NAN]);
    let any = Neighbours::AnyValue;
    contract(&Laplace::new(positive(2.0), positive(1.0)), &a, &b, &bad, &any);
    contract(&Gaussian::new(positive(2.0), positive(1.0)), &a, &b, &bad, &any);
    contract(&ExponentialMechanism::new(epsilon(1.0), positive(1.0)), &a, &b, &bad, &any);
    contract(&ReportNoisyMax::new(epsilon(1.0), positive(1.0)), &a, &b, &bad, &any);
    let above = SparseVector::above_threshold(epsilon(1.0), positive(1.0), Finite::new(0.0).unwrap());
    contract(&above, &a, &b, &bad, &any);
    contract(&above.monotonic().with_values(epsilon(0.5)), &a, &b, &bad, &any);
    let lattice = Lattice::new(positive(0.125));
    let steps = NonZeroU32::new(16).unwrap();
    contract(&DiscreteLaplace::new(lattice, steps, positive(1.0)), &a, &b, &bad, &any);
    contract(&DiscreteGaussian::new(lattice, steps, positive(1.0)).unwrap(), &a, &b, &bad, &any);
    let units = |x: f64| vec![vec![x, 0.0], vec![0.5, -x], vec![0.1, 0.2]];
    let ragged = vec![vec![1.0], vec![1.0, 2.0]];
    let half = Probability::new(0.5).unwrap();
    let tree = TreeAggregation::new(plan(3, 1, 0), positive(2.0), positive(1.0));
    contract(&tree, &units(1.0), &units(9.0), &ragged, &Neighbours::ReplaceOne);
    let four = vec![vec![0.0]; 4];
    contract(&tree, &units(1.0), &units(9.0), &four, &Neighbours::ReplaceOne);
    let poisson = PoissonGaussian::new(half, positive(1.0), positive(2.0));
    contract(&poisson, &units(1.0), &units(9.0), &ragged, &Neighbours::ZeroOut);
    let fixed = FixedSizeGaussian::new(2, positive(1.0), positive(2.0));
    contract(&fixed, &units(1.0), &units(9.0), &Vec::new(), &Neighbours::ReplaceOne);
}

fn plan(steps: u64, contributions: u64, restart: u64) -> TreePlan {
    let number = |n| NonZeroU64::new(n).unwrap();
    TreePlan { steps: number(steps), contributions: number(contributions), restart: NonZeroU64::new(restart) }
}

/// The conformance test of a user's own mechanism: nothing is found in those for sequences of values.
#[test]
fn mechanisms_for_sequences_conform() {
    let zero = Finite::new(0.0).unwrap();
    let (any, three) = (Neighbours::AnyValue, NonZeroU32::new(3).unwrap());
    let sparse = SparseVector::new(epsilon(3.0), positive(2.0), zero, three);
    for own in [
        SparseVector::above_threshold(epsilon(2.0), positive(2.0), zero),
        sparse,
        sparse.monotonic(),
        sparse.with_values(epsilon(1.0)),
        sparse.split(BudgetSplit::Even).with(NoiseArithmetic::Ideal),
    ] {
        assert_eq!(conformance::mechanism(own, &vec![0.0; 8], &any, 0.0, 20_000).unwrap(), [], "{own:?}");
    }
    for plan in [plan(16, 1, 0), plan(16, 1, 4), plan(12, 3, 5)] {
        let own = TreeAggregation::new(plan, positive(4.0), positive(2.0));
        let like = vec![vec![0.0; 2]; plan.steps.get() as usize];
        assert_eq!(conformance::mechanism(own, &like, &any, 1e-5, 20_000).unwrap(), [], "{own:?}");
    }
}

fn range(low: f64, high: f64) -> Range {
    Range { low: Finite::new(low).unwrap(), high: Finite::new(high).unwrap() }
}

/// Whatever number comes in, even none, an output comes out: a refusal would tell the observer something unpriced.
fn total(mechanism: &dyn Mechanism<Input = f64, Output = f64>) {
    let price = mechanism.price(&0.5, &Neighbours::AnyValue).unwrap();
    assert_eq!(price.basis, Basis::Proven);
    for input in [0.5, 99.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(price, mechanism.price(&input, &Neighbours::AnyValue).unwrap());
        let draw = || mechanism.privatise(&input, &mut Key::root(2).stream()).unwrap();
        assert!(draw().is_finite());
        assert_eq!(draw(), draw());
    }
}

#[test]
fn what_a_curator_may_release_keeps_the_contract() {
    let (small, delta) = (range(-1.0, 2.0), Delta::new(1e-5).unwrap());
    let any = Neighbours::AnyValue;
    for arithmetic in [NoiseArithmetic::Exact, NoiseArithmetic::Ideal] {
        let (epsilon, range) = (epsilon(1.0), small);
        total(&ClippedLaplace { epsilon, range, arithmetic });
        total(&ClippedGaussian { epsilon, delta, range, arithmetic });
    }
    let rows = |x: f64| Rows::new(2, 2, vec![x, 1.0, -3.0, x]).unwrap();
    let moved = Neighbours::RowMoved { distance: 1.0 };
    let noisy = NoisyRows { epsilon: epsilon(1.0), delta, arithmetic: NoiseArithmetic::Exact }
        .calibrated(positive(1.0))
        .unwrap();
    contract(&noisy, &rows(1.0), &rows(7.0), &rows(f64::NAN), &moved);
    let recipe = NoisyProjection {
        epsilon: epsilon(1.0),
        delta,
        r: NonZeroUsize::new(3).unwrap(),
        arithmetic: NoiseArithmetic::Exact,
    };
    let projection = recipe.drawn(2, positive(1.0), &mut Key::root(3).stream()).unwrap();
    contract(&projection, &rows(1.0), &rows(7.0), &rows(f64::INFINITY), &moved);
    let empty =
        ClippedLaplace { epsilon: epsilon(1.0), range: range(2.0, 2.0), arithmetic: NoiseArithmetic::Exact };
    assert!(empty.price(&0.0, &any).is_err() && empty.variance().is_err());
}

proptest! {
    /// Clipped outcomes: with the same draw, two values never lie further apart than the sensitivity in the price, and
    /// the ends of the range reach it.
    #[test]
    fn clipped_outcomes_keep_their_sensitivity(
        a in -1e9f64..1e9, b in -1e9f64..1e9, low in -100f64..100.0, width in 1e-3f64..100.0, seed in 0u64..1000, exact: bool,
    ) {
        let range = range(low, low + width);
        let delta = Delta::new(1e-6).unwrap();
        let arithmetic = if exact { NoiseArithmetic::Exact } else { NoiseArithmetic::Ideal };
        let laplace = ClippedLaplace { epsilon: epsilon(0.7), range, arithmetic };
        let gaussian = ClippedGaussian { epsilon: epsilon(0.7), delta, range, arithmetic };
        let mechanisms: [&dyn Mechanism<Input = f64, Output = f64>; 2] = [&laplace, &gaussian];
        for mechanism in mechanisms {
            let draw = |value: f64| mechanism.privatise(&value, &mut Key::root(seed).stream()).unwrap();
            let sensitivity = mechanism.price(&a, &Neighbours::AnyValue).unwrap().sensitivity.unwrap();
            prop_assert!((draw(a) - draw(b)).abs() <= sensitivity * (1.0 + 1e-9) + 1e-9);
            let most = draw(1e12) - draw(-1e12);
            prop_assert!((most / sensitivity - 1.0).abs() < 1e-6, "{most} for {sensitivity}");
        }
    }
}

/// Probabilities of half-lines on the two ends of the range have ratio e^epsilon and no more; the variance is as told.
#[test]
fn clipped_laplace_costs_what_it_says() {
    let mechanism =
        ClippedLaplace { epsilon: epsilon(1.5), range: range(-1.0, 3.0), arithmetic: NoiseArithmetic::Exact };
    let n = 200_000;
    let share = |value: f64| {
        let mut stream = Key::root(17).child(&format!("{value}")).stream();
        (0..n).filter(|_| mechanism.privatise(&value, &mut stream).unwrap() > 3.0).count() as f64
    };
    // P(y > 3) is 1/2 from 3 or anything above, e^-1.5 / 2 from -1 or anything below.
    for (value, expected) in
        [(3.0, 0.5), (1e6, 0.5), (-1.0, 0.5 * (-1.5f64).exp()), (-1e6, 0.5 * (-1.5f64).exp())]
    {
        let error = (expected * (1.0 - expected) * f64::from(n)).sqrt();
        assert!((share(value) - expected * f64::from(n)).abs() < 6.0 * error, "{value}: {}", share(value));
    }
    let mut stream = Key::root(18).stream();
    let squares =
        (0..n).map(|_| (mechanism.privatise(&1.0, &mut stream).unwrap() - 1.0).powi(2)).sum::<f64>();
    // Laplace's kurtosis is 6: six standard errors of the mean square.
    let ratio = squares / f64::from(n) / mechanism.variance().unwrap();
    assert!((ratio - 1.0).abs() < 6.0 * (5.0 / f64::from(n)).sqrt(), "{ratio}");
}

/// A certificate holds for the sampler and the neighbours it was proven for, and for no other.
#[test]
fn samplers_are_not_mixed_up() {
    let units = vec![vec![1.0]; 10];
    let half = Probability::new(0.5).unwrap();
    let poisson = PoissonGaussian::new(half, positive(1.0), positive(2.0));
    let fixed = FixedSizeGaussian::new(5, positive(1.0), positive(2.0));
    let refused = |result: Result<_, MechanismError>| {
        matches!(result, Err(MechanismError::NeighboursNotCovered { .. }))
    };
    assert!(refused(poisson.price(&units, &Neighbours::ReplaceOne)));
    assert!(refused(fixed.price(&units, &Neighbours::AddRemove)));
    let price = fixed.price(&units, &Neighbours::ReplaceOne).unwrap();
    assert_eq!(price.sampler, Sampler::FixedSize { population: 10, size: 5 });
    assert!(matches!(price.cost, Cost::FixedSizeGaussian { population: 10, size: 5, .. }));
    assert!(
        FixedSizeGaussian::new(11, positive(1.0), positive(2.0))
            .price(&units, &Neighbours::ReplaceOne)
            .is_err()
    );
}

/// The statistic and the 0.9999 quantile of chi-square (Wilson and Hilferty).
fn chi_square(counts: &[u64], probabilities: &[f64]) -> (f64, f64) {
    let n: u64 = counts.iter().sum();
    let statistic = counts
        .iter()
        .zip(probabilities)
        .map(|(&count, p)| (count as f64 - p * n as f64).powi(2) / (p * n as f64))
        .sum();
    let freedom = counts.len() as f64 - 1.0;
    let a = 2.0 / (9.0 * freedom);
    (statistic, freedom * (1.0 - a + 3.719 * a.sqrt()).powi(3))
}

const UTILITIES: [f64; 5] = [0.2, -0.5, 1.1, 0.9, 0.0];

#[test]
fn the_exponential_mechanism_has_its_probabilities() {
    for arithmetic in [NoiseArithmetic::Exact, NoiseArithmetic::Ideal] {
        let mechanism = ExponentialMechanism::new(epsilon(3.0), positive(1.0)).with(arithmetic);
        let mut stream = Key::root(11).stream();
        let mut counts = [0u64; 5];
        for _ in 0..100_000 {
            counts[mechanism.privatise(&UTILITIES.to_vec(), &mut stream).unwrap()] += 1;
        }
        let probabilities = mechanism.probabilities(&UTILITIES);
        let (found, most) = chi_square(&counts, &probabilities);
        assert!(found < most, "{found} above {most}: {counts:?}");
        let wrong = ExponentialMechanism::new(epsilon(3.3), positive(1.0)).probabilities(&UTILITIES);
        let (found, most) = chi_square(&counts, &wrong);
        assert!(found > most, "a wrong epsilon goes unseen: {found}");
    }
}

/// Permute and flip (McKenna and Sheldon 2020, Algorithm 1) has the law of report noisy max with exponential noise;
/// its probabilities are the mean over all orders of 5 utilities.
#[test]
fn report_noisy_max_is_permute_and_flip() {
    let best = 1.1;
    let accept = UTILITIES.map(|u| (3.0f64 * (u - best) / 2.0).exp());
    let mut exact = [0.0; 5];
    let mut orders = 0.0;
    fn visit(order: &mut Vec<usize>, see: &mut impl FnMut(&[usize])) {
        if order.len() == 5 {
            return see(order);
        }
        for next in 0..5 {
            if !order.contains(&next) {
                order.push(next);
                visit(order, see);
                order.pop();
            }
        }
    }
    visit(&mut Vec::new(), &mut |order| {
        orders += 1.0;
        let mut reach = 1.0;
        for &index in order {
            exact[index] += reach * accept[index];
            reach *= 1.0 - accept[index];
        }
    });
    let exact = exact.map(|p| p / orders);
    for arithmetic in [NoiseArithmetic::Exact, NoiseArithmetic::Ideal] {
        let mechanism = ReportNoisyMax::new(epsilon(3.0), positive(1.0)).with(arithmetic);
        let mut stream = Key::root(12).stream();
        let mut counts = [0u64; 5];
        for _ in 0..100_000 {
            counts[mechanism.privatise(&UTILITIES.to_vec(), &mut stream).unwrap()] += 1;
        }
        let (found, most) = chi_square(&counts, &exact);
        assert!(found < most, "{found} above {most}: {counts:?} for {exact:?}");
    }
}

#[test]
fn randomised_response_lies_as_often_as_it_says() {
    let mechanism = RandomizedResponse::new(epsilon(1.0));
    let mut stream = Key::root(13).stream();
    let n = 100_000;
    let truths =
        (0..n).filter(|k| mechanism.privatise(&(k % 2 == 0), &mut stream).unwrap() == (k % 2 == 0)).count();
    let (p, n) = (1.0 / (1.0 + (-1.0f64).exp()), f64::from(n));
    assert!((truths as f64 - p * n).abs() < 4.0 * (n * p * (1.0 - p)).sqrt(), "{truths}");
}

/// Sums over samples: mean q times the clipped sum, variance of the coins plus that of the noise.
#[test]
fn a_poisson_sum_has_its_mean_and_variance() {
    let (q, clip, z) = (0.3, 1.0, 0.7);
    let mechanism = PoissonGaussian::new(Probability::new(q).unwrap(), positive(clip), positive(z));
    // Twenty units of norm 1 after clipping.
    let units = vec![vec![4.0]; 20];
    let mut stream = Key::root(14).stream();
    let n = 20_000;
    let draws: Vec<f64> = (0..n).map(|_| mechanism.privatise(&units, &mut stream).unwrap()[0]).collect();
    let mean = draws.iter().sum::<f64>() / f64::from(n);
    let variance = draws.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / f64::from(n);
    let expected = 20.0 * q * (1.0 - q) + z * z;
    assert!((mean - 6.0).abs() < 4.0 * (expected / f64::from(n)).sqrt(), "{mean}");
    assert!(
        (variance / expected - 1.0).abs() < 4.0 * (2.0 / f64::from(n)).sqrt(),
        "{variance} for {expected}"
    );
}

/// Exact noise: outputs are on the lattice, and the price pays for rounding.
#[test]
fn lattice_noise_is_exact_and_pays_for_rounding() {
    let lattice = Lattice::new(positive(0.25));
    let laplace = DiscreteLaplace::new(lattice, NonZeroU32::new(8).unwrap(), positive(1.0));
    let input = vec![0.1, 3.7, -2.2];
    let price = laplace.price(&input, &Neighbours::AnyValue).unwrap();
    assert_eq!(price.arithmetic, Arithmetic::Exact);
    // (1 / 0.25 + 3) / 8.
    assert_eq!(price.cost, Cost::PureDp { epsilon: 0.875 });
    let output = laplace.privatise(&input, &mut Key::root(15).stream()).unwrap();
    assert!(output.iter().all(|v| (v / 0.25).fract() == 0.0), "{output:?}");
    let gaussian = DiscreteGaussian::new(lattice, NonZeroU32::new(10).unwrap(), positive(1.0)).unwrap();
    let price = gaussian.price(&vec![0.0; 4], &Neighbours::AnyValue).unwrap();
    // Multiplier 10 / (4 + 2).
    assert_eq!(price.cost, Cost::ZeroConcentratedDp { rho: 0.18 });
    let too_wide = NonZeroU32::new((1 << 20) + 1).unwrap();
    assert!(DiscreteGaussian::new(lattice, too_wide, positive(1.0)).is_err());
}

const ARITHMETICS: [NoiseArithmetic; 2] = [NoiseArithmetic::Exact, NoiseArithmetic::Ideal];

/// How many of 2,000 outputs of a secret 0 the neighbour's sampler can never put out: many in floating point (which tells
/// the secret), none on a lattice, all of whose multiples either secret can give.
#[test]
fn exact_noise_has_no_low_bits_to_tell() {
    let telling = |arithmetic| {
        let laplace = Laplace::new(positive(1.0), positive(1.0)).with(arithmetic);
        let mut stream = Key::root(21).stream();
        let reachable = |y: f64| match arithmetic {
            // Spacing 2^-30, from which 1 lies a whole number of multiples away.
            NoiseArithmetic::Exact => (y * libm::exp2(30.0)).fract() == 0.0,
            NoiseArithmetic::Ideal => reachable_laplace(1.0, 1.0, y),
        };
        let draw = |_: &u32| !reachable(laplace.privatise(&vec![0.0], &mut stream).unwrap()[0]);
        (0..2000).filter(draw).count()
    };
    assert_eq!(telling(NoiseArithmetic::Exact), 0);
    assert!(telling(NoiseArithmetic::Ideal) > 400);
    // Neither do secrets that are no multiples: what comes out is one, by rounding before the noise.
    let range = range(-1.0, 2.0);
    let (delta, arithmetic) = (Delta::new(1e-5).unwrap(), NoiseArithmetic::Exact);
    let laplace = ClippedLaplace { epsilon: epsilon(1.0), range, arithmetic };
    let gaussian = ClippedGaussian { epsilon: epsilon(1.0), delta, range, arithmetic };
    let mechanisms: [&dyn Mechanism<Input = f64, Output = f64>; 2] = [&laplace, &gaussian];
    for mechanism in mechanisms {
        for secret in [-1.0, 0.123_456_789_123, 2.0 / 3.0] {
            let y = mechanism.privatise(&secret, &mut Key::root(22).stream()).unwrap();
            assert_eq!((y * libm::exp2(29.0)).fract(), 0.0, "{mechanism:?} {secret}: {y}");
        }
    }
}

/// Exact noise costs what ideal noise costs, and is booked as what it is.
#[test]
fn exact_noise_costs_the_same() {
    let (one, delta, range) = (positive(1.0), Delta::new(1e-5).unwrap(), range(-1.0, 2.0));
    let number = vec![1.0, 2.0];
    let units = vec![vec![1.0, 0.0]; 4];
    let rows = Rows::new(2, 2, vec![1.0, 2.0, 3.0, 4.0]).unwrap();
    let moved = Neighbours::RowMoved { distance: 1.0 };
    let any = Neighbours::AnyValue;
    let prices = ARITHMETICS.map(|arithmetic| {
        let half = Probability::new(0.5).unwrap();
        let noisy = NoisyRows { epsilon: epsilon(1.0), delta, arithmetic }.calibrated(one).unwrap();
        vec![
            Laplace::new(one, one).with(arithmetic).price(&number, &any).unwrap(),
            Gaussian::new(one, one).with(arithmetic).price(&number, &any).unwrap(),
            ClippedLaplace { epsilon: epsilon(1.0), range, arithmetic }.price(&0.0, &any).unwrap(),
            ClippedGaussian { epsilon: epsilon(1.0), delta, range, arithmetic }.price(&0.0, &any).unwrap(),
            ExponentialMechanism::new(epsilon(1.0), one).with(arithmetic).price(&number, &any).unwrap(),
            ReportNoisyMax::new(epsilon(1.0), one).with(arithmetic).price(&number, &any).unwrap(),
            PoissonGaussian::new(half, one, one)
                .with(arithmetic)
                .price(&units, &Neighbours::ZeroOut)
                .unwrap(),
            FixedSizeGaussian::new(2, one, one)
                .with(arithmetic)
                .price(&units, &Neighbours::ReplaceOne)
                .unwrap(),
            noisy.price(&rows, &moved).unwrap(),
        ]
    });
    let [exact, ideal] = prices;
    for (exact, ideal) in exact.into_iter().zip(ideal) {
        assert_eq!((exact.arithmetic, ideal.arithmetic), (Arithmetic::Exact, Arithmetic::Ideal));
        assert_eq!(exact, Price { arithmetic: Arithmetic::Exact, ..ideal });
    }
}

/// X P in integers is X P: with the same noise two tables differ by the projection of what they differ by.
#[test]
fn an_exact_projection_projects() {
    let delta = Delta::new(1e-5).unwrap();
    let of = |arithmetic| {
        let recipe =
            NoisyProjection { epsilon: epsilon(1.0), delta, r: NonZeroUsize::new(3).unwrap(), arithmetic };
        recipe.drawn(2, positive(1.0), &mut Key::root(3).stream()).unwrap()
    };
    let (exact, ideal) = (of(NoiseArithmetic::Exact), of(NoiseArithmetic::Ideal));
    assert!((exact.sensitivity() / ideal.sensitivity() - 1.0).abs() < 1e-4, "16 digits of P");
    let rows = |x: f64| Rows::new(2, 2, vec![x, 1.0, -3.0, 0.1 * x]).unwrap();
    let drawn = |x| exact.privatise(&rows(x), &mut Key::root(4).stream()).unwrap();
    let projected = |x| exact.projected(&rows(x)).unwrap();
    for k in 0..6 {
        let found = drawn(7.3).values()[k] - drawn(1.1).values()[k];
        let expected = projected(7.3).values()[k] - projected(1.1).values()[k];
        assert!((found - expected).abs() < 1e-6, "{found} for {expected}");
    }
    let tall = Rows::new(20_000, 2, vec![1.0; 40_000]).unwrap();
    let noise = exact.privatise(&tall, &mut Key::root(5).stream()).unwrap();
    let mean = exact.projected(&tall).unwrap();
    let squares = noise.values().iter().zip(mean.values()).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
    let ratio = squares / 60_000.0 / exact.standard_deviation().powi(2);
    assert!((ratio - 1.0).abs() < 6.0 * (2.0f64 / 60_000.0).sqrt(), "{ratio}");
}
