//! A report as plain data: sections of tables, figures and notes, made once and shown in several ways.

mod span;
mod table;

use super::plots::Chart;
use serde::Serialize;
pub use span::{Emphasis, Span, TextStyle, Visibility};
pub use table::{Cell, Column, Finding, Layout, Row, Table};

/// A whole report.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Document {
    /// Its title.
    pub title: String,
    /// The author's description of the study.
    pub about: String,
    /// The blocks above all sections.
    pub heading: Vec<Block>,
    /// Its sections in order.
    pub sections: Vec<Section>,
}

/// One subject of a report.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Section {
    /// Short name, unique in a document: lower-case letters and hyphens. Empty for a section to which no link points.
    pub id: String,
    /// Its name in a list of sections.
    pub name: String,
    /// Its headline. A terminal does not show it, because every table has a title.
    pub title: String,
    /// Whether a terminal shows it last, just above the prompt, where it is not overlooked. A page keeps the order of
    /// sections.
    pub urgent: bool,
    /// Its contents, in order.
    pub blocks: Vec<Block>,
}

/// A part of a section.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Block {
    /// A headline within a section; not shown in a terminal.
    Heading {
        /// Short name, as the id of a section.
        id: String,
        /// The headline.
        title: String,
    },
    /// A paragraph of sentences.
    Paragraph(Paragraph),
    /// Names with their values.
    Facts(Facts),
    /// A list of items.
    List(List),
    /// Notes with numbers that cells refer to.
    Footnotes(Footnotes),
    /// Rows and columns.
    Table(Table),
    /// Charts; on a page only.
    Figure(Figure),
    /// A drawing other than a chart; on a page only.
    Drawing(Drawing),
    /// Text in which spaces and line ends matter.
    Listing {
        /// Its description, for screen readers.
        label: String,
        /// The text.
        text: String,
    },
    /// Cards side by side that answer the reader's questions in sentences; on a page only.
    Cards(Vec<Card>),
    /// Blocks that a page shows when the reader opens them; a terminal shows them like any other blocks.
    Folded {
        /// The title that the reader opens.
        title: String,
        /// The blocks.
        blocks: Vec<Block>,
    },
}

/// A question and its answer in whole sentences.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Card {
    /// Short name, as the id of a section.
    pub id: String,
    /// The question, such as "How good".
    pub title: String,
    /// The answer: sentences, the most important first.
    pub sentences: Vec<Vec<Span>>,
}

/// A paragraph of sentences.
#[derive(Clone, Debug, Serialize)]
pub struct Paragraph {
    /// Its text.
    pub words: Vec<Span>,
    /// Its kind.
    pub kind: ParagraphKind,
    /// Where it is shown.
    pub shown: Visibility,
}

/// The kind of a paragraph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ParagraphKind {
    /// A separate sentence.
    Statement,
    /// A remark on the block above it, in small print.
    Remark,
    /// A remark on a remark or a fact above it.
    Detail,
    /// A warning.
    Warning,
}

/// Names with their values.
#[derive(Clone, Debug, Serialize)]
pub struct Facts {
    /// Pairs of a name and its value.
    pub rows: Vec<(String, Vec<Span>)>,
    /// Number of characters by which a terminal indents the rows.
    pub indent: usize,
    /// Width of the names in a terminal, in characters.
    pub width: usize,
    /// Where they are shown.
    pub shown: Visibility,
}

/// Items below a title.
#[derive(Clone, Debug, Serialize)]
pub struct List {
    /// Short name, as the id of a section.
    pub id: String,
    /// The title; may be empty.
    pub title: String,
    /// The items.
    pub items: Vec<Vec<Span>>,
}

/// Notes with numbers.
#[derive(Clone, Debug, Serialize)]
pub struct Footnotes {
    /// Number of the first note.
    pub first: usize,
    /// The notes.
    pub notes: Vec<String>,
}

/// Charts that share a legend.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    /// What it shows.
    pub title: String,
    /// Its charts.
    pub charts: Vec<Chart>,
}

/// A drawing other than a chart.
#[derive(Clone, Debug, Serialize)]
pub struct Drawing {
    /// What it shows.
    pub title: String,
    /// Its SVG elements.
    pub svg: String,
    /// Width in pixels.
    pub width: f64,
    /// Height in pixels.
    pub height: f64,
    /// How to read it.
    pub note: Vec<Span>,
}

impl Section {
    /// A section with a headline and a name in the list of sections.
    #[must_use]
    pub fn new(id: &str, name: &str, title: &str, blocks: Vec<Block>) -> Self {
        let [id, name, title] = [id, name, title].map(str::to_owned);
        Self { id, name, title, urgent: false, blocks }
    }
}

impl Card {
    /// A card that answers a question.
    #[must_use]
    pub fn new(id: &str, title: &str, sentences: Vec<Vec<Span>>) -> Self {
        Self { id: id.to_owned(), title: title.to_owned(), sentences }
    }

    /// Its sentences without style.
    #[must_use]
    pub fn text(&self) -> String {
        let sentence = |words: &Vec<Span>| words.iter().map(|span| span.text.as_str()).collect::<String>();
        self.sentences.iter().map(sentence).collect::<Vec<_>>().join(" ")
    }
}

impl Block {
    /// A separate sentence.
    #[must_use]
    pub fn statement(text: impl Into<String>, shown: Visibility) -> Self {
        Self::Paragraph(Paragraph { words: vec![Span::plain(text)], kind: ParagraphKind::Statement, shown })
    }

    /// A remark on the block above it, shown everywhere.
    #[must_use]
    pub fn remark(text: impl Into<String>) -> Self {
        Self::remark_on(text, Visibility::Everywhere)
    }

    /// A remark on the block above it, shown where `shown` says.
    #[must_use]
    pub fn remark_on(text: impl Into<String>, shown: Visibility) -> Self {
        Self::Paragraph(Paragraph { words: vec![Span::plain(text)], kind: ParagraphKind::Remark, shown })
    }

    /// A remark on a remark or a fact.
    #[must_use]
    pub fn detail(text: impl Into<String>) -> Self {
        let words = vec![Span::plain(text)];
        Self::Paragraph(Paragraph { words, kind: ParagraphKind::Detail, shown: Visibility::Everywhere })
    }

    /// A warning.
    #[must_use]
    pub fn warning(text: impl Into<String>) -> Self {
        let words = vec![Span::plain(text)];
        Self::Paragraph(Paragraph { words, kind: ParagraphKind::Warning, shown: Visibility::Everywhere })
    }

    /// A headline within a section.
    #[must_use]
    pub fn heading(id: &str, title: &str) -> Self {
        Self::Heading { id: id.to_owned(), title: title.to_owned() }
    }
}
