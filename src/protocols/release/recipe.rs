//! What a scenario says about private release, and how it becomes parties.

use super::messages::{Fact, World};
use super::outcomes::{Published, Trials, outcomes};
use super::owner::{Beginning, Carriers, Owner, PUBLIC};
use super::publication::{PublicationModel, Search, Task};
use super::reader::Reader;
use super::training::of_a_training_record;
use super::worker::Worker;
use crate::kernel::{Event, Party};
use crate::objectives::Instance;
use crate::privacy::ledger::Meter;
use crate::protocols::stage::chronicle::Chronicle;
use crate::protocols::stage::{
    BookedRelease, Iteration, PlayError, Protocol, Retry, SeriesRecord, Stage, book,
};
use crate::rng::Key;
use crate::vocab::{Origin, PartyId, Problem, ProtectedUnit, PublicFact, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A data owner tunes on a sensitive validation set and publishes a setting, its performance, or both.
///
/// Every series is played on the same function, noise by trial, and network draws. Regret is the owner's own, over
/// its trials; what a reader gets stands under the outcomes.
/// Source: Kusner, Gardner, Garnett and Weinberger 2015, "Differentially private Bayesian optimization".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Release {
    /// Name of the party that holds the validation set.
    pub owner: String,
    /// Names of the parties that get the publication; the first one's choice counts.
    pub readers: Vec<String>,
    /// Names of the owner's machines, which train one model at a time each. Default: none, the owner trains itself,
    /// in no time.
    #[serde(default)]
    pub workers: Vec<String>,
    /// Trials of a learner, T.
    pub rounds: u64,
    /// When a trial goes to another worker, and when a publication is sent again. Default: after 10 min, 100 times
    /// in all.
    #[serde(default = "default_retry")]
    pub retry: Retry,
    /// What is compared.
    pub series: Vec<ReleaseSeries>,
}

/// The shape of a tuning task, which scales the noise.
const TASK_FACTS: &str =
    "number of validation records, range and slope of the loss, and the regularisation parameters on offer";

/// What timing would tell.
const TIMES: &str = "when messages come and how many there are: training and validation are taken to last as long whatever \
                     the records are, and the number of trials is fixed";

/// What is inside of the owner's trust.
const WORKERS: &str = "which settings are trained, and the models: workers are machines of the owner's own";

fn default_retry() -> Retry {
    Retry { timeout: Span::from_millis(600_000), ..Retry::default() }
}

/// One way to publish.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "Series")]
pub struct ReleaseSeries {
    /// Name in tables and figures.
    pub name: String,
    /// What is published and how it is made private.
    pub publication: PublicationModel,
}

impl Protocol for Release {
    fn problems(&self, stage: &Stage) -> Vec<Problem> {
        let mut problems: Vec<Problem> = stage.party("owner", &self.owner).err().into_iter().collect();
        let mut taken = BTreeSet::from([self.owner.as_str()]);
        for (field, names) in [("readers", &self.readers), ("workers", &self.workers)] {
            for (index, name) in names.iter().enumerate() {
                let path = format!("{field}[{index}]");
                problems.extend(stage.party(&path, name).err());
                if !taken.insert(name) {
                    let cure = "name another party of `parties`";
                    problems.push(Problem::wrong(path, "a party without another part", name, cure));
                }
            }
        }
        if self.readers.is_empty() {
            let cure = "name a party of `parties` that takes the publication";
            problems.push(Problem::wrong("readers", "at least one reader", "none", cure));
        }
        problems.extend(self.retry.problems().into_iter().map(|problem| problem.below("retry")));
        if self.rounds == 0 {
            problems.push(Problem::wrong("rounds", "at least one round", "0", "write 50, say"));
        }
        if self.series.is_empty() {
            let cure = "add Series(name: .., publication: ..)";
            problems.push(Problem::wrong("series", "at least one series", "none", cure));
        }
        for (index, series) in self.series.iter().enumerate() {
            let place = format!("series[{index}]");
            if self.series[..index].iter().any(|earlier| earlier.name == series.name) {
                problems.push(Problem::wrong(
                    format!("{place}.name"),
                    "a name that no earlier series has",
                    &series.name,
                    "give each series a name of its own",
                ));
            }
            let found = series.publication.as_dyn().problems();
            let below = |problem: Problem| {
                problem.below(series.publication.name()).below("publication").below(&place)
            };
            problems.extend(found.into_iter().map(below));
        }
        problems
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

    fn series(&self) -> Vec<String> {
        self.series.iter().map(|series| series.name.clone()).collect()
    }

    fn play(&self, stage: &Stage, key: Key) -> Result<Vec<SeriesRecord>, PlayError> {
        self.series.iter().map(|series| self.play_series(series, stage, key)).collect()
    }
}

impl Release {
    fn play_series(
        &self,
        series: &ReleaseSeries,
        stage: &Stage,
        key: Key,
    ) -> Result<SeriesRecord, PlayError> {
        let bad = |problem: Problem| PlayError::scenario(&series.name, &problem);
        let failed = |reason: String| PlayError::Party { series: series.name.clone(), reason };
        let Some(instance) = &stage.instance else {
            return Err(failed("the scenario has no objective".to_owned()));
        };
        if instance.noise.gaussian_sd().is_none() {
            return Err(failed(
                "the release is analysed for normal noise, and the objective's is not".to_owned(),
            ));
        }
        let task = Arc::new(Task::of(instance, self.rounds));
        let plan = series.publication.as_dyn().plan(&task).map_err(failed)?;
        plan.can_release().map_err(failed)?;
        let owner = stage.party("owner", &self.owner).map_err(bad)?;
        let beginning = self.beginning(series, stage, (instance, &task), key)?;
        let (trains, mut of_training): (_, Vec<BookedRelease>) = (beginning.trains, Vec::new());
        let parties = self.parties(stage, owner, beginning, key).map_err(failed)?;
        let mut tally = Tally::new(instance);
        let mut chronicle = Chronicle::default();
        let mut published = Published::default();
        let mut record = stage.run(&series.name, parties, key, &mut |at, event| {
            if let Event::Recorded { fact, .. } = event {
                match fact {
                    Fact::Released(event) => {
                        chronicle.released(event);
                        if trains {
                            book(&mut of_training, &of_a_training_record(event));
                        }
                    }
                    Fact::Tried { setting, outcome, .. } => tally.tried(*setting, *outcome, at),
                    Fact::Reassigned { .. } => {}
                    Fact::Published { setting, value } => {
                        published.setting = setting.map(|setting| setting as usize);
                        published.value = *value;
                    }
                    Fact::Chosen { setting } => {
                        published.chosen.get_or_insert(*setting as usize);
                    }
                    Fact::BudgetReached(reached) => chronicle.budget_reached(reached),
                    Fact::Jittered(needed) => chronicle.jittered(*needed),
                    Fact::Ended { reason } => chronicle.ended(reason),
                }
            }
        })?;
        let neighbour = if stage.directions.dry {
            None
        } else {
            self.on_neighbour(series, instance, &task, key).map_err(failed)?
        };
        record.outcomes =
            outcomes(instance, &task, (&tally.trials, neighbour.as_ref()), published, &plan.guarantees)
                .map_err(failed)?;
        record.iterations = tally.iterations;
        chronicle.into_record(&mut record);
        record.releases.extend(of_training);
        record.public.extend(self.taken_as_public(series, instance, &task));
        Ok(record)
    }

    fn beginning(
        &self,
        series: &ReleaseSeries,
        stage: &Stage,
        (instance, task): (&Instance, &Arc<Task>),
        key: Key,
    ) -> Result<Beginning, PlayError> {
        let ids = |field: &str, names: &[String]| {
            let ids: Result<Vec<PartyId>, Problem> =
                names.iter().map(|name| stage.party(field, name)).collect();
            ids.map_err(|problem| PlayError::scenario(&series.name, &problem))
        };
        let id = stage.party("owner", &self.owner).map_err(|p| PlayError::scenario(&series.name, &p))?;
        let (workers, readers) = (ids("workers", &self.workers)?, ids("readers", &self.readers)?);
        let owners: Vec<PartyId> = workers.iter().copied().chain([id]).collect();
        let told: Vec<PartyId> = owners.iter().chain(&readers).copied().collect();
        let carriers = Carriers {
            of_training: stage.read_between(id, &workers, &owners).into(),
            of_publication: stage.read_between(id, &readers, &told).into(),
            of_either: stage.read_between(id, &told, &told).into(),
        };
        let owner = key.child("party").child(&self.owner);
        Ok(Beginning {
            name: self.owner.clone(),
            workers,
            readers,
            trains: self.trains(series, instance),
            carriers,
            conditions: instance.background.public.iter().filter_map(PublicFact::condition).collect(),
            publication: series.publication.clone(),
            task: Arc::clone(task),
            values: Arc::clone(&instance.values),
            noise_sd: task.noise_sd,
            noise: key.child("objective noise"),
            retry: self.retry,
            dry: stage.directions.dry,
            mechanisms: owner.child("mechanisms").stream(),
            learning: owner.child("learner").stream(),
        })
    }

    /// Whether a series' outcomes are those of trained models: where the objective trains some, and where the publication
    /// assumes so. A function that is drawn has no training records.
    fn trains(&self, series: &ReleaseSeries, instance: &Instance) -> bool {
        instance.background.tuning.is_some() || series.publication.as_dyn().assumed().is_some()
    }

    /// What is known of the owner's records that the ledger does not price.
    fn taken_as_public(&self, series: &ReleaseSeries, instance: &Instance, task: &Task) -> Vec<PublicFact> {
        let publication = series.publication.as_dyn();
        if matches!(publication.search(task), Ok(Search::Nothing)) {
            return Vec::new();
        }
        let told = |fact: PublicFact| fact.about(&self.owner).known_to(PUBLIC);
        let mut facts: Vec<PublicFact> = instance.background.public.iter().cloned().map(told).collect();
        let origin = match (publication.assumed(), instance.background.tuning) {
            (Some(_), _) => Some(Origin::Stated),
            (None, tuning) => tuning.map(|_| Origin::Shape),
        };
        facts.extend(origin.map(|origin| told(PublicFact::new(TASK_FACTS, origin))));
        facts.push(told(PublicFact::new(TIMES, Origin::Protocol)));
        if !self.workers.is_empty() {
            let fact = PublicFact::new(WORKERS, Origin::Protocol).about(&self.owner);
            facts.push(fact.known_to(self.workers.join(", ")));
        }
        facts
    }

    fn parties(
        &self,
        stage: &Stage,
        owner: PartyId,
        beginning: Beginning,
        key: Key,
    ) -> Result<Vec<Box<dyn Party<World>>>, String> {
        let n = beginning.task.n();
        let mut owner_party = Some(Owner::new(beginning, Meter::new(stage.budget))?);
        let parties = stage.names.iter().enumerate().map(|(index, name)| -> Box<dyn Party<World>> {
            if index == owner.index()
                && let Some(owner) = owner_party.take()
            {
                Box::new(owner)
            } else if self.readers.contains(name) {
                let stream = key.child("party").child(name).child("blind choice").stream();
                Box::new(Reader { n, stream, chosen: false })
            } else {
                Box::new(Worker)
            }
        });
        Ok(parties.collect())
    }

    /// The same search with the same noise on the neighbour's function, away from any network: what theorems about
    /// neighbours compare with. For searches whose trials come one by one.
    fn on_neighbour(
        &self,
        series: &ReleaseSeries,
        instance: &Instance,
        task: &Task,
        key: Key,
    ) -> Result<Option<Trials>, String> {
        let publication = series.publication.as_dyn();
        let Some(values) = instance.background.neighbour.as_ref().filter(|_| publication.sequential()) else {
            return Ok(None);
        };
        let Search::Learner(learner) = publication.search(task)? else { return Ok(None) };
        let mut learner = learner.as_dyn().build(&task.arms()).map_err(|error| error.to_string())?;
        let noise_sd = if publication.noise_free() { 0.0 } else { task.noise_sd };
        let noise = key.child("objective noise");
        let mut stream = key.child("party").child(&self.owner).child("learner").stream();
        let mut trials = Trials::default();
        for trial in 0..self.rounds {
            let setting = learner.suggest(&mut stream);
            let outcome = values[setting] + noise_sd * noise.index(trial).stream().normal();
            learner.observe(setting, outcome).map_err(|error| error.to_string())?;
            trials.add(setting, outcome);
        }
        Ok(Some(trials))
    }
}

/// Turns trials into regrets.
struct Tally<'a> {
    instance: &'a Instance,
    best: f64,
    simple: f64,
    cumulative: f64,
    iterations: Vec<Iteration>,
    trials: Trials,
}

impl<'a> Tally<'a> {
    fn new(instance: &'a Instance) -> Self {
        Self {
            instance,
            best: instance.best(),
            simple: f64::INFINITY,
            cumulative: 0.0,
            iterations: Vec::new(),
            trials: Trials::default(),
        }
    }

    fn tried(&mut self, setting: u64, outcome: f64, at: Time) {
        let value = self.instance.values[setting as usize];
        let regret = self.best - value;
        self.simple = self.simple.min(regret);
        self.cumulative += regret;
        self.trials.add(setting as usize, outcome);
        self.iterations.push(Iteration {
            t: self.iterations.len() as u64 + 1,
            arm: setting,
            outcome,
            value,
            simple_regret: self.simple,
            cumulative_regret: self.cumulative,
            seconds: at.seconds(),
        });
    }
}
