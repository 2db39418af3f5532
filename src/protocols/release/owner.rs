//! The owner: tries settings on its validation set, and publishes the outputs of its publication's mechanisms.

mod among_trials;

use super::box_points::BoxPoints;
use super::failure::CannotRelease;
use super::messages::{Message, OwnFact, ReleaseProtocol, Timer};
use super::open_request::OpenRequest;
use super::outcomes::Trials;
use super::owner_config::OwnerConfig;
use super::public::PUBLIC;
use super::publication::{Plan, Publication, SettingRelease, ValueOf};
use super::sampling::Choice;
use super::search_stop::SearchStop;
use super::searching::Searcher;
use super::training::WithTraining;
use crate::kernel::{Context, Input, Party};
use crate::privacy::ledger::{BudgetMeter, Occasion, release};
use crate::privacy::mechanisms::{Disclosure, Mechanism};
use crate::privacy::{Released, Sensitive};
use crate::protocols::stage::{AfterTimeout, JitterWatch, JournalLedger, Retry, end};
use crate::rng::Key;
use crate::vocab::{Neighbours, Observer, PartyId, ProtectedUnit};
use std::any::Any;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::Arc;

/// The owner of one series.
#[derive(Clone)]
pub(super) struct Owner {
    config: OwnerConfig,
    searcher: Searcher,
    /// Number of trials in total.
    total: u64,
    /// Number of the next trial.
    next: u64,
    /// Settings under trial, by number of trial.
    under_trial: BTreeMap<u64, usize>,
    /// The points chosen so far, if settings are the points of a box.
    points: Option<BoxPoints>,
    /// Workers without a trial, the one that has been idle longest first.
    idle: VecDeque<PartyId>,
    open_trials: BTreeMap<u64, OpenRequest>,
    open_readers: BTreeMap<usize, OpenRequest>,
    trials: Trials,
    /// The settings that were announced to readers, each as soon as it was chosen.
    announced: Vec<Released<usize>>,
    published: bool,
    /// Releases counted against the privacy budget.
    meter: BudgetMeter,
    /// Whether the budget refused a release because of training records.
    refused_for_training: bool,
    jitter: JitterWatch,
}

impl fmt::Debug for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Owner").field("name", &self.config.name).finish_non_exhaustive()
    }
}

impl Owner {
    /// The owner before its first trial.
    ///
    /// # Errors
    /// [`CannotRelease`] if the learner cannot be built or the task lacks something that the search needs.
    pub(super) fn new(mut config: OwnerConfig, meter: BudgetMeter) -> Result<Self, CannotRelease> {
        let (search, stream) = (config.publication.as_dyn().search(&config.task)?, &mut config.mechanisms);
        let (searcher, total) = Searcher::begin(search, &config.task, &config.programs, config.dry, stream)?;
        let idle = config.workers.iter().copied().collect();
        let points = config.continuum.take().map(BoxPoints::new);
        Ok(Self {
            trials: Trials::new(config.silence.is_none()),
            config,
            searcher,
            total,
            next: 0,
            under_trial: BTreeMap::new(),
            points,
            idle,
            open_trials: BTreeMap::new(),
            open_readers: BTreeMap::new(),
            announced: Vec::new(),
            meter,
            refused_for_training: false,
            jitter: JitterWatch::default(),
            published: false,
        })
    }

    fn publication(&self) -> &dyn Publication {
        self.config.publication.as_dyn()
    }

    /// Begins a trial for every idle worker, or one at a time if trials are sequential; without workers the owner makes
    /// all trials itself. Publishes when no trial is left.
    fn resume(&mut self, ctx: &mut Context<'_, ReleaseProtocol>) {
        let one_by_one = self.publication().sequential();
        while self.next < self.total && (!one_by_one || self.under_trial.is_empty()) {
            let alone = self.config.workers.is_empty();
            if !alone && self.idle.is_empty() {
                break;
            }
            let trial = self.next;
            self.next += 1;
            let setting = match self.choose(ctx, trial) {
                Ok(setting) => setting,
                Err(halt) => return self.halted(ctx, halt),
            };
            self.under_trial.insert(trial, setting);
            if alone {
                if let Err(halt) = self.measure(ctx, trial) {
                    return self.halted(ctx, halt);
                }
            } else if let Some(worker) = self.idle.pop_front() {
                let message = match &self.points {
                    Some(points) => points.to_train(trial, setting),
                    None => Message::Train { trial, setting: setting as u64 },
                };
                let open = OpenRequest::new(self.retries(), ctx, worker, message, Timer::Trial(trial));
                self.open_trials.insert(trial, open);
            }
        }
        if self.next == self.total && self.under_trial.is_empty() && !self.published {
            self.published = true;
            if let Err(halt) = self.publish(ctx) {
                self.halted(ctx, halt);
            }
        }
    }

    /// The setting of the next trial. A setting that was chosen privately is announced to the readers at once.
    fn choose(&mut self, ctx: &mut Context<'_, ReleaseProtocol>, trial: u64) -> Result<usize, SearchStop> {
        let choice = match &mut self.searcher {
            Searcher::Learner(learner) => {
                let pending: Vec<usize> = self.under_trial.values().copied().collect();
                let setting = learner.suggest_while(&pending, &mut self.config.learning);
                if let (Some(points), Some(point)) = (&mut self.points, learner.point(setting)) {
                    points.add(setting, point);
                }
                self.record_for_relays(ctx, trial, setting)?;
                return Ok(setting);
            }
            Searcher::Everything => return Ok(trial as usize),
            Searcher::UntilAbove(search) => {
                let setting = search.order[trial as usize];
                if trial == 0 {
                    self.enter_comparisons(ctx)?;
                }
                return Ok(setting);
            }
            Searcher::Sampler(sampler) => sampler.next()?,
            Searcher::Repeated => None,
        };
        let Some(choice) = choice else {
            if let Some(points) = &mut self.points {
                points.draw(trial as usize, &mut self.config.learning);
                return Ok(trial as usize);
            }
            return Ok(self.config.learning.below(self.config.task.n() as u64) as usize);
        };
        // A relay that can read messages to workers or to readers learns the setting too.
        let relays = Arc::clone(&self.config.relays.of_either);
        let setting = self.chosen(ctx, "settings tried", trial, choice, &relays)?;
        for &reader in &self.config.readers {
            ctx.send(reader, Message::Announce { trial, setting: setting.clone() });
        }
        self.announced.push(setting.clone());
        Ok(setting.into_inner())
    }

    /// Records the setting of a trial in the ledger for relays that can read messages to workers. Before the first
    /// known outcome a setting depends on no record, so nothing is recorded.
    fn record_for_relays(
        &mut self,
        ctx: &mut Context<'_, ReleaseProtocol>,
        round: u64,
        setting: usize,
    ) -> Result<(), SearchStop> {
        let relays = Arc::clone(&self.config.relays.of_training);
        let Some((first, others)) = relays.split_first().filter(|_| self.trials.best().is_some()) else {
            return Ok(());
        };
        let occasion = self.occasion(ctx, "settings tried");
        let occasion = Occasion { round, observer: first.clone(), ..occasion };
        self.release(ctx, occasion, &Disclosure::new(), setting, &others.into()).map(drop)
    }

    /// Releases a private choice, and returns the setting.
    fn chosen(
        &mut self,
        ctx: &mut Context<'_, ReleaseProtocol>,
        what: &str,
        round: u64,
        choice: Choice,
        relays: &Arc<[Observer]>,
    ) -> Result<Released<usize>, SearchStop> {
        let occasion = Occasion { round, ..self.occasion(ctx, what) };
        let Choice { mechanism, utilities, candidates, jitter } = choice;
        self.jitter.note(jitter, ctx);
        let released = self.release(ctx, occasion, &*mechanism, utilities, relays)?;
        Ok(released.map(|index| candidates[index]))
    }

    /// Releases a secret, with these relays as further observers; the budget is checked for validation records and, if
    /// models are trained, for training records.
    fn release<M: Mechanism + ?Sized>(
        &mut self,
        ctx: &mut Context<'_, ReleaseProtocol>,
        occasion: Occasion,
        mechanism: &M,
        secret: M::Input,
        relays: &Arc<[Observer]>,
    ) -> Result<Released<M::Output>, SearchStop> {
        let ledger = JournalLedger::new(&mut self.meter, ctx).read_by(relays);
        let (trains, refused) = (self.config.trains, &mut self.refused_for_training);
        let mut ledger = WithTraining { ledger, trains, refused };
        let stream = &mut self.config.mechanisms;
        release(&mut ledger, occasion, mechanism, &Sensitive::new(secret), stream)
            .map_err(SearchStop::Refused)
    }

    /// When requests are repeated, and the node of the seed tree for the random part of the waits.
    fn retries(&self) -> (Retry, Key) {
        (self.config.retry, self.config.retries)
    }

    /// Sends all requests that waited for the owner's own connection.
    fn reconnected(&mut self, ctx: &mut Context<'_, ReleaseProtocol>) {
        let trials = self.open_trials.iter_mut().map(|(trial, open)| (Timer::Trial(*trial), open));
        let readers = self.open_readers.iter_mut().map(|(place, open)| (Timer::Reader(*place), open));
        trials.chain(readers).for_each(|(timer, open)| open.reconnected(self.config.retry, ctx, timer));
    }

    /// Evaluates a trained model on the validation set. Unless the outcome is missing, it is stored and passed to the method
    /// that chooses settings.
    fn measure(&mut self, ctx: &mut Context<'_, ReleaseProtocol>, trial: u64) -> Result<(), SearchStop> {
        let Some(setting) = self.under_trial.remove(&trial) else { return Ok(()) };
        let noise = if self.publication().noise_free() {
            0.0
        } else {
            self.config.noise_sd * self.config.noise.index(trial).stream().normal()
        };
        let on_box = self.points.as_ref();
        let value = on_box.map_or_else(|| self.config.values[setting], |points| points.value(setting));
        let outcome = value + noise;
        let missing = self.is_missing(ctx, trial, outcome)?;
        let fact = match &self.points {
            Some(points) => points.tried((trial, setting), value, (outcome, missing)),
            None => OwnFact::Tried { trial, setting: setting as u64, outcome, missing },
        };
        ctx.record(fact.into());
        if missing {
            return Ok(());
        }
        self.trials.add(setting, outcome);
        let jitter = self.searcher.observe(trial, setting, outcome)?;
        self.jitter.note(jitter, ctx);
        if let Searcher::UntilAbove(search) = &mut self.searcher
            && search.stops(outcome, &self.config.mechanisms)?
        {
            self.stop_search(ctx);
        }
        Ok(())
    }

    fn trained(&mut self, ctx: &mut Context<'_, ReleaseProtocol>, trial: u64) {
        let Some(open) = self.open_trials.remove(&trial) else { return };
        open.attempts.end(ctx);
        self.idle.push_back(open.to);
        match self.measure(ctx, trial) {
            Ok(()) => self.resume(ctx),
            Err(halt) => self.halted(ctx, halt),
        }
    }

    /// Decides whether an outcome is missing. The owner never learns a missing outcome. If the decision depends on the
    /// outcome, the decision is entered in the ledger, since publications depend on which outcomes are known.
    fn is_missing(
        &mut self,
        ctx: &mut Context<'_, ReleaseProtocol>,
        trial: u64,
        outcome: f64,
    ) -> Result<bool, SearchStop> {
        let Some(silence) = self.config.silence.filter(|_| !self.config.dry) else { return Ok(false) };
        let occasion = Occasion { round: trial, ..self.occasion(ctx, "whether an outcome is known") };
        let ledger = JournalLedger::new(&mut self.meter, ctx).read_by(&self.config.relays.of_traffic);
        let refused = &mut self.refused_for_training;
        let mut ledger = WithTraining { ledger, trains: self.config.trains, refused };
        silence.is_missing(&mut ledger, occasion, outcome).map_err(SearchStop::Refused)
    }

    /// Gives a trial that has timed out to the worker that has been idle longest or, if no worker is idle, to its present
    /// worker again. If the trial has been requested as often as is allowed, the series ends early.
    fn handle_timeout(&mut self, ctx: &mut Context<'_, ReleaseProtocol>, trial: u64) {
        let Some(open) = self.open_trials.get_mut(&trial) else { return };
        let (retry, idle) = (self.config.retry, &mut self.idle);
        let OpenRequest { to, message, attempts } = open;
        let verdict = attempts.handle_timeout(retry, ctx, Timer::Trial(trial), |ctx| {
            if let Some(other) = idle.pop_front() {
                idle.push_back(*to);
                *to = other;
            }
            ctx.record(OwnFact::Reassigned { trial }.into());
            ctx.send(*to, message.clone());
        });
        if verdict == AfterTimeout::GaveUp {
            end(
                ctx,
                format!(
                    "trial {trial} was never finished, although it was requested {} times",
                    retry.attempts
                ),
            );
        }
    }

    fn occasion(&self, ctx: &Context<'_, ReleaseProtocol>, released: &str) -> Occasion {
        Occasion {
            released: released.to_owned(),
            protected: self.config.name.clone(),
            unit: ProtectedUnit::ValidationRecord,
            unit_index: None,
            neighbours: Neighbours::ReplaceOne,
            observer: Observer(PUBLIC.to_owned()),
            // Ledger entries must not reveal a random number of trials. Where this number is random, the round of an entry
            // is the stated number `rounds` instead of the number of trials.
            round: if matches!(self.searcher, Searcher::Repeated) {
                self.config.task.rounds
            } else {
                self.total
            },
            at: ctx.now(),
            conditions: self.config.conditions.clone(),
        }
    }

    fn publish(&mut self, ctx: &mut Context<'_, ReleaseProtocol>) -> Result<(), SearchStop> {
        let Plan { setting, value, best, .. } = self.publication().plan(&self.config.task)?;
        if let Some(best) = best {
            return self.publish_best(ctx, &best);
        }
        let choice = match (&self.searcher, setting) {
            (Searcher::Sampler(sampler), _) => sampler.last()?,
            (_, Some(SettingRelease { mechanism, utility })) => {
                let n = self.points.as_ref().map_or_else(|| self.config.task.n(), BoxPoints::len);
                let utilities = self.trials.utilities(&self.config.task, n, utility)?;
                let candidates = self.trials.candidates(n);
                Some(Choice { mechanism, candidates, utilities, jitter: 0.0 })
            }
            (_, None) => None,
        };
        let (round, relays) = (self.total, Arc::clone(&self.config.relays.of_publication));
        let setting =
            choice.map(|choice| self.chosen(ctx, "setting lambda~", round, choice, &relays)).transpose()?;
        let value: Option<Released<Vec<f64>>> = match value {
            Some(how) => {
                let occasion = self.occasion(ctx, "performance v~");
                let number = match how.of {
                    ValueOf::Best => self.trials.best(),
                    ValueOf::Last => self.trials.last(),
                    ValueOf::Setting => setting.as_ref().and_then(|s| self.trials.mean(*s.get())),
                };
                let number = number.ok_or(CannotRelease::NothingTried)?;
                Some(self.release(ctx, occasion, &*how.mechanism, vec![number], &relays)?)
            }
            None => None,
        };
        self.send_publication(ctx, setting, value);
        Ok(())
    }

    fn send_publication(
        &mut self,
        ctx: &mut Context<'_, ReleaseProtocol>,
        setting: Option<Released<usize>>,
        value: Option<Released<Vec<f64>>>,
    ) {
        ctx.record(
            OwnFact::Published {
                setting: setting.as_ref().map(|setting| *setting.get() as u64),
                value: value.as_ref().and_then(|value| value.get().first().copied()),
            }
            .into(),
        );
        let message = match &self.points {
            Some(points) => points.publication(setting, value),
            None => Message::Publish { told: self.announced.clone(), setting, value },
        };
        for (place, reader) in self.config.readers.clone().into_iter().enumerate() {
            let message = message.clone();
            let open = OpenRequest::new(self.retries(), ctx, reader, message, Timer::Reader(place));
            self.open_readers.insert(place, open);
        }
    }

    fn halted(&self, ctx: &mut Context<'_, ReleaseProtocol>, halt: SearchStop) {
        halt.end(ctx, !self.announced.is_empty(), self.refused_for_training);
    }

    fn received(&mut self, ctx: &mut Context<'_, ReleaseProtocol>, from: PartyId) {
        let place = self.open_readers.iter().find(|(_, open)| open.to == from).map(|(place, _)| *place);
        let Some(open) = place.and_then(|place| self.open_readers.remove(&place)) else { return };
        open.attempts.end(ctx);
        if self.open_readers.is_empty() {
            ctx.stop();
        }
    }

    fn timed_out(&mut self, ctx: &mut Context<'_, ReleaseProtocol>, place: usize) {
        let Some(OpenRequest { to, message, attempts }) = self.open_readers.get_mut(&place) else { return };
        let retry = self.config.retry;
        let again = |ctx: &mut Context<'_, ReleaseProtocol>| ctx.send(*to, message.clone());
        if attempts.handle_timeout(retry, ctx, Timer::Reader(place), again) == AfterTimeout::GaveUp {
            end(ctx, format!("a reader did not confirm a publication sent {} times", retry.attempts));
        }
    }
}

impl Party<ReleaseProtocol> for Owner {
    fn handle(&mut self, input: Input<ReleaseProtocol>, ctx: &mut Context<'_, ReleaseProtocol>) {
        match input {
            Input::Start => self.resume(ctx),
            Input::Message { message: Message::Trained { trial }, .. } => self.trained(ctx, trial),
            Input::Message { from, message: Message::Received } => self.received(ctx, from),
            Input::Timer(Timer::Trial(trial)) => self.handle_timeout(ctx, trial),
            Input::Timer(Timer::Reader(place)) => self.timed_out(ctx, place),
            Input::CameBack => self.reconnected(ctx),
            // No other party sends these messages to the owner. Nothing is done when the connection is lost, since open
            // requests are sent again later.
            Input::Message {
                message:
                    Message::Train { .. }
                    | Message::TrainAt { .. }
                    | Message::Announce { .. }
                    | Message::Publish { .. }
                    | Message::PublishAt { .. },
                ..
            }
            | Input::WentOffline => {}
        }
    }

    fn adopt(&mut self, fresh: &dyn Any) {
        if let Some(fresh) = fresh.downcast_ref::<Self>() {
            self.config.retry = fresh.config.retry;
        }
    }
}
