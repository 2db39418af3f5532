//! How a scenario of local differential privacy becomes parties and a record.

use super::bounds::Bounds;
use super::messages::LocalProtocol;
use super::never_answer::NeverAnswer;
use super::public::taken_as_public;
use super::recipe::{Local, SeriesRecipe};
use super::service::Service;
use super::tally::Tally;
use super::users::{Population, UserSettings, Users};
use crate::gp::ArmCovariance;
use crate::kernel::Party;
use crate::learners::{Arms, Facts, Learner, LearnerModel, Random};
use crate::objectives::{Extent, Instance, Objective};
use crate::privacy::ledger::BudgetMeter;
use crate::privacy::mechanisms::reports::{ReportError, RewardFacts, RewardMechanism};
use crate::protocols::stage::series::{learners_limits, names};
use crate::protocols::stage::{
    ITERATION, Protocol, RegretBound, Releases, ReplicationError, ReplicationSetup, SeriesRecord,
};
use crate::rng::Key;
use crate::vocab::effort::MESSAGE;
use crate::vocab::{Effort, Observer, PartyId, Problem, ProtectedUnit};
use std::num::NonZeroU64;
use std::sync::Arc;

/// Bytes that a replication holds per user while it is played.
const USER: f64 = 100.0;

impl Protocol for Local {
    fn problems(&self, stage: &ReplicationSetup) -> Vec<Problem> {
        self.check(stage)
    }

    fn problems_with(&self, objective: &dyn Objective) -> Vec<Problem> {
        self.check_noise(objective)
    }

    fn problems_of_size(&self, _: &ReplicationSetup, problem: &Extent) -> Vec<Problem> {
        learners_limits(self.series.iter().map(|series| &series.learner), problem)
    }

    fn needs_objective(&self) -> bool {
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
        self.never_answer.depends_on_reward()
    }

    fn dry_needs_objective(&self) -> bool {
        false
    }

    fn series(&self) -> Vec<String> {
        names(&self.series)
    }

    fn warnings(&self) -> Vec<String> {
        if let NeverAnswer::WhenBelow { .. } = self.never_answer
            && self.never_answer.depends_on_reward()
        {
            let what = "never_answer: users are silent because of their rewards, so the answers heard are not a fair sample; \
                        whether there is an answer tells the service something without bound: the privacy loss is infinite";
            return vec![what.to_owned()];
        }
        let silence = self.never_answer.informative();
        silence
            .and_then(|silence| silence.warning("never_answer", "a user", "the service"))
            .into_iter()
            .collect()
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
            // What is remembered of a user: its evaluation, and the release about the person.
            let held = USER * users + USER * people;
            let asked = Effort::due_to("rounds", self.rounds, held, 4.0 * MESSAGE * users);
            learner.and(asked).with_record_size(ITERATION * users.min(1_000.0) + USER * people)
        };
        let series = self.series.iter().enumerate().map(of_series);
        series.reduce(Effort::then).unwrap_or_default()
    }

    fn at_random(&self) -> Vec<&str> {
        let chosen = self.series.iter().filter(|series| series.learner.as_dyn().ignores_outcomes());
        chosen.map(|series| series.name.as_str()).collect()
    }

    fn play(&self, stage: &ReplicationSetup, key: Key) -> Result<Vec<SeriesRecord>, ReplicationError> {
        let instance = stage.instance.as_ref().filter(|_| !stage.directions.dry);
        let mut bounds = instance.map(|instance| Bounds::new(instance, self.rounds));
        self.series.iter().map(|series| self.play_series(series, stage, key, bounds.as_mut())).collect()
    }
}

impl Local {
    /// Number of users in a row without any answer after which the series ends.
    fn give_up_after(&self) -> u64 {
        self.give_up_after.map_or(self.rounds.saturating_mul(10).max(10_000), NonZeroU64::get)
    }

    /// The mechanism that users of a series apply to their rewards; `None` if they send them without protection.
    ///
    /// # Errors
    /// If nothing bounds the rewards, or there is no finite noise.
    pub fn reporting(
        &self,
        series: &SeriesRecipe,
        instance: &Instance,
    ) -> Result<Option<Arc<dyn RewardMechanism>>, ReportError> {
        let mean = instance.surrogate.mean;
        let largest =
            |of: &dyn Fn(f64) -> f64| instance.values.iter().fold(0.0f64, |most, v| most.max(of(*v)));
        series.report.as_dyn().mechanism(&RewardFacts {
            mean,
            deviation: largest(&|value| (value - mean).abs()),
            reach: largest(&f64::abs),
            noise_bound: instance.noise.bound(),
            noise_tail: &|delta| instance.noise.tail(delta),
        })
    }

    /// The person whose visit is number `user`, out of `size`; `key` is the replication's node.
    #[must_use]
    pub fn person(&self, key: Key, user: u64, size: u64) -> u64 {
        self.visitors(size, &key.child("party").child(&self.users)).person(user)
    }

    /// The people who visit; `users` is the node of the party that represents all users.
    fn visitors(&self, size: u64, users: &Key) -> Population {
        Population { size, popularity: self.popularity.clone(), who: users.child("who") }
    }

    fn play_series(
        &self,
        series: &SeriesRecipe,
        stage: &ReplicationSetup,
        key: Key,
        bounds: Option<&mut Bounds<'_>>,
    ) -> Result<SeriesRecord, ReplicationError> {
        let bad = |problem: Problem| ReplicationError::scenario(&series.name, &problem);
        let service = stage.party("service", &self.service).map_err(bad)?;
        let users = stage.party("users", &self.users).map_err(bad)?;
        let instance = stage.objective(&series.name)?;
        let (mechanism, arms) = self
            .mechanism_and_arms(series, instance, stage.directions.dry)
            .map_err(|error| ReplicationError::party(&series.name, error))?;
        let random = LearnerModel::from(Random {});
        let learner = if stage.directions.dry { &random } else { &series.learner };
        let programs = stage.directions.programs.of_series(&series.name);
        let learner = learner.begin(&arms, &programs);
        let learner = learner.map_err(|error| ReplicationError::party(&series.name, error))?;
        let clips = mechanism.is_some();
        let parties =
            self.parties(stage, (service, users), instance, key, mechanism, (&series.learner, learner));
        let mut tally = Tally::new(instance, self.rounds);
        let mut record = stage.play(&series.name, parties, key, Releases::by_unit(), &mut |at, fact| {
            tally.see(fact, at);
        })?;
        tally.into_record(&mut record, clips, &self.never_answer);
        record.public.extend(taken_as_public(self, stage, instance));
        if let Some(bounds) = bounds {
            record.bounds = bounds.of(&series.learner, &arms, series.report.as_dyn().epsilon());
            if stage.changes_at_fork(&series.name) {
                record.bounds = record.bounds.into_iter().map(RegretBound::withheld).collect();
            }
        }
        Ok(record)
    }

    /// The users' mechanism, and what a learner knows of it and of the problem.
    fn mechanism_and_arms(
        &self,
        series: &SeriesRecipe,
        instance: &Instance,
        dry: bool,
    ) -> Result<(Option<Arc<dyn RewardMechanism>>, Arms), ReportError> {
        let mean = instance.surrogate.mean;
        let bound = instance.values.iter().fold(0.0f64, |most, value| most.max((value - mean).abs()));
        let mut facts = Facts {
            horizon: Some(self.rounds),
            bound: Some(bound),
            noise_bound: instance.noise.bound(),
            laplace_scale: None,
        };
        let mut noise_variance = instance.surrogate.noise_variance;
        let mechanism = if dry { None } else { self.reporting(series, instance)? };
        if let Some(mechanism) = &mechanism {
            // The learner assumes that no reward lies beyond the bound of the mechanism, which clips rewards or is scaled to it.
            facts.noise_bound = facts.noise_bound.or(Some((mechanism.bound() - bound).max(0.0)));
            facts.laplace_scale = mechanism.laplace_scale();
            noise_variance += mechanism.variance();
        }
        let arms = Arms {
            n: instance.inputs.n(),
            covariance: Some(ArmCovariance::of_inputs(
                Arc::clone(&instance.inputs),
                instance.surrogate.covariance.clone(),
            )),
            noise_variance,
            mean,
            facts,
        };
        Ok((mechanism, arms))
    }

    fn parties(
        &self,
        stage: &ReplicationSetup,
        (service, users): (PartyId, PartyId),
        instance: &Instance,
        key: Key,
        mechanism: Option<Arc<dyn RewardMechanism>>,
        (recipe, learner): (&LearnerModel, Box<dyn Learner>),
    ) -> Vec<Box<dyn Party<LocalProtocol>>> {
        let party = |name: &str| key.child("party").child(name);
        let users_key = party(&self.users);
        let stream = party(&self.service).child("learner").stream();
        let arrivals = self.arrivals.as_dyn();
        let service_party =
            Service::new(users, arrivals.patience(), self.give_up_after(), recipe.clone(), learner, stream);
        let users_party = Users::new(
            UserSettings {
                name: self.users.clone(),
                service,
                observer: Observer(self.service.clone()),
                passers: stage.relays_between(users, &[service], &[]).into(),
                conditions: self.conditions(stage, instance),
                rounds: self.rounds,
                arrivals: arrivals.process(),
                give_up_after: self.give_up_after(),
                answer_after: self.answer_after.clone(),
                never_answer: self.never_answer,
                mechanism,
                population: self.population.map(|size| self.visitors(size.get(), &users_key)),
                values: Arc::clone(&instance.values),
                best: instance.best(),
                law: instance.noise.clone(),
                noise: key.child("objective noise"),
                behaviour: users_key.child("behaviour"),
                mechanisms: users_key.child("mechanisms"),
                intervals: users_key.child("intervals").stream(),
            },
            BudgetMeter::new(stage.budget).read_by(stage.read_between(users, &[service], &[])),
        );
        stage.all_parties([
            (service, Box::new(service_party) as Box<dyn Party<LocalProtocol>>),
            (users, Box::new(users_party)),
        ])
    }
}
