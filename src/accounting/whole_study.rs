//! The privacy loss of a whole study, if all of its runs use the same data.

use super::basis::{arithmetic_in_words, infinite, weakest_arithmetic};
use super::loss::joined;
use super::person::{Part, added, persons};
use super::statement::price;
use super::units::{OncePerUser, keep_undominated};
use super::{
    Accountant, AccountedEpsilon, Basic, Composition, CountedRelease, GroupKey, LossBasis, Rdp, Tight,
};
use crate::vocab::{Arithmetic, Basis, Delta, Neighbours, PrivacyEvent, ProtectedUnit, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The privacy loss to one observer if all runs of one series, or of several series together, are published, in all
/// cells and replications. It is the largest loss over all units. Epsilons are natural logarithms of likelihood ratios,
/// deltas are dimensionless.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StudyPrivacy {
    /// Name of the series. For several series together it is "all series". If releases were left out because their
    /// losses are for another neighbouring relation, it is the list of the series that were added up.
    pub series: String,
    /// Whether this is the loss of several series together.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub all_series: bool,
    /// Whether this is the loss about a person: the sum of the losses about a row and about its outcome. If so, `unit` is
    /// the record.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub person: bool,
    /// Name of the party whose data are protected.
    pub protected: String,
    /// Unit of protection.
    pub unit: ProtectedUnit,
    /// The observer of the releases.
    pub observer: String,
    /// Neighbouring relation.
    pub neighbours: Neighbours,
    /// Number of runs in which something was released. For a person: the larger of the numbers for the row and for the
    /// outcome.
    pub runs: u64,
    /// Number of releases in these runs, about any unit.
    pub releases: u64,
    /// Epsilon by the tight accountant, at `delta`; infinite ("inf" in files) if no finite epsilon holds.
    #[serde(with = "infinite")]
    pub epsilon_tight: f64,
    /// Epsilon by Renyi composition.
    #[serde(with = "infinite")]
    pub epsilon_rdp: f64,
    /// Epsilon by basic composition.
    #[serde(with = "infinite")]
    pub epsilon_basic: f64,
    /// Delta at which all three epsilons are stated.
    pub delta: f64,
    /// The weakest basis of the releases; at best "conditional" if runs share their random numbers and the tight
    /// accountant's epsilon is finite.
    pub basis: LossBasis,
    /// The weakest arithmetic of the releases; `None` if the tight accountant's epsilon is infinite.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "arithmetic_in_words")]
    pub arithmetic: Option<Arithmetic>,
    /// Notes; usually empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

impl StudyPrivacy {
    /// Whether any of the three epsilons is finite.
    #[must_use]
    pub fn figures_are_finite(&self) -> bool {
        [self.epsilon_tight, self.epsilon_rdp, self.epsilon_basic].iter().any(|epsilon| epsilon.is_finite())
    }
}

/// The condition for adding up losses over runs: composition needs independent noise, but cells and series of one
/// replication use the same random numbers, so that they can be compared.
const SHARED: &str = "holds only if all runs draw independent noise: here the runs of one replication that differ in \
                      settings share their random numbers, and two results with the same noise can reveal more \
                      than the sum of both losses";

/// The name for all series together.
const ALL: &str = "all series";

/// The releases that were added so far, by series and group (party, unit, observer and neighbouring relation). All runs
/// use the same data.
#[derive(Clone, Debug, Default)]
pub struct WholeStudy {
    groups: Vec<Group>,
}

/// The releases of one series to one observer about one kind of unit of one party, for one neighbouring relation.
#[derive(Clone, Debug)]
struct Group {
    series: String,
    about: GroupKey,
    releases: u64,
    /// Number of runs for each set of random numbers, given by the seed and the number of the replication.
    runs: BTreeMap<(u64, u64), u64>,
    /// Different releases with their counts, by unit number; `None` for releases without a unit number. Round and time
    /// are set to 0.
    events: BTreeMap<Option<u64>, Vec<(PrivacyEvent, u64)>>,
}

impl Group {
    fn of(series: &str, event: &PrivacyEvent) -> Self {
        Self {
            series: series.to_owned(),
            about: GroupKey::of(event),
            releases: 0,
            runs: BTreeMap::new(),
            events: BTreeMap::new(),
        }
    }

    fn count(&mut self, event: &PrivacyEvent, count: u64) {
        let event = PrivacyEvent { round: 0, at: Time::ZERO, ..event.clone() };
        let events = self.events.entry(event.unit_index).or_default();
        match events.iter_mut().find(|(other, _)| *other == event) {
            Some((_, known)) => *known += count,
            None => events.push((event, count)),
        }
    }

    /// Adds the group of another series that has the same party, unit, observer and neighbouring relation.
    fn add_releases(&mut self, other: &Self) {
        self.releases += other.releases;
        for (run, count) in &other.runs {
            *self.runs.entry(*run).or_default() += count;
        }
        for (event, count) in other.events.values().flatten() {
            self.count(event, *count);
        }
    }

    /// The histories of the units that may have the largest loss: those that are not contained in another history.
    fn histories(&self) -> Vec<Composition> {
        let common = self.events.get(&None).map_or(&[][..], Vec::as_slice);
        let numbered = || self.events.iter().filter(|(unit, _)| unit.is_some());
        let mut histories: Vec<Composition> = Vec::new();
        let mut keep = |own: &[(PrivacyEvent, u64)]| {
            let events = own.iter().chain(common).map(|(event, count)| (event, *count));
            let composition = Composition::of_counted(events);
            keep_undominated(&mut histories, composition, Composition::contains);
        };
        if numbered().next().is_none() {
            keep(&[]);
        }
        numbered().for_each(|(_, own)| keep(own));
        histories
    }
}

impl WholeStudy {
    /// Adds the releases of one run of a series. `run` identifies its random numbers: the seed and the number of the
    /// replication.
    pub fn add_run(&mut self, run: (u64, u64), series: &str, releases: &[CountedRelease]) {
        // Rewards of users who report once count once in each run.
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
        let mut rows: Vec<StudyPrivacy> = self.groups.iter().map(|group| prices.row(group)).collect();
        let mut together: Vec<(Group, Vec<&str>)> = Vec::new();
        for group in &self.groups {
            match together.iter_mut().find(|(known, _)| known.about == group.about) {
                Some((known, series)) => {
                    known.add_releases(group);
                    series.push(&group.series);
                }
                None => together.push((group.clone(), vec![&group.series])),
            }
        }
        for (group, series) in together.iter_mut().filter(|(_, series)| series.len() > 1) {
            let apart = self.other_relations(group);
            group.series = if apart.is_empty() { ALL.to_owned() } else { series.join(" and ") };
            let mut row = StudyPrivacy { all_series: true, ..prices.row(group) };
            if !apart.is_empty() {
                let missing = format!(
                    "without the releases of {} under another neighbouring relation, whose losses do not add up with these",
                    apart.join(", ")
                );
                row.note = joined([row.note.as_str(), &missing]);
            }
            rows.push(row);
        }
        let persons: Vec<StudyPrivacy> = of_persons(&rows).collect();
        rows.extend(persons);
        // The sort is stable, so it keeps the order of the rows of each series.
        let mut order: Vec<String> = Vec::new();
        for row in &rows {
            if !order.contains(&row.series) {
                order.push(row.series.clone());
            }
        }
        rows.sort_by_key(|row| order.iter().position(|series| *series == row.series));
        rows
    }

    /// The series that have releases about the same party and unit as `group`, to the same observer, under another
    /// neighbouring relation.
    fn other_relations(&self, group: &Group) -> Vec<&str> {
        let alike = |other: &&Group| other.about.differs_in_neighbours_only(&group.about);
        let mut names: Vec<&str> = Vec::new();
        for other in self.groups.iter().filter(alike) {
            if !names.contains(&&*other.series) {
                names.push(&other.series);
            }
        }
        names
    }
}

/// The rows about persons: sums of the losses about a row and about its outcome.
fn of_persons(rows: &[StudyPrivacy]) -> impl Iterator<Item = StudyPrivacy> {
    let same = |a: &StudyPrivacy, b: &StudyPrivacy| {
        (&a.series, &a.protected, &a.observer) == (&b.series, &b.protected, &b.observer)
    };
    persons(rows, |row| row.unit, same).map(|(record, outcome)| {
        let sum = |epsilon: fn(&StudyPrivacy) -> f64| {
            let part = |row| {
                let &StudyPrivacy { delta, basis, arithmetic, ref note, .. } = row;
                Part { epsilon: epsilon(row), delta, basis, arithmetic, note }
            };
            added(&part(record), &part(outcome))
        };
        let tight = sum(|row| row.epsilon_tight);
        let note = format!("epsilons and deltas of row and outcome are added up, to delta {:e}", tight.delta);
        StudyPrivacy {
            person: true,
            runs: record.runs.max(outcome.runs),
            releases: record.releases + outcome.releases,
            epsilon_tight: tight.epsilon,
            epsilon_rdp: sum(|row| row.epsilon_rdp).epsilon,
            epsilon_basic: sum(|row| row.epsilon_basic).epsilon,
            delta: tight.delta,
            basis: tight.basis,
            arithmetic: tight.arithmetic,
            note: joined([note.as_str(), &tight.note]),
            ..record.clone()
        }
    })
}

/// Computes the losses of histories, and stores them so that the loss of equal histories is computed once.
struct LossCache {
    delta: Delta,
    known: Vec<(Composition, [AccountedEpsilon; 3])>,
}

impl LossCache {
    fn row(&mut self, group: &Group) -> StudyPrivacy {
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
        let runs: u64 = group.runs.values().sum();
        let under_conditions = events().any(|event| matches!(event.basis, Basis::Conditional { .. }));
        if runs > 1 && under_conditions {
            notes.push(format!(
                "where a condition holds with a stated probability, it is the probability of one run: probabilities of \
                 failure add up over the {runs} runs"
            ));
        }
        StudyPrivacy {
            series: group.series.clone(),
            all_series: false,
            person: false,
            protected: group.about.protected.clone(),
            unit: group.about.unit,
            observer: group.about.observer.0.clone(),
            neighbours: group.about.neighbours.clone(),
            runs,
            releases: group.releases,
            epsilon_tight,
            epsilon_rdp,
            epsilon_basic,
            delta: self.delta.get(),
            basis,
            arithmetic: epsilon_tight.is_finite().then(|| weakest_arithmetic(events())),
            note: notes.join("; "),
        }
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

    /// Only histories that may have the largest loss are priced. If 400 users have releases of one kind only, one
    /// history is priced. If one of these users also has a release of another kind, two histories are priced.
    #[test]
    fn a_history_within_another_is_not_priced() {
        let mut group = Group::of("s", &event(ProtectedUnit::User, Some(0), 1.0));
        for user in 0..400 {
            group.count(&event(ProtectedUnit::User, Some(user), 1.0), 1 + user % 97);
        }
        let histories = group.histories();
        assert_eq!((histories.len(), histories[0].count()), (1, 97));
        group.count(&event(ProtectedUnit::User, Some(3), 2.0), 1);
        let counts: Vec<u64> = group.histories().iter().map(Composition::count).collect();
        assert_eq!(counts, [5, 97], "user 3 has 4 releases of epsilon 1 and one of epsilon 2");
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
