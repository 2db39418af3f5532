//! A protocol whose series are learners: its recipe names the roles and builds the parties; this module provides
//! series, regret, privacy, records and checks.

use super::facts::{Fact, RecordsFacts};
use super::failure::ReplicationError;
use super::measurer::{Measured, Measurer};
use super::nonresponse_bias::NonresponseBias;
use super::protocol::Protocol;
use super::record::SeriesRecord;
use super::regret::Evaluations;
use super::retries::Retry;
use super::run::ReplicationSetup;
use super::searcher::{SearchPlan, Searcher};
use super::{Releases, Rounds, Series, series};
use crate::gp::ArmCovariance;
use crate::kernel::{Party, Protocol as KernelProtocol};
use crate::learners::{Arms, LearnerModel, ProblemConstants, Random};
use crate::objectives::{Extent, Instance};
use crate::privacy::ledger::BudgetMeter;
use crate::privacy::mechanisms::OutcomeRelease;
use crate::rng::Key;
use crate::vocab::{Origin, PartyId, Problem, ProtectedUnit, PublicFact};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// One series of a search: a learner, and its name in tables and figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "Series")]
pub struct SearchSeries {
    /// Name in tables and figures.
    /// Default: the name of the learner's type, so that two learners of one type need names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// How the next arm is chosen.
    pub learner: LearnerModel,
}

impl Series for SearchSeries {
    fn name(&self) -> &str {
        self.name.as_deref().unwrap_or_else(|| self.learner.name())
    }
}

impl From<LearnerModel> for SearchSeries {
    fn from(learner: LearnerModel) -> Self {
        Self { name: None, learner }
    }
}

/// The roles and settings of a [`Search`], with the names of the recipe's fields.
#[derive(Clone, Debug)]
pub struct SearchSettings<'a> {
    /// The recipe's field that names the party that searches, and the party's name: `("service", &self.service)`.
    pub searcher: (&'static str, &'a str),
    /// The recipe's field that names the party that measures, and the party's name. This party's outcomes are protected.
    pub measurer: (&'static str, &'a str),
    /// Number of rounds of the learner; the field is `rounds`.
    pub rounds: u64,
    /// Number of random arms that are measured before the first round.
    pub initial_points: u64,
    /// The series; the field is `series`.
    pub series: &'a [SearchSeries],
    /// When the searching party sends a request again; the field is `retry`. `Protocol::problems` checks this setting if
    /// it is present.
    pub retry: Option<Retry>,
    /// How the measuring party releases outcomes; the field is `outcomes`. The ledger records each answer for the
    /// searching party and for relays that can read the answer, so the protocol's parties must send it to nobody else.
    pub outcomes: OutcomeRelease,
}

impl<'a> SearchSettings<'a> {
    /// Settings with one initial point, and outcomes that are disclosed without protection.
    #[must_use]
    pub fn new(
        searcher: (&'static str, &'a str),
        measurer: (&'static str, &'a str),
        rounds: u64,
        series: &'a [SearchSeries],
    ) -> Self {
        let (outcomes, retry) = (OutcomeRelease::default(), None);
        Self { searcher, measurer, rounds, initial_points: 1, series, retry, outcomes }
    }

    /// The same settings with the recipe's `retry`.
    #[must_use]
    pub fn retrying(self, retry: Retry) -> Self {
        Self { retry: Some(retry), ..self }
    }
}

/// The parts of one series, ready to be given to parties.
#[derive(Debug)]
pub struct Parts {
    /// Id of the party that searches.
    pub searcher_id: PartyId,
    /// Chooses arms and learns from outcomes.
    pub searcher: Searcher,
    /// Id of the party that measures.
    pub measurer_id: PartyId,
    /// Measures arms, and records its answers in the ledger.
    pub measurer: Measurer,
    /// Node of the seed tree for the other random numbers of the parties; all series have the same node.
    pub key: Key,
}

/// Parties with their ids; all other parties of the scenario are idle.
pub type ActiveParties<P> = Vec<(PartyId, Box<dyn Party<P>>)>;

/// A protocol in which one party searches and another measures, once for each learner, on the same function, noise,
/// initial points and network draws. Every type that implements this trait is a [`Protocol`].
///
/// The searcher knows the inputs of all arms and the model of the objective; the report lists both as facts taken as
/// public. Every release of an outcome to the searcher has a ledger entry.
pub trait Search: Send + Sync {
    /// The messages, timers and facts of the parties.
    type World: KernelProtocol<Fact = Fact<Measured>> + Rounds;

    /// The roles and settings that the scenario states.
    fn settings(&self) -> SearchSettings<'_>;

    /// The parties of one series.
    fn active_parties(&self, parts: Parts) -> ActiveParties<Self::World>;

    /// What else is wrong with the recipe, given the parties, the network and the budget of the scenario. The default:
    /// nothing.
    fn further_problems(&self, stage: &ReplicationSetup) -> Vec<Problem> {
        let _ = stage;
        Vec::new()
    }
}

impl<S: Search> Protocol for S {
    fn problems(&self, stage: &ReplicationSetup) -> Vec<Problem> {
        let settings = self.settings();
        let (searcher, measurer) = (settings.searcher, settings.measurer);
        let mut problems: Vec<Problem> = Vec::new();
        problems
            .extend([searcher, measurer].into_iter().filter_map(|role| stage.party(role.0, role.1).err()));
        let parts = [searcher.1, measurer.1];
        problems.extend(series::same_party(measurer.0, "a party other than the one that searches", parts));
        problems.extend(series::no_rounds(settings.rounds, "at least one round", "write 50, for example"));
        problems.extend(series::none(settings.series, "learner: .."));
        for (index, recipe) in settings.series.iter().enumerate() {
            problems.extend(series::taken(settings.series, index));
            let place = format!("series[{index}].learner");
            let of_learner = recipe.learner.as_dyn().problems();
            problems.extend(of_learner.into_iter().map(|problem| problem.below(&place)));
            let missing_quantity = recipe.learner.missing_quantity(settings.learner_facts());
            problems.extend(missing_quantity.map(|problem| problem.below(&place)));
        }
        let retry = settings.retry.map_or_else(Vec::new, |retry| retry.problems());
        problems.extend(retry.into_iter().map(|problem| problem.below("retry")));
        let outcomes = settings.outcomes.as_dyn().problems();
        problems.extend(outcomes.into_iter().map(|problem| problem.below("outcomes")));
        problems.extend(self.further_problems(stage));
        problems
    }

    fn problems_of_size(&self, _: &ReplicationSetup, problem: &Extent) -> Vec<Problem> {
        series::learners_limits(self.settings().series.iter().map(|series| &series.learner), problem)
    }

    fn needs_objective(&self) -> bool {
        true
    }

    fn units(&self) -> Vec<ProtectedUnit> {
        vec![ProtectedUnit::Record, ProtectedUnit::Outcome]
    }

    fn series(&self) -> Vec<String> {
        series::names(self.settings().series)
    }

    fn at_random(&self) -> Vec<&str> {
        let all = self.settings().series;
        let chosen = all.iter().filter(|series| series.learner.as_dyn().ignores_outcomes());
        chosen.map(Series::name).collect()
    }

    fn play(&self, stage: &ReplicationSetup, key: Key) -> Result<Vec<SeriesRecord>, ReplicationError> {
        let settings = self.settings();
        let played = settings.series.iter().map(|series| {
            let name = series.name();
            let instance = stage.objective(name)?;
            let parts = settings.parts(series, stage, instance, key)?;
            let parties = stage.all_parties(self.active_parties(parts));
            let mut record = stage.search(name, parties, key, instance, settings.initial_points)?;
            record.public.extend(settings.taken_as_public(stage, instance));
            Ok(record)
        });
        played.collect()
    }
}

impl SearchSettings<'_> {
    /// The quantities that the protocol states to a learner: the number of rounds (the horizon), and nothing else.
    fn learner_facts(&self) -> ProblemConstants {
        ProblemConstants { horizon: Some(self.rounds), ..ProblemConstants::default() }
    }

    /// What the searcher knows about the measurer's data without a release.
    fn taken_as_public(&self, stage: &ReplicationSetup, instance: &Instance) -> Vec<PublicFact> {
        let mut facts = instance.background.public.clone();
        if instance.background.fitted {
            facts.push(PublicFact::new("hyperparameters fitted to all records", Origin::ComputedFromData));
        }
        facts.extend(stage.inputs_of_records());
        let protocol = [
            "which arm is queried in which round: the searcher chooses it from the answers so far",
            "when messages arrive: times and lost messages are drawn independently of the data",
        ];
        let (about, known_to) = (self.measurer.1, self.searcher.1);
        let facts = facts.into_iter().map(|fact| fact.about(about).for_observer(known_to));
        facts.chain(protocol.map(|what| PublicFact::new(what, Origin::Protocol))).collect()
    }

    fn parts(
        &self,
        series: &SearchSeries,
        stage: &ReplicationSetup,
        instance: &Instance,
        key: Key,
    ) -> Result<Parts, ReplicationError> {
        let name = series.name();
        let party = |role: (&str, &str)| {
            stage.party(role.0, role.1).map_err(|problem| ReplicationError::scenario(name, &problem))
        };
        let (searcher_id, measurer_id) = (party(self.searcher)?, party(self.measurer)?);
        let cannot = |error| ReplicationError::party(name, error);
        let own = |name: &str| key.child("party").child(name);
        let model = &instance.surrogate;
        let inputs = Arc::clone(&instance.inputs);
        let arms = Arms {
            n: inputs.n(),
            covariance: Some(ArmCovariance::of_inputs(inputs, model.covariance.clone())),
            noise_variance: model.noise_variance + self.outcomes.as_dyn().variance().map_err(cannot)?,
            mean: model.mean,
            facts: self.learner_facts(),
        };
        let random = LearnerModel::from(Random {});
        let learner = if stage.options.dry { &random } else { &series.learner };
        let programs = stage.options.programs.of_series(name);
        let learner =
            learner.begin(&arms, &programs).map_err(|error| ReplicationError::party(name, error))?;
        let initial = key.child("initial points");
        let plan = SearchPlan { initial_points: self.initial_points, rounds: self.rounds, initial };
        let known = self.taken_as_public(stage, instance);
        let measurer = Measurer::new(
            [self.measurer.1, self.searcher.1],
            self.outcomes.clone(),
            instance,
            (key.child("objective noise"), own(self.measurer.1).child("mechanisms").stream()),
            BudgetMeter::new(stage.budget).read_by(stage.read_between(measurer_id, &[searcher_id], &[])),
            known.iter().filter_map(PublicFact::condition).collect(),
        );
        let measurer =
            measurer.of_series(name, &stage.options).map_err(|error| ReplicationError::party(name, error))?;
        let stream = own(self.searcher.1).child("learner").stream();
        let searcher = Searcher::new(plan, learner, stream);
        Ok(Parts { searcher_id, searcher, measurer_id, measurer, key: key.child("parties") })
    }
}

impl ReplicationSetup {
    /// Runs one simulation as [`Self::play`] does, for parties that record [`Measured`]. The record
    /// then also has the evaluations, numbered by round, with the regret after each.
    ///
    /// # Errors
    /// As [`Self::run`].
    ///
    /// # Panics
    /// As [`Self::run`].
    pub fn search<P: Rounds + RecordsFacts<Own = Measured>>(
        &self,
        series: &str,
        parties: Vec<Box<dyn Party<P>>>,
        key: Key,
        instance: &Instance,
        initial_points: u64,
    ) -> Result<SeriesRecord, ReplicationError> {
        self.search_numbered(series, parties, key, instance, (initial_points, Numbering::ByRound))
    }

    /// As [`Self::search`], with evaluations numbered as `numbering` says.
    ///
    /// # Errors
    /// As [`Self::run`].
    ///
    /// # Panics
    /// As [`Self::run`].
    pub fn search_numbered<P: Rounds + RecordsFacts<Own = Measured>>(
        &self,
        series: &str,
        parties: Vec<Box<dyn Party<P>>>,
        key: Key,
        instance: &Instance,
        (initial_points, numbering): (u64, Numbering),
    ) -> Result<SeriesRecord, ReplicationError> {
        let mut evaluations = Evaluations::new(instance);
        let mut nonresponse = NonresponseBias::default();
        let mut measured = 0;
        let mut record = self.play(series, parties, key, Releases::in_order(), &mut |at, fact| {
            let Measured { round, arm, outcome, missing } = fact;
            nonresponse.add(*outcome, !missing);
            measured += 1;
            let number = match numbering {
                Numbering::ByRound => round + 1,
                Numbering::ByTime => measured,
            };
            evaluations.add(number.saturating_sub(initial_points), *arm, *outcome, at);
        })?;
        evaluations.into_record(&mut record);
        nonresponse.into_record(&mut record);
        Ok(record)
    }
}

/// How the evaluations of a search are numbered, from 1. Numbers up to `initial_points` count as initial points, and larger
/// numbers as rounds of the learner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbering {
    /// By the round of the query: for searches with one open query at a time.
    ByRound,
    /// In the order of the measurements: for searches with several open queries, in which the arm of a later query may be
    /// measured before that of an earlier query.
    ByTime,
}
