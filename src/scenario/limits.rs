//! Counts that no machine plays to the end: refused before they take all memory.

use super::draft::Draft;
use crate::vocab::Problem;
use serde_json::Value;

/// Most replications of a cell. Results keep some hundred bytes of each, and all records of a cell are read at once.
pub const MOST_REPLICATIONS: u64 = 1_000_000;
/// Most rounds of a replication. Its record keeps tens of bytes of each before the first is played.
pub const MOST_ROUNDS: u64 = 10_000_000;

/// What is too many.
pub(super) fn problems(draft: &Draft) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut look = |path: String, most: u64, found: u64, cure: &str| {
        if found > most {
            problems.push(Problem::wrong(path, format!("at most {most}"), found.to_string(), cure));
        }
    };
    let replications = draft.replications.get();
    look("replications".to_owned(), MOST_REPLICATIONS, replications, "give the others another seed");
    // Every protocol that has rounds calls them so.
    let protocol = serde_json::to_value(&draft.protocol).unwrap_or_default();
    for (path, found) in rounds(&protocol, "protocol") {
        look(path, MOST_ROUNDS, found, "play fewer rounds; more replications tell more");
    }
    problems
}

/// The fields called `rounds` below a value, with their paths.
fn rounds(value: &Value, path: &str) -> Vec<(String, u64)> {
    let mut found = Vec::new();
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let path = format!("{path}.{name}");
                match value.as_u64().filter(|_| name == "rounds") {
                    Some(count) => found.push((path, count)),
                    None => found.extend(rounds(value, &path)),
                }
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                found.extend(rounds(item, &format!("{path}[{index}]")));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    found
}
