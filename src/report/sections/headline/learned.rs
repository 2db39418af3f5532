//! The card "Who learned what": the worst verdict for each observer, the losses of the best private series, and what is sent
//! unprotected.

use super::measure::Measure;
use super::protection::{Protection, UnprotectedLosses, claim, counted, received_text};
use super::quality::chosen;
use crate::accounting::{Loss, LossBasis, multiple};
use crate::report::document::{Card, Span};
use crate::report::number::{delta, three_digits_up, two_digits};
use crate::report::sections::cells::{by_series, place};
use crate::report::sections::points::Axes;
use crate::report::sections::terms::meaning;
use crate::report::words::{basis_words, unit};
use crate::study::{CellSummary, PrivacyRow, Summary};
use crate::vocab::Arithmetic;

/// Largest number of observers with a separate sentence.
const MAX_OBSERVERS: usize = 3;

/// The loss to one observer about one kind of unit in one series of one cell.
#[derive(Clone, Copy)]
struct ObservedLoss<'a> {
    cell: &'a CellSummary,
    row: &'a PrivacyRow,
    loss: &'a Loss,
}

/// The card.
pub(super) fn card(summary: &Summary) -> Card {
    let all: Vec<ObservedLoss<'_>> = summary
        .cells
        .iter()
        .flat_map(|cell| cell.privacy.iter().map(move |row| (cell, row)))
        .filter_map(|(cell, row)| Some(ObservedLoss { cell, row, loss: counted(row)? }))
        .collect();
    let mut sentences = Vec::new();
    if all.is_empty() {
        sentences.push(vec![Span::plain(
            "In the stored replications, nothing that depends on protected data was sent to anyone, apart from what is \
             taken as public.",
        )]);
        return Card::new("learned", "Who learned what", sentences);
    }
    let mut told: Vec<(&str, &str)> = Vec::new();
    let unguarded = UnprotectedLosses::of(summary);
    let guarded: Vec<ObservedLoss<'_>> = all
        .iter()
        .copied()
        .filter(|seen| !unguarded.holds(seen.row))
        .filter(|seen| Protection::of(seen.cell, &seen.row.series, &unguarded) != Protection::Open)
        .collect();
    let mut observers: Vec<&str> = Vec::new();
    for seen in &guarded {
        if !observers.contains(&seen.row.observer.as_str()) {
            observers.push(&seen.row.observer);
        }
    }
    let mut worst: Vec<ObservedLoss<'_>> =
        observers.iter().filter_map(|observer| worst_of(&guarded, observer)).collect();
    worst.sort_by(|a, b| severity(a).total_cmp(&severity(b)).reverse());
    let others = worst.len().saturating_sub(MAX_OBSERVERS);
    for seen in worst.iter().take(MAX_OBSERVERS) {
        sentences.push(sentence(summary, seen));
        told.push((&seen.row.series, &seen.row.observer));
    }
    if others > 0 {
        let who = if others == 1 { "observer has a verdict" } else { "observers have verdicts" };
        sentences.push(vec![Span::plain(format!("{others} further {who} no worse than these: see below."))]);
    }
    if let Some((words, observers)) = best(summary, &told) {
        sentences.push(words);
        told.extend(observers);
    }
    sentences.extend(exceeded(&guarded, &told));
    sentences.extend(qualified(&guarded));
    sentences.extend(open(summary, &all, &unguarded));
    sentences.extend(unguarded.words().map(|words| {
        let of = |name: &str| all.iter().any(|seen| seen.row.series == name && unguarded.holds(seen.row));
        let mut series = summary.cells.iter().flat_map(|cell| &cell.series);
        let whence =
            if series.all(|one| of(&one.name)) { "In every series" } else { "Where anything is sent," };
        unprotected(format!("{whence} {words} is "))
    }));
    Card::new("learned", "Who learned what", sentences)
}

/// The words of a sentence, followed by the word "unprotected" as a warning.
fn unprotected(words: String) -> Vec<Span> {
    let badge = Span::plain("unprotected").emphasised(true).explained(meaning("unprotected"));
    vec![Span::plain(words), badge, Span::plain(".")]
}

/// The severity of a verdict; a larger number is worse. From the worst to the best: a refuted claim, no finite bound
/// although something is claimed, an unprotected release without a claim, no finite bound for another reason, a finite bound
/// (the larger, the worse). That a claim is exceeded does not change the severity of a bound.
fn severity(seen: &ObservedLoss<'_>) -> f64 {
    let rank = match (seen.loss.basis, seen.loss.epsilon.is_finite()) {
        (LossBasis::Refuted, _) => 4.0,
        (_, false) if claim(seen.row).is_some() => 3.0,
        (LossBasis::Unprotected, _) => 2.0,
        (_, false) => 1.0,
        (_, true) => 0.0,
    };
    // Within a rank, verdicts are ordered by their finite epsilons.
    let size =
        if seen.loss.epsilon.is_finite() { seen.loss.epsilon / (1.0 + seen.loss.epsilon) } else { 0.0 };
    rank + 0.9 * size
}

fn worst_of<'a>(all: &[ObservedLoss<'a>], observer: &str) -> Option<ObservedLoss<'a>> {
    let of = all.iter().filter(|seen| seen.row.observer == observer).copied();
    // Of several equally bad verdicts, the first is taken.
    of.reduce(|worst, seen| if severity(&seen) > severity(&worst) { seen } else { worst })
}

/// The name of the series of a loss, and in words those cells of the study that have the same privacy row.
fn series_and_cells(summary: &Summary, seen: &ObservedLoss<'_>) -> [Span; 2] {
    let same = |cell: &&CellSummary| cell.privacy.contains(seen.row);
    let axes = Axes::of(summary);
    let places: Vec<String> =
        summary.cells.iter().filter(same).map(|cell| axes.point(cell).join(", ")).collect();
    let place = match place(summary, &places) {
        place if place.is_empty() => ": ".to_owned(),
        place => format!(" at {place}: "),
    };
    [Span::strong(&seen.row.series), Span::plain(place)]
}

fn sentence(summary: &Summary, seen: &ObservedLoss<'_>) -> Vec<Span> {
    let mut words = series_and_cells(summary, seen).to_vec();
    words.extend(verdict(summary, seen.row, seen.loss));
    if seen.loss.epsilon.is_finite() {
        words.extend(of_the_person(summary, seen.cell, seen.row));
    }
    words.push(Span::plain("."));
    words
}

/// The loss about a person who contributes both a row and an outcome, as the end of a sentence; `None` if the observer has
/// not received both.
fn of_the_person(summary: &Summary, cell: &CellSummary, row: &PrivacyRow) -> Option<Span> {
    let of_row = cell.persons.iter().filter(|person| {
        (&person.series, &person.protected, &person.observer) == (&row.series, &row.protected, &row.observer)
    });
    let person = of_row.max_by(|a, b| a.epsilon.total_cmp(&b.epsilon))?;
    let most = match person.epsilon.is_finite() {
        true => format!("at most {}", three_digits_up(person.epsilon)),
        false => "without a finite bound".to_owned(),
    };
    let ideal = person.arithmetic.filter(|arithmetic| *arithmetic == Arithmetic::Ideal);
    let basis = basis_words(person.basis, ideal, None);
    let mut told = format!("{basis}, delta {}", delta(person.delta));
    let study = over_all_runs(summary, row, true, (person.basis, person.delta));
    told.extend(study.filter(|_| person.epsilon.is_finite()).map(|study| format!("; {study}")));
    Some(Span::plain(format!(", about a person whose row and outcome both change, {most} ({told})")))
}

/// The loss over all runs of the series together about the unit of `row`, or about a person if `person` is true. The basis
/// and the delta of this loss are stated if they differ from `basis` and `at`, those of one run: "43.1 over all 40 runs,
/// conditional". `None` if runs use different data, or if there is only one run.
fn over_all_runs(
    summary: &Summary,
    row: &PrivacyRow,
    person: bool,
    (basis, at): (LossBasis, f64),
) -> Option<String> {
    let of = summary.over_all_runs(row, person).filter(|of| of.runs > 1)?;
    if of.epsilon_tight.is_infinite() {
        return Some(format!("nothing finite over all {} runs", of.runs));
    }
    let mut words = format!("{} over all {} runs", three_digits_up(of.epsilon_tight), of.runs);
    if of.basis != basis {
        words.push_str(&format!(", {}", of.basis.words()));
    }
    if of.delta.to_bits() != at.to_bits() {
        words.push_str(&format!(", delta {}", delta(of.delta)));
    }
    Some(words)
}

/// The verdict on a loss, as the end of a sentence.
fn verdict(summary: &Summary, row: &PrivacyRow, loss: &Loss) -> Vec<Span> {
    let about = about(row);
    let observer = &row.observer;
    if loss.epsilon.is_finite() {
        let study = over_all_runs(summary, row, false, (loss.basis, loss.delta));
        let study = study.map_or_else(String::new, |study| format!("; {study}"));
        let mut words = vec![
            Span::plain(format!("{observer} learns about {about} in one run at most ")),
            Span::plain("epsilon").explained(meaning("epsilon")),
            Span::plain(format!(" {} (", three_digits_up(loss.epsilon))),
            basis(loss),
            Span::plain(format!(", delta {}{study})", delta(loss.delta))),
        ];
        words.extend(
            loss.times_claim
                .map(|times| Span::plain(format!(", {} the claim", multiple(times))).emphasised(true)),
        );
        return words;
    }
    match (loss.basis, claim(row)) {
        (LossBasis::Refuted, Some(claim)) => vec![
            Span::plain("the claim of "),
            Span::plain("epsilon").explained(meaning("epsilon")),
            Span::plain(format!(" {} is ", two_digits(claim.epsilon))),
            Span::badge("refuted").emphasised(true).explained(loss.note.clone()),
            Span::plain(format!(": no finite bound holds on what {observer} learns about {about}")),
        ],
        (LossBasis::Unprotected, _) => vec![
            Span::plain(format!("{observer} gets {} of {} ", row.released.join(", "), row.protected)),
            Span::badge("unprotected").emphasised(true).explained(explanation(loss)),
        ],
        _ => vec![
            Span::plain(format!(
                "{observer} may learn about {about} in one run more than any finite epsilon allows ("
            )),
            basis(loss),
            Span::plain(")"),
        ],
    }
}

/// The unit and its owner, such as "a record of hospital". If the observers are all units of this kind ("every agent"): "any
/// other". If the owner's name begins with that of the unit ("agents"), the unit alone: "an agent".
fn about(row: &PrivacyRow) -> String {
    let name = unit(&row.unit);
    let noun = name.split_once(' ').map_or(name, |(_, noun)| noun);
    match () {
        () if row.observer == format!("every {noun}") => "any other".to_owned(),
        () if row.protected.starts_with(noun) => name.to_owned(),
        () => format!("{name} of {}", row.protected),
    }
}

fn basis(loss: &Loss) -> Span {
    let loud = matches!(loss.basis, LossBasis::Refuted | LossBasis::Unprotected);
    // Exact arithmetic is not mentioned, because with it the bound holds for the actual output.
    let ideal = loss.arithmetic.filter(|arithmetic| *arithmetic == Arithmetic::Ideal);
    Span::plain(basis_words(loss.basis, ideal, None)).emphasised(loud).explained(explanation(loss))
}

/// The meaning of the basis, followed by the accountants' note if the basis is not proven.
fn explanation(loss: &Loss) -> String {
    let general = meaning(loss.basis.words());
    if loss.note.is_empty() || loss.basis == LossBasis::Proven {
        general
    } else {
        format!("{general} {}", loss.note)
    }
}

/// The words of a sentence, and the pairs of series and observer that the sentence is about.
type Sentences<'a> = (Vec<Span>, Vec<(&'a str, &'a str)>);

/// A sentence on the losses of the best private series to those observers that `told` does not pair with this series. Also
/// returns the pairs of series and observer that the sentence is about. `None` if there is no such loss, or if some loss of
/// the best private series has no finite bound. Losses against which no series protects ([`UnprotectedLosses`]) are
/// ignored.
fn best<'a>(summary: &'a Summary, told: &[(&str, &str)]) -> Option<Sentences<'a>> {
    let (best, _) = chosen(summary, Measure::of(summary)?)?;
    if !matches!(best.protection, Protection::Bounded(..)) {
        return None;
    }
    let unguarded = UnprotectedLosses::of(summary);
    let name = best.series.name.as_str();
    let rows: Vec<&PrivacyRow> = best
        .cell
        .privacy
        .iter()
        .filter(|row| {
            row.series == name && !unguarded.holds(row) && !told.contains(&(name, row.observer.as_str()))
        })
        .collect();
    let first = rows.first()?;
    let loss = counted(first)?;
    let mut words = series_and_cells(summary, &ObservedLoss { cell: best.cell, row: first, loss }).to_vec();
    words.extend(verdict(summary, first, loss));
    let mut last: (&PrivacyRow, &Loss) = (first, loss);
    // Owners and observers for which the loss about a person has been stated.
    let mut persons: Vec<(&str, &str)> = Vec::new();
    let mut person = |row: &'a PrivacyRow| {
        let of = (row.protected.as_str(), row.observer.as_str());
        let is_new = !persons.contains(&of);
        persons.push(of);
        of_the_person(summary, best.cell, row).filter(|_| is_new)
    };
    for row in rows.iter().skip(1) {
        let Some(loss) = counted(row) else { continue };
        // For a further unit of the same owner and observer, basis and delta are stated only if they differ from those of
        // the unit before.
        let (before, known) = std::mem::replace(&mut last, (row, loss));
        if (&row.observer, &row.protected) != (&before.observer, &before.protected) {
            words.extend(person(before));
            words.push(Span::plain("; "));
            words.extend(verdict(summary, row, loss));
            continue;
        }
        let differs = (loss.basis, loss.arithmetic) != (known.basis, known.arithmetic);
        let ideal = loss.arithmetic.filter(|arithmetic| *arithmetic == Arithmetic::Ideal);
        let basis =
            if differs { format!(" ({})", basis_words(loss.basis, ideal, None)) } else { String::new() };
        let at = if loss.delta.to_bits() == known.delta.to_bits() {
            String::new()
        } else {
            format!(", delta {}", delta(loss.delta))
        };
        let most = three_digits_up(loss.epsilon);
        let study = over_all_runs(summary, row, false, (loss.basis, loss.delta));
        let study = study.map_or_else(String::new, |study| format!(" ({study})"));
        words.push(Span::plain(format!(", about {} at most {most}{basis}{at}{study}", unit(&row.unit))));
    }
    words.extend(person(last.0));
    words.push(Span::plain("."));
    Some((words, rows.iter().map(|row| (name, row.observer.as_str())).collect()))
}

/// A sentence on the series whose finite bounds are not proven; `None` if all are proven.
fn qualified(guarded: &[ObservedLoss<'_>]) -> Option<Vec<Span>> {
    let mut names: Vec<&str> = Vec::new();
    let mut words: Vec<&str> = Vec::new();
    for seen in guarded.iter().filter(|seen| seen.loss.epsilon.is_finite()) {
        if seen.loss.basis == LossBasis::Proven {
            continue;
        }
        if !names.contains(&seen.row.series.as_str()) {
            names.push(&seen.row.series);
        }
        if !words.contains(&seen.loss.basis.words()) {
            words.push(seen.loss.basis.words());
        }
    }
    let which = match names.as_slice() {
        [] => return None,
        [one] => (*one).to_owned(),
        [one, two] => format!("{one} and {two}"),
        all => format!("{} series", all.len()),
    };
    let how = words.join(" or ");
    Some(vec![Span::plain(format!("Bounds of {which} are not proven but {how}: see Privacy."))])
}

/// A sentence on the claim that is exceeded by the largest factor, among losses without a sentence so far; `None` if no
/// claim of such a loss is exceeded.
fn exceeded(guarded: &[ObservedLoss<'_>], told: &[(&str, &str)]) -> Option<Vec<Span>> {
    let untold = |seen: &&ObservedLoss<'_>| !told.contains(&(&seen.row.series, &seen.row.observer));
    let factors = guarded.iter().filter(untold).filter_map(|seen| Some((seen.loss.times_claim?, seen)));
    let (times, seen) = factors.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let most = three_digits_up(seen.loss.epsilon);
    let (series, observer) = (&seen.row.series, &seen.row.observer);
    Some(vec![
        Span::strong(series),
        Span::plain(format!(
            " claims less than {observer} may learn about {}: epsilon {most} is ",
            about(seen.row)
        )),
        Span::plain(format!("{} the claim", multiple(times))).emphasised(true),
        Span::plain("."),
    ])
}

/// A sentence on the series that send everything unprotected; `None` if no series does.
fn open(summary: &Summary, all: &[ObservedLoss<'_>], unguarded: &UnprotectedLosses<'_>) -> Option<Vec<Span>> {
    let mut observers: Vec<&str> = Vec::new();
    // Each such series, with the cells in which it sends everything unprotected.
    let mut series: Vec<(&str, Vec<&CellSummary>)> = Vec::new();
    for seen in all.iter().filter(|seen| {
        !unguarded.holds(seen.row)
            && Protection::of(seen.cell, &seen.row.series, unguarded) == Protection::Open
    }) {
        match series.iter_mut().find(|(name, _)| *name == seen.row.series) {
            Some((_, cells)) if cells.iter().any(|cell| std::ptr::eq(*cell, seen.cell)) => {}
            Some((_, cells)) => cells.push(seen.cell),
            None => series.push((&seen.row.series, vec![seen.cell])),
        }
        if !observers.contains(&seen.row.observer.as_str()) {
            observers.push(&seen.row.observer);
        }
    }
    let who = match observers.as_slice() {
        [] => return None,
        observers => received_text(observers),
    };
    let total = by_series(summary).len();
    let everywhere = |(name, cells): &(&str, Vec<&CellSummary>)| {
        let of = |cell: &&CellSummary| cell.series.iter().any(|series| series.name == *name);
        cells.len() == summary.cells.iter().filter(of).count()
    };
    let axes = Axes::of(summary);
    let named = |(name, cells): &(&str, Vec<&CellSummary>)| {
        let places: Vec<String> = cells.iter().map(|cell| axes.point(cell).join(", ")).collect();
        match place(summary, &places) {
            place if place.is_empty() => (*name).to_owned(),
            place => format!("{name} (at {place})"),
        }
    };
    Some(unprotected(match series.len() {
        n if n == total && series.iter().all(everywhere) => format!("In every series {who} is "),
        1 | 2 => format!("In {} {who} is ", series.iter().map(named).collect::<Vec<_>>().join(" and ")),
        n if series.iter().all(everywhere) => format!("In {n} of {total} series {who} is "),
        n => format!("In {n} of {total} series, in some or all cells, {who} is "),
    }))
}
