//! How a scenario of outsourced optimisation becomes parties and a record.

use super::bounds::Bounds;
use super::curator::Curator;
use super::messages::World;
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
use crate::protocols::stage::{Measurer, PlayError, Protocol, SeriesRecord, Stage};
use crate::rng::Key;
use crate::vocab::{Observer, PartyId, Problem, ProtectedUnit};

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

    fn at_random(&self) -> Vec<&str> {
        let chosen = self.series.iter().filter(|series| series.learner.as_dyn().ignores_outcomes());
        chosen.map(|series| series.name.as_str()).collect()
    }

    fn play(&self, stage: &Stage, key: Key) -> Result<Vec<SeriesRecord>, PlayError> {
        let instance = stage.instance.as_ref().filter(|_| !stage.directions.dry);
        let mut bounds = instance.map(|instance| Bounds::new(instance, self.rounds));
        let played = self.series.iter().map(|series| {
            let mut record = self.play_series(series, stage, key)?;
            if let Some(bounds) = &mut bounds {
                let failed = |error| PlayError::party(&series.name, error);
                let changes = stage.changes_at_fork(&series.name);
                bounds.add(series, &mut record, changes).map_err(failed)?;
            }
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
        let mut record = stage.search(&series.name, parties, key, instance, self.initial_points)?;
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
        let releases_model = instance.background.fitted && learner.as_dyn().needs_inputs();
        let mechanisms = party(&self.curator).child("mechanisms").stream();
        let measurer = Measurer::new(
            [&self.curator, &self.modeler],
            series.outcomes.clone(),
            instance,
            (key.child("objective noise"), mechanisms),
            Meter::new(stage.budget).read_by(stage.read_between(curator, &[modeler], &[])),
            instance.background.facts.outcome_conditions(series.release.shows_inputs()),
        );
        let measurer = measurer
            .of_series(&series.name, &stage.directions)
            .map_err(|error| PlayError::party(&series.name, error))?;
        let holder = Curator {
            name: self.curator.clone(),
            observer: Observer(self.modeler.clone()),
            modeler,
            release: series.release.clone(),
            columns: rows.d(),
            inputs: Sensitive::new(rows),
            facts: instance.background.facts.clone(),
            fitted: releases_model.then(|| Sensitive::new(instance.surrogate.clone())),
            measurer,
            projection: party(&self.curator).child("projection"),
            view: None,
        };
        let recipe = ModelerRecipe {
            rounds: self.rounds,
            initial_points: self.initial_points,
            retry: self.retry,
            learner: learner.clone(),
            surrogate: (!instance.background.fitted).then(|| instance.surrogate.clone()),
            outcome_variance,
            programs: stage.directions.programs.of_series(&series.name),
        };
        let searcher = Modeler::new(curator, recipe, key.child("initial points"), party(&self.modeler));
        Ok(stage.all_parties([
            (curator, Box::new(holder) as Box<dyn Party<World>>),
            (modeler, Box::new(searcher)),
        ]))
    }
}
