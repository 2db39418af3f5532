//! The losses to one observer in one series over all cells of a study: the data of a line of the short report.

use crate::accounting::{AccountantName, EpsilonKind, Loss, LossBasis};
use crate::report::document::Span;
use crate::report::sections::cells::by_series;
use crate::report::words::unit;
use crate::study::{PersonLoss, PrivacyRow, Summary};
use crate::vocab::{Arithmetic, ProtectedUnit};

/// The losses about units of one kind: a privacy row for each cell that has releases about such units.
pub(super) struct Unit<'a> {
    pub(super) unit: ProtectedUnit,
    pub(super) rows: Vec<&'a PrivacyRow>,
}

/// The losses to one observer about the data of one owner in one series: about units of one kind, or about persons who
/// contribute a row and an outcome.
pub(super) struct Learned<'a> {
    pub(super) series: &'a str,
    pub(super) observer: &'a str,
    pub(super) protected: &'a str,
    /// One kind of unit, or the two kinds that a person contributes: a row and its outcome.
    pub(super) units: Vec<Unit<'a>>,
    pub(super) persons: Vec<&'a PersonLoss>,
}

/// A line for each series, observer, owner, kind of unit and neighbouring relation, in the order of the series. The row and
/// the outcome of a person share a line.
pub(super) fn lines(summary: &Summary) -> Vec<Learned<'_>> {
    let mut lines: Vec<Learned<'_>> = Vec::new();
    for cell in &summary.cells {
        for row in &cell.privacy {
            let person = cell.persons.iter().find(|person| is_of(person, row));
            let same = |line: &&mut Learned<'_>| {
                let about = line.series == row.series
                    && line.observer == row.observer
                    && line.protected == row.protected;
                let both = person.is_some() && !line.persons.is_empty();
                let alike = line.units.iter().any(|known| {
                    known.unit == row.unit
                        && known.rows.iter().all(|other| other.neighbours == row.neighbours)
                });
                about && (alike || both && !line.units.iter().any(|known| known.unit == row.unit))
            };
            let place = match lines.iter_mut().find(same) {
                Some(line) => line,
                None => {
                    lines.push(Learned {
                        series: &row.series,
                        observer: &row.observer,
                        protected: &row.protected,
                        units: Vec::new(),
                        persons: Vec::new(),
                    });
                    lines.last_mut().expect("it was added just now")
                }
            };
            if let Some(person) = person
                && !place.persons.iter().any(|known| std::ptr::eq(*known, person))
            {
                place.persons.push(person);
            }
            match place.units.iter_mut().find(|known| known.unit == row.unit) {
                Some(known) => known.rows.push(row),
                None => place.units.push(Unit { unit: row.unit, rows: vec![row] }),
            }
        }
    }
    let order: Vec<String> = by_series(summary).iter().map(|group| group[0].1.name.clone()).collect();
    lines.sort_by_key(|line| order.iter().position(|name| name == line.series));
    lines
}

fn is_of(person: &PersonLoss, row: &PrivacyRow) -> bool {
    let brought = matches!(row.unit, ProtectedUnit::Record | ProtectedUnit::Outcome);
    brought
        && person.series == row.series
        && person.protected == row.protected
        && person.observer == row.observer
}

impl Learned<'_> {
    /// The units in words, without articles if there are several.
    pub(super) fn about(&self) -> String {
        let name = |of: &Unit<'_>| unit(&of.unit).split_once(' ').map_or("", |(_, name)| name);
        match self.units.as_slice() {
            [one] => unit(&one.unit).to_owned(),
            several => several.iter().map(name).collect::<Vec<_>>().join(" + "),
        }
    }
}

impl Unit<'_> {
    /// The tight accountant's loss in each cell.
    pub(super) fn tight(&self) -> impl Iterator<Item = &Loss> {
        let of = |row: &&PrivacyRow| row.losses.iter().position(|l| l.accountant == AccountantName::Tight);
        self.rows.iter().filter_map(move |row| Some(&row.losses[of(row)?]))
    }

    /// The claims in all cells.
    pub(super) fn claims(&self) -> impl Iterator<Item = &Loss> {
        self.rows.iter().flat_map(|row| &row.losses).filter(|loss| loss.standing == EpsilonKind::Claim)
    }

    /// The weakest basis in any cell, and whether all cells have this basis.
    pub(super) fn basis(&self) -> (LossBasis, bool) {
        let weakest = self.tight().map(|loss| loss.basis).min().unwrap_or(LossBasis::Unprotected);
        (weakest, self.tight().all(|loss| loss.basis == weakest))
    }

    /// The largest ratio of a tight epsilon to its claim; `None` if no claim is exceeded.
    pub(super) fn times_claim(&self) -> Option<f64> {
        self.tight().chain(self.claims()).filter_map(|loss| loss.times_claim).reduce(f64::max)
    }

    /// Smallest and largest epsilon of the tight accountant in any cell.
    pub(super) fn range(&self) -> (f64, f64) {
        let all = || self.tight().map(|loss| loss.epsilon);
        (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max))
    }

    /// Smallest and largest proven epsilon of the cells that have a proven epsilon, and whether all cells have one.
    pub(super) fn proven(&self) -> (Option<(f64, f64)>, bool) {
        let is_proven = |loss: &&Loss| loss.basis == LossBasis::Proven && loss.epsilon.is_finite();
        let found = || self.tight().filter(is_proven).map(|loss| loss.epsilon);
        let least = found().reduce(f64::min);
        (least.zip(found().reduce(f64::max)), self.tight().all(|loss| is_proven(&loss)))
    }

    /// Number of cells without a finite bound.
    pub(super) fn unbounded(&self) -> usize {
        self.tight().filter(|loss| loss.epsilon.is_infinite()).count()
    }

    /// The weakest arithmetic of the finite bounds; `None` without a finite bound.
    pub(super) fn arithmetic(&self) -> Option<Arithmetic> {
        self.tight().filter(|loss| loss.epsilon.is_finite()).filter_map(|loss| loss.arithmetic).min()
    }

    /// An explanation of the verdict: why a claim is refuted or exceeded, or the conditions of the epsilon; may be empty.
    pub(super) fn note(&self) -> String {
        let (basis, _) = self.basis();
        let weakest = self.tight().find(|loss| loss.basis == basis);
        match basis {
            LossBasis::Unprotected => String::new(),
            LossBasis::Refuted => weakest.map_or_else(String::new, |loss| {
                let from = loss.note.find("the claim for ").unwrap_or(0);
                loss.note[from..].to_owned()
            }),
            _ if basis == LossBasis::Proven && self.times_claim().is_some() => self
                .claims()
                .find(|loss| loss.times_claim.is_some())
                .map_or_else(String::new, |l| l.note.clone()),
            _ => {
                let mut notes: Vec<&str> = Vec::new();
                for loss in self.tight().filter(|loss| loss.basis == basis) {
                    if !loss.note.is_empty() && !notes.contains(&loss.note.as_str()) {
                        notes.push(&loss.note);
                    }
                }
                notes.join("; ")
            }
        }
    }
}

/// A verdict in words, emphasised as a warning if it is refuted or unprotected.
pub(super) fn emphasised(words: String, basis: LossBasis) -> Span {
    Span::plain(words).emphasised(matches!(basis, LossBasis::Refuted | LossBasis::Unprotected))
}
