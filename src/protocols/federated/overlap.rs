//! Whose vectors the sums contain, and to which points agents follow the sums, if an agent can measure only a part of the
//! domain.

use super::regions::Regions;
use crate::vocab::{Probability, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Whose vectors the sums contain, and to which points agents follow the sums, if an agent can measure only a part of
/// the domain (`domain` of its group's `differences`). An agent follows the sums if it measures the point at which the
/// function that the sums describe is largest. Which agents a sum leaves out, and to which points agents do not follow
/// sums, depends only on which points each agent can measure, and not on outcomes. So the sums and the queries may reveal
/// which points an agent can measure. This knowledge is taken as public, and no privacy loss covers it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub enum Overlap {
    /// Every sum contains all agents, and an agent follows the sums to any of the points that it can measure.
    #[default]
    WholeDomain,
    /// An agent follows the sums only to those of its own points that at least this share of all agents can measure. The
    /// share is above 0; 1 stands for the points that all agents have in common. If none of an agent's points is measurable
    /// by so many agents, this agent always uses its own model. The sums contain all agents, as with `WholeDomain`.
    ///
    /// Example: `CommonPoints(1)`.
    CommonPoints(Probability),
    /// The sum of a region contains only the agents that can measure at least this share, above 0, of the region's
    /// points. The other agents have weight 0 there, and the remaining weights are divided by their sum. If no agent can
    /// measure so many of the region's points, the region's sum contains all agents. Useful with several `regions`.
    ///
    /// Example: `CoveredRegions(0.5)`.
    CoveredRegions(Probability),
}

/// For each point, whether an agent can measure it; `None` if the agent can measure all points.
pub(super) type Part = Option<Arc<Vec<bool>>>;

fn has(part: &Part, point: usize) -> bool {
    part.as_ref().is_none_or(|part| part[point])
}

impl Overlap {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::WholeDomain
    }

    /// What is wrong with the share; `None` if nothing is wrong, or if there is no share.
    pub(super) fn problem(&self) -> Option<Problem> {
        let (name, share) = match self {
            Self::WholeDomain => return None,
            Self::CommonPoints(share) => ("CommonPoints", share),
            Self::CoveredRegions(share) => ("CoveredRegions", share),
        };
        (share.get() <= 0.0).then(|| {
            let cure = format!("write {name}(0.5), for example, or leave it out");
            Problem::wrong(name, "a share above 0", "0", cure)
        })
    }

    /// For each point, whether the agents that can measure it follow sums to it; `None` if agents follow sums to all points.
    pub(super) fn followed(&self, parts: &[Part]) -> Option<Vec<bool>> {
        let Self::CommonPoints(share) = self else { return None };
        let points = parts.iter().flatten().map(|part| part.len()).next()?;
        let enough = |point: usize| {
            let holders = parts.iter().filter(|part| has(part, point)).count();
            holders as f64 >= share.get() * parts.len() as f64
        };
        let found: Vec<bool> = (0..points).map(enough).collect();
        found.contains(&false).then_some(found)
    }

    /// By region and agent: whether the region's sum contains the agent; `None` if every sum contains all agents.
    pub(super) fn covering(&self, parts: &[Part], regions: &Regions) -> Option<Vec<Vec<bool>>> {
        let Self::CoveredRegions(share) = self else { return None };
        let of_region = |region: usize| {
            let points = regions.of_arms().iter().enumerate().filter(|(_, of)| **of == region);
            let points: Vec<usize> = points.map(|(point, _)| point).collect();
            let covers = |part: &Part| {
                let held = points.iter().filter(|&&point| has(part, point)).count();
                held as f64 >= share.get() * points.len() as f64
            };
            parts.iter().map(covers).collect::<Vec<bool>>()
        };
        let mut found: Vec<Vec<bool>> = (0..regions.count()).map(of_region).collect();
        let nobody = found.iter_mut().filter(|covers| !covers.contains(&true));
        nobody.for_each(|covers| covers.fill(true));
        found.iter().flatten().any(|covers| !covers).then_some(found)
    }
}
