//! Runs one replication of outsourced optimisation: builds the parties and the record of every series.

use super::bounds::Bounds;
use super::curator::Curator;
use super::messages::OutsourcedProtocol;
use super::modeler::{Modeler, ModelerRecipe};
use super::public::taken_as_public;
use super::recipe::{Outsourced, SeriesRecipe};
use crate::kernel::Party;
use crate::learners::{LearnerModel, Random, posterior_effort};
use crate::objectives::{Extent, Instance, Objective};
use crate::privacy::Sensitive;
use crate::privacy::ledger::BudgetMeter;
use crate::privacy::mechanisms::Rows;
use crate::protocols::stage::series::{learners_limits, names};
use crate::protocols::stage::{
    ITERATION, Measurer, Numbering, Protocol, ReplicationError, ReplicationSetup, SeriesRecord,
};
use crate::rng::Key;
use crate::vocab::effort::{COVARIANCE, MESSAGE, MULTIPLY, NUMBER};
use crate::vocab::{Effort, Observer, PartyId, Problem, ProtectedUnit};

impl Protocol for Outsourced {
    fn problems(&self, stage: &ReplicationSetup) -> Vec<Problem> {
        self.check(stage)
    }

    fn problems_with(&self, objective: &dyn Objective) -> Vec<Problem> {
        let of_all = objective.stated().loss == Some(true);
        let found = of_all.then(|| {
            Problem::wrong(
                "",
                "an objective in which an outcome belongs to one record: this protocol accounts for privacy by record and by outcome",
                "an objective whose outcomes are mean losses of models, which depend on all records of its file",
                "write protocol: Release(..), which accounts for the records on which models are trained and validated",
            )
        });
        found.into_iter().collect()
    }

    fn problems_of_size(&self, _: &ReplicationSetup, problem: &Extent) -> Vec<Problem> {
        learners_limits(self.series.iter().map(|series| &series.learner), problem)
    }

    fn needs_arms_because(&self) -> &'static str {
        "the curator releases the inputs of finitely many records, and the modeler's queries are these records"
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

    fn warnings(&self) -> Vec<String> {
        let told = self.silence.and_then(|silence| silence.warning("silence", "a record", "the modeler"));
        told.into_iter().collect()
    }

    fn effort(&self, _: &ReplicationSetup, problem: &Extent) -> Effort {
        let (rounds, outcomes) = (self.rounds, self.rounds.saturating_add(self.initial_points));
        let (n, d) = (problem.arms as f64, problem.inputs as f64);
        let initial = self.initial_points;
        let larger = if initial > rounds { ("initial_points", initial) } else { ("rounds", rounds) };
        let of_series = |(index, series): (usize, &SeriesRecipe)| {
            let columns = series.release.as_dyn().columns(problem.inputs);
            let r = columns as f64;
            // The curator centres, decomposes and projects the inputs; the modeler receives n rows with r columns.
            let passes = MULTIPLY * n * d * (4.0 * d + r) + COVARIANCE * n * r;
            let rows = Effort::due_to(
                format!("series[{index}].release"),
                columns,
                NUMBER * n * (2.0 * d + 3.0 * r),
                passes,
            );
            let learner = series.learner.as_dyn().effort(problem.arms, outcomes);
            let learner = problem.of_learner(learner, larger);
            let asked = Effort::new(0.0, 6.0 * MESSAGE * outcomes as f64);
            rows.and(learner).and(asked).with_record_size(ITERATION * outcomes as f64)
        };
        let series = self.series.iter().enumerate().map(of_series);
        // To bound the information gain, rows are chosen greedily, which costs as much as an exact posterior.
        let gains = problem.of_learner(posterior_effort(problem.arms, rounds), ("rounds", rounds));
        series.fold(gains, Effort::then)
    }

    fn at_random(&self) -> Vec<&str> {
        let chosen = self.series.iter().filter(|series| series.learner.as_dyn().ignores_outcomes());
        chosen.map(|series| series.name.as_str()).collect()
    }

    fn play(&self, stage: &ReplicationSetup, key: Key) -> Result<Vec<SeriesRecord>, ReplicationError> {
        let instance = stage.instance.as_ref().filter(|_| !stage.options.dry);
        let mut bounds = instance.map(|instance| Bounds::new(instance, self.rounds));
        let played = self.series.iter().map(|series| {
            let mut record = self.play_series(series, stage, key)?;
            // None of the theorems behind these bounds covers searches with missing answers, or with several queries at
            // once.
            if let (Some(bounds), None, 1) = (&mut bounds, self.silence, self.queries_at_once.get()) {
                let failed = |error| ReplicationError::party(&series.name, error);
                let changes = stage.changes_at_fork(&series.name);
                bounds.add(series, &mut record, changes).map_err(failed)?;
            }
            Ok(record)
        });
        played.collect()
    }
}

impl Outsourced {
    fn play_series(
        &self,
        series: &SeriesRecipe,
        stage: &ReplicationSetup,
        key: Key,
    ) -> Result<SeriesRecord, ReplicationError> {
        let bad = |problem: Problem| ReplicationError::scenario(&series.name, &problem);
        let curator = stage.party("curator", &self.curator).map_err(bad)?;
        let modeler = stage.party("modeler", &self.modeler).map_err(bad)?;
        let instance = stage.objective(&series.name)?;
        let parties = self.parties(series, stage, (curator, modeler), instance, key)?;
        let numbering = if self.queries_at_once.get() == 1 { Numbering::ByRound } else { Numbering::ByTime };
        let plan = (self.initial_points, numbering);
        let mut record = stage.search_numbered(&series.name, parties, key, instance, plan)?;
        record.public.extend(taken_as_public(series, instance, &self.curator, &self.modeler));
        Ok(record)
    }

    fn parties(
        &self,
        series: &SeriesRecipe,
        stage: &ReplicationSetup,
        (curator, modeler): (PartyId, PartyId),
        instance: &Instance,
        key: Key,
    ) -> Result<Vec<Box<dyn Party<OutsourcedProtocol>>>, ReplicationError> {
        let rows =
            Rows::of(&instance.inputs).map_err(|error| ReplicationError::party(&series.name, error))?;
        let party = |name: &str| key.child("party").child(name);
        let outcome_variance = series
            .outcomes
            .as_dyn()
            .variance()
            .map_err(|error| ReplicationError::party(&series.name, error))?;
        let learner = if stage.options.dry { LearnerModel::from(Random {}) } else { series.learner.clone() };
        let releases_model = instance.background.fitted && learner.as_dyn().needs_inputs();
        let mechanisms = party(&self.curator).child("mechanisms").stream();
        let measurer = Measurer::new(
            [&self.curator, &self.modeler],
            series.outcomes.clone(),
            instance,
            (key.child("objective noise"), mechanisms),
            BudgetMeter::new(stage.budget).read_by(stage.read_between(curator, &[modeler], &[])),
            instance.background.facts.outcome_conditions(series.release.shows_inputs()),
        );
        let measurer = measurer
            .of_series(&series.name, &stage.options)
            .map_err(|error| ReplicationError::party(&series.name, error))?
            .with_silence(self.silence, party(&self.curator).child("silence"));
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
            queries_at_once: self.queries_at_once,
            retry: self.retry,
            learner: learner.clone(),
            surrogate: (!instance.background.fitted).then(|| instance.surrogate.clone()),
            outcome_variance,
            programs: stage.options.programs.of_series(&series.name),
        };
        let searcher = Modeler::new(curator, recipe, key.child("initial points"), party(&self.modeler));
        Ok(stage.all_parties([
            (curator, Box::new(holder) as Box<dyn Party<OutsourcedProtocol>>),
            (modeler, Box::new(searcher)),
        ]))
    }
}
