//! The error of a value that cannot be read as the requested type.

use super::node::{Node, Step};
use serde::de::{self, Expected, Unexpected};
use std::fmt;
use std::ops::Range;

/// The error of a value that cannot be read: the fault, its place in the text, and its path.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadError(Box<Inner>);

#[derive(Clone, Debug, PartialEq)]
struct Inner {
    fault: Fault,
    place: Option<Range<usize>>,
    /// The path, from the innermost step outwards.
    steps: Vec<Step>,
}

/// What is wrong with a value.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Fault {
    /// A field that the type does not have.
    UnknownField {
        /// Its name.
        found: String,
        /// The fields of the type.
        known: &'static [&'static str],
    },
    /// A name that is not one of the variants or members.
    UnknownName {
        /// The name.
        found: String,
        /// The names of the variants or members.
        known: &'static [&'static str],
    },
    /// A required field that is missing.
    MissingField {
        /// Its name.
        field: &'static str,
        /// The struct or variant that lacks the field, if known.
        owner: Option<String>,
    },
    /// The name of another type in front of the brackets of a struct.
    OtherName {
        /// The name of the requested type.
        expected: &'static str,
        /// The name in the text.
        found: String,
    },
    /// A value of the right kind that the type refuses, with its message.
    Refused(String),
    /// A value of another kind or range.
    Unfit {
        /// What was expected, in words.
        expected: String,
        /// What was found, in words.
        found: String,
    },
    /// A value that is not a text, where a text is expected.
    NoText,
    /// A value that is not a number, where a number is expected.
    NoNumber,
    /// A number with a point or an exponent, infinity, or `NaN`, where a whole number is expected.
    NotWhole,
    /// A whole number outside the range of its type.
    OutsideRange {
        /// The smallest number of the type.
        least: i128,
        /// The largest number of the type.
        most: i128,
    },
    /// A value that is not entries in braces, where a map is expected.
    NoMap,
    /// A value that is not a list in square brackets, where a list is expected.
    NoList,
    /// The name of a variant without the content that it needs.
    NeedsContent(String),
    /// The name of a variant with content, although it takes none.
    TakesNothing(String),
    /// The name of a variant whose values lack the names of their fields.
    NeedsNames(String),
    /// A value without fields, where the struct of this name is expected.
    NoFields(String),
    /// A value of another kind, or a list or tuple of another length, than the type expects; this
    /// error does not say what was expected.
    OtherKind,
}

impl ReadError {
    pub(super) fn new(fault: Fault) -> Self {
        Self(Box::new(Inner { fault, place: None, steps: Vec::new() }))
    }

    /// What is wrong.
    #[must_use]
    pub fn fault(&self) -> &Fault {
        &self.0.fault
    }

    /// The byte range, in the text, of the value, or of the key if the key is wrong (such as the name of an unknown field).
    /// For a missing field, the byte range of the name of the struct that lacks the field, or of the struct's first byte if
    /// it has no name. `0..0` if no place was set.
    #[must_use]
    pub fn place(&self) -> Range<usize> {
        self.0.place.clone().unwrap_or(0..0)
    }

    /// The path of the value: names separated by dots, and `[3]` for positions; empty for the whole value.
    #[must_use]
    pub fn path(&self) -> String {
        let mut path = String::new();
        for step in self.0.steps.iter().rev() {
            match step {
                Step::Name(name) => {
                    if !path.is_empty() {
                        path.push('.');
                    }
                    path.push_str(name);
                }
                Step::Index(index) => path.push_str(&format!("[{index}]")),
            }
        }
        path
    }

    /// Sets the place to the place of `node`, unless the error has a place already.
    pub(super) fn at(self, node: &Node) -> Self {
        let place = match &self.0.fault {
            Fault::MissingField { .. } => node.head(),
            _ => node.span.clone(),
        };
        self.within(place)
    }

    /// Sets the place, unless the error has one already.
    pub(super) fn within(mut self, place: Range<usize>) -> Self {
        self.0.place.get_or_insert(place);
        self
    }

    /// Adds the next outer step to the path.
    pub(super) fn below(mut self, step: Step) -> Self {
        self.0.steps.push(step);
        self
    }

    /// If the error is a missing field whose owner is unknown, sets the owner to `name`.
    pub(super) fn of(mut self, name: &str) -> Self {
        if let Fault::MissingField { owner, .. } = &mut self.0.fault
            && !name.is_empty()
        {
            owner.get_or_insert_with(|| name.to_owned());
        }
        self
    }

    /// Converts the error to the error type of another deserializer.
    pub(super) fn into_format<E: de::Error>(self) -> E {
        match self.0.fault {
            Fault::UnknownField { found, known } => E::unknown_field(&found, known),
            Fault::UnknownName { found, known } => E::unknown_variant(&found, known),
            Fault::MissingField { field, .. } => E::missing_field(field),
            _ => E::custom(self),
        }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.fault {
            Fault::UnknownField { found, known } => {
                write!(f, "unknown field `{found}`, expected one of {}", known.join(", "))
            }
            Fault::UnknownName { found, known } => {
                write!(f, "unknown name `{found}`, expected one of {}", known.join(", "))
            }
            Fault::MissingField { field, owner } => {
                let owner = owner.as_ref().map_or_else(String::new, |owner| format!(" of {owner}"));
                write!(f, "missing field `{field}`{owner}")
            }
            Fault::OtherName { expected, found } => write!(f, "`{found}` instead of `{expected}`"),
            Fault::Refused(words) => f.write_str(words),
            Fault::Unfit { expected, found } => write!(f, "expected {expected}, found {found}"),
            Fault::NoText => f.write_str("expected a text"),
            Fault::NoNumber => f.write_str("expected a number"),
            Fault::NotWhole => f.write_str("expected a whole number"),
            Fault::OutsideRange { least, most } => {
                write!(f, "expected a whole number from {least} to {most}")
            }
            Fault::NoMap => f.write_str("expected entries in braces"),
            Fault::NoList => f.write_str("expected a list"),
            Fault::NeedsContent(name) => write!(f, "`{name}` needs something in brackets"),
            Fault::TakesNothing(name) => write!(f, "`{name}` takes nothing in brackets"),
            Fault::NeedsNames(name) => write!(f, "`{name}` takes fields with their names"),
            Fault::NoFields(name) => write!(f, "expected {name}(..)"),
            Fault::OtherKind => f.write_str("a value of another kind"),
        }?;
        let path = self.path();
        if path.is_empty() { Ok(()) } else { write!(f, " ({path})") }
    }
}

impl std::error::Error for ReadError {}

impl de::Error for ReadError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(Fault::Refused(message.to_string()))
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_value(found, expected)
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new(Fault::Unfit { expected: expected.to_string(), found: in_words(found) })
    }

    fn invalid_length(_: usize, _: &dyn Expected) -> Self {
        Self::new(Fault::OtherKind)
    }

    fn unknown_variant(found: &str, known: &'static [&'static str]) -> Self {
        Self::new(Fault::UnknownName { found: found.to_owned(), known })
    }

    fn unknown_field(found: &str, known: &'static [&'static str]) -> Self {
        Self::new(Fault::UnknownField { found: found.to_owned(), known })
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(Fault::MissingField { field, owner: None })
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::new(Fault::Refused(format!("expected each field once, found `{field}` a second time")))
    }
}

/// A value that a type did not expect, in words.
fn in_words(found: Unexpected<'_>) -> String {
    match found {
        Unexpected::Bool(value) => format!("`{value}`"),
        Unexpected::Unsigned(value) => format!("the whole number {value}"),
        Unexpected::Signed(value) => format!("the whole number {value}"),
        Unexpected::Float(value) => format!("the number {value}"),
        Unexpected::Char(value) => format!("the character `{value}`"),
        Unexpected::Str(text) => format!("the text {text:?}"),
        Unexpected::Bytes(_) => "bytes".to_owned(),
        Unexpected::Unit => "nothing".to_owned(),
        Unexpected::Option => "an optional value".to_owned(),
        Unexpected::NewtypeStruct => "a value in brackets".to_owned(),
        Unexpected::Seq => "a list".to_owned(),
        Unexpected::Map => "fields or entries".to_owned(),
        Unexpected::Enum => "a name".to_owned(),
        Unexpected::UnitVariant => "a name alone".to_owned(),
        Unexpected::NewtypeVariant => "a name with a value in brackets".to_owned(),
        Unexpected::TupleVariant => "a name with values in brackets".to_owned(),
        Unexpected::StructVariant => "a name with fields in brackets".to_owned(),
        Unexpected::Other(words) => words.to_owned(),
    }
}
