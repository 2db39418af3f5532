//! Decides whether two cells can be compared: they must have the same protocol, and the same objective with equal values of
//! certain fields.

use crate::scenario::Draft;
use crate::study::disk::error::FolderError;
use crate::study::results::group_metric::GroupError;
use serde_json::Value;
use std::collections::BTreeMap;
use thiserror::Error;

/// Why two runs cannot be compared.
#[derive(Debug, Error)]
pub enum CompareError {
    /// Records cannot be read.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The runs do not have the requested group, or the group does not have the requested regret.
    #[error(transparent)]
    Group(#[from] GroupError),
    /// The objectives differ, or the units of their regrets differ.
    #[error(
        "expected two runs of one objective, found {a} in the first and {b} in the second: a difference of their regrets \
         means nothing (give both runs the same {field}, or compare two series of one run: `subrosa compare RUN RUN \
         --series-a NAME --series-b NAME`)"
    )]
    Objectives {
        /// The objective of the first run, in words.
        a: String,
        /// The objective of the second run, in words.
        b: String,
        /// The field of the scenario that differs.
        field: String,
    },
    /// The protocols differ, so that rounds, queries and messages are counted differently.
    #[error(
        "expected two runs of one protocol, found {a} in the first and {b} in the second: they count rounds, \
         queries and messages differently (run both by the same protocol, or compare two series of one run: \
         `subrosa compare RUN RUN --series-a NAME --series-b NAME`)"
    )]
    Protocols {
        /// The protocol of the first run.
        a: String,
        /// The protocol of the second run.
        b: String,
    },
}

/// Fields of objectives that must be the same in two compared cells, because they determine which function is optimised, or
/// the unit of its values. A difference in another field is only noted.
const MUST_BE_EQUAL: [&str; 13] = [
    "function",
    "dimensions",
    "file",
    "training",
    "command",
    "axes",
    "inputs",
    "output",
    "transform",
    "goal",
    "output_scale",
    "model",
    "loss",
];

/// The name that stands for the objective of a scenario without one.
const NO_OBJECTIVE: &str = "no objective";

/// The objective and the protocol of one cell.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::study) struct ComparedCell {
    /// The name and the fields of the objective.
    objective: (String, BTreeMap<String, Value>),
    /// The name of the protocol, and its number of rounds if it has one.
    protocol: (String, Option<u64>),
}

impl ComparedCell {
    pub(in crate::study) fn of(draft: &Draft) -> Self {
        let (objective, fields) = named(serde_json::to_value(&draft.objective).ok());
        let (protocol, settings) = named(serde_json::to_value(&draft.protocol).ok());
        let rounds = settings.get("rounds").and_then(Value::as_u64);
        Self { objective: (objective, fields), protocol: (protocol, rounds) }
    }

    /// The reason why two cells cannot be compared; `None` if they can.
    pub(in crate::study) fn differs(&self, other: &Self) -> Option<CompareError> {
        if self.protocol.0 != other.protocol.0 {
            let (a, b) = (self.protocol.0.clone(), other.protocol.0.clone());
            return Some(CompareError::Protocols { a, b });
        }
        let ((a, of_a), (b, of_b)) = (&self.objective, &other.objective);
        if a != b {
            let field = "objective".to_owned();
            return Some(CompareError::Objectives { a: a.clone(), b: b.clone(), field });
        }
        let field = MUST_BE_EQUAL.iter().find(|field| of_a.get(**field) != of_b.get(**field))?;
        let words = |fields: &BTreeMap<String, Value>| {
            let value = fields.get(*field).map_or_else(|| "none".to_owned(), Value::to_string);
            format!("{a} with {field} {value}")
        };
        Some(CompareError::Objectives { a: words(of_a), b: words(of_b), field: format!("objective.{field}") })
    }

    /// Notes on other differences that regret depends on: other fields of the objective, and the number of rounds.
    pub(in crate::study) fn notes(&self, other: &Self) -> Vec<String> {
        let (of_a, of_b) = (&self.objective.1, &other.objective.1);
        let mut names: Vec<&String> = of_a.keys().chain(of_b.keys()).collect();
        names.sort();
        names.dedup();
        let words = |value: Option<&Value>| value.map_or_else(|| "absent".to_owned(), Value::to_string);
        let mut notes: Vec<String> = names
            .into_iter()
            .filter(|name| of_a.get(*name) != of_b.get(*name))
            .map(|name| {
                let (a, b) = (words(of_a.get(name)), words(of_b.get(name)));
                format!("the objectives differ in {name}: {a} in the first run, {b} in the second")
            })
            .collect();
        if let (Some(a), Some(b)) = (self.protocol.1, other.protocol.1)
            && a != b
            && self.objective.0 != NO_OBJECTIVE
        {
            notes.push(format!(
                "the first run has {a} rounds, the second {b}: compare regret per question, not cumulative regret"
            ));
        }
        notes
    }
}

/// The name and the fields of a member of a family, given as JSON.
fn named(value: Option<Value>) -> (String, BTreeMap<String, Value>) {
    match value {
        Some(Value::Object(member)) => match member.into_iter().next() {
            Some((name, Value::Object(fields))) => (name, fields.into_iter().collect()),
            Some((name, _)) => (name, BTreeMap::new()),
            None => (NO_OBJECTIVE.to_owned(), BTreeMap::new()),
        },
        Some(Value::String(name)) => (name, BTreeMap::new()),
        _ => (NO_OBJECTIVE.to_owned(), BTreeMap::new()),
    }
}
