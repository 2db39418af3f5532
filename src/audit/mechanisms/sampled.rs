//! Audits of Gaussian noise on a sample of units.

use super::canaries;
use super::case::{Case, CaseDescription, DELTA, positive, with_canaries, worst};
use crate::privacy::mechanisms::{
    FederatedSum, FixedSizeGaussian, Participation, PoissonGaussian, ReceivedVectors,
};
use crate::vocab::{Neighbours, Probability};
use std::sync::Arc;

/// 200^-1.1, the delta of the synthetic experiment with DP-FTS-DE, the algorithm of Dai, Low and Jaillet 2021.
const FEDERATED_DELTA: f64 = 0.002_943_520_093_262_371_6;

pub(super) fn cases() -> Vec<Case> {
    let quarter = Probability::new(0.25).expect("a probability");
    let poisson = PoissonGaussian::new(quarter, positive(1.0), positive(1.0));
    let units = vec![vec![0.0]; 4];
    let sum = FederatedSum::planned(Participation::Poisson(quarter), Some(positive(11.0)), 1.0);
    let agents = ReceivedVectors {
        population: 20,
        vectors: (0..20).map(|agent| (agent, Arc::new(vec![0.0; 2]))).collect(),
        weights: Arc::new(vec![vec![0.05; 20]]),
        late_sampling_draw: Vec::new(),
        length: 2,
        discounts: Vec::new(),
    };
    let canaries = canaries::of_agents(sum.clone());
    let federated = worst(
        CaseDescription::sound(
            "federated-sum",
            "DP-FTS-DE's sum over 20 agents, sampling probability 0.25, noise multiplier 1, clipping norm 11, once",
        ),
        sum,
        &agents,
        (1, DELTA, Neighbours::ZeroOut),
    );
    vec![
        worst(
            CaseDescription::sound(
                "poisson-gaussian",
                "Gaussian noise on a Poisson sample, sampling probability 0.25, noise multiplier 1, once",
            ),
            poisson,
            &units,
            (1, DELTA, Neighbours::ZeroOut),
        ),
        worst(
            CaseDescription::sound(
                "poisson-gaussian-40",
                "Gaussian noise on a Poisson sample, sampling probability 0.25, noise multiplier 1, 40 times, as in DP-FTS-DE",
            ),
            poisson,
            &units,
            (40, FEDERATED_DELTA, Neighbours::ZeroOut),
        ),
        worst(
            CaseDescription::sound(
                "fixed-size-gaussian",
                "Gaussian noise on 1 of 4 units drawn without replacement, noise multiplier 2",
            ),
            FixedSizeGaussian::new(1, positive(1.0), positive(2.0)),
            &units,
            (1, DELTA, Neighbours::ReplaceOne),
        ),
        with_canaries(federated, canaries),
    ]
}
