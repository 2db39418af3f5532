//! The points of a box that a search has chosen, and their values.

use super::messages::{Message, OwnFact};
use crate::objectives::Continuum;
use crate::privacy::Released;
use crate::rng::Stream;
use std::collections::BTreeMap;

/// The points chosen so far, by number; a point has the number of its trial.
#[derive(Clone)]
pub(super) struct BoxPoints {
    continuum: Continuum,
    points: BTreeMap<usize, Vec<f64>>,
}

impl BoxPoints {
    /// An empty set of points of this box.
    pub(super) fn new(continuum: Continuum) -> Self {
        Self { continuum, points: BTreeMap::new() }
    }

    /// Number of points.
    pub(super) fn len(&self) -> usize {
        self.points.len()
    }

    /// Adds a point that a learner has chosen.
    pub(super) fn add(&mut self, number: usize, point: &[f64]) {
        self.points.insert(number, point.to_vec());
    }

    /// Adds a random point: each input is drawn uniformly from its range, on the input's own scale.
    pub(super) fn draw(&mut self, number: usize, stream: &mut Stream) {
        let domain = &self.continuum.domain;
        let shares: Vec<f64> = (0..domain.d()).map(|_| stream.uniform()).collect();
        self.points.insert(number, domain.from_unit(&domain.at_shares(&shares)));
    }

    fn point(&self, number: usize) -> Vec<f64> {
        self.points.get(&number).cloned().unwrap_or_default()
    }

    /// The message that asks a worker to train a model at a point.
    pub(super) fn to_train(&self, trial: u64, number: usize) -> Message {
        Message::TrainAt { trial, point: self.point(number) }
    }

    /// The noise-free value at a point.
    pub(super) fn value(&self, number: usize) -> f64 {
        self.points.get(&number).map_or(0.0, |point| self.continuum.function.at(point))
    }

    /// The fact that a point was tried.
    pub(super) fn tried(
        &self,
        (trial, number): (u64, usize),
        value: f64,
        (outcome, missing): (f64, bool),
    ) -> OwnFact {
        OwnFact::TriedAt { trial, point: self.point(number), value, outcome, missing }
    }

    /// The publication: a reader gets the point, and not the number of its trial.
    pub(super) fn publication(
        &self,
        number: Option<Released<usize>>,
        value: Option<Released<Vec<f64>>>,
    ) -> Message {
        Message::PublishAt { point: number.map(|number| number.map(|at| self.point(at))), value }
    }
}
