//! The measure by which the series of a study are compared: regret of the published setting, simple or cumulative regret.

use super::protection::{Protection, UnprotectedLosses};
use crate::report::sections::points::Axes;
use crate::scenario::Metric;
use crate::study::{CellSummary, Estimate, SeriesSummary, Summary};

/// The name of the outcome that states the regret of the published setting, in a private release.
const PUBLISHED_SETTING: &str = "f(lambda*) - f(lambda~)";

/// A number by which series are compared; smaller is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::report::sections) enum Measure {
    /// By how much the published setting is worse than the best setting.
    PublishedSetting,
    /// Simple regret at the end.
    Simple,
    /// Cumulative regret at the end.
    Cumulative,
}

/// A series of one cell with its value of a measure, and its protection.
#[derive(Clone, Copy, Debug)]
pub(in crate::report::sections) struct MeasuredSeries<'a> {
    pub(in crate::report::sections) cell: &'a CellSummary,
    pub(in crate::report::sections) series: &'a SeriesSummary,
    pub(in crate::report::sections) value: Estimate,
    pub(in crate::report::sections) protection: Protection,
}

impl Measure {
    /// The measure for a study; `None` if nothing was optimised, or no replication reached its end.
    pub(in crate::report::sections) fn of(summary: &Summary) -> Option<Self> {
        let unguarded = UnprotectedLosses::of(summary);
        let rated =
            |measure: Self| summary.cells.iter().any(|cell| !measure.rated(cell, &unguarded).is_empty());
        if rated(Self::PublishedSetting) {
            return Some(Self::PublishedSetting);
        }
        if !rated(Self::Simple) {
            return None;
        }
        // With few arms or many rounds, every series may have tried the best arm. Then simple regret does not
        // distinguish series, and cumulative regret is the measure, if some series has a cumulative regret.
        let tells =
            summary.cells.iter().any(|cell| differ_significantly(&Self::Simple.rated(cell, &unguarded)));
        Some(if tells || !rated(Self::Cumulative) { Self::Simple } else { Self::Cumulative })
    }

    /// The value of the measure for a series; `None` if the series has none.
    pub(in crate::report::sections) fn value(self, series: &SeriesSummary) -> Option<Estimate> {
        match self {
            Self::PublishedSetting => {
                let found = series.outcomes.iter().find(|outcome| outcome.name == PUBLISHED_SETTING);
                found.map(|outcome| outcome.value)
            }
            Self::Simple => series.metrics.regret(Metric::SimpleRegret),
            Self::Cumulative => series.metrics.regret(Metric::CumulativeRegret),
        }
    }

    /// The series of a cell that have a value, the best first.
    pub(in crate::report::sections) fn rated<'a>(
        self,
        cell: &'a CellSummary,
        unguarded: &UnprotectedLosses<'_>,
    ) -> Vec<MeasuredSeries<'a>> {
        let mut all: Vec<MeasuredSeries<'a>> = Vec::new();
        for series in &cell.series {
            if let Some(value) = self.value(series) {
                all.push(MeasuredSeries {
                    cell,
                    series,
                    value,
                    protection: Protection::of(cell, &series.name, unguarded),
                });
            }
        }
        // Of equally good series, the one with the smallest epsilon comes first.
        all.sort_by(|a, b| {
            let by_epsilon = a.protection.epsilon().total_cmp(&b.protection.epsilon());
            a.value.mean.total_cmp(&b.value.mean).then(by_epsilon)
        });
        all
    }

    /// The measure in words.
    pub(in crate::report::sections) const fn words(self) -> &'static str {
        match self {
            Self::PublishedSetting => "regret of the published setting",
            Self::Simple => "simple regret",
            Self::Cumulative => "cumulative regret",
        }
    }
}

/// Whether the best and the worst series differ by more than two standard errors of their difference; true for one series.
fn differ_significantly(rated: &[MeasuredSeries<'_>]) -> bool {
    let (Some(best), Some(worst)) = (rated.first(), rated.last()) else { return false };
    let apart = worst.value.mean - best.value.mean;
    // A single series need not be distinguished from another.
    rated.len() == 1 || (apart > 0.0 && apart > 2.0 * libm::hypot(best.value.se, worst.value.se))
}

impl MeasuredSeries<'_> {
    /// The point of the series' cell, such as " at epsilon = 1.0"; empty without a sweep.
    pub(in crate::report::sections) fn place(&self, summary: &Summary) -> String {
        let told = Axes::of(summary).axis_values(self.cell);
        if told.is_empty() { String::new() } else { format!(" at {}", told.join(", ")) }
    }
}
