//! What a list of releases costs, by every accountant: a section, a document for programs, and charts.

use crate::accounting::{self, Accountant, Composition, Priced, Tight};
use crate::report::document::{Block, Section, Table};
use crate::report::number::{delta as shown, epsilon};
use crate::report::plots::{Axis, Chart, Kind, Line, Point};
use crate::report::words::arithmetic;
use crate::study::{LossStanding, basis_for, standing};
use crate::vocab::{Cost, Delta, counted};
use serde::{Serialize, Serializer};

/// What is known of releases that a run made, besides their costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Footing {
    /// On what the costs rest: "proven", "conditional" and so on, as in the run's report.
    pub basis: &'static str,
    /// For which arithmetic they hold: "ideal arithmetic", "exact arithmetic" or "no noise drawn".
    pub arithmetic: &'static str,
    /// Whether some may have been chosen in knowledge of others.
    pub one_after_another: bool,
}

/// Every accountant with its answer, the one to quote first.
fn price_all(
    composition: &Composition,
    delta: Delta,
    footing: Option<&Footing>,
) -> Vec<(&'static dyn Accountant, Priced)> {
    let price = |accountant: &'static dyn Accountant| {
        let priced = accountant.price(composition, delta);
        let chosen = footing.is_some_and(|footing| footing.one_after_another);
        (accountant, if chosen { priced.one_after_another() } else { priced })
    };
    accounting::all().into_iter().map(price).collect()
}

fn is_a(accountant: &dyn Accountant, priced: &Priced) -> &'static str {
    match standing(accountant.name(), priced.standing) {
        LossStanding::Claim | LossStanding::Bound => "bound",
        LossStanding::NonAdaptiveBound => "bound, if not chosen adaptively",
        LossStanding::NotABound => "not a bound",
    }
}

/// On what an accountant's figure rests, and for which arithmetic it holds (empty for what certifies nothing). Without a
/// ledger nothing is known of the releases but their costs.
fn rests(
    accountant: &dyn Accountant,
    priced: &Priced,
    footing: Option<&Footing>,
) -> (&'static str, &'static str) {
    let stated = Footing { basis: "costs as stated", arithmetic: ASSUMED, one_after_another: false };
    let footing = footing.unwrap_or(&stated);
    let basis = basis_for(accountant.name(), footing.basis);
    let certifies = basis != "approximation" && priced.epsilon.is_finite();
    (basis, if certifies { footing.arithmetic } else { "" })
}

/// What is taken to hold of costs that stand in a file by themselves.
const ASSUMED: &str = "ideal arithmetic assumed";

/// What that means.
const STATED: &str = "The costs are taken as the file states them, and the noise as real-valued (ideal arithmetic \
                      assumed): noise that is drawn in floating point can leak more through its low bits.";

/// Every accountant's figure, with what is to be known of it.
pub(in crate::report) fn section(
    title: &str,
    composition: &Composition,
    delta: Delta,
    footing: Option<&Footing>,
) -> Section {
    let priced = price_all(composition, delta, footing);
    let mut header = ["accountant", "epsilon", "lower", "upper", "order", "is a"].map(str::to_owned).to_vec();
    header.extend(footing.map(|_| "basis".to_owned()));
    let optional = |value: Option<f64>| value.map_or_else(String::new, epsilon);
    let rows = priced
        .iter()
        .map(|(accountant, priced)| {
            let mut row = vec![
                accountant.name().to_owned(),
                epsilon(priced.epsilon),
                optional(priced.lower),
                optional(priced.upper),
                priced.order.map_or_else(String::new, |order| format!("{order:.2}")),
                is_a(*accountant, priced).to_owned(),
            ];
            row.extend(footing.map(|_| rests(*accountant, priced, footing).0.to_owned()));
            row
        })
        .collect();
    let arithmetic_of_all = footing.map_or(ASSUMED, |footing| footing.arithmetic);
    let title = format!(
        "{title}: {}, epsilon at delta {}, {arithmetic_of_all}",
        counted(composition.count(), "release"),
        shown(delta.get())
    );
    let table = Table { heads: 1, ..Table::new(title, header, rows, usize::MAX) };
    let mut notes: Vec<&str> = Vec::new();
    for note in priced.iter().flat_map(|(_, priced)| &priced.notes) {
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

/// What releases cost, for programs.
#[derive(Clone, Debug, Serialize)]
pub struct AccountDocument {
    /// The delta at which epsilons are stated.
    pub delta: f64,
    /// How many releases there are.
    pub releases: u64,
    /// Each accountant's answer by its name, the one to quote first.
    #[serde(serialize_with = "by_name")]
    pub accountants: Vec<(&'static str, AccountantFigures)>,
    /// What is known of releases that a run made.
    #[serde(flatten)]
    pub footing: Option<Footing>,
}

/// One accountant's answer.
#[derive(Clone, Debug, Serialize)]
pub struct AccountantFigures {
    /// Its epsilon.
    pub epsilon: Figure,
    /// The least that its exact value can be, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lower: Option<Figure>,
    /// The most that its exact value can be, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upper: Option<Figure>,
    /// The order of the divergence that gave it, for accountants that search one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<Figure>,
    /// Whether it is a bound.
    pub standing: &'static str,
    /// How the accountant counts.
    pub about: &'static str,
    /// On what it rests.
    pub basis: &'static str,
    /// For which arithmetic it holds; empty where it certifies nothing.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub arithmetic: &'static str,
    /// What to know about it.
    pub notes: Vec<String>,
}

/// A number, or "inf" where it is not finite: JSON has no infinity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure(pub f64);

impl Serialize for Figure {
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

/// What a list of releases costs by every accountant, for programs.
#[must_use]
pub fn account_document(
    composition: &Composition,
    delta: Delta,
    footing: Option<&Footing>,
) -> AccountDocument {
    let figures = |(accountant, priced): (&'static dyn Accountant, Priced)| {
        let (basis, arithmetic) = rests(accountant, &priced, footing);
        let figures = AccountantFigures {
            epsilon: Figure(priced.epsilon),
            lower: priced.lower.map(Figure),
            upper: priced.upper.map(Figure),
            order: priced.order.map(Figure),
            standing: is_a(accountant, &priced),
            about: accountant.about(),
            basis,
            arithmetic,
            notes: priced.notes,
        };
        (accountant.name(), figures)
    };
    AccountDocument {
        delta: delta.get(),
        releases: composition.count(),
        accountants: price_all(composition, delta, footing).into_iter().map(figures).collect(),
        footing: footing.copied(),
    }
}

/// Epsilon after every release, in the order given, by every accountant that can price them.
#[must_use]
pub fn account_over_rounds(costs: &[(Cost, u64)], delta: Delta) -> Chart {
    const POINTS: u64 = 60;
    let total = costs.iter().fold(0, |sum: u64, (_, count)| sum.saturating_add(*count));
    let points = POINTS.min(total);
    // In wide numbers: k times a large total does not fit into 64 bits.
    let step = |k: u64| (u128::from(k) * u128::from(total) / u128::from(points)) as u64;
    let steps: Vec<u64> = (1..=points).map(step).collect();
    let first = |releases: u64| {
        let (mut left, mut composition) = (releases, Composition::new());
        for (cost, count) in costs {
            let taken = (*count).min(left);
            composition.add(cost, taken);
            left -= taken;
        }
        composition
    };
    let lines = accounting::all().map(|accountant| {
        let points = steps.iter().filter_map(|&step| {
            let value = accountant.price(&first(step), delta).epsilon;
            value
                .is_finite()
                .then(|| point(step as f64, value, format!("after {}", counted(step, "release"))))
        });
        (accountant.name().to_owned(), points.collect())
    });
    chart(
        "epsilon-over-releases",
        "Epsilon over releases",
        "releases so far",
        &format!("epsilon at delta {}", shown(delta.get())),
        lines.into(),
    )
}

/// The smallest delta of each epsilon by the tight accountant, read off the inverse curve.
#[must_use]
pub fn account_curve(composition: &Composition) -> Chart {
    let points = (1..=48).filter_map(|k| {
        let delta = Delta::new(libm::pow(10.0, -0.25 * f64::from(k))).ok()?;
        let value = Tight.price(composition, delta).epsilon;
        value.is_finite().then(|| point(value, delta.get(), format!("epsilon {value:.4}")))
    });
    let mut points: Vec<Point> = points.collect();
    points.reverse();
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
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
