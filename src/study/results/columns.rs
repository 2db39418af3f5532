//! Columns of tables: values of one type, one for each row.

use serde_json::Value;
use std::fmt::{Display, Write};
use std::sync::Arc;

/// A column with its name.
#[derive(Debug)]
pub(in crate::study) struct Column {
    pub(in crate::study) name: String,
    pub(in crate::study) values: Values,
}

/// Values of one type.
#[derive(Debug)]
pub(in crate::study) enum Values {
    Integers(Vec<Option<u64>>),
    Numbers(Vec<Option<f64>>),
    Texts(Vec<Option<Arc<str>>>),
    Truths(Vec<Option<bool>>),
}

/// A value of a row.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::study) enum Entry {
    None,
    Integer(u64),
    Number(f64),
    /// A text. Copies of the entry share it.
    Text(Arc<str>),
    Truth(bool),
}

/// A column of non-negative whole numbers.
pub(in crate::study) fn integers(name: &str) -> Column {
    Column { name: name.to_owned(), values: Values::Integers(Vec::new()) }
}

/// A column of numbers.
pub(in crate::study) fn numbers(name: &str) -> Column {
    Column { name: name.to_owned(), values: Values::Numbers(Vec::new()) }
}

/// A column of texts.
pub(in crate::study) fn texts(name: &str) -> Column {
    Column { name: name.to_owned(), values: Values::Texts(Vec::new()) }
}

/// A column of `true` and `false`.
pub(in crate::study) fn truths(name: &str) -> Column {
    Column { name: name.to_owned(), values: Values::Truths(Vec::new()) }
}

impl Column {
    /// Adds a row's value. A column of numbers accepts integers too. A value of any other type becomes an empty
    /// entry.
    pub(in crate::study) fn push(&mut self, entry: Entry) {
        match (&mut self.values, entry) {
            (Values::Integers(values), Entry::Integer(value)) => values.push(Some(value)),
            (Values::Integers(values), _) => values.push(None),
            (Values::Numbers(values), Entry::Number(value)) => values.push(Some(value)),
            (Values::Numbers(values), Entry::Integer(value)) => values.push(Some(value as f64)),
            (Values::Numbers(values), _) => values.push(None),
            (Values::Texts(values), Entry::Text(value)) => values.push(Some(value)),
            (Values::Texts(values), _) => values.push(None),
            (Values::Truths(values), Entry::Truth(value)) => values.push(Some(value)),
            (Values::Truths(values), _) => values.push(None),
        }
    }

    /// Number of rows.
    pub(in crate::study) fn len(&self) -> usize {
        match &self.values {
            Values::Integers(values) => values.len(),
            Values::Numbers(values) => values.len(),
            Values::Texts(values) => values.len(),
            Values::Truths(values) => values.len(),
        }
    }

    /// Removes all rows.
    pub(in crate::study) fn clear(&mut self) {
        match &mut self.values {
            Values::Integers(values) => values.clear(),
            Values::Numbers(values) => values.clear(),
            Values::Texts(values) => values.clear(),
            Values::Truths(values) => values.clear(),
        }
    }

    /// Replaces `text` by a row's value as text; empty if there is none.
    pub(in crate::study) fn write(&self, row: usize, text: &mut String) {
        fn show<T: Display>(value: Option<T>, text: &mut String) {
            if let Some(value) = value {
                write!(text, "{value}").expect("writing to a string does not fail");
            }
        }
        text.clear();
        match &self.values {
            Values::Integers(values) => show(values[row], text),
            Values::Numbers(values) => show(values[row], text),
            Values::Texts(values) => text.push_str(values[row].as_deref().unwrap_or_default()),
            Values::Truths(values) => show(values[row], text),
        }
    }
}

impl Entry {
    /// The value as JSON. A number that is not finite becomes `null`.
    pub(in crate::study) fn json(&self) -> Value {
        match self {
            Self::None => Value::Null,
            Self::Integer(value) => (*value).into(),
            Self::Number(value) => (*value).into(),
            Self::Text(value) => (&**value).into(),
            Self::Truth(value) => (*value).into(),
        }
    }
}

impl From<u64> for Entry {
    fn from(value: u64) -> Self {
        Self::Integer(value)
    }
}

impl From<usize> for Entry {
    fn from(value: usize) -> Self {
        Self::Integer(value as u64)
    }
}

impl From<f64> for Entry {
    fn from(value: f64) -> Self {
        Self::Number(value)
    }
}

impl From<bool> for Entry {
    fn from(value: bool) -> Self {
        Self::Truth(value)
    }
}

impl From<&str> for Entry {
    fn from(value: &str) -> Self {
        Self::Text(value.into())
    }
}

impl<T: Into<Entry>> From<Option<T>> for Entry {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::None, Into::into)
    }
}
