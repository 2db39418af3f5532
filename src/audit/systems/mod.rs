//! The auditor on whole systems: a scenario's releases on neighbouring inputs, as its observers see them.
//!
//! The world of one replication is prepared once; a trial repeats what is released in it, by the protocol's own
//! mechanisms, on one of two neighbouring inputs. What an observer does with a release afterwards (asking, learning,
//! choosing) can tell nothing more, so it is not repeated.

mod federated;
mod local;
mod masked;
mod outsourced;
mod release;

use crate::audit::{Effort, Experiment, FEWEST, Finding, Reconstruction, Statement, measure};
use crate::protocols::outsourced::{InputRelease, OutcomeRelease, Outsourced};
use crate::protocols::{ProtocolModel, Stage};
use crate::rng::Key;
use crate::study::Plan;
use crate::study::Workshop;
use crate::vocab::Delta;
use serde::Serialize;

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

/// A series, or a part of one, that is not audited, and why.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NotAudited {
    /// The series.
    pub series: String,
    /// Whether something is protected there that an audit would be about; false where nothing is claimed.
    pub protected: bool,
    /// Why, in words.
    pub why: String,
}

/// Why a series is not audited.
#[derive(Debug)]
struct Why {
    protected: bool,
    reason: String,
}

impl Why {
    /// Nothing is claimed for what is released, or nothing is.
    fn unprotected(reason: &str) -> Self {
        Self { protected: false, reason: reason.to_owned() }
    }

    /// It is protected, and the auditor has no attack on it.
    fn beyond(reason: &str) -> Self {
        Self { protected: true, reason: reason.to_owned() }
    }
}

impl From<String> for Why {
    fn from(reason: String) -> Self {
        Self { protected: true, reason }
    }
}

/// What of a scenario can be audited, and what cannot.
#[derive(Debug, Default)]
pub struct Systems {
    /// Each release of each series, on neighbours to choose the most telling of.
    pub audited: Vec<Candidates>,
    /// What is left out.
    pub not_audited: Vec<NotAudited>,
}

/// Replication whose world is audited.
const REPLICATION: u64 = 0;

/// Everything that a scenario releases, series by series: what can be audited, and why the rest cannot.
///
/// # Errors
/// In words: a world that cannot be prepared, a neighbour that does not fit, a protocol or series of which nothing can be
/// audited, or names that do not occur.
pub fn systems(plan: &Plan, request: &Request) -> Result<Systems, String> {
    let cell = plan
        .cells
        .get(request.cell)
        .ok_or_else(|| format!("expected a cell below {}, found {}", plan.cells.len(), request.cell))?;
    let workshop = Workshop::without_folder(request.cell, cell, plan);
    let world = workshop.world(REPLICATION).map_err(|failure| failure.to_string())?;
    let protocol = &cell.scenario.draft().protocol;
    let known = protocol.as_dyn().series();
    if let Some(series) = request.series.as_ref().filter(|series| !known.contains(series)) {
        return Err(format!("expected a series out of {}, found \"{series}\"", known.join(", ")));
    }
    match protocol {
        ProtocolModel::Echo(_) => {
            return Err("Echo releases nothing, so there is nothing to audit".to_owned());
        }
        ProtocolModel::Release(_) if request.neighbour.is_some() => {
            return Err("Release searches its neighbours itself: leave out --neighbour".to_owned());
        }
        _ => {}
    }
    let study_delta = cell.scenario.draft().privacy.delta.map(Delta::get);
    let mut found = Systems::default();
    for name in known.iter().filter(|name| request.series.as_ref().is_none_or(|only| only == *name)) {
        match of_series(protocol, name, (&workshop, &world), request, study_delta) {
            Ok(groups) => {
                found.audited.extend(groups.into_iter().filter(|candidates| !candidates.is_empty()));
                found.not_audited.extend(shown_as_it_is(protocol, name));
            }
            // What does not fit a neighbour that was asked for is no property of the series.
            Err(why) if why.protected && request.neighbour.is_some() => return Err(why.reason),
            Err(Why { protected, reason }) => {
                found.not_audited.push(NotAudited { series: name.clone(), protected, why: reason });
            }
        }
    }
    if let Some(observer) = &request.observer {
        let sees = |candidates: &Candidates| candidates.iter().any(|s| s.statement.observer == *observer);
        let mut names: Vec<String> =
            found.audited.iter().flatten().map(|system| system.statement.observer.clone()).collect();
        found.audited.retain(sees);
        if found.audited.is_empty() && !names.is_empty() {
            names.sort();
            names.dedup();
            return Err(format!("expected an observer out of {}, found \"{observer}\"", names.join(", ")));
        }
    }
    if found.audited.is_empty() {
        let reasons: Vec<String> =
            found.not_audited.iter().map(|left| format!("{}: {}", left.series, left.why)).collect();
        return Err(format!("nothing of this scenario is audited\n  {}", reasons.join("\n  ")));
    }
    if let Some((epsilon, delta)) = request.claim {
        for system in found.audited.iter_mut().flatten() {
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

/// The unprotected half of a series whose other half is audited.
fn shown_as_it_is(protocol: &ProtocolModel, name: &str) -> Option<NotAudited> {
    let ProtocolModel::Outsourced(recipe) = protocol else { return None };
    let series = recipe.series.iter().find(|series| series.name == name)?;
    let (half, why) = match (&series.release, &series.outcomes) {
        (_, OutcomeRelease::Disclosure(_)) => ("outcomes", "answered as they are: nothing is claimed"),
        (InputRelease::Disclosure(_), _) => ("inputs", "shown as they are: nothing is claimed"),
        (InputRelease::Withheld(_), _) => ("inputs", "withheld: nothing is released"),
        _ => return None,
    };
    Some(NotAudited { series: format!("{name}, {half}"), protected: false, why: why.to_owned() })
}

/// The releases of one series, each with the neighbours to try.
fn of_series(
    protocol: &ProtocolModel,
    name: &str,
    (workshop, (stage, key)): (&Workshop<'_>, &(Stage, Key)),
    request: &Request,
    study_delta: Option<f64>,
) -> Result<Vec<Candidates>, Why> {
    let delta = request.claim.map(|(_, delta)| delta);
    let given = request.neighbour.as_deref();
    let missing = || format!("there is no series \"{name}\"");
    match protocol {
        ProtocolModel::Outsourced(recipe) => {
            let series: Vec<_> = recipe.series.iter().filter(|series| series.name == name).cloned().collect();
            let alone = Outsourced { series, ..recipe.clone() };
            let found = outsourced::systems(&alone, stage, *key, given)?;
            let groups: Vec<Candidates> = found.into_iter().map(|(_, candidates)| candidates).collect();
            if groups.iter().all(Vec::is_empty) {
                return Err(Why::unprotected("inputs and outcomes are shown as they are, or not at all"));
            }
            Ok(groups)
        }
        ProtocolModel::Local(recipe) => {
            let series = recipe.series.iter().find(|series| series.name == name).ok_or_else(missing)?;
            local::candidates(recipe, series, (stage, *key), delta, given)
        }
        ProtocolModel::Federated(recipe) => {
            let series = recipe.series.iter().find(|series| series.name == name).ok_or_else(missing)?;
            federated::candidates(recipe, series, (stage, *key), delta.or(study_delta), given)
        }
        ProtocolModel::Release(recipe) => {
            let series = recipe.series.iter().find(|series| series.name == name).ok_or_else(missing)?;
            let worlds = |replication| workshop.world(replication).map_err(|failure| failure.to_string());
            release::candidates(recipe, series, &worlds, delta)
        }
        ProtocolModel::Echo(_) => Err(Why::unprotected("it releases nothing")),
    }
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
                models: false,
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
    let effort = Effort { trials, key: key.child("audit"), delta: statement.delta, models: true };
    let evidence = measure(&*experiment, effort, done)?;
    let mut finding = Finding::new(statement, evidence);
    if tried > 1 {
        finding.notes.push(format!("the most telling of {tried} neighbours that were tried"));
    }
    finding.notes.extend(notes);
    finding.reconstruction = reconstruction;
    Ok(finding)
}
