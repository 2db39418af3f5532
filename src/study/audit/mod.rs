//! The auditor on whole systems: a scenario's releases on neighbouring inputs, as its observers see them.
//!
//! The world of one replication is prepared once; a trial repeats what is released in it, by the protocol's own
//! mechanisms, on one of two neighbouring inputs. What an observer does with a release afterwards (asking, learning,
//! choosing) can tell nothing more, so it is not repeated.

mod federated;
mod local;
mod outsourced;
mod release;

use super::plan::Plan;
use super::workshop::Workshop;
use crate::privacy::audit::{Effort, Experiment, FEWEST, Finding, Reconstruction, Statement, measure};
use crate::protocols::ProtocolModel;
use crate::rng::Key;
use crate::vocab::Delta;

/// What is to be audited.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Cell of the study.
    pub cell: usize,
    /// Only this series.
    pub series: Option<String>,
    /// Only what this party sees.
    pub observer: Option<String>,
    /// The neighbour, instead of a search: "ROW:D1,D2,.." (a record and by how much it moves), "A,B" (two rewards), or
    /// the number of an agent.
    pub neighbour: Option<String>,
    /// (epsilon, delta) to put to the test instead of what is claimed.
    pub claim: Option<(f64, f64)>,
}

/// One release of one series on one pair of neighbours.
pub struct System {
    /// What is said about it.
    pub statement: Statement,
    experiment: Box<dyn Experiment + Send>,
    notes: Vec<String>,
    reconstruction: Option<Reconstruction>,
}

impl std::fmt::Debug for System {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("System").field("statement", &self.statement).finish_non_exhaustive()
    }
}

impl System {
    fn new(statement: Statement, experiment: impl Experiment + Send + 'static) -> Self {
        Self { statement, experiment: Box::new(experiment), notes: Vec::new(), reconstruction: None }
    }
}

/// Neighbours of one series' data to choose the most telling of.
pub type Candidates = Vec<System>;

/// Replication whose world is audited.
const REPLICATION: u64 = 0;

/// Everything that a scenario releases and that can be audited, by series.
///
/// # Errors
/// In words: a world that cannot be prepared, a protocol that releases nothing, or names that do not occur.
pub fn systems(plan: &Plan, request: &Request) -> Result<Vec<Candidates>, String> {
    let cell = plan
        .cells
        .get(request.cell)
        .ok_or_else(|| format!("expected a cell below {}, found {}", plan.cells.len(), request.cell))?;
    let workshop = Workshop::without_folder(request.cell, cell, plan);
    let (stage, key) = workshop.world(REPLICATION).map_err(|failure| failure.to_string())?;
    let protocol = &cell.scenario.draft.protocol;
    let known = protocol.as_dyn().series();
    if let Some(series) = request.series.as_ref().filter(|series| !known.contains(series)) {
        return Err(format!("expected a series out of {}, found \"{series}\"", known.join(", ")));
    }
    let delta = request.claim.map(|(_, delta)| delta);
    let study_delta = cell.scenario.draft.privacy.delta.map(Delta::get);
    let given = request.neighbour.as_deref();
    let all = match protocol {
        ProtocolModel::Outsourced(recipe) => outsourced::systems(recipe, &stage, key, given)?,
        ProtocolModel::Local(recipe) => local::systems(recipe, &stage, key, delta, given)?,
        ProtocolModel::Federated(recipe) => federated::systems(
            recipe,
            &stage,
            key,
            delta.or(study_delta),
            (request.series.as_deref(), given),
        )?,
        ProtocolModel::Release(_) if given.is_some() => {
            return Err("Release searches its neighbours itself: leave out --neighbour".to_owned());
        }
        ProtocolModel::Release(recipe) => {
            let worlds = |replication| workshop.world(replication).map_err(|failure| failure.to_string());
            release::systems(recipe, &worlds, delta)?
        }
        ProtocolModel::Echo(_) => {
            return Err("Echo releases nothing, so there is nothing to audit".to_owned());
        }
    };
    let mut chosen: Vec<(String, Candidates)> = all;
    if let Some(series) = &request.series {
        chosen.retain(|(name, _)| name == series);
    }
    let mut found: Vec<Candidates> = chosen.into_iter().map(|(_, candidates)| candidates).collect();
    if let Some(observer) = &request.observer {
        let names: Vec<String> =
            found.iter().flatten().map(|system| system.statement.observer.clone()).collect();
        found.retain(|candidates| candidates.iter().any(|system| system.statement.observer == *observer));
        if found.is_empty() {
            let mut names = names;
            names.dedup();
            return Err(format!("expected an observer out of {}, found \"{observer}\"", names.join(", ")));
        }
    }
    found.retain(|candidates| !candidates.is_empty());
    if found.is_empty() {
        return Err("nothing is released under any protection, so there is nothing to audit".to_owned());
    }
    if let Some((epsilon, delta)) = request.claim {
        for system in found.iter_mut().flatten() {
            if system.statement.delta != delta {
                // What was proven at another delta says nothing here.
                system.statement.proven = None;
            }
            system.statement.delta = delta;
            system.statement.claim = Some((epsilon, "as asked".to_owned()));
        }
    }
    Ok(found)
}

/// Numbers between commas.
fn numbers(text: &str) -> Result<Vec<f64>, String> {
    let number = |part: &str| {
        let value = part.trim().parse::<f64>().ok().filter(|value| value.is_finite());
        value.ok_or_else(|| format!("expected finite numbers between commas, found \"{text}\""))
    };
    text.split(',').map(number).collect()
}

/// Share of the trials that each candidate for a neighbour is tried with.
const SEARCH_SHARE: u64 = 10;

/// Trials that an audit of `candidates` runs in all, both worlds together.
#[must_use]
pub fn effort(candidates: &Candidates, trials: u64) -> u64 {
    let search = if candidates.len() > 1 { pilot(trials) * candidates.len() as u64 } else { 0 };
    2 * (trials + search)
}

fn pilot(trials: u64) -> u64 {
    (trials / SEARCH_SHARE).max(FEWEST)
}

/// Audits one series: finds the most telling neighbour by a few trials each, and measures there with fresh ones.
///
/// # Errors
/// In words, if a system cannot run.
pub fn audit(
    mut candidates: Candidates,
    trials: u64,
    key: Key,
    done: &(dyn Fn(u64) + Sync),
) -> Result<Finding, String> {
    let tried = candidates.len();
    let mut best = 0;
    if tried > 1 {
        let mut most = f64::NEG_INFINITY;
        for (index, system) in candidates.iter().enumerate() {
            let effort = Effort {
                trials: pilot(trials),
                key: key.child("search").index(index as u64),
                delta: system.statement.delta,
            };
            let evidence = measure(&*system.experiment, effort, done)?;
            // Where no bound is above 0 yet, the better attack decides.
            let figure = evidence.epsilon_lower + 1e-3 * evidence.membership.advantage;
            if figure > most {
                (best, most) = (index, figure);
            }
        }
    }
    let System { statement, experiment, notes, reconstruction } = candidates.swap_remove(best);
    let effort = Effort { trials, key: key.child("audit"), delta: statement.delta };
    let evidence = measure(&*experiment, effort, done)?;
    let mut finding = Finding::new(statement, evidence);
    if tried > 1 {
        finding.notes.push(format!("the most telling of {tried} neighbours that were tried"));
    }
    finding.notes.extend(notes);
    finding.reconstruction = reconstruction;
    Ok(finding)
}
