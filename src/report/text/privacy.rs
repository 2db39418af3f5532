//! Who learned what about whom, and what it costs by each accountant.

use super::style::{block, line, table, wrapped};
use crate::report::cells::{axes, merged};
use crate::report::number::{delta, epsilon};
use crate::report::relations::relations;
use crate::report::words::{RUNS_DIFFER, times, unit};
use crate::study::{Loss, LossStanding, Summary};

pub(super) fn section(out: &mut String, summary: &Summary) {
    if summary.cells.iter().all(|cell| cell.privacy.is_empty()) {
        return;
    }
    line(out, "");
    line(out, "Privacy loss of one run: who learned what about whom");
    let mut notes = Notes::default();
    let mut last_series = None;
    for (entry, places) in merged(summary) {
        if last_series != Some(&entry.series) {
            line(out, &entry.series);
            last_series = Some(&entry.series);
        }
        let places = if places.len() == summary.cells.len() {
            String::new()
        } else {
            format!(" ({} = {})", axes(summary).join(", "), places.join("; "))
        };
        let times = times(entry);
        wrapped(
            out,
            2,
            &format!(
                "{} about {} of {}: {}, {times}{places}",
                entry.observer,
                unit(&entry.unit),
                entry.protected,
                entry.released.join(", ")
            ),
        );
        let rows = lines(&entry.losses).into_iter().map(|(name, loss)| {
            vec![
                name,
                format!("epsilon {}", epsilon(loss.epsilon)),
                format!("delta {}", delta(loss.delta)),
                format!("{}{}", basis(loss), notes.mark(&loss.note)),
            ]
        });
        block(out, 4, rows.collect(), &[]);
        if entry.runs_differ {
            line(out, &format!("     {RUNS_DIFFER}"));
        }
    }
    for relation in relations(summary) {
        wrapped(out, 2, &format!("neighbours, {relation}"));
    }
    for (index, note) in notes.0.iter().enumerate() {
        wrapped(out, 2, &format!("[{}] {note}", index + 1));
    }
    whole_study(out, summary);
}

/// What publishing every run of the study would cost, where all runs are on the same data.
fn whole_study(out: &mut String, summary: &Summary) {
    let Some(first) = summary.whole_study.first() else { return };
    let numbers = summary.whole_study.iter().map(|row| {
        vec![
            row.series.clone(),
            row.runs.to_string(),
            row.releases.to_string(),
            epsilon(row.epsilon_basic),
            epsilon(row.epsilon_rdp),
            row.basis.clone(),
        ]
    });
    let header = ["series", "runs", "releases", "basic", "rdp", "basis"].map(str::to_owned).to_vec();
    let title = format!("Privacy loss of the whole study (epsilon at delta {:e})", first.delta);
    table(out, &title, header, numbers.collect(), 1);
    wrapped(
        out,
        2,
        "all runs of a series are on the same data: this is the loss if every one were published",
    );
}

/// Notes, numbered as they first occur.
#[derive(Default)]
struct Notes(Vec<String>);

impl Notes {
    fn mark(&mut self, note: &str) -> String {
        if note.is_empty() {
            return String::new();
        }
        let index = self.0.iter().position(|known| known == note).unwrap_or_else(|| {
            self.0.push(note.to_owned());
            self.0.len() - 1
        });
        format!(" [{}]", index + 1)
    }
}

/// One line per accountant; accountants that give no finite epsilon for the same reason share one.
fn lines(losses: &[Loss]) -> Vec<(String, &Loss)> {
    let counts = |loss: &Loss| loss.standing != LossStanding::Claim;
    let accountants = losses.iter().filter(|loss| counts(loss)).count();
    let mut lines: Vec<(Vec<&str>, &Loss)> = Vec::new();
    for loss in losses {
        let same = |(_, known): &&mut (Vec<&str>, &Loss)| {
            let alike = (&known.basis, &known.note) == (&loss.basis, &loss.note);
            counts(loss)
                && counts(known)
                && known.epsilon.is_infinite()
                && loss.epsilon.is_infinite()
                && alike
        };
        match lines.iter_mut().find(same) {
            Some((names, _)) => names.push(&loss.accountant),
            None => lines.push((vec![&loss.accountant], loss)),
        }
    }
    let name = |names: Vec<&str>| match names.len() {
        n if n > 1 && n == accountants => "every accountant".to_owned(),
        _ => names.join(", "),
    };
    lines.into_iter().map(|(names, loss)| (name(names), loss)).collect()
}

fn basis(loss: &Loss) -> String {
    let suffix = match loss.standing {
        LossStanding::Claim | LossStanding::Bound => "",
        LossStanding::NonAdaptiveBound => ", if not chosen adaptively",
        LossStanding::NotABound => ", not a bound",
    };
    format!("{}{suffix}", loss.basis)
}
