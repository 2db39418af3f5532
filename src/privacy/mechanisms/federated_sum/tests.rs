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
fn a_fixed_number_that_is_seen_costs_what_it_costs_unseen() {
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
/// agent counts with the weight that it would have. (It once counted with none.)
#[test]
fn who_is_gone_weighs_what_it_would_weigh() {
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
    fn tighter_is_never_looser(seed: u64, regions in 1usize..5) {
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
