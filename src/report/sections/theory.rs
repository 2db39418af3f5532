//! Theorems' bounds on charts of regret: drawn as far as they fit on the chart, else given in words.

use super::lines::{Named, capital, numbers};
use crate::protocols::{BoundSide, BoundedRegret, RegretBound};
use crate::report::number::quantity_of;
use crate::report::plots::{Axis, Chart, Kind, Line, Point};

/// The axis is extended for a bound whose last value is at most this multiple of the largest measured value.
const ROOM: f64 = 1.6;

/// A bound, and the indices of the lines to which it applies.
struct Entry<'a> {
    bound: &'a RegretBound,
    of: Vec<usize>,
}

/// Adds the bounds on the regret of some lines to the chart of these lines: each bound as a line with its own legend entry.
/// A bound that leaves the chart is also stated in words. Three kinds of bounds are stated in words only: a trivial bound, a
/// bound with a single point, and a bound that leaves the chart before its second point. A bound without points adds only
/// its caveats.
pub(super) fn add(chart: &mut Chart, lines: &[Named<'_>], regret: BoundedRegret) {
    let mut entries: Vec<Entry<'_>> = Vec::new();
    for (index, (_, series)) in lines.iter().enumerate() {
        for bound in series.bounds.iter().filter(|bound| bound.regret == regret) {
            let same = |known: &&mut Entry<'_>| {
                let known = known.bound;
                (known.side, &known.source, &known.points) == (bound.side, &bound.source, &bound.points)
            };
            match entries.iter_mut().find(same) {
                Some(known) => known.of.push(index),
                None => entries.push(Entry { bound, of: vec![index] }),
            }
        }
    }
    if entries.is_empty() {
        return;
    }
    let most = numbers(&chart.lines).map(|(value, error)| value + error).fold(0.0, f64::max);
    let room = |entry: &Entry<'_>| last(entry.bound).filter(|value| *value <= ROOM * most);
    let further: Vec<(f64, f64)> = entries.iter().filter_map(room).map(|value| (value, 0.0)).collect();
    let values: Vec<(f64, f64)> = numbers(&chart.lines).chain(further).collect();
    chart.y = if chart.y.log { Axis::fit(values) } else { Axis::plain(values) };
    // The trivial bounds in words, by largest possible regret.
    let mut trivial: Vec<(String, Vec<String>)> = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        let side = words(entry.bound.side);
        let alone = entries.iter().filter(|other| other.bound.side == entry.bound.side).count() == 1;
        let name = match (entry.bound.side, alone) {
            (BoundSide::Lower, true) => side.to_owned(),
            _ => format!("{side} for {}", line_names(lines, &entry.of)),
        };
        if is_trivial(entry.bound) {
            let value = last(entry.bound).unwrap_or(f64::INFINITY);
            let who = line_names(lines, &entry.of);
            let round = entry.bound.points.last().map_or(0, |(t, _)| *t);
            let largest = format!("{} by round {round}", quantity_of(entry.bound.largest_possible));
            let told = format!("{who}, {} ({})", quantity_of(value), entry.bound.source);
            match trivial.iter_mut().find(|(known, _)| *known == largest) {
                Some((_, of)) => of.push(told),
                None => trivial.push((largest, vec![told])),
            }
        } else {
            draw(chart, entry.bound, &name, index);
        }
    }
    for (largest, of) in trivial {
        chart.beyond.push(format!(
            "Upper bounds above the largest possible regret, {largest}, are not drawn: {}",
            of.join("; ")
        ));
    }
    chart.caption = caveats(&entries);
}

/// Whether an upper bound is trivial: even querying the worst arm in every round would satisfy it.
fn is_trivial(bound: &RegretBound) -> bool {
    bound.side == BoundSide::Upper && last(bound).is_some_and(|value| value > bound.largest_possible)
}

/// The caveats of all bounds, each once, with the theorems to which it applies.
fn caveats(entries: &[Entry<'_>]) -> String {
    let mut found: Vec<(&str, Vec<&str>)> = Vec::new();
    for bound in entries.iter().map(|entry| entry.bound) {
        let source = bound.source.as_str();
        for caveat in &bound.caveats {
            match found.iter_mut().find(|(known, _)| known == caveat) {
                Some((_, of)) if of.contains(&source) => {}
                Some((_, of)) => of.push(source),
                None => found.push((caveat, vec![source])),
            }
        }
    }
    let told = found.into_iter().map(|(caveat, of)| format!("{} ({}).", capital(caveat), cited(&of)));
    let told: Vec<String> = told.collect();
    if told.is_empty() { String::new() } else { format!("About the bounds: {}", told.join(" ")) }
}

/// Citations of theorems, with each paper named once before its theorems.
fn cited(sources: &[&str]) -> String {
    let mut papers: Vec<(&str, Vec<&str>)> = Vec::new();
    for source in sources {
        let (paper, theorem) = source.split_once(", ").unwrap_or((source, ""));
        match papers.iter_mut().find(|(known, _)| *known == paper) {
            Some((_, theorems)) => theorems.push(theorem),
            None => papers.push((paper, vec![theorem])),
        }
    }
    let told = papers.iter().map(|(paper, theorems)| format!("{paper}, {}", theorems.join(", ")));
    told.map(|text| text.trim_end_matches(", ").to_owned()).collect::<Vec<_>>().join("; ")
}

fn words(side: BoundSide) -> &'static str {
    match side {
        BoundSide::Lower => "lower bound",
        BoundSide::Upper => "upper bound",
    }
}

fn last(bound: &RegretBound) -> Option<f64> {
    bound.points.last().map(|(_, value)| *value)
}

/// A short description of the lines to which a bound applies.
fn line_names(lines: &[Named<'_>], of: &[usize]) -> String {
    let first = of.first().map_or("", |index| lines[*index].0.as_str());
    match of.len() {
        0 | 1 => first.to_owned(),
        n => format!("{first} and {} more", n - 1),
    }
}

fn draw(chart: &mut Chart, bound: &RegretBound, name: &str, index: usize) {
    let top = chart.y.high;
    let inside = |value: f64| chart.y.position(value).is_some_and(|position| position <= top);
    let points: Vec<Point> = bound
        .points
        .iter()
        .take_while(|(_, value)| inside(*value))
        .map(|(t, value)| Point {
            x: *t as f64,
            y: *value,
            error: 0.0,
            at: format!("round {t}"),
            says: quantity_of(*value),
        })
        .collect();
    let whole = points.len() == bound.points.len();
    let drawn = points.len() > 1;
    if drawn {
        let key = chart.legend.len();
        chart.legend.push(format!("{name} ({})", bound.source));
        chart.lines.push(Line { key, kind: Kind::Bound(index), points });
    }
    // A bound with a single point is no line.
    let Some((t, value)) = bound.points.last().filter(|_| !whole || !drawn) else { return };
    let beyond = if whole { "" } else { ", beyond this chart" };
    let told = format!("{} ({}): {} at round {t}{beyond}", capital(name), bound.source, quantity_of(*value));
    chart.beyond.push(told);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::plots::Axis;

    #[test]
    fn a_paper_is_named_once() {
        assert_eq!(
            cited(&["A 2020, Theorem 1", "B 2021", "A 2020, Lemma 2"]),
            "A 2020, Theorem 1, Lemma 2; B 2021"
        );
    }

    fn chart() -> Chart {
        let points = (1..=10).map(|t| Point {
            x: f64::from(t),
            y: 10.0 * f64::from(t),
            error: 0.0,
            at: format!("round {t}"),
            says: String::new(),
        });
        let lines = vec![Line { key: 0, kind: Kind::Band, points: points.collect() }];
        Chart {
            id: "regret".into(),
            title: String::new(),
            x_label: String::new(),
            y_label: String::new(),
            x: Axis::counting([1, 10]),
            y: Axis::plain(numbers(&lines)),
            legend: vec!["learner".into()],
            lines,
            note: String::new(),
            beyond: Vec::new(),
            caption: String::new(),
        }
    }

    fn bound(side: BoundSide, factor: f64) -> RegretBound {
        RegretBound {
            side,
            regret: BoundedRegret::Cumulative,
            source: "Nobody 2020".into(),
            caveats: Vec::new(),
            points: (1..=10).map(|t| (t, factor * t as f64)).collect(),
            largest_possible: 500.0,
        }
    }

    #[test]
    fn a_bound_is_drawn_within_the_chart_and_stated_in_words_beyond_it() {
        let mut low = chart();
        draw(&mut low, &bound(BoundSide::Lower, 1.0), "lower bound", 0);
        assert_eq!((low.legend.len(), low.lines[1].points.len(), low.beyond.len()), (2, 10, 0));
        let mut steep = chart();
        draw(&mut steep, &bound(BoundSide::Upper, 30.0), "upper bound for learner", 0);
        assert_eq!(steep.lines[1].points.len(), 3, "30, 60, 90 and no further");
        assert!(steep.beyond[0].ends_with("300.0 at round 10, beyond this chart"), "{:?}", steep.beyond);
        // A run of one round: a single point is no line.
        let mut single = chart();
        let one = RegretBound { points: vec![(1, 5.0)], ..bound(BoundSide::Upper, 5.0) };
        draw(&mut single, &one, "upper bound for learner", 0);
        assert_eq!(single.lines.len(), 1);
        assert!(single.beyond[0].ends_with(" at round 1"), "{:?}", single.beyond);
        let upper = |factor: f64| is_trivial(&bound(BoundSide::Upper, factor));
        assert!(upper(51.0) && !upper(49.0) && !is_trivial(&bound(BoundSide::Lower, 51.0)));
    }
}
