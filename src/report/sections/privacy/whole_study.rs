//! A table of the privacy loss of all runs of a study together, if they use the same data.

use super::marks::{Notes, badge, figure};
use crate::accounting::StudyPrivacy;
use crate::report::document::{Block, Cell, Column, Layout, Row, Table, Visibility};
use crate::report::number::delta;
use crate::report::words::{person, unit};
use crate::study::Summary;
use crate::vocab::counted;

/// The remark below the table.
const WHAT: &str = "Every run is on the same records. This is the loss of the unit with the largest loss, if all runs \
                    are published or seen by one observer.";

/// The table, with a heading and a remark; empty if runs use different data.
pub(super) fn blocks(summary: &Summary, notes: &mut Notes) -> Vec<Block> {
    let Some(first) = summary.whole_study.first() else { return Vec::new() };
    let mut columns = vec![Column::new("series", false), Column::new("who learned about whom", false)];
    columns.extend(figures(first).map(|(name, _)| Column::new(name, true).named_in_cells()));
    columns.push(Column::new("basis", false));
    let one_delta = summary.whole_study.iter().all(|row| row.delta.to_bits() == first.delta.to_bits());
    let row = |row: &StudyPrivacy| {
        let mut who = format!("{}: {}", about(row), counted(row.runs, "run"));
        if !one_delta {
            who.push_str(&format!(", at delta {}", delta(row.delta)));
        }
        let mut cells = vec![Cell::plain(&row.series), Cell::plain(who)];
        cells.extend(figures(row).map(|(_, value)| Cell::of(vec![figure(value)])));
        // If no epsilon is finite, the reason is given with the losses of one run.
        let note = if row.figures_are_finite() { row.note.as_str() } else { "" };
        let rests = badge(row.basis, row.arithmetic).with_footnote(notes.number(note));
        cells.push(Cell::of(vec![rests]));
        cells.into_iter().collect::<Row>()
    };
    let table = Table {
        title: match one_delta {
            true => format!("Privacy loss of the whole study (epsilon at delta {})", delta(first.delta)),
            false => "Privacy loss of the whole study (epsilon, each at its delta)".to_owned(),
        },
        columns,
        heads: 2,
        rows: summary.whole_study.iter().map(row).collect(),
        layout: Layout::Grouped,
        shown: Visibility::Everywhere,
    };
    vec![Block::heading("whole-study", "The whole study"), Block::Table(table), Block::remark(WHAT)]
}

/// The observer and the unit of a loss, in words.
fn about(row: &StudyPrivacy) -> String {
    if row.person {
        return format!("{} about {}", row.observer, person(&row.protected));
    }
    format!("{} about {} of {}", row.observer, unit(&row.unit), row.protected)
}

/// The epsilons of a loss, by accountant.
fn figures(row: &StudyPrivacy) -> [(&'static str, f64); 3] {
    [("tight", row.epsilon_tight), ("rdp", row.epsilon_rdp), ("basic", row.epsilon_basic)]
}
