//! How a scenario of outsourced optimisation becomes parties and a record.

use super::bounds::Bounds;
use super::curator::Curator;
use super::messages::{Fact, World};
use super::modeler::{Modeler, ModelerRecipe};
use super::public::taken_as_public;
use super::recipe::{Outsourced, SeriesRecipe};
use crate::kernel::{Event, Party};
use crate::learners::{LearnerModel, Random};
use crate::objectives::Instance;
use crate::privacy::Sensitive;
use crate::privacy::ledger::Meter;
use crate::privacy::mechanisms::Rows;
use crate::protocols::stage::bystander::Bystander;
use crate::protocols::stage::chronicle::Chronicle;
use crate::protocols::stage::{Iteration, PlayError, Protocol, SeriesRecord, Stage};
use crate::rng::Key;
use crate::vocab::{Observer, PartyId, Problem, ProtectedUnit, Time};
use std::collections::BTreeMap;
use std::sync::Arc;

impl Protocol for Outsourced {
    fn problems(&self, stage: &Stage) -> Vec<Problem> {
        self.check(stage)
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
        let inputs = &instance.inputs;
        let rows = Rows::new(inputs.n(), inputs.d(), inputs.row_major().to_vec())
            .map_err(|error| PlayError::Party { series: series.name.clone(), reason: error.to_string() })?;
        let party = |name: &str| key.child("party").child(name);
        let outcome_variance = series
            .outcomes
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
