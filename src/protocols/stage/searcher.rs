//! The search of a party: which arm it queries in which round, and how outcomes update its learner.

use super::ending::end;
use super::facts::RecordsFacts;
use super::jitter::JitterWatch;
use crate::gp::GpError;
use crate::kernel::{ProcessContext, Processes, Recorder};
use crate::learners::{History, Learner};
use crate::rng::{Key, Stream};

/// The length of a search, and the random numbers of its initial points.
#[derive(Clone, Copy, Debug)]
pub struct SearchPlan {
    /// Random arms that are queried before the first round of the learner.
    pub initial_points: u64,
    /// Rounds of the learner.
    pub rounds: u64,
    /// Node of the seed tree for the initial points: shared by all series, so that all begin with the same arms.
    pub initial: Key,
}

/// The state of a learner's search, which has one open query at a time.
#[derive(Clone, Debug)]
pub struct Searcher {
    plan: SearchPlan,
    learner: Box<dyn Learner>,
    stream: Stream,
    jitter: JitterWatch,
    /// Round and arm of the open query.
    open: Option<(u64, usize)>,
    next: u64,
    history: History,
}

impl Searcher {
    /// A search that has not begun. The learner's choices draw from `stream`.
    #[must_use]
    pub fn new(plan: SearchPlan, learner: Box<dyn Learner>, stream: Stream) -> Self {
        let (jitter, history) = (JitterWatch::default(), History::default());
        Self { plan, learner, stream, jitter, open: None, next: 0, history }
    }

    /// Opens the next query and returns its round, from 0, and its arm; `None` after the last round.
    pub fn next<P: RecordsFacts>(&mut self, ctx: &mut dyn Recorder<P>) -> Option<(u64, u64)> {
        self.jitter.note(self.learner.jitter(), ctx);
        let round = self.next;
        if round == self.plan.initial_points + self.plan.rounds {
            self.open = None;
            return None;
        }
        self.next += 1;
        let arm = if round < self.plan.initial_points {
            self.plan.initial.index(round).stream().below(self.learner.arms() as u64) as usize
        } else {
            let arm = self.learner.suggest(&mut self.stream);
            self.history.suggested(arm);
            arm
        };
        self.open = Some((round, arm));
        Some((round, arm as u64))
    }

    /// The round of the open query, if there is one.
    #[must_use]
    pub fn open(&self) -> Option<u64> {
        self.open.map(|open| open.0)
    }

    /// Passes the outcome of a round's query to the learner and returns true; if that query is not open, it changes
    /// nothing and returns false.
    ///
    /// # Errors
    /// [`GpError`] if the learner cannot be updated with the outcome.
    pub fn observe(&mut self, round: u64, outcome: f64) -> Result<bool, GpError> {
        let Some((_, arm)) = self.open.take_if(|open| open.0 == round) else { return Ok(false) };
        self.history.observed(arm, outcome);
        self.learner.observe(arm, outcome).map(|()| true)
    }

    /// Closes a round whose outcome is missing, if it is open; the learner learns nothing from it.
    pub fn missed(&mut self, round: u64) {
        self.open.take_if(|open| open.0 == round);
    }

    /// Runs the whole search in a co-routine: `ask` returns the outcome of an arm in a round, or `None` if it has given
    /// up. The simulation stops after the last round; the series ends early, with the reason, if an outcome is missing
    /// or the learner cannot be updated with it.
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

    /// Replaces the present learner by `learner`, after `learner` has processed the present learner's history, with
    /// `stream` as it was at the beginning of the search. If `learner` cannot process an outcome, the present learner
    /// stays.
    pub fn replace(&mut self, mut learner: Box<dyn Learner>, stream: Stream) {
        if self.history.replay_into(learner.as_mut(), stream).is_ok() {
            self.learner = learner;
        }
    }
}
