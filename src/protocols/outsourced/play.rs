//! How a scenario of outsourced optimisation becomes parties and a record.

use super::bounds::Bounds;
use super::curator::Curator;
use super::messages::{OwnFact, World};
use super::modeler::{Modeler, ModelerRecipe};
use super::public::taken_as_public;
use super::recipe::{Outsourced, SeriesRecipe};
use crate::kernel::Party;
use crate::learners::{LearnerModel, Random};
use crate::objectives::Instance;
use crate::privacy::Sensitive;
use crate::privacy::ledger::Meter;
use crate::privacy::mechanisms::Rows;
use crate::protocols::stage::series::names;
use crate::protocols::stage::{Evaluations, PlayError, Protocol, Releases, SeriesRecord, Stage};
use crate::rng::Key;
use crate::vocab::{Observer, PartyId, Problem, ProtectedUnit};
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
        names(&self.series)
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
        let instance = stage.objective(&series.name)?;
        let parties = self.parties(series, stage, (curator, modeler), instance, key)?;
        let mut evaluations = Evaluations::new(instance);
        let mut record = stage.play(&series.name, parties, key, Releases::in_order(), &mut |at, fact| {
            let OwnFact::Measured { round, row, outcome } = fact;
            evaluations.add((round + 1).saturating_sub(self.initial_points), *row, *outcome, at);
        })?;
        record.iterations = evaluations.into_iterations();
        record.public.extend(taken_as_public(series, instance, &self.curator, &self.modeler));
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
        let rows = Rows::of(&instance.inputs).map_err(|error| PlayError::party(&series.name, error))?;
        let party = |name: &str| key.child("party").child(name);
        let outcome_variance =
            series.outcomes.as_dyn().variance().map_err(|error| PlayError::party(&series.name, error))?;
        let learner =
            if stage.directions.dry { LearnerModel::from(Random {}) } else { series.learner.clone() };
        let handed_over = instance.background.fitted && learner.as_dyn().needs_inputs();
        let holder = Curator {
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
        };
        let recipe = ModelerRecipe {
            rounds: self.rounds,
            initial_points: self.initial_points,
            retry: self.retry,
            learner: learner.clone(),
            surrogate: (!instance.background.fitted).then(|| instance.surrogate.clone()),
            outcome_variance,
        };
        let stream = party(&self.modeler).child("learner").stream();
        let searcher = Modeler::new(curator, recipe, key.child("initial points"), stream);
        Ok(stage.all_parties([
            (curator, Box::new(holder) as Box<dyn Party<World>>),
            (modeler, Box::new(searcher)),
        ]))
    }
}
