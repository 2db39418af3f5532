//! The users of one replication: the rewards and answers of each cohort, and the mechanism for each epsilon.

use super::cohort::Cohort;
use super::membership::{Membership, Population};
use super::never_answer::NeverAnswer;
use super::recipe::{Local, SeriesRecipe};
use crate::network::latency::LatencyModel;
use crate::objectives::{Instance, Noise};
use crate::privacy::mechanisms::reports::{Report, ReportError, RewardFacts, RewardMechanism};
use crate::protocols::stage::differences::{DrawError, Drawn, Draws, OwnFunction, Replicated};
use crate::protocols::stage::{ReplicationError, ReplicationSetup};
use crate::rng::Key;
use crate::vocab::{Delta, Epsilon};
use std::sync::Arc;

/// The users of one cohort, or all users if there are no cohorts.
#[derive(Clone, Debug)]
pub(super) struct CohortUsers {
    /// Name of the cohort; empty if there are no cohorts.
    pub(super) name: String,
    pub(super) function: Arc<OwnFunction>,
    pub(super) law: Noise,
    pub(super) never_answer: NeverAnswer,
    pub(super) answer_after: LatencyModel,
}

/// Users who have the same epsilon, and the mechanism that they apply to a reward.
#[derive(Clone, Debug)]
pub(super) struct LevelOfUsers {
    /// The epsilon, if users have epsilons of their own.
    pub(super) epsilon: Option<Epsilon>,
    /// Expected fraction of users who have this epsilon.
    pub(super) share: f64,
    /// `None` if rewards are reported without protection.
    pub(super) mechanism: Option<Arc<dyn RewardMechanism>>,
}

/// All users of one replication.
#[derive(Debug)]
pub(super) struct Crowd {
    pub(super) membership: Membership,
    /// At least one entry; a single entry if the scenario has no cohorts.
    pub(super) cohorts: Vec<CohortUsers>,
    mean: f64,
}

/// The users of one cohort with one epsilon, and how one of them reports its reward, for an audit.
#[derive(Clone, Debug)]
pub struct UserKind {
    /// The name of these users in the ledger ("users, cohort phone, epsilon 0.5").
    pub protected: String,
    /// The mechanism; `None` if rewards are reported without protection.
    pub mechanism: Option<Arc<dyn RewardMechanism>>,
    /// The rule by which some of these users never answer.
    pub never_answer: NeverAnswer,
    /// The mean reward of each arm in the first round, in units of the objective.
    pub values: Arc<Vec<f64>>,
    /// The largest of `values`.
    pub best: f64,
    /// The noise of these users' rewards.
    pub noise: Noise,
}

/// The name under which the ledger lists the users who belong to one cohort and have one epsilon. Losses of different
/// cohorts, and of different epsilons, are stated separately.
pub(super) fn protected(users: &str, cohort: &str, epsilon: Option<Epsilon>) -> String {
    let cohort = if cohort.is_empty() { String::new() } else { format!(", cohort {cohort}") };
    let level = epsilon.map_or_else(String::new, |epsilon| format!(", epsilon {epsilon}"));
    format!("{users}{cohort}{level}")
}

impl Crowd {
    /// The users of a replication; `key` is the replication's node of the seed tree.
    pub(super) fn new(
        local: &Local,
        stage: &ReplicationSetup,
        instance: &Instance,
        key: Key,
    ) -> Result<Self, DrawError> {
        let membership = local.membership(key);
        let one = |name: &str, function, law, cohort: Option<&Cohort>| CohortUsers {
            name: name.to_owned(),
            function,
            law,
            never_answer: cohort.and_then(|cohort| cohort.never_answer).unwrap_or(local.never_answer),
            answer_after: cohort.and_then(|c| c.answer_after.clone()).unwrap_or(local.answer_after.clone()),
        };
        let mean = instance.surrogate.mean;
        if local.cohorts.is_empty() {
            let function = Arc::new(OwnFunction::constant(Arc::clone(&instance.values)));
            let cohorts = vec![one("", function, instance.noise.clone(), None)];
            return Ok(Self { membership, cohorts, mean });
        }
        let mut drawn: Vec<Drawn<'_>> = Vec::with_capacity(local.cohorts.len());
        for (n, cohort) in local.cohorts.iter().enumerate() {
            let key = membership.users.child("cohorts").child(&cohort.name).child("objective");
            let how = (cohort.heterogeneity.get(), &cohort.differences);
            drawn.push(Drawn::new((n, 0), how, instance.inputs.d(), key));
        }
        let reach = local.cohorts.iter().map(|cohort| cohort.differences.reach()).fold(0.0, f64::max);
        let rounds = local.rounds.saturating_sub(1);
        let problems = Draws::of(
            Replicated { stage, instance, key, rounds, reach, perturbation: 0.0, prior: None },
            &drawn,
        )?;
        let cohorts = local.cohorts.iter().zip(problems);
        let cohorts = cohorts.map(|(cohort, own)| one(&cohort.name, own.function, own.noise, Some(cohort)));
        Ok(Self { cohorts: cohorts.collect(), membership, mean })
    }

    /// The largest value of `of` over the mean rewards of all cohorts, rounds and arms; at least 0.
    fn largest(&self, of: impl Fn(f64) -> f64) -> f64 {
        let all = self.cohorts.iter().flat_map(|cohort| cohort.function.rounds()).flat_map(|v| v.iter());
        all.fold(0.0f64, |most, value| most.max(of(*value)))
    }

    /// The largest distance of a mean reward from the prior mean.
    pub(super) fn deviation(&self) -> f64 {
        self.largest(|value| (value - self.mean).abs())
    }

    /// The largest absolute value of the noise of a reward; `None` if the noise of a cohort is unbounded.
    pub(super) fn noise_bound(&self) -> Option<f64> {
        self.largest_noise(Noise::bound)
    }

    fn largest_noise(&self, of: impl Fn(&Noise) -> Option<f64>) -> Option<f64> {
        self.cohorts.iter().try_fold(0.0f64, |most, cohort| Some(most.max(of(&cohort.law)?)))
    }

    fn mechanism(&self, report: &Report) -> Result<Option<Arc<dyn RewardMechanism>>, ReportError> {
        report.as_dyn().mechanism(&RewardFacts {
            mean: self.mean,
            deviation: self.deviation(),
            reach: self.largest(f64::abs),
            noise_bound: self.noise_bound(),
            noise_tail: &|delta: Delta| self.largest_noise(|noise| noise.tail(delta)),
        })
    }

    /// The levels of privacy of a series' users, in ascending order of epsilon, with their mechanisms. If `cohort` is the
    /// position of a cohort, only the levels of its users.
    ///
    /// # Errors
    /// [`ReportError`] if the mechanism of a level cannot be built: nothing bounds the rewards, or bound or noise are out of
    /// range.
    pub(super) fn levels(
        &self,
        series: &SeriesRecipe,
        cohort: Option<usize>,
    ) -> Result<Vec<LevelOfUsers>, ReportError> {
        let Some(personal) = &series.epsilons else {
            let mechanism = self.mechanism(&series.report)?;
            return Ok(vec![LevelOfUsers { epsilon: None, share: 1.0, mechanism }]);
        };
        let all = self.membership.shares();
        let groups = match cohort.and_then(|place| all.get(place)) {
            Some((name, _)) => vec![(*name, 1.0)],
            None => all,
        };
        let level = |(epsilon, share): (Epsilon, f64)| {
            let report = series.report.as_dyn().at_epsilon(epsilon).unwrap_or_else(|| series.report.clone());
            let mechanism = self.mechanism(&report)?;
            Ok(LevelOfUsers { epsilon: Some(epsilon), share, mechanism })
        };
        personal.shares(&groups).into_iter().map(level).collect()
    }
}

impl Local {
    /// The cohorts and the population to which users belong; `key` is the replication's node of the seed tree.
    pub(super) fn membership(&self, key: Key) -> Membership {
        let users = key.child("party").child(&self.users);
        let people = |size: std::num::NonZeroU64| Population {
            size: size.get(),
            popularity: self.popularity.clone(),
            who: users.child("who"),
        };
        Membership {
            population: self.population.map(people),
            cohorts: Arc::new(self.cohorts.iter().map(|c| (c.name.clone(), c.share.get())).collect()),
            users,
        }
    }

    /// Every kind of user of a series, by cohort and by epsilon. `key` is the replication's node of the seed tree.
    ///
    /// # Errors
    /// [`ReplicationError`] if the replication has no objective, if the cohorts' functions cannot be drawn, or if a
    /// mechanism cannot be built: nothing bounds the rewards, or bound or noise are out of range.
    pub fn kinds_of_users(
        &self,
        series: &SeriesRecipe,
        stage: &ReplicationSetup,
        key: Key,
    ) -> Result<Vec<UserKind>, ReplicationError> {
        let instance = stage.objective(&series.name)?;
        let crowd = Crowd::new(self, stage, instance, key).map_err(ReplicationError::in_all)?;
        let mut kinds = Vec::new();
        for (place, cohort) in crowd.cohorts.iter().enumerate() {
            let levels = crowd.levels(series, Some(place));
            for level in levels.map_err(|error| ReplicationError::party(&series.name, error))? {
                kinds.push(UserKind {
                    protected: protected(&self.users, &cohort.name, level.epsilon),
                    mechanism: level.mechanism,
                    never_answer: cohort.never_answer,
                    values: Arc::clone(cohort.function.at(0)),
                    best: cohort.function.best(0),
                    noise: cohort.law.clone(),
                });
            }
        }
        Ok(kinds)
    }

    /// Whether some `never_answer` setting, the protocol's or a cohort's, makes silence depend on the reward. The
    /// protocol's setting counts even if every cohort has its own in place of it.
    #[must_use]
    pub fn silence_is_informative(&self) -> bool {
        let of_cohorts = self.cohorts.iter().filter_map(|cohort| cohort.never_answer);
        let stated = of_cohorts.chain(std::iter::once(self.never_answer));
        stated.into_iter().any(|silence| silence.depends_on_reward())
    }
}
