//! Words of a report: their emphasis, their style, and where they are shown.

use serde::Serialize;

/// Where something is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shown {
    /// On a page and in a terminal.
    #[default]
    Everywhere,
    /// On a page only: it is too wide or too long for a terminal, or a picture.
    Page,
    /// In a terminal only: a page shows it in another form.
    Terminal,
}

/// Some words in the same style.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Span {
    /// The words.
    pub text: String,
    /// Their emphasis.
    pub tone: Tone,
    /// Their style.
    pub look: Look,
    /// The number of a footnote that is printed after them.
    pub footnote: Option<usize>,
    /// An explanation shown on request; may be empty.
    pub explanation: String,
}

/// The emphasis of words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tone {
    /// Normal.
    #[default]
    Plain,
    /// Less important.
    Quiet,
    /// A warning.
    Warning,
}

/// The style of words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Look {
    /// Plain words.
    #[default]
    Words,
    /// Important words.
    Strong,
    /// A framed label.
    Badge,
    /// Text to be typed as it is, without line breaks at its spaces in a terminal.
    Code,
    /// An infinite value: "∞" on a page, its text ("inf") in a terminal.
    Infinite,
}

impl Span {
    /// Plain words.
    #[must_use]
    pub fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Less important words.
    #[must_use]
    pub fn quiet(text: impl Into<String>) -> Self {
        Self { tone: Tone::Quiet, ..Self::plain(text) }
    }

    /// Text to be typed as it is.
    #[must_use]
    pub fn code(text: impl Into<String>) -> Self {
        Self { look: Look::Code, ..Self::plain(text) }
    }

    /// A framed label.
    #[must_use]
    pub fn badge(text: impl Into<String>) -> Self {
        Self { look: Look::Badge, ..Self::plain(text) }
    }

    /// The words as a warning, if `loud`.
    #[must_use]
    pub fn loud(mut self, loud: bool) -> Self {
        if loud {
            self.tone = Tone::Warning;
        }
        self
    }

    /// The words with an explanation that opens where they stand; none if it is empty.
    #[must_use]
    pub fn explained(mut self, explanation: impl Into<String>) -> Self {
        self.explanation = explanation.into();
        self
    }

    /// Important words.
    #[must_use]
    pub fn strong(text: impl Into<String>) -> Self {
        Self { look: Look::Strong, ..Self::plain(text) }
    }

    /// The words with the number of a footnote.
    #[must_use]
    pub fn with_footnote(mut self, number: Option<usize>) -> Self {
        self.footnote = number;
        self
    }
}
