//! Outcomes (here: the numbers that a series reports at its end) in few lines: their means side by side, and how often
//! their bounds held.

use super::pivot;
use crate::report::document::{Block, Section};
use crate::report::number::{percent, regret};
use crate::report::sections::cells::{Rows, rows};
use crate::report::sections::lines::capital;
use crate::report::sections::nonresponse_bias;
use crate::report::words::{outcome, outcome_in_brief};
use crate::study::{CellSummary, OutcomeRow, SeriesSummary, Summary};

/// The section; `None` if there is nothing to show. Outcomes that belong to a named group (`group: outcome`) are left
/// out. If an outcome has a bound in every series that has the outcome, only how often the bound held is shown, not the
/// outcome itself.
pub(super) fn section(summary: &Summary) -> Option<Section> {
    let all = || summary.cells.iter().flat_map(|cell| &cell.series).flat_map(|series| &series.outcomes);
    let mut names: Vec<&str> = Vec::new();
    for outcome in all().filter(|outcome| !outcome.name.contains(": ")) {
        if !names.contains(&outcome.name.as_str()) {
            names.push(&outcome.name);
        }
    }
    let of = |name: &str| all().filter(|outcome| outcome.name == name).collect::<Vec<&OutcomeRow>>();
    let shown: Vec<&str> =
        names.iter().copied().filter(|name| of(name).iter().any(|row| row.bound.is_none())).collect();
    let mut blocks = Vec::new();
    if !shown.is_empty() {
        let numbers = |_: &CellSummary, series: &SeriesSummary| {
            let found: Vec<Option<OutcomeRow>> = shown
                .iter()
                .map(|name| series.outcomes.iter().find(|outcome| outcome.name == *name).cloned())
                .collect();
            let words =
                found.iter().map(|row| row.as_ref().map_or_else(String::new, |row| regret(row.value)));
            let words = words.collect();
            (found, words)
        };
        let found: Rows = rows(summary, numbers).filled();
        let (heads, remark) = (found.heads(), found.remark());
        let title = "at the end (mean ± standard error over replications)";
        if pivot::wanted(&found) {
            for (place, name) in shown.iter().enumerate() {
                let mut one = Rows { rows: found.rows.clone(), axes: found.axes.clone(), ..Rows::default() };
                one.rows.retain(|row| !row[heads + place].is_empty());
                let title = format!("{} {title}", capital(outcome(name)));
                blocks.extend(pivot::table(&one, title, place).map(Block::Table));
            }
        } else {
            let columns = shown.iter().map(|name| outcome_in_brief(name));
            blocks.push(Block::Table(found.table(format!("Outcomes {title}"), columns)));
        }
        blocks.extend(remark);
    }
    for name in names {
        let mut sources: Vec<(&str, f64, f64, f64)> = Vec::new();
        for bound in of(name).into_iter().filter_map(|row| row.bound.as_ref()) {
            let known = sources.iter_mut().find(|(source, probability, ..)| {
                *source == bound.source && probability.to_bits() == bound.probability.to_bits()
            });
            match known {
                Some((_, _, least, most)) => {
                    *least = least.min(bound.held);
                    *most = most.max(bound.held);
                }
                None => sources.push((&bound.source, bound.probability, bound.held, bound.held)),
            }
        }
        for (source, probability, least, most) in sources {
            let held = if least < most {
                format!("{} to {}", percent(least), percent(most))
            } else {
                percent(least)
            };
            blocks.push(Block::remark(format!(
                "bound on {} ({source}): holds with probability {}, held in {held} of the replications",
                outcome(name),
                percent(probability)
            )));
        }
    }
    if !blocks.is_empty() {
        blocks.splice(0..0, nonresponse_bias::statements(summary));
    }
    (!blocks.is_empty()).then(|| Section { blocks, ..Section::default() })
}
