//! The programs of a user's own that a scenario asks. Members say which they ask; they are found wherever in the scenario they
//! stand, so that a protocol does not have to list the learners that it holds.

use super::draft::Draft;
use crate::learners::LearnerModel;
use crate::objectives::ObjectiveModel;
use crate::privacy::mechanisms::OutcomeRelease;
use crate::programs::{EXTERNAL, Program, Starts};
use crate::protocols::ProtocolModel;
use crate::protocols::release::PublicationModel;
use crate::vocab::family::{Family, Members};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// The field of the objective.
const OBJECTIVE: &str = "objective";
/// Parts of a scenario whose members ask no program.
const SILENT: [&str; 3] = ["parties", "network", "published"];

/// Reads a member of a family from a name and its fields, and says which programs it asks; none if it is no such member.
type Ask = fn(&str, &Value) -> Vec<Program>;

/// A family whose members may ask programs, and the names of those that may.
struct Asking {
    names: Vec<&'static str>,
    ask: Ask,
}

fn member<M: DeserializeOwned>(name: &str, fields: &Value) -> Option<M> {
    serde_json::from_value(Value::Object(Map::from_iter([(name.to_owned(), fields.clone())]))).ok()
}

/// The library's own that ask a program are called `EXTERNAL`; of the members of a program's own any may.
fn names<M: Family>() -> Vec<&'static str> {
    let members = Members::<M>::installed();
    let standard = members.names().iter().copied().filter(|name| *name == EXTERNAL);
    standard.chain(members.own().map(|(name, _)| name)).collect()
}

macro_rules! families {
    ($($family:ident),+) => {
        [$(Asking {
            names: names::<$family>(),
            ask: |name, fields| {
                member::<$family>(name, fields).map_or_else(Vec::new, |found| found.as_dyn().programs())
            },
        }),+]
    };
}

fn asking() -> [Asking; 5] {
    families!(ObjectiveModel, LearnerModel, OutcomeRelease, PublicationModel, ProtocolModel)
}

/// Every program that a scenario or a part of one asks, with the place of the member that does
/// (`protocol.Outsourced.series[0].learner.External`).
#[must_use]
pub fn programs_in(scenario: &Value) -> Vec<(String, Program)> {
    let mut found = Vec::new();
    look(scenario, "", &asking(), &mut found);
    found
}

/// The same of JSON text, which is read only where it names such a member: most scenarios do not, and a study may have many cells.
#[must_use]
pub fn programs_in_text(text: &str) -> Vec<(String, Program)> {
    let named = |name: &&str| text.contains(&format!("\"{name}\":"));
    if !asking().iter().any(|family| family.names.iter().any(named)) {
        return Vec::new();
    }
    serde_json::from_str(text).map(|value| programs_in(&value)).unwrap_or_default()
}

fn look(value: &Value, path: &str, families: &[Asking], found: &mut Vec<(String, Program)>) {
    match value {
        Value::Object(fields) => {
            let fields =
                fields.iter().filter(|(name, _)| !path.is_empty() || !SILENT.contains(&name.as_str()));
            for (name, value) in fields {
                let below = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                for family in families.iter().filter(|family| family.names.contains(&name.as_str())) {
                    for program in (family.ask)(name, value) {
                        let program = (below.clone(), program);
                        if !found.contains(&program) {
                            found.push(program);
                        }
                    }
                }
                look(value, &below, families, found);
            }
        }
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items.for_each(|(index, item)| look(item, &format!("{path}[{index}]"), families, found));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

impl Draft {
    /// Whether the member at a place is asked when the scenario is used in this way.
    pub(super) fn asks(&self, path: &str, starts: Starts) -> bool {
        let objective = path.split('.').next() == Some(OBJECTIVE);
        match starts {
            Starts::ToPlay => true,
            Starts::ToSend => objective && self.protocol.as_dyn().dry_needs_objective(),
            Starts::ToAudit => objective,
        }
    }
}
