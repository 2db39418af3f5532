//! The report in a terminal of 80 columns, without colour.

mod dry;
mod fork;
mod groups;
mod network;
mod outcomes;
mod privacy;
mod regret;
mod spark;
mod style;

use super::PAGE;
use super::cells::by_series;
use super::counts::{TITLE, counts};
use super::jitter::jitter;
use super::published::{self, losses};
use crate::study::Summary;
use crate::vocab::counted;
pub use dry::dry_text;
pub use fork::fork_text;
use std::path::Path;
use style::line;
pub(super) use style::{table, wrapped};

/// The whole report, at most 80 columns wide, without colour; with a sparkline per curve where `sparklines` are wanted.
#[must_use]
pub fn text(summary: &Summary, sparklines: bool) -> String {
    let mut out = String::new();
    let replications = summary.cells.iter().flat_map(|cell| &cell.series).map(|s| s.replications).max();
    line(
        &mut out,
        &format!(
            "{}: {}, {}, seed {}",
            summary.scenario,
            counted(summary.cells.len() as u64, "cell"),
            counted(replications.unwrap_or(0), "replication"),
            summary.seed
        ),
    );
    line(&mut out, &format!("digest {}", summary.digest));
    line(&mut out, &format!("folder {}", summary.run));
    line(&mut out, &format!("page   {}", Path::new(&summary.run).join(PAGE).display()));
    regret::section(&mut out, summary);
    if sparklines {
        spark::section(&mut out, summary);
    }
    groups::section(&mut out, summary);
    outcomes::section(&mut out, summary);
    network::section(&mut out, summary);
    if let Some((header, rows, first_number)) = counts(summary) {
        table(&mut out, TITLE, header, rows, first_number);
    }
    privacy::section(&mut out, summary);
    if let Some((header, rows, first_number)) = losses(summary) {
        table(&mut out, published::TITLE, header, rows, first_number);
    }
    if let Some(note) = jitter(summary) {
        wrapped(&mut out, 0, &note);
    }
    early_endings(&mut out, summary);
    out
}

fn early_endings(out: &mut String, summary: &Summary) {
    for (cell, series) in by_series(summary).into_iter().flatten() {
        if let Some(reason) = &series.budget {
            let place =
                cell.point.iter().map(|(name, value)| format!(" at {name} = {value}")).collect::<String>();
            wrapped(
                out,
                0,
                &format!(
                    "privacy budget reached by \"{}\"{place} in {} of {}; the first: {reason}",
                    series.name,
                    series.budget_reached,
                    counted(series.replications, "replication")
                ),
            );
        }
        if let Some(reason) = &series.ended_early_because {
            let place =
                cell.point.iter().map(|(name, value)| format!(" at {name} = {value}")).collect::<String>();
            wrapped(
                out,
                0,
                &format!(
                    "warning: {} of {} of \"{}\"{place} ended early and count in no regret at the end; the first: \
                     {reason}",
                    series.ended_early,
                    counted(series.replications, "replication"),
                    series.name
                ),
            );
        }
    }
}
