//! The sections of a report: one file per section, which makes the section from a study's data, for all output formats.

pub(super) mod account;
pub(super) mod audit;
pub(super) mod comparison;
pub(super) mod dry;
pub(super) mod explain;
pub(super) mod fork;
pub(super) mod threshold;

pub(super) mod brief;

mod regret_along_axes;
mod axes;
mod caveats;
mod by_round;
mod cells;
mod charts;
mod commands;
mod costs;
mod counts;
mod first_messages;
mod fitted;
mod groups;
mod nonresponse_bias;
pub(super) mod headline;
mod holdings;
mod heading;
mod lines;
mod network;
mod outcome_charts;
mod outcomes;
pub(super) mod paper_table;
mod shown_replication;
mod points;
mod privacy;
mod regret;
mod rounds;
mod sparklines;
mod terms;
mod theory;
mod timeline;
mod trade_off;
mod traffic;
mod warnings;

use super::document::{Block, Document, Figure, Section};
use super::page::{PAGE, Page};
use crate::study::Summary;
use headline::Measure;
pub(super) use regret::Curves;
use shown_replication::ShownReplication;

/// A study's report from its summary alone.
pub(super) fn of_summary(summary: &Summary, curves: Curves) -> Document {
    let mut sections = vec![warnings::section(summary)];
    sections.extend(results(summary, curves, false));
    sections.extend(privacy::section(summary, None));
    sections.push(network::section(summary, None, None));
    let heading = heading::of_summary(summary, PAGE);
    Document { title: summary.scenario.clone(), about: summary.about.clone(), heading, sections }
}

/// A study's report from all files of a run: first the answers in sentences, then charts, privacy, and everything else.
pub(super) fn of_page(page: &Page) -> Document {
    let summary = &page.summary;
    let shown = shown(page);
    let mut sections = vec![answer(page)];
    sections.extend(charts::section(summary));
    sections.extend(privacy::section(summary, shown.as_ref()));
    sections.extend(results(summary, Curves::Nowhere, true));
    sections.extend(shown.as_ref().and_then(|shown| holdings::section(summary, shown)));
    sections.push(network::section(summary, shown.as_ref(), page.first_messages.as_ref()));
    sections.push(commands::scenario(&page.scenario, &page.manifest, &page.fitted));
    sections.push(commands::replay(
        &summary.run,
        &page.manifest,
        heading::of_page(summary, &page.manifest),
        warnings::jitter(summary),
    ));
    Document { title: summary.scenario.clone(), about: summary.about.clone(), heading: Vec::new(), sections }
}

/// The sections on regret, on numbers by round, and on outcomes. Outcomes come first if the study is judged by the
/// setting that is published.
fn results(summary: &Summary, curves: Curves, charts: bool) -> Vec<Section> {
    let mut sections: Vec<Section> =
        regret::section(summary, curves).into_iter().chain(rounds::section(summary, charts)).collect();
    let place = match Measure::of(summary) {
        Some(Measure::PublishedSetting) => 0,
        _ => sections.len(),
    };
    if let Some(outcomes) = outcomes::section(summary, charts) {
        sections.insert(place, outcomes);
    }
    sections
}

/// The section with the headline cards and the warnings.
fn answer(page: &Page) -> Section {
    let mut blocks = vec![Block::Cards(headline::cards(&page.summary))];
    blocks.extend(warnings::folded(&page.summary));
    Section { id: "answer".to_owned(), blocks, ..Section::default() }
}

/// The one replication that some pictures show; `None` if it is not stored.
fn shown(page: &Page) -> Option<ShownReplication<'_>> {
    page.first.as_ref().map(|record| ShownReplication { cell: page.cell, record })
}

/// All figures of a study, the most informative first.
pub(super) fn figures(page: &Page) -> Vec<Figure> {
    let summary = &page.summary;
    let mut figures = by_round::figures(summary);
    figures.extend(trade_off::figure(summary));
    figures.extend(regret_along_axes::figures(summary));
    figures.extend(costs::figures(summary));
    figures.extend(rounds::figures(summary));
    figures.extend(outcome_charts::figures(summary));
    if let Some(shown) = shown(page) {
        let name = shown.name(summary);
        figures.extend(timeline::timeline(shown.record, &name));
        figures.extend(traffic::closings(shown.record, &name));
        figures.extend(traffic::latency(shown.record, &name));
        figures.extend(privacy::figures(summary, &shown));
    }
    figures
}
