//! Reads a file into the records of each agent, split into training and held-out records.

use crate::objectives::Resources;
use crate::objectives::split::{self, Held, Split};
use crate::objectives::table::{CsvTable, TableError};
use crate::rng::Key;
use crate::vocab::Probability;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Which records are held out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum HeldOut {
    /// Of each agent's records of each class, the last ones in the file. This suits files whose records are in order of
    /// time: if the records of a class are consecutive windows of one recording, two neighbouring windows are both for
    /// training or both held out, except where the training windows end and the held-out windows begin.
    ///
    /// Example: `LastOfEachClass(share: 0.5)`.
    LastOfEachClass {
        /// Share of the records of each class that is held out; the number of training records is rounded.
        share: Probability,
    },
    /// The records that a second file marks; all other records are for training.
    ///
    /// Example: `Column(file: "split.csv", agent: "subject", row: "row", column: "part", value: "held out")`.
    Column {
        /// The file, relative to the scenario's own folder or to the folder of `--data`.
        file: PathBuf,
        /// The column with the agent's name: the values of the agent columns of the first file (the file with the
        /// records), joined by `/`. If the first file has several agent columns, each `/` within a value is written
        /// twice, and a value that is empty, ends with `/`, or begins with `/` or `"` is put in double quotes. Every
        /// agent that this column names must occur in the first file.
        agent: String,
        /// The column with the record's number among the agent's records, from 0, in the order of the first file.
        row: String,
        /// The column that marks the records that are held out.
        column: String,
        /// The value in that column for a record that is held out.
        value: String,
    },
}

impl Default for HeldOut {
    fn default() -> Self {
        Self::LastOfEachClass { share: Probability::new(0.5).expect("0.5 is a probability") }
    }
}

/// The records of one agent.
#[derive(Clone, Debug)]
pub(super) struct AgentRecords {
    /// Values of the agent columns, joined by `/`; "agent 1" and so on for agents drawn by `split`.
    pub(super) name: String,
    /// Number of features.
    pub(super) d: usize,
    /// Features as the file has them, plus the feature noise of a `split`, row-major.
    pub(super) features: Vec<f64>,
    /// Class of each record: the index of its label among the classes in alphabetical order.
    pub(super) classes: Vec<usize>,
    /// Whether each record is for training; the others are held out.
    pub(super) training: Vec<bool>,
}

impl AgentRecords {
    /// Features of one record.
    pub(super) fn row(&self, index: usize) -> &[f64] {
        &self.features[index * self.d..][..self.d]
    }

    /// The records in the form from which `Holdings` are computed.
    pub(super) fn held(&self) -> Held<'_> {
        Held { name: &self.name, classes: &self.classes, d: self.d, features: &self.features }
    }

    /// Positions of the training records if `training` is true, else of the held-out records.
    pub(super) fn places(&self, training: bool) -> Vec<usize> {
        (0..self.classes.len()).filter(|&index| self.training[index] == training).collect()
    }
}

/// All agents. Agents that the file names are in the order in which it first names them; agents that `split` draws are in
/// the order of the splits.
#[derive(Clone, Debug)]
pub(super) struct Agents {
    pub(super) agents: Vec<AgentRecords>,
    /// The classes, in alphabetical order.
    pub(super) classes: Vec<String>,
}

/// The roles of the columns of a file.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Columns<'a> {
    /// Columns whose values together identify an agent.
    pub(super) agent: &'a [String],
    /// Features.
    pub(super) inputs: &'a [String],
    /// The class.
    pub(super) label: &'a str,
    /// The stated classes; if empty, the classes are those that occur in the file.
    pub(super) classes: &'a [String],
}

/// Reads the records of all agents from `file`. If `held_out` names a second file, reads from it which records are held out.
pub(super) fn read(
    file: &Path,
    columns: Columns<'_>,
    held_out: &HeldOut,
    resources: &Resources,
) -> Result<Agents, TableError> {
    let table = CsvTable::read(file)?;
    let named: Vec<Vec<&str>> =
        columns.agent.iter().map(|column| table.texts(column)).collect::<Result<_, _>>()?;
    let labels = table.texts(columns.label)?;
    let features_of: Vec<Vec<f64>> =
        columns.inputs.iter().map(|column| table.numbers(column)).collect::<Result<_, _>>()?;
    let mut kinds: Vec<&str> = match columns.classes {
        [] => labels.clone(),
        stated => stated.iter().map(String::as_str).collect(),
    };
    kinds.sort_unstable();
    kinds.dedup();
    if let Some(line) = labels.iter().position(|label| kinds.binary_search(label).is_err()) {
        return Err(table.wrong(columns.label, line, &format!("one of `classes` ({})", kinds.join(", "))));
    }
    let d = columns.inputs.len();
    let features = |row: usize| features_of.iter().map(move |column| column[row]);
    let class = |row: usize| kinds.binary_search(&labels[row]).unwrap_or(0);
    let holders = split::by_columns(&named, table.len());
    let places: BTreeMap<String, usize> =
        holders.iter().enumerate().map(|(place, holder)| (holder.name.clone(), place)).collect();
    let of = |holder: split::Holder| AgentRecords {
        name: holder.name,
        d,
        features: holder.rows.iter().flat_map(|&row| features(row)).collect(),
        classes: holder.rows.iter().map(|&row| class(row)).collect(),
        training: Vec::new(),
    };
    let mut agents: Vec<AgentRecords> = holders.into_iter().map(of).collect();
    match held_out {
        HeldOut::LastOfEachClass { share } => {
            for agent in &mut agents {
                agent.training = first_of_each_class(&agent.classes, kinds.len(), 1.0 - share.get());
            }
        }
        HeldOut::Column { file, agent, row, column, value } => {
            let split = CsvTable::read(&resources.place(file))?;
            let (whose, which, side) = (split.texts(agent)?, split.numbers(row)?, split.texts(column)?);
            for known in &mut agents {
                known.training = vec![true; known.classes.len()];
            }
            for (line, ((name, index), side)) in whose.into_iter().zip(which).zip(side).enumerate() {
                let Some(&place) = places.get(name) else {
                    return Err(split.wrong(agent, line, "an agent of the file with the records"));
                };
                let training = &mut agents[place].training;
                if index < 0.0 || index.fract() != 0.0 || index >= training.len() as f64 {
                    let last = training.len() - 1;
                    let expected = format!("a whole number from 0 to {last}, the agent's last record");
                    return Err(split.wrong(row, line, &expected));
                }
                training[index as usize] = side != value;
            }
        }
    }
    Ok(Agents { agents, classes: kinds.into_iter().map(str::to_owned).collect() })
}

/// Divides the records of `read`, which come from a file, among the agents of the splits; without splits, returns `read`
/// unchanged. Of each agent's records of each class, the last are held out, in the proportion `share`. An agent without a
/// training record, or without a held-out record, then gets one: its first record becomes a training record, or its last
/// record is held out.
pub(super) fn divided(
    read: Agents,
    (splits, inputs): (&[Split], &[String]),
    share: Probability,
    key: &Key,
) -> Agents {
    let Some(all) = read.agents.first().filter(|_| !splits.is_empty()) else { return read };
    let of = |held: split::Share| {
        let classes: Vec<usize> = held.holder.rows.iter().map(|&row| all.classes[row]).collect();
        let mut training = first_of_each_class(&classes, read.classes.len(), 1.0 - share.get());
        let sides = [true, false].map(|side| training.contains(&side));
        let place = match sides {
            [true, false] => training.last_mut(),
            [false, true] => training.first_mut(),
            _ => None,
        };
        place.into_iter().for_each(|training| *training = !*training);
        AgentRecords { name: held.holder.name, d: all.d, features: held.features, classes, training }
    };
    let agents = split::divided(&all.held(), read.classes.len(), (splits, inputs), key);
    Agents { agents: agents.into_iter().map(of).collect(), classes: read.classes }
}

/// Takes the first records of each class, in the proportion `share`; their number is rounded. Returns for each record
/// whether it is taken.
pub(super) fn first_of_each_class(classes: &[usize], kinds: usize, share: f64) -> Vec<bool> {
    let mut count = vec![0u64; kinds];
    classes.iter().for_each(|&class| count[class] += 1);
    let mut seen = vec![0u64; kinds];
    classes
        .iter()
        .map(|&class| {
            seen[class] += 1;
            seen[class] as f64 <= (share * count[class] as f64).round()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_later_records_of_each_class_are_held_out() {
        let classes = [0, 1, 0, 0, 1, 0, 1];
        let training = first_of_each_class(&classes, 2, 0.5);
        // Training has the first two of four records of class 0, and two of three of class 1, since 1.5 rounds to 2.
        assert_eq!(training, [true, true, true, false, true, false, false]);
    }
}
