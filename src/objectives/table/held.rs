//! The rows of a table that each agent of a federation holds.

use super::{Raw, Table, TableError};
use crate::objectives::ProblemFacts;
use crate::objectives::split::{self, Held, Holder, Holdings};
use crate::objectives::table::CsvTable;
use crate::rng::Key;
use crate::vocab::Problem;
use std::sync::Arc;

impl Table {
    /// Whether rows belong to agents.
    pub(super) fn is_divided(&self) -> bool {
        !self.agent.is_empty() || !self.split.is_empty()
    }

    /// The agents that the columns `agent` name; an empty list if no such column is stated.
    pub(super) fn named_holders(&self, table: &CsvTable) -> Result<Vec<Holder>, TableError> {
        if self.agent.is_empty() {
            return Ok(Vec::new());
        }
        let columns: Vec<Vec<&str>> =
            self.agent.iter().map(|column| table.texts(column)).collect::<Result<_, _>>()?;
        Ok(split::by_columns(&columns, table.len()))
    }

    /// The agents that the columns `agent` name, or among which `split` divides the rows at random. The classes of `split`
    /// are the four ranges of the output between its quartiles.
    pub(super) fn holders(&self, raw: &Raw, key: &Key) -> Vec<Holder> {
        if self.split.is_empty() {
            return raw.holders.clone();
        }
        let (classes, names) = split::quarters(&raw.values);
        let all = Held { name: "", classes: &classes, d: raw.names.len(), features: &raw.rows };
        let shares = split::divided(&all, names.len(), (&self.split, &raw.names), key);
        shares.into_iter().map(|share| share.holder).collect()
    }

    /// The problem facts `background`, to which four facts are added: the values of each agent, the rows that each agent can
    /// measure, each agent's number of records, and the holdings. If rows do not belong to agents, `background` unchanged.
    pub(super) fn with_agents(
        &self,
        raw: &Raw,
        values: &Arc<Vec<f64>>,
        mut background: ProblemFacts,
    ) -> ProblemFacts {
        if raw.holders.is_empty() {
            return background;
        }
        let d = raw.names.len();
        let has = |holder: &Holder| {
            let mut has = vec![false; values.len()];
            holder.rows.iter().for_each(|&row| has[row] = true);
            Arc::new(has)
        };
        background.points = Some(Arc::new(raw.holders.iter().map(has).collect()));
        background.agents = Some(Arc::new(raw.holders.iter().map(|_| Arc::clone(values)).collect()));
        let (classes, names) = split::quarters(&raw.values);
        let of = |holder: &Holder| -> (Vec<usize>, Vec<f64>) {
            let features = holder.rows.iter().flat_map(|&row| &raw.rows[row * d..][..d]).copied();
            (holder.rows.iter().map(|&row| classes[row]).collect(), features.collect())
        };
        let held: Vec<(Vec<usize>, Vec<f64>)> = raw.holders.iter().map(of).collect();
        let held: Vec<Held<'_>> = raw
            .holders
            .iter()
            .zip(&held)
            .map(|(holder, (classes, features))| Held { name: &holder.name, classes, d, features })
            .collect();
        background.records = Some(Arc::new(split::records_of(&held)));
        background.holdings = Some(Arc::new(Holdings::of(&held, &names.map(str::to_owned))));
        background
    }

    /// What is wrong with `agent` and `split`; `rows` is the number of rows that are used, if the file can be read.
    pub(super) fn holder_problems(&self, rows: Option<usize>) -> Vec<Problem> {
        let mut problems = split::problems(&self.agent, &self.split, &self.input_columns().of_numbers());
        for (index, split) in self.split.iter().enumerate() {
            if split.feature_noise.get() > 0.0 {
                let expected = "0, because the features of a table's rows are used as recorded";
                let found = split.feature_noise.to_string();
                let place = format!("split[{index}].feature_noise");
                problems.push(Problem::wrong(place, expected, found, "leave it out"));
            }
        }
        problems.extend(rows.and_then(|rows| split::too_few(&self.split, rows)));
        problems
    }
}
