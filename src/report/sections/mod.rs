//! The sections of a report, by subject: one file per section, each made once from a study's data.

pub(super) mod account;
pub(super) mod audit;
pub(super) mod comparison;
pub(super) mod dry;
pub(super) mod fork;

mod along;
mod axes;
mod by_round;
mod cells;
mod commands;
mod counts;
mod first_messages;
mod fitted;
mod groups;
mod heading;
mod lines;
mod network;
mod outcome_charts;
mod outcomes;
mod privacy;
mod regret;
mod rounds;
mod sparklines;
mod theory;
mod timeline;
mod traffic;
mod warnings;

use super::document::{Document, Figure};
use super::page::{PAGE, Page};
use crate::study::Summary;
use cells::{axes, point};
pub(super) use regret::Curves;

/// A study's report from its summary alone.
pub(super) fn of_summary(summary: &Summary, curves: Curves) -> Document {
    let mut sections = vec![warnings::section(summary)];
    sections.extend(regret::section(summary, curves));
    sections.extend(rounds::section(summary, false));
    sections.extend(outcomes::section(summary, false));
    sections.extend(privacy::section(summary, None));
    sections.push(network::section(summary, None, None, ""));
    let heading = heading::of_summary(summary, PAGE);
    Document { title: summary.scenario.clone(), about: summary.about.clone(), heading, sections }
}

/// A study's report from all files of a run, with charts.
pub(super) fn of_page(page: &Page) -> Document {
    let (summary, first) = (&page.summary, page.first.as_ref());
    let place = summary.cells.first().map(|cell| {
        let pairs = axes(summary).into_iter().zip(point(cell));
        pairs.map(|(name, value)| format!(", {name} = {value}")).collect::<String>()
    });
    let mut sections = vec![warnings::section(summary)];
    sections.extend(regret::section(summary, Curves::Charts));
    sections.extend(rounds::section(summary, true));
    sections.extend(outcomes::section(summary, true));
    sections.extend(privacy::section(summary, first));
    sections.push(network::section(summary, first, page.first_messages.as_ref(), &place.unwrap_or_default()));
    sections.push(commands::scenario(&page.scenario, &page.manifest, &page.fitted));
    sections.push(commands::replay(&summary.run));
    let heading = heading::of_page(summary, &page.manifest);
    Document { title: summary.scenario.clone(), about: summary.about.clone(), heading, sections }
}

/// All figures of a study, the most informative first.
pub(super) fn figures(page: &Page) -> Vec<Figure> {
    let (summary, first) = (&page.summary, page.first.as_ref());
    let mut figures = by_round::figures(summary);
    figures.extend(along::figures(summary));
    figures.extend(rounds::figures(summary));
    figures.extend(outcome_charts::figures(summary));
    figures.extend(first.and_then(timeline::timeline));
    figures.extend(first.and_then(traffic::closings));
    figures.extend(first.and_then(traffic::latency));
    figures.extend(first.into_iter().flat_map(|first| privacy::figures(summary, first)));
    figures
}
