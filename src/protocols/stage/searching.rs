//! A party that searches: which arm it asks for in which round, and what it learns from the answers.

use super::facts::Stating;
use super::jitter::JitterWatch;
use crate::gp::GpError;
use crate::kernel::Recorder;
use crate::learners::{History, Learner};
use crate::rng::{Key, Stream};

/// How long a search is.
#[derive(Clone, Copy, Debug)]
pub struct SearchPlan {
    /// Random arms that are asked for before the first round of the learner.
    pub initial_points: u64,
    /// Rounds of the learner.
    pub rounds: u64,
    /// Node of the initial points: shared by all series, so that all begin at the same arms.
    pub initial: Key,
}

/// A learner in the middle of its search: one question at a time.
#[derive(Clone, Debug)]
pub struct Searcher {
    plan: SearchPlan,
    learner: Box<dyn Learner>,
    stream: Stream,
    jitter: JitterWatch,
    /// The question that is open.
    open: Option<(u64, usize)>,
    next: u64,
    history: History,
}

impl Searcher {
    /// Nothing asked yet. The learner's choices draw from `stream`.
    #[must_use]
    pub fn new(plan: SearchPlan, learner: Box<dyn Learner>, stream: Stream) -> Self {
        let (jitter, history) = (JitterWatch::default(), History::default());
        Self { plan, learner, stream, jitter, open: None, next: 0, history }
    }

    /// The next round, from 0, and the arm to ask for; nothing after the last round.
    pub fn next<P: Stating>(&mut self, ctx: &mut dyn Recorder<P>) -> Option<(u64, u64)> {
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

    /// The round of the question that is open, if one is.
    #[must_use]
    pub fn open(&self) -> Option<u64> {
        self.open.map(|open| open.0)
    }

    /// The answer to the question of a round; false for one that is not open (any more), which changes nothing.
    ///
    /// # Errors
    /// [`GpError`] when the learner cannot take it in.
    pub fn hear(&mut self, round: u64, outcome: f64) -> Result<bool, GpError> {
        let Some((_, arm)) = self.open.take_if(|open| open.0 == round) else { return Ok(false) };
        self.history.observed(arm, outcome);
        self.learner.observe(arm, outcome).map(|()| true)
    }

    /// Number of arms.
    #[must_use]
    pub fn arms(&self) -> usize {
        self.learner.arms()
    }

    /// Another learner repeats the history of the present one, with the stream as it was at the beginning, and takes
    /// over; the present one stays if the other cannot.
    pub fn replace(&mut self, mut learner: Box<dyn Learner>, stream: Stream) {
        if self.history.teach(learner.as_mut(), stream).is_ok() {
            self.learner = learner;
        }
    }
}
