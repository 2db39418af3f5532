//! The search of a party: which arm it queries in which round, and how outcomes update its learner.

use super::ending::end;
use super::facts::RecordsFacts;
use super::jitter::JitterWatch;
use crate::gp::GpError;
use crate::kernel::{ProcessContext, Processes, Recorder};
use crate::learners::{History, Learner};
use crate::rng::{Key, Stream};
use std::collections::BTreeMap;

/// The length of a search, and the random numbers of its initial points.
#[derive(Clone, Copy, Debug)]
pub struct SearchPlan {
    /// Number of random arms that are queried before the first round of the learner.
    pub initial_points: u64,
    /// Number of rounds of the learner.
    pub rounds: u64,
    /// Node of the seed tree for the initial points: shared by all series, so that all begin with the same arms.
    pub initial: Key,
}

/// The state of a learner's search. The search may have several open queries; these are pending when the learner chooses
/// the next arm.
#[derive(Clone, Debug)]
pub struct Searcher {
    plan: SearchPlan,
    learner: Box<dyn Learner>,
    stream: Stream,
    jitter: JitterWatch,
    /// The arms of the open queries, by round.
    open: BTreeMap<u64, usize>,
    next: u64,
    history: History,
}

impl Searcher {
    /// A search that has not begun. The learner's choices draw from `stream`.
    #[must_use]
    pub fn new(plan: SearchPlan, learner: Box<dyn Learner>, stream: Stream) -> Self {
        let (jitter, history) = (JitterWatch::default(), History::default());
        Self { plan, learner, stream, jitter, open: BTreeMap::new(), next: 0, history }
    }

    /// Opens the next query and returns its round, from 0, and its arm; `None` after the last round. The open queries stay
    /// open, and the learner chooses while they are pending ([`Learner::suggest_while`]).
    pub fn next<P: RecordsFacts>(&mut self, ctx: &mut dyn Recorder<P>) -> Option<(u64, u64)> {
        self.jitter.note(self.learner.jitter(), ctx);
        let round = self.next;
        if round == self.plan.initial_points + self.plan.rounds {
            return None;
        }
        self.next += 1;
        let arm = if round < self.plan.initial_points {
            self.plan.initial.index(round).stream().below(self.learner.arms() as u64) as usize
        } else {
            let pending: Vec<usize> = self.open.values().copied().collect();
            let arm = self.learner.suggest_while(&pending, &mut self.stream);
            self.history.suggested(arm);
            arm
        };
        self.open.insert(round, arm);
        Some((round, arm as u64))
    }

    /// The rounds of the open queries, in order.
    pub fn open(&self) -> impl Iterator<Item = u64> {
        self.open.keys().copied()
    }

    /// Passes the outcome of a round's query to the learner, closes the query and returns true. If the round has no open
    /// query, this method changes nothing and returns false.
    ///
    /// # Errors
    /// [`GpError`] if the learner cannot be updated with the outcome.
    pub fn observe(&mut self, round: u64, outcome: f64) -> Result<bool, GpError> {
        let Some(arm) = self.open.remove(&round) else { return Ok(false) };
        self.history.observed(arm, outcome);
        self.learner.observe(arm, outcome).map(|()| true)
    }

    /// Closes a round's query, if it is open, because its outcome is missing. The learner is told nothing.
    pub fn missed(&mut self, round: u64) {
        self.open.remove(&round);
    }

    /// Runs the whole search in a co-routine. `ask(round, arm)` returns the outcome of an arm in a round, or `None` if the
    /// question was given up. The simulation stops after the last round. The series ends early, with the reason, if an
    /// outcome is missing, or if the learner cannot be updated with an outcome.
    pub async fn search<P: Processes + RecordsFacts>(
        mut self,
        mut ctx: ProcessContext<P>,
        mut ask: impl AsyncFnMut(u64, u64) -> Option<f64>,
    ) {
        while let Some((round, arm)) = self.next(&mut ctx) {
            let Some(outcome) = ask(round, arm).await else {
                return end(&mut ctx, format!("the question of round {round} was not answered"));
            };
            if let Err(error) = self.observe(round, outcome) {
                return end(&mut ctx, format!("round {round}: {error}"));
            }
        }
        ctx.stop();
    }

    /// Number of arms.
    #[must_use]
    pub fn arms(&self) -> usize {
        self.learner.arms()
    }

    /// Replaces the present learner by `learner`, after `learner` has repeated the present learner's history. In the
    /// repetition, `learner` draws from `stream`, which the caller passes in the state that it had at the beginning of the
    /// search. Later choices draw from the search's own stream as before. If `learner` cannot process an outcome, the
    /// present learner stays.
    pub fn replace(&mut self, mut learner: Box<dyn Learner>, stream: Stream) {
        if self.history.replay_into(learner.as_mut(), stream).is_ok() {
            self.learner = learner;
        }
    }
}
