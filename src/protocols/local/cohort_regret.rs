//! The learner's regret by cohort, against the largest mean reward of each cohort.

use super::crowd::Crowd;
use super::membership::Membership;
use crate::protocols::stage::GroupOutcome;
use crate::protocols::stage::differences::OwnFunction;
use std::sync::Arc;

/// Regrets of one cohort.
#[derive(Debug)]
struct OfCohort {
    name: String,
    /// The expected share of the cohort's users among all users.
    share: f64,
    function: Arc<OwnFunction>,
    /// Arms that the cohort's users have tried; each arm is listed once.
    tried: Vec<usize>,
    users: u64,
    cumulative: f64,
}

impl OfCohort {
    /// The cohort's simple regret in a round: its largest mean reward in this round, minus the largest mean reward, in the
    /// same round, of the arms that its users have tried so far. If they have tried no arm, the smallest mean reward is
    /// subtracted instead.
    fn simple(&self, round: u64) -> f64 {
        let values = self.function.at(round);
        let most = self.tried.iter().map(|&arm| values[arm]).fold(f64::NEG_INFINITY, f64::max);
        let least = || values.iter().copied().fold(f64::INFINITY, f64::min);
        self.function.best(round) - if self.tried.is_empty() { least() } else { most }
    }
}

/// Regrets by cohort of one series.
#[derive(Debug)]
pub(super) struct CohortRegret {
    membership: Membership,
    cohorts: Vec<OfCohort>,
    cumulative: f64,
    /// The last round, counted from 0.
    round: u64,
}

impl CohortRegret {
    /// Regrets before the first user; `None` if there are no cohorts.
    pub(super) fn new(crowd: &Crowd) -> Option<Self> {
        let membership = crowd.membership.clone();
        let of = |(place, (name, share)): (usize, (&str, f64))| OfCohort {
            name: name.to_owned(),
            share,
            function: Arc::clone(&crowd.cohorts[place].function),
            tried: Vec::new(),
            users: 0,
            cumulative: 0.0,
        };
        let cohorts: Vec<OfCohort> = membership.shares().into_iter().enumerate().map(of).collect();
        (!cohorts.is_empty()).then_some(Self { membership, cohorts, cumulative: 0.0, round: 0 })
    }

    /// Adds the arm that a user tried in a round (from 0); returns the arm's mean reward for that user.
    pub(super) fn tried(&mut self, round: u64, user: u64, arm: u64) -> f64 {
        let (arm, cohort) = (arm as usize, &mut self.cohorts[self.membership.cohort(user)]);
        let value = cohort.function.at(round)[arm];
        let regret = cohort.function.best(round) - value;
        if !cohort.tried.contains(&arm) {
            cohort.tried.push(arm);
        }
        cohort.users += 1;
        cohort.cumulative += regret;
        self.cumulative += regret;
        self.round = round;
        value
    }

    /// Simple and cumulative regret so far. The simple regret is the mean of the simple regrets of all cohorts that have had
    /// a user, weighted by the cohorts' shares; the cumulative regret is the sum of the regrets of all users.
    pub(super) fn so_far(&self) -> [f64; 2] {
        let met = || self.cohorts.iter().filter(|cohort| cohort.users > 0);
        let total: f64 = met().map(|cohort| cohort.share).sum();
        let simple: f64 = met().map(|cohort| cohort.share / total * cohort.simple(self.round)).sum();
        [simple, self.cumulative]
    }

    /// The regrets and the number of users of each cohort; if people may visit repeatedly, every visit counts as a user.
    pub(super) fn outcomes(&self) -> Vec<GroupOutcome> {
        let outcome = |cohort: &OfCohort| {
            let simple_regret = cohort.simple(self.round);
            GroupOutcome {
                group: cohort.name.clone(),
                agents: cohort.users,
                simple_regret,
                worst_simple_regret: simple_regret,
                cumulative_regret: cohort.cumulative,
                evaluations: cohort.users as f64,
                regret_per_user: Some(cohort.cumulative / cohort.users.max(1) as f64),
            }
        };
        self.cohorts.iter().map(outcome).collect()
    }
}
