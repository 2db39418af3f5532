//! The page of a run: one file that needs no other, for a screen, a phone and paper.

mod along;
mod axes;
mod charts;
mod figure;
mod fitted;
mod network;
mod opening;
mod outcome_charts;
mod outcomes;
mod over_rounds;
mod privacy;
mod regret;
mod table;
mod theory;
mod traffic;

use super::PAGE;
use super::cells::{axes, by_series, point};
use super::jitter::jitter;
use crate::objectives::Fitted;
use crate::report::plots::Chart;
use crate::study::{FolderError, Manifest, Opening, ReplicationRecord, RunFolder, Summary, files};
use crate::vocab::counted;
use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// All that a page is made of.
#[derive(Clone, Debug)]
pub struct Page {
    /// The run's numbers.
    pub summary: Summary,
    /// What was run by which program.
    pub manifest: Manifest,
    /// The scenario as written.
    pub scenario: String,
    /// The first replication of the first cell, if one is finished.
    pub first: Option<ReplicationRecord>,
    /// How that one begins.
    pub opening: Option<Opening>,
    /// Hyperparameters of the objective, where they were fitted.
    pub fitted: Vec<Fitted>,
}

impl Page {
    /// Reads what a run left in its folder; `None` where there is no finished run.
    ///
    /// # Errors
    /// [`FolderError`] for a file that cannot be read or is damaged.
    pub fn read(folder: &RunFolder) -> Result<Option<Self>, FolderError> {
        let (Some(manifest), Some(mut summary)) = (folder.manifest()?, folder.summary()?) else {
            return Ok(None);
        };
        // The folder may have been moved since.
        summary.run = folder.path().display().to_string();
        let scenario = files::read(&folder.file("scenario.ron"))?;
        let first = folder.first_replication(0)?;
        let opening = folder.opening();
        let fitted = folder.all_fitted();
        Ok(Some(Self { summary, manifest, scenario, first, opening, fitted }))
    }
}

/// Writes the page of a run into its folder.
///
/// # Errors
/// [`FolderError`] if the folder cannot be read or written.
pub fn write_page(folder: &RunFolder) -> Result<(), FolderError> {
    if let Some(found) = Page::read(folder)? {
        files::write(&folder.file(PAGE), page(&found).as_bytes())?;
    }
    Ok(())
}

/// All charts of a page, the most telling first.
#[must_use]
pub fn charts(page: &Page) -> Vec<Chart> {
    let mut plates = charts::by_round(&page.summary);
    plates.extend(along::plates(&page.summary));
    plates.extend(outcome_charts::plates(&page.summary));
    plates.extend(page.first.as_ref().and_then(charts::timeline));
    plates.extend(page.first.as_ref().and_then(traffic::closings));
    plates.extend(page.first.as_ref().and_then(traffic::latency));
    plates.extend(page.first.iter().flat_map(|first| over_rounds::plates(&page.summary, first)));
    plates.into_iter().flat_map(|plate| plate.charts).collect()
}

/// The page as text.
#[must_use]
pub fn page(page: &Page) -> String {
    let summary = &page.summary;
    let regret = regret::section(summary);
    let privacy = privacy::section(summary, page.first.as_ref());
    let outcomes = outcomes::section(summary);
    let place = summary.cells.first().map(|cell| {
        let pairs = axes(summary).into_iter().zip(point(cell));
        pairs.map(|(name, value)| format!(", {name} = {value}")).collect::<String>()
    });
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                title { (summary.scenario) " · subrosa" }
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content=(format!("subrosa {}", env!("CARGO_PKG_VERSION")));
                // Keeps a browser from asking a server for an icon.
                link rel="icon" href="data:,";
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    h1 { (summary.scenario) }
                    @if !summary.about.is_empty() { p { (summary.about) } }
                    (heading(page))
                    nav aria-label="On this page" {
                        @if regret.is_some() { a href="#regret" { "Regret" } " " }
                        @if outcomes.is_some() { a href="#outcomes" { "Outcomes" } " " }
                        @if privacy.is_some() { a href="#privacy" { "Privacy" } " " }
                        a href="#network" { "Network" } " "
                        a href="#scenario" { "Scenario" } " "
                        a href="#replay" { "Replay" }
                    }
                }
                main {
                    (early_endings(summary))
                    @if let Some(regret) = &regret { (regret) }
                    @if let Some(outcomes) = &outcomes { (outcomes) }
                    @if let Some(privacy) = &privacy { (privacy) }
                    (network::section(page, place.as_deref().unwrap_or("")))
                    (scenario(page))
                    (replay(page))
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    let mut text = markup.into_string();
    text.push('\n');
    text
}

fn heading(page: &Page) -> Markup {
    let (summary, manifest) = (&page.summary, &page.manifest);
    let cells = summary.cells.len() as u64;
    let mut sweeps = Vec::new();
    for axis in axes(summary) {
        let mut values: Vec<String> = Vec::new();
        for cell in &summary.cells {
            if let Some((_, value)) =
                axes(summary).into_iter().zip(point(cell)).find(|(name, _)| *name == axis)
                && !values.contains(&value)
            {
                values.push(value);
            }
        }
        sweeps.push(format!("{axis} = {}", values.join(", ")));
    }
    let series: Vec<String> = by_series(summary).iter().map(|group| group[0].1.name.clone()).collect();
    html! {
        dl.facts {
            dt { "Series" } dd { (series.join("; ")) }
            dt { "Played" } dd {
                (counted(cells, "cell")) ", " (counted(manifest.replications, "replication")) @if cells > 1 { " each" }
                ", seed " (summary.seed)
            }
            @if !sweeps.is_empty() { dt { "Sweep" } dd { (sweeps.join("; ")) } }
            dt { "By" } dd { "subrosa " (manifest.subrosa) " on " (manifest.target) ", " (manifest.cpu) }
            dt { "Digest" } dd { code { (summary.digest) } }
        }
        @if !summary.complete {
            p.warning role="note" { "Not complete: some replications failed. What is below covers those that were played." }
        }
    }
}

fn early_endings(summary: &Summary) -> Markup {
    html! {
        @if let Some(note) = jitter(summary) { p.note { (note) } }
        @for (cell, series) in by_series(summary).into_iter().flatten() {
            @if let Some(reason) = &series.budget {
                p.warning role="note" {
                    "Privacy budget reached by \"" (series.name) "\""
                    @for (name, value) in axes(summary).iter().zip(point(cell)) { " at " (name) " = " (value) }
                    " in " (series.budget_reached) " of " (counted(series.replications, "replication"))
                    "; the first: " (reason)
                }
            }
            @if let Some(reason) = &series.ended_early_because {
                p.warning role="note" {
                    (series.ended_early) " of " (counted(series.replications, "replication")) " of \"" (series.name) "\""
                    @for (name, value) in axes(summary).iter().zip(point(cell)) { " at " (name) " = " (value) }
                    " ended early and count in no regret at the end; the first: " (reason)
                }
            }
        }
    }
}

fn scenario(page: &Page) -> Markup {
    html! {
        section id="scenario" {
            h2 { "The scenario as written" }
            @if !page.manifest.overrides.is_empty() {
                p { "Overridden on the command line:" }
                ul { @for change in &page.manifest.overrides { li { code { (change) } } } }
            }
            pre tabindex="0" role="region" aria-label="Scenario" { code { (page.scenario) } }
            (fitted::hyperparameters(&page.fitted))
        }
    }
}

fn replay(page: &Page) -> Markup {
    html! {
        section id="replay" {
            h2 { "How to replay" }
            pre tabindex="0" role="region" aria-label="Commands" { code {
                "subrosa replay " (quoted(&page.summary.run)) "\nsubrosa report " (quoted(&page.summary.run))
            } }
            p.note {
                "The first plays every replication again and compares digests; the second makes this page again. \
                 The same version, scenario and seed give the digest above for any number of threads."
            }
        }
    }
}

/// A path as a shell takes it.
fn quoted(path: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:@".contains(c);
    if !path.is_empty() && path.chars().all(plain) {
        path.to_owned()
    } else {
        format!("'{}'", path.replace('\'', "'\\''"))
    }
}
