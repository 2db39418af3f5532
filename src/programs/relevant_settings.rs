//! The part of a scenario on which a program's answers depend: everything except the timeouts of programs.

use serde_json::Value;

/// The name of the member that stands for a program in the families of learners, objectives and mechanisms for outcomes.
pub const EXTERNAL: &str = "External";

/// The scenario without the timeouts of programs: a timeout changes no answer.
#[must_use]
pub fn without_timeouts(mut scenario: Value) -> Value {
    strip(&mut scenario);
    scenario
}

fn strip(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            if let Some(Value::Object(program)) = fields.get_mut(EXTERNAL)
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
