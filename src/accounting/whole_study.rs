//! The privacy loss of a whole study, if all of its runs use the same data.

use super::basis::weakest_arithmetic;
use super::loss::{distinct, joined};
use super::person::{Part, added, persons};
use super::statement::price;
use super::study_group::{Group, runs};
use super::study_privacy::StudyPrivacy;
use super::units::OncePerUser;
use super::{Accountant, AccountedEpsilon, Basic, Composition, CountedRelease, LossBasis, Rdp, Tight};
use crate::vocab::{Basis, Delta};
use std::collections::BTreeMap;

/// The condition for adding up losses over runs: composition needs independent noise, but cells and series of one
/// replication use the same random numbers, so that they can be compared.
const SHARED: &str = "holds only if all runs draw independent noise: here the runs of one replication that differ in \
                      settings share their random numbers, and two results with the same noise can reveal more \
                      than the sum of both losses";

/// The name for all series together.
const ALL: &str = "all series";

/// The beginning of the note on conditions that may fail with a stated probability in each run.
pub(crate) const OF_ONE_RUN: &str = "a probability that is stated for a condition";

/// The releases that were added so far, by series and group (party, unit, observer and neighbouring relation). All runs
/// use the same data.
#[derive(Clone, Debug, Default)]
pub struct WholeStudy {
    groups: Vec<Group>,
}

impl WholeStudy {
    /// Adds the releases of one run of a series. `run` identifies its random numbers: the seed and the number of the
    /// replication.
    pub fn add_run(&mut self, run: (u64, u64), series: &str, releases: &[CountedRelease]) {
        // If each user reports one reward only, all rewards of a run count as one release, since a user's loss is due to its
        // own reward.
        let mut seen: BTreeMap<usize, OncePerUser> = BTreeMap::new();
        for entry in releases {
            let event = &entry.event;
            let known =
                self.groups.iter().position(|group| group.series == series && group.about.holds(event));
            let index = known.unwrap_or_else(|| {
                self.groups.push(Group::of(series, event));
                self.groups.len() - 1
            });
            let group = &mut self.groups[index];
            group.releases += entry.count;
            let once = seen.entry(index).or_insert_with(|| {
                *group.runs.entry(run).or_default() += 1;
                OncePerUser::default()
            });
            let counted = once.counted(event, entry.count);
            if counted > 0 {
                group.count(event, counted);
            }
        }
    }

    /// The rows of the report: one for each series and group of releases, one for each group that several series have, and
    /// the rows about persons. Rows of the same series are adjacent.
    #[must_use]
    pub fn rows(&self, delta: Delta) -> Vec<StudyPrivacy> {
        let mut prices = LossCache { delta, known: Vec::new() };
        let alone: Vec<Priced<'_>> = self.groups.iter().map(|group| prices.row(group)).collect();
        let joint = self.joint(&alone, &mut prices);
        let mut rows: Vec<StudyPrivacy> = alone.iter().map(Priced::finished).collect();
        rows.extend(joint.iter().filter(|priced| priced.row.all_series).map(Priced::finished));
        rows.extend(of_persons(&alone, |a, b| a.is_one_series_with(b)));
        rows.extend(of_persons(&joint, |a, b| !a.is_one_series_with(b)));
        // The sort is stable, so it keeps the order of the rows of each series.
        let order = distinct(rows.iter().map(|row| row.series.as_str()));
        let order: Vec<String> = order.into_iter().map(str::to_owned).collect();
        rows.sort_by_key(|row| order.iter().position(|series| *series == row.series));
        rows
    }

    /// One entry for each party, unit, observer and neighbouring relation, over all series that have such releases. `alone`
    /// has the entries of the single groups.
    fn joint<'a>(&'a self, alone: &[Priced<'a>], prices: &mut LossCache) -> Vec<Priced<'a>> {
        let mut together: Vec<Vec<&Priced<'a>>> = Vec::new();
        for one in alone {
            match together.iter_mut().find(|parts| parts[0].parts[0].about == one.parts[0].about) {
                Some(parts) => parts.push(one),
                None => together.push(vec![one]),
            }
        }
        let joined = together.into_iter().map(|alike| {
            let parts: Vec<&Group> = alike.iter().flat_map(|one| one.parts.iter().copied()).collect();
            let mut found = match alike.as_slice() {
                [one] => (*one).clone(),
                _ => {
                    let mut sum = parts[0].clone();
                    parts[1..].iter().for_each(|part| sum.add_releases(part));
                    let Priced { row, has_conditions, .. } = prices.row(&sum);
                    let row = StudyPrivacy { all_series: true, ..row };
                    Priced { row, has_conditions, parts, left_out: Vec::new() }
                }
            };
            found.left_out = self.other_relations(found.parts[0]);
            found
        });
        joined.collect()
    }

    /// The series that have releases about the same party and unit as `group`, to the same observer, under another
    /// neighbouring relation.
    fn other_relations(&self, group: &Group) -> Vec<&str> {
        let alike = |other: &&Group| other.about.differs_in_neighbours_only(&group.about);
        distinct(self.groups.iter().filter(alike).map(|other| other.series.as_str()))
    }
}

/// A row of the report, with the groups whose releases the row is about. The row lacks its last notes and, if it is about
/// several series, its name.
#[derive(Clone)]
struct Priced<'a> {
    row: StudyPrivacy,
    /// Whether some releases have a condition, which may fail with a stated probability in each run.
    has_conditions: bool,
    parts: Vec<&'a Group>,
    /// The series of which releases were left out, because they have another neighbouring relation.
    left_out: Vec<&'a str>,
}

impl<'a> Priced<'a> {
    /// Whether both rows are about one series only, and it is the same series.
    fn is_one_series_with(&self, other: &Priced<'_>) -> bool {
        !self.row.all_series && !other.row.all_series && self.row.series == other.row.series
    }

    /// Whether some run of this row and some run of the other row belong to two different series and have the same random
    /// numbers.
    fn shares_random_numbers_with(&self, other: &Priced<'_>) -> bool {
        self.parts.iter().any(|a| other.parts.iter().any(|b| a.shares_random_numbers_with(b)))
    }

    /// The name of several series together: "all series", or the list of their names if releases were left out.
    fn name(&self) -> String {
        match self.left_out.is_empty() {
            true => ALL.to_owned(),
            false => distinct(self.parts.iter().map(|part| part.series.as_str())).join(" and "),
        }
    }

    /// The row with its name and all notes.
    fn finished(&self) -> StudyPrivacy {
        let mut row = self.row.clone();
        let mut notes = vec![self.row.note.clone()];
        if row.runs > 1 && self.has_conditions {
            notes.push(format!(
                "{OF_ONE_RUN} is that of one run: the probabilities of failure of the {} runs add up",
                row.runs
            ));
        }
        if row.all_series {
            row.series = self.name();
            if !self.left_out.is_empty() {
                notes.push(format!(
                    "without the releases of {} under another neighbouring relation, whose losses do not add up with these",
                    self.left_out.join(", ")
                ));
            }
        }
        row.note = joined(notes.iter().map(String::as_str));
        row
    }

    fn part(&self, epsilon: fn(&StudyPrivacy) -> f64) -> Part<'_> {
        let StudyPrivacy { delta, basis, arithmetic, ref note, .. } = self.row;
        Part { epsilon: epsilon(&self.row), delta, basis, arithmetic, note }
    }

    /// The sum of this loss about a record and the loss `outcome` about the record's outcome.
    fn with_outcome(&self, outcome: &Priced<'a>) -> StudyPrivacy {
        let sum = |epsilon: fn(&StudyPrivacy) -> f64| added(&self.part(epsilon), &outcome.part(epsilon));
        let tight = sum(|row| row.epsilon_tight);
        let to = format!(
            "the epsilons and deltas of row and outcome are added up; the sum of the deltas is {:e}",
            tight.delta
        );
        let mut notes = vec![to, tight.note];
        let mut basis = tight.basis;
        let several = !self.is_one_series_with(outcome);
        if several && tight.epsilon.is_finite() && self.shares_random_numbers_with(outcome) {
            basis = basis.min(LossBasis::Conditional);
            notes.push(SHARED.to_owned());
        }
        let parts: Vec<&Group> = self.parts.iter().chain(&outcome.parts).copied().collect();
        let left_out = distinct(self.left_out.iter().chain(&outcome.left_out).copied());
        let row = StudyPrivacy {
            all_series: several,
            person: true,
            runs: runs(&parts),
            releases: self.row.releases + outcome.row.releases,
            epsilon_tight: tight.epsilon,
            epsilon_rdp: sum(|row| row.epsilon_rdp).epsilon,
            epsilon_basic: sum(|row| row.epsilon_basic).epsilon,
            delta: tight.delta,
            basis,
            arithmetic: tight.arithmetic,
            note: joined(notes.iter().map(String::as_str)),
            ..self.row.clone()
        };
        let has_conditions = self.has_conditions || outcome.has_conditions;
        Priced { row, has_conditions, parts, left_out }.finished()
    }
}

/// The report's rows about persons: for the groups of one owner and one observer for which `together` is true, the sums of
/// the loss about a record and the loss about its outcome.
fn of_persons<'a>(
    groups: &[Priced<'a>],
    together: impl Fn(&Priced<'a>, &Priced<'a>) -> bool + Copy,
) -> Vec<StudyPrivacy> {
    let same = |a: &Priced<'a>, b: &Priced<'a>| {
        (&a.row.protected, &a.row.observer) == (&b.row.protected, &b.row.observer) && together(a, b)
    };
    persons(groups, |priced| priced.row.unit, same)
        .map(|(about_row, about_outcome)| about_row.with_outcome(about_outcome))
        .collect()
}

/// Computes the losses of histories, and stores them so that the loss of equal histories is computed once.
struct LossCache {
    delta: Delta,
    known: Vec<(Composition, [AccountedEpsilon; 3])>,
}

impl LossCache {
    /// The row of one group.
    fn row<'a>(&mut self, group: &'a Group) -> Priced<'a> {
        let events = || group.events.values().flatten().map(|(event, _)| event);
        let mut worst = [0.0f64; 3];
        let mut notes: Vec<String> = Vec::new();
        for history in group.histories() {
            let priced = self.price(history);
            for (worst, priced) in worst.iter_mut().zip(priced) {
                *worst = worst.max(priced.epsilon);
            }
            for note in &priced[0].notes {
                if !notes.contains(note) {
                    notes.push(note.clone());
                }
            }
        }
        let [epsilon_tight, epsilon_rdp, epsilon_basic] = worst;
        let mut basis = LossBasis::weakest(events());
        if group.runs.values().any(|&runs| runs > 1) && epsilon_tight.is_finite() {
            basis = basis.min(LossBasis::Conditional);
            notes.push(SHARED.to_owned());
        }
        let row = StudyPrivacy {
            series: group.series.clone(),
            all_series: false,
            person: false,
            protected: group.about.protected.clone(),
            unit: group.about.unit,
            observer: group.about.observer.0.clone(),
            neighbours: group.about.neighbours.clone(),
            runs: group.runs.values().sum(),
            releases: group.releases,
            epsilon_tight,
            epsilon_rdp,
            epsilon_basic,
            delta: self.delta.get(),
            basis,
            arithmetic: epsilon_tight.is_finite().then(|| weakest_arithmetic(events())),
            note: notes.join("; "),
        };
        let has_conditions = events().any(|event| matches!(event.basis, Basis::Conditional { .. }));
        Priced { row, has_conditions, parts: vec![group], left_out: Vec::new() }
    }

    fn price(&mut self, history: Composition) -> &[AccountedEpsilon; 3] {
        let known = self.known.iter().position(|(other, _)| *other == history);
        let index = known.unwrap_or_else(|| {
            let accountants: [&dyn Accountant; 3] = [&Tight, &Rdp, &Basic];
            // Each run may have been chosen adaptively.
            let priced = accountants.map(|accountant| price(accountant, &history, self.delta, true));
            self.known.push((history, priced));
            self.known.len() - 1
        });
        &self.known[index].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::counted::example::{booked_until_90, event};
    use crate::vocab::{Arithmetic, Neighbours, ProtectedUnit};

    fn counted_release(unit: ProtectedUnit, index: Option<u64>, epsilon: f64, count: u64) -> CountedRelease {
        booked_until_90(event(unit, index, epsilon), count)
    }

    fn delta() -> Delta {
        Delta::new(1e-5).unwrap()
    }

    /// Losses from one user's visits in all runs add up, and those of different users do not. Losses of users who report
    /// once add up over runs.
    #[test]
    fn losses_of_one_unit_add_up_over_runs() {
        let mut study = WholeStudy::default();
        let visits = |a, b| {
            [
                counted_release(ProtectedUnit::User, Some(1), 1.0, a),
                counted_release(ProtectedUnit::User, Some(2), 1.0, b),
            ]
        };
        study.add_run((1, 0), "s", &visits(4, 2));
        study.add_run((1, 1), "s", &visits(1, 9));
        let rows = study.rows(delta());
        assert_eq!((rows.len(), rows[0].runs, rows[0].releases), (1, 2, 16));
        assert!((rows[0].epsilon_basic - 11.0).abs() < 1e-12, "user 2, not 4 + 9 nor 16: {:?}", rows[0]);
        assert!(rows[0].epsilon_tight <= rows[0].epsilon_rdp && rows[0].epsilon_tight <= 11.0);
        assert_eq!((rows[0].basis, rows[0].arithmetic), (LossBasis::Proven, Some(Arithmetic::Exact)));

        let mut once = WholeStudy::default();
        for replication in 0..5 {
            once.add_run((1, replication), "s", &[counted_release(ProtectedUnit::Reward, None, 0.5, 300)]);
        }
        let rows = once.rows(delta());
        assert_eq!((rows[0].runs, rows[0].releases), (5, 1500));
        assert!((rows[0].epsilon_basic - 2.5).abs() < 1e-12, "{:?}", rows[0]);
    }

    /// Losses for different neighbouring relations do not add up, and a sum over some series is not shown as a sum over
    /// all series.
    #[test]
    fn other_neighbours_are_named_and_not_added_up() {
        let one = [counted_release(ProtectedUnit::Agent, None, 1.0, 1)];
        let mut other = one.clone();
        other[0].event.neighbours = Neighbours::ReplaceOne;
        let mut study = WholeStudy::default();
        for (series, releases) in [("a", &one), ("b", &one), ("c", &other)] {
            study.add_run((1, 0), series, releases);
        }
        let rows = study.rows(delta());
        let row = rows.iter().find(|row| row.all_series).unwrap();
        assert_eq!((&*row.series, rows.len()), ("a and b", 4));
        assert!(row.note.contains("without the releases of c under another neighbouring"), "{}", row.note);
        // Series "a" now has releases under both relations. It is in both sums, and each sum lacks some of its releases.
        study.add_run((1, 0), "a", &other);
        let rows = study.rows(delta());
        let sums: Vec<&StudyPrivacy> = rows.iter().filter(|row| row.all_series).collect();
        assert_eq!(sums.iter().map(|row| &*row.series).collect::<Vec<_>>(), ["a and b", "c and a"]);
        assert!(sums[0].note.contains("without the releases of c, a under another"), "{}", sums[0].note);
        assert!(sums[1].note.contains("without the releases of a, b under another"), "{}", sums[1].note);
    }

    /// The loss about a person is a sum over all series, even if record and outcome are released in different series. If the
    /// releases about records have several neighbouring relations, there is one sum for each relation.
    #[test]
    fn a_person_loses_what_all_series_release() {
        let row = [counted_release(ProtectedUnit::Record, None, 1.0, 1)];
        let outcome = [counted_release(ProtectedUnit::Outcome, None, 0.5, 1)];
        let persons = |runs: &[(u64, &str, &[CountedRelease])]| {
            let mut study = WholeStudy::default();
            runs.iter().for_each(|(seed, series, releases)| study.add_run((*seed, 0), series, releases));
            let rows = study.rows(delta()).into_iter().filter(|row| row.person);
            rows.map(|row| (row.series, row.all_series, row.epsilon_basic, row.basis.words(), row.note))
                .collect::<Vec<_>>()
        };
        let brief = |rows: &[(String, bool, f64, &'static str, String)]| {
            rows.iter().map(|row| format!("{} {} {} {}", row.0, row.1, row.2, row.3)).collect::<Vec<_>>()
        };
        // Records in one series, outcomes in the other: no series has both, but the study has.
        let apart = persons(&[(1, "a", &row), (2, "b", &outcome)]);
        assert_eq!(brief(&apart), ["all series true 1.5 proven"]);
        let mut study = WholeStudy::default();
        study.add_run((1, 0), "a", &row);
        study.add_run((2, 0), "b", &outcome);
        assert_eq!(study.rows(delta()).iter().map(|row| row.runs).collect::<Vec<_>>(), [1, 1, 2]);
        let shared = persons(&[(1, "a", &row), (1, "b", &outcome)]);
        assert_eq!(brief(&shared), ["all series true 1.5 conditional"]);
        assert!(shared[0].4.contains("share their random numbers"), "{}", shared[0].4);
        // Series a has records and outcomes; a further series has outcomes only.
        let both = [row.clone(), outcome.clone()].concat();
        let more = persons(&[(1, "a", &both), (2, "b", &outcome)]);
        assert_eq!(brief(&more), ["a false 1.5 proven", "all series true 2 proven"]);
        // Releases about records under another relation are left out, and the note of the person's sum says so.
        let mut other = both.clone();
        other[0].event.neighbours = Neighbours::ReplaceOne;
        let two = persons(&[(1, "a", &both), (2, "b", &both), (3, "c", &other)]);
        assert_eq!(
            brief(&two),
            [
                "a false 1.5 proven",
                "b false 1.5 proven",
                "c false 1.5 proven",
                "a and b and c true 3.5 proven",
                "c and a and b true 2.5 proven"
            ]
        );
        assert!(two[3].4.contains("without the releases of c under another"), "{}", two[3].4);
        assert!(two[4].4.contains("without the releases of a, b under another"), "{}", two[4].4);
    }

    /// Runs of one replication with two settings draw the same noise, so the basis of the sum of their losses is
    /// conditional. Runs with different seeds draw independent noise, and so do runs of different replications.
    #[test]
    fn shared_noise_is_a_condition() {
        let one = [counted_release(ProtectedUnit::Record, None, 1.0, 1)];
        let basis = |runs: &[(u64, u64)]| {
            let mut study = WholeStudy::default();
            runs.iter().for_each(|&run| study.add_run(run, "s", &one));
            study.rows(delta())[0].clone()
        };
        assert_eq!(basis(&[(1, 0), (1, 1), (2, 0)]).basis, LossBasis::Proven);
        let shared = basis(&[(1, 0), (1, 0)]);
        assert_eq!(shared.basis, LossBasis::Conditional);
        assert!(shared.note.contains("share their random numbers"), "{}", shared.note);

        let mut study = WholeStudy::default();
        study.add_run((1, 0), "a", &one);
        study.add_run((1, 0), "b", &one);
        let rows = study.rows(delta());
        let found: Vec<(&str, bool, &str)> =
            rows.iter().map(|row| (&*row.series, row.all_series, row.basis.words())).collect();
        assert_eq!(
            found,
            [("a", false, "proven"), ("b", false, "proven"), ("all series", true, "conditional")]
        );
        assert!((rows[2].epsilon_basic - 2.0).abs() < 1e-12);
    }
}
