//! The external programs that a scenario names. Each member of a family reports the programs that the member uses. A search
//! through the whole scenario finds the members that use programs, so a protocol does not have to report the programs of
//! its learners.

use super::draft::Draft;
use crate::learners::LearnerModel;
use crate::objectives::{ObjectiveModel, Resources};
use crate::privacy::mechanisms::OutcomeRelease;
use crate::programs::{EXTERNAL, Program, ProgramUse};
use crate::protocols::ProtocolModel;
use crate::protocols::release::PublicationModel;
use crate::vocab::Problem;
use crate::vocab::family::{Family, Members};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// The name of the field that holds the objective.
const OBJECTIVE: &str = "objective";
/// Top-level fields of a scenario whose values use no program.
const WITHOUT_PROGRAMS: [&str; 3] = ["parties", "network", "published"];

/// Reads a member of a family from its name and fields, and returns the programs that the member uses. The result is empty
/// if the member cannot be read.
type Ask = fn(&str, &Value) -> Vec<Program>;

/// A family with the names of its members that may use programs.
struct ProgramFamily {
    names: Vec<&'static str>,
    ask: Ask,
}

/// All families whose members may use programs. No member can be added after a process has read its
/// first scenario.
static ASKING: LazyLock<[ProgramFamily; 5]> = LazyLock::new(asking);

/// The names of the members in `ASKING`, each once, as they are written as keys in compact JSON.
static KEYS: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    ASKING.iter().flat_map(|family| &family.names).map(|name| format!("\"{name}\":")).collect()
});

fn member<M: DeserializeOwned>(name: &str, fields: &Value) -> Option<M> {
    serde_json::from_value(Value::Object(Map::from_iter([(name.to_owned(), fields.clone())]))).ok()
}

/// The names of a family's members that may use programs: `EXTERNAL`, and every member that is not from the library.
fn names<M: Family>() -> Vec<&'static str> {
    let members = Members::<M>::installed();
    let standard = members.names().iter().copied().filter(|name| *name == EXTERNAL);
    standard.chain(members.own().map(|(name, _)| name)).collect()
}

macro_rules! families {
    ($($family:ident),+) => {
        [$(ProgramFamily {
            names: names::<$family>(),
            ask: |name, fields| {
                member::<$family>(name, fields).map_or_else(Vec::new, |found| found.as_dyn().programs())
            },
        }),+]
    };
}

fn asking() -> [ProgramFamily; 5] {
    families!(ObjectiveModel, LearnerModel, OutcomeRelease, PublicationModel, ProtocolModel)
}

/// Every program that a scenario, or a part of a scenario, uses, with the path of the member that uses it
/// (`protocol.Outsourced.series[0].learner.External`).
#[must_use]
pub fn programs_in(scenario: &Value) -> Vec<(String, Program)> {
    let mut found = Vec::new();
    look(scenario, &mut String::new(), ASKING.as_slice(), &mut found);
    found
}

/// As [`programs_in`], for a scenario that is given as compact JSON text. The text is parsed only if it contains the name of
/// a member that may use a program, since most scenarios use no program and a study may have many cells.
#[must_use]
pub fn programs_in_text(text: &str) -> Vec<(String, Program)> {
    if !KEYS.iter().any(|key| text.contains(key)) {
        return Vec::new();
    }
    serde_json::from_str(text).map(|value| programs_in(&value)).unwrap_or_default()
}

fn look(value: &Value, path: &mut String, families: &[ProgramFamily], found: &mut Vec<(String, Program)>) {
    let length = path.len();
    match value {
        Value::Object(fields) => {
            let whole = path.is_empty();
            for (name, value) in
                fields.iter().filter(|(name, _)| !whole || !WITHOUT_PROGRAMS.contains(&name.as_str()))
            {
                if !whole {
                    path.push('.');
                }
                path.push_str(name);
                for family in families.iter().filter(|family| family.names.contains(&name.as_str())) {
                    for program in (family.ask)(name, value) {
                        let program = (path.clone(), program);
                        if !found.contains(&program) {
                            found.push(program);
                        }
                    }
                }
                look(value, path, families, found);
                path.truncate(length);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                path.push_str(&format!("[{index}]"));
                look(item, path, families, found);
                path.truncate(length);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The problems of programs that would be started but do not exist. A replay needs no programs, since their answers are in
/// the run folder.
pub(super) fn absent_programs(draft: &Draft, plain: &Value, resources: &Resources) -> Vec<Problem> {
    if resources.programs.are_recorded() {
        return Vec::new();
    }
    let below = |(path, program): (String, Program)| {
        let problems = program.absent(&resources.base).into_iter();
        problems.map(move |problem| problem.below(&path)).collect::<Vec<_>>()
    };
    let started =
        programs_in(plain).into_iter().filter(|(path, _)| draft.starts_program(path, resources.starts));
    started.flat_map(below).collect()
}

impl Draft {
    /// Whether the given use of the scenario starts the programs of the member at `path`.
    pub(super) fn starts_program(&self, path: &str, starts: ProgramUse) -> bool {
        let objective = path.split('.').next() == Some(OBJECTIVE);
        match starts {
            ProgramUse::ToPlay => true,
            ProgramUse::ToSend => objective && self.protocol.as_dyn().dry_needs_objective(),
            ProgramUse::ToAudit => objective,
        }
    }
}
