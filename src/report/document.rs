//! What a report says, as plain data: sections of tables, figures and notes, made once and shown in several ways.

use super::plots::Chart;
use serde::Serialize;

/// A whole report.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Document {
    /// Its name.
    pub title: String,
    /// What it is about, in its author's words.
    pub about: String,
    /// What stands above all sections.
    pub heading: Vec<Block>,
    /// Its sections in order.
    pub sections: Vec<Section>,
}

/// One subject of a report.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Section {
    /// Short name, unique in a document: lower-case letters and hyphens. Empty for a section that nothing points to.
    pub id: String,
    /// What it is called where sections are listed.
    pub name: String,
    /// Its headline. A terminal, where every table has a title, does without.
    pub title: String,
    /// Whether everyone is to read it: first on a page, last in a terminal, just above where one types.
    pub urgent: bool,
    /// What it says, in order.
    pub blocks: Vec<Block>,
}

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

/// A part of a section.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Block {
    /// A headline within a section; a terminal does without.
    Heading {
        /// As a section's.
        id: String,
        /// The headline.
        title: String,
    },
    /// Sentences.
    Paragraph(Paragraph),
    /// Names with what they stand for.
    Facts(Facts),
    /// Items.
    List(List),
    /// Notes with numbers that cells refer to.
    Footnotes(Footnotes),
    /// Rows and columns.
    Table(Table),
    /// Charts; on a page only.
    Figure(Figure),
    /// A drawing that is no chart; on a page only.
    Drawing(Drawing),
    /// Text whose spaces and line ends count.
    Listing {
        /// What it is, for those who hear a page.
        label: String,
        /// The text.
        text: String,
    },
    /// What a page unfolds when asked to; a terminal shows it like anything else.
    Folded {
        /// What one asks for.
        title: String,
        /// What unfolds.
        blocks: Vec<Block>,
    },
}

/// Sentences.
#[derive(Clone, Debug, Serialize)]
pub struct Paragraph {
    /// Its words.
    pub words: Vec<Span>,
    /// How it is said.
    pub kind: ParagraphKind,
    /// Where.
    pub shown: Shown,
}

/// How a paragraph is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ParagraphKind {
    /// By itself.
    Statement,
    /// About what stands above it, in small print.
    Remark,
    /// About a remark or a fact above it.
    Detail,
    /// Loudly.
    Warning,
}

/// Names with what they stand for.
#[derive(Clone, Debug, Serialize)]
pub struct Facts {
    /// A name, and what it stands for.
    pub rows: Vec<(String, Vec<Span>)>,
    /// Letters that a terminal moves them to the right.
    pub indent: usize,
    /// Letters that a terminal gives the names.
    pub width: usize,
    /// Where.
    pub shown: Shown,
}

/// Items below a title.
#[derive(Clone, Debug, Serialize)]
pub struct List {
    /// As a section's.
    pub id: String,
    /// What they are; may be empty.
    pub title: String,
    /// The items.
    pub items: Vec<Vec<Span>>,
}

/// Notes with numbers.
#[derive(Clone, Debug, Serialize)]
pub struct Footnotes {
    /// Number of the first of them.
    pub first: usize,
    /// The notes.
    pub notes: Vec<String>,
}

/// Rows and columns.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Table {
    /// What the numbers are.
    pub title: String,
    /// The columns.
    pub columns: Vec<Column>,
    /// How many columns, from the first on, say what a row is about.
    pub heads: usize,
    /// The rows; each has a cell for every column.
    pub rows: Vec<Row>,
    /// How it is laid out.
    pub layout: Layout,
    /// Where.
    pub shown: Shown,
}

/// How a table is laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// Rows below a header.
    #[default]
    Rows,
    /// In a terminal the first two columns are lines of their own above the rows that share them, and columns have no
    /// header; a page says them once for all these rows.
    Grouped,
    /// In a terminal without a rule below the header.
    Plain,
}

/// A column of a table.
#[derive(Clone, Debug, Serialize)]
pub struct Column {
    /// Its header.
    pub name: String,
    /// Whether cells stand to the right, as numbers do.
    pub number: bool,
    /// Whether its name stands in each cell too where columns have no header.
    pub named_in_cells: bool,
    /// Where.
    pub shown: Shown,
}

/// A row of a table.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Row {
    /// Its cells.
    pub cells: Vec<Cell>,
    /// What is to be known of the row, or of the rows with the same head.
    pub remark: String,
}

/// A cell of a table.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Cell {
    /// Its words.
    pub words: Vec<Span>,
    /// The same in fewer letters, for a terminal; empty if there is no need.
    pub short: String,
    /// Several findings in one cell, each with figures of its own.
    pub findings: Vec<Finding>,
}

/// Something found, with its figures: a small table within a cell.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// What.
    pub words: Vec<Span>,
    /// Name, figure, and what belongs to it.
    pub figures: Vec<[Vec<Span>; 3]>,
    /// What is to be known of it.
    pub remark: String,
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

/// Charts that share a legend.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    /// What it shows.
    pub title: String,
    /// Its charts.
    pub charts: Vec<Chart>,
}

/// A drawing that is no chart.
#[derive(Clone, Debug, Serialize)]
pub struct Drawing {
    /// What it shows.
    pub title: String,
    /// Elements of SVG.
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

impl Block {
    /// A sentence by itself.
    #[must_use]
    pub fn statement(text: impl Into<String>, shown: Shown) -> Self {
        Self::Paragraph(Paragraph { words: vec![Span::plain(text)], kind: ParagraphKind::Statement, shown })
    }

    /// A remark on what stands above it.
    #[must_use]
    pub fn remark(text: impl Into<String>) -> Self {
        Self::remark_on(text, Shown::Everywhere)
    }

    /// A remark in one place.
    #[must_use]
    pub fn remark_on(text: impl Into<String>, shown: Shown) -> Self {
        Self::Paragraph(Paragraph { words: vec![Span::plain(text)], kind: ParagraphKind::Remark, shown })
    }

    /// A remark on a remark or a fact.
    #[must_use]
    pub fn detail(text: impl Into<String>) -> Self {
        let words = vec![Span::plain(text)];
        Self::Paragraph(Paragraph { words, kind: ParagraphKind::Detail, shown: Shown::Everywhere })
    }

    /// A sentence that nobody may miss.
    #[must_use]
    pub fn warning(text: impl Into<String>) -> Self {
        let words = vec![Span::plain(text)];
        Self::Paragraph(Paragraph { words, kind: ParagraphKind::Warning, shown: Shown::Everywhere })
    }

    /// A headline within a section.
    #[must_use]
    pub fn heading(id: &str, title: &str) -> Self {
        Self::Heading { id: id.to_owned(), title: title.to_owned() }
    }
}

impl Table {
    /// A table of texts; columns from `first_number` on are numbers, those before it say what a row is about.
    #[must_use]
    pub fn new(
        title: impl Into<String>,
        header: Vec<String>,
        rows: Vec<Vec<String>>,
        first_number: usize,
    ) -> Self {
        let columns = header.into_iter().enumerate();
        let columns = columns.map(|(at, name)| Column::new(name, at >= first_number)).collect();
        let rows = rows.into_iter().map(|cells| cells.into_iter().map(Cell::plain).collect::<Row>());
        Self {
            title: title.into(),
            columns,
            heads: first_number,
            rows: rows.collect(),
            layout: Layout::Rows,
            shown: Shown::Everywhere,
        }
    }

    /// The table with the columns of these names in one place only.
    #[must_use]
    pub fn column_on(mut self, shown: Shown, names: &[&str]) -> Self {
        for column in self.columns.iter_mut().filter(|column| names.contains(&column.name.as_str())) {
            column.shown = shown;
        }
        self
    }
}

impl FromIterator<Cell> for Row {
    fn from_iter<I: IntoIterator<Item = Cell>>(cells: I) -> Self {
        Self { cells: cells.into_iter().collect(), remark: String::new() }
    }
}

impl Column {
    /// A column that is shown everywhere.
    #[must_use]
    pub fn new(name: impl Into<String>, number: bool) -> Self {
        Self { name: name.into(), number, named_in_cells: false, shown: Shown::Everywhere }
    }

    /// The column with its name in each cell where columns have no header.
    #[must_use]
    pub fn named_in_cells(mut self) -> Self {
        self.named_in_cells = true;
        self
    }

    /// The column in one place only.
    #[must_use]
    pub fn on(mut self, shown: Shown) -> Self {
        self.shown = shown;
        self
    }
}

impl Cell {
    /// A cell of plain words.
    #[must_use]
    pub fn plain(text: impl Into<String>) -> Self {
        Self::of(vec![Span::plain(text)])
    }

    /// A cell of words.
    #[must_use]
    pub fn of(words: Vec<Span>) -> Self {
        Self { words, ..Self::default() }
    }

    /// Its words without any looks.
    #[must_use]
    pub fn text(&self) -> String {
        self.words.iter().map(|span| span.text.as_str()).collect()
    }
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
