//! A protocol whose series are learners: its recipe names the parts and says what the parties do; series, regret,
//! privacy, records and checks come from here.

use super::facts::{Fact, Stating};
use super::failure::PlayError;
use super::measuring::{Measured, Measurer};
use super::protocol::Protocol;
use super::record::SeriesRecord;
use super::regret::Evaluations;
use super::run::Stage;
use super::searching::{SearchPlan, Searcher};
use super::{Releases, Rounds, Series, series};
use crate::gp::ArmCovariance;
use crate::kernel::{Party, Protocol as KernelProtocol};
use crate::learners::{Arms, Facts, LearnerModel, Random};
use crate::objectives::Instance;
use crate::privacy::ledger::Meter;
use crate::privacy::mechanisms::OutcomeRelease;
use crate::rng::Key;
use crate::vocab::{Origin, PartyId, Problem, ProtectedUnit, PublicFact};
use std::sync::Arc;

/// Who searches, who measures, and how: the fields that the recipes of such protocols have.
#[derive(Clone, Debug)]
pub struct SearchSettings<'a> {
    /// The field of the party that searches, and its name: `("service", &self.service)`.
    pub searcher: (&'static str, &'a str),
    /// The field of the party that measures, whose outcomes are protected, and its name.
    pub measurer: (&'static str, &'a str),
    /// Rounds of the learner; the field is `rounds`.
    pub rounds: u64,
    /// Random arms that are measured before the first round.
    pub initial_points: u64,
    /// One series for each; the field is `learners`.
    pub learners: &'a [LearnerModel],
    /// How outcomes are answered; the field is `outcomes`. The ledger has each answer for the searching party and for relays that
    /// can read it: parties of the protocol send it to nobody else.
    pub outcomes: OutcomeRelease,
}

impl<'a> SearchSettings<'a> {
    /// One initial point, and outcomes that are answered as they are.
    #[must_use]
    pub fn new(
        searcher: (&'static str, &'a str),
        measurer: (&'static str, &'a str),
        rounds: u64,
        learners: &'a [LearnerModel],
    ) -> Self {
        Self { searcher, measurer, rounds, initial_points: 1, learners, outcomes: OutcomeRelease::default() }
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
    /// Measures arms, and books what it answers.
    pub measurer: Measurer,
    /// Node of the series' other random numbers, by purpose.
    pub key: Key,
}

/// Parties by their ids; those that are not named are idle.
pub type Cast<P> = Vec<(PartyId, Box<dyn Party<P>>)>;

/// A protocol in which one party searches and another measures, once for each learner, on the same function, noise,
/// initial points and network draws. Whatever implements this is a [`Protocol`].
///
/// The searcher knows the inputs of all arms and the model of the objective, which is listed as taken as public; what
/// it learns of outcomes is booked.
pub trait Search: Send + Sync {
    /// What parties say and state.
    type World: KernelProtocol<Fact = Fact<Measured>> + Rounds;

    /// What the scenario says of the parts.
    fn settings(&self) -> SearchSettings<'_>;

    /// The parties of one series.
    fn cast(&self, parts: Parts) -> Cast<Self::World>;

    /// What else is wrong with the recipe in this world. The default: nothing.
    fn further_problems(&self, stage: &Stage) -> Vec<Problem> {
        let _ = stage;
        Vec::new()
    }
}

impl Series for LearnerModel {
    fn name(&self) -> &str {
        LearnerModel::name(self)
    }
}

impl<S: Search> Protocol for S {
    fn problems(&self, stage: &Stage) -> Vec<Problem> {
        let settings = self.settings();
        let (searcher, measurer) = (settings.searcher, settings.measurer);
        let mut problems: Vec<Problem> = Vec::new();
        problems
            .extend([searcher, measurer].into_iter().filter_map(|role| stage.party(role.0, role.1).err()));
        let parts = [searcher.1, measurer.1];
        problems.extend(series::same_party(measurer.0, "another party than the one that searches", parts));
        problems.extend(series::no_rounds(settings.rounds, "at least one round", "the papers use 50"));
        if settings.learners.is_empty() {
            let cure = "name one or more, as in [GpUcb(), Random()]";
            problems.push(Problem::wrong("learners", "at least one learner", "none", cure));
        }
        for (index, learner) in settings.learners.iter().enumerate() {
            let place = format!("learners[{index}]");
            let name = learner.name();
            if settings.learners[..index].iter().any(|earlier| earlier.name() == name) {
                let (expected, cure) = ("a learner that no earlier series has", "name each learner once");
                problems.push(Problem::wrong(&place, expected, name, cure));
            }
            problems.extend(learner.as_dyn().problems().into_iter().map(|problem| problem.below(&place)));
        }
        let outcomes = settings.outcomes.as_dyn().problems();
        problems.extend(outcomes.into_iter().map(|problem| problem.below("outcomes")));
        problems.extend(self.further_problems(stage));
        problems
    }

    fn needs_objective(&self) -> bool {
        true
    }

    fn units(&self) -> Vec<ProtectedUnit> {
        vec![ProtectedUnit::Record, ProtectedUnit::Outcome]
    }

    fn series(&self) -> Vec<String> {
        series::names(self.settings().learners)
    }

    fn play(&self, stage: &Stage, key: Key) -> Result<Vec<SeriesRecord>, PlayError> {
        let settings = self.settings();
        let played = settings.learners.iter().map(|learner| {
            let name = learner.name();
            let instance = stage.objective(name)?;
            let parts = settings.parts(learner, stage, instance, key)?;
            let parties = stage.all_parties(self.cast(parts));
            let mut record = stage.search(name, parties, key, instance, settings.initial_points)?;
            record.public.extend(settings.taken_as_public(stage, instance));
            Ok(record)
        });
        played.collect()
    }
}

impl SearchSettings<'_> {
    /// What the searcher knows of the measurer's data without a release.
    fn taken_as_public(&self, stage: &Stage, instance: &Instance) -> Vec<PublicFact> {
        let mut facts = instance.background.public.clone();
        if instance.background.fitted {
            facts.push(PublicFact::new("hyperparameters fitted to all records", Origin::ComputedFromData));
        }
        facts.extend(stage.inputs_of_records());
        let protocol = [
            "which arm is asked for in which round: chosen by the searcher from what it was told",
            "when messages arrive: times and losses are drawn without a look at the data",
        ];
        let (about, known_to) = (self.measurer.1, self.searcher.1);
        let facts = facts.into_iter().map(|fact| fact.about(about).known_to(known_to));
        facts.chain(protocol.map(|what| PublicFact::new(what, Origin::Protocol))).collect()
    }

    fn parts(
        &self,
        learner: &LearnerModel,
        stage: &Stage,
        instance: &Instance,
        key: Key,
    ) -> Result<Parts, PlayError> {
        let name = learner.name();
        let party = |role: (&str, &str)| {
            stage.party(role.0, role.1).map_err(|problem| PlayError::scenario(name, &problem))
        };
        let (searcher_id, measurer_id) = (party(self.searcher)?, party(self.measurer)?);
        let cannot = |error| PlayError::party(name, error);
        let own = |name: &str| key.child("party").child(name);
        let model = &instance.surrogate;
        let inputs = Arc::clone(&instance.inputs);
        let arms = Arms {
            n: inputs.n(),
            covariance: Some(ArmCovariance::of_inputs(inputs, model.covariance.clone())),
            noise_variance: model.noise_variance + self.outcomes.as_dyn().variance().map_err(cannot)?,
            mean: model.mean,
            facts: Facts { horizon: Some(self.rounds), ..Facts::default() },
        };
        let random = LearnerModel::from(Random {});
        let learner = if stage.directions.dry { &random } else { learner };
        let programs = stage.directions.programs.of_series(name);
        let learner = learner.as_dyn().build_with(&arms, &programs);
        let learner = learner.map_err(|error| PlayError::party(name, error))?;
        let initial = key.child("initial points");
        let plan = SearchPlan { initial_points: self.initial_points, rounds: self.rounds, initial };
        let known = self.taken_as_public(stage, instance);
        let measurer = Measurer::new(
            [self.measurer.1, self.searcher.1],
            self.outcomes.clone(),
            instance,
            (key.child("objective noise"), own(self.measurer.1).child("mechanisms").stream()),
            Meter::new(stage.budget).read_by(stage.read_between(measurer_id, &[searcher_id], &[])),
            known.iter().filter_map(PublicFact::condition).collect(),
        );
        let stream = own(self.searcher.1).child("learner").stream();
        let searcher = Searcher::new(plan, learner, stream);
        Ok(Parts { searcher_id, searcher, measurer_id, measurer, key: key.child("parties") })
    }
}

impl Stage {
    /// As [`Self::play`], for parties that state what they measure: the record has the evaluations and the regret.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn search<P: Rounds + Stating<Own = Measured>>(
        &self,
        series: &str,
        parties: Vec<Box<dyn Party<P>>>,
        key: Key,
        instance: &Instance,
        initial_points: u64,
    ) -> Result<SeriesRecord, PlayError> {
        let mut evaluations = Evaluations::new(instance);
        let mut record = self.play(series, parties, key, Releases::in_order(), &mut |at, fact| {
            let Measured { round, arm, outcome } = fact;
            evaluations.add((round + 1).saturating_sub(initial_points), *arm, *outcome, at);
        })?;
        record.iterations = evaluations.into_iterations();
        Ok(record)
    }
}
