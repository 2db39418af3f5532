//! The users: each tries the arm that it was given, and reports its reward as the mechanism of the series releases it. A
//! report may be late, and some users never report.

use super::arrivals::ArrivalProcess;
use super::crowd::{CohortUsers, LevelOfUsers, protected};
use super::membership::Membership;
use super::messages::{LocalProtocol, Message, OwnFact, Timer};
use super::recent::Recent;
use super::running_mean::{RunningMean, TRUSTED};
use crate::kernel::{Context, Input, Party};
use crate::objectives::Continuum;
use crate::privacy::ledger::{BudgetMeter, Occasion, ReleaseError, enter, release};
use crate::privacy::mechanisms::{Disclosure, TreeAggregation};
use crate::privacy::{PersonalEpsilons, RunningSum, Sensitive};
use crate::protocols::stage::{JournalLedger, end, end_refused};
use crate::rng::{Key, Stream};
use crate::vocab::{Neighbours, Observer, PartyId, ProtectedUnit, Span};
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A report that is still to be sent.
#[derive(Debug)]
struct PendingReport {
    arm: u64,
    reward: Sensitive<f64>,
    round: u64,
}

impl Clone for PendingReport {
    fn clone(&self) -> Self {
        Self { arm: self.arm, reward: self.reward.duplicate(), round: self.round }
    }
}

/// How the mean of all rewards is published.
#[derive(Clone, Debug)]
pub(super) struct Publishing {
    pub(super) recipe: RunningMean,
    pub(super) mechanism: TreeAggregation,
    pub(super) readers: Vec<PartyId>,
    /// Who sees the means: the readers, and relays that can read them.
    pub(super) observers: Arc<[Observer]>,
}

/// What all users of one series have in common.
#[derive(Clone, Debug)]
pub(super) struct UserSettings {
    pub(super) name: String,
    pub(super) service: PartyId,
    pub(super) observer: Observer,
    /// The relays between users and service. They see that a message passes even if they cannot read it.
    pub(super) silence_relays: Arc<[Observer]>,
    /// Conditions of every release besides those of its mechanism.
    pub(super) conditions: Vec<String>,
    /// Number of plays after which the series ends.
    pub(super) rounds: u64,
    pub(super) arrivals: Box<dyn ArrivalProcess>,
    /// The series ends after this many consecutive users who arrived without being asked and got no arm.
    pub(super) give_up_after: u64,
    /// The users of each cohort; one entry for all users if there are no cohorts.
    pub(super) cohorts: Vec<CohortUsers>,
    /// The box whose points users try; `None` if they try arms.
    pub(super) continuum: Option<Continuum>,
    /// The cohort of each user, and the person who makes each visit.
    pub(super) membership: Membership,
    /// The epsilon of each user; `None` if users have no epsilons of their own.
    pub(super) personal: Option<PersonalEpsilons>,
    /// The mechanism for each epsilon; one entry if users have no epsilons of their own.
    pub(super) levels: Vec<LevelOfUsers>,
    /// Node of the objective's noise; user k draws from its child k, whichever arm it plays.
    pub(super) noise: Key,
    /// Node of the users' own draws: child k decides whether and when user k answers.
    pub(super) behaviour: Key,
    /// Node of the mechanisms' draws; user k draws from its child k.
    pub(super) mechanisms: Key,
    /// `None` if no mean is published.
    pub(super) publishing: Option<Publishing>,
    /// Draws of the intervals between users who arrive without being asked.
    pub(super) intervals: Stream,
}

impl UserSettings {
    /// The cohort of a user.
    fn cohort(&self, user: u64) -> &CohortUsers {
        &self.cohorts[self.membership.cohort(user)]
    }

    /// A user's epsilon and mechanism.
    fn level(&self, user: u64) -> &LevelOfUsers {
        let own = self.personal.as_ref().and_then(|personal| self.membership.epsilon(user, personal));
        let place = self.levels.iter().position(|level| level.epsilon == own);
        // `levels` has every epsilon that the scenario states; the first one is the smallest.
        &self.levels[place.unwrap_or(0)]
    }
}

/// All users of one series.
#[derive(Clone, Debug)]
pub(super) struct Users {
    settings: UserSettings,
    /// Number of the next user who arrives without being asked.
    next: u64,
    /// Number of users who arrived without being asked since an arm last reached a user.
    unanswered: u64,
    played: u64,
    /// Recognises users who have already played, in constant memory.
    known: Recent,
    /// Releases counted against the privacy budget.
    meter: BudgetMeter,
    /// Reports that are still to be sent, by user.
    intended: BTreeMap<u64, PendingReport>,
    /// The sum of the rewards that count so far, and their number. Of each person only the first rewards count, up to the
    /// number for which the noise is scaled. `None` before the first reward, or if no mean is published.
    sum: Option<(RunningSum, u64)>,
}

impl Users {
    pub(super) fn new(settings: UserSettings, meter: BudgetMeter) -> Self {
        Self {
            settings,
            next: 0,
            unanswered: 0,
            played: 0,
            known: Recent::new(),
            meter,
            intended: BTreeMap::new(),
            sum: None,
        }
    }

    fn expect_next(&mut self, ctx: &mut Context<'_, LocalProtocol>) {
        if let Some(interval) = self.settings.arrivals.next(&mut self.settings.intervals) {
            ctx.after(interval, Timer::Arrival);
        }
    }

    /// Ends the series if too many users in a row have got no arm; otherwise lets the next user arrive.
    fn come(&mut self, ctx: &mut Context<'_, LocalProtocol>) {
        // A fork may have lowered `give_up_after` below `unanswered`.
        if self.unanswered >= self.settings.give_up_after {
            return end(ctx, format!("{} consecutive users got no arm from the service", self.unanswered));
        }
        self.unanswered += 1;
        ctx.send(self.settings.service, Message::Arrived { user: self.next });
        self.next += 1;
        self.expect_next(ctx);
    }

    fn play(&mut self, ctx: &mut Context<'_, LocalProtocol>, user: u64, arm: u64, point: Option<Vec<f64>>) {
        if self.played == self.settings.rounds || !self.known.insert(user) {
            return;
        }
        let settings = &self.settings;
        let place = arm as usize;
        let cohort = settings.cohort(user);
        let noise = |place| cohort.law.draw(place, &mut settings.noise.index(user).stream());
        let (value, noise, best) = match (&point, &settings.continuum) {
            // Recorded noise belongs to arms, so it does not occur on a box.
            (Some(point), Some(continuum)) => (continuum.function.at(point), noise(0), continuum.best),
            _ => {
                let value = cohort.function.at(self.played)[place];
                (value, noise(place), cohort.function.best(self.played))
            }
        };
        let reward = value + noise;
        let exceeds =
            settings.level(user).mechanism.as_ref().is_some_and(|mechanism| mechanism.exceeds(reward));
        let fact = match point {
            Some(point) => OwnFact::Tried { user, arm, point, value, reward, exceeds },
            None => OwnFact::Played { user, arm, reward, exceeds },
        };
        ctx.record(fact.into());
        let round = self.played;
        self.played += 1;
        let mut behaviour = settings.behaviour.index(user).stream();
        let silent = cohort.never_answer.does_not_answer(reward, best, &mut behaviour);
        let delay = cohort.answer_after.as_dyn().quantile(behaviour.open_uniform());
        if cohort.never_answer.depends_on_reward()
            && let Err(error) = self.record_silence(ctx, (user, round), reward, silent)
        {
            self.fail(ctx, user, &error);
            return;
        }
        if silent {
            ctx.record(OwnFact::Silent { user }.into());
        } else {
            self.intended.insert(user, PendingReport { arm, reward: Sensitive::new(reward), round });
            if delay == Span::ZERO {
                self.report(ctx, user);
            } else {
                ctx.after(delay, Timer::Answer { user });
            }
        }
        self.finish(ctx);
    }

    /// Enters in the ledger that observers see whether a user answers. Called only if the probability of silence depends on
    /// the user's reward. Silence with a logistic probability is a mechanism with a privacy cost of its own. The caller has
    /// already drawn, with the settings of this mechanism, whether the user is silent.
    fn record_silence(
        &mut self,
        ctx: &mut Context<'_, LocalProtocol>,
        (user, round): (u64, u64),
        reward: f64,
        silent: bool,
    ) -> Result<(), ReleaseError> {
        let occasion = self.occasion(ctx, "whether a user answers", user, round);
        // A relay sees whether there is an answer, even if answers are encrypted.
        let mut ledger = JournalLedger::new(&mut self.meter, ctx).read_by(&self.settings.silence_relays);
        if let Some(silence) = self.settings.cohort(user).never_answer.informative() {
            return enter(&mut ledger, occasion, silence, &Sensitive::new(reward));
        }
        // The mechanism `Disclosure` draws no random numbers from this stream.
        let mut stream = self.settings.mechanisms.index(user).stream();
        release(&mut ledger, occasion, &Disclosure::new(), &Sensitive::new(!silent), &mut stream).map(drop)
    }

    fn occasion(&self, ctx: &Context<'_, LocalProtocol>, released: &str, user: u64, round: u64) -> Occasion {
        let settings = &self.settings;
        let person = settings.membership.person(user);
        let level = settings.level(user);
        Occasion {
            released: released.to_owned(),
            protected: protected(&settings.name, &settings.cohort(user).name, level.epsilon),
            unit: if person.is_some() { ProtectedUnit::User } else { ProtectedUnit::Reward },
            unit_index: person,
            // The same neighbour relation for all releases about a reward, so that their losses can be composed.
            neighbours: level.mechanism.as_ref().map_or(Neighbours::AnyValue, |m| m.neighbours()),
            observer: settings.observer.clone(),
            round,
            at: ctx.now(),
            conditions: settings.conditions.clone(),
        }
    }

    fn report(&mut self, ctx: &mut Context<'_, LocalProtocol>, user: u64) {
        let Some(PendingReport { arm, reward, round }) = self.intended.remove(&user) else { return };
        let occasion = self.occasion(ctx, "rewards y", user, round);
        let mut stream = self.settings.mechanisms.index(user).stream();
        let mut ledger = JournalLedger::new(&mut self.meter, ctx);
        let released = match &self.settings.level(user).mechanism {
            Some(mechanism) => release(&mut ledger, occasion, &**mechanism, &reward, &mut stream),
            None => release(&mut ledger, occasion, &Disclosure::new(), &reward, &mut stream),
        };
        match released {
            Ok(reward) => ctx.send(self.settings.service, Message::Report { user, arm, reward }),
            Err(error) => return self.fail(ctx, user, &error),
        }
        if let Err(error) = self.publish(ctx, (user, round), &reward) {
            self.fail(ctx, user, &error);
        }
    }

    /// Adds a reward to the sum of the rewards that count, and publishes the mean if a publication is due. Adds and
    /// publishes nothing if this person has already contributed as many rewards as one person may.
    fn publish(
        &mut self,
        ctx: &mut Context<'_, LocalProtocol>,
        (user, round): (u64, u64),
        reward: &Sensitive<f64>,
    ) -> Result<(), ReleaseError> {
        let Some(publishing) = self.settings.publishing.clone() else { return Ok(()) };
        if self.sum.is_none() {
            let mut occasion = self.occasion(ctx, "running means of rewards", user, round);
            // The ledger gets one entry for all sums together; the entry is about every person.
            occasion.unit_index = None;
            occasion.conditions.push(TRUSTED.to_owned());
            let Some((first, others)) = publishing.observers.split_first() else { return Ok(()) };
            occasion.observer = first.clone();
            let others: Arc<[Observer]> = others.into();
            let mut ledger = JournalLedger::new(&mut self.meter, ctx).read_by(&others);
            let stream = self.settings.mechanisms.child("running mean").stream();
            let (mechanism, range) = (&publishing.mechanism, publishing.recipe.range);
            self.sum = Some((RunningSum::begin(&mut ledger, occasion, mechanism, range, stream)?, 0));
        }
        let person = self.settings.membership.person(user).unwrap_or(user);
        let Some((sum, count)) = &mut self.sum else { return Ok(()) };
        let released = sum.add(person, reward)?;
        ctx.record(OwnFact::Counted { user, counts: released.is_some() }.into());
        let Some(released) = released else { return Ok(()) };
        *count += 1;
        let count = *count;
        if count.is_multiple_of(publishing.recipe.every.get()) {
            let mean = released.map(|sum| sum / count as f64);
            ctx.record(OwnFact::MeanPublished { count, mean: *mean.get() }.into());
            for reader in &publishing.readers {
                ctx.send(*reader, Message::Mean { count, mean: mean.clone() });
            }
        }
        Ok(())
    }

    fn fail(&self, ctx: &mut Context<'_, LocalProtocol>, user: u64, error: &ReleaseError) {
        end_refused(ctx, &format!("user {user} of {} releases nothing", self.settings.name), error);
    }

    /// Ends the series when the last user has played and all reports that will be sent have been sent.
    fn finish(&self, ctx: &mut Context<'_, LocalProtocol>) {
        if self.played == self.settings.rounds && self.intended.is_empty() {
            ctx.stop();
        }
    }
}

impl Party<LocalProtocol> for Users {
    fn handle(&mut self, input: Input<LocalProtocol>, ctx: &mut Context<'_, LocalProtocol>) {
        match input {
            Input::Start => self.expect_next(ctx),
            Input::Timer(Timer::Arrival) if self.played < self.settings.rounds => self.come(ctx),
            Input::Message { message: Message::Play { user, arm }, .. } => {
                self.unanswered = 0;
                self.play(ctx, user, arm, None);
            }
            Input::Message { message: Message::PlayAt { user, arm, point }, .. } => {
                self.unanswered = 0;
                self.play(ctx, user, arm, Some(point));
            }
            Input::Timer(Timer::Answer { user }) => {
                self.report(ctx, user);
                self.finish(ctx);
            }
            Input::Message {
                message: Message::Arrived { .. } | Message::Report { .. } | Message::Mean { .. },
                ..
            }
            | Input::Timer(_)
            | Input::WentOffline
            | Input::CameBack => {}
        }
    }

    fn adopt(&mut self, fresh: &dyn Any) {
        if let Some(fresh) = fresh.downcast_ref::<Self>() {
            for (own, fresh) in self.settings.cohorts.iter_mut().zip(&fresh.settings.cohorts) {
                own.answer_after.clone_from(&fresh.answer_after);
                own.never_answer = fresh.never_answer;
            }
            self.settings.give_up_after = fresh.settings.give_up_after;
        }
    }
}
