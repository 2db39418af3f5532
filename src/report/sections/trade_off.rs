//! Charts of regret against epsilon, with a point for every series of every cell. The epsilon is the largest of one run,
//! over all observers and units; it is infinite if no finite one is known. Losses against which no series of the study
//! protects do not count.

use super::headline::{Measure, Protection, UnprotectedLosses};
use super::lines::{MAX_LINES, count, numbers, slug};
use super::points::Axes;
use crate::report::document::Figure;
use crate::report::number::{epsilon, regret, three_digits_up};
use crate::report::plots::{Axis, Chart, Kind, Line, Point};
use crate::study::Summary;

/// Largest number of marks that a reader can distinguish; with more, no chart is drawn.
const MAX_POINTS: usize = 2000;

/// The figure, with a chart for each regret; `None` if no series has a finite epsilon above 0, or if there are fewer than
/// two points, or too many points or series to distinguish.
pub(super) fn figure(summary: &Summary) -> Option<Figure> {
    let measures = match Measure::of(summary)? {
        Measure::PublishedSetting => vec![Measure::PublishedSetting],
        Measure::Simple | Measure::Cumulative => vec![Measure::Simple, Measure::Cumulative],
    };
    let charts: Vec<Chart> = measures.into_iter().filter_map(|measure| chart(summary, measure)).collect();
    let title = match charts.as_slice() {
        [] => return None,
        [one] => one.title.clone(),
        [..] => "Epsilon against regret".to_owned(),
    };
    Some(Figure { title, charts })
}

fn chart(summary: &Summary, measure: Measure) -> Option<Chart> {
    if summary.cells.iter().map(|cell| cell.series.len()).sum::<usize>() > MAX_POINTS {
        return None;
    }
    let unguarded = UnprotectedLosses::of(summary);
    let axes = Axes::of(summary);
    let mut legend: Vec<String> = Vec::new();
    let mut lines: Vec<Line> = Vec::new();
    for rated in summary.cells.iter().flat_map(|cell| measure.rated(cell, &unguarded)) {
        let place = axes.axis_values(rated.cell).into_iter().map(|told| format!(", {told}"));
        let x = rated.protection.epsilon();
        let told = match rated.protection {
            Protection::Silent => "nothing released".to_owned(),
            Protection::Bounded(most, basis) => format!("epsilon {} ({basis})", epsilon(most)),
            Protection::Broken | Protection::Open => "no finite epsilon".to_owned(),
        };
        let says = format!("{told}, {}", regret(rated.value));
        let at = format!("{}{}", rated.series.name, place.collect::<String>());
        let made = Point { x, y: rated.value.mean, error: rated.value.se, at, says };
        match legend.iter().position(|known| *known == rated.series.name) {
            Some(key) if lines[key].points.contains(&made) => {}
            Some(key) => lines[key].points.push(made),
            None => {
                lines.push(Line { key: legend.len(), kind: Kind::Marks, points: vec![made] });
                legend.push(rated.series.name.clone());
            }
        }
    }
    // Series are sorted in the order of the scenario, so that each has the same colour in all charts; series that the first
    // cell does not have are the last.
    let order: Vec<&String> = summary
        .cells
        .first()
        .map(|cell| cell.series.iter().map(|series| &series.name).collect())
        .unwrap_or_default();
    let rank = |name: &String| order.iter().position(|known| *known == name).unwrap_or(order.len());
    let mut sorted: Vec<(String, Line)> = legend.into_iter().zip(lines).collect();
    sorted.sort_by_key(|(name, _)| rank(name));
    for (key, (_, line)) in sorted.iter_mut().enumerate() {
        line.key = key;
        line.points.sort_by(|a, b| a.x.total_cmp(&b.x));
    }
    let (legend, lines): (Vec<String>, Vec<Line>) = sorted.into_iter().unzip();
    let all = || lines.iter().flat_map(|line| &line.points);
    let finite = || all().map(|point| point.x).filter(|x| x.is_finite());
    if !finite().any(|x| x > 0.0) || all().count() < 2 || legend.len() > 2 * MAX_LINES {
        return None;
    }
    let zero = finite().any(|x| x == 0.0);
    let infinite = all().any(|point| point.x.is_infinite());
    let mut x = if zero {
        Axis::plain(finite().map(|x| (x, 0.0)))
    } else {
        let chosen: Vec<f64> = finite().collect();
        Axis::around(&chosen).relabelled(three_digits_up)
    };
    if infinite {
        x = x.with_infinity();
    }
    let counts =
        || summary.cells.iter().flat_map(|cell| measure.rated(cell, &unguarded)).map(|rated| rated.value.n);
    let mut note = format!(
        "A mark is a series of a cell: the largest epsilon over all observers and units that the report can bound (tight), and the \
         mean regret with one standard error to either side, {}.",
        count((counts().min(), counts().max()))
    );
    // The card "Who learned what" names the losses that the note leaves out.
    if unguarded.words().is_some() {
        note.push_str(" Losses against which no series protects are not counted.");
    }
    if infinite {
        note.push_str(" At ∞: no finite epsilon is known.");
    }
    let title = format!("Epsilon against {}", measure.words());
    Some(Chart {
        id: slug(&title),
        title,
        x_label: "largest epsilon of a run".to_owned(),
        y_label: measure.words().to_owned(),
        x,
        y: Axis::fit(numbers(&lines)),
        legend,
        lines,
        note,
        beyond: Vec::new(),
        caption: String::new(),
    })
}
