//! Builds the parties of private release, runs them, and fills in the record.

use super::failure::CannotRelease;
use super::messages::{OwnFact, ReleaseProtocol};
use super::missing::MissingOutcomes;
use super::outcomes::{Published, Trials, outcomes};
use super::owner::Owner;
use super::owner_config::OwnerConfig;
use super::public::{taken_as_public, trains};
use super::publication::{AboveThreshold, Blind, NonPrivate, Search, Task};
use super::reader::Reader;
use super::reading_relays::ReadingRelays;
use super::recipe::{Release, ReleaseSeries};
use super::training::entry_of_training;
use super::worker::Worker;
use crate::kernel::Party;
use crate::objectives::{Extent, Instance, Objective};
use crate::privacy::ledger::BudgetMeter;
use crate::privacy::mechanisms::Informative;
use crate::programs::Programs;
use crate::protocols::stage::series::names;
use crate::protocols::stage::{
    Evaluations, ITERATION, NonresponseBias, Protocol, Releases, ReplicationError, ReplicationSetup,
    SeriesRecord, against_best_found, count,
};
use crate::rng::Key;
use crate::vocab::effort::MESSAGE;
use crate::vocab::{Effort, PartyId, Problem, ProtectedUnit, PublicFact};
use std::sync::Arc;

/// A condition of every ledger entry of the owner, if an outcome's value or regret affects whether the outcome is missing.
const KNOWN_OUTCOMES: &str = "the outcomes that are known in this run: which outcomes are known depends on the records, and \
                              if others were known, the publication could have another privacy loss";

impl Protocol for Release {
    fn problems(&self, stage: &ReplicationSetup) -> Vec<Problem> {
        self.check(stage)
    }

    fn problems_with(&self, objective: &dyn Objective) -> Vec<Problem> {
        let mut problems = self.check_neighbours(objective);
        problems.extend(self.check_outcomes(objective));
        problems.extend(self.check_box(objective));
        problems
    }

    fn searches_boxes(&self) -> bool {
        true
    }

    fn problems_of_size(&self, _: &ReplicationSetup, problem: &Extent) -> Vec<Problem> {
        let of_series = |(index, series): (usize, &ReleaseSeries)| {
            let publication = &series.publication;
            let found = publication.as_dyn().problems_of_size(problem).into_iter();
            let place = format!("series[{index}].publication.{}", publication.name());
            found.map(move |problem| problem.below(&place))
        };
        self.series.iter().enumerate().flat_map(of_series).collect()
    }

    fn needs_objective(&self) -> bool {
        true
    }

    fn units(&self) -> Vec<ProtectedUnit> {
        vec![ProtectedUnit::ValidationRecord, ProtectedUnit::TrainingRecord]
    }

    fn changeable(&self) -> &'static [&'static str] {
        &["retry.**"]
    }

    /// A relay sees how many settings are tried by a search that stops above a threshold. A relay also sees whether a
    /// setting is announced, and this depends on the records if outcomes are missing because of their value or regret.
    fn relays_learn_protected_data(&self) -> bool {
        let above = |series: &ReleaseSeries| series.publication.get::<AboveThreshold>().is_some();
        self.silence.is_some_and(|silence| silence.depends()) || self.series.iter().any(above)
    }

    fn series(&self) -> Vec<String> {
        names(&self.series)
    }

    fn warnings(&self) -> Vec<String> {
        let told = self.silence.and_then(|silence| silence.warning("silence", "a trial", "readers"));
        told.into_iter().collect()
    }

    fn effort(&self, _: &ReplicationSetup, problem: &Extent) -> Effort {
        let of_series = |(index, series): (usize, &ReleaseSeries)| {
            let search = series.publication.as_dyn().effort(problem.arms, self.rounds);
            let place = format!("series[{index}].publication.{}", series.publication.name());
            let search = problem.of_learner(search, ("rounds", self.rounds)).placed(|path| match path {
                "repetitions" => format!("{place}.learner.{path}"),
                _ => path.to_owned(),
            });
            let trials = Effort::new(0.0, 6.0 * MESSAGE * self.rounds as f64);
            let private = series.publication.get::<NonPrivate>().is_none()
                && series.publication.get::<Blind>().is_none();
            let accounted = if private { series.publication.as_dyn().accounted() } else { 0.0 };
            search.and(trials).with_record_size(ITERATION * self.rounds as f64).accounted(accounted)
        };
        let series = self.series.iter().enumerate().map(of_series);
        series.reduce(Effort::then).unwrap_or_default()
    }

    fn at_random(&self) -> Vec<&str> {
        let chosen = self.series.iter().filter(|series| series.publication.as_dyn().chooses_at_random());
        chosen.map(|series| series.name.as_str()).collect()
    }

    fn play(&self, stage: &ReplicationSetup, key: Key) -> Result<Vec<SeriesRecord>, ReplicationError> {
        let mut records: Vec<SeriesRecord> = self
            .series
            .iter()
            .map(|series| self.play_series(series, stage, key))
            .collect::<Result<_, _>>()?;
        let continuum = stage.instance.as_ref().and_then(Instance::continuum);
        if continuum.is_some_and(|continuum| !continuum.best_is_known) && !stage.options.dry {
            against_best_found(&mut records);
        }
        Ok(records)
    }
}

impl Release {
    fn play_series(
        &self,
        series: &ReleaseSeries,
        stage: &ReplicationSetup,
        key: Key,
    ) -> Result<SeriesRecord, ReplicationError> {
        let bad = |problem: Problem| ReplicationError::scenario(&series.name, &problem);
        let failed = |error: CannotRelease| ReplicationError::party(&series.name, error);
        let instance = stage.objective(&series.name)?;
        if instance.noise.gaussian_sd().is_none() {
            return Err(failed(CannotRelease::NotNormal));
        }
        let task = Arc::new(series.publication.as_dyn().prepared_task(Task::of(instance, self.rounds)));
        let plan = series.publication.as_dyn().plan(&task).map_err(failed)?;
        plan.can_release().map_err(failed)?;
        let owner = stage.party("owner", &self.owner).map_err(bad)?;
        let config = self.config(series, stage, (instance, &task), key)?;
        let trains = config.trains;
        let parties = self.parties(stage, owner, config, key).map_err(failed)?;
        let mut evaluations = Evaluations::new(instance);
        let (mut trials, mut published) = (Trials::new(self.silence.is_none()), Published::default());
        let (mut nonresponse, mut tried) = (NonresponseBias::default(), 0);
        // On a box: the points tried, with their values.
        let mut points: Vec<(Vec<f64>, f64)> = Vec::new();
        let mut record =
            stage.play(&series.name, parties, key, Releases::in_order(), &mut |at, fact| match fact {
                OwnFact::Tried { setting, outcome, missing, .. } => {
                    tried += 1;
                    nonresponse.add(*outcome, !missing);
                    if !missing {
                        trials.add(*setting as usize, *outcome);
                    }
                    evaluations.add(tried, *setting, *outcome, at);
                }
                OwnFact::TriedAt { trial, point, value, outcome, missing } => {
                    tried += 1;
                    nonresponse.add(*outcome, !missing);
                    if !missing {
                        trials.add(*trial as usize, *outcome);
                    }
                    evaluations.add_point(tried, (*trial, point), (*value, *outcome), at);
                    points.push((point.clone(), *value));
                }
                OwnFact::ChosenAt { point } => {
                    let known = points.iter().find(|(tried, _)| tried == point).map(|(_, value)| *value);
                    let value = known.or_else(|| {
                        let continuum = instance.continuum().filter(|all| !all.function.asks_programs())?;
                        Some(continuum.function.at(point))
                    });
                    published.chosen = published.chosen.or(value);
                }
                OwnFact::Reassigned { .. } => {}
                OwnFact::Published { setting, value } => {
                    published.setting = setting.map(|setting| setting as usize);
                    published.value = *value;
                }
                OwnFact::Chosen { setting } => {
                    published.chosen.get_or_insert(instance.values[*setting as usize]);
                }
            })?;
        // No theorem of the publications covers searches with missing outcomes, so such a search is not compared with
        // theorems. A dry run has no outcomes to compare.
        let neighbour = if stage.options.dry || self.silence.is_some() {
            None
        } else {
            let programs = stage.options.programs.of_series(&series.name);
            self.on_neighbour(series, instance, &task, (key, &programs)).map_err(failed)?
        };
        let guarantees = if self.silence.is_none() { &plan.guarantees[..] } else { &[] };
        record.outcomes = outcomes(instance, &task, (&trials, neighbour.as_ref()), published, guarantees)
            .map_err(failed)?;
        nonresponse.into_record(&mut record);
        if let (Ok(Search::Repeated(_)), 0, false) =
            (series.publication.as_dyn().search(&task), tried, stage.options.dry)
        {
            record.counts.insert("no trial, nothing published".to_owned(), 1);
        }
        if published.setting.is_none()
            && let Ok(Search::UntilAbove { .. }) = series.publication.as_dyn().search(&task)
        {
            record.counts.insert("none above the threshold, nothing published".to_owned(), 1);
        }
        evaluations.into_record(&mut record);
        if trains {
            let mut of_training = Vec::new();
            record.releases.iter().for_each(|entry| count(&mut of_training, entry_of_training(entry)));
            record.releases.extend(of_training);
        }
        record.public.extend(taken_as_public(self, series, instance, &task));
        Ok(record)
    }

    fn config(
        &self,
        series: &ReleaseSeries,
        stage: &ReplicationSetup,
        (instance, task): (&Instance, &Arc<Task>),
        key: Key,
    ) -> Result<OwnerConfig, ReplicationError> {
        let ids = |field: &str, names: &[String]| {
            let ids: Result<Vec<PartyId>, Problem> =
                names.iter().map(|name| stage.party(field, name)).collect();
            ids.map_err(|problem| ReplicationError::scenario(&series.name, &problem))
        };
        let id =
            stage.party("owner", &self.owner).map_err(|p| ReplicationError::scenario(&series.name, &p))?;
        let (workers, readers) = (ids("workers", &self.workers)?, ids("readers", &self.readers)?);
        let owners: Vec<PartyId> = workers.iter().copied().chain([id]).collect();
        let told: Vec<PartyId> = owners.iter().chain(&readers).copied().collect();
        let of_traffic = stage.relays_between(id, &told, &told);
        let mut of_search = stage.relays_between(id, &workers, &owners);
        for relay in &of_traffic {
            if !of_search.contains(relay) {
                of_search.push(relay.clone());
            }
        }
        let relays = ReadingRelays {
            of_training: stage.read_between(id, &workers, &owners).into(),
            of_publication: stage.read_between(id, &readers, &told).into(),
            of_either: stage.read_between(id, &told, &told).into(),
            of_traffic: of_traffic.into(),
            of_search: of_search.into(),
        };
        let owner = key.child("party").child(&self.owner);
        let programs = stage.options.programs.of_series(&series.name);
        // In a dry run no program is asked.
        let continuum = instance.continuum().map(|continuum| {
            if stage.options.dry { Ok(continuum.clone()) } else { continuum.begun(&programs) }
        });
        let continuum =
            continuum.transpose().map_err(|error| ReplicationError::party(&series.name, error))?;
        Ok(OwnerConfig {
            name: self.owner.clone(),
            workers,
            readers,
            trains: trains(series, instance),
            relays,
            conditions: instance
                .background
                .public
                .iter()
                .filter_map(PublicFact::condition)
                .chain(self.silence.filter(Informative::depends).map(|_| KNOWN_OUTCOMES.to_owned()))
                .collect(),
            publication: series.publication.clone(),
            task: Arc::clone(task),
            values: Arc::clone(&instance.values),
            continuum,
            noise_sd: task.noise_sd,
            noise: key.child("objective noise"),
            retry: self.retry,
            retries: owner.child("retries"),
            dry: stage.options.dry,
            mechanisms: owner.child("mechanisms").stream(),
            learning: owner.child("learner").stream(),
            silence: self.silence.map(|recipe| MissingOutcomes {
                recipe,
                draws: owner.child("silence"),
                best: instance.best(),
            }),
            programs,
        })
    }

    fn parties(
        &self,
        stage: &ReplicationSetup,
        owner: PartyId,
        config: OwnerConfig,
        key: Key,
    ) -> Result<Vec<Box<dyn Party<ReleaseProtocol>>>, CannotRelease> {
        let (n, domain) = (config.task.n(), config.task.domain.clone());
        let mut owner_party = Some(Owner::new(config, BudgetMeter::new(stage.budget))?);
        let parties =
            stage.names.iter().enumerate().map(|(index, name)| -> Box<dyn Party<ReleaseProtocol>> {
                if index == owner.index()
                    && let Some(owner) = owner_party.take()
                {
                    Box::new(owner)
                } else if self.readers.contains(name) {
                    let stream = key.child("party").child(name).child("blind choice").stream();
                    Box::new(Reader { n, domain: domain.clone(), stream, chosen: false })
                } else {
                    Box::new(Worker)
                }
            });
        Ok(parties.collect())
    }

    /// The search of a series, repeated on the function of the neighbouring data set, with the same noise and without the
    /// network, for comparison with theorems about neighbours. `None` if the objective has no neighbouring data set, if
    /// trials need not be made one after another, or if no learner chooses the settings.
    fn on_neighbour(
        &self,
        series: &ReleaseSeries,
        instance: &Instance,
        task: &Task,
        (key, programs): (Key, &Programs),
    ) -> Result<Option<Trials>, CannotRelease> {
        let publication = series.publication.as_dyn();
        let Some(values) = instance.background.neighbour.as_ref().filter(|_| publication.sequential()) else {
            return Ok(None);
        };
        let Search::Learner(learner) = publication.search(task)? else { return Ok(None) };
        let mut learner = learner.begin(&task.arms(), programs)?;
        let noise_sd = if publication.noise_free() { 0.0 } else { task.noise_sd };
        let noise = key.child("objective noise");
        let mut stream = key.child("party").child(&self.owner).child("learner").stream();
        let mut trials = Trials::new(true);
        for trial in 0..self.rounds {
            let setting = learner.suggest(&mut stream);
            let outcome = values[setting] + noise_sd * noise.index(trial).stream().normal();
            learner.observe(setting, outcome)?;
            trials.add(setting, outcome);
        }
        Ok(Some(trials))
    }
}
