//! All broadcasts of a run whose server selects agents by their noisy losses, together with these
//! losses.
//!
//! An agent's loss is the error with which the shared vectors predict its measurements, and not a privacy loss.

use crate::audit::error::AuditError;
use crate::audit::measure::{Experiment, NeighbourSide, Transcript};
use crate::audit::systems::system::{Candidates, NotAuditedReason, System};
use crate::audit::verdict::{Statement, upper_bound};
use crate::privacy::mechanisms::{
    FederatedSum, Gaussian, Mechanism, NoiseArithmetic, Price, RATIO, ReceivedVectors,
};
use crate::protocols::federated::{
    Aggregate, EVERY_AGENT, Federated, FederatedSeries, LossReports, SelectedWeights,
};
use crate::rng::Key;
use crate::vocab::{Delta, Neighbours};
use std::sync::Arc;

/// All rounds of one series, on neighbours that differ in the vectors and losses of one agent.
pub(super) fn candidates(
    recipe: &Federated,
    (series, aggregate): (&FederatedSeries, &Aggregate),
    weights: SelectedWeights,
    target: usize,
    delta: Delta,
) -> Result<Candidates, NotAuditedReason> {
    let Some(reports) = aggregate.loss_reports else {
        return Err(NotAuditedReason::Unprotected("agents are selected by losses without noise"));
    };
    if aggregate.adaptive_clip.is_some() {
        return Err(NotAuditedReason::NoAttack(
            "no attack covers both an adaptive clipping norm and a selection by losses: audit each of them alone",
        ));
    }
    let out_of_range = || AuditError::scenario("the noise in the losses is out of range");
    let losses =
        reports.mechanism(aggregate.arithmetic.unwrap_or(NoiseArithmetic::Exact)).ok_or_else(out_of_range)?;
    let rounds = series.shared_rounds(recipe.rounds);
    let attack = Attack { aggregate: aggregate.clone(), reports, losses, weights, target, rounds };
    let prices = attack.prices()?;
    let each: Vec<(&Price, u64)> = prices.iter().map(|price| (price, 1)).collect();
    let statement = Statement {
        name: series.name.clone(),
        about: format!(
            "all {rounds} broadcasts of a run, and the noisy losses from which agents are selected"
        ),
        neighbours: format!(
            "agent {target} has vectors of the largest norm and the largest loss, or vectors of zeros and a loss of 0; all \
             other agents have vectors of zeros and a loss of 0"
        ),
        observer: EVERY_AGENT.to_owned(),
        delta: delta.get(),
        // Published claims are about the sums alone, not about the losses.
        claim: None,
        proven: upper_bound(&each, delta.get()),
        disjoint: None,
        broken: false,
    };
    Ok(vec![System::new(statement, attack)])
}

/// All rounds, for an observer who sees the noisy losses, the sums, and which agents the server selects. In every
/// trial, the agents of each round are selected anew, by the noisy losses of the same trial.
struct Attack {
    aggregate: Aggregate,
    reports: LossReports,
    losses: Gaussian,
    weights: SelectedWeights,
    target: usize,
    rounds: u64,
}

impl Attack {
    /// The two neighbouring inputs of the sums of a round with these weights; `None` if no pair of neighbours is known.
    fn inputs(&self, mechanism: &FederatedSum, weights: Vec<Vec<f64>>) -> Option<[ReceivedVectors; 2]> {
        let population = weights.first().map_or(0, Vec::len);
        let asked = (0..population).filter(|&agent| weights.iter().any(|region| region[agent] > 0.0));
        let vectors = asked.filter(|agent| *agent != self.target);
        let others = ReceivedVectors {
            population,
            vectors: vectors.map(|agent| (agent, Arc::new(vec![0.0]))).collect(),
            weights: Arc::new(weights),
            late_sampling_draw: Vec::new(),
            length: 1,
            discounts: Vec::new(),
        };
        mechanism.pair_of(&others, self.target, 1).map(|pair| pair.inputs)
    }

    /// The prices of all releases of a run: the losses of the agents from round 1 on (in round 0 no vectors have been
    /// shared yet that could predict measurements), and all sums.
    fn prices(&self) -> Result<Vec<Price>, AuditError> {
        let mut prices = Vec::new();
        for round in 0..self.rounds {
            if round > 0 {
                prices.push(self.losses.price(&vec![0.0], &Neighbours::ZeroOut)?);
            }
            let mechanism = self.aggregate.mechanism(self.weights.asked());
            let inputs = self.inputs(&mechanism, self.weights.at(round)).ok_or_else(unknown)?;
            prices.push(mechanism.price(&inputs[0], &Neighbours::ZeroOut)?);
        }
        Ok(prices)
    }
}

fn unknown() -> AuditError {
    AuditError::scenario("no pair of neighbours is known for these sums")
}

impl Experiment for Attack {
    fn tests(&self) -> Vec<String> {
        vec![RATIO.to_owned()]
    }

    fn trial(&self, side: NeighbourSide, key: Key) -> Result<Transcript, AuditError> {
        let bound = self.reports.bound.get();
        let given = side == NeighbourSide::Given;
        let mut weights = self.weights.clone();
        let mut score = 0.0;
        for round in 0..self.rounds {
            weights.select(round, &mut key.child("selection").index(round).stream());
            let mut reporters = weights.reporters();
            if round == 0 {
                reporters.clear();
            }
            let loss = |agent: &usize| if *agent == self.target && given { bound } else { 0.0 };
            let losses: Vec<f64> = reporters.iter().map(loss).collect();
            let mut noisy = Vec::new();
            if !losses.is_empty() {
                noisy = self.losses.privatise(&losses, &mut key.child("losses").index(round).stream())?;
            }
            if let Some(place) = reporters.iter().position(|agent| *agent == self.target) {
                let sd = self.losses.standard_deviation();
                score += (noisy[place] - 0.5 * bound) * bound / (sd * sd);
            }
            let mechanism = self.aggregate.mechanism(weights.asked());
            let of_round = weights.at(round);
            if of_round.iter().any(|region| region[self.target] > 0.0) {
                let inputs = self.inputs(&mechanism, of_round).ok_or_else(unknown)?;
                let moved = mechanism.moved([&inputs[0], &inputs[1]]).ok_or_else(unknown)?;
                let mut stream = key.child("sum").index(round).stream();
                let sums = mechanism.privatise(&inputs[side.index()], &mut stream)?;
                score += moved.log_ratio(sums.iter().flatten().copied(), None);
            }
            weights.close(round, &reporters, &noisy);
        }
        Ok(Transcript::rounded(vec![score]))
    }
}
