//! The programs that a scenario names. They are found in the scenario as plain data, in whatever field they are, so that a
//! protocol does not have to list its own.

use super::program::Program;
use serde_json::Value;

/// The name that scenarios have for a program, as learner and as objective.
const NAME: &str = "External";

/// Every program in a scenario, with its place (`protocol.Outsourced.series[0].learner.External`).
#[must_use]
pub fn named(scenario: &Value) -> Vec<(String, Program)> {
    let mut found = Vec::new();
    look(scenario, "", &mut found);
    found
}

fn look(value: &Value, path: &str, found: &mut Vec<(String, Program)>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let below = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                if name == NAME
                    && value.get("command").is_some()
                    && let Ok(program) = serde_json::from_value(value.clone())
                {
                    found.push((below.clone(), program));
                }
                look(value, &below, found);
            }
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| look(item, &format!("{path}[{index}]"), found));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The scenario without the timeouts of programs, which change no answer.
#[must_use]
pub fn without_timeouts(mut scenario: Value) -> Value {
    strip(&mut scenario);
    scenario
}

fn strip(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            if let Some(Value::Object(program)) = fields.get_mut(NAME)
                && program.contains_key("command")
            {
                program.shift_remove("timeout");
            }
            fields.values_mut().for_each(strip);
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
