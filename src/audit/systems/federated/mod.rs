//! Audits of federated optimisation. The neighbours differ in the vectors of one agent: on the given data D these vectors
//! have the clipping norm, and on the neighbour D' they are zero (with a sample of fixed size, they are negated on D'). The
//! observer sees all sums of a run. If the server selects agents by noisy losses, the neighbours also differ in the losses
//! of this agent, and the observer also sees the noisy losses.

mod broadcasts;
mod claim;
mod masked;
mod selected;

use super::audited::{AuditContext, Audited, named};
use super::system::{Candidates, NotAuditedReason};
use crate::audit::error::AuditError;
use crate::protocols::federated::{Aggregate, Federated, Sharing, conditions_of};
use crate::vocab::Delta;

/// Delta if neither the request nor the scenario has one.
const DELTA: f64 = 1e-5;

impl Audited for Federated {
    /// All broadcasts of one series, for each agent that is tried as the agent in whose vectors the neighbours differ;
    /// if the server selects agents by their losses, only for the first of these agents. With masks there are two lists
    /// of candidates: the sums as the server sees them, and as an agent sees them.
    fn candidates(
        &self,
        series: &str,
        context: &AuditContext<'_>,
    ) -> Result<Vec<Candidates>, NotAuditedReason> {
        let series = named(&self.series, series, |series| &series.name)?;
        let delta = context.delta.or(context.study_delta).unwrap_or(DELTA);
        let delta = Delta::new(delta).map_err(AuditError::scenario)?;
        let aggregate = match &series.sharing {
            Sharing::Aggregate(aggregate) => aggregate,
            Sharing::Alone(_) => return Err(NotAuditedReason::Unprotected("agents share nothing")),
            Sharing::RandomAgent(_) => {
                return Err(NotAuditedReason::Unprotected(
                    "agents' vectors are sent without protection: nothing is claimed",
                ));
            }
        };
        if aggregate.clip.is_none() || aggregate.noise_multiplier.get() <= 0.0 {
            return Err(NotAuditedReason::Unprotected(
                "the sums have no noise, or nothing is clipped: nothing is claimed",
            ));
        }
        let placement = self.placement(context.stage, series, context.key).map_err(AuditError::from)?;
        let explored = &placement.explored;
        let mut weights = self.selected_weights(context.stage, context.key, aggregate, &placement);
        if !aggregate.selects_by_loss() {
            // Every selection of the library that uses no losses selects the same agents in every round.
            weights.select(0, &mut context.key.child("audit").child("selection").stream());
        }
        let targets = match context.neighbour {
            Some(text) => vec![as_given(text, self.agents(context.stage))?],
            None => {
                let mut tried = targets(aggregate, explored, &weights.at(0));
                // If agents have personal epsilons, the first agent with each epsilon is tried too.
                let levels = self.agent_levels(series, context.stage, context.key).unwrap_or_default();
                let first = |n: &usize| levels[..*n].iter().all(|level| level.epsilon != levels[*n].epsilon);
                tried.extend((0..levels.len()).filter(first));
                tried.sort_unstable();
                tried.dedup();
                tried
            }
        };
        let mut found = if aggregate.server.is_masked() {
            masked::candidates(self, (series, aggregate), context, (&placement, &targets), delta)?
        } else if aggregate.selects_by_loss() {
            let target = targets.first().copied().unwrap_or(0);
            vec![selected::candidates(self, (series, aggregate), weights, target, delta)?]
        } else {
            vec![broadcasts::candidates(self, (series, aggregate), context, (&weights, &targets), delta)?]
        };
        let instance = context.stage.instance.as_ref();
        let conditions = instance.map_or_else(Vec::new, |instance| conditions_of(context.stage, instance));
        for system in found.iter_mut().flatten() {
            system.statement = system.statement.clone().with_conditions(&conditions);
            if self.informative_silence().is_some() {
                system.statement.about.push_str(" (whether an agent answers is not attacked)");
            }
        }
        Ok(found)
    }
}

/// Agents on which the attack may be strongest: the agents with the numbers 0 and `regions` - 1, and the agent whose
/// weights in the first sums (one sum for each region) have the largest sum of squares. If no group states its region
/// (`explores`), agent 0 is the first agent of the first region, and agent `regions` - 1 is the first agent of the last
/// region. The numbers of agents in these two regions may differ by one. Agents without weight are left out.
fn targets(aggregate: &Aggregate, explored: &[usize], weights: &[Vec<f64>]) -> Vec<usize> {
    let regions = aggregate.regions.get() as usize;
    let square = |agent: usize| weights.iter().map(|region| region[agent] * region[agent]).sum::<f64>();
    let longest =
        (0..explored.len()).fold(0, |best, agent| if square(agent) > square(best) { agent } else { best });
    let mut targets = vec![0, regions.min(explored.len()) - 1, longest];
    targets.sort_unstable();
    targets.dedup();
    targets.retain(|&agent| square(agent) > 0.0);
    targets
}

fn as_given(text: &str, agents: usize) -> Result<usize, AuditError> {
    let agent = text.trim().parse().ok().filter(|agent| *agent < agents);
    let expected = || format!("an agent below {agents}");
    agent.ok_or_else(|| AuditError::Neighbour { expected: expected(), found: text.to_owned() })
}
