//! The short report for a terminal, which is meant to fit on one screen. `--full`, report.html and the CSV tables show
//! what the short report leaves out.

mod costs;
mod learned;
mod outcomes;
mod pivot;
mod privacy;
mod regret;

use super::headline::Measure;
use super::{Curves, caveats, groups, heading, privacy as in_full, rounds, warnings};
use crate::report::document::{Block, Document, Section, Visibility};
use crate::report::page::PAGE;
use crate::study::Summary;

/// The last line of the short report: it names the flags and the file that show what the short report leaves out.
const MORE: &str = "Shortened: --full prints every cell and count, --accountants every accountant and condition; \
                    report.html has the charts.";

/// The short report, with the losses by every accountant if `accountants` is true.
pub(in crate::report) fn document(summary: &Summary, curves: Curves, accountants: bool) -> Document {
    let mut sections = vec![warnings::section(summary)];
    let published = Measure::of(summary) == Some(Measure::PublishedSetting);
    // A private release is judged by the setting that is published, so its outcomes come before the regret.
    sections.extend(outcomes::section(summary).filter(|_| published));
    sections.extend(regret::section(summary, curves));
    sections.extend(groups::brief(summary));
    sections.extend(rounds::brief(summary));
    sections.extend(outcomes::section(summary).filter(|_| !published));
    sections.extend(match accountants {
        true => in_full::section(summary, None),
        false => privacy::section(summary),
    });
    sections.push(costs::section(summary));
    sections.push(Section { blocks: caveats::statements(summary), ..Section::default() });
    let more = Block::statement(MORE, Visibility::Everywhere);
    sections.push(Section { blocks: vec![more], ..Section::default() });
    let heading = heading::of_summary(summary, PAGE);
    Document { title: summary.scenario.clone(), about: summary.about.clone(), heading, sections }
}
