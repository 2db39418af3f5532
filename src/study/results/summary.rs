//! The summary of a run: the document that `--format json` prints and that is stored as `summary.json`.

use crate::accounting::{EpsilonAt, StudyPrivacy, WholeStudy, stated};
use crate::study::disk::error::FolderError;
use crate::study::disk::files;
use crate::study::disk::folder::RunFolder;
use crate::study::disk::record::{Digest, ReplicationRecord};
use crate::study::plan::cells::Plan;
use crate::study::results::estimator::Pass;
use crate::study::results::persons::{PersonLoss, persons};
use crate::study::results::privacy_report::{PrivacyRow, PrivacyRows};
use crate::study::results::published::{PublishedLossRow, PublishedRow, published_losses, published_rows};
use crate::study::results::rounds::{DifferenceRow, DifferenceSums};
use crate::study::results::series::SeriesSummary;
use crate::study::results::series_sums::SeriesSums;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Name and version of the document's schema.
pub const SCHEMA: &str = "subrosa.summary/2";
/// The previous schema, which can still be read: its `seconds_per_round` are means without standard errors.
const PREVIOUS_SCHEMA: &str = "subrosa.summary/1";

/// A whole run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Summary {
    /// Name and version of the schema, [`SCHEMA`].
    pub schema: String,
    /// Name of the scenario.
    pub scenario: String,
    /// The author's description of the scenario.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// The run folder.
    pub run: String,
    /// The seed of the first cell.
    pub seed: u64,
    /// Hash of the digests of all series in all replications; it changes if any event does.
    pub digest: String,
    /// Whether every replication has a record.
    pub complete: bool,
    /// The cells in order.
    pub cells: Vec<CellSummary>,
    /// The privacy losses of all runs of each series together, and of all series together, if runs use the same data.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub whole_study: Vec<StudyPrivacy>,
}

/// One cell of the study.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CellSummary {
    /// The value of each `Each`, by its name.
    pub point: serde_json::Map<String, serde_json::Value>,
    /// The unit of regret, in words; empty where nothing is optimised.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub regret_unit: String,
    /// The series in the scenario's order.
    pub series: Vec<SeriesSummary>,
    /// Privacy losses, by series, owner of the data, unit of protection, observer and neighbouring relation.
    pub privacy: Vec<PrivacyRow>,
    /// For each entry of `privacy`, by round, the largest epsilon by the tight accountant that any unit has in any run from
    /// all releases up to the round, or an upper bound on this epsilon. Only some rounds are listed. The epsilon is 0 before
    /// the first listed round; for a round between two listed rounds, the epsilon of the later one is an upper bound. If
    /// releases are about different units, every listed round has the epsilon of the whole run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub privacy_by_round: Vec<Vec<EpsilonAt>>,
    /// Privacy losses about persons who contribute a row and an outcome, if there are releases about both: the sums of the
    /// two losses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub persons: Vec<PersonLoss>,
    /// Mean differences of each series from the series that the scenario names for comparison, in the same replications.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<DifferenceRow>,
    /// Numbers from papers beside the measured ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<PublishedRow>,
    /// Privacy losses from papers beside those of the accountants.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published_losses: Vec<PublishedLossRow>,
}

impl Summary {
    /// The loss over all runs of the series of `row`, to the observer of `row`. If `person` is false, it is the loss about
    /// the unit of `row` under the neighbouring relation of `row`. If `person` is true, it is the largest loss about a
    /// person. `None` if there is no such loss, for example because runs use different data.
    #[must_use]
    pub fn over_all_runs(&self, row: &PrivacyRow, person: bool) -> Option<&StudyPrivacy> {
        let wanted = |of: &&StudyPrivacy| {
            !of.all_series
                && of.person == person
                && (&of.series, &of.protected, &of.observer) == (&row.series, &row.protected, &row.observer)
                && (person || (of.unit, &of.neighbours) == (row.unit, &row.neighbours))
        };
        let rows = self.whole_study.iter().filter(wanted);
        rows.max_by(|a, b| a.epsilon_tight.total_cmp(&b.epsilon_tight))
    }

    /// The summary of the records of a plan.
    #[must_use]
    pub fn of(plan: &Plan, folder: &RunFolder, records: &[BTreeMap<u64, ReplicationRecord>]) -> Self {
        let mut summarising = SummaryBuilder::new(plan);
        for records in records {
            summarising.add(records);
        }
        summarising.finish(folder)
    }

    /// The series, cell by cell, that reached their privacy budget where this counts as a failure, each with the message
    /// about the budget.
    pub fn spent_budgets(&self) -> impl Iterator<Item = (&str, &str)> {
        let failed = self.cells.iter().flat_map(|cell| &cell.series).filter(|series| series.budget_failed);
        failed.filter_map(|series| Some((series.name.as_str(), series.budget.as_deref()?)))
    }
}

/// Builds a summary cell by cell, from two passes over the records of each cell. Only a few records at a time need to be in
/// memory.
#[derive(Debug)]
pub(in crate::study) struct SummaryBuilder<'a> {
    plan: &'a Plan,
    cells: Vec<CellSummary>,
    digest: Digest,
    whole: WholeStudy,
    next: NextCell,
    finished: u64,
}

/// The sums over the records of the cell that is being added.
#[derive(Debug, Default)]
struct NextCell {
    privacy: Option<PrivacyRows>,
    series: Vec<SeriesSums>,
    differences: DifferenceSums,
}

/// The privacy losses of one cell.
#[derive(Debug, Default)]
pub(in crate::study) struct CellLosses {
    /// The losses by series, owner of the data, unit of protection, observer and neighbouring relation.
    pub(in crate::study) rows: Vec<PrivacyRow>,
    /// For each entry of `rows`, the epsilon by round.
    pub(in crate::study) by_round: Vec<Vec<EpsilonAt>>,
}

impl<'a> SummaryBuilder<'a> {
    pub(in crate::study) fn new(plan: &'a Plan) -> Self {
        let (cells, whole, next) = (Vec::new(), WholeStudy::default(), NextCell::default());
        Self { plan, cells, digest: Digest::new(), whole, next, finished: 0 }
    }

    /// Adds the records of the next cell.
    pub(in crate::study) fn add(&mut self, records: &BTreeMap<u64, ReplicationRecord>) {
        records.values().for_each(|record| self.add_first(record));
        let losses = self.end_first();
        records.values().for_each(|record| self.add_again(record));
        self.finish_cell(losses);
    }

    /// The first pass: adds the next replication of the cell that is being added, with its digest and its releases.
    pub(in crate::study) fn add_first(&mut self, record: &ReplicationRecord) {
        let cell = &self.plan.cells[self.cells.len()];
        let draft = cell.scenario.draft();
        self.digest.add(record);
        for series in record.series.iter().filter(|series| series.same_data) {
            self.whole.add_run((cell.seed(), record.replication), &series.name, &series.releases);
        }
        let next = &mut self.next;
        let privacy = next.privacy.get_or_insert_with(|| {
            next.series = record.series.iter().map(SeriesSums::of).collect();
            next.differences = DifferenceSums::of(record, &draft.compared_with);
            PrivacyRows::new(draft.privacy.delta)
        });
        privacy.add(record);
        next.add(Pass::Means, record);
        self.finished += 1;
    }

    /// Ends the first pass and returns the privacy losses of the cell.
    pub(in crate::study) fn end_first(&mut self) -> CellLosses {
        self.next.end(Pass::Means);
        let learned = self.next.privacy.take().map_or_else(Vec::new, PrivacyRows::finish);
        let (rows, by_round) = learned.into_iter().unzip();
        CellLosses { rows, by_round }
    }

    /// The second pass: adds a replication again, in the order of the first pass. The replication's releases are not read.
    pub(in crate::study) fn add_again(&mut self, record: &ReplicationRecord) {
        self.next.add(Pass::Errors, record);
    }

    /// Ends the second pass and with it the cell, whose privacy losses are `losses`.
    pub(in crate::study) fn finish_cell(&mut self, losses: CellLosses) {
        let cell = &self.plan.cells[self.cells.len()];
        let draft = cell.scenario.draft();
        let mut next = std::mem::take(&mut self.next);
        next.end(Pass::Errors);
        let mut series: Vec<SeriesSummary> = next.series.into_iter().map(SeriesSums::finish).collect();
        let at_random = draft.protocol.as_dyn().at_random();
        for one in &mut series {
            one.at_random = at_random.contains(&one.name.as_str());
        }
        let CellLosses { rows: privacy, by_round: privacy_by_round } = losses;
        let cell = CellSummary {
            point: point_of(&cell.point),
            regret_unit: draft.objective.as_ref().map_or_else(String::new, |o| o.as_dyn().unit()),
            persons: persons(&privacy),
            differences: next.differences.finish(),
            published: published_rows(&draft.published, &cell.point, &series),
            published_losses: published_losses(&draft.published_losses, &cell.point, &privacy),
            series,
            privacy,
            privacy_by_round,
        };
        self.cells.push(cell);
    }

    /// The summary.
    pub(in crate::study) fn finish(self, folder: &RunFolder) -> Summary {
        let asked = self.plan.cells.iter().find_map(|cell| cell.scenario.draft().privacy.delta);
        // A claim is about one run, so its delta is not used for the whole study.
        let stated = stated(asked, 0.0);
        Summary {
            schema: SCHEMA.to_owned(),
            scenario: self.plan.name.clone(),
            about: self
                .plan
                .cells
                .first()
                .map(|cell| cell.scenario.draft().about.clone())
                .unwrap_or_default(),
            run: folder.path().display().to_string(),
            seed: self.plan.first_seed(),
            digest: self.digest.hex(),
            complete: self.finished == self.plan.total(),
            cells: self.cells,
            whole_study: self.whole.rows(stated),
        }
    }
}

impl NextCell {
    fn add(&mut self, pass: Pass, record: &ReplicationRecord) {
        // All records of a cell have the same series as the first record.
        for (sums, series) in self.series.iter_mut().zip(&record.series) {
            sums.add(pass, series);
        }
        self.differences.add(pass, record);
    }

    fn end(&mut self, pass: Pass) {
        self.series.iter_mut().for_each(|sums| sums.end(pass));
    }
}

/// The point of a cell as a JSON object. A value whose text is also a JSON number, boolean or string becomes this JSON
/// value; any other value is kept as RON text.
pub(in crate::study) fn point_of(point: &[(String, String)]) -> serde_json::Map<String, serde_json::Value> {
    let value = |text: &str| {
        serde_json::from_str::<serde_json::Value>(text)
            .ok()
            .filter(|value| value.is_number() || value.is_boolean() || value.is_string())
            .unwrap_or_else(|| serde_json::Value::String(text.to_owned()))
    };
    point.iter().map(|(name, text)| (name.clone(), value(text))).collect()
}

impl RunFolder {
    /// The stored summary of a run; `None` if none has been written.
    ///
    /// # Errors
    /// [`FolderError`] if the file cannot be read, is damaged, or has a schema other than [`SCHEMA`] and the previous one.
    pub fn summary(&self) -> Result<Option<Summary>, FolderError> {
        let path = self.file("summary.json");
        let Some(text) = files::read_packed_if_there(&path)? else { return Ok(None) };
        let mut summary: Summary = serde_json::from_str(&text).map_err(|error| FolderError::Damaged {
            path: path.clone(),
            reason: format!("{error} (run the same command again to write it again from the records)"),
        })?;
        if summary.schema == PREVIOUS_SCHEMA {
            SCHEMA.clone_into(&mut summary.schema);
        }
        if summary.schema != SCHEMA {
            let reason = format!(
                "its schema is {}, but this program reads {SCHEMA} and {PREVIOUS_SCHEMA}",
                summary.schema
            );
            return Err(FolderError::Damaged { path, reason });
        }
        Ok(Some(summary))
    }
}
