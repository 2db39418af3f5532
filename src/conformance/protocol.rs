//! Conformance tests of protocols: replications are reproducible, also on several threads, and releases are about the
//! units that the protocol states.

use super::{Violation, Violations, key};
use crate::protocols::{Protocol, ReplicationError, ReplicationSetup, SeriesRecord};
use crate::rng::Key;
use std::collections::BTreeSet;
use std::thread;

/// One replication's records as text, with all digests and numbers.
fn text(records: &[SeriesRecord]) -> String {
    serde_json::to_string(records).unwrap_or_default()
}

/// Checks the rules of protocols:
///
/// * The recipe has no problems with what `stage` makes.
/// * A replication that is run again has bit-identical records, even if another replication runs at the same time on a
///   second thread.
/// * Another key gives other records, unless no messages were sent.
/// * There is a record for each series, in order, and no two series have the same name.
/// * Outcomes, values and regrets are finite.
/// * Round numbers do not decrease. Simple regrets are 0 or more and do not increase, and cumulative regrets do not
///   decrease.
/// * Releases are about units that the protocol states.
///
/// `stage` makes the parties, the network and, if the protocol needs one, the objective.
///
/// # Errors
/// [`ReplicationError`] if a replication cannot be run.
pub fn protocol(
    recipe: &dyn Protocol,
    stage: &(dyn Fn() -> ReplicationSetup + Sync),
) -> Result<Vec<Violation>, ReplicationError> {
    let mut found = Violations::default();
    let problems = recipe.problems(&stage());
    found.require(problems.is_empty(), "a recipe without problems", || format!("{problems:?}"));
    let (own, other) = (key("protocol").child("own"), key("protocol").child("other"));
    let records = recipe.play(&stage(), own)?;
    let names = recipe.series();
    let played: Vec<&str> = records.iter().map(|record| record.name.as_str()).collect();
    found.require(names == played, "a record for each series, in order", || {
        format!("{played:?} for {names:?}")
    });
    let different: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    found
        .require(different.len() == names.len(), "a different name for each series", || format!("{names:?}"));

    let expected = text(&records);
    let again = text(&recipe.play(&stage(), own)?);
    found.require(again == expected, "the same records for the same key", || difference(&expected, &again));
    let beside = thread::scope(|threads| {
        // The replication setup that `stage` returns cannot be sent between threads, so each thread makes its own and
        // returns text.
        let play = |key: Key| {
            move || {
                let played = recipe.play(&stage(), key);
                played.map_or_else(|error| error.to_string(), |records| text(&records))
            }
        };
        let both = [threads.spawn(play(own)), threads.spawn(play(other))];
        both.map(|one| one.join().unwrap_or_else(|_| "a panic".to_owned()))
    });
    let [same, another] = beside;
    found.require(same == expected, "the same records on two threads at once", || {
        difference(&expected, &same)
    });
    let sent = records.iter().any(|record| record.messages > 0);
    found.require(!sent || another != expected, "other draws for another key", || "the same".to_owned());

    let units = recipe.units();
    for record in &records {
        for entry in &record.releases {
            let unit = entry.event.unit;
            found.require(units.contains(&unit), "releases about units that the protocol names", || {
                format!("{unit:?}, of {units:?}")
            });
        }
        numbers(&mut found, record);
    }
    Ok(found.0)
}

/// Checks the rounds of one series.
fn numbers(found: &mut Violations, record: &SeriesRecord) {
    let (mut last, mut simple, mut cumulative) = (0, f64::INFINITY, 0.0);
    for iteration in &record.iterations {
        let words = || format!("{iteration:?}");
        found.require(iteration.t >= last, "round numbers that do not decrease", words);
        let numbers =
            [iteration.outcome, iteration.value, iteration.simple_regret, iteration.cumulative_regret];
        found.require(numbers.iter().all(|number| number.is_finite()), "finite numbers", words);
        let falls = (-1e-9..=simple + 1e-9).contains(&iteration.simple_regret);
        found.require(falls, "simple regrets of 0 or more that do not rise", words);
        let rises = iteration.cumulative_regret >= cumulative - 1e-9;
        found.require(rises, "cumulative regrets that do not fall", words);
        (last, simple, cumulative) = (iteration.t, iteration.simple_regret, iteration.cumulative_regret);
    }
}

/// The surroundings of the first difference between two texts.
fn difference(expected: &str, found: &str) -> String {
    let place = expected.chars().zip(found.chars()).take_while(|(a, b)| a == b).count();
    let around = |text: &str| text.chars().skip(place.saturating_sub(40)).take(80).collect::<String>();
    format!("..{}.. where it was ..{}..", around(found), around(expected))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names of parties and series may have letters of several bytes.
    #[test]
    fn differences_are_found_among_letters_of_several_bytes() {
        let before = "\u{e9}".repeat(200);
        let text = difference(&format!("{before}1"), &format!("{before}2"));
        assert!(text.contains("2..") && text.contains("1.."), "{text}");
    }
}
