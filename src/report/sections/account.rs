//! The privacy loss of a list of releases, by every accountant: a section, a JSON document, and charts.

use crate::accounting::basis::infinite;
use crate::accounting::{
    Accountant, AccountantName, EpsilonKind, Figure, LossBasis, Statement, SummedLoss, added, persons,
};
use crate::report::document::{Block, Section, Table, Visibility};
use crate::report::number::{bound, delta as shown, epsilon};
use crate::report::plots::{Axis, Chart, Kind, Line, Point};
use crate::report::sections::cells::among;
use crate::report::sections::privacy::relations_of;
use crate::report::words::{arithmetic, conditions, person};
use crate::study::LedgerGroup;
use crate::vocab::{Arithmetic, counted};
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

fn is_a(figure: &Figure) -> &'static str {
    match figure.standing {
        EpsilonKind::Claim | EpsilonKind::Bound => "bound",
        EpsilonKind::NonAdaptiveBound => "bound, if the releases are not chosen adaptively",
        EpsilonKind::NotABound => "not a bound",
    }
}

/// The basis of an epsilon. Without a ledger only the costs of the releases are given, so the basis is unknown, unless the
/// epsilon is an approximation.
fn basis(figure: &Figure) -> &'static str {
    figure.basis.map_or("costs as stated", LossBasis::words)
}

/// The arithmetic for which an epsilon holds; empty if it is not a finite bound.
fn for_arithmetic(figure: &Figure) -> &'static str {
    let assumed = if figure.certifies() { ASSUMED } else { "" };
    figure.arithmetic.map_or(assumed, Arithmetic::words)
}

/// The arithmetic that is assumed for costs from a file.
const ASSUMED: &str = "ideal arithmetic assumed";

/// The remark in the report that explains [`ASSUMED`].
const STATED: &str = "The costs are taken as the file states them, and the noise as real-valued (ideal arithmetic \
                      assumed): noise that is drawn in floating point can leak more through its low bits.";

/// A table of the epsilon of every accountant, with notes.
pub(in crate::report) fn section(title: &str, statement: &Statement) -> Section {
    let (figures, summary) = (statement.figures(), statement.basis);
    let mut header = ["accountant", "epsilon", "lower", "upper", "order", "is a"].map(str::to_owned).to_vec();
    header.extend(summary.map(|_| "basis".to_owned()));
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
            row.extend(summary.map(|_| basis(figure).to_owned()));
            row
        })
        .collect();
    // The weakest arithmetic of the releases is shown only if some epsilon is a finite bound.
    let known = summary.filter(|_| figures.iter().any(Figure::certifies)).map(|summary| summary.arithmetic);
    let told = match summary {
        None => format!(", {ASSUMED}"),
        Some(_) => known.map_or_else(String::new, |arithmetic| format!(", {}", arithmetic.words())),
    };
    let title = format!(
        "{title}: {}, epsilon at delta {}{told}",
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
    match summary {
        Some(_) => blocks.extend(arithmetic(known).map(Block::remark)),
        None => blocks.push(Block::remark(STATED)),
    }
    Section { blocks, ..Section::default() }
}

/// A table of the epsilon of every accountant for some releases of a run, with notes and with the
/// neighbouring relation.
pub(in crate::report) fn of_group(group: &LedgerGroup) -> Section {
    let mut section = section(&group.title, &group.statement);
    section.blocks.extend(relations(std::slice::from_ref(group)));
    section
}

/// The neighbouring relations of some losses: one for each kind of unit; if series differ in the relation, each relation
/// with the names of its series.
fn relations(groups: &[LedgerGroup]) -> Vec<Block> {
    let all = groups.iter().map(|group| (group.kind.unit, &group.kind.neighbours, group.series.as_str()));
    relations_of(all).into_iter().map(|told| Block::remark(format!("neighbours, {told}"))).collect()
}

/// The losses of a run as one list. First there is an entry for each series, observer and unit, with the epsilons of every
/// accountant. Then there is an entry for each sum of a loss about a row and a loss about an outcome: the loss about a
/// person who contributes both. Cells with the same epsilons share an entry.
pub(in crate::report) fn of_groups(groups: &[LedgerGroup]) -> Section {
    let mut lines: Vec<Entry> = Vec::new();
    for group in groups {
        let line = Entry::of(group);
        match lines.iter_mut().find(|known| known.is_like(&line)) {
            Some(known) => known.cells.extend(line.cells),
            None => lines.push(line),
        }
    }
    for (cell, sum) in sums(groups) {
        match lines.iter_mut().find(|known| known.is_like(&sum)) {
            Some(known) => known.cells.push(cell),
            None => lines.push(sum),
        }
    }
    let mut points: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for group in groups {
        points
            .entry(group.cell)
            .or_insert_with(|| group.point.iter().map(|(_, value)| value.clone()).collect());
    }
    let axes: Vec<String> = groups
        .first()
        .map(|group| group.point.iter().map(|(name, _)| name.clone()).collect())
        .unwrap_or_default();
    let all: Vec<Vec<String>> = points.values().cloned().collect();
    let Some(first) = lines.first() else { return Section::default() };
    let deltas_differ = lines.iter().any(|line| line.delta.to_bits() != first.delta.to_bits());
    let at = if deltas_differ { String::new() } else { format!(", at delta {}", shown(first.delta)) };
    let title = format!("Epsilon of one run by every accountant{at}");
    let mut blocks = vec![Block::statement(title, Visibility::Everywhere)];
    for line in &lines {
        let mut about = line.about.clone();
        let mut cells = line.cells.clone();
        cells.dedup();
        if cells.len() < points.len() {
            let here: Vec<&Vec<String>> = cells.iter().filter_map(|cell| points.get(cell)).collect();
            about.push_str(&format!(" ({})", among(&axes, &all, &here)));
        }
        if deltas_differ {
            about.push_str(&format!(", at delta {}", shown(line.delta)));
        }
        blocks.push(Block::statement(about, Visibility::Everywhere));
        blocks.push(Block::remark(line.words.clone()));
        blocks.extend(line.conditions.iter().cloned().map(Block::remark));
    }
    blocks.extend(relations(groups));
    blocks.extend(arithmetic(lines.iter().filter_map(|line| line.arithmetic)).map(Block::remark));
    blocks.push(Block::remark(
        "~: an approximation, not a bound. With --accountants: lower and upper bounds, orders, and notes.",
    ));
    Section { blocks, ..Section::default() }
}

/// The losses of one series to one observer, about one unit or about a person, and the cells in which these losses are
/// the same.
struct Entry {
    about: String,
    /// The basis and the epsilons.
    words: String,
    /// The conditions of the epsilons, each in full.
    conditions: Vec<String>,
    /// The weakest arithmetic of the finite bounds; `None` without a finite bound.
    arithmetic: Option<Arithmetic>,
    cells: Vec<usize>,
    delta: f64,
}

impl Entry {
    fn of(group: &LedgerGroup) -> Self {
        let figures = group.statement.figures();
        let arithmetic = figures.iter().filter(|one| one.certifies()).filter_map(|one| one.arithmetic).min();
        // An epsilon that is not a bound is marked.
        let figure = |figure: &Figure| {
            let value = figure.priced.epsilon;
            let mark = if figure.standing == EpsilonKind::NotABound && value.is_finite() { "~" } else { "" };
            format!("{} {mark}{}", figure.accountant, bound(value))
        };
        let told = match figures.iter().all(|figure| figure.priced.epsilon.is_infinite()) {
            true => "every accountant inf".to_owned(),
            false => figures.iter().map(figure).collect::<Vec<_>>().join(", "),
        };
        let rests = figures.first().map_or("", basis);
        let mut on: Vec<String> = Vec::new();
        for condition in figures.iter().flat_map(|one| &one.priced.notes).flat_map(|note| conditions(note)) {
            if arithmetic.is_some() && !on.iter().any(|known| known == condition) {
                on.push(condition.to_owned());
            }
        }
        Self {
            about: group.about.clone(),
            words: format!("{rests}{}: {told}", ideal(arithmetic)),
            conditions: on,
            arithmetic,
            cells: vec![group.cell],
            delta: group.statement.delta.get(),
        }
    }

    fn is_like(&self, other: &Self) -> bool {
        self.about == other.about
            && self.delta.to_bits() == other.delta.to_bits()
            && (&self.words, &self.conditions) == (&other.words, &other.conditions)
    }
}

/// The word for ideal arithmetic, which is a restriction; exact arithmetic is not mentioned.
fn ideal(of: Option<Arithmetic>) -> &'static str {
    if of == Some(Arithmetic::Ideal) { ", ideal" } else { "" }
}

/// The losses about persons whose row and outcome both change, each with the number of the cell in which it holds.
/// Such a loss is the sum of the tight accountant's losses about the row and about the outcome. If
/// several rows or outcomes may have the largest loss, there is a sum for each pair of such a row and
/// such an outcome.
fn sums(groups: &[LedgerGroup]) -> Vec<(usize, Entry)> {
    let same = |a: &LedgerGroup, b: &LedgerGroup| {
        (a.cell, &a.series, &a.kind.protected, &a.kind.observer)
            == (b.cell, &b.series, &b.kind.protected, &b.kind.observer)
    };
    let part = |group: &LedgerGroup| {
        let figure =
            group.statement.figures().into_iter().find(|one| one.accountant == AccountantName::Tight)?;
        let epsilon = figure.standing.adaptive_bound(figure.priced.epsilon, figure.priced.upper);
        let (delta, note) = (group.statement.delta.get(), figure.priced.notes.join("; "));
        let basis = figure.basis.unwrap_or(LossBasis::Unprotected);
        Some(SummedLoss { epsilon, delta, basis, arithmetic: figure.arithmetic, note })
    };
    let sum = |(row, outcome): (&LedgerGroup, &LedgerGroup)| {
        let (a, b) = (part(row)?, part(outcome)?);
        let whole = added(&a.part(), &b.part());
        let finite = whole.epsilon.is_finite();
        let rests = format!("{}{}", whole.basis, ideal(whole.arithmetic));
        let words = format!(
            "{rests}: tight {} = {} + {}, row and outcome added up",
            bound(whole.epsilon),
            bound(a.epsilon),
            bound(b.epsilon)
        );
        // If one of the two epsilons is infinite, no conditions are listed here: the entry of that epsilon has the reason.
        let known = a.epsilon.is_finite() && b.epsilon.is_finite();
        let on = conditions(&whole.note).into_iter().filter(|_| known).map(str::to_owned);
        let line = Entry {
            about: format!("{}: {} about {}", row.series, row.kind.observer.0, person(&row.kind.protected)),
            words: if finite { words } else { format!("{rests}: no finite sum") },
            conditions: on.collect(),
            arithmetic: whole.arithmetic,
            cells: vec![row.cell],
            delta: whole.delta,
        };
        Some((row.cell, line))
    };
    persons(groups, |group| group.kind.unit, same).filter_map(sum).collect()
}

/// The privacy loss of releases, as JSON.
#[derive(Clone, Debug, Serialize)]
pub struct AccountDocument {
    /// The delta at which epsilons are stated.
    pub delta: f64,
    /// How many releases there are.
    pub releases: u64,
    /// The result of each accountant, by name; the first is the main accountant, whose epsilon is to be quoted.
    #[serde(serialize_with = "by_name")]
    pub accountants: Vec<(&'static str, AccountantFigures)>,
    /// Further facts if the releases are those of a run.
    #[serde(flatten)]
    pub release_facts: Option<ReleaseFacts>,
}

/// Facts about the releases of a run besides their costs.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ReleaseFacts {
    /// The basis of the costs, as in the run's report.
    pub basis: LossBasis,
    /// The arithmetic for which the costs hold, in words.
    pub arithmetic: &'static str,
    /// Whether some releases may have been chosen adaptively, depending on the results of earlier releases.
    pub adaptive: bool,
}

/// One accountant's answer.
#[derive(Clone, Debug, Serialize)]
pub struct AccountantFigures {
    /// Its epsilon.
    #[serde(serialize_with = "infinite::serialize")]
    pub epsilon: f64,
    /// Certified lower bound of the exact epsilon, if known.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "infinite::serialize_optional")]
    pub lower: Option<f64>,
    /// Certified upper bound of the exact epsilon, if known.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "infinite::serialize_optional")]
    pub upper: Option<f64>,
    /// The order of the divergence that gave the epsilon, for accountants that optimise over orders.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "infinite::serialize_optional")]
    pub order: Option<f64>,
    /// Whether the epsilon is a bound, in words.
    pub standing: &'static str,
    /// The accountant's method.
    pub about: Option<&'static str>,
    /// The basis of the epsilon, in words.
    pub basis: &'static str,
    /// The arithmetic for which the epsilon holds, in words; empty if it is not a finite bound.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub arithmetic: &'static str,
    /// Notes of the accountant, such as the conditions of a bound.
    pub notes: Vec<String>,
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
            epsilon: figure.priced.epsilon,
            lower: figure.priced.lower,
            upper: figure.priced.upper,
            order: figure.priced.order,
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
        release_facts: statement.basis.map(|summary| ReleaseFacts {
            basis: summary.basis,
            arithmetic: summary.arithmetic.words(),
            adaptive: summary.is_adaptive,
        }),
    }
}

/// Epsilon after the first k releases, in the order given, for at most 60 values of k: a line for every accountant, with a
/// point where its epsilon is finite.
#[must_use]
pub fn account_over_rounds(statement: &Statement) -> Chart {
    const POINTS: u64 = 60;
    let figures = statement.figures();
    let bound = |name: &AccountantName| {
        !figures.iter().any(|one| one.accountant == *name && one.standing == EpsilonKind::NotABound)
    };
    let over = statement.over_releases(POINTS);
    let approximate: Vec<String> =
        over.iter().map(|(name, _)| name).filter(|name| !bound(name)).map(ToString::to_string).collect();
    let note = match approximate.as_slice() {
        [] => String::new(),
        [one] => format!("{one} is shown for comparison and is not a bound"),
        all => format!("{} are shown for comparison and are not bounds", all.join(" and ")),
    };
    let lines = over.into_iter().map(|(name, points)| {
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
        note,
    )
}

/// Delta as a function of epsilon by the tight accountant: epsilon is computed on a grid of deltas, and the axes are
/// swapped.
#[must_use]
pub fn account_curve(statement: &Statement) -> Chart {
    let points = statement
        .tight_curve()
        .into_iter()
        .map(|(value, delta)| Point {
            says: shown(delta),
            ..point(value, delta, format!("epsilon {value:.4}"))
        })
        .collect();
    chart(
        "delta-over-epsilon",
        "delta(epsilon), tight",
        "epsilon",
        "delta",
        vec![("tight".to_owned(), points)],
        "by the tight accountant: a bound (for exponential mechanisms, only if they are fixed in advance)"
            .to_owned(),
    )
}

fn point(x: f64, y: f64, at: String) -> Point {
    Point { x, y, error: 0.0, says: epsilon(y), at }
}

fn chart(id: &str, title: &str, x: &str, y: &str, lines: Vec<(String, Vec<Point>)>, note: String) -> Chart {
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
        note,
        beyond: Vec::new(),
        caption: String::new(),
    }
}
