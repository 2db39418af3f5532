//! Limits on counts, which could exhaust memory, and on the size of numbers, whose squares must be finite. A scenario with a
//! number outside these limits is refused before anything is computed.

use super::draft::{Draft, PartyDraft};
use crate::vocab::Problem;
use serde_json::Value;

/// Largest number of replications of a cell. Results need on the order of 100 bytes per replication, and several
/// commands read all records of a cell at once.
pub(crate) const MAX_REPLICATIONS: u64 = 1_000_000;
/// Largest number of rounds of a replication. A federation allocates tens of bytes per round before the first round.
const MAX_ROUNDS: u64 = 10_000_000;

/// Largest number of parties. Each takes about 1 kB before the first message is sent (docs/performance.md).
const MAX_PARTIES: u64 = 1_000_000;

/// Limits on fields of protocols by field name, at any depth: the largest value, and the help text.
const COUNTS: [(&str, u64, &str); 6] = [
    ("rounds", MAX_ROUNDS, "use fewer rounds; more replications give more information"),
    (
        "initial_points",
        100_000,
        "lower it: a model is fitted to all of them at once; the papers have up to 10",
    ),
    (
        "features",
        4_096,
        "lower it: a matrix of features x features is kept per agent; the papers have up to 200",
    ),
    ("r", 10_000, "lower it: a projection holds r numbers for every candidate; the papers have up to 20"),
    (
        "repetitions",
        10_000,
        "lower it: every arm is tried this many times before the next; the papers have 14",
    ),
    (
        "attempts",
        1_000_000,
        "lower it, or raise the timeout: a request that is sent so often never gets an answer",
    ),
];

/// Largest permitted absolute value of the numbers of an objective and of the length-scales of a protocol. The smallest
/// permitted absolute value other than 0 is the inverse of this limit. Models square distances and divide them by squared
/// length-scales, and squares of numbers above about 1e154 are not finite.
const LARGEST: f64 = 1e100;

/// A problem for each number that is too large or too small. `plain` is the draft as JSON, without the values that were
/// checked with an earlier cell; in lists, `null` stands for these values.
pub(super) fn problems(draft: &Draft, plain: &Value) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut look = |path: String, most: u64, found: u64, cure: &str| {
        if found > most {
            problems.push(Problem::wrong(path, format!("at most {most}"), found.to_string(), cure));
        }
    };
    let replications = draft.replications.get();
    look(
        "replications".to_owned(),
        MAX_REPLICATIONS,
        replications,
        "run the rest as another study with another seed",
    );
    let protocol = &plain["protocol"];
    let mut counts = Vec::new();
    add_counts(protocol, &mut "protocol".to_owned(), &mut counts);
    for (name, most, cure) in COUNTS {
        for (_, path, found) in counts.iter().filter(|(field, _, _)| *field == name) {
            look(path.clone(), most, *found, cure);
        }
    }
    problems.extend(party_count(draft));
    // Of the numbers of a protocol, only length-scales are checked by `size`: epsilons and deltas may be below 1e-100.
    for (path, found) in numbers(&plain["objective"], "objective") {
        problems.extend(size(path, found));
    }
    // Whether a path leads to a length-scale: to a field `length_scale` with one number, or to an item of the list in such
    // a field.
    let is_length =
        |path: &str| path.trim_end_matches(|c: char| "[]0123456789".contains(c)).ends_with("length_scale");
    let lengths = numbers(protocol, "protocol").into_iter().filter(|(path, _)| is_length(path));
    problems.extend(lengths.filter_map(|(path, found)| size(path, found)));
    problems
}

/// The problem of a number whose size is outside the limits.
fn size(path: String, found: f64) -> Option<Problem> {
    let size = found.abs();
    if size == 0.0 || (LARGEST.recip()..=LARGEST).contains(&size) {
        return None;
    }
    Some(Problem::wrong(
        path,
        "0 or a size from 1e-100 to 1e100, since sizes are squared and divided",
        format!("{found:e}"),
        "write it in other units, so that it is closer to 1",
    ))
}

/// All numbers in a value, with their paths; `path` is the path of the value.
fn numbers(value: &Value, path: &str) -> Vec<(String, f64)> {
    match value {
        Value::Number(number) => {
            number.as_f64().map(|number| (path.to_owned(), number)).into_iter().collect()
        }
        Value::Object(fields) => {
            fields.iter().flat_map(|(name, value)| numbers(value, &format!("{path}.{name}"))).collect()
        }
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items.flat_map(|(index, item)| numbers(item, &format!("{path}[{index}]"))).collect()
        }
        Value::Null | Value::Bool(_) | Value::String(_) => Vec::new(),
    }
}

/// The problem of too many parties, reported at the entry with the largest count.
fn party_count(draft: &Draft) -> Option<Problem> {
    let count = |party: &PartyDraft| party.count.map_or(1, |count| u64::from(count.get()));
    let total: u64 = draft.parties.values().map(count).sum();
    if total <= MAX_PARTIES {
        return None;
    }
    let (name, most) = draft.parties.iter().max_by_key(|(_, party)| count(party))?;
    Some(Problem::wrong(
        format!("parties[\"{name}\"].count"),
        format!("at most {MAX_PARTIES} parties in all"),
        format!("{total}, {} of them here", count(most)),
        "lower the count",
    ))
}

/// Adds all counts in a value: all fields that hold a whole number of at least 0. Each count is added with the name and the
/// path of its field; `path` is the path of the value.
fn add_counts<'a>(value: &'a Value, path: &mut String, found: &mut Vec<(&'a str, String, u64)>) {
    let length = path.len();
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                path.push('.');
                path.push_str(name);
                match value.as_u64() {
                    Some(count) => found.push((name, path.clone(), count)),
                    None => add_counts(value, path, found),
                }
                path.truncate(length);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate().filter(|(_, item)| !item.is_null()) {
                path.push_str(&format!("[{index}]"));
                add_counts(item, path, found);
                path.truncate(length);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
