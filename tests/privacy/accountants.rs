//! One conformance suite for every accountant, over wide ranges, and how they stand to each other.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use subrosa::accounting::{self, Accountant, Composition, EpsilonKind, MAX_RELEASES, Rdp, Tight};
use subrosa::vocab::{Cost, Delta};

fn cost() -> impl Strategy<Value = Cost> {
    let log = |low: f64, high: f64| (low.ln()..high.ln()).prop_map(f64::exp);
    prop_oneof![
        log(0.3, 100.0).prop_map(|noise_multiplier| Cost::Gaussian { noise_multiplier }),
        log(0.3, 100.0).prop_map(|scale| Cost::Laplace { scale }),
        log(1e-3, 3.0).prop_map(|epsilon| Cost::ExponentialMechanism { epsilon }),
        log(1e-3, 3.0).prop_map(|epsilon| Cost::RandomizedResponse { epsilon }),
        log(1e-3, 3.0).prop_map(|epsilon| Cost::PureDp { epsilon }),
        (log(1e-3, 1.0), log(0.5, 100.0))
            .prop_map(|(rate, noise_multiplier)| Cost::PoissonGaussian { rate, noise_multiplier }),
        (1u64..500, log(1.0, 100.0)).prop_map(|(size, noise_multiplier)| Cost::FixedSizeGaussian {
            population: 500,
            size,
            noise_multiplier
        }),
        (log(3.0, 100.0), -0.9..4.0, log(1.1, 300.0)).prop_map(|(noise_multiplier, shape, mean)| {
            Cost::RepeatedGaussian { noise_multiplier, shape, mean }
        }),
        (log(3.0, 100.0), log(0.1, 300.0))
            .prop_map(|(noise_multiplier, mean)| Cost::PoissonRepeatedGaussian { noise_multiplier, mean }),
        (log(1e-3, 3.0), Just(1e-14)).prop_map(|(epsilon, delta)| Cost::ApproximateDp { epsilon, delta }),
    ]
}

fn composition() -> impl Strategy<Value = Vec<(Cost, u64)>> {
    prop::collection::vec((cost(), prop_oneof![1u64..10, 1u64..10_000]), 1..4)
}

fn delta() -> impl Strategy<Value = f64> {
    (1e-12f64.ln()..0.5f64.ln()).prop_map(f64::exp)
}

fn of(costs: &[(Cost, u64)]) -> Composition {
    costs.iter().map(|(cost, count)| (cost, *count)).collect()
}

fn price(accountant: &dyn Accountant, costs: &[(Cost, u64)], at: f64) -> f64 {
    let priced = accountant.price(&of(costs), Delta::new(at).unwrap());
    let epsilon = priced.epsilon;
    assert!(!epsilon.is_nan() && epsilon >= 0.0, "{} gives {epsilon} for {costs:?}", accountant.name());
    assert!(!(epsilon.is_infinite() && priced.notes.is_empty()), "{} is silent", accountant.name());
    epsilon
}

/// Rounding of long sums.
fn at_most(small: f64, large: f64) -> bool {
    small <= large * (1.0 + 1e-7) + 1e-9
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 48,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(20_201_121),
        ..ProptestConfig::default()
    })]

    #[test]
    fn never_negative_never_nan_and_in_any_order(costs in composition(), at in delta()) {
        let mut turned = costs.clone();
        turned.reverse();
        for accountant in accounting::all() {
            let epsilon = price(accountant, &costs, at);
            prop_assert_eq!(epsilon, price(accountant, &turned, at), "{}", accountant.name());
        }
    }

    #[test]
    fn more_releases_and_less_delta_never_cost_less(costs in composition(), more in cost(), at in delta()) {
        let mut longer = costs.clone();
        longer.push((more, 1));
        for accountant in accounting::all() {
            let epsilon = price(accountant, &costs, at);
            let (longer, stricter) = (price(accountant, &longer, at), price(accountant, &costs, 0.5 * at));
            // On lattices the two ends are apart, and that much answers may be out of order.
            let apart = if ["tight", "optimal"].contains(&accountant.name()) { 1.0 + 1e-3 } else { 1.0 };
            let (longer, stricter) = (apart * longer, apart * stricter);
            prop_assert!(at_most(epsilon, longer), "{}: {} then {}", accountant.name(), epsilon, longer);
            prop_assert!(at_most(epsilon, stricter), "{}: {} at half delta {}", accountant.name(), epsilon, stricter);
        }
    }

    #[test]
    fn bounds_lie_above_the_lower_end(costs in composition(), at in delta()) {
        let tight = Tight.price(&of(&costs), Delta::new(at).unwrap());
        let lower = tight.lower.unwrap_or(0.0);
        prop_assert!(tight.upper.is_none_or(|upper| at_most(tight.epsilon, upper)));
        for accountant in accounting::all() {
            let priced = accountant.price(&of(&costs), Delta::new(at).unwrap());
            if priced.standing != EpsilonKind::NotABound {
                prop_assert!(at_most(lower, priced.epsilon), "{}: {} below {}", accountant.name(), priced.epsilon, lower);
            }
        }
        let rdp = Rdp.price(&of(&costs), Delta::new(at).unwrap()).epsilon;
        prop_assert!(at_most(tight.epsilon, rdp.max(0.0)), "tight {} above rdp {}", tight.epsilon, rdp);
    }

    #[test]
    fn many_gaussians_are_one(noise in 0.3f64..100.0, count in 1u64..10_000, at in delta()) {
        let many = [(Cost::Gaussian { noise_multiplier: noise }, count)];
        let one = [(Cost::Gaussian { noise_multiplier: noise / (count as f64).sqrt() }, 1)];
        let (many, one) = (price(&Tight, &many, at), price(&Tight, &one, at));
        prop_assert!((many - one).abs() <= 1e-9 * (1.0 + one), "{} {}", many, one);
    }

    #[test]
    fn a_sample_of_everybody_is_no_sample(noise in 0.5f64..50.0, count in 1u64..1000, at in delta()) {
        let sampled = [(Cost::PoissonGaussian { rate: 1.0, noise_multiplier: noise }, count)];
        let plain = [(Cost::Gaussian { noise_multiplier: noise }, count)];
        for accountant in accounting::all() {
            let (sampled, plain) = (price(accountant, &sampled, at), price(accountant, &plain, at));
            prop_assert!(sampled >= plain * (1.0 - 1e-9), "{}: {} {}", accountant.name(), sampled, plain);
        }
        prop_assert!((price(&Tight, &sampled, at) - price(&Tight, &plain, at)).abs() < 1e-9);
    }

    #[test]
    fn a_smaller_sample_or_more_noise_costs_less(
        rate in 0.01f64..0.9, noise in 0.5f64..20.0, count in 1u64..500, at in delta(),
    ) {
        let epsilon = |rate: f64, noise_multiplier: f64| {
            price(&Tight, &[(Cost::PoissonGaussian { rate, noise_multiplier }, count)], at)
        };
        prop_assert!(at_most(epsilon(rate, noise), epsilon(rate * 1.1, noise)));
        prop_assert!(at_most(epsilon(rate, noise * 1.1), epsilon(rate, noise)));
    }
}

#[test]
fn nothing_costs_nothing_and_what_is_unprotected_is_named() {
    let at = Delta::new(1e-5).unwrap();
    let mut open = Composition::new();
    open.add(&Cost::Gaussian { noise_multiplier: 5.0 }, 3);
    open.add(&Cost::Unprotected, 2);
    for accountant in accounting::all() {
        assert_eq!(accountant.price(&Composition::new(), at).epsilon, 0.0, "{}", accountant.name());
        let priced = accountant.price(&open, at);
        assert!(priced.epsilon.is_infinite(), "{}", accountant.name());
        assert!(priced.notes.iter().any(|note| note.contains("2 x unprotected")), "{:?}", priced.notes);
        assert!(!accountant.about().is_empty());
    }
}

#[test]
fn numbers_out_of_range_are_refused_not_priced() {
    let at = Delta::new(1e-5).unwrap();
    for cost in [
        Cost::Gaussian { noise_multiplier: 0.0 },
        Cost::Gaussian { noise_multiplier: f64::NAN },
        Cost::Laplace { scale: -1.0 },
        Cost::RandomizedResponse { epsilon: f64::INFINITY },
        Cost::PoissonGaussian { rate: 1.5, noise_multiplier: 1.0 },
        Cost::FixedSizeGaussian { population: 5, size: 6, noise_multiplier: 1.0 },
        Cost::ApproximateDp { epsilon: 1.0, delta: 1.0 },
    ] {
        let mut composition = Composition::new();
        composition.add(&cost, 1);
        for accountant in accounting::all() {
            assert!(
                accountant.price(&composition, at).epsilon.is_infinite(),
                "{}: {cost:?}",
                accountant.name()
            );
        }
    }
}

/// Twice 2^63 releases of one cost are not none.
#[test]
fn counts_do_not_overflow_and_too_many_releases_are_refused_by_name() {
    let half = 1u64 << 63;
    let cost = Cost::RandomizedResponse { epsilon: 1.0 };
    for costs in [vec![(cost.clone(), half), (cost.clone(), half)], vec![(cost, MAX_RELEASES + 1)]] {
        assert!(of(&costs).count() > MAX_RELEASES);
        for accountant in accounting::all() {
            assert!(price(accountant, &costs, 1e-5).is_infinite(), "{}: {costs:?}", accountant.name());
        }
    }
}

/// As many releases as there may be, and noise far below one, in bounded time and memory. What is said of them stays
/// consistent: every bound lies above the lower end, and none below what fewer releases cost.
#[test]
fn large_counts_and_tiny_noise_are_priced() {
    let costs = [
        (Cost::Gaussian { noise_multiplier: 1e3 }, 1_000_000_000),
        (Cost::Laplace { scale: 1e3 }, 1_000_000_000),
        (Cost::RandomizedResponse { epsilon: 1e-3 }, 1_000_000_000),
        (Cost::ExponentialMechanism { epsilon: 1e-3 }, 1_000_000_000),
        (Cost::PoissonGaussian { rate: 1e-6, noise_multiplier: 1.0 }, 1_000_000_000),
        (Cost::PoissonGaussian { rate: 1e-9, noise_multiplier: 0.03 }, 1000),
        (Cost::PoissonGaussian { rate: 0.5, noise_multiplier: 1e-9 }, 3),
        (Cost::FixedSizeGaussian { population: 10, size: 5, noise_multiplier: 1e-3 }, 3),
    ];
    for (cost, many) in costs {
        let mut last = [0.0; 7];
        for count in [1, many, MAX_RELEASES] {
            let costs = [(cost.clone(), count)];
            let lower = Tight.price(&of(&costs), Delta::new(1e-12).unwrap()).lower.unwrap_or(0.0);
            for (accountant, last) in accounting::all().into_iter().zip(&mut last) {
                let epsilon = price(accountant, &costs, 1e-12);
                assert!(at_most(*last, epsilon), "{}: {count} x {cost:?}", accountant.name());
                assert!(
                    accountant.name() == "gdp" || at_most(lower, epsilon),
                    "{}: {count} x {cost:?}: {epsilon} below {lower}",
                    accountant.name()
                );
                *last = epsilon;
            }
        }
    }
}

/// Where sums are too long to be exact, what stands in lies above the exact figure, and not far above.
#[test]
fn the_seams_of_exact_sums_go_upwards() {
    for (cost, last) in [
        (Cost::RandomizedResponse { epsilon: 1e-4 }, 1_000_000_000),
        (Cost::ExponentialMechanism { epsilon: 0.01 }, 20_000),
    ] {
        let tight = |count| Tight.price(&of(&[(cost.clone(), count)]), Delta::new(1e-5).unwrap());
        let (exact, beyond) = (tight(last), tight(last + 1));
        assert!(exact.notes.iter().all(|note| !note.contains("too many equal releases")));
        assert!(
            beyond.notes.iter().any(|note| note.contains("too many equal releases")),
            "{:?}",
            beyond.notes
        );
        assert!(
            beyond.epsilon >= exact.epsilon && beyond.epsilon < 1.2 * exact.epsilon,
            "{exact:?} {beyond:?}"
        );
        assert_eq!(beyond.standing, EpsilonKind::Bound);
    }
}

/// What uses up delta to the last bit leaves nothing to compose with, and epsilons still add up.
#[test]
fn a_delta_used_up_exactly_is_basic_composition() {
    let costs = [(Cost::ApproximateDp { epsilon: 1.0, delta: 1e-5 }, 1), (Cost::PureDp { epsilon: 0.5 }, 1)];
    for name in ["tight", "rdp", "moments", "optimal", "advanced", "basic"] {
        let accountant = accounting::all().into_iter().find(|known| known.name() == name).unwrap();
        assert_eq!(price(accountant, &costs[..1], 1e-5), 1.0, "{name}");
        assert_eq!(price(accountant, &costs, 1e-5), 1.5, "{name}");
        assert!(price(accountant, &costs, 0.99e-5).is_infinite(), "{name}");
        let noisy = [costs[0].clone(), (Cost::Gaussian { noise_multiplier: 1.0 }, 1)];
        assert!(price(accountant, &noisy, 1e-5).is_infinite(), "{name}: nothing is left for the noise");
    }
}

/// The best of a random number of Gaussian results, alone and three times, against another library's Renyi accountant,
/// which tries 400 orders: never above it, and at most 1e-3 below.
#[test]
fn repeated_results_agree_with_another_library() {
    let text = include_str!("../oracles/private_selection.json");
    let oracle: serde_json::Value = serde_json::from_str(text).unwrap();
    let cases = oracle["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 72);
    for case in cases {
        let number = |key: &str| case[key].as_f64().unwrap();
        let (noise_multiplier, mean) = (number("noise_multiplier"), number("mean"));
        let cost = match case["shape"].as_f64() {
            Some(shape) => Cost::RepeatedGaussian { noise_multiplier, shape, mean },
            None => Cost::PoissonRepeatedGaussian { noise_multiplier, mean },
        };
        let costs = [(cost, case["count"].as_u64().unwrap())];
        let (found, expected) = (price(&Rdp, &costs, number("delta")), number("epsilon"));
        assert!(found <= expected * (1.0 + 1e-6), "{found} above {expected} for {case}");
        assert!(found >= expected * (1.0 - 1e-3), "{found} far below {expected} for {case}");
        assert!(price(&Tight, &costs, number("delta")) <= found * (1.0 + 1e-9), "{case}");
    }
}
