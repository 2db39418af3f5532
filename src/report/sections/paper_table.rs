//! One table of a whole study for a paper, a row per series and cell: regret, the claimed and
//! the largest epsilon, virtual time and bytes.

use super::cells::rows;
use super::headline::{Measure, Protection, UnprotectedLosses, claim};
use crate::report::document::Table;
use crate::report::number::{epsilon, quantity, regret, seconds};
use crate::scenario::Metric;
use crate::study::{CellSummary, SeriesSummary, Summary};

/// The table of the study.
pub(in crate::report) fn table(summary: &Summary) -> Table {
    let measure = Measure::of(summary);
    let unguarded = UnprotectedLosses::of(summary);
    let released = measure == Some(Measure::PublishedSetting);
    let numbers = |cell: &CellSummary, series: &SeriesSummary| {
        let mut row = Vec::new();
        if released {
            row.push(Measure::PublishedSetting.value(series).map_or_else(String::new, regret));
        } else if measure.is_some() {
            let all = [Metric::SimpleRegret, Metric::CumulativeRegret];
            row.extend(all.map(|metric| series.metrics.regret(metric).map_or_else(String::new, regret)));
        }
        let claimed = cell.privacy.iter().filter(|entry| entry.series == series.name).filter_map(claim);
        let claimed = claimed.map(|loss| loss.epsilon).reduce(f64::max);
        row.push(claimed.map_or_else(String::new, epsilon));
        let protection = Protection::of(cell, &series.name, &unguarded);
        row.push(match protection {
            Protection::Silent => "0".to_owned(),
            Protection::Bounded(most, basis) => format!("{} ({basis})", epsilon(most)),
            Protection::Broken | Protection::Open => "inf".to_owned(),
        });
        let metrics = &series.metrics;
        row.extend([seconds(metrics.virtual_seconds), quantity(metrics.bytes)]);
        ((super::regret::exact(series), row.clone()), row)
    };
    let found = rows(summary, numbers);
    let mut columns = match measure {
        Some(Measure::PublishedSetting) => vec![Measure::PublishedSetting.words()],
        Some(_) => vec!["simple regret", "cumulative regret"],
        None => Vec::new(),
    };
    columns.extend(["claimed epsilon", "largest epsilon", "virtual time", "bytes"]);
    let n = summary.cells.iter().flat_map(|cell| &cell.series).map(|series| series.replications).max();
    let without = unguarded.words().map_or_else(String::new, |words| format!(", without {words}"));
    let same = found.said().map_or_else(String::new, |said| format!("; {said}"));
    let title = format!(
        "{}: mean and standard error over {} replications; epsilon is the largest over all observers and units{without}{same}",
        summary.scenario,
        n.unwrap_or(0)
    );
    found.table(title, columns)
}
