//! Text of a report with its emphasis and its style, and where a part of a report is shown.

use serde::Serialize;

/// Where something is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Visibility {
    /// On a page and in a terminal.
    #[default]
    Everywhere,
    /// On a page only, because it is too wide or too long for a terminal, or is a picture.
    Page,
    /// In a terminal only, because a page shows it in another form.
    Terminal,
}

/// Words with the same emphasis and style.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Span {
    /// The words.
    pub text: String,
    /// Their emphasis.
    pub tone: Emphasis,
    /// Their style.
    pub look: TextStyle,
    /// The number of a footnote; this number is printed after the words.
    pub footnote: Option<usize>,
    /// An explanation that a page shows on request; may be empty.
    pub explanation: String,
}

/// The emphasis of words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Emphasis {
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
pub enum TextStyle {
    /// Plain words.
    #[default]
    Words,
    /// Important words.
    Strong,
    /// A framed label.
    Badge,
    /// Text to be typed literally; a terminal does not break lines at its spaces.
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
        Self { tone: Emphasis::Quiet, ..Self::plain(text) }
    }

    /// Text to be typed literally.
    #[must_use]
    pub fn code(text: impl Into<String>) -> Self {
        Self { look: TextStyle::Code, ..Self::plain(text) }
    }

    /// A framed label.
    #[must_use]
    pub fn badge(text: impl Into<String>) -> Self {
        Self { look: TextStyle::Badge, ..Self::plain(text) }
    }

    /// The words, emphasised as a warning if `warning` is true.
    #[must_use]
    pub fn emphasised(mut self, warning: bool) -> Self {
        if warning {
            self.tone = Emphasis::Warning;
        }
        self
    }

    /// The words with an explanation that a page shows beside them on request; an empty explanation is not shown.
    #[must_use]
    pub fn explained(mut self, explanation: impl Into<String>) -> Self {
        self.explanation = explanation.into();
        self
    }

    /// Important words.
    #[must_use]
    pub fn strong(text: impl Into<String>) -> Self {
        Self { look: TextStyle::Strong, ..Self::plain(text) }
    }

    /// The words followed by the number of a footnote, if there is one.
    #[must_use]
    pub fn with_footnote(mut self, number: Option<usize>) -> Self {
        self.footnote = number;
        self
    }
}
