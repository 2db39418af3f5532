//! The modeler: sees only what the curator released and the answers to its queries.

use super::messages::{Message, OutsourcedProtocol};
use crate::gp::ArmCovariance;
use crate::kernel::{Context, Input, Party};
use crate::learners::{Arms, BuildError, Learner, LearnerModel, ProblemConstants};
use crate::objectives::Surrogate;
use crate::privacy::Released;
use crate::privacy::mechanisms::Rows;
use crate::programs::Programs;
use crate::protocols::stage::{AfterTimeout, Requester, Retry, SearchPlan, Searcher, end};
use crate::rng::{Key, Stream};
use crate::vocab::PartyId;
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::num::NonZeroU64;
use std::sync::Arc;

/// Why the modeler cannot create its learner.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(super) enum LearnerError {
    /// Hyperparameters were fitted, but were not sent with the inputs.
    #[error("the learner needs a model, and none was released")]
    NoModel,
    /// The recipe's learner cannot work with what was released.
    #[error(transparent)]
    Build(#[from] BuildError),
}

/// What the modeler knows before anything is released.
#[derive(Clone, Debug)]
pub(super) struct ModelerRecipe {
    pub(super) rounds: u64,
    pub(super) initial_points: u64,
    /// Largest number of queries that wait for their answers at the same time.
    pub(super) queries_at_once: NonZeroU64,
    pub(super) retry: Retry,
    pub(super) learner: LearnerModel,
    /// The model, if it is public; otherwise it is sent with the inputs.
    pub(super) surrogate: Option<Surrogate>,
    /// Variance of the privacy noise that is added to outcomes; public.
    pub(super) outcome_variance: f64,
    /// The scenario's programs; the learner may be one of them.
    pub(super) programs: Programs,
}

impl ModelerRecipe {
    /// The learner for `n` rows, built from the released rows, if there are any, and from the model: the released one
    /// (`model`) or, if none was released, the public one.
    pub(super) fn learner(
        &self,
        n: usize,
        rows: Option<&Rows>,
        model: Option<&Surrogate>,
    ) -> Result<Box<dyn Learner>, LearnerError> {
        let model = model.or(self.surrogate.as_ref());
        if model.is_none() && self.learner.as_dyn().needs_inputs() {
            return Err(LearnerError::NoModel);
        }
        let arms = Arms {
            n,
            covariance: rows.zip(model).map(|(rows, model)| {
                ArmCovariance::of_inputs(Arc::clone(rows.points()), model.covariance.clone())
            }),
            noise_variance: model.map_or(0.0, |model| model.noise_variance) + self.outcome_variance,
            mean: model.map_or(0.0, |model| model.mean),
            facts: ProblemConstants { horizon: Some(self.rounds), ..ProblemConstants::default() },
        };
        Ok(self.learner.begin(&arms, &self.programs)?)
    }
}

/// The modeler's state.
#[derive(Clone)]
enum State {
    /// Waiting for the inputs.
    Beginning,
    /// Waiting for the answers to open queries: the searcher, and the number of the request of each open query, by round.
    Asking(Box<Searcher>, BTreeMap<u64, u64>),
    /// All rounds are finished, or the search was given up.
    Done,
}

/// The modeler of one series.
#[derive(Clone)]
pub(super) struct Modeler {
    curator: PartyId,
    recipe: ModelerRecipe,
    /// Node of the seed tree for the initial points: it is the same for all series, so all series begin with the same rows.
    initial: Key,
    /// The learner's random stream in its state at the beginning of the search.
    stream: Stream,
    asker: Requester<OutsourcedProtocol>,
    state: State,
    /// The released rows, kept for a learner that may replace the present one.
    rows: Option<Arc<Released<Rows>>>,
    /// The released model, kept for a learner that may replace the present one.
    model: Option<Arc<Released<Surrogate>>>,
}

impl fmt::Debug for Modeler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Modeler").field("recipe", &self.recipe).finish_non_exhaustive()
    }
}

impl Modeler {
    /// `key` is the modeler's own node of the seed tree, `initial` the node of the initial points.
    pub(super) fn new(curator: PartyId, recipe: ModelerRecipe, initial: Key, key: Key) -> Self {
        let (asker, stream) =
            (Requester::new(recipe.retry, key.child("retries")), key.child("learner").stream());
        Self { curator, recipe, initial, stream, asker, state: State::Beginning, rows: None, model: None }
    }

    fn begin(&mut self, ctx: &mut Context<'_, OutsourcedProtocol>, n: usize) {
        match self.learner(n) {
            Ok(learner) => {
                let ModelerRecipe { rounds, initial_points, .. } = self.recipe;
                let plan = SearchPlan { initial_points, rounds, initial: self.initial };
                let searcher = Searcher::new(plan, learner, self.stream.clone());
                self.ask(ctx, Box::new(searcher), BTreeMap::new());
            }
            Err(reason) => self.end(ctx, reason),
        }
    }

    /// The recipe's learner, built from what was released.
    fn learner(&self, n: usize) -> Result<Box<dyn Learner>, LearnerError> {
        let model = self.model.as_deref().map(Released::get);
        self.recipe.learner(n, self.rows.as_deref().map(Released::get), model)
    }

    /// Asks for outcomes of further rounds, until as many queries are open as the recipe allows. If no query is open and
    /// none is left to ask, ends the series.
    fn ask(
        &mut self,
        ctx: &mut Context<'_, OutsourcedProtocol>,
        mut searcher: Box<Searcher>,
        mut requests: BTreeMap<u64, u64>,
    ) {
        while (requests.len() as u64) < self.recipe.queries_at_once.get()
            && let Some((round, row)) = searcher.next(ctx)
        {
            let request = self.asker.ask_too(ctx, self.curator, Message::Query { round, row });
            requests.insert(round, request);
        }
        if requests.is_empty() {
            self.state = State::Done;
            return ctx.stop();
        }
        self.state = State::Asking(searcher, requests);
    }

    /// If the query of `round` is open, passes its outcome to the searcher and sends further queries; `outcome` is `None` if
    /// the curator's answer says that the outcome is missing.
    fn answered(
        &mut self,
        ctx: &mut Context<'_, OutsourcedProtocol>,
        (mut searcher, mut requests): (Box<Searcher>, BTreeMap<u64, u64>),
        round: u64,
        outcome: Option<f64>,
    ) {
        let Some(request) = requests.remove(&round) else {
            self.state = State::Asking(searcher, requests);
            return;
        };
        self.asker.close_one(ctx, request);
        match outcome {
            Some(outcome) => match searcher.observe(round, outcome) {
                Ok(_) => self.ask(ctx, searcher, requests),
                Err(error) => self.end(ctx, format!("round {round}: {error}")),
            },
            None => {
                searcher.missed(round);
                self.ask(ctx, searcher, requests);
            }
        }
    }

    fn end(&mut self, ctx: &mut Context<'_, OutsourcedProtocol>, reason: impl Display) {
        self.state = State::Done;
        end(ctx, reason);
    }
}

impl Party<OutsourcedProtocol> for Modeler {
    fn handle(&mut self, input: Input<OutsourcedProtocol>, ctx: &mut Context<'_, OutsourcedProtocol>) {
        match (input, std::mem::replace(&mut self.state, State::Done)) {
            (Input::Start, _) => {
                self.state = State::Beginning;
                self.asker.ask(ctx, self.curator, Message::RequestInputs);
            }
            (Input::Message { message: Message::Inputs { n, rows, model }, .. }, State::Beginning) => {
                self.asker.close(ctx);
                (self.rows, self.model) = (rows, model);
                self.begin(ctx, n as usize);
            }
            (
                Input::Message { message: Message::Answer { round, outcome }, .. },
                State::Asking(searcher, requests),
            ) => self.answered(ctx, (searcher, requests), round, Some(*outcome.get())),
            (
                Input::Message { message: Message::Missing { round }, .. },
                State::Asking(searcher, requests),
            ) => {
                self.answered(ctx, (searcher, requests), round, None);
            }
            (Input::Timer(timer), state) => {
                self.state = state;
                match self.asker.timeout(ctx, timer) {
                    AfterTimeout::GaveUp => {
                        let attempts = self.recipe.retry.attempts;
                        let what = match &self.state {
                            State::Asking(_, requests) => {
                                let given_up = requests.iter().find(|open| *open.1 == timer.request());
                                given_up.map_or("query".to_owned(), |(round, _)| {
                                    format!("query of round {round}")
                                })
                            }
                            State::Beginning | State::Done => "request for the inputs".to_owned(),
                        };
                        self.end(ctx, format!("the {what} was not answered, asked {attempts} times"));
                    }
                    AfterTimeout::AskedAgain | AfterTimeout::Offline | AfterTimeout::Stale => {}
                }
            }
            (Input::CameBack, state) => {
                self.state = state;
                self.asker.reconnected(ctx);
            }
            // A message that the present state does not await, such as a second copy of the inputs, has no effect. Nothing
            // is done when the connection is lost, since open requests are sent again later.
            (Input::Message { .. } | Input::WentOffline, state) => self.state = state,
        }
    }

    /// Takes over the recipe. If the recipe's learner has changed, a new learner processes the history of the present
    /// learner and replaces it. The present learner stays if the new learner cannot be built or cannot process the history.
    fn adopt(&mut self, fresh: &dyn Any) {
        let Some(fresh) = fresh.downcast_ref::<Self>() else { return };
        self.asker.set_retry(fresh.recipe.retry);
        let changed = self.recipe.learner != fresh.recipe.learner;
        self.recipe = fresh.recipe.clone();
        let State::Asking(searcher, _) = &self.state else { return };
        if changed
            && let Ok(learner) = self.learner(searcher.arms())
            && let State::Asking(searcher, _) = &mut self.state
        {
            searcher.replace(learner, fresh.stream.clone());
        }
    }
}
