//! Fields that name a device or a pipe as a file.

use crate::objectives::Resources;
use crate::vocab::{Problem, is_device_or_pipe};
use serde_json::Value;
use std::path::Path;

/// The problems of fields (`file` and `training`) that name a device or a pipe as a file. A device or a pipe might never
/// end, and could not be read twice.
pub(super) fn special_files(value: &Value, path: &str, resources: &Resources) -> Vec<Problem> {
    let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match value {
        Value::Object(fields) => {
            let inside = fields.iter().map(|(name, value)| match value.as_str() {
                Some(file) if ["file", "training"].contains(&name.as_str()) => {
                    let place = resources.place(Path::new(file));
                    let found = format!("{}, a device or a pipe", place.display());
                    let problem =
                        Problem::wrong(below(name), "a regular file", found, "write its contents to a file");
                    is_device_or_pipe(&place).then_some(problem).into_iter().collect()
                }
                _ if path == "parties" => special_files(value, &format!("parties[\"{name}\"]"), resources),
                _ => special_files(value, &below(name), resources),
            });
            inside.flatten().collect()
        }
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items
                .flat_map(|(index, item)| special_files(item, &format!("{path}[{index}]"), resources))
                .collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}
