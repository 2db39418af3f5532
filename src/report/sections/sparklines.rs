//! Regret over the rounds, each curve as a line of block characters, for terminals that can show them.

use super::cells::by_series;
use super::points::Axes;
use crate::report::document::{Block, Layout, Table, Visibility};
use crate::study::{CurvePoint, Summary};

/// Largest number of characters in a sparkline.
const WIDTH: usize = 24;
/// Largest number of curves that are shown.
const MOST: usize = 24;
const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A table of the curves; empty if no series has a curve.
pub(super) fn blocks(summary: &Summary) -> Vec<Block> {
    let axes = Axes::of(summary);
    let curves: Vec<(String, &[CurvePoint])> = by_series(summary)
        .into_iter()
        .flatten()
        .filter(|(_, series)| series.curve.len() > 1)
        .map(|(cell, series)| {
            let place = axes.axis_values(cell).into_iter().map(|told| format!(", {told}"));
            (format!("{}{}", series.name, place.collect::<String>()), series.curve.as_slice())
        })
        .collect();
    if curves.is_empty() {
        return Vec::new();
    }
    let simple = |point: &CurvePoint| point.simple_regret.mean;
    let cumulative = |point: &CurvePoint| point.cumulative_regret.mean;
    let shown = || curves.iter().take(MOST).flat_map(|(_, curve)| *curve);
    let (least, most) = range(shown().map(simple).filter(|value| *value > 0.0));
    let (_, top) = range(shown().map(cumulative));
    let logarithmic = |value: f64| {
        let span = libm::log(most / least);
        if value <= 0.0 || span <= 0.0 { 0.0 } else { libm::log(value / least) / span }
    };
    let rows = curves.iter().take(MOST).map(|(name, curve)| {
        let line = |of: &dyn Fn(&CurvePoint) -> f64| spark(&curve.iter().map(of).collect::<Vec<f64>>());
        vec![
            name.clone(),
            line(&|point| logarithmic(simple(point))),
            line(&|point| if top > 0.0 { cumulative(point) / top } else { 0.0 }),
        ]
    });
    let header = ["series", "simple regret", "cumulative regret"].map(str::to_owned).to_vec();
    let title = "Regret over the rounds, on one scale for all series (logarithmic for simple regret)";
    let table = Table::new(title, header, rows.collect(), usize::MAX);
    let mut blocks =
        vec![Block::Table(Table { heads: 1, layout: Layout::Plain, shown: Visibility::Terminal, ..table })];
    if curves.len() > MOST {
        blocks.push(Block::remark_on(format!("and {} more", curves.len() - MOST), Visibility::Terminal));
    }
    blocks
}

fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, 0.0), |(least, most), value| (least.min(value), most.max(value)))
}

/// Shares between 0 and 1 as at most [`WIDTH`] block characters; of more shares, evenly spaced ones are shown.
fn spark(shares: &[f64]) -> String {
    let width = WIDTH.min(shares.len());
    let pick = |place: usize| if width > 1 { place * (shares.len() - 1) / (width - 1) } else { 0 };
    (0..width)
        .map(|place| {
            let share = shares[pick(place)].clamp(0.0, 1.0);
            BLOCKS[(share * (BLOCKS.len() - 1) as f64 + 0.5) as usize]
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sparkline_ends_where_its_curve_does() {
        assert_eq!(spark(&[0.0, 0.5, 1.0]), "▁▅█");
        let long: Vec<f64> = (0..1000).map(|t| f64::from(t) / 999.0).collect();
        let line = spark(&long);
        assert_eq!(
            (line.chars().count(), line.chars().next(), line.chars().last()),
            (24, Some('▁'), Some('█'))
        );
        assert_eq!(spark(&[f64::NAN]), "▁");
        assert_eq!(spark(&[]), "");
    }
}
