//! Audits of Gaussian noise on a sample of units, on the worst known pairs of both samplers.

use super::one_run::{Canaries, with_canaries};
use super::releases::{RATIO, Words, case};
use super::run::rounded;
use super::suite::{Case, DELTA, positive, ratio};
use super::verdict::Verdict;
use super::{KnownPair, World};
use crate::privacy::mechanisms::{
    Divisor, FederatedSum, FixedSizeGaussian, Gathered, Mechanism, NoiseArithmetic, Participation,
    PoissonGaussian, SensitivityRule,
};
use crate::vocab::{Cost, Neighbours, Probability};
use std::sync::Arc;

/// ln of a mixture of normal densities, up to a constant.
fn log_mixture(y: f64, sd: f64, parts: [(f64, f64); 2]) -> f64 {
    let logs = parts.map(|(weight, mean)| {
        if weight > 0.0 {
            libm::log(weight) - (y - mean) * (y - mean) / (2.0 * sd * sd)
        } else {
            f64::NEG_INFINITY
        }
    });
    let most = logs[0].max(logs[1]);
    most + libm::log(logs.iter().map(|log| libm::exp(log - most)).sum())
}

/// 200^-1.1, the delta of DP-FTS-DE's synthetic experiment.
const FEDERATED_DELTA: f64 = 0.002_943_520_093_262_371_6;

/// Rounds of the Poisson-subsampled Gaussian at rate 1/4, with and without a unit 1 from everything else.
fn pair(times: u64) -> Option<KnownPair> {
    let cost = Cost::PoissonGaussian { rate: 0.25, noise_multiplier: 1.0 };
    let premise = "the noise is Gaussian, the sampler as stated, and only the noise's size is unknown";
    Some(KnownPair::composed(vec![(cost, times)], premise))
}

pub(super) fn cases() -> Vec<Case> {
    let quarter = Probability::new(0.25).expect("a probability");
    let poisson = PoissonGaussian::new(quarter, positive(1.0), positive(1.0));
    // Zero is the worst place for the others: what they add by coins of their own would only hide the unit.
    let units = |target: f64, others: f64| vec![vec![target], vec![others], vec![others], vec![others]];
    let mixed = || {
        ratio(|y, world| match world {
            World::Given => log_mixture(y, 1.0, [(0.75, 0.0), (0.25, 1.0)]),
            World::Neighbour => log_mixture(y, 1.0, [(1.0, 0.0), (0.0, 0.0)]),
        })
    };
    let zeroed = "one unit's contribution of full norm replaced by zero, all others zero";
    let sum = FederatedSum {
        participation: Participation::Poisson(quarter),
        clip: Some(positive(11.0)),
        noise_multiplier: 1.0,
        divisor: Divisor::Planned,
        multiplicity: 1,
        keeps_coin: false,
        visible: false,
        sensitivity: SensitivityRule::LargestWeight,
        claimed_rate: None,
        is_forgotten: false,
        arithmetic: NoiseArithmetic::Exact,
    };
    let gathered = |target: f64| Gathered {
        population: 20,
        vectors: (0..20).map(|n| (n, Arc::new(vec![if n == 0 { target } else { 0.0 }, 0.0]))).collect(),
        weights: Arc::new(vec![vec![0.05; 20]]),
        second_coin: Vec::new(),
        length: 2,
    };
    // One agent moves the sum by w S / q, the noise is z w S / q: at its own scale both are 1.
    let scale = 0.05 * 11.0 / 0.25;
    let canaries = agent_canaries(sum.clone());
    let mut cases = vec![
        case(
            Words {
                name: "poisson-gaussian",
                about: "Gaussian noise on a Poisson sample, q = 0.25, z = 1, once",
                neighbours: zeroed,
                expected: Verdict::Consistent,
            },
            poisson,
            [units(1.0, 0.0), units(0.0, 0.0)],
            (1, DELTA, Neighbours::ZeroOut),
            vec![mixed()],
            pair(1),
        ),
        case(
            Words {
                name: "poisson-gaussian-40",
                about: "the same 40 times, as DP-FTS-DE has it",
                neighbours: zeroed,
                expected: Verdict::Consistent,
            },
            poisson,
            [units(1.0, 0.0), units(0.0, 0.0)],
            (40, FEDERATED_DELTA, Neighbours::ZeroOut),
            vec![mixed()],
            pair(40),
        ),
        case(
            Words {
                name: "fixed-size-gaussian",
                about: "Gaussian noise on 1 of 4 units drawn without replacement, z = 2",
                neighbours: "one unit's contribution of full norm turned round, all others' of full norm against it",
                expected: Verdict::Consistent,
            },
            FixedSizeGaussian::new(1, positive(1.0), positive(2.0)),
            [units(1.0, -1.0), units(-1.0, -1.0)],
            (1, DELTA, Neighbours::ReplaceOne),
            // Against the others the sum does not tell who was drawn: -1 in one world, and 1 with probability 1/4 in the
            // other. With the others at zero both worlds would be mixtures, and far more alike.
            vec![ratio(|y, world| match world {
                World::Given => log_mixture(y, 2.0, [(0.75, -1.0), (0.25, 1.0)]),
                World::Neighbour => log_mixture(y, 2.0, [(1.0, -1.0), (0.0, -1.0)]),
            })],
            pair(1),
        ),
        case(
            Words {
                name: "federated-sum",
                about: "DP-FTS-DE's sum over 20 agents, q = 0.25, z = 1, S = 11, once",
                neighbours: "one agent's vector of full norm replaced by zero, all others zero",
                expected: Verdict::Consistent,
            },
            sum,
            [gathered(11.0), gathered(0.0)],
            (1, DELTA, Neighbours::ZeroOut),
            vec![(
                RATIO,
                Box::new(move |sums: &Vec<Vec<f64>>| {
                    let y = sums[0][0] / scale;
                    log_mixture(y, 1.0, [(0.75, 0.0), (0.25, 1.0)])
                        - log_mixture(y, 1.0, [(1.0, 0.0), (0.0, 0.0)])
                }),
            )],
            pair(1),
        ),
    ];
    let last = cases.pop().map(|case| with_canaries(case, canaries));
    cases.extend(last);
    cases
}

/// One sum over agents whose vectors point each in a direction of its own, at full norm or zero by a coin.
fn agent_canaries(sum: FederatedSum) -> Canaries {
    Box::new(move |trials, key| {
        // The work goes by the square: each agent's vector has as many numbers as there are agents.
        let agents = (trials as f64).sqrt().ceil().clamp(8.0, 1000.0) as usize;
        let weight = 1.0 / agents as f64;
        let (rate, clip) = match (sum.participation, sum.clip) {
            (Participation::Poisson(rate), Some(clip)) => (rate.get(), clip.get()),
            _ => return Err("canaries are for coins and clipped vectors".to_owned()),
        };
        let mut coins = key.child("coins").stream();
        let is_in: Vec<bool> = (0..agents).map(|_| coins.bernoulli(0.5)).collect();
        let vector = |agent: usize| {
            let mut vector = vec![0.0; agents];
            vector[agent] = if is_in[agent] { clip } else { 0.0 };
            (agent, Arc::new(vector))
        };
        let gathered = Gathered {
            population: agents,
            vectors: (0..agents).map(vector).collect(),
            weights: Arc::new(vec![vec![weight; agents]]),
            second_coin: Vec::new(),
            length: agents,
        };
        let sums =
            sum.privatise(&gathered, &mut key.child("sum").stream()).map_err(|error| error.to_string())?;
        let sd = sum.noise_multiplier;
        let score = |value: f64| {
            let y = value / (weight * clip / rate);
            let with = log_mixture(y, sd, [(1.0 - rate, 0.0), (rate, 1.0)]);
            rounded(with - log_mixture(y, sd, [(1.0, 0.0), (0.0, 0.0)]))
        };
        Ok(is_in.into_iter().zip(&sums[0]).map(|(is_in, value)| (is_in, score(*value))).collect())
    })
}
