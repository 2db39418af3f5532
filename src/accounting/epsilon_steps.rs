//! The epsilon of all releases so far, by round, as a step function that bounds the loss of every unit in every run.
//! Releases that differ only in round and time are stored as one entry ([`CountedRelease`]). If the releases of an entry
//! are not evenly spaced in rounds, the function may be far above the loss between the first and the last round of the
//! entry.

use super::basis::infinite;
use super::{Accountant, CountedRelease, History, Tight, Units};
use crate::vocab::{Delta, in_order};
use serde::{Deserialize, Serialize};

/// Largest number of intervals between the rounds at which a loss is computed; a round within an interval is given the loss
/// at the end of the interval.
const INTERVALS: u64 = 24;
/// Largest number of different histories whose losses are computed by round; for further histories the loss after the last
/// round is used from the first release on.
const MAX_HISTORIES: usize = 6;

/// The tight accountant's epsilon (natural logarithm of a likelihood ratio) of all releases up to and including a round.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EpsilonAt {
    /// The round, as in the ledger.
    pub round: u64,
    /// Epsilon, at least 0; infinite ("inf" in files) if no finite epsilon holds.
    #[serde(with = "infinite")]
    pub epsilon: f64,
}

/// An upper bound on the epsilon of every unit in every run, by round. A round between two steps has the epsilon of the
/// later step; before the first step nothing was released. From step to step epsilon increases, stays equal, or decreases
/// by at most 0.1 %, the tight accountant's resolution.
#[derive(Clone, Debug, Default)]
pub(super) struct EpsilonSteps {
    steps: Vec<EpsilonAt>,
    /// The different histories whose losses are computed by round, with what the computation needs.
    seen: Vec<Followed>,
    /// How many of the histories in `seen` are merged into `steps`. The histories that are not merged yet wait: their
    /// losses by round need not be computed if a later run adds steps of a constant epsilon that begin no later than these
    /// histories, and whose epsilon is at least as large as these losses.
    done: usize,
}

/// A history whose losses are computed by round.
#[derive(Clone, Debug)]
struct Followed {
    history: History,
    /// The rounds at which the loss is computed, in ascending order.
    places: Vec<u64>,
    /// An upper bound on the loss after the last round in `places`.
    at_the_end: f64,
    delta: Delta,
}

impl Followed {
    /// Steps at the rounds of `places`, each with the loss of all releases so far.
    fn steps(&self) -> Vec<EpsilonAt> {
        let end = self.places.last().copied();
        let step = |round: u64| {
            // A bound on the loss after the last round is known already, and earlier losses are at most as large.
            if Some(round) == end {
                return EpsilonAt { round, epsilon: self.at_the_end };
            }
            let composition = self.history.composition_until(round);
            let epsilon = Tight.price(&composition, self.delta).for_adaptive_releases().epsilon;
            EpsilonAt { round, epsilon: epsilon.min(self.at_the_end) }
        };
        in_order(self.places.clone(), step)
    }

    /// Steps at the rounds of `places`, all with the bound on the loss after the last round.
    fn level_steps(&self) -> Vec<EpsilonAt> {
        self.places.iter().map(|&round| EpsilonAt { round, epsilon: self.at_the_end }).collect()
    }
}

/// The value at a `round` of a step function of epsilon (natural logarithm of a likelihood ratio): 0 before the first
/// step, the epsilon of the later step between two steps, and the epsilon of the last step after it. `steps`, a slice
/// `[s]` of s steps, is in rising order of rounds.
#[must_use]
pub fn epsilon_at(steps: &[EpsilonAt], round: u64) -> f64 {
    let (Some(first), Some(last)) = (steps.first(), steps.last()) else { return 0.0 };
    if round < first.round {
        return 0.0;
    }
    steps.iter().find(|step| step.round >= round).unwrap_or(last).epsilon
}

impl EpsilonSteps {
    /// Adds `group`, the releases of one run. After the last round, the loss of every unit in this run is at most
    /// `at_the_end` at `delta`. `units` has the histories of the units that may have the largest loss after the last round.
    pub(super) fn add_releases(
        &mut self,
        group: &[&CountedRelease],
        units: &Units,
        at_the_end: f64,
        delta: Delta,
    ) {
        let begin = group.iter().map(|entry| entry.event.round).min();
        let end = group.iter().map(|entry| entry.last_round).max();
        let (Some(begin), Some(end)) = (begin, end) else { return };
        let known =
            |history: &History| self.seen.iter().any(|other| other.history.has_same_loss_by_round(history));
        let followed = match units.worst.as_slice() {
            [history] if !units.has_different_units && at_the_end.is_finite() => Some(history),
            // With several units, a different unit may have the largest loss in an early round.
            _ => None,
        };
        match followed {
            Some(history) if known(history) => {}
            Some(history) if self.seen.len() < MAX_HISTORIES && begin < end => {
                let rounds = (end - begin).min(INTERVALS);
                let mut places: Vec<u64> =
                    (0..=rounds).map(|k| begin + (end - begin) * k / rounds.max(1)).collect();
                places.dedup();
                self.seen.push(Followed { history: history.clone(), places, at_the_end, delta });
            }
            _ => {
                self.merge_waiting(Some(EpsilonAt { round: begin, epsilon: at_the_end }));
                self.merge(&[begin, end].map(|round| EpsilonAt { round, epsilon: at_the_end }));
            }
        }
    }

    /// Merges the waiting histories into `steps`. If steps of one constant epsilon are merged next, `level` is the first of
    /// these steps. If the round of `level` is at or before the first round of every waiting history, and the epsilon of
    /// `level` is at least `at_the_end` of every waiting history, then the losses by round of the waiting histories have no
    /// effect and are not computed.
    fn merge_waiting(&mut self, level: Option<EpsilonAt>) {
        let waiting = &self.seen[self.done..];
        let is_below = |level: EpsilonAt| {
            waiting.iter().all(|one| {
                one.places.first().is_some_and(|first| level.round <= *first)
                    && one.at_the_end <= level.epsilon
            })
        };
        let steps = if level.is_some_and(is_below) { Followed::level_steps } else { Followed::steps };
        let steps: Vec<Vec<EpsilonAt>> = waiting.iter().map(steps).collect();
        self.done = self.seen.len();
        steps.iter().for_each(|steps| self.merge(steps));
    }

    fn merge(&mut self, other: &[EpsilonAt]) {
        let mut rounds: Vec<u64> = self.steps.iter().chain(other).map(|step| step.round).collect();
        rounds.sort_unstable();
        rounds.dedup();
        let step = |round| EpsilonAt {
            round,
            epsilon: epsilon_at(&self.steps, round).max(epsilon_at(other, round)),
        };
        self.steps = rounds.into_iter().map(step).collect();
    }

    /// The steps, without those that have the same epsilon as the step before and the step after.
    pub(super) fn finish(mut self) -> Vec<EpsilonAt> {
        self.merge_waiting(None);
        let mut kept: Vec<EpsilonAt> = Vec::new();
        for step in self.steps {
            // A round between two steps has the epsilon of the later step. So of several equal steps, the first and the
            // last are kept.
            match kept.as_mut_slice() {
                [.., before, last]
                    if before.epsilon.to_bits() == step.epsilon.to_bits()
                        && last.epsilon.to_bits() == step.epsilon.to_bits() =>
                {
                    *last = step
                }
                _ => kept.push(step),
            }
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::counted::example::event;
    use crate::accounting::{CountedRelease, units};
    use crate::vocab::ProtectedUnit;

    fn run(rounds: &[u64], index: Option<u64>) -> Vec<CountedRelease> {
        let at = |&round: &u64| {
            let mut event = event(ProtectedUnit::Agent, index, 0.5);
            event.round = round;
            CountedRelease::of(&event)
        };
        rounds.iter().map(at).collect()
    }

    fn steps(runs: &[Vec<CountedRelease>]) -> Vec<EpsilonAt> {
        let delta = Delta::new(1e-5).unwrap();
        let mut rising = EpsilonSteps::default();
        for releases in runs {
            let group: Vec<&CountedRelease> = releases.iter().collect();
            let of_units = units(&group);
            let costs = |history: &History| {
                Tight.price(&history.composition(), delta).for_adaptive_releases().epsilon
            };
            let most = of_units.worst.iter().map(costs).fold(0.0, f64::max);
            rising.add_releases(&group, &of_units, most, delta);
        }
        rising.finish()
    }

    /// Four reports with epsilon 0.5, in rounds 3, 5, 7 and 9. The tight accountant's epsilon of all four is nearly
    /// their sum, 2.
    #[test]
    fn epsilon_rises_with_every_release() {
        let found = steps(&[run(&[3, 5, 7, 9], None)]);
        let at: Vec<f64> = [2, 3, 4, 5, 7, 8, 9, 99].map(|round| epsilon_at(&found, round)).to_vec();
        assert!(at.windows(2).all(|pair| pair[0] <= pair[1]), "{at:?}");
        assert_eq!(at[0], 0.0);
        assert!((at[1] - 0.5).abs() < 1e-3 && (at[7] - 2.0).abs() < 1e-2, "{at:?}");
        assert!(at[3] > at[1] && at[6] > at[4], "{at:?}");
    }

    /// One run has early releases and another has late ones: at every round the larger of the two losses counts.
    #[test]
    fn the_steps_are_at_least_the_loss_of_every_run() {
        let (early, late) = (run(&[0, 1], None), run(&[4, 5, 6], None));
        let both = steps(&[early.clone(), late.clone()]);
        let (early, late) = (steps(&[early]), steps(&[late]));
        for round in 0..10 {
            let most = epsilon_at(&early, round).max(epsilon_at(&late, round));
            assert!(epsilon_at(&both, round) >= most, "{round}: {both:?}");
        }
        assert!(epsilon_at(&both, 0) < epsilon_at(&both, 6));
    }

    /// For the seventh and further different histories, the loss after the last round is used from the first release on. The
    /// losses by round of the first six histories are then not computed where they have no effect. The steps are the same as
    /// if all losses were computed.
    #[test]
    fn losses_by_round_that_have_no_effect_are_not_computed() {
        let delta = Delta::new(1e-5).unwrap();
        let history = |first: u64, count: u64| run(&(first..first + count).collect::<Vec<u64>>(), None);
        // The seventh begins in the round in which the first of the others begins, or after the others have begun. In the
        // second case the losses of the others by round are needed.
        for (first, needless) in [(2, true), (9, false)] {
            let runs: Vec<Vec<CountedRelease>> =
                (0..6).map(|k| history(2 + k, 4)).chain([history(first, 9), history(4, 12)]).collect();
            let mut lazy = EpsilonSteps::default();
            let mut eager = EpsilonSteps::default();
            let mut most = 0.0f64;
            for releases in &runs {
                let group: Vec<&CountedRelease> = releases.iter().collect();
                let of_units = units(&group);
                let costs = |history: &History| {
                    Tight.price(&history.composition(), delta).for_adaptive_releases().epsilon
                };
                most = of_units.worst.iter().map(costs).fold(most, f64::max);
                lazy.add_releases(&group, &of_units, most, delta);
                eager.add_releases(&group, &of_units, most, delta);
                eager.merge_waiting(None);
            }
            assert_eq!(lazy.seen.len(), MAX_HISTORIES);
            // If the seventh run begins in round 2, the epsilon in round 2 is nearly 4.5, for all nine releases of this run.
            // Otherwise it is 0.5, for one release.
            let early = epsilon_at(&lazy.steps, 2);
            assert_eq!(early > 4.0, needless, "{early}");
            assert_eq!(lazy.finish(), eager.finish(), "begins in round {first}");
        }
    }

    /// The unit with the largest loss in an early round may differ from the unit with the largest loss after the last round.
    #[test]
    fn different_units_have_the_loss_after_the_last_round_from_the_first_release_on() {
        let releases = [run(&[0], Some(1)), run(&[2, 3, 4], Some(2))].concat();
        let found = steps(&[releases]);
        assert!(epsilon_at(&found, 9) > 1.4);
        assert_eq!(epsilon_at(&found, 0).to_bits(), epsilon_at(&found, 9).to_bits());
    }
}
