//! Costs and values of federated sums, compared with sums computed by hand.

use super::*;
use crate::accounting::{Accountant, Composition, Tight};
use crate::rng::Key;
use crate::vocab::Delta;
use crate::vocab::Probability;
use proptest::prelude::*;
use std::sync::Arc;

const AGENTS: usize = 6;
const LENGTH: usize = 3;

fn weights(regions: usize, stream: &mut Stream) -> Arc<Vec<Vec<f64>>> {
    let region = |stream: &mut Stream| {
        let drawn: Vec<f64> = (0..AGENTS).map(|_| stream.uniform_between(0.01, 1.0)).collect();
        let total: f64 = drawn.iter().sum();
        drawn.into_iter().map(|w| w / total).collect()
    };
    Arc::new((0..regions).map(|_| region(stream)).collect())
}

fn plain(sensitivity: SensitivityRule) -> FederatedSum {
    let participation = Participation::Poisson(Probability::new(0.6).unwrap());
    let clip = Some(Positive::new(5.0).unwrap());
    FederatedSum { sensitivity, ..FederatedSum::planned(participation, clip, 1.0) }
}

/// Every agent is drawn, so seeing who is drawn reveals nothing; the two costs must be equal.
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

/// Where agents may be absent, a federation costs at least as much as its neighbour with one more agent: an absent
/// agent counts with the weight that it would have. (Earlier versions gave it weight 0.)
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
    // Agent 0 would weigh 0.5 of 0.8, and move the sums by twice that; noise is for 0.5.
    assert!((multiplier(&[1, 2, 3]) - 0.5 * 0.5 / 0.625).abs() < 1e-12, "{}", multiplier(&[1, 2, 3]));
    assert!(multiplier(&[1, 2, 3]) <= multiplier(&[0, 1, 2, 3]) + 1e-12);
}

proptest! {
    /// For all dropouts and samples, seen or not: a neighbour moves the sums by no more than the ledger entry allows
    /// for the noise.
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
        // The neighbour's vector is zero with Poisson sampling. With a fixed number of agents it may be any vector: the
        // opposite one is the farthest.
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
        // How far the agent may move the sums for each unit of noise, as the accountants read the cost.
        let reach = match sum.cost(&gathered) {
            Cost::Gaussian { noise_multiplier } | Cost::PoissonGaussian { noise_multiplier, .. } => {
                1.0 / noise_multiplier
            }
            Cost::FixedSizeGaussian { noise_multiplier, .. } => 2.0 / noise_multiplier,
            other => panic!("{other:?}"),
        };
        let draw = |from: &ReceivedVectors| sum.privatise(from, &mut Key::root(seed).child("draw").stream()).unwrap();
        // The same stream, so that the noise cancels.
        let square: f64 = draw(&gathered).iter().flatten().zip(draw(&neighbour).iter().flatten())
            .map(|(a, b)| (a - b) * (a - b)).sum();
        let allowed = sum.noise_sd(&gathered) * reach;
        prop_assert!(square.sqrt() <= allowed * (1.0 + 1e-9), "{} > {allowed}", square.sqrt());
    }

    /// The tighter rules never state a larger cost, and never draw more noise.
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

/// The statements about the worst pair agree with its sums: with the same random numbers, the sums on the two inputs
/// differ by the stated vectors if the agent is drawn, and not at all if it is not; without noise they are the stated
/// mean.
#[test]
fn the_worst_pair_moves_the_sums_as_stated() {
    for fixed in [false, true] {
        for divisor in [Divisor::Planned, Divisor::Arrived, Divisor::ArrivedOrGone] {
            for (counted, copies) in [(false, 1), (true, 1), (false, 2), (true, 2)] {
                the_worst_pair_moves_as_stated(fixed, divisor, counted, copies);
            }
        }
    }
}

fn the_worst_pair_moves_as_stated(fixed: bool, divisor: Divisor, counted: bool, copies: usize) {
    let agent = 2;
    let (weights, present): (_, &[usize]) = if fixed {
        (Arc::new(vec![vec![1.0 / AGENTS as f64; AGENTS]; 2]), &[0, 1, 2, 3, 4, 5])
    } else {
        (weights(2, &mut Key::root(7).stream()), &[0, 2, 5])
    };
    let late = if copies == 2 && !fixed { vec![agent] } else { vec![] };
    let gathered = ReceivedVectors {
        population: AGENTS,
        vectors: present.iter().map(|agent| (*agent, Arc::new(vec![1.0; LENGTH]))).collect(),
        weights,
        late_sampling_draw: late,
        length: LENGTH,
        discounts: vec![],
    };
    let sum = FederatedSum {
        participation: if fixed {
            Participation::FixedSize(4)
        } else {
            plain(SensitivityRule::LargestWeight).participation
        },
        divisor,
        multiplicity: copies as u32,
        arithmetic: NoiseArithmetic::Ideal,
        count: counted.then(|| NormCount { sd: Positive::new(3.0).unwrap() }),
        ..plain(SensitivityRule::LargestWeight)
    };
    let pair = sum.pair_of(&gathered, agent, copies).unwrap();
    let [given, neighbour] = &pair.inputs;
    let moved = sum.moved([given, neighbour]).unwrap();
    let words = if fixed {
        "or negated; those of all other agents have full norm"
    } else {
        "or absent; the vectors of all other agents are zero"
    };
    assert!(pair.words.contains(words), "{}", pair.words);
    let planned_rate = if fixed { 4.0 / 6.0 } else { 0.6 };
    let rate = if copies == 2 && !fixed { 1.0 - 0.4 * 0.4 } else { planned_rate };
    assert!((moved.rate - rate).abs() < 1e-12 && moved.sd == sum.noise_sd(&gathered));
    let mut seen = [false; 2];
    for seed in 0..20 {
        let drawn = sum.drawn(given, &mut Key::root(seed).stream())[agent];
        seen[usize::from(drawn)] = true;
        let numbers = |sum: &FederatedSum, input: &ReceivedVectors| {
            sum.of_equal_noise(input, &sum.privatise(input, &mut Key::root(seed).stream()).unwrap())
        };
        let (on_given, on_neighbour) = (numbers(&sum, given), numbers(&sum, neighbour));
        assert_eq!(on_given.len(), 2 * LENGTH + usize::from(counted));
        for index in 0..on_given.len() {
            let expected = if drawn { moved.moved[0][index] - moved.moved[1][index] } else { 0.0 };
            let found = on_given[index] - on_neighbour[index];
            assert!(
                (found - expected).abs() < 1e-9,
                "{fixed} {divisor:?} {counted} {copies} {index}: {found} {expected}"
            );
        }
        let silent = FederatedSum { noise_multiplier: 0.0, count: None, ..sum.clone() };
        if !counted {
            for (index, found) in numbers(&silent, neighbour).into_iter().enumerate() {
                let expected = moved.base[index] + if drawn { moved.moved[1][index] } else { 0.0 };
                assert!(
                    (found - expected).abs() < 1e-9,
                    "{fixed} {divisor:?} {index}: {found} for {expected}"
                );
            }
        }
    }
    assert_eq!(seen, [true, true]);
}

/// Where the law of the sums is not known, nothing is stated.
#[test]
fn no_shift_is_stated_for_other_inputs() {
    let of = |vectors: &[(usize, f64)], discounts: &[f64]| ReceivedVectors {
        population: AGENTS,
        vectors: vectors.iter().map(|(agent, x)| (*agent, Arc::new(vec![*x, 0.0, 0.0]))).collect(),
        weights: Arc::new(vec![vec![1.0 / AGENTS as f64; AGENTS]; 2]),
        late_sampling_draw: vec![],
        length: LENGTH,
        discounts: discounts.to_vec(),
    };
    let poisson = plain(SensitivityRule::LargestWeight);
    let stated = |a: &ReceivedVectors, b: &ReceivedVectors| poisson.moved([a, b]).is_some();
    let zero = of(&[(0, 0.0), (1, 0.0), (2, 0.0)], &[]);
    assert!(stated(&of(&[(0, 0.0), (1, 1.0), (2, 0.0)], &[]), &zero));
    assert!(stated(&zero, &zero), "equal inputs");
    assert!(!stated(&of(&[(0, 2.0), (1, 1.0), (2, 0.0)], &[]), &zero), "two agents differ");
    assert!(!stated(&of(&[(0, 0.0), (1, 1.0)], &[]), &zero), "another number of vectors");
    assert!(!stated(&of(&[(0, 0.0), (3, 1.0), (2, 0.0)], &[]), &zero), "another agent");
    let discounted = of(&[(0, 0.0), (1, 1.0), (2, 0.0)], &[1.0, 0.5, 1.0]);
    assert!(!stated(&discounted, &zero) && !stated(&zero, &discounted), "discounts");
    let (full, half) = (of(&[(0, 3.0), (1, 1.0), (2, 3.0)], &[]), of(&[(0, 3.0), (1, 0.5), (2, 3.0)], &[]));
    assert!(!stated(&full, &half), "other vectors are not zero");
    // With a sample of fixed size the others may be equal vectors if everybody is present.
    let fixed = FederatedSum { participation: Participation::FixedSize(2), ..poisson.clone() };
    assert!(fixed.moved([&full, &half]).is_none());
    let everybody =
        |own: f64, odd: f64| of(&[(0, 3.0), (1, own), (2, 3.0), (3, 3.0), (4, odd), (5, 3.0)], &[]);
    assert!(fixed.moved([&everybody(1.0, 3.0), &everybody(0.5, 3.0)]).is_some());
    assert!(fixed.moved([&everybody(1.0, 2.0), &everybody(0.5, 2.0)]).is_none(), "others are unequal");
    let free = FederatedSum { clip: None, ..poisson.clone() };
    assert!(free.moved([&zero, &zero]).is_none() && free.pair_of(&zero, 0, 1).is_none());
}
