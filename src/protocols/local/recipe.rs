//! What a scenario says about local differential privacy, and how it becomes parties.

use super::arrivals::{Arrivals, NeverAnswer};
use super::bounds::Bounds;
use super::messages::World;
use super::service::Service;
use super::tally::Tally;
use super::users::{Habits, Population, Users};
use crate::gp::ArmCovariance;
use crate::kernel::{Event, Party};
use crate::learners::{Arms, Facts, Learner, LearnerModel, Random};
use crate::network::latency::LatencyModel;
use crate::objectives::Instance;
use crate::privacy::ledger::Meter;
use crate::privacy::mechanisms::Report;
use crate::privacy::mechanisms::reports::{ReportError, RewardFacts, RewardMechanism};
use crate::protocols::stage::bystander::Bystander;
use crate::protocols::stage::{PlayError, Protocol, SeriesRecord, Stage};
use crate::rng::Key;
use crate::vocab::{Observer, PartyId, Problem, ProtectedUnit, PublicFact, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;
use std::sync::Arc;

/// A service learns the best arm from users who never show it their reward.
///
/// Every series is played on the same function and the same users: user k has the same noise, the same privacy noise,
/// and answers as late or never, whatever it is given. A round is one user who plays; regret counts every user who
/// plays, whether or not a report follows. Of more than 1,000 rounds, every so many are recorded.
/// Source: Zhou and Tan 2021, "Local differential privacy for Bayesian optimization".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Local {
    /// Name of the party that recommends and learns.
    pub service: String,
    /// Name of the party that stands for all users; its links and availability are those of each of them.
    pub users: String,
    /// Users who play, T.
    pub rounds: u64,
    /// When users come. Default: `OneByOne(patience: "5s")`.
    #[serde(default)]
    pub arrivals: Arrivals,
    /// How long a user takes before it reports. Default: no time.
    #[serde(default)]
    pub answer_after: LatencyModel,
    /// Who plays and never reports. Default: `Independent(0)`, nobody.
    #[serde(default)]
    pub never_answer: NeverAnswer,
    /// How many people there are, each visit being one of a person drawn at random; privacy is then priced per person.
    /// Default: nobody comes twice, and privacy is priced per reward.
    #[serde(default)]
    pub population: Option<NonZeroU64>,
    /// Users in a row of whom nothing is heard before the series ends early. Users who come one by one are not heard of if
    /// no report comes (they may have played and kept silent); users who come on their own, if they get no arm.
    /// Default: ten times `rounds`, and at least 10,000.
    #[serde(default)]
    pub give_up_after: Option<NonZeroU64>,
    /// What is compared.
    pub series: Vec<SeriesRecipe>,
}

/// One way to do it: what a user reports, and who learns from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "Series")]
pub struct SeriesRecipe {
    /// Name in tables and figures.
    pub name: String,
    /// What a user sends of its reward.
    pub report: Report,
    /// How the service chooses the next arm.
    pub learner: LearnerModel,
}

impl Protocol for Local {
    fn problems(&self, stage: &Stage) -> Vec<Problem> {
        let mut problems = Vec::new();
        problems.extend(stage.party("service", &self.service).err());
        problems.extend(stage.party("users", &self.users).err());
        if self.service == self.users {
            let cure = "name a second party under `parties` and give it one of the two parts";
            problems.push(Problem::wrong("users", "another party than the service", &self.users, cure));
        }
        if self.rounds == 0 {
            problems.push(Problem::wrong("rounds", "at least one user", "0", "the paper has 10000"));
        }
        let (field, span) = match self.arrivals {
            Arrivals::OneByOne { patience } => ("arrivals.OneByOne.patience", patience),
            Arrivals::Poisson { every } => ("arrivals.Poisson.every", every),
        };
        if span == Span::ZERO {
            let cure = "write at least as long as a message travels";
            problems.push(Problem::wrong(field, "a duration above 0", span.to_string(), cure));
        }
        let name = self.answer_after.name();
        let found = self.answer_after.as_dyn().problems();
        problems.extend(found.into_iter().map(|p| p.below(name).below("answer_after")));
        if self.series.is_empty() {
            let cure = "add Series(name: .., report: .., learner: ..)";
            problems.push(Problem::wrong("series", "at least one series", "none", cure));
        }
        for (index, series) in self.series.iter().enumerate() {
            if self.series[..index].iter().any(|earlier| earlier.name == series.name) {
                problems.push(Problem::wrong(
                    format!("series[{index}].name"),
                    "a name that no earlier series has",
                    &series.name,
                    "give each series a name of its own",
                ));
            }
            let (name, found) = (series.report.name(), series.report.as_dyn().problems());
            problems
                .extend(found.into_iter().map(|p| p.below(name).below(&format!("series[{index}].report"))));
            let learner = series.learner.as_dyn().problems();
            problems.extend(learner.into_iter().map(|p| p.below(&format!("series[{index}].learner"))));
        }
        problems
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
        self.series.iter().map(|series| series.name.clone()).collect()
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
        let failed = |reason: String| PlayError::Party { series: series.name.clone(), reason };
        let service = stage.party("service", &self.service).map_err(bad)?;
        let users = stage.party("users", &self.users).map_err(bad)?;
        let Some(instance) = &stage.instance else {
            return Err(failed("the scenario has no objective".to_owned()));
        };
        let minds = self.minds(series, instance, stage.directions.dry);
        let (mechanism, arms) = minds.map_err(|error| failed(error.to_string()))?;
        let random = LearnerModel::Random(Random {});
        let learner = if stage.directions.dry { &random } else { &series.learner };
        let learner = learner.as_dyn().build(&arms).map_err(|error| failed(error.to_string()))?;
        let clips = mechanism.is_some();
        let parties =
            self.parties(stage, (service, users), instance, key, mechanism, (&series.learner, learner));
        let mut tally = Tally::new(instance, self.rounds);
        let mut record = stage.run(&series.name, parties, key, &mut |at, event| {
            if let Event::Recorded { fact, .. } = event {
                tally.see(fact, at);
            }
        })?;
        tally.into_record(&mut record, clips);
        record.public.extend(super::public::taken_as_public(self, stage, instance));
        if let Some(bounds) = bounds {
            record.bounds = bounds.of(&series.learner, &arms, series.report.as_dyn().epsilon());
        }
        Ok(record)
    }

    /// What the users do to their rewards, and what a learner knows of it.
    fn minds(
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
            // What lies beyond is clipped, or left out of account.
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
        stage: &Stage,
        (service, users): (PartyId, PartyId),
        instance: &Instance,
        key: Key,
        mechanism: Option<Arc<dyn RewardMechanism>>,
        (recipe, learner): (&LearnerModel, Box<dyn Learner>),
    ) -> Vec<Box<dyn Party<World>>> {
        let party = |name: &str| key.child("party").child(name);
        let crowd = party(&self.users);
        let known = super::public::of_the_problem(self, stage, instance);
        let mut learner = Some(learner);
        let parties = (0..stage.names.len()).map(|index| -> Box<dyn Party<World>> {
            if index == service.index()
                && let Some(learner) = learner.take()
            {
                let stream = party(&self.service).child("learner").stream();
                Box::new(Service::new(
                    users,
                    self.arrivals,
                    self.give_up_after(),
                    recipe.clone(),
                    learner,
                    stream,
                ))
            } else if index == users.index() {
                Box::new(Users::new(
                    Habits {
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
                        mechanism: mechanism.clone(),
                        population: self
                            .population
                            .map(|size| Population { size: size.get(), who: crowd.child("who") }),
                        values: Arc::clone(&instance.values),
                        law: instance.noise.clone(),
                        noise: key.child("objective noise"),
                        behaviour: crowd.child("behaviour"),
                        mechanisms: crowd.child("mechanisms"),
                        intervals: crowd.child("intervals").stream(),
                    },
                    Meter::new(stage.budget).read_by(stage.read_between(users, &[service], &[])),
                ))
            } else {
                Box::new(Bystander)
            }
        });
        parties.collect()
    }
}
