//! Audits of the private answers to a search's queries. The neighbours differ in one outcome, and the observer is the
//! party that searches, which sees the answers.

use crate::audit::error::AuditError;
use crate::audit::measure::{Experiment, KnownPair, NeighbourSide, Transcript};
use crate::audit::systems::audited::{AuditContext, named};
use crate::audit::systems::system::{Candidates, NotAuditedReason, System};
use crate::audit::verdict::{Statement, upper_bound};
use crate::objectives::{Change, DataSource, Instance, Noise};
use crate::privacy::mechanisms::{Distinguisher, OutcomeRelease, RATIO};
use crate::protocols::{ReplicationSetup, SearchSettings, Series};
use crate::rng::Key;
use crate::vocab::Neighbours;

/// Distance of an extreme outcome from the mechanism's range of outcomes, in widths of that range.
const FAR: f64 = 100.0;

/// Why outcomes that a program answers are left out.
pub(super) const ASKS_A_PROGRAM: &str = "a program answers its outcomes, and an audit does not start this program: the cost that the scenario states is taken as it is";

/// The answers of one series of a search.
pub(super) struct Answering<'a> {
    pub(super) series: &'a str,
    pub(super) release: &'a OutcomeRelease,
    /// The party that searches.
    pub(super) observer: &'a str,
    /// Number of queries, initial points included.
    pub(super) queries: u64,
    /// Whether the observer also sees the inputs.
    pub(super) shows_inputs: bool,
    /// Whether an answer may be missing because of its outcome. The attack does not use which answers are missing.
    pub(super) may_be_missing: bool,
}

/// The answers of one series of a [`Search`](crate::protocols::Search), for an implementation of
/// [`Audited`](super::Audited). D and D' differ in the outcome of one row: the two outcomes are those of the
/// mechanism's worst pair. The searching party sees the answers. For an objective made from records, a second candidate
/// changes the outcome of a row that is not queried, if there is such a row. The statement is about the
/// epsilon that follows from the mechanism's price.
///
/// ```
/// use subrosa::audit::systems::{AuditContext, Candidates, NotAuditedReason, search_candidates};
/// use subrosa::protocols::Search;
///
/// fn candidates(own: &impl Search, series: &str, context: &AuditContext<'_>) -> Result<Vec<Candidates>, NotAuditedReason> {
///     search_candidates(&own.settings(), series, context)
/// }
/// ```
///
/// # Errors
/// [`NotAuditedReason`]: outcomes without protection or without a worst pair, answers of a program, a requested neighbour
/// (since the worst pair is the mechanism's own), no such series, or a scenario without an objective.
pub fn search_candidates(
    settings: &SearchSettings<'_>,
    series: &str,
    context: &AuditContext<'_>,
) -> Result<Vec<Candidates>, NotAuditedReason> {
    let names: Vec<String> = settings.series.iter().map(|series| series.name().to_owned()).collect();
    named(&names, series, |name| name)?;
    if let Some(found) = context.neighbour {
        let expected = "no neighbour: the two outcomes are those of the mechanism's worst pair".to_owned();
        return Err(AuditError::Neighbour { expected, found: found.to_owned() }.into());
    }
    let instance = context.stage.objective(series).map_err(AuditError::from)?;
    let release = settings.outcomes.as_dyn();
    if !release.programs().is_empty() {
        return Err(NotAuditedReason::NoAttack(ASKS_A_PROGRAM));
    }
    if release.mechanism().is_none() {
        return Err(NotAuditedReason::Unprotected("outcomes are answered as they are"));
    }
    let answering = Answering {
        series,
        release: &settings.outcomes,
        observer: settings.searcher.1,
        queries: settings.initial_points.saturating_add(settings.rounds),
        shows_inputs: true,
        may_be_missing: false,
    };
    Ok(vec![candidates(&answering, instance, context)?])
}

/// Private answers to all queried rows, where the neighbours differ in the outcome of one row. This row is a queried
/// row; for a second candidate, it is a row that is not queried. A row that is queried again gets the same answer.
pub(super) fn candidates(
    answering: &Answering<'_>,
    instance: &Instance,
    context: &AuditContext<'_>,
) -> Result<Candidates, NotAuditedReason> {
    let release = answering.release.as_dyn();
    let Some(mechanism) = release.mechanism().filter(|_| release.programs().is_empty()) else {
        return Ok(Vec::new());
    };
    let stage = context.stage;
    let n = instance.inputs.n();
    let asked = answering.queries.min(n as u64) as usize;
    let asked = context.key.child("audit").child("asked rows").stream().distinct(n, asked);
    let row = asked[0];
    let worst = mechanism.worst_pair(&instance.values[row]);
    let Some(worst) = worst else {
        return Err(NotAuditedReason::NoAttack(
            "the mechanism of its outcomes has no known pair of neighbours to attack",
        ));
    };
    let ends = worst.inputs;
    let price = mechanism.price(&ends[0], &Neighbours::AnyValue).map_err(AuditError::from)?;
    let conditions = instance.background.facts.outcome_conditions(answering.shows_inputs);
    let mut conditional = price.clone();
    conditional.basis = conditional.basis.with_conditions(&conditions);
    let delta = release.delta();
    let mut candidates = Vec::new();
    let mut add = |about: String,
                   neighbours: String,
                   changes: [Change; 2],
                   pair: Option<KnownPair>|
     -> Result<(), AuditError> {
        let statement = Statement {
            name: format!("{}, outcomes", answering.series),
            about: match answering.may_be_missing {
                true => format!("{about} (whether an answer is missing is not attacked)"),
                false => about,
            },
            neighbours,
            observer: answering.observer.to_owned(),
            delta,
            claim: None,
            proven: upper_bound(&[(&conditional, 1)], delta),
            disjoint: None,
            broken: false,
        };
        let [given, other] = changes.map(|change| values(stage, instance, &change));
        let (given, other) = (given?, other?);
        let differ = asked.iter().copied().filter(|&row| given[row].to_bits() != other[row].to_bits());
        let answer_of = |row: usize| -> Result<Answer, AuditError> {
            let values = [given[row], other[row]];
            Ok(Answer { row, values, distinguisher: mechanism.distinguisher([&values[0], &values[1]])? })
        };
        let rows = differ.map(answer_of).collect::<Result<_, _>>()?;
        let answers = Answers { release: answering.release.clone(), law: instance.noise.clone(), rows, pair };
        candidates.push(System::new(statement, answers));
        Ok(())
    };
    // Clipping moves the two outcomes to the ends of the range, so they differ by the sensitivity.
    let distinguisher = mechanism.distinguisher([&ends[0], &ends[1]]).map_err(AuditError::from)?;
    let premise = "the noise is of the kind stated and only its size is unknown";
    let known = KnownPair::of([(distinguisher.laws.as_ref(), 1)]).map(|pair| pair.on_premise(premise));
    add(
        "the answer to one row's outcome, however often it is queried".to_owned(),
        format!("the outcome of one row, {} or {}", ends[0], ends[1]),
        ends.map(|value| Change::Outcome { row, value }),
        known,
    )?;
    let silent = (0..instance.values.len()).find(|row| !asked.contains(row));
    if let Some(row) = silent
        && stage.prepared.as_ref().is_some_and(|prepared| prepared.source() == DataSource::Records)
    {
        let width = price.sensitivity.unwrap_or((ends[0] - ends[1]).abs());
        let far = [instance.values[row], ends[0] + (FAR - 1.0) * width];
        add(
            format!("the answers to the outcomes of {} rows", asked.len()),
            format!("the outcome of a row that is not queried, {:.3} or {}", far[0], far[1]),
            far.map(|value| Change::Outcome { row, value }),
            None,
        )?;
    }
    note_conditions(&conditions, &mut candidates);
    Ok(candidates)
}

/// Adds to each candidate a note that names the conditions of the proof, other than those of the mechanism.
pub(super) fn note_conditions(conditions: &[String], candidates: &mut Candidates) {
    if !conditions.is_empty() {
        let note = format!("the proof is conditional on {}", conditions.join(", and "));
        candidates.iter_mut().for_each(|system| system.notes.push(note.clone()));
    }
}

/// Values of all rows after a change. If no scale is computed from the data, only the changed row's value differs.
fn values(stage: &ReplicationSetup, instance: &Instance, change: &Change) -> Result<Vec<f64>, AuditError> {
    let changed = stage.prepared.as_ref().and_then(|prepared| prepared.changed(change));
    if let Some(changed) = changed {
        return changed.map(|instance| instance.values.to_vec()).map_err(AuditError::scenario);
    }
    let mut values = instance.values.to_vec();
    if let Change::Outcome { row, value } = *change {
        values[row] = value;
    }
    Ok(values)
}

/// A row whose values differ on the two data sets.
#[derive(Debug)]
struct Answer {
    row: usize,
    values: [f64; 2],
    /// The tests of the answer. The score of the likelihood-ratio test is ln of the likelihood ratio only if measurements
    /// have no noise. If they have noise, the score is merely a statistic, since the test takes `values` for the outcomes.
    distinguisher: Distinguisher<f64>,
}

/// Private answers for some rows, measured and released once each, on two data sets.
#[derive(Debug)]
struct Answers {
    release: OutcomeRelease,
    law: Noise,
    /// Rows whose values differ between the two data sets; answers to other rows carry no information.
    rows: Vec<Answer>,
    /// The laws of the answers, where they are known.
    pair: Option<KnownPair>,
}

impl Experiment for Answers {
    fn tests(&self) -> Vec<String> {
        vec![RATIO.to_owned()]
    }

    fn trial(&self, side: NeighbourSide, key: Key) -> Result<Transcript, AuditError> {
        let (mut stream, mut measuring) = (key.stream(), key.child("measuring").stream());
        let mut score = 0.0;
        for Answer { row, values, distinguisher } in &self.rows {
            let outcome = values[side.index()] + self.law.draw(*row, &mut measuring);
            if let Some(mechanism) = self.release.as_dyn().mechanism() {
                score += distinguisher.log_ratio(&mechanism.privatise(&outcome, &mut stream)?);
            }
        }
        Ok(Transcript::rounded(vec![score]))
    }

    fn pair(&self) -> Option<&KnownPair> {
        self.pair.as_ref()
    }
}
