//! The losses to one observer over the runs of a cell: for each accountant, the largest loss over all runs and units.

use super::epsilon_steps::{EpsilonAt, EpsilonSteps};
use super::loss::{Loss, joined, larger, losses, multiple};
use super::{AccountantName, CountedRelease, EpsilonKind, History, units};
use crate::vocab::Delta;

/// Collects the releases of several runs to one observer about one kind of unit of one party. For each accountant, it
/// keeps the largest loss of a single run. The losses of different runs are not added up here; `WholeStudy` adds them up.
#[derive(Clone, Debug, Default)]
pub struct OverRuns {
    delta: Option<Delta>,
    released: Vec<String>,
    releases: u64,
    releases_per_unit: Option<u64>,
    /// The different histories whose losses were computed. Computing a loss is slow, and most runs have equal histories,
    /// so each history is priced only once.
    priced: Vec<History>,
    losses: Vec<Loss>,
    /// The tight accountant's epsilon by round.
    steps: EpsilonSteps,
    runs: u64,
    runs_differ: bool,
}

/// The losses over all runs.
#[derive(Clone, Debug, PartialEq)]
pub struct LossesOverRuns {
    /// Names of the released quantities, each once.
    pub released: Vec<String>,
    /// The largest number of releases in one run.
    pub releases: u64,
    /// The largest number of releases in one run about one unit, those about all units included; `None` if no run has
    /// releases about different units.
    pub releases_per_unit: Option<u64>,
    /// For each accountant, the largest loss over all units and runs.
    pub losses: Vec<Loss>,
    /// Whether a run after the first has a history that differs from all earlier histories in its costs, claims, bases,
    /// arithmetics or counts, or in whether its releases are from several rounds; false if all losses are infinite.
    pub runs_differ: bool,
    /// The tight accountant's epsilon by round.
    pub by_round: Vec<EpsilonAt>,
}

impl OverRuns {
    /// Starts with no runs; `delta` is the delta that the scenario requests, if any.
    #[must_use]
    pub fn new(delta: Option<Delta>) -> Self {
        Self { delta, ..Self::default() }
    }

    /// Adds the releases of one run.
    pub fn add_releases(&mut self, group: &[&CountedRelease]) {
        for entry in group {
            if !self.released.contains(&entry.event.released) {
                self.released.push(entry.event.released.clone());
            }
        }
        self.releases = self.releases.max(group.iter().map(|entry| entry.count).sum());
        let separated = units(group);
        if separated.has_different_units {
            let most = separated.worst.iter().map(History::count).max();
            self.releases_per_unit = self.releases_per_unit.max(most.or(Some(0)));
        }
        let before = separated.clone();
        for history in separated.worst {
            if self.priced.iter().any(|known| known.has_same_loss(&history)) {
                continue;
            }
            // A history with fewer of the same releases has no larger loss. But a shorter history with a claim has a
            // smaller claim, which its loss may exceed by a larger factor, so histories with claims are always priced.
            if history.claimed().claimed == 0 && self.priced.iter().any(|known| known.dominates(&history)) {
                self.runs_differ = true;
                continue;
            }
            let longer = self.priced.iter().all(|known| known.count() < history.count());
            self.losses = larger(std::mem::take(&mut self.losses), losses(&history, self.delta), longer);
            self.priced.push(history);
            self.runs_differ |= self.runs > 0;
        }
        let tight = self.losses.iter().find(|loss| loss.accountant == AccountantName::Tight);
        if let Some((loss, delta)) = tight.and_then(|loss| Some((loss.epsilon, Delta::new(loss.delta).ok()?)))
        {
            self.steps.add_releases(group, &before, loss, delta);
        }
        self.runs += 1;
    }

    /// Adds a note if the claim and the tight loss are from different runs, so that their ratio is not the largest
    /// ratio in a single run.
    fn note_different_runs(&mut self) {
        let figure = |losses: &[Loss], claim: bool| {
            let wanted = |loss: &&Loss| match claim {
                true => loss.standing == EpsilonKind::Claim,
                false => loss.accountant == AccountantName::Tight,
            };
            losses.iter().find(wanted).map(|loss| (loss.epsilon, loss.times_claim))
        };
        let (Some((claimed, Some(times))), Some((tight, _))) =
            (figure(&self.losses, true), figure(&self.losses, false))
        else {
            return;
        };
        if self.runs_differ && tight.is_finite() && (tight / claimed / times - 1.0).abs() > 1e-6 {
            let note = format!(
                "runs differ: in one of them the tight accountant's epsilon is {} the claim for that run, while each \
                 epsilon shown is the largest of all runs",
                multiple(times)
            );
            for loss in self.losses.iter_mut().filter(|loss| loss.times_claim.is_some()) {
                loss.note = joined([loss.note.as_str(), &note]);
            }
        }
    }

    /// The largest losses over all runs.
    #[must_use]
    pub fn finish(mut self) -> LossesOverRuns {
        self.note_different_runs();
        LossesOverRuns {
            released: self.released,
            releases: self.releases,
            releases_per_unit: self.releases_per_unit,
            runs_differ: self.runs_differ && self.losses.iter().any(|loss| loss.epsilon.is_finite()),
            losses: self.losses,
            by_round: self.steps.finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::counted::example::event;
    use crate::vocab::{Cost, PrivacyEvent, ProtectedUnit};

    /// Runs of 9, 5 and 2 releases, the longest first or last, have the losses of the run of 9 releases.
    #[test]
    fn a_run_with_fewer_releases_changes_no_loss() {
        let run = |count: u64, scale: f64| {
            let event =
                PrivacyEvent { cost: Cost::Laplace { scale }, ..event(ProtectedUnit::Record, None, 1.0) };
            vec![CountedRelease { count, last_round: 3 + count, ..CountedRelease::of(&event) }]
        };
        let learned = |runs: &[Vec<CountedRelease>]| {
            let mut over = OverRuns::new(Delta::new(1e-5).ok());
            runs.iter().for_each(|releases| over.add_releases(&releases.iter().collect::<Vec<_>>()));
            (over.priced.len(), over.finish())
        };
        let (_, alone) = learned(&[run(9, 2.0)]);
        let (priced, falling) = learned(&[run(9, 2.0), run(5, 2.0), run(2, 2.0)]);
        assert_eq!((priced, &falling.losses, falling.runs_differ), (1, &alone.losses, true));
        let (_, rising) = learned(&[run(2, 2.0), run(5, 2.0), run(9, 2.0)]);
        assert_eq!((rising.losses, rising.runs_differ), (falling.losses, true));
        let (priced, other) = learned(&[run(9, 2.0), run(5, 1.0)]);
        assert_eq!(priced, 2, "fewer releases of another cost are priced");
        assert!(other.losses.len() == alone.losses.len() && other.runs_differ);
    }
}
