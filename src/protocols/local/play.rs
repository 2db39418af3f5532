//! Runs one replication of local differential privacy: builds the parties and the record of every series.

use super::bounds::Bounds;
use super::cohort::Cohort;
use super::crowd::{Crowd, LevelOfUsers};
use super::messages::LocalProtocol;
use super::never_answer::NeverAnswer;
use super::public::taken_as_public;
use super::recipe::{Local, SeriesRecipe};
use super::running_mean::RunningMean;
use super::service::{OneLearner, Service};
use super::tally::Tally;
use super::users::{Publishing, UserSettings, Users};
use crate::gp::ArmCovariance;
use crate::kernel::Party;
use crate::learners::{Arms, BoxModel, BuildError, Learner, LearnerModel, ProblemConstants, Random};
use crate::objectives::{Continuum, Extent, Instance, Objective};
use crate::privacy::PersonalEpsilons;
use crate::privacy::ledger::BudgetMeter;
use crate::programs::Programs;
use crate::protocols::stage::differences::effort_of_continuation;
use crate::protocols::stage::series::{learners_limits, names};
use crate::protocols::stage::{
    ITERATION, Protocol, RegretBound, Releases, ReplicationError, ReplicationSetup, SeriesRecord,
    against_best_found,
};
use crate::rng::Key;
use crate::vocab::effort::{MESSAGE, MULTIPLY, NUMBER};
use crate::vocab::{Effort, Observer, PartyId, Problem, ProtectedUnit};
use std::num::NonZeroU64;
use std::sync::Arc;

/// Seconds for a published mean: to draw its noise, and to account for it in the privacy losses of people.
const MEAN: f64 = 2e-5;

/// Bytes that a replication, while it is played, holds for the evaluation of a user, or for the releases about a person.
const USER: f64 = 100.0;

impl Protocol for Local {
    fn problems(&self, stage: &ReplicationSetup) -> Vec<Problem> {
        self.check(stage)
    }

    fn problems_with(&self, objective: &dyn Objective) -> Vec<Problem> {
        self.check_noise(objective)
    }

    fn problems_of_size(&self, _: &ReplicationSetup, problem: &Extent) -> Vec<Problem> {
        let of = |(index, cohort): (usize, &Cohort)| {
            let found = cohort.differences.problems_of_size(problem).into_iter();
            found.map(move |problem| problem.below(&format!("cohorts[{index}].differences")))
        };
        let cohorts = self.cohorts.iter().enumerate().flat_map(of);
        let learners = learners_limits(self.series.iter().map(|series| &series.learner), problem);
        learners.into_iter().chain(cohorts).collect()
    }

    fn needs_objective(&self) -> bool {
        true
    }

    fn searches_boxes(&self) -> bool {
        true
    }

    fn units(&self) -> Vec<ProtectedUnit> {
        vec![if self.population.is_some() { ProtectedUnit::User } else { ProtectedUnit::Reward }]
    }

    fn changeable(&self) -> &'static [&'static str] {
        &["answer_after.**", "never_answer.**", "give_up_after", "series.*.learner.**"]
    }

    /// A relay learns whether a user answers, which is a release if silence depends on the reward.
    fn relays_learn_protected_data(&self) -> bool {
        self.silence_is_informative()
    }

    /// The means that are published depend on the arms. If the arms depend on reports, readers of the means learn something
    /// about reports.
    fn learn_by_settings(&self) -> Vec<(String, String, String)> {
        let depend = |series: &&SeriesRecipe| !series.learner.as_dyn().ignores_outcomes();
        let of = |series: &SeriesRecipe| -> Vec<(String, String, String)> {
            let readers = series.running_mean.iter().flat_map(|means| means.readers.clone());
            readers.map(|reader| (series.name.clone(), reader, "learner".to_owned())).collect()
        };
        self.series.iter().filter(depend).flat_map(of).collect()
    }

    fn dry_needs_objective(&self) -> bool {
        false
    }

    fn series(&self) -> Vec<String> {
        names(&self.series)
    }

    fn warnings(&self) -> Vec<String> {
        let of_cohorts = self.cohorts.iter().enumerate().filter_map(|(index, cohort)| {
            silence_warning(&format!("cohorts[{index}].never_answer"), &cohort.never_answer?)
        });
        silence_warning("never_answer", &self.never_answer).into_iter().chain(of_cohorts).collect()
    }

    fn effort(&self, _: &ReplicationSetup, problem: &Extent) -> Effort {
        let users = self.rounds as f64;
        let people = self.population.map_or(0.0, |population| users.min(population.get() as f64));
        let of_series = |(index, series): (usize, &SeriesRecipe)| {
            let learner = series.learner.as_dyn().effort(problem.arms, self.rounds);
            let learner = problem.of_learner(learner, ("rounds", self.rounds)).placed(|path| match path {
                "repetitions" => format!("series[{index}].learner.{}.{path}", series.learner.name()),
                _ => path.to_owned(),
            });
            // In memory: the evaluation of each user, and the releases about each person.
            let held = USER * users + USER * people;
            // A published mean is a release with noise of its own.
            let each = if series.running_mean.is_some() { MEAN } else { 0.0 } + 4.0 * MESSAGE;
            let asked = Effort::due_to("rounds", self.rounds, held, each * users);
            learner.and(asked).with_record_size(ITERATION * users.min(1_000.0) + USER * people)
        };
        let series = self.series.iter().enumerate().map(of_series);
        let series = series.reduce(Effort::then).unwrap_or_default();
        let moves = |cohort: &&Cohort| cohort.differences.reach() > 0.0;
        let moving = self.cohorts.iter().filter(moves).count();
        let series = match problem.continued_by_surrogate && moving > 0 {
            true => series.and(effort_of_continuation(problem.arms, moving as f64)),
            false => series,
        };
        // Drifting functions are drawn for every round, and held while all series are played.
        let drifts = |cohort: &&Cohort| cohort.differences.drifting().is_some();
        let drifting = self.cohorts.iter().filter(drifts).count() as f64;
        if drifting == 0.0 {
            return series;
        }
        let drawn = users * (drifting + 1.0);
        let held = NUMBER * drawn * problem.arms as f64;
        let seconds = drawn * (problem.drawn.seconds + 2.0 * MULTIPLY * problem.arms as f64);
        series.and(Effort::due_to("rounds", self.rounds, held, seconds))
    }

    fn at_random(&self) -> Vec<&str> {
        let chosen = self.series.iter().filter(|series| series.learner.as_dyn().ignores_outcomes());
        chosen.map(|series| series.name.as_str()).collect()
    }

    fn play(&self, stage: &ReplicationSetup, key: Key) -> Result<Vec<SeriesRecord>, ReplicationError> {
        let Some(first) = self.series.first() else { return Ok(Vec::new()) };
        let instance = stage.objective(&first.name)?;
        let crowd = Crowd::new(self, stage, instance, key).map_err(ReplicationError::in_all)?;
        // The theorems assume one function, a finite set of arms, and users with the same epsilon. `play_series` checks the
        // last of these assumptions for each series.
        let one = !stage.options.dry && self.cohorts.is_empty() && instance.continuum().is_none();
        let mut bounds = one.then(|| Bounds::new(instance, self.rounds));
        let play = |series| self.play_series(series, stage, (key, &crowd), bounds.as_mut());
        let mut records: Vec<SeriesRecord> = self.series.iter().map(play).collect::<Result<_, _>>()?;
        if instance.continuum().is_some_and(|continuum| !continuum.best_is_known) && !stage.options.dry {
            against_best_found(&mut records);
        }
        Ok(records)
    }
}

impl Local {
    /// The series ends after this many consecutive users without an answer.
    fn give_up_after(&self) -> u64 {
        self.give_up_after.map_or(self.rounds.saturating_mul(10).max(10_000), NonZeroU64::get)
    }

    /// The person who makes the visit with number `user`; `None` if the scenario has no `population`, so that nobody visits
    /// twice. `key` is the replication's node of the seed tree.
    #[must_use]
    pub fn person(&self, key: Key, user: u64) -> Option<u64> {
        self.membership(key).person(user)
    }

    fn play_series(
        &self,
        series: &SeriesRecipe,
        stage: &ReplicationSetup,
        (key, crowd): (Key, &Crowd),
        bounds: Option<&mut Bounds<'_>>,
    ) -> Result<SeriesRecord, ReplicationError> {
        let bad = |problem: Problem| ReplicationError::scenario(&series.name, &problem);
        let service = stage.party("service", &self.service).map_err(bad)?;
        let users = stage.party("users", &self.users).map_err(bad)?;
        let instance = stage.objective(&series.name)?;
        let party = |error| ReplicationError::party(&series.name, error);
        let unbuilt = |error: BuildError| ReplicationError::party(&series.name, error);
        let levels = match stage.options.dry {
            true => vec![LevelOfUsers { epsilon: None, share: 1.0, mechanism: None }],
            false => crowd.levels(series, None).map_err(party)?,
        };
        let random = LearnerModel::from(Random {});
        let learner = if stage.options.dry { &random } else { &series.learner };
        let programs = stage.options.programs.of_series(&series.name);
        let streams = key.child("party").child(&self.service).child("learner");
        let all = self.arms(instance, crowd, &levels, 1.0);
        let mut learners = Vec::new();
        if series.by_cohort && !stage.options.dry {
            for (place, (name, share)) in crowd.membership.shares().into_iter().enumerate() {
                let own = crowd.levels(series, Some(place)).map_err(party)?;
                let arms = self.arms(instance, crowd, &own, share);
                let learner = begin(learner, instance, &arms, &programs).map_err(unbuilt)?;
                learners.push(OneLearner::new(learner, streams.child(name).stream()));
            }
        } else {
            let learner = begin(learner, instance, &all, &programs).map_err(unbuilt)?;
            learners.push(OneLearner::new(learner, streams.stream()));
        }
        // In a dry run no program is asked.
        let programs = Some(&programs).filter(|_| !stage.options.dry);
        let continuum = instance.continuum().map(|continuum| match programs {
            Some(programs) => continuum.begun(programs),
            None => Ok(continuum.clone()),
        });
        let continuum = continuum.transpose().map_err(|error| unbuilt(error.into()))?;
        let clips = levels.iter().any(|level| level.mechanism.is_some());
        let personal = series.epsilons.clone().filter(|_| !stage.options.dry);
        let is_personal = personal.is_some();
        let publishing = series.running_mean.as_ref();
        let publishing =
            publishing.map(|recipe| self.publishing(recipe, &series.name, stage, users)).transpose()?;
        let publishes = publishing.is_some();
        let parties = self.parties(
            stage,
            (service, users),
            (instance, continuum, key, crowd),
            (levels, personal, publishing),
            (&series.learner, learners),
        );
        let mut tally = Tally::new(instance, crowd, self.rounds, publishes);
        let mut record = stage.play(&series.name, parties, key, Releases::by_unit(), &mut |at, fact| {
            tally.see(fact, at);
        })?;
        let may_be_silent = crowd.cohorts.iter().any(|all| all.never_answer != NeverAnswer::default());
        tally.fill_record(&mut record, clips, may_be_silent);
        let readers = series.running_mean.as_ref().map_or(&[][..], |published| &published.readers);
        record.public.extend(taken_as_public(self, stage, instance, is_personal, readers));
        if let Some(bounds) = bounds.filter(|_| !is_personal) {
            record.bounds = bounds.of(&series.learner, &all, series.report.as_dyn().epsilon());
            if stage.changes_at_fork(&series.name) {
                record.bounds = record.bounds.into_iter().map(RegretBound::withheld).collect();
            }
        }
        Ok(record)
    }

    /// How a series publishes the mean of all rewards.
    fn publishing(
        &self,
        recipe: &RunningMean,
        series: &str,
        stage: &ReplicationSetup,
        users: PartyId,
    ) -> Result<Publishing, ReplicationError> {
        let bad = |problem: Problem| ReplicationError::scenario(series, &problem);
        let readers = recipe.readers.iter().map(|reader| stage.party("readers", reader).map_err(bad));
        let readers = readers.collect::<Result<Vec<_>, _>>()?;
        let mut observers: Vec<Observer> = recipe.readers.iter().cloned().map(Observer).collect();
        for relay in stage.read_between(users, &readers, &[]) {
            if !observers.contains(&relay) {
                observers.push(relay);
            }
        }
        let population = self.population.map_or(self.rounds, NonZeroU64::get);
        let mechanism = recipe.mechanism(self.rounds, population);
        let mechanism = mechanism.map_err(|error| ReplicationError::party(series, error))?;
        Ok(Publishing { recipe: recipe.clone(), mechanism, readers, observers: observers.into() })
    }

    /// What a learner knows about the objective and about the reports of its users. Each of `levels` describes the users
    /// with one epsilon; `share` states which fraction of all users reports to this learner.
    fn arms(&self, instance: &Instance, crowd: &Crowd, levels: &[LevelOfUsers], share: f64) -> Arms {
        let bound = crowd.deviation();
        let mut facts = ProblemConstants {
            horizon: Some(if share < 1.0 {
                libm::ceil(self.rounds as f64 * share) as u64
            } else {
                self.rounds
            }),
            // The largest deviation at the points that represent a box does not bound the deviation on the whole box.
            bound: instance.continuum().is_none().then_some(bound),
            noise_bound: crowd.noise_bound(),
            laplace_scale: None,
        };
        // If the noise of rewards has no known bound, the learner assumes that no reward lies beyond the largest bound of
        // the mechanisms, which clip rewards to their bounds or have noise scaled to them.
        let bounds = levels.iter().filter_map(|level| Some(level.mechanism.as_ref()?.bound()));
        let largest = bounds.reduce(f64::max).map(|largest| (largest - bound).max(0.0));
        facts.noise_bound = facts.noise_bound.or(largest);
        let mut noise_variance = instance.surrogate.noise_variance;
        for level in levels {
            let Some(mechanism) = &level.mechanism else { continue };
            let scale = mechanism.laplace_scale();
            facts.laplace_scale = if facts.laplace_scale > scale { facts.laplace_scale } else { scale };
            noise_variance += level.share * mechanism.variance();
        }
        Arms {
            n: instance.inputs.n(),
            covariance: Some(ArmCovariance::of_inputs(
                Arc::clone(&instance.inputs),
                instance.surrogate.covariance.clone(),
            )),
            noise_variance,
            mean: instance.surrogate.mean,
            facts,
        }
    }

    fn parties(
        &self,
        stage: &ReplicationSetup,
        (service, users): (PartyId, PartyId),
        (instance, continuum, key, crowd): (&Instance, Option<Continuum>, Key, &Crowd),
        (levels, personal, publishing): (Vec<LevelOfUsers>, Option<PersonalEpsilons>, Option<Publishing>),
        (recipe, learners): (&LearnerModel, Vec<OneLearner>),
    ) -> Vec<Box<dyn Party<LocalProtocol>>> {
        let party = |name: &str| key.child("party").child(name);
        let users_key = party(&self.users);
        let arrivals = self.arrivals.as_dyn();
        // The arm of a user depends on the reports of earlier users, and published means of rewards depend on the arms. So
        // reports count as read by everybody who sees published means, unless the learner ignores outcomes.
        let mut reading = stage.read_between(users, &[service], &[]);
        let depend = publishing.iter().filter(|_| !recipe.as_dyn().ignores_outcomes());
        let of_means = depend.flat_map(|publishing| publishing.observers.iter());
        for observer in of_means.filter(|observer| observer.0 != self.service) {
            if !reading.contains(observer) {
                reading.push(observer.clone());
            }
        }
        let service_party = Service::new(
            users,
            arrivals.patience(),
            self.give_up_after(),
            recipe.clone(),
            learners,
            crowd.membership.clone(),
        );
        let users_party = Users::new(
            UserSettings {
                name: self.users.clone(),
                service,
                observer: Observer(self.service.clone()),
                silence_relays: stage.relays_between(users, &[service], &[]).into(),
                conditions: self.conditions(stage, instance),
                rounds: self.rounds,
                arrivals: arrivals.process(),
                give_up_after: self.give_up_after(),
                cohorts: crowd.cohorts.clone(),
                continuum,
                membership: crowd.membership.clone(),
                personal,
                levels,
                noise: key.child("objective noise"),
                behaviour: users_key.child("behaviour"),
                mechanisms: users_key.child("mechanisms"),
                publishing,
                intervals: users_key.child("intervals").stream(),
            },
            BudgetMeter::new(stage.budget).read_by(reading),
        );
        stage.all_parties([
            (service, Box::new(service_party) as Box<dyn Party<LocalProtocol>>),
            (users, Box::new(users_party)),
        ])
    }
}

/// A learner for the arms, or for the box whose points are the queries.
fn begin(
    learner: &LearnerModel,
    instance: &Instance,
    arms: &Arms,
    programs: &Programs,
) -> Result<Box<dyn Learner>, BuildError> {
    let Some(continuum) = instance.continuum() else { return learner.begin(arms, programs) };
    let model = BoxModel {
        domain: continuum.domain.clone(),
        covariance: instance.surrogate.covariance.clone(),
        noise_variance: arms.noise_variance,
        mean: arms.mean,
        facts: arms.facts,
    };
    learner.begin_on_box(&model, programs)
}

/// The warning of the command `check` about silence that depends on rewards; `place` is the path of the setting.
fn silence_warning(place: &str, silence: &NeverAnswer) -> Option<String> {
    if let NeverAnswer::WhenBelow { .. } = silence
        && silence.depends_on_reward()
    {
        return Some(format!(
            "{place}: users are silent because of their rewards, so the answers received are not a representative sample; whether there is \
             an answer reveals the reward to the service without a bound: the privacy loss is infinite"
        ));
    }
    silence.informative().and_then(|silence| silence.warning(place, "a user", "the service"))
}
