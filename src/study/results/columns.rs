//! Columns of results: values of one type, one for each row.

use serde_json::Value;

/// A column with its name.
#[derive(Debug)]
pub(in crate::study) struct Column {
    pub(in crate::study) name: String,
    pub(in crate::study) values: Values,
}

/// Values of one type.
#[derive(Debug)]
pub(in crate::study) enum Values {
    Integers(Vec<u64>),
    Numbers(Vec<Option<f64>>),
    Texts(Vec<Option<String>>),
    Truths(Vec<bool>),
}

impl Column {
    /// As text; empty where there is none.
    pub(in crate::study) fn text(&self, row: usize) -> String {
        match &self.values {
            Values::Integers(values) => values[row].to_string(),
            Values::Numbers(values) => values[row].map_or_else(String::new, |value| value.to_string()),
            Values::Texts(values) => values[row].clone().unwrap_or_default(),
            Values::Truths(values) => values[row].to_string(),
        }
    }

    /// As JSON.
    pub(in crate::study) fn json(&self, row: usize) -> Value {
        match &self.values {
            Values::Integers(values) => values[row].into(),
            Values::Numbers(values) => values[row].into(),
            Values::Texts(values) => values[row].clone().into(),
            Values::Truths(values) => values[row].into(),
        }
    }
}
