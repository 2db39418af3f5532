//! What a list of releases costs, by every accountant: text, JSON and pictures.

use super::number::{delta as shown, epsilon};
use super::plots::{Axis, Chart, Kind, Line, Point};
use super::text::table;
use super::words::arithmetic;
use crate::accounting::{
    Accountant, Composition, Figure, Footing, LossBasis, Standing, Statement, tight_curve,
};
use crate::vocab::{Arithmetic, counted};
use serde_json::{Value, json};

fn is_a(figure: &Figure) -> &'static str {
    match figure.standing {
        Standing::Claim | Standing::Bound => "bound",
        Standing::NonAdaptiveBound => "bound, if not chosen adaptively",
        Standing::NotABound => "not a bound",
    }
}

/// On what a figure rests. Without a ledger nothing is known of the releases but their costs.
fn basis(figure: &Figure) -> &'static str {
    figure.basis.map_or("costs as stated", LossBasis::words)
}

/// For which arithmetic a figure holds; empty for what certifies nothing.
fn for_arithmetic(figure: &Figure) -> &'static str {
    let assumed = if figure.certifies() { ASSUMED } else { "" };
    figure.arithmetic.map_or(assumed, Arithmetic::words)
}

/// What is taken to hold of costs that stand in a file by themselves.
const ASSUMED: &str = "ideal arithmetic assumed";

/// What that means.
const STATED: &str = "The costs are taken as the file states them, and the noise as real-valued (ideal arithmetic \
                      assumed): noise that is drawn in floating point can leak more through its low bits.";

/// A table of at most 80 columns.
#[must_use]
pub fn account_text(title: &str, statement: &Statement) -> String {
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
    let mut out = String::new();
    let arithmetic_of_all = footing.map_or(ASSUMED, |footing| footing.arithmetic.words());
    let title = format!(
        "{title}: {}, epsilon at delta {}, {arithmetic_of_all}",
        counted(statement.composition.count(), "release"),
        shown(statement.delta.get())
    );
    let mut lines = String::new();
    super::text::wrapped(&mut lines, 0, &title);
    table(&mut out, lines.trim_end(), header, rows, usize::MAX);
    let mut notes: Vec<&String> = Vec::new();
    for note in figures.iter().flat_map(|figure| &figure.priced.notes) {
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    for note in notes {
        super::text::wrapped(&mut out, 2, note);
    }
    match footing {
        Some(footing) => {
            arithmetic([footing.arithmetic]).iter().for_each(|note| super::text::wrapped(&mut out, 2, note));
        }
        None => super::text::wrapped(&mut out, 2, STATED),
    }
    out.trim_start().to_owned()
}

/// One document: `{delta, releases, accountants: {name: {about, epsilon, lower, upper, order, standing, basis,
/// arithmetic, notes}}}`; for releases of a run with their `basis`, `arithmetic` and `one_after_another`.
#[must_use]
pub fn account_json(statement: &Statement) -> Value {
    let number = |value: f64| if value.is_finite() { json!(value) } else { json!("inf") };
    let mut accountants = serde_json::Map::new();
    for figure in statement.figures() {
        let priced = &figure.priced;
        let mut entry = serde_json::Map::new();
        entry.insert("epsilon".to_owned(), number(priced.epsilon));
        for (key, value) in [("lower", priced.lower), ("upper", priced.upper), ("order", priced.order)] {
            if let Some(value) = value {
                entry.insert(key.to_owned(), number(value));
            }
        }
        let about = figure.accountant.accountant().map(Accountant::about);
        entry.insert("standing".to_owned(), json!(is_a(&figure)));
        entry.insert("about".to_owned(), json!(about));
        entry.insert("basis".to_owned(), json!(basis(&figure)));
        if !for_arithmetic(&figure).is_empty() {
            entry.insert("arithmetic".to_owned(), json!(for_arithmetic(&figure)));
        }
        entry.insert("notes".to_owned(), json!(priced.notes));
        accountants.insert(figure.accountant.to_string(), Value::Object(entry));
    }
    let mut document = json!({
        "delta": statement.delta.get(), "releases": statement.composition.count(), "accountants": accountants,
    });
    if let Some(Footing { basis, arithmetic, one_after_another }) = statement.footing {
        document["basis"] = json!(basis);
        document["arithmetic"] = json!(arithmetic.words());
        document["one_after_another"] = json!(one_after_another);
    }
    document
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

/// The smallest delta of each epsilon by the tight accountant, read off the inverse curve.
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
