//! The section on records: how many of each class every agent of a federation holds.

use super::shown_replication::ShownReplication;
use crate::objectives::Holdings;
use crate::report::document::{Block, Section, Table};
use crate::study::Summary;
use crate::vocab::counted;

/// The remark that the numbers in this section are not public.
const NOT_PUBLIC: &str = "These numbers come from the simulation and are for the reader of this report only: an agent's \
                          counts are protected data. No party of the protocol is told them, and no privacy loss \
                          accounts for them; publishing this table would be a release.";

/// Largest number of listed agents for which the table is shown unfolded; a longer table is folded.
const SHORT: usize = 12;

/// The section, for the replication that is shown; `None` unless the agents of the objective hold records.
pub(super) fn section(summary: &Summary, shown: &ShownReplication<'_>) -> Option<Section> {
    let held = shown.record.series.iter().find_map(|series| series.holdings.as_ref())?;
    let [least, median, most] = held.sizes;
    let sizes = format!(
        "{}, {least} to {most} records each, median {median}. Means over all pairs of agents: total variation distance of the \
         shares of classes {:.3} (0: alike, 1: no class in common), Jensen-Shannon distance {:.3}, difference of the means of \
         a feature {:.3} standard deviations.",
        counted(held.agents, "agent"),
        held.distances.total_variation,
        held.distances.jensen_shannon,
        held.distances.standardised_means,
    );
    let table = Block::Table(table(held));
    let counts = match held.listed.len() <= SHORT {
        true => table,
        false => Block::Folded { title: "Records by agent and class".to_owned(), blocks: vec![table] },
    };
    let mut blocks = vec![Block::remark(sizes), counts, Block::remark(NOT_PUBLIC)];
    if summary.cells.len() > 1 {
        blocks.push(Block::remark(format!("Shown: {}.", shown.name(summary))));
    }
    Some(Section::new("holdings", "Records of agents", "Who holds which records", blocks))
}

fn table(held: &Holdings) -> Table {
    let row = |name: String, counts: &[u64]| {
        let all: u64 = counts.iter().sum();
        let numbers = counts.iter().chain([&all]).map(ToString::to_string);
        std::iter::once(name).chain(numbers).collect::<Vec<String>>()
    };
    let mut rows: Vec<Vec<String>> =
        held.listed.iter().map(|agent| row(agent.name.clone(), &agent.records)).collect();
    let others = held.agents.saturating_sub(held.listed.len() as u64);
    if others > 0 {
        rows.push(row(format!("{} more together", counted(others, "agent")), &held.others));
    }
    let classes = held.classes.iter().cloned();
    let header = std::iter::once("agent".to_owned()).chain(classes).chain(["all".to_owned()]).collect();
    Table::new("Records by agent and class, including held-out records", header, rows, 1)
}
