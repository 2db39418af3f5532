//! Forks: which differences between a branch and the scenario are permitted.

use super::checked::Scenario;
use super::draft::Draft;
use crate::network::Encryption;
use serde_json::Value;
use std::collections::BTreeSet;

/// Patterns of the paths that a branch may change in every protocol: `*` matches one step, and `**` matches all further
/// steps, or none.
const CHANGEABLE: &[&str] =
    &["network.**", "parties.*.availability.**", "parties.*.compute.**", "parties.*.access.**"];

/// Patterns of the paths that a branch of this scenario may change.
#[must_use]
pub fn changeable(base: &Draft) -> Vec<String> {
    let name = base.protocol.name();
    let own = base.protocol.as_dyn().changeable().iter().map(|path| format!("protocol.{name}.{path}"));
    CHANGEABLE.iter().map(|&path| path.to_owned()).chain(own).collect()
}

/// The paths at which a branch differs from the scenario although a branch must not change them.
#[must_use]
pub fn settled(base: &Draft, branch: &Draft) -> Vec<String> {
    let plain = |draft: &Draft| {
        let draft = Draft { fork: None, ..draft.clone() };
        serde_json::to_value(&draft).expect("a draft is plain data with text keys")
    };
    let mut paths = Vec::new();
    differences(&plain(base), &plain(branch), &mut Vec::new(), &mut paths);
    let allowed = changeable(base);
    paths.retain(|path| !allowed.iter().any(|pattern| matches(pattern, path)));
    paths.iter().map(|path| path.join(".")).collect()
}

/// Fields of protocols that say when a request is repeated, after how many users without an answer a series ends, and when
/// an answer is sent; no theorem on regret depends on these fields.
const TIMES: [&str; 3] = ["retry", "give_up_after", "answer_after"];

/// The names of the series for which no theorem on regret holds over the whole run of a branch. These are the series for
/// which the branch changes a setting that theorems depend on, such as the learner, the weights, who takes part, or the
/// noise. Every setting in the protocol's recipe counts as such a setting, except the recipe's outermost fields `retry`,
/// `give_up_after` and `answer_after`. A setting outside of the list `series` concerns all series.
#[must_use]
pub fn changed_series(base: &Draft, branch: &Draft) -> BTreeSet<String> {
    let plain = |draft: &Draft| {
        serde_json::to_value(&draft.protocol).expect("a protocol is plain data with text keys")
    };
    let mut paths = Vec::new();
    differences(&plain(base), &plain(branch), &mut Vec::new(), &mut paths);
    let names = base.protocol.as_dyn().series();
    let mut changed = BTreeSet::new();
    // A path begins with the protocol's name.
    for path in paths {
        let mut steps = path.iter().skip(1).map(String::as_str);
        match (steps.next(), steps.next().and_then(|index| index.parse::<usize>().ok())) {
            (Some("series"), Some(index)) => changed.extend(names.get(index).cloned()),
            (Some(field), _) if TIMES.contains(&field) => {}
            _ => changed.extend(names.iter().cloned()),
        }
    }
    changed
}

/// The error, in words (path, expected, found and help), if a branch changes which parties can read which messages. Ledger
/// entries from before the fork name the parties that could read messages before the fork, so the same parties must be able
/// to read messages in every branch. The encryption is compared. If relays read messages, or learn protected data even from
/// encrypted messages, the routes of messages are compared too.
#[must_use]
pub fn other_readers(base: &Scenario, branch: &Scenario) -> Option<String> {
    let (before, after) = (base.network(), branch.network());
    if before.encryption != after.encryption {
        return Some(format!(
            "network.encryption: expected {:?} as before the fork, found {:?}: the parties that can read a message from before \
             the fork must be those that the ledger names\n  help: change it for all branches, in the scenario, or compare two runs \
             (subrosa compare)",
            before.encryption, after.encryption
        ));
    }
    let tells = |scenario: &Scenario| scenario.draft().protocol.as_dyn().relays_learn_protected_data();
    let why = match after.encryption {
        Encryption::None => "relays read the messages that they relay (encryption: None)",
        Encryption::EndToEnd if tells(base) || tells(branch) => {
            "relays see who answers, who is selected or how many settings are tried, which depends on protected data \
             (never_answer, silence, a selection by loss, AboveThreshold)"
        }
        Encryption::EndToEnd => return None,
    };
    let stage = base.stage(None);
    if before.same_routes(after, &stage.names, &stage.traits) {
        return None;
    }
    let path = if before.topology != after.topology {
        "network.topology"
    } else if before.links != after.links {
        "network.links"
    } else {
        "network.default.latency"
    };
    Some(format!(
        "{path}: expected messages on the same routes as before the fork, found a change by which messages may pass \
         other parties; {why}\n  help: leave the routes as they are, or compare two runs (subrosa compare)"
    ))
}

/// The error, in words (path, expected, found and help), if a branch lets a party learn more about protected data of a
/// series than before the fork. A branch does so if one of its settings lets the party learn protected data of the series,
/// and before the fork no setting lets the party learn protected data of this series.
#[must_use]
pub fn new_observers(base: &Draft, branch: &Draft) -> Option<String> {
    let before = base.protocol.as_dyn().learn_by_settings();
    let names = branch.protocol.as_dyn().series();
    let after = branch.protocol.as_dyn().learn_by_settings();
    let (series, party, setting) = after.into_iter().find(|(series, party, _)| {
        !before.iter().any(|(before, same, _)| (before, same) == (series, party))
    })?;
    let index = names.iter().position(|name| *name == series).unwrap_or_default();
    Some(format!(
        "protocol.series[{index}].{setting}: expected a setting with which {party} learns no more about protected data of series \
         \"{series}\" than before the fork, found one with which it does: the ledger has no entries for {party} about the data from \
         before the fork\n  help: change it for all branches, in the scenario, or compare two runs (subrosa compare)"
    ))
}

fn differences(a: &Value, b: &Value, here: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
    let mut descend = |step: String, a: &Value, b: &Value| {
        here.push(step);
        differences(a, b, here, found);
        here.pop();
    };
    match (a, b) {
        _ if a == b => {}
        (Value::Object(x), Value::Object(y)) if !(x.len() == 1 && y.len() == 1 && x.keys().ne(y.keys())) => {
            let mut keys: Vec<&String> = x.keys().chain(y.keys()).collect();
            keys.sort_unstable();
            keys.dedup();
            for key in keys {
                descend(key.clone(), x.get(key).unwrap_or(&Value::Null), y.get(key).unwrap_or(&Value::Null));
            }
        }
        (Value::Array(x), Value::Array(y)) if x.len() == y.len() => {
            for (index, (a, b)) in x.iter().zip(y).enumerate() {
                descend(index.to_string(), a, b);
            }
        }
        _ => found.push(here.clone()),
    }
}

fn matches(pattern: &str, path: &[String]) -> bool {
    let mut path = path.iter();
    for step in pattern.split('.') {
        match (step, path.next()) {
            ("**", _) => return true,
            (_, None) => return false,
            ("*", Some(_)) => {}
            (step, Some(found)) if step == found => {}
            (_, Some(_)) => return false,
        }
    }
    path.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_one_step_or_all_further_steps() {
        let path = |text: &str| text.split('.').map(str::to_owned).collect::<Vec<_>>();
        assert!(matches("network.**", &path("network")));
        assert!(matches("network.**", &path("network.default.loss.Independent")));
        assert!(matches("parties.*.compute.**", &path("parties.old.compute")));
        assert!(!matches("parties.*.compute.**", &path("parties.old.count")));
        assert!(matches("series.*.policy.**", &path("series.3.policy.All.patience")));
        assert!(!matches("scale", &path("scale.more")));
        assert!(!matches("series.*.policy", &path("series.3")));
    }

    #[test]
    fn differences_are_found_at_their_paths() {
        let a = serde_json::json!({ "x": [1, 2], "y": { "A": { "p": 1 } }, "z": 1 });
        let b = serde_json::json!({ "x": [1, 3], "y": { "B": { "p": 1 } } });
        let mut found = Vec::new();
        differences(&a, &b, &mut Vec::new(), &mut found);
        let found: Vec<String> = found.iter().map(|path| path.join(".")).collect();
        assert_eq!(found, ["x.1", "y", "z"]);
    }
}
