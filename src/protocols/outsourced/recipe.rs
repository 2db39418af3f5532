//! What a scenario says about outsourced optimisation, and how it becomes parties.

use super::bounds::Bounds;
use super::curator::Curator;
use super::messages::{Fact, World};
use super::modeler::Modeler;
use crate::gp::ArmCovariance;
use crate::kernel::{Event, Party};
use crate::learners::{Arms, Facts, Learner, LearnerModel, Random};
use crate::objectives::{Facts as PublicFacts, Instance, Surrogate};
use crate::privacy::Sensitive;
use crate::privacy::ledger::Meter;
use crate::privacy::mechanisms::{InputRelease, OutcomeRelease, Rows};
use crate::protocols::stage::bystander::Bystander;
use crate::protocols::stage::chronicle::Chronicle;
use crate::protocols::stage::{Iteration, PlayError, Protocol, Retry, SeriesRecord, Stage};
use crate::rng::Key;
use crate::vocab::{Observer, Origin, PartyId, Problem, ProtectedUnit, PublicFact, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A curator outsources its search to a modeler who never sees the inputs themselves.
///
/// Every series is played on the same function, noise, initial points and network draws.
/// Source: Kharkovskii, Dai and Low 2020, "Private outsourced Bayesian optimization", Algorithms 1 and 2.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Outsourced {
    /// Name of the party that holds the inputs and measures outcomes.
    pub curator: String,
    /// Name of the party that searches.
    pub modeler: String,
    /// Rounds of the learner, T.
    pub rounds: u64,
    /// Random rows that are measured before the first round. Default: 1.
    #[serde(default = "one")]
    pub initial_points: u64,
    /// When the modeler asks again. Default: after 1 s, 100 times in all.
    #[serde(default)]
    pub retry: Retry,
    /// What is compared.
    pub series: Vec<SeriesRecipe>,
}

fn one() -> u64 {
    1
}

/// One way to do it: what is released, and who learns from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "Series")]
pub struct SeriesRecipe {
    /// Name in tables and figures.
    pub name: String,
    /// What the curator releases of its inputs.
    pub release: InputRelease,
    /// How outcomes are answered. Default: `Disclosure()`, as they are.
    #[serde(default)]
    pub outcomes: OutcomeRelease,
    /// How the modeler chooses the next row.
    pub learner: LearnerModel,
}

/// What the modeler knows before it sees anything.
#[derive(Clone, Debug)]
pub(super) struct ModelerRecipe {
    pub(super) rounds: u64,
    pub(super) initial_points: u64,
    pub(super) retry: Retry,
    pub(super) learner: LearnerModel,
    /// The model, where it is public; else it is handed over with the inputs.
    pub(super) surrogate: Option<Surrogate>,
    /// Variance of the noise on private outcomes; public.
    pub(super) outcome_variance: f64,
}

impl ModelerRecipe {
    /// The learner for `n` rows, of which `rows` is what was released, with a model that may have been handed over.
    pub(super) fn learner(
        &self,
        n: usize,
        rows: Option<&Rows>,
        model: Option<&Surrogate>,
    ) -> Result<Box<dyn Learner>, String> {
        let model = model.or(self.surrogate.as_ref());
        if model.is_none() && self.learner.as_dyn().needs_inputs() {
            return Err("the learner needs a model, and none was handed over".to_owned());
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
        self.learner.as_dyn().build(&arms).map_err(|error| error.to_string())
    }
}

impl Protocol for Outsourced {
    fn problems(&self, stage: &Stage) -> Vec<Problem> {
        let mut problems = Vec::new();
        problems.extend(stage.party("curator", &self.curator).err());
        problems.extend(stage.party("modeler", &self.modeler).err());
        if self.curator == self.modeler {
            let cure = "name a second party under `parties` and give it one of the two parts";
            problems.push(Problem::wrong("modeler", "another party than the curator", &self.modeler, cure));
        }
        problems.extend(self.retry.problems().into_iter().map(|problem| problem.below("retry")));
        if self.series.is_empty() {
            let cure = "add Series(name: .., release: .., learner: ..)";
            problems.push(Problem::wrong("series", "at least one series", "none", cure));
        }
        if self.rounds == 0 {
            problems.push(Problem::wrong("rounds", "at least one round", "0", "the papers use 50"));
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
            if !series.release.shows_inputs() && series.learner.as_dyn().needs_inputs() {
                problems.push(Problem::wrong(
                    format!("series[{index}].learner"),
                    "a learner that needs no inputs, since they are withheld",
                    "a learner with a model of the inputs",
                    "use Random(), or release something",
                ));
            }
            let release = series.release.as_dyn().problems();
            problems.extend(release.into_iter().map(|p| p.below(&format!("series[{index}].release"))));
            let outcomes = series.outcomes.as_dyn().problems();
            problems.extend(outcomes.into_iter().map(|p| p.below(&format!("series[{index}].outcomes"))));
            let learner = series.learner.as_dyn().problems();
            problems.extend(learner.into_iter().map(|p| p.below(&format!("series[{index}].learner"))));
        }
        problems
    }

    fn needs_objective(&self) -> bool {
        true
    }

    fn units(&self) -> Vec<ProtectedUnit> {
        vec![ProtectedUnit::Record, ProtectedUnit::Outcome]
    }

    fn changeable(&self) -> &'static [&'static str] {
        &["retry.**", "series.*.learner.**"]
    }

    fn series(&self) -> Vec<String> {
        self.series.iter().map(|series| series.name.clone()).collect()
    }

    fn play(&self, stage: &Stage, key: Key) -> Result<Vec<SeriesRecord>, PlayError> {
        let instance = stage.instance.as_ref().filter(|_| !stage.directions.dry);
        let mut bounds = instance.map(|instance| Bounds::new(instance, self.rounds));
        let played = self.series.iter().map(|series| {
            let mut record = self.play_series(series, stage, key)?;
            record.bounds = bounds.as_mut().map(|bounds| bounds.of(series)).unwrap_or_default();
            Ok(record)
        });
        played.collect()
    }
}

impl Outsourced {
    fn play_series(&self, series: &SeriesRecipe, stage: &Stage, key: Key) -> Result<SeriesRecord, PlayError> {
        let bad = |problem: Problem| PlayError::scenario(&series.name, &problem);
        let curator = stage.party("curator", &self.curator).map_err(bad)?;
        let modeler = stage.party("modeler", &self.modeler).map_err(bad)?;
        let Some(instance) = &stage.instance else {
            let reason = "the scenario has no objective".to_owned();
            return Err(PlayError::Party { series: series.name.clone(), reason });
        };
        let parties = self.parties(series, stage, (curator, modeler), instance, key)?;
        let mut tally = Tally::new(instance, self.initial_points);
        let mut chronicle = Chronicle::default();
        let mut record = stage.run(&series.name, parties, key, &mut |at, event| {
            if let Event::Recorded { fact, .. } = event {
                match fact {
                    Fact::Released(event) => chronicle.released(event),
                    Fact::Measured { round, row, outcome } => tally.measured(*round, *row, *outcome, at),
                    Fact::BudgetReached(reached) => chronicle.budget_reached(reached),
                    Fact::Jittered(needed) => chronicle.jittered(*needed),
                    Fact::Ended { reason } => chronicle.ended(reason),
                }
            }
        })?;
        record.iterations = tally.iterations;
        record.public.extend(taken_as_public(series, instance, &self.curator, &self.modeler));
        chronicle.into_record(&mut record);
        Ok(record)
    }

    fn parties(
        &self,
        series: &SeriesRecipe,
        stage: &Stage,
        (curator, modeler): (PartyId, PartyId),
        instance: &Instance,
        key: Key,
    ) -> Result<Vec<Box<dyn Party<World>>>, PlayError> {
        let rows = Rows::of(&instance.inputs)
            .map_err(|error| PlayError::Party { series: series.name.clone(), reason: error.to_string() })?;
        let party = |name: &str| key.child("party").child(name);
        let outcome_variance = series
            .outcomes
            .as_dyn()
            .variance()
            .map_err(|error| PlayError::Party { series: series.name.clone(), reason: error.to_string() })?;
        let learner =
            if stage.directions.dry { LearnerModel::Random(Random {}) } else { series.learner.clone() };
        let handed_over = instance.background.fitted && learner.as_dyn().needs_inputs();
        let mut rows = Some(rows);
        let parties = (0..stage.names.len()).map(|index| -> Box<dyn Party<World>> {
            if index == curator.index()
                && let Some(rows) = rows.take()
            {
                Box::new(Curator {
                    name: self.curator.clone(),
                    observer: Observer(self.modeler.clone()),
                    modeler,
                    release: series.release.clone(),
                    outcomes: series.outcomes.clone(),
                    n: rows.n(),
                    columns: rows.d(),
                    inputs: Sensitive::new(rows),
                    facts: instance.background.facts.clone(),
                    fitted: handed_over.then(|| Sensitive::new(instance.surrogate.clone())),
                    values: Arc::clone(&instance.values),
                    law: instance.noise.clone(),
                    noise: key.child("objective noise"),
                    stream: party(&self.curator).child("mechanisms").stream(),
                    projection: party(&self.curator).child("projection"),
                    meter: Meter::new(stage.budget).read_by(stage.read_between(curator, &[modeler], &[])),
                    view: None,
                    answered: BTreeMap::new(),
                    known: BTreeMap::new(),
                })
            } else if index == modeler.index() {
                let recipe = ModelerRecipe {
                    rounds: self.rounds,
                    initial_points: self.initial_points,
                    retry: self.retry,
                    learner: learner.clone(),
                    surrogate: (!instance.background.fitted).then(|| instance.surrogate.clone()),
                    outcome_variance,
                };
                let stream = party(&self.modeler).child("learner").stream();
                Box::new(Modeler::new(curator, recipe, key.child("initial points"), stream))
            } else {
                Box::new(Bystander)
            }
        });
        Ok(parties.collect())
    }
}

/// What the modeler of a series knows without a release.
fn taken_as_public(
    series: &SeriesRecipe,
    instance: &Instance,
    curator: &str,
    modeler: &str,
) -> Vec<PublicFact> {
    let PublicFacts { shape, inputs, length_scales, outcomes, model } = &instance.background.facts;
    let shown = series.release.shows_inputs();
    let modelled = series.learner.as_dyn().needs_inputs();
    // What was fitted is a release to a learner that has a model; and no other learner is told.
    let model = if modelled && !instance.background.fitted { &model[..] } else { &[] };
    let (inputs, length_scales) = if shown { (&inputs[..], &length_scales[..]) } else { (&[][..], &[][..]) };
    let protocol = [
        "which row is asked for in which round: chosen by the modeler from what it was told",
        "when messages arrive: times and losses are drawn without a look at the data",
    ];
    let protocol = protocol.map(|what| PublicFact::new(what, Origin::Protocol));
    let facts = shape.iter().chain(inputs).chain(length_scales).chain(outcomes).chain(model);
    let facts = facts.map(|fact| fact.clone().about(curator).known_to(modeler));
    facts.chain(protocol).collect()
}

/// Turns measurements into regrets.
struct Tally<'a> {
    instance: &'a Instance,
    best: f64,
    initial_points: u64,
    simple: f64,
    cumulative: f64,
    iterations: Vec<Iteration>,
}

impl<'a> Tally<'a> {
    fn new(instance: &'a Instance, initial_points: u64) -> Self {
        let best = instance.best();
        Self {
            instance,
            best,
            initial_points,
            simple: f64::INFINITY,
            cumulative: 0.0,
            iterations: Vec::new(),
        }
    }

    fn measured(&mut self, round: u64, row: u64, outcome: f64, at: Time) {
        let value = self.instance.values[row as usize];
        let regret = self.best - value;
        self.simple = self.simple.min(regret);
        let t = if round < self.initial_points { 0 } else { round - self.initial_points + 1 };
        if t > 0 {
            self.cumulative += regret;
        }
        self.iterations.push(Iteration {
            t,
            arm: row,
            outcome,
            value,
            simple_regret: self.simple,
            cumulative_regret: self.cumulative,
            seconds: at.seconds(),
        });
    }
}
