//! The cohort and the epsilon of each user, which are public. All series draw them with the same random numbers, so a user
//! has the same cohort in every series.

use super::popularity::PopularityModel;
use crate::privacy::PersonalEpsilons;
use crate::rng::Key;
use crate::vocab::Epsilon;
use std::sync::Arc;

/// A fixed population whose members may visit repeatedly.
#[derive(Clone, Debug)]
pub(super) struct Population {
    pub(super) size: u64,
    pub(super) popularity: PopularityModel,
    /// Node of the seed tree; its child k draws the person who makes visit k.
    pub(super) who: Key,
}

impl Population {
    /// The person who makes the visit with number `user`.
    pub(super) fn person(&self, user: u64) -> u64 {
        self.popularity.as_dyn().person(self.size, &mut self.who.index(user).stream())
    }
}

/// The population of people who may visit repeatedly, and the cohorts.
#[derive(Clone, Debug)]
pub(super) struct Membership {
    pub(super) population: Option<Population>,
    /// Name and `share` of each cohort; empty if there are no cohorts.
    pub(super) cohorts: Arc<Vec<(String, f64)>>,
    /// Node of the seed tree for the party that represents all users.
    pub(super) users: Key,
}

impl Membership {
    /// The person who makes the visit with number `user`; `None` if the scenario has no `population`, so that nobody visits
    /// twice.
    pub(super) fn person(&self, user: u64) -> Option<u64> {
        self.population.as_ref().map(|all| all.person(user))
    }

    /// The number that determines a user's cohort and epsilon: the person's number, or the user's number if nobody visits
    /// twice.
    fn unit(&self, user: u64) -> u64 {
        self.person(user).unwrap_or(user)
    }

    /// The position of a user's cohort in `cohorts`; 0 without cohorts.
    pub(super) fn cohort(&self, user: u64) -> usize {
        if self.cohorts.len() < 2 {
            return 0;
        }
        let total: f64 = self.cohorts.iter().map(|(_, share)| share).sum();
        let mut stream = self.users.child("cohort").index(self.unit(user)).stream();
        let mut left = stream.uniform() * total;
        let reached = |(_, share): &(String, f64)| {
            left -= share;
            left < 0.0
        };
        self.cohorts.iter().position(reached).unwrap_or(self.cohorts.len() - 1)
    }

    /// A user's own epsilon; `None` if `of` states none for the user's cohort.
    pub(super) fn epsilon(&self, user: u64, of: &PersonalEpsilons) -> Option<Epsilon> {
        let unit = self.unit(user);
        let cohort = self.cohorts.get(self.cohort(user)).map_or("", |(name, _)| name);
        of.of(unit, cohort, &mut self.users.child("own epsilon").index(unit).stream())
    }

    /// The name of each cohort, with the expected share of users in it.
    pub(super) fn shares(&self) -> Vec<(&str, f64)> {
        let total: f64 = self.cohorts.iter().map(|(_, share)| share).sum();
        self.cohorts.iter().map(|(name, share)| (name.as_str(), share / total)).collect()
    }
}
