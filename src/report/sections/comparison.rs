//! Two runs side by side.

use crate::report::document::{Block, Document, Facts, Section, Shown, Span, Table};
use crate::report::number::rough;
use crate::study::{Comparison, ComparisonRow};
use crate::vocab::counted;

/// One table per point and series. Metrics that are equal in all pairs are named in one line below it.
pub(in crate::report) fn document(comparison: &Comparison) -> Document {
    let runs = [("a", &comparison.a), ("b", &comparison.b)];
    let rows = runs.map(|(name, run)| (name.to_owned(), vec![Span::code(run)])).to_vec();
    let heading = vec![Block::Facts(Facts { rows, indent: 0, width: 7, shown: Shown::Everywhere })];
    let mut blocks = Vec::new();
    let mut rest = comparison.rows.as_slice();
    while let Some(first) = rest.first() {
        let alike = |row: &ComparisonRow| {
            (&row.point, &row.series_a, &row.series_b) == (&first.point, &first.series_a, &first.series_b)
        };
        let length = rest.iter().take_while(|row| alike(row)).count();
        let (group, after) = rest.split_at(length);
        rest = after;
        let mut title = if first.series_a == first.series_b {
            first.series_a.clone()
        } else {
            format!("{} (a), {} (b)", first.series_a, first.series_b)
        };
        for (name, value) in &first.point {
            title.push_str(&format!(", {name} = {value}"));
        }
        let same = |row: &&ComparisonRow| row.difference.mean == 0.0 && row.difference.se == 0.0;
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
        let equal: Vec<&str> = group.iter().filter(same).map(|row| row.metric.as_str()).collect();
        if !equal.is_empty() {
            blocks.push(Block::remark(format!("equal in both: {}", equal.join(", "))));
        }
    }
    let pairs = "n counts pairs of equal seed and replication, which draw the same random numbers. Each interval is \
                 Student's and holds on its own, not all of them together.";
    if comparison.rows.iter().any(|row| row.paired) {
        blocks.push(Block::statement(pairs, Shown::Everywhere));
    }
    blocks.extend(compared(comparison).map(|told| Block::statement(told, Shown::Everywhere)));
    let notes = comparison.notes.iter();
    blocks.extend(notes.map(|note| Block::statement(format!("note: {note}"), Shown::Everywhere)));
    let sections = vec![Section { blocks, ..Section::default() }];
    Document { heading, sections, ..Document::default() }
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

/// A p-value with two digits, or that it is below one in ten thousand.
fn p_value(p: f64) -> String {
    if p < 1e-4 { "< 0.0001".to_owned() } else { rough(p) }
}

/// What the p-values are adjusted for; `None` if there are none.
fn compared(comparison: &Comparison) -> Option<String> {
    let counts = || comparison.rows.iter().filter(|row| row.p.is_some()).map(|row| row.comparisons);
    let (least, most) = (counts().min()?, counts().max()?);
    let many =
        if least == most { counted(most, "comparison") } else { format!("{least} to {most} comparisons") };
    Some(match most {
        1 => "p is two-sided, for one comparison of each metric; nothing is adjusted for the number of metrics.".to_owned(),
        _ => format!(
            "p is two-sided and adjusted by Holm's method for the {many} of each metric (series and points): at 0.05, the probability \
             of finding any difference where there is none is at most 5 % per metric. Nothing is adjusted for the number of metrics."
        ),
    })
}

/// How many replications an effect needs, in a sentence.
fn needed(row: &ComparisonRow) -> Option<String> {
    let needed = row.needed.as_ref()?;
    let many = |replications: Option<u64>| {
        replications
            .map_or_else(|| "more than 10000000 replications".to_owned(), |n| counted(n, "replication"))
    };
    Some(format!(
        "A difference of {} in {} is found with probability {} by {} (paired t test at 5 %, standard deviation of a difference {}); by {} \
         if the standard deviation is {}, its upper 80 % bound from {}.",
        rough(needed.effect),
        row.metric.replace('_', " "),
        rough(needed.power),
        many(needed.replications),
        number(needed.sd),
        many(needed.cautious),
        number(needed.sd_upper),
        counted(row.difference.n, "pair")
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
