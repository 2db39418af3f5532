//! How a scenario of local differential privacy becomes parties and a record.

use super::bounds::Bounds;
use super::messages::World;
use super::public::{of_the_problem, taken_as_public};
use super::recipe::{Local, NoBound, Report, SeriesRecipe};
use super::service::Service;
use super::tally::Tally;
use super::users::{Curator, Population, UserSettings, Users};
use crate::gp::ArmCovariance;
use crate::kernel::Party;
use crate::learners::{Arms, Facts, Learner, LearnerModel, Random};
use crate::objectives::Instance;
use crate::privacy::ledger::Meter;
use crate::privacy::mechanisms::Ctl;
use crate::protocols::stage::series::names;
use crate::protocols::stage::{PlayError, Protocol, Releases, SeriesRecord, Stage};
use crate::rng::Key;
use crate::vocab::{Observer, PartyId, Problem, ProtectedUnit, PublicFact};
use std::num::NonZeroU64;
use std::sync::Arc;

impl Protocol for Local {
    fn problems(&self, stage: &Stage) -> Vec<Problem> {
        self.check(stage)
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

    /// That a user answers, where its silence depends on its reward.
    fn tells_on_the_way(&self) -> bool {
        self.never_answer.tells()
    }

    fn dry_needs_objective(&self) -> bool {
        false
    }

    fn series(&self) -> Vec<String> {
        names(&self.series)
    }

    fn play(&self, stage: &Stage, key: Key) -> Result<Vec<SeriesRecord>, PlayError> {
        let instance = stage.instance.as_ref().filter(|_| !stage.directions.dry);
        let mut bounds = instance.map(|instance| Bounds::new(instance, self.rounds));
        self.series.iter().map(|series| self.play_series(series, stage, key, bounds.as_mut())).collect()
    }
}

impl Local {
    /// Users in a row of whom nothing is heard before the series ends.
    fn give_up_after(&self) -> u64 {
        self.give_up_after.map_or(self.rounds.saturating_mul(10).max(10_000), NonZeroU64::get)
    }

    /// What users of a series do to their rewards; nothing where they send them as they are.
    ///
    /// # Errors
    /// [`NoBound`], if no bound on the rewards is known or noise cannot be scaled to it.
    pub fn ctl(&self, series: &SeriesRecipe, instance: &Instance) -> Result<Option<Ctl>, NoBound> {
        match self.curator_and_arms(series, instance, false)?.0 {
            Curator::Ctl(ctl) => Ok(Some(ctl)),
            Curator::Open => Ok(None),
        }
    }

    /// The person whose visit is number `user`, out of `size`; `key` is the replication's node.
    #[must_use]
    pub fn person(&self, key: Key, user: u64, size: u64) -> u64 {
        Population { size, who: key.child("party").child(&self.users).child("who") }.person(user)
    }

    fn play_series(
        &self,
        series: &SeriesRecipe,
        stage: &Stage,
        key: Key,
        bounds: Option<&mut Bounds<'_>>,
    ) -> Result<SeriesRecord, PlayError> {
        let bad = |problem: Problem| PlayError::scenario(&series.name, &problem);
        let service = stage.party("service", &self.service).map_err(bad)?;
        let users = stage.party("users", &self.users).map_err(bad)?;
        let instance = stage.objective(&series.name)?;
        let (curator, arms) = self
            .curator_and_arms(series, instance, stage.directions.dry)
            .map_err(|error| PlayError::party(&series.name, error))?;
        let random = LearnerModel::Random(Random {});
        let learner = if stage.directions.dry { &random } else { &series.learner };
        let learner = learner.as_dyn().build(&arms).map_err(|error| PlayError::party(&series.name, error))?;
        let parties =
            self.parties(stage, (service, users), instance, key, curator, (&series.learner, learner));
        let mut tally = Tally::new(instance, self.rounds);
        let mut record = stage.play(&series.name, parties, key, Releases::by_unit(), &mut |at, fact| {
            tally.see(fact, at);
        })?;
        tally.into_record(&mut record, matches!(curator, Curator::Ctl(_)));
        record.public.extend(taken_as_public(self, stage, instance));
        if let Some(bounds) = bounds {
            let epsilon = match &series.report {
                Report::Ctl(report) => Some(report.epsilon.get()),
                Report::Disclosure(_) => None,
            };
            record.bounds = bounds.of(&series.learner, &arms, epsilon);
        }
        Ok(record)
    }

    /// What the users do to their rewards, and what a learner knows of it.
    fn curator_and_arms(
        &self,
        series: &SeriesRecipe,
        instance: &Instance,
        dry: bool,
    ) -> Result<(Curator, Arms), NoBound> {
        let mean = instance.surrogate.mean;
        let bound = instance.values.iter().fold(0.0f64, |most, value| most.max((value - mean).abs()));
        let mut facts = Facts {
            horizon: Some(self.rounds),
            bound: Some(bound),
            noise_bound: instance.noise.bound(),
            laplace_scale: None,
        };
        let mut noise_variance = instance.surrogate.noise_variance;
        let curator = match &series.report {
            Report::Disclosure(_) => Curator::Open,
            Report::Ctl(_) if dry => Curator::Open,
            Report::Ctl(report) => {
                let ctl = report.curator(instance)?;
                // What lies beyond is clipped, or left out of account.
                facts.noise_bound = facts.noise_bound.or(Some((ctl.bound() - bound).max(0.0)));
                facts.laplace_scale = Some(ctl.scale());
                noise_variance += 2.0 * ctl.scale() * ctl.scale();
                Curator::Ctl(ctl)
            }
        };
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
        Ok((curator, arms))
    }

    fn parties(
        &self,
        stage: &Stage,
        (service, users): (PartyId, PartyId),
        instance: &Instance,
        key: Key,
        curator: Curator,
        (recipe, learner): (&LearnerModel, Box<dyn Learner>),
    ) -> Vec<Box<dyn Party<World>>> {
        let party = |name: &str| key.child("party").child(name);
        let users_key = party(&self.users);
        let known = of_the_problem(self, stage, instance);
        let stream = party(&self.service).child("learner").stream();
        let service_party =
            Service::new(users, self.arrivals, self.give_up_after(), recipe.clone(), learner, stream);
        let users_party = Users::new(
            UserSettings {
                name: self.users.clone(),
                service,
                observer: Observer(self.service.clone()),
                passers: stage.passed_on_by(users, &[service], &[]).into(),
                conditions: known.iter().filter_map(PublicFact::condition).collect(),
                rounds: self.rounds,
                arrivals: self.arrivals,
                give_up_after: self.give_up_after(),
                answer_after: self.answer_after.clone(),
                never_answer: self.never_answer,
                curator,
                population: self
                    .population
                    .map(|size| Population { size: size.get(), who: users_key.child("who") }),
                values: Arc::clone(&instance.values),
                law: instance.noise.clone(),
                noise: key.child("objective noise"),
                behaviour: users_key.child("behaviour"),
                mechanisms: users_key.child("mechanisms"),
                intervals: users_key.child("intervals").stream(),
            },
            Meter::new(stage.budget).read_by(stage.read_between(users, &[service], &[])),
        );
        stage.all_parties([
            (service, Box::new(service_party) as Box<dyn Party<World>>),
            (users, Box::new(users_party)),
        ])
    }
}
