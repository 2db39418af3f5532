//! What an agent measures: an arm, or a point of a box.

use super::regions::Regions;
use crate::gp::Points;
use std::sync::Arc;

/// A query of an agent.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Query {
    /// An arm.
    Arm(usize),
    /// A point of a box, given by its coordinates in the unit cube. Models use these coordinates.
    Point(Arc<[f64]>),
}

impl Query {
    /// A point, from its coordinates in the unit cube.
    pub(super) fn point(unit: Vec<f64>) -> Self {
        Self::Point(unit.into())
    }

    /// The coordinates of the query that models use; `arms` holds the coordinates of all arms.
    pub(super) fn coordinates<'a>(&'a self, arms: &'a Points) -> &'a [f64] {
        match self {
            Self::Arm(arm) => arms.row(*arm),
            Self::Point(unit) => unit,
        }
    }

    /// The region in which the query lies.
    pub(super) fn region(&self, regions: &Regions) -> usize {
        match self {
            Self::Arm(arm) => regions.of_arms()[*arm],
            Self::Point(unit) => regions.of(unit),
        }
    }
}
