//! What of a scenario a program answers for: how long it may take changes no answer.

use serde_json::Value;

/// The name that scenarios have for a program, as learner, as objective and as outcomes' mechanism.
pub const EXTERNAL: &str = "External";

/// The scenario without the timeouts of programs, which change no answer.
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
