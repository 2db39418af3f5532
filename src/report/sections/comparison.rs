//! The report of `compare`: two runs side by side.

use super::cells::{Rows, merge};
use super::points::value;
use crate::report::document::{Block, Document, Facts, Section, Span, Table, Visibility};
use crate::report::number::two_digits;
use crate::report::words::outcome_in_brief;
use crate::study::{Comparison, ComparisonRow};
use crate::vocab::counted;

/// The metrics of the short comparison, the most important first; the first two that the runs have are shown.
const MAIN: [&str; 6] = [
    "f(lambda*) - f(lambda~)",
    "simple_regret",
    "regret_per_question",
    "virtual_seconds",
    "bytes",
    "cumulative_regret",
];

/// Whether `metric` is the metric `main`, or the metric `main` of one group of agents.
fn is(metric: &str, main: &str) -> bool {
    metric.strip_prefix(main).is_some_and(|rest| rest.is_empty() || rest.starts_with(" of "))
}

/// The comparison in short: lines with the changes of two metrics, by series and cell, and what else differs. With `full`,
/// a table of every metric for each series and cell.
pub(in crate::report) fn document(comparison: &Comparison, full: bool) -> Document {
    let runs = [("a", &comparison.a), ("b", &comparison.b)];
    let rows = runs.map(|(name, run)| (name.to_owned(), vec![Span::code(run)])).to_vec();
    let heading = vec![Block::Facts(Facts { rows, indent: 0, width: 7, shown: Visibility::Everywhere })];
    let mut blocks = if full { every_metric(comparison) } else { short(comparison) };
    let pairs = "n counts pairs of equal seed and replication, which draw the same random numbers. The confidence of \
                 Student's t intervals is for each interval by itself, not for all of them together.";
    if comparison.rows.iter().any(|row| row.paired) {
        blocks.push(Block::statement(pairs, Visibility::Everywhere));
    }
    blocks.extend(compared(comparison, full).map(|told| Block::statement(told, Visibility::Everywhere)));
    let notes = comparison.notes.iter();
    blocks.extend(notes.map(|note| Block::statement(format!("note: {note}"), Visibility::Everywhere)));
    let sections = vec![Section { blocks, ..Section::default() }];
    Document { heading, sections, ..Document::default() }
}

/// The rows of each series in each cell.
fn groups(comparison: &Comparison) -> Vec<&[ComparisonRow]> {
    let alike = |a: &ComparisonRow, b: &ComparisonRow| {
        (&a.point, &a.series_a, &a.series_b) == (&b.point, &b.series_a, &b.series_b)
    };
    comparison.rows.chunk_by(alike).collect()
}

/// The common name of the two series that are compared, or both names if the names differ.
fn series(row: &ComparisonRow) -> String {
    if row.series_a == row.series_b {
        row.series_a.clone()
    } else {
        format!("{} (a), {} (b)", row.series_a, row.series_b)
    }
}

fn same(row: &ComparisonRow) -> bool {
    row.difference.mean == 0.0 && row.difference.se == 0.0
}

/// Whether a difference is significant at 5 %, adjusted for the number of comparisons.
fn apart(row: &ComparisonRow) -> bool {
    row.p_adjusted.is_some_and(|p| p <= 0.05)
}

/// A line for each cell of each series, except for the series whose metrics are all equal in both runs. If no number of a
/// series depends on an axis, its lines that differ only in this axis are merged. Sentences below the lines name the series
/// without lines, and further metrics that differ significantly.
fn short(comparison: &Comparison) -> Vec<Block> {
    let shown: Vec<&str> = MAIN
        .into_iter()
        .filter_map(|main| {
            comparison.rows.iter().map(|row| row.metric.as_str()).find(|metric| is(metric, main))
        })
        .take(2)
        .collect();
    let mut axes: Vec<String> = Vec::new();
    for name in comparison.rows.iter().flat_map(|row| row.point.keys()) {
        if !axes.contains(name) {
            axes.push(name.clone());
        }
    }
    let mut names: Vec<String> = Vec::new();
    let all = groups(comparison);
    for group in &all {
        if !names.contains(&series(&group[0])) {
            names.push(series(&group[0]));
        }
    }
    let (mut lines, mut equal) = (Vec::new(), Vec::new());
    for name in names {
        let of: Vec<&&[ComparisonRow]> = all.iter().filter(|group| series(&group[0]) == name).collect();
        if of.iter().all(|group| group.iter().all(same)) {
            equal.push((name, of.len()));
            continue;
        }
        let line = |group: &&&[ComparisonRow]| {
            let point = axes.iter().map(|axis| group[0].point.get(axis).map_or_else(String::new, value));
            let exact: Vec<(u64, u64)> = group.iter().map(|row| (row.a.to_bits(), row.b.to_bits())).collect();
            let change = |metric: &&str| {
                group.iter().find(|row| row.metric == *metric).map_or_else(String::new, change)
            };
            (point.collect(), exact, shown.iter().map(change).collect())
        };
        lines.push((name, of.iter().map(line).collect()));
    }
    let mut blocks = Vec::new();
    if !lines.is_empty() {
        let found: Rows = merge(axes, lines);
        let remark = found.remark();
        let title = format!(
            "Change from a to b: mean of b - a [{:.0} % interval]{}",
            comparison.confidence * 100.0,
            pairs(comparison)
        );
        let columns = shown.iter().map(|metric| outcome_in_brief(metric).replace('_', " "));
        blocks.push(Block::Table(found.table(title, columns)));
        blocks.extend(remark);
    }
    let planned = || comparison.rows.iter().filter_map(|row| Some((row, needed(row)?)));
    let several = planned().nth(1).is_some();
    blocks.extend(planned().map(|(row, told)| match several {
        true => Block::remark(format!("{}: {told}", place(row))),
        false => Block::remark(told),
    }));
    let mut told: Vec<(usize, Vec<String>)> = Vec::new();
    for (name, cells) in equal {
        match told.iter_mut().find(|(count, _)| *count == cells) {
            Some((_, names)) => names.push(name),
            None => told.push((cells, vec![name])),
        }
    }
    for (cells, names) in told {
        let place = if cells > 1 { format!(", in all {cells} cells") } else { String::new() };
        let told = format!("a and b are equal in every metric{place}: {}", names.join("; "));
        blocks.push(Block::statement(told, Visibility::Everywhere));
    }
    let mut more: Vec<String> = Vec::new();
    for row in comparison.rows.iter().filter(|row| !shown.contains(&row.metric.as_str()) && apart(row)) {
        let name = row.metric.replace('_', " ");
        if !more.contains(&name) {
            more.push(name);
        }
    }
    if !more.is_empty() {
        let told = format!("also significant at 5 %: {}", more.join("; "));
        blocks.push(Block::statement(told, Visibility::Everywhere));
    }
    blocks
        .push(Block::statement("--full has every metric of every series and cell.", Visibility::Everywhere));
    blocks
}

/// The number of pairs, or without pairs the size of the smaller sample, if this number is the same in all rows.
fn pairs(comparison: &Comparison) -> String {
    let mut counts = comparison.rows.iter().map(|row| row.difference.n);
    match counts.next() {
        Some(first) if counts.all(|n| n == first) => format!(", n = {first}"),
        _ => String::new(),
    }
}

/// A difference and its interval, and a mark if it is significant at 5 %: "-0.068 [-0.17, 0.033]".
fn change(row: &ComparisonRow) -> String {
    match (row.low, row.high) {
        _ if same(row) => "equal".to_owned(),
        (Some(low), Some(high)) => {
            let mark = if apart(row) { " *" } else { "" };
            format!("{} [{}, {}]{mark}", two_digits(row.difference.mean), two_digits(low), two_digits(high))
        }
        _ => two_digits(row.difference.mean),
    }
}

/// The series that a row compares, and the values of the swept axes: "alone (a), FTS (b), h = 0.2".
fn place(row: &ComparisonRow) -> String {
    let axes = row.point.iter().map(|(name, of)| format!(", {name} = {}", value(of)));
    [series(row)].into_iter().chain(axes).collect()
}

/// One table per cell and series. Metrics that are equal in all pairs are named in one line below the table.
fn every_metric(comparison: &Comparison) -> Vec<Block> {
    let mut blocks = Vec::new();
    for group in groups(comparison) {
        let mut title = place(&group[0]);
        let rows = group.iter().filter(|row| !same(row)).map(cells).collect::<Vec<_>>();
        let interval = format!("{:.0} % interval", comparison.confidence * 100.0);
        let header = ["metric", "a", "b", "b - a", &interval, "n", "p"].map(str::to_owned).to_vec();
        if rows.is_empty() {
            title.push_str(": equal in every metric");
            blocks.push(Block::Table(Table::new(title, header, rows, 1)));
            continue;
        }
        blocks.push(Block::Table(Table::new(title, header, rows, 1)));
        blocks.extend(group.iter().filter_map(needed).map(Block::remark));
        let equal: Vec<&str> = group.iter().filter(|row| same(row)).map(|row| row.metric.as_str()).collect();
        if !equal.is_empty() {
            blocks.push(Block::remark(format!("equal in both: {}", equal.join(", "))));
        }
    }
    blocks
}

fn cells(row: &ComparisonRow) -> Vec<String> {
    let interval = match (row.low, row.high) {
        (Some(low), Some(high)) => format!("{} to {}", number(low), number(high)),
        (None, _) | (_, None) => "none".to_owned(),
    };
    vec![
        row.metric.replace('_', " "),
        number(row.a),
        number(row.b),
        number(row.difference.mean),
        interval,
        row.difference.n.to_string(),
        row.p_adjusted.map_or_else(|| "none".to_owned(), p_value),
    ]
}

/// A p-value as text: with two digits, or "< 0.0001" if it is below one in ten thousand.
fn p_value(p: f64) -> String {
    if p < 1e-4 { "< 0.0001".to_owned() } else { two_digits(p) }
}

/// What the p-values are adjusted for; `None` if there are no p-values. The short comparison shows marks in place of the
/// p-values.
fn compared(comparison: &Comparison, full: bool) -> Option<String> {
    let counts = || comparison.rows.iter().filter(|row| row.p.is_some()).map(|row| row.comparisons);
    let (least, most) = (counts().min()?, counts().max()?);
    let many =
        if least == most { counted(most, "comparison") } else { format!("{least} to {most} comparisons") };
    if !full {
        let what = match comparison.rows.iter().any(apart) {
            true => "*: significant at 5 %",
            false => "no difference is significant at 5 %",
        };
        return Some(match most {
            1 => format!("{what}; not adjusted for the number of metrics."),
            _ => format!("{what}, by Holm's method for {many} of each metric."),
        });
    }
    Some(match most {
        1 => "p is two-sided, for one comparison of each metric; nothing is adjusted for the number of metrics.".to_owned(),
        _ => format!(
            "p is two-sided and adjusted by Holm's method for the {many} of each metric (one for each series and cell): at 0.05, the \
             probability of finding any difference where there is none is at most 5 % per metric. Nothing is adjusted for the number of metrics."
        ),
    })
}

/// How many replications are needed to find an effect of the stated size, in a sentence.
fn needed(row: &ComparisonRow) -> Option<String> {
    let needed = row.needed.as_ref()?;
    let many = |replications: Option<u64>| {
        replications
            .map_or_else(|| "more than 10000000 replications".to_owned(), |n| counted(n, "replication"))
    };
    Some(format!(
        "A paired t test at 5 % finds a difference of {} in {} with probability {} if there are {} and the standard deviation of a \
         difference is {}. If it is {}, the upper 80 % bound from {}, this takes {}.",
        two_digits(needed.effect),
        row.metric.replace('_', " "),
        two_digits(needed.power),
        many(needed.replications),
        number(needed.sd),
        number(needed.sd_upper),
        counted(row.difference.n, "pair"),
        many(needed.cautious)
    ))
}

/// A number with four significant digits.
fn number(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let magnitude = libm::floor(libm::log10(value.abs()));
    if (-4.0..7.0).contains(&magnitude) {
        let places = (3.0 - magnitude).max(0.0) as usize;
        format!("{value:.places$}")
    } else {
        format!("{value:.3e}")
    }
}
