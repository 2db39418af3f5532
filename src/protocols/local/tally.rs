//! Turns what happened into regrets, counts and a ledger, in memory that does not grow with the rounds.

use super::messages::Fact;
use crate::objectives::Instance;
use crate::protocols::stage::chronicle::Chronicle;
use crate::protocols::stage::{BookedRelease, Iteration, NamedOutcome, SeriesRecord, book};
use crate::vocab::{PrivacyEvent, Time};
use std::collections::BTreeMap;

/// Rounds that are recorded at most, but for the last.
const RECORDED: u64 = 1_000;

/// Rewards that are reported are too high by this on average, whatever the learner; 0 where silence has nothing to do
/// with the reward.
const BIAS: &str = "bias of reported rewards";

/// What is kept of one series.
pub(super) struct Tally<'a> {
    instance: &'a Instance,
    best: f64,
    rounds: u64,
    /// Every so many rounds one is recorded.
    stride: u64,
    played: u64,
    simple: f64,
    cumulative: f64,
    /// Noise of the reward of the user who played last, and of all who do not keep silent.
    last_noise: f64,
    reported_noise: f64,
    iterations: Vec<Iteration>,
    /// Releases that concern no numbered unit.
    releases: Vec<BookedRelease>,
    /// Releases by unit.
    of_units: BTreeMap<u64, Vec<BookedRelease>>,
    silent: u64,
    learned: u64,
    exceeding: u64,
    chronicle: Chronicle,
}

impl<'a> Tally<'a> {
    pub(super) fn new(instance: &'a Instance, rounds: u64) -> Self {
        Self {
            instance,
            best: instance.best(),
            rounds,
            stride: rounds.div_ceil(RECORDED).max(1),
            played: 0,
            simple: f64::INFINITY,
            cumulative: 0.0,
            last_noise: 0.0,
            reported_noise: 0.0,
            iterations: Vec::new(),
            releases: Vec::new(),
            of_units: BTreeMap::new(),
            silent: 0,
            learned: 0,
            exceeding: 0,
            chronicle: Chronicle::default(),
        }
    }

    pub(super) fn see(&mut self, fact: &Fact, at: Time) {
        match fact {
            Fact::Released(event) => self.released(event),
            Fact::Played { arm, reward, exceeds, .. } => {
                self.exceeding += u64::from(*exceeds);
                self.played(*arm, *reward, at);
            }
            // A user is silent about the reward that it has just got.
            Fact::Silent { .. } => {
                self.silent += 1;
                self.reported_noise -= self.last_noise;
            }
            Fact::Learned { .. } => self.learned += 1,
            Fact::BudgetReached(reached) => self.chronicle.budget_reached(reached),
            Fact::Jittered(needed) => self.chronicle.jittered(*needed),
            Fact::Ended { reason } => self.chronicle.ended(reason),
        }
    }

    fn released(&mut self, event: &PrivacyEvent) {
        match event.unit_index {
            None => book_alike(&mut self.releases, event),
            Some(unit) => book_alike(self.of_units.entry(unit).or_default(), event),
        }
    }

    fn played(&mut self, arm: u64, outcome: f64, at: Time) {
        let value = self.instance.values[arm as usize];
        let regret = self.best - value;
        self.simple = self.simple.min(regret);
        self.cumulative += regret;
        self.last_noise = outcome - value;
        self.reported_noise += self.last_noise;
        self.played += 1;
        if self.played.is_multiple_of(self.stride) || self.played == 1 || self.played == self.rounds {
            self.iterations.push(Iteration {
                t: self.played,
                arm,
                outcome,
                value,
                simple_regret: self.simple,
                cumulative_regret: self.cumulative,
                seconds: at.seconds(),
            });
        }
    }

    /// Writes everything into the record.
    pub(super) fn into_record(self, record: &mut SeriesRecord, private: bool) {
        self.chronicle.into_record(record);
        record.iterations = self.iterations;
        record.releases = self.releases;
        record.releases.extend(self.of_units.into_values().flatten());
        let reporting = self.played - self.silent;
        if self.silent > 0 && reporting > 0 {
            let value = self.reported_noise / reporting as f64;
            record.outcomes.push(NamedOutcome { name: BIAS.to_owned(), value, bound: None });
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

/// Books beside a release that differs only in round and time, wherever in the list it stands.
fn book_alike(booked: &mut Vec<BookedRelease>, event: &PrivacyEvent) {
    let alike = |known: &PrivacyEvent| known.released == event.released && known.observer == event.observer;
    let place = booked.iter().position(|known| alike(&known.event));
    let Some(place) = place else { return book(booked, event) };
    let mut one = vec![booked.remove(place)];
    book(&mut one, event);
    booked.splice(place..place, one);
}
