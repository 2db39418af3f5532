//! Who learned what about whom, and what it costs by each accountant.

use super::style::{block, line, wrapped};
use crate::accounting::{Loss, LossBasis, Standing};
use crate::report::cells::{merged, merged_persons, place};
use crate::report::number::{delta, epsilon};
use crate::report::public;
use crate::report::relations::relations;
use crate::report::whole_study;
use crate::report::words::{RUNS_DIFFER, arithmetic, person, rests_on, times, unit};
use crate::study::{PersonLoss, PrivacyRow, Summary};
use crate::vocab::counted;

pub(super) fn section(out: &mut String, summary: &Summary) {
    if summary.cells.iter().any(|cell| !cell.privacy.is_empty()) {
        losses(out, summary);
    }
    taken_as_public(out, summary);
}

fn losses(out: &mut String, summary: &Summary) {
    line(out, "");
    line(out, "Privacy loss of one run: who learned what about whom");
    let mut notes = Notes::default();
    let entries = merged(summary);
    let persons = merged_persons(summary);
    let mut last_series = None;
    for (index, (entry, places)) in entries.iter().enumerate() {
        if last_series != Some(&entry.series) {
            line(out, &entry.series);
            last_series = Some(&entry.series);
        }
        row(out, entry, &at(summary, places), &mut notes);
        if entries.get(index + 1).is_none_or(|(next, _)| next.series != entry.series) {
            for (of, places) in persons.iter().filter(|(of, _)| of.series == entry.series) {
                person_row(out, of, &at(summary, places), &mut notes);
            }
        }
    }
    for relation in relations(summary) {
        wrapped(out, 2, &format!("neighbours, {relation}"));
    }
    let told = summary.cells.iter().flat_map(|cell| &cell.privacy).flat_map(|entry| &entry.losses);
    if let Some(note) = arithmetic(told.filter_map(|loss| loss.arithmetic)) {
        wrapped(out, 2, &note);
    }
    notes.print(out, 0);
    studied(out, summary, &mut notes);
}

/// What publishing every run of the study would cost, where all runs are on the same data.
fn studied(out: &mut String, summary: &Summary, notes: &mut Notes) {
    let Some(first) = summary.whole_study.first() else { return };
    let before = notes.0.len();
    line(out, "");
    line(out, &whole_study::title(first));
    let mut last_series = None;
    for row in &summary.whole_study {
        if last_series != Some(&row.series) {
            line(out, &row.series);
            last_series = Some(&row.series);
        }
        wrapped(out, 2, &format!("{}: {}", whole_study::about(row), counted(row.runs, "run")));
        let mut cells: Vec<String> =
            whole_study::figures(row).map(|(name, value)| format!("{name} {}", epsilon(value))).to_vec();
        cells.push(format!("{}{}", whole_study::rests(row), notes.mark(whole_study::note(row))));
        block(out, 4, vec![cells], &[]);
    }
    wrapped(out, 2, whole_study::WHAT);
    notes.print(out, before);
}

fn at(summary: &Summary, places: &[String]) -> String {
    let place = place(summary, places);
    if place.is_empty() { place } else { format!(" ({place})") }
}

fn row(out: &mut String, entry: &PrivacyRow, place: &str, notes: &mut Notes) {
    let times = times(entry);
    wrapped(
        out,
        2,
        &format!(
            "{} about {} of {}: {}, {times}{place}",
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

fn person_row(out: &mut String, entry: &PersonLoss, place: &str, notes: &mut Notes) {
    let sum = format!("{} + {}", epsilon(entry.epsilon_row), epsilon(entry.epsilon_outcome));
    wrapped(out, 2, &format!("{} about {}: {sum}{place}", entry.observer, person(&entry.protected)));
    let rests = rests_on(entry.basis, entry.arithmetic, None);
    let cells = vec![
        "tight, added".to_owned(),
        format!("epsilon {}", epsilon(entry.epsilon)),
        format!("delta {}", delta(entry.delta)),
        format!("{rests}{}", notes.mark(&entry.note)),
    ];
    block(out, 4, vec![cells], &[]);
}

/// What observers know besides.
fn taken_as_public(out: &mut String, summary: &Summary) {
    let facts = public::facts(summary);
    if facts.is_empty() {
        return;
    }
    line(out, "");
    line(out, public::TITLE);
    for public::Public { fact, place } in &facts {
        let place = if place.is_empty() { String::new() } else { format!(" ({place})") };
        let origin = public::origin(fact.origin);
        wrapped(out, 2, &format!("{}{}{place}: {origin}", fact.what, public::about(fact)));
    }
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

    /// Prints the notes from one on.
    fn print(&self, out: &mut String, from: usize) {
        for (index, note) in self.0.iter().enumerate().skip(from) {
            wrapped(out, 2, &format!("[{}] {note}", index + 1));
        }
    }
}

/// One line per accountant; accountants that give no finite epsilon for the same reason share one.
fn lines(losses: &[Loss]) -> Vec<(String, &Loss)> {
    let counts = |loss: &Loss| loss.standing != Standing::Claim;
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
            Some((names, _)) => names.push(loss.accountant.words()),
            None => lines.push((vec![loss.accountant.words()], loss)),
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
        Standing::Claim | Standing::Bound => "",
        Standing::NonAdaptiveBound => ", if not chosen adaptively",
        Standing::NotABound if loss.basis == LossBasis::Approximation => ", not a bound",
        // No finite epsilon holds, whoever counts.
        Standing::NotABound => "",
    };
    format!("{}{suffix}", rests_on(loss.basis, loss.arithmetic, loss.times_claim))
}
