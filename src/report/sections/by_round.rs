//! Charts of regret by round, with theorems' bounds.

use super::lines::{METRICS, Named, capital, count, grouped, made, named, numbers, slug, stride};
use super::points::Axes;
use super::theory;
use crate::protocols::BoundedRegret;
use crate::report::document::Figure;
use crate::report::plots::{Axis, Chart, Kind, Line, Point};
use crate::scenario::Metric;
use crate::study::{SeriesSummary, Summary};

/// Number of points at the beginning of a line that are all drawn, however long the line is.
const FIRST_POINTS: usize = 20;
/// Simple regret is drawn over the logarithm of the round if the number of the last round is at least this.
const LONG: u64 = 300;

/// Figures of regret by round: one for all cells if the lines are few, else one for each group that `grouped` forms.
pub(super) fn figures(summary: &Summary) -> Vec<Figure> {
    let mut figures = Vec::new();
    let names = Axes::of(summary);
    let all: Vec<usize> = (0..names.len()).collect();
    for (place, cells) in grouped(summary, &all, |cells| named(cells, &names).len()) {
        let lines: Vec<Named<'_>> =
            named(&cells, &names).into_iter().filter(|(_, series)| !series.curve.is_empty()).collect();
        if lines.is_empty() {
            continue;
        }
        let title =
            if place.is_empty() { "Regret by round".to_owned() } else { format!("Regret by round, {place}") };
        let counts =
            || lines.iter().flat_map(|(_, series)| series.curve.iter().map(|step| step.simple_regret.n));
        let mut note = format!(
            "Line: mean over replications. Band: one standard error to either side, {}. Round 0 is the initial points.",
            count((counts().min(), counts().max()))
        );
        if let Some(every) =
            lines.iter().map(|(_, series)| stride(series.curve.len())).max().filter(|s| *s > 1)
        {
            note.push_str(&format!(
                " Drawn: the first {FIRST_POINTS} points, then at least one round in {every}, and the last."
            ));
        }
        let charts = METRICS.iter().map(|metric| curve_chart(*metric, &place, &lines, &note));
        let charts: Vec<Chart> = charts.filter(|chart| !is_flat(chart)).collect();
        if !charts.is_empty() {
            figures.push(Figure { title, charts });
        }
    }
    figures
}

/// Whether all values of a chart are equal, as for a regret that is 0 in every round. Such a chart is left out: only the
/// table shows its values.
fn is_flat(chart: &Chart) -> bool {
    let mut values = numbers(&chart.lines).map(|(value, _)| value);
    values.next().is_none_or(|first| values.all(|value| value.total_cmp(&first).is_eq()))
}

fn curve_chart(metric: Metric, place: &str, lines: &[Named<'_>], note: &str) -> Chart {
    let drawn = |series: &SeriesSummary| -> Vec<Point> {
        let (stride, last) = (stride(series.curve.len()), series.curve.len().saturating_sub(1));
        let drawn = |index: usize| index < FIRST_POINTS || index.is_multiple_of(stride) || index == last;
        let shown = series.curve.iter().enumerate().filter(|(index, _)| drawn(*index));
        shown
            .map(|(_, step)| {
                let estimate = match metric {
                    Metric::SimpleRegret => step.simple_regret,
                    Metric::CumulativeRegret => step.cumulative_regret,
                };
                made(step.t as f64, estimate, format!("round {}", step.t))
            })
            .collect()
    };
    let lines_drawn: Vec<Line> = lines
        .iter()
        .enumerate()
        .map(|(key, (_, series))| Line { key, kind: Kind::Band, points: drawn(series) })
        .collect();
    let rounds = lines.iter().flat_map(|(_, series)| series.curve.iter().map(|step| step.t));
    let mut chart = Chart {
        id: slug(&format!("{} {place}", metric.words())),
        title: capital(metric.words()),
        x_label: "round".to_owned(),
        y_label: metric.words().to_owned(),
        // In a long run, most of the simple regret disappears within the first rounds.
        x: match (metric, rounds.clone().max()) {
            (Metric::SimpleRegret, Some(most)) if most >= LONG => Axis::magnitudes(most),
            _ => Axis::counting(rounds),
        },
        y: match metric {
            Metric::SimpleRegret => Axis::fit(numbers(&lines_drawn)),
            // A cumulative sum grows from 0: only its shape on a linear axis is informative.
            Metric::CumulativeRegret => Axis::plain(numbers(&lines_drawn)),
        },
        legend: lines.iter().map(|(name, _)| name.clone()).collect(),
        lines: lines_drawn,
        note: note.to_owned(),
        beyond: Vec::new(),
        caption: String::new(),
    };
    let regret = match metric {
        Metric::SimpleRegret => BoundedRegret::Simple,
        Metric::CumulativeRegret => BoundedRegret::Cumulative,
    };
    theory::add(&mut chart, lines, regret);
    chart
}
