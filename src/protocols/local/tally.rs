//! Regrets and counts of one series, in memory that does not grow with the number of rounds.

use super::cohort_regret::CohortRegret;
use super::crowd::Crowd;
use super::messages::OwnFact;
use super::published_means::PublishedMeans;
use crate::objectives::Instance;
use crate::protocols::stage::{Evaluations, SeriesOutcome, SeriesRecord};
use crate::vocab::Time;

/// Largest number of rounds that are recorded, besides the first and the last.
const RECORDED: u64 = 1_000;

/// The mean noise of the rewards of users who are not silent. The noise is the reward, before it is made private, minus the
/// mean reward of the user's arm. The expectation of this bias is 0 if silence does not depend on the reward.
const BIAS: &str = "bias of reported rewards";

/// The mean reward of users who are not silent, minus the mean reward of all users. It shows how
/// far the reports that the service gets are from a representative sample. Unlike [`BIAS`], it
/// includes the effect that users of some arms are silent more often.
const NONRESPONSE_BIAS: &str = "mean reward of answers heard minus that of answers due";

/// The regrets and counts of one series.
#[derive(Debug)]
pub(super) struct Tally<'a> {
    evaluations: Evaluations<'a>,
    /// Regrets by cohort; `None` without cohorts.
    cohorts: Option<CohortRegret>,
    played: u64,
    /// Noise of the reward of the user who played last.
    last_noise: f64,
    /// The reward of the user who played last.
    last_reward: f64,
    /// Sum of the rewards of all users.
    due: f64,
    /// Sum of the rewards of the users who are not silent.
    reported: f64,
    /// Sum of the noise of the rewards of the users who are not silent.
    reported_noise: f64,
    silent: u64,
    learned: u64,
    exceeding: u64,
    /// How far published means are from the means of the rewards; `None` if none is published.
    published: Option<PublishedMeans>,
}

impl<'a> Tally<'a> {
    pub(super) fn new(instance: &'a Instance, crowd: &Crowd, rounds: u64, publishes: bool) -> Self {
        Self {
            evaluations: Evaluations::new(instance).with_round_limit(rounds, RECORDED),
            cohorts: CohortRegret::new(crowd),
            played: 0,
            last_noise: 0.0,
            last_reward: 0.0,
            due: 0.0,
            reported: 0.0,
            reported_noise: 0.0,
            silent: 0,
            learned: 0,
            exceeding: 0,
            published: publishes.then(PublishedMeans::default),
        }
    }

    pub(super) fn see(&mut self, fact: &OwnFact, at: Time) {
        if let Some(published) = &mut self.published {
            published.see(fact);
        }
        match fact {
            OwnFact::Played { user, arm, reward, exceeds } => {
                self.played += 1;
                let mean = self.mean_reward((*user, *arm), *reward, at);
                self.count((*reward, mean), *exceeds);
            }
            OwnFact::Tried { arm, point, value, reward, exceeds, .. } => {
                self.played += 1;
                self.evaluations.add_point(self.played, (*arm, point), (*value, *reward), at);
                self.count((*reward, *value), *exceeds);
            }
            // This fact directly follows the `Played` or `Tried` fact of the same user, so the last noise and the last
            // reward are that user's.
            OwnFact::Silent { .. } => {
                self.silent += 1;
                self.reported_noise -= self.last_noise;
                self.reported -= self.last_reward;
            }
            OwnFact::Learned { .. } => self.learned += 1,
            OwnFact::Counted { .. } | OwnFact::MeanPublished { .. } => {}
        }
    }

    /// Adds a reward and the mean of its distribution.
    fn count(&mut self, (reward, mean): (f64, f64), exceeds: bool) {
        self.exceeding += u64::from(exceeds);
        self.last_noise = reward - mean;
        self.reported_noise += self.last_noise;
        self.last_reward = reward;
        self.due += reward;
        self.reported += reward;
    }

    /// Adds the evaluation of the last user; returns the mean reward of the arm for that user.
    fn mean_reward(&mut self, (user, arm): (u64, u64), reward: f64, at: Time) -> f64 {
        let Some(cohorts) = &mut self.cohorts else {
            return self.evaluations.add(self.played, arm, reward, at);
        };
        let value = cohorts.tried(self.played - 1, user, arm);
        let regret = if self.evaluations.keeps(self.played) { cohorts.so_far() } else { [0.0; 2] };
        self.evaluations.add_known(self.played, (arm, value), reward, regret, at);
        value
    }

    /// Writes all regrets, biases and counts into the record. Biases are left out if the scenario lets no user be silent, or
    /// if all users are silent.
    pub(super) fn fill_record(self, record: &mut SeriesRecord, private: bool, may_be_silent: bool) {
        self.evaluations.into_record(record);
        record.groups = self.cohorts.as_ref().map_or_else(Vec::new, CohortRegret::outcomes);
        let reporting = self.played - self.silent;
        if may_be_silent && reporting > 0 {
            let value = self.reported_noise / reporting as f64;
            record.outcomes.push(SeriesOutcome::new(BIAS, value));
            let value = self.reported / reporting as f64 - self.due / self.played as f64;
            record.outcomes.push(SeriesOutcome::new(NONRESPONSE_BIAS, value));
        }
        if let Some(published) = &self.published {
            published.fill_record(record);
        }
        let mut count = |name: &str, value: u64| {
            record.counts.insert(name.to_owned(), value);
        };
        count("played", self.played);
        count("never answer", self.silent);
        count("reports used", self.learned);
        if private {
            count("beyond bound", self.exceeding);
        }
    }
}
