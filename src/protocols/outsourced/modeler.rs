//! The modeler: sees what the curator released and the answers to its queries, nothing else.

use super::messages::{Message, World};
use crate::gp::ArmCovariance;
use crate::kernel::{Context, Input, Party};
use crate::learners::{Arms, BuildError, Facts, History, Learner, LearnerModel};
use crate::objectives::Surrogate;
use crate::privacy::Released;
use crate::privacy::mechanisms::Rows;
use crate::protocols::stage::{Asker, JitterWatch, Retry, Verdict, end};
use crate::rng::{Key, Stream};
use crate::vocab::PartyId;
use std::any::Any;
use std::fmt::{self, Display};
use std::sync::Arc;

/// Why the modeler has no learner.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(super) enum LearnerError {
    /// Hyperparameters were fitted, but did not come with the inputs.
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
    pub(super) retry: Retry,
    pub(super) learner: LearnerModel,
    /// The model, if it is public; otherwise it is sent with the inputs.
    pub(super) surrogate: Option<Surrogate>,
    /// Variance of the noise on private outcomes; public.
    pub(super) outcome_variance: f64,
}

impl ModelerRecipe {
    /// The learner for `n` rows, of which `rows` is what was released, with the model that came with them, if any.
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
            facts: Facts { horizon: Some(self.rounds), ..Facts::default() },
        };
        Ok(self.learner.as_dyn().build(&arms)?)
    }
}

/// The modeler's state.
#[derive(Clone)]
enum State {
    /// Waiting for the inputs.
    Beginning,
    /// Waiting for the answer of a round.
    Asking { round: u64, row: usize, learner: Box<dyn Learner> },
    /// Nothing more to ask.
    Done,
}

/// The modeler of one series.
#[derive(Clone)]
pub(super) struct Modeler {
    curator: PartyId,
    recipe: ModelerRecipe,
    /// Node of the initial points: the same for all series, so that all begin at the same rows.
    initial: Key,
    stream: Stream,
    asker: Asker<World>,
    jitter: JitterWatch,
    state: State,
    /// The inputs it received, and its learner's suggestions and outcomes, from which another learner could continue.
    rows: Option<Arc<Released<Rows>>>,
    model: Option<Arc<Released<Surrogate>>>,
    history: History,
}

impl fmt::Debug for Modeler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Modeler").field("recipe", &self.recipe).finish_non_exhaustive()
    }
}

impl Modeler {
    pub(super) fn new(curator: PartyId, recipe: ModelerRecipe, initial: Key, stream: Stream) -> Self {
        let asker = Asker::new(recipe.retry);
        Self {
            curator,
            recipe,
            initial,
            stream,
            asker,
            jitter: JitterWatch::default(),
            state: State::Beginning,
            rows: None,
            model: None,
            history: History::default(),
        }
    }

    fn begin(&mut self, ctx: &mut Context<'_, World>, n: usize) {
        match self.learner(n) {
            Ok(learner) => self.ask(ctx, 0, learner),
            Err(reason) => self.end(ctx, reason),
        }
    }

    /// The recipe's learner, with what was released.
    fn learner(&self, n: usize) -> Result<Box<dyn Learner>, LearnerError> {
        let model = self.model.as_deref().map(Released::get);
        self.recipe.learner(n, self.rows.as_deref().map(Released::get), model)
    }

    /// Asks for the outcome of `round`, initial points first.
    fn ask(&mut self, ctx: &mut Context<'_, World>, round: u64, mut learner: Box<dyn Learner>) {
        self.jitter.note(learner.jitter(), ctx);
        if round == self.recipe.initial_points + self.recipe.rounds {
            self.state = State::Done;
            ctx.stop();
            return;
        }
        let row = if round < self.recipe.initial_points {
            self.initial.index(round).stream().below(learner.arms() as u64) as usize
        } else {
            let row = learner.suggest(&mut self.stream);
            self.history.suggested(row);
            row
        };
        self.asker.ask(ctx, self.curator, Message::Query { round, row: row as u64 });
        self.state = State::Asking { round, row, learner };
    }

    fn end(&mut self, ctx: &mut Context<'_, World>, reason: impl Display) {
        self.state = State::Done;
        end(ctx, reason);
    }
}

impl Party<World> for Modeler {
    fn handle(&mut self, input: Input<World>, ctx: &mut Context<'_, World>) {
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
                Input::Message { message: Message::Answer { round: answered, outcome }, .. },
                State::Asking { round, row, mut learner },
            ) if answered == round => {
                self.asker.close(ctx);
                self.history.observed(row, *outcome.get());
                match learner.observe(row, *outcome.get()) {
                    Ok(()) => self.ask(ctx, round + 1, learner),
                    Err(error) => self.end(ctx, format!("round {round}: {error}")),
                }
            }
            (Input::Timer(timer), state) => {
                self.state = state;
                match self.asker.timeout(ctx, timer) {
                    Verdict::GaveUp => {
                        let attempts = self.recipe.retry.attempts;
                        let what = match &self.state {
                            State::Asking { round, .. } => format!("query of round {round}"),
                            State::Beginning | State::Done => "request for the inputs".to_owned(),
                        };
                        self.end(ctx, format!("the {what} was not answered, asked {attempts} times"));
                    }
                    Verdict::AskedAgain | Verdict::Stale => {}
                }
            }
            // An answer to an earlier request of a closed round, and changes of the connection, have no effect: an open
            // request will be sent again.
            (Input::Message { .. } | Input::WentOffline | Input::CameBack, state) => self.state = state,
        }
    }

    /// Another learner processes the history of the present one; the present one stays if the other cannot be built.
    fn adopt(&mut self, fresh: &dyn Any) {
        let Some(fresh) = fresh.downcast_ref::<Self>() else { return };
        self.asker.set_retry(fresh.recipe.retry);
        let changed = self.recipe.learner != fresh.recipe.learner;
        self.recipe = fresh.recipe.clone();
        let State::Asking { learner, .. } = &self.state else { return };
        if changed
            && let Ok(mut new) = self.learner(learner.arms())
            && self.history.teach(new.as_mut(), fresh.stream.clone()).is_ok()
            && let State::Asking { learner, .. } = &mut self.state
        {
            *learner = new;
        }
    }
}
