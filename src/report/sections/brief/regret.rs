//! Regret at the end in few lines.

use super::pivot;
use crate::report::document::{Block, Section};
use crate::report::number::regret;
use crate::report::sections::cells::rows;
use crate::report::sections::lines::capital;
use crate::report::sections::regret::{Curves, at_the_end, exact, question_counts_differ, remarks, title};
use crate::report::sections::sparklines;
use crate::study::{CellSummary, SeriesSummary, Summary};

/// Largest number of curves that are drawn as sparklines; if there are more, none is drawn.
const MAX_CURVES: usize = 10;

/// The section; `None` if no series has a simple regret, as with a protocol that optimises nothing.
pub(super) fn section(summary: &Summary, curves: Curves) -> Option<Section> {
    let all = || summary.cells.iter().flat_map(|cell| &cell.series);
    if all().all(|series| series.metrics.simple_regret.is_none()) {
        return None;
    }
    // If regrets are published, the table of the full report is shown: it has them beside the measured regrets.
    let published = summary.cells.iter().any(|cell| !cell.published.is_empty());
    let mut blocks = if published { at_the_end(summary) } else { short(summary) };
    if curves == Curves::Sparklines && all().count() <= MAX_CURVES {
        blocks.extend(sparklines::blocks(summary));
    }
    Some(Section { blocks, ..Section::default() })
}

fn short(summary: &Summary) -> Vec<Block> {
    let uneven = question_counts_differ(summary);
    let numbers = |_: &CellSummary, series: &SeriesSummary| {
        let [simple, cumulative, _, per_question] = exact(series);
        let second = if uneven { per_question } else { cumulative };
        let count = simple.map_or(0, |estimate| estimate.n).to_string();
        let words = [simple, second].map(|estimate| estimate.map_or_else(String::new, regret));
        (exact(series), [words.to_vec(), vec![count]].concat())
    };
    let mut found = rows(summary, numbers);
    let remark = found.remark();
    let names = ["simple regret", if uneven { "regret per question" } else { "cumulative regret" }];
    let counts: Vec<&String> = found.rows.iter().filter_map(|row| row.last()).collect();
    let equal = counts.windows(2).all(|pair| pair[0] == pair[1]);
    let over = match counts.first() {
        Some(count) if equal => format!("n = {count}"),
        _ => "n replications".to_owned(),
    };
    let mut blocks = Vec::new();
    if pivot::wanted(&found) {
        for (place, name) in names.iter().enumerate() {
            let title = title(summary, &over).replacen("Regret", &capital(name), 1);
            blocks.extend(pivot::table(&found, title, place).map(Block::Table));
        }
    } else {
        let columns = names.into_iter().chain((!equal).then_some("n"));
        let width = found.heads() + columns.clone().count();
        found.rows.iter_mut().for_each(|row| row.truncate(width));
        blocks.push(Block::Table(found.table(title(summary, &over), columns)));
    }
    blocks.extend(remark);
    blocks.extend(remarks(summary));
    blocks
}
