//! A chart as plain data: axes, lines and a legend.

use super::axis::Axis;
use super::palette::dashes;
use serde::Serialize;

/// A line chart.
#[derive(Clone, Debug, Serialize)]
pub struct Chart {
    /// Short name, unique on a page: lower-case letters, digits, dots and hyphens.
    pub id: String,
    /// What the chart shows.
    pub title: String,
    /// Words below the horizontal axis.
    pub x_label: String,
    /// Words beside the vertical axis.
    pub y_label: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The entries of the legend; a line's `key` is an index into them.
    pub legend: Vec<String>,
    /// The lines.
    pub lines: Vec<Line>,
    /// An explanation of lines and bands, with the number of replications.
    pub note: String,
    /// Further text of the caption below the picture, such as the assumptions of bounds. In an image file, only the
    /// description for screen readers contains it.
    pub caption: String,
    /// Values that lie beyond the axes of the chart, in words.
    pub beyond: Vec<String>,
}

/// One line of a chart.
#[derive(Clone, Debug, Serialize)]
pub struct Line {
    /// Index of its legend entry, which determines the colour.
    pub key: usize,
    /// How it is drawn.
    pub kind: Kind,
    /// Its points from left to right.
    pub points: Vec<Point>,
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A line with a band of one [`Point::error`] to either side.
    Band,
    /// Marks with error bars, joined by a line.
    Bars,
    /// Marks with error bars, not joined.
    Marks,
    /// Hollow diamonds.
    Diamonds,
    /// Hollow triangles on a dotted line, in the colour of their entry.
    Ceiling,
    /// A grey line, whatever the colour of its entry; the number selects its dashes.
    Bound(usize),
}

impl Kind {
    /// The dashes of a line of this kind as SVG's `stroke-dasharray`.
    #[must_use]
    pub fn dashes(self, key: usize) -> &'static str {
        match self {
            Self::Band => dashes(key),
            // The line of a ceiling is drawn as dots, because `stroke-dasharray` would break up its triangles too.
            Self::Bars | Self::Marks | Self::Diamonds | Self::Ceiling => "none",
            Self::Bound(number) => dashes(number + 1),
        }
    }
}

impl Chart {
    /// How the first line of a legend entry is drawn; `None` if the entry has no line.
    #[must_use]
    pub fn kind(&self, key: usize) -> Option<Kind> {
        self.lines.iter().find(|line| line.key == key).map(|line| line.kind)
    }
}

/// One point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    /// Its position, in the units of the horizontal axis.
    pub x: f64,
    /// Its value, in the units of the vertical axis.
    pub y: f64,
    /// Its error to either side; 0 for none.
    pub error: f64,
    /// The horizontal value in words ("round 7").
    pub at: String,
    /// The vertical value in words ("0.018 ± 0.004").
    pub says: String,
}
