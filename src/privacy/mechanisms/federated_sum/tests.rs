//! Tests of federated sums: their costs, their values, and their worst pair of inputs.

use super::*;
use crate::accounting::{Accountant, Composition, Tight};
use crate::rng::Key;
use crate::vocab::Delta;
use crate::vocab::Probability;
use proptest::prelude::*;
use std::sync::Arc;

pub(super) const AGENTS: usize = 6;
pub(super) const LENGTH: usize = 3;

pub(super) fn weights(regions: usize, stream: &mut Stream) -> Arc<Vec<Vec<f64>>> {
    let region = |stream: &mut Stream| {
        let drawn: Vec<f64> = (0..AGENTS).map(|_| stream.uniform_between(0.01, 1.0)).collect();
        let total: f64 = drawn.iter().sum();
        drawn.into_iter().map(|w| w / total).collect()
    };
    Arc::new((0..regions).map(|_| region(stream)).collect())
}

pub(super) fn plain(sensitivity: SensitivityRule) -> FederatedSum {
    let participation = Participation::Poisson(Probability::new(0.6).unwrap());
    let clip = Some(Positive::new(5.0).unwrap());
    FederatedSum { sensitivity, ..FederatedSum::planned(participation, clip, 1.0) }
}

/// Every agent is drawn, so to see who is drawn reveals nothing: epsilon must be the same with and without visibility.
#[test]
fn visibility_changes_no_cost_if_every_agent_is_drawn() {
    let agents = 20;
    let gathered = ReceivedVectors {
        population: agents,
        vectors: vec![],
        weights: Arc::new(vec![vec![1.0 / agents as f64; agents]]),
        late_sampling_draw: vec![],
        length: LENGTH,
        discounts: vec![],
    };
    let epsilon = |visible| {
        let participation = Participation::FixedSize(agents as u64);
        let sum = FederatedSum { participation, visible, ..plain(SensitivityRule::LargestWeight) };
        let mut composition = Composition::new();
        composition.add(&sum.cost(&gathered), 1);
        Tight.price(&composition, Delta::new(1e-5).unwrap()).epsilon
    };
    assert!((epsilon(true) - 9.9973).abs() < 1e-4, "{}", epsilon(true));
    assert!((epsilon(true) - epsilon(false)).abs() < 1e-9);
}

/// With `Divisor::ArrivedOrGone`, a sum without an agent's answer costs at least as much as the sum with this answer,
/// because an absent agent counts with the weight that it would have if it answered. (Earlier versions gave an absent agent
/// weight 0.)
#[test]
fn an_absent_agent_counts_with_the_weight_that_it_would_have() {
    let with = |agents: &[usize]| ReceivedVectors {
        population: 6,
        vectors: agents.iter().map(|agent| (*agent, Arc::new(vec![0.0; LENGTH]))).collect(),
        weights: Arc::new(vec![vec![0.5, 0.1, 0.1, 0.1, 0.1, 0.1]]),
        late_sampling_draw: vec![],
        length: LENGTH,
        discounts: vec![],
    };
    let sum = FederatedSum { divisor: Divisor::ArrivedOrGone, ..plain(SensitivityRule::LargestWeight) };
    let multiplier = |agents: &[usize]| match sum.cost(&with(agents)) {
        Cost::Gaussian { noise_multiplier } => noise_multiplier,
        other => panic!("{other:?}"),
    };
    // With agent 0, the weights would add up to 0.8, and the share of agent 0 would be 0.5 / 0.8 = 0.625. The absence of
    // agent 0 moves the sums by up to twice this share, because the shares of the other agents change too. The noise is
    // scaled to a sensitivity of 0.5.
    assert!((multiplier(&[1, 2, 3]) - 0.5 * 0.5 / 0.625).abs() < 1e-12, "{}", multiplier(&[1, 2, 3]));
    assert!(multiplier(&[1, 2, 3]) <= multiplier(&[0, 1, 2, 3]) + 1e-12);
}

proptest! {
    /// For all dropouts and samples, visible or not: with equal noise, the L2 distance between the sums of two neighbours is
    /// at most the noise's standard deviation divided by the noise multiplier of the cost. If the cost is a
    /// `FixedSizeGaussian`, the distance is at most twice this quotient.
    #[test]
    fn no_agent_moves_the_sums_further_than_the_ledger_says(
        seed: u64, regions in 1usize..5, answered in prop::collection::vec(any::<bool>(), AGENTS),
        rule in prop::sample::select(vec![
            SensitivityRule::LargestWeight, SensitivityRule::TighterLoss, SensitivityRule::TighterNoise,
        ]),
        divisor in prop::sample::select(vec![Divisor::Planned, Divisor::Arrived]),
        twice: bool, fixed: bool, visible: bool, exact: bool, moved in 0..AGENTS,
    ) {
        let mut stream = Key::root(seed).stream();
        let mut vectors: Vec<(usize, Arc<Vec<f64>>)> = Vec::new();
        for (agent, _) in answered.iter().enumerate().filter(|(_, answered)| **answered) {
            for _ in 0..=u32::from(twice) {
                vectors.push((agent, Arc::new((0..LENGTH).map(|_| 9.0 * stream.normal()).collect())));
            }
        }
        let gathered = ReceivedVectors {
            population: AGENTS, vectors, weights: weights(regions, &mut stream), late_sampling_draw: vec![], length: LENGTH, discounts: vec![] };
        // In the neighbour, the vector of the agent `moved` is zero with Poisson sampling. With a fixed number of
        // agents it may be any vector: the opposite one is the farthest.
        let factor = if fixed { -1.0 } else { 0.0 };
        let mut neighbour = gathered.clone();
        for (_, vector) in neighbour.vectors.iter_mut().filter(|(agent, _)| *agent == moved) {
            *vector = Arc::new(vector.iter().map(|value| factor * value).collect());
        }
        let sum = FederatedSum {
            participation: if fixed { Participation::FixedSize(4) } else { plain(rule).participation },
            divisor,
            multiplicity: if twice { 2 } else { 1 },
            visible,
            arithmetic: if exact { NoiseArithmetic::Exact } else { NoiseArithmetic::Ideal },
            ..plain(rule)
        };
        // How far the agent may move the sums according to the stated cost, in standard deviations of the noise.
        let reach = match sum.cost(&gathered) {
            Cost::Gaussian { noise_multiplier } | Cost::PoissonGaussian { noise_multiplier, .. } => {
                1.0 / noise_multiplier
            }
            Cost::FixedSizeGaussian { noise_multiplier, .. } => 2.0 / noise_multiplier,
            other => panic!("{other:?}"),
        };
        let draw = |from: &ReceivedVectors| sum.privatise(from, &mut Key::root(seed).child("draw").stream()).unwrap();
        // Both releases are drawn from the same stream, so that the noise cancels.
        let square: f64 = draw(&gathered).iter().flatten().zip(draw(&neighbour).iter().flatten())
            .map(|(a, b)| (a - b) * (a - b)).sum();
        let allowed = sum.noise_sd(&gathered) * reach;
        prop_assert!(square.sqrt() <= allowed * (1.0 + 1e-9), "{} > {allowed}", square.sqrt());
    }

    /// The tighter rules never state a larger cost than `LargestWeight`, and never draw more noise.
    #[test]
    fn tighter_rules_state_no_larger_cost_and_draw_no_more_noise(seed: u64, regions in 1usize..5) {
        let mut stream = Key::root(seed).stream();
        let gathered = ReceivedVectors {
            population: AGENTS, vectors: vec![], weights: weights(regions, &mut stream), late_sampling_draw: vec![],
            length: LENGTH,
 discounts: vec![],
        };
        let multiplier = |rule| match plain(rule).cost(&gathered) {
            Cost::PoissonGaussian { noise_multiplier, .. } => noise_multiplier,
            _ => unreachable!("sampled"),
        };
        prop_assert!((multiplier(SensitivityRule::LargestWeight) - 1.0).abs() < 1e-12);
        prop_assert!(multiplier(SensitivityRule::TighterLoss) >= 1.0 - 1e-12);
        prop_assert!((multiplier(SensitivityRule::TighterNoise) - 1.0).abs() < 1e-12);
        let sd = |rule| plain(rule).noise_sd(&gathered);
        let (paper, tight) = (sd(SensitivityRule::LargestWeight), sd(SensitivityRule::TighterNoise));
        prop_assert!(tight <= paper * (1.0 + 1e-12) && tight >= paper / (regions as f64).sqrt() * (1.0 - 1e-12));
    }
}

/// Agents with these weights in one region; the listed agents have answered, each with a vector of equal numbers.
fn answers(vectors: &[(usize, f64)], weights: Vec<f64>) -> ReceivedVectors {
    ReceivedVectors {
        population: weights.len(),
        vectors: vectors.iter().map(|&(agent, value)| (agent, Arc::new(vec![value; LENGTH]))).collect(),
        weights: Arc::new(vec![weights]),
        late_sampling_draw: vec![],
        length: LENGTH,
        discounts: vec![],
    }
}

/// A second sampling draw can only add an agent: the agent is in the sum if at least one of the two draws selects it, with
/// probability 1 - (1 - q)^2, where q is the sampling rate.
#[test]
fn a_late_vector_is_in_the_sum_if_either_draw_has_its_agent() {
    let agents = 20_000;
    let mut gathered = answers(&[], vec![1.0 / agents as f64; agents]);
    let drawn = |gathered: &ReceivedVectors| {
        plain(SensitivityRule::LargestWeight).drawn(gathered, &mut Key::root(5).stream())
    };
    let once = drawn(&gathered);
    gathered.late_sampling_draw = (0..agents / 2).collect();
    let twice = drawn(&gathered);
    assert!(once.iter().zip(&twice).all(|(once, twice)| *twice || !once));
    assert_eq!(once[agents / 2..], twice[agents / 2..]);
    let share = |drawn: &[bool]| drawn.iter().filter(|drawn| **drawn).count() as f64 / drawn.len() as f64;
    // Five standard errors of 10,000 draws are at most 0.025.
    assert!((share(&once[..agents / 2]) - 0.6).abs() < 0.025);
    assert!((share(&twice[..agents / 2]) - 0.84).abs() < 0.025, "{}", share(&twice[..agents / 2]));
}

/// If each agent has a rate of its own, the `SubsampledShift` has the rate of the agent whose vector differs.
#[test]
fn the_shift_has_the_rate_of_the_agent_that_differs() {
    let rates: Vec<f64> = (1..=AGENTS).map(|agent| agent as f64 / 10.0).collect();
    let sum = FederatedSum { rates: Some(AgentRates::new(rates)), ..plain(SensitivityRule::LargestWeight) };
    let equal = vec![1.0 / AGENTS as f64; AGENTS];
    let all = |own: f64| -> Vec<(usize, f64)> {
        (0..AGENTS).map(|n| (n, if n == 3 { own } else { 0.0 })).collect()
    };
    let (given, neighbour) = (answers(&all(9.0), equal.clone()), answers(&all(0.0), equal));
    let rate = |inputs| sum.moved(inputs).unwrap().rate;
    assert_eq!(rate([&given, &neighbour]), 0.4);
    assert_eq!(rate([&neighbour, &neighbour]), 0.1, "if nothing differs, that of the first agent");
}

/// Without noise, and if every agent is drawn, a sum is the total of discount times weight times vector, divided by the
/// divisor.
#[test]
fn vectors_are_multiplied_by_weight_and_discount() {
    let everybody = Participation::Poisson(Probability::new(1.0).unwrap());
    let norm = Some(Positive::new(100.0).unwrap());
    for divisor in [Divisor::Planned, Divisor::Arrived] {
        let sum = FederatedSum { divisor, ..FederatedSum::planned(everybody, norm, 0.0) };
        let mut gathered = answers(&[(0, 1.0), (2, 10.0)], vec![0.5, 0.25, 0.25]);
        let found = |gathered: &ReceivedVectors| sum.privatise(gathered, &mut Key::root(1).stream()).unwrap();
        let total = |present: f64| if divisor == Divisor::Planned { 1.0 } else { present };
        let whole = (0.5 + 0.25 * 10.0) / total(0.75);
        assert!(found(&gathered)[0].iter().all(|value| (value - whole).abs() < 1e-12), "{divisor:?}");
        gathered.discounts = vec![1.0, 0.5];
        let halved = (0.5 + 0.5 * 0.25 * 10.0) / total(0.625);
        assert!(found(&gathered)[0].iter().all(|value| (value - halved).abs() < 1e-12), "{divisor:?}");
    }
}

/// In floating point, the noise on a number is the standard deviation times a normal deviate, drawn after the sample.
#[test]
fn noise_in_floating_point_is_added_to_the_sums() {
    let own = plain(SensitivityRule::LargestWeight);
    let sum = FederatedSum { arithmetic: NoiseArithmetic::Ideal, noise_multiplier: 2.0, ..own };
    let gathered = answers(&[(0, 1.0), (1, -2.0)], vec![1.0 / 6.0; 6]);
    let mut stream = Key::root(8).stream();
    let drawn = sum.drawn(&gathered, &mut stream);
    let clipped = |value: f64| value * (5.0 / (value.abs() * 3f64.sqrt())).min(1.0);
    let plain: f64 =
        [1.0, -2.0].iter().zip(&drawn).filter(|(_, drawn)| **drawn).map(|(v, _)| clipped(*v)).sum();
    let expected: Vec<f64> =
        (0..LENGTH).map(|_| plain / 6.0 / 0.6 + 2.0 * 5.0 / 6.0 / 0.6 * stream.normal()).collect();
    let found = sum.privatise(&gathered, &mut Key::root(8).stream()).unwrap();
    for (found, expected) in found[0].iter().zip(&expected) {
        assert!((found - expected).abs() < 1e-12, "{found} for {expected}");
    }
}

/// In multiples of the spacing, the noise has the standard deviation 4096 * (0.5 / reach) * bound: 4096 is the noise
/// multiplier, 0.5 the largest planned weight, and `reach` the largest weight after division by the divisor. The bound is
/// the norm of an agent's part (reach times clipping norm divided by sampling rate), plus the norm of errors of 1/2 in the
/// three numbers of this part. Where a missing agent changes the divisor of the others, this error norm is added once more
/// for each of the three agents.
#[test]
fn exact_noise_covers_the_rounding_of_every_part() {
    let clip = Positive::new(1.0 / 64.0).unwrap();
    let rate = Participation::Poisson(Probability::new(0.5).unwrap());
    for (divisor, reach, others) in [
        (Divisor::Planned, 0.5, 0.0),
        (Divisor::Arrived, 0.5 / 0.75, 0.0),
        (Divisor::ArrivedOrGone, 0.5 / 0.75, 3.0),
    ] {
        for sensitivity in [SensitivityRule::LargestWeight, SensitivityRule::TighterLoss] {
            let sum =
                FederatedSum { divisor, sensitivity, ..FederatedSum::planned(rate, Some(clip), 4096.0) };
            let gathered = answers(&[(0, 1.0), (1, 1.0)], vec![0.5, 0.25, 0.25]);
            let (grid, noise) = sum.exact(&gathered).unwrap().unwrap();
            // The sensitivity of 0.5 / 64 / 0.5 = 2^-6 is smaller than the noise, so the sensitivity decides the spacing:
            // 2^-36.
            assert_eq!(grid.spacing(), libm::exp2(-36.0));
            let norm = reach / 32.0 * (1.0 + 1e-11) * libm::exp2(36.0);
            let rounding = 0.5 * 3f64.sqrt();
            let least = 4096.0 * (0.5 / reach) * (norm + rounding + others * rounding);
            let relative = noise as f64 / least - 1.0;
            assert!((0.0..4e-12).contains(&relative), "{divisor:?} {sensitivity:?}: {noise} for {least}");
        }
    }
}

/// Where nobody has answered, no agent moves the sums; the noise is still the planned noise.
#[test]
fn a_sum_over_nobody_has_the_planned_noise() {
    let nobody = answers(&[], vec![0.5, 0.25, 0.25]);
    let own = plain(SensitivityRule::TighterLoss);
    let sum = FederatedSum { divisor: Divisor::Arrived, noise_multiplier: 2.0, ..own };
    assert_eq!(sum.cost(&nobody), Cost::PoissonGaussian { rate: 0.6, noise_multiplier: 2.0 });
    let (grid, noise) = sum.exact(&nobody).unwrap().unwrap();
    let relative = noise as f64 * grid.spacing() / sum.noise_sd(&nobody) - 1.0;
    assert!((0.0..1e-6).contains(&relative), "{relative}");
}

/// The agent that answered has weight 0.5 / 0.5 = 1 in the first region and 0 in the second: the norm of these weights is 1,
/// and the reach, this norm divided by the square root of the number of regions, is 1 / sqrt(2).
#[test]
fn a_region_without_weights_does_not_hide_the_others() {
    let mut gathered = answers(&[(0, 1.0)], vec![0.5, 0.5]);
    gathered.weights = Arc::new(vec![vec![0.5, 0.5], vec![0.0, 1.0]]);
    let (scale, reach) = federated_reach::reach(SensitivityRule::TighterLoss, Divisor::Arrived, &gathered);
    assert_eq!((scale, reach), (1.0, 1.0 / 2f64.sqrt()));
}

/// The sampler is `Full`, without amplification, if the observer sees who takes part or neighbours differ in the divisor.
#[test]
fn the_ledger_entry_has_sampler_and_sensitivity_of_the_sum() {
    let gathered = answers(&[(0, 1.0), (1, 1.0)], vec![0.5, 0.25, 0.25]);
    let poisson = || Sampler::Poisson { rate: 0.6 };
    let own = || plain(SensitivityRule::LargestWeight);
    for (sum, sampler) in [
        (own(), poisson()),
        (FederatedSum { divisor: Divisor::Arrived, ..own() }, poisson()),
        (FederatedSum { visible: true, ..own() }, Sampler::Full),
        (FederatedSum { divisor: Divisor::ArrivedOrGone, ..own() }, Sampler::Full),
    ] {
        let price = sum.price(&gathered, &Neighbours::ZeroOut).unwrap();
        assert_eq!((price.sampler, price.sensitivity), (sampler, Some(0.5 * 5.0 / 0.6)), "{:?}", sum.divisor);
    }
    let fixed = |size| FederatedSum { participation: Participation::FixedSize(size), ..own() };
    assert!(fixed(3).price(&gathered, &Neighbours::ReplaceOne).is_ok());
    let refused = fixed(4).price(&gathered, &Neighbours::ReplaceOne).unwrap_err().to_string();
    assert!(refused.contains("at least 4 agents to draw from, found 3"), "{refused}");
}

/// The inverse squares of two noise multipliers, that of the sums and that of the count, add up to 1, the inverse square of
/// the planned multiplier of both together. A vector changes the count by at most 1/2, so the count's noise multiplier is
/// 2 sd = 2, and its inverse square is 1/4. So the planned multiplier of the sums is (1 - 1/4)^(-1/2). This multiplier is
/// multiplied by 0.75, the total weight of the agents that answer.
#[test]
fn the_cost_of_renormalised_sums_includes_that_of_the_count() {
    let count = Some(NormCount { sd: Positive::new(1.0).unwrap() });
    let own = plain(SensitivityRule::LargestWeight);
    let sum = FederatedSum { divisor: Divisor::Arrived, count, ..own };
    let gathered = answers(&[(0, 1.0), (1, 1.0)], vec![0.5, 0.25, 0.25]);
    let of_sums = 2.0 / 3f64.sqrt() * 0.75;
    let expected = (of_sums.powi(-2) + 0.25).powf(-0.5);
    match sum.cost(&gathered) {
        Cost::PoissonGaussian { rate, noise_multiplier } => {
            assert_eq!(rate, 0.6);
            assert!((noise_multiplier - expected).abs() < 1e-9, "{noise_multiplier} for {expected}");
        }
        other => panic!("{other:?}"),
    }
}

/// The likelihood-ratio test by which an audit distinguishes the two inputs has the distributions that `moved` states.
#[test]
fn the_test_of_an_audit_has_the_laws_of_the_shift() {
    let sum = plain(SensitivityRule::LargestWeight);
    let gathered = answers(&[(0, 1.0), (1, 1.0)], vec![0.5, 0.5]);
    let Pair { inputs: [given, neighbour], .. } = sum.worst_pair(&gathered).unwrap();
    let moved = sum.moved([&given, &neighbour]).unwrap();
    let found = sum.distinguisher([&given, &neighbour]).unwrap();
    assert_eq!(found.laws, moved.laws(false));
    assert!(found.laws.is_some());
}
