//! Words of a report: how loud they are, what they look like, where they are shown.

use serde::Serialize;

/// Where something is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shown {
    /// Wherever the document is.
    #[default]
    Everywhere,
    /// On a page only: it is too wide or too long for a terminal, or a picture.
    Page,
    /// In a terminal only: a page has it in another form.
    Terminal,
}

/// Some words that look alike.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Span {
    /// The words.
    pub text: String,
    /// How loud they are.
    pub tone: Tone,
    /// What they look like.
    pub look: Look,
    /// A number of a footnote after them.
    pub footnote: Option<usize>,
    /// What they mean, for those who ask; may be empty.
    pub explanation: String,
}

/// How loud words are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tone {
    /// As all others.
    #[default]
    Plain,
    /// Beside the point.
    Quiet,
    /// Not to be missed.
    Warning,
}

/// What words look like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Look {
    /// Words.
    #[default]
    Words,
    /// A mark with a frame.
    Badge,
    /// Letters that are typed as they stand, never broken.
    Code,
    /// No finite number: "inf" in plain letters.
    Infinite,
}

impl Span {
    /// Plain words.
    #[must_use]
    pub fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Words beside the point.
    #[must_use]
    pub fn quiet(text: impl Into<String>) -> Self {
        Self { tone: Tone::Quiet, ..Self::plain(text) }
    }

    /// Words that are typed as they stand.
    #[must_use]
    pub fn code(text: impl Into<String>) -> Self {
        Self { look: Look::Code, ..Self::plain(text) }
    }

    /// A mark with a frame.
    #[must_use]
    pub fn badge(text: impl Into<String>) -> Self {
        Self { look: Look::Badge, ..Self::plain(text) }
    }

    /// The words not to be missed, if so.
    #[must_use]
    pub fn loud(mut self, loud: bool) -> Self {
        if loud {
            self.tone = Tone::Warning;
        }
        self
    }

    /// The words with the number of a footnote.
    #[must_use]
    pub fn with_footnote(mut self, number: Option<usize>) -> Self {
        self.footnote = number;
        self
    }
}
