//! The privacy loss of a list of releases, by every accountant: a section, a JSON document, and charts.

use crate::accounting::{Accountant, Composition, Figure, LossBasis, Standing, Statement, tight_curve};
use crate::report::document::{Block, Section, Table};
use crate::report::number::{delta as shown, epsilon};
use crate::report::plots::{Axis, Chart, Kind, Line, Point};
use crate::report::words::arithmetic;
use crate::vocab::{Arithmetic, counted};
use serde::{Serialize, Serializer};

fn is_a(figure: &Figure) -> &'static str {
    match figure.standing {
        Standing::Claim | Standing::Bound => "bound",
        Standing::NonAdaptiveBound => "bound, if not chosen adaptively",
        Standing::NotABound => "not a bound",
    }
}

/// The basis of an epsilon. Without a ledger only the costs of the releases are known.
fn basis(figure: &Figure) -> &'static str {
    figure.basis.map_or("costs as stated", LossBasis::words)
}

/// The arithmetic for which an epsilon holds; empty if it is no bound.
fn for_arithmetic(figure: &Figure) -> &'static str {
    let assumed = if figure.certifies() { ASSUMED } else { "" };
    figure.arithmetic.map_or(assumed, Arithmetic::words)
}

/// The arithmetic that is assumed for costs from a file.
const ASSUMED: &str = "ideal arithmetic assumed";

/// The meaning of that, for the reader.
const STATED: &str = "The costs are taken as the file states them, and the noise as real-valued (ideal arithmetic \
                      assumed): noise that is drawn in floating point can leak more through its low bits.";

/// The epsilon of every accountant, with notes.
pub(in crate::report) fn section(title: &str, statement: &Statement) -> Section {
    let (figures, footing) = (statement.figures(), statement.footing);
    let mut header = ["accountant", "epsilon", "lower", "upper", "order", "is a"].map(str::to_owned).to_vec();
    header.extend(footing.map(|_| "basis".to_owned()));
    let optional = |value: Option<f64>| value.map_or_else(String::new, epsilon);
    let rows = figures
        .iter()
        .map(|figure| {
            let priced = &figure.priced;
            let mut row = vec![
                figure.accountant.to_string(),
                epsilon(priced.epsilon),
                optional(priced.lower),
                optional(priced.upper),
                priced.order.map_or_else(String::new, |order| format!("{order:.2}")),
                is_a(figure).to_owned(),
            ];
            row.extend(footing.map(|_| basis(figure).to_owned()));
            row
        })
        .collect();
    let arithmetic_of_all = footing.map_or(ASSUMED, |footing| footing.arithmetic.words());
    let title = format!(
        "{title}: {}, epsilon at delta {}, {arithmetic_of_all}",
        counted(statement.composition.count(), "release"),
        shown(statement.delta.get())
    );
    let table = Table { heads: 1, ..Table::new(title, header, rows, usize::MAX) };
    let mut notes: Vec<&str> = Vec::new();
    for note in figures.iter().flat_map(|figure| &figure.priced.notes) {
        if !notes.contains(&note.as_str()) {
            notes.push(note);
        }
    }
    let mut blocks = vec![Block::Table(table)];
    blocks.extend(notes.into_iter().map(Block::remark));
    match footing {
        Some(footing) => blocks.extend(arithmetic([footing.arithmetic]).map(Block::remark)),
        None => blocks.push(Block::remark(STATED)),
    }
    Section { blocks, ..Section::default() }
}

/// The privacy loss of releases, as JSON.
#[derive(Clone, Debug, Serialize)]
pub struct AccountDocument {
    /// The delta at which epsilons are stated.
    pub delta: f64,
    /// How many releases there are.
    pub releases: u64,
    /// Each accountant's answer by its name; the first is the one to quote.
    #[serde(serialize_with = "by_name")]
    pub accountants: Vec<(&'static str, AccountantFigures)>,
    /// Facts about releases that a run made.
    #[serde(flatten)]
    pub footing: Option<KnownFooting>,
}

/// Facts about releases that a run made, besides their costs.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct KnownFooting {
    /// The basis of the costs, as in the run's report.
    pub basis: LossBasis,
    /// For which arithmetic they hold, in words.
    pub arithmetic: &'static str,
    /// Whether some may have been chosen after seeing others.
    pub one_after_another: bool,
}

/// One accountant's answer.
#[derive(Clone, Debug, Serialize)]
pub struct AccountantFigures {
    /// Its epsilon.
    pub epsilon: Finite,
    /// Smallest possible exact value, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lower: Option<Finite>,
    /// Largest possible exact value, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upper: Option<Finite>,
    /// The order of the divergence that gave it, for accountants that optimise over orders.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<Finite>,
    /// Whether it is a bound.
    pub standing: &'static str,
    /// The accountant's method.
    pub about: Option<&'static str>,
    /// Its basis.
    pub basis: &'static str,
    /// The arithmetic for which it holds; empty if it is no bound.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub arithmetic: &'static str,
    /// Notes.
    pub notes: Vec<String>,
}

/// A number, or "inf" where it is not finite: JSON has no infinity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Finite(pub f64);

impl Serialize for Finite {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_finite() { serializer.serialize_f64(self.0) } else { serializer.serialize_str("inf") }
    }
}

fn by_name<S: Serializer>(
    all: &[(&'static str, AccountantFigures)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(all.iter().map(|(name, figures)| (name, figures)))
}

/// The privacy loss of a list of releases by every accountant, as JSON.
#[must_use]
pub fn account_document(statement: &Statement) -> AccountDocument {
    let figures = |figure: Figure| {
        let answer = AccountantFigures {
            epsilon: Finite(figure.priced.epsilon),
            lower: figure.priced.lower.map(Finite),
            upper: figure.priced.upper.map(Finite),
            order: figure.priced.order.map(Finite),
            standing: is_a(&figure),
            about: figure.accountant.accountant().map(Accountant::about),
            basis: basis(&figure),
            arithmetic: for_arithmetic(&figure),
            notes: figure.priced.notes.clone(),
        };
        (figure.accountant.words(), answer)
    };
    AccountDocument {
        delta: statement.delta.get(),
        releases: statement.composition.count(),
        accountants: statement.figures().into_iter().map(figures).collect(),
        footing: statement.footing.map(|footing| KnownFooting {
            basis: footing.basis,
            arithmetic: footing.arithmetic.words(),
            one_after_another: footing.one_after_another,
        }),
    }
}

/// Epsilon after every release, in the order given, by every accountant that can price them.
#[must_use]
pub fn account_over_rounds(statement: &Statement) -> Chart {
    const POINTS: u64 = 60;
    let lines = statement.over_releases(POINTS).into_iter().map(|(name, points)| {
        let at = |releases| format!("after {}", counted(releases, "release"));
        let points = points.into_iter().map(|(releases, value)| point(releases as f64, value, at(releases)));
        (name.to_string(), points.collect())
    });
    chart(
        "epsilon-over-releases",
        "Epsilon over releases",
        "releases so far",
        &format!("epsilon at delta {}", shown(statement.delta.get())),
        lines.collect(),
    )
}

/// The smallest delta of each epsilon by the tight accountant, computed from the inverse curve.
#[must_use]
pub fn account_curve(composition: &Composition) -> Chart {
    let points = tight_curve(composition)
        .into_iter()
        .map(|(value, delta)| point(value, delta, format!("epsilon {value:.4}")))
        .collect();
    chart(
        "delta-over-epsilon",
        "delta(epsilon), tight",
        "epsilon",
        "delta",
        vec![("tight".to_owned(), points)],
    )
}

fn point(x: f64, y: f64, at: String) -> Point {
    Point { x, y, error: 0.0, says: epsilon(y), at }
}

fn chart(id: &str, title: &str, x: &str, y: &str, lines: Vec<(String, Vec<Point>)>) -> Chart {
    let lines: Vec<(String, Vec<Point>)> =
        lines.into_iter().filter(|(_, points)| !points.is_empty()).collect();
    let all = || lines.iter().flat_map(|(_, points)| points);
    Chart {
        id: id.to_owned(),
        title: title.to_owned(),
        x_label: x.to_owned(),
        y_label: y.to_owned(),
        x: Axis::plain(all().map(|p| (p.x, 0.0))),
        y: Axis::fit(all().map(|p| (p.y, 0.0))),
        legend: lines.iter().map(|(name, _)| name.clone()).collect(),
        lines: lines
            .iter()
            .enumerate()
            .map(|(key, (_, points))| Line { key, kind: Kind::Band, points: points.clone() })
            .collect(),
        note: if lines.iter().any(|(name, _)| name == "gdp") {
            "gdp is shown for comparison and is not a bound".to_owned()
        } else {
            "by the tight accountant, which gives a bound".to_owned()
        },
        beyond: Vec::new(),
    }
}
