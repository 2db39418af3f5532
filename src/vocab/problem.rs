//! An error in a scenario, as plain data: a place and a message. The module `scenario` turns it into a
//! diagnostic with line and column.

use std::fmt;

/// One semantic problem of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// The place of the problem, as a path (`links[2].from`). The path is relative to the recipe that states the problem,
    /// until [`Self::below`] puts that recipe's own path before it.
    pub path: String,
    /// What is wrong there.
    pub complaint: ProblemKind,
}

/// The kinds of complaint.
#[derive(Clone, Debug, PartialEq)]
pub enum ProblemKind {
    /// A name that is not known here.
    UnknownName {
        /// Kind of thing that has the name ("party").
        what: &'static str,
        /// The name found.
        found: String,
        /// The known names.
        known: Vec<String>,
    },
    /// A wrong value.
    Wrong {
        /// What was expected, in words.
        expected: String,
        /// What was found, in words.
        found: String,
        /// How to correct it.
        cure: String,
    },
}

impl fmt::Display for ProblemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownName { what, found, known } => {
                write!(f, "expected a known {what} ({}), found \"{found}\"", known.join(", "))
            }
            Self::Wrong { expected, found, cure } => write!(f, "expected {expected}, found {found}: {cure}"),
        }
    }
}

impl Problem {
    /// A name that is not known here.
    #[must_use]
    pub fn unknown(
        path: impl Into<String>,
        what: &'static str,
        found: impl Into<String>,
        known: &[String],
    ) -> Self {
        let complaint = ProblemKind::UnknownName { what, found: found.into(), known: known.to_vec() };
        Self { path: path.into(), complaint }
    }

    /// A wrong value.
    #[must_use]
    pub fn wrong(
        path: impl Into<String>,
        expected: impl Into<String>,
        found: impl Into<String>,
        cure: impl Into<String>,
    ) -> Self {
        let complaint =
            ProblemKind::Wrong { expected: expected.into(), found: found.into(), cure: cure.into() };
        Self { path: path.into(), complaint }
    }

    /// The same problem one level further down: `prefix.path`.
    #[must_use]
    pub fn below(mut self, prefix: &str) -> Self {
        self.path = match (prefix.is_empty(), self.path.is_empty()) {
            (true, _) => self.path,
            (_, true) => prefix.to_owned(),
            _ if self.path.starts_with('[') => format!("{prefix}{}", self.path),
            _ => format!("{prefix}.{}", self.path),
        };
        self
    }
}
