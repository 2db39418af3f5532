//! The service: recommends an arm to every user and learns from the reports only.

use super::membership::Membership;
use super::messages::{LocalProtocol, Message, OwnFact, Timer};
use super::recent::Recent;
use crate::kernel::{Context, Input, Party, TimerTicket};
use crate::learners::{History, Learner, LearnerModel};
use crate::protocols::stage::{JitterWatch, end};
use crate::rng::Stream;
use crate::vocab::{PartyId, Span};
use std::any::Any;
use std::collections::VecDeque;

/// Largest number of users whose reports the learner treats as pending; if there are more, only the latest ones count.
/// A user who never answers counts until this many later users are pending.
const MOST_PENDING: usize = 64;

/// The service of one series.
#[derive(Clone, Debug)]
pub(super) struct Service {
    users: PartyId,
    recipe: LearnerModel,
    /// One learner for all users, or one for each cohort.
    learners: Vec<OneLearner>,
    membership: Membership,
    /// Users who have arrived without being asked.
    arrived: Recent,
    /// Users whose reports arrived.
    known: Recent,
    jitter: JitterWatch,
    /// The user whose report is awaited, if users are asked one by one.
    turn: Option<AwaitedReport>,
    /// The series ends after this many consecutive users without an answer.
    give_up_after: u64,
}

/// A learner, and what it has done so far.
#[derive(Clone, Debug)]
pub(super) struct OneLearner {
    learner: Box<dyn Learner>,
    /// The learner's suggestions and outcomes so far, from which another learner can continue.
    history: History,
    stream: Stream,
    /// The users who were recommended an arm by this learner and whose reports have not arrived, with their arms; at most
    /// the latest `MOST_PENDING` of them.
    pending: VecDeque<(u64, usize)>,
}

impl OneLearner {
    pub(super) fn new(learner: Box<dyn Learner>, stream: Stream) -> Self {
        Self { learner, history: History::default(), stream, pending: VecDeque::new() }
    }
}

#[derive(Clone, Debug)]
struct AwaitedReport {
    patience: Span,
    user: u64,
    timer: Option<TimerTicket>,
    /// Number of users whose report did not arrive in time, counted since a report last arrived.
    unanswered: u64,
}

impl Service {
    pub(super) fn new(
        users: PartyId,
        patience: Option<Span>,
        give_up_after: u64,
        recipe: LearnerModel,
        learners: Vec<OneLearner>,
        membership: Membership,
    ) -> Self {
        let turn = patience.map(|patience| AwaitedReport { patience, user: 0, timer: None, unanswered: 0 });
        Self {
            users,
            recipe,
            learners,
            membership,
            arrived: Recent::new(),
            known: Recent::new(),
            jitter: JitterWatch::default(),
            turn,
            give_up_after,
        }
    }

    /// The learner for a user. The cohort of each user is public.
    fn learner(&mut self, user: u64) -> &mut OneLearner {
        let place = if self.learners.len() > 1 { self.membership.cohort(user) } else { 0 };
        &mut self.learners[place]
    }

    fn recommend(&mut self, ctx: &mut Context<'_, LocalProtocol>, user: u64) {
        let own = self.learner(user);
        let pending: Vec<usize> = own.pending.iter().map(|(_, arm)| *arm).collect();
        let arm = own.learner.suggest_while(&pending, &mut own.stream);
        own.history.suggested(arm);
        let point = own.learner.point(arm).map(<[f64]>::to_vec);
        if let Some(point) = &point {
            own.history.suggested_point(arm, point);
        }
        if own.pending.len() == MOST_PENDING {
            own.pending.pop_front();
        }
        own.pending.push_back((user, arm));
        let arm = arm as u64;
        let message = match point {
            Some(point) => Message::PlayAt { user, arm, point },
            None => Message::Play { user, arm },
        };
        ctx.send(self.users, message);
        if let Some(turn) = &mut self.turn {
            turn.user = user;
            turn.timer = Some(ctx.after(turn.patience, Timer::Patience { user }));
        }
    }

    /// Continues with the next user, or ends the series if too many users in a row have not answered.
    fn skip_user(&mut self, ctx: &mut Context<'_, LocalProtocol>, user: u64) {
        let Some(turn) = self.turn.as_mut().filter(|turn| turn.user == user) else { return };
        turn.unanswered += 1;
        if turn.unanswered < self.give_up_after {
            self.recommend(ctx, user + 1);
        } else {
            end(ctx, format!("{} consecutive users did not answer", turn.unanswered));
        }
    }

    fn learn(&mut self, ctx: &mut Context<'_, LocalProtocol>, user: u64, arm: u64, reward: f64) {
        if !self.known.insert(user) {
            return;
        }
        if let Some(turn) = &mut self.turn {
            turn.unanswered = 0;
        }
        let own = self.learner(user);
        own.pending.retain(|(other, _)| *other != user);
        own.history.observed(arm as usize, reward);
        if let Err(error) = own.learner.observe(arm as usize, reward) {
            return end(ctx, format!("report of user {user}: {error}"));
        }
        let jitter = own.learner.jitter();
        self.jitter.note(jitter, ctx);
        ctx.record(OwnFact::Learned { user }.into());
        if let Some(turn) = self.turn.as_mut().filter(|turn| turn.user == user) {
            if let Some(timer) = turn.timer.take() {
                ctx.cancel(timer);
            }
            self.recommend(ctx, user + 1);
        }
    }
}

impl Party<LocalProtocol> for Service {
    fn handle(&mut self, input: Input<LocalProtocol>, ctx: &mut Context<'_, LocalProtocol>) {
        match input {
            Input::Start if self.turn.is_some() => self.recommend(ctx, 0),
            Input::Message { message: Message::Arrived { user }, .. } => {
                // The learner suggests one arm for a user, even if the message is duplicated.
                if self.arrived.insert(user) {
                    self.recommend(ctx, user);
                }
            }
            Input::Message { message: Message::Report { user, arm, reward }, .. } => {
                self.learn(ctx, user, arm, *reward.get());
            }
            Input::Timer(Timer::Patience { user }) => self.skip_user(ctx, user),
            Input::Start
            | Input::Message {
                message: Message::Play { .. } | Message::PlayAt { .. } | Message::Mean { .. },
                ..
            }
            | Input::Timer(_)
            | Input::WentOffline
            | Input::CameBack => {}
        }
    }

    /// Takes over `give_up_after`, and replaces the learners if their recipe has changed. Each new learner first processes
    /// the history of the present learner that it is to replace. If it cannot process an outcome of this history, the
    /// present learner stays.
    fn adopt(&mut self, fresh: &dyn Any) {
        let Some(fresh) = fresh.downcast_ref::<Self>() else { return };
        self.give_up_after = fresh.give_up_after;
        if self.recipe == fresh.recipe {
            return;
        }
        for (own, fresh) in self.learners.iter_mut().zip(&fresh.learners) {
            let mut new = fresh.learner.clone();
            if own.history.replay_into(new.as_mut(), fresh.stream.clone()).is_ok() {
                own.learner = new;
            }
        }
        self.recipe = fresh.recipe.clone();
    }
}
