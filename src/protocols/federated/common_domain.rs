//! An agent follows a sum if it measures the point at which the function that the sum describes is largest. This module
//! says whose vectors are in which sum, and to which points each agent follows sums, if agents can measure only parts of
//! the domain.

use super::overlap::{Overlap, Part};
use super::placement::Placement;
use super::recipe::Federated;
use super::regions::Regions;
use super::replication::Replication;
use super::series::{FederatedSeries, Sharing};
use crate::protocols::stage::{ReplicationError, ReplicationSetup};
use crate::rng::Key;
use std::sync::Arc;

impl Federated {
    /// Whose vectors are in which sum of a series; `key` is the replication's node of the seed tree.
    ///
    /// # Errors
    /// If the overlap of the series is `CoveredRegions`, and the replication, which has the agents' parts of the domain,
    /// cannot be set up.
    pub fn placement(
        &self,
        stage: &ReplicationSetup,
        series: &FederatedSeries,
        key: Key,
    ) -> Result<Placement, ReplicationError> {
        let regions = series.sharing.regions();
        match &series.sharing {
            Sharing::Aggregate(aggregate) if matches!(aggregate.overlap, Overlap::CoveredRegions(_)) => {
                let replication = self.replication(stage, key)?;
                Ok(replication.placement(series, &replication.common.regions(regions)))
            }
            _ => Ok(Placement::everywhere(self.explored(stage, regions))),
        }
    }
}

fn overlap(series: &FederatedSeries) -> Overlap {
    match &series.sharing {
        Sharing::Aggregate(aggregate) => aggregate.overlap,
        Sharing::Alone(_) | Sharing::RandomAgent(_) => Overlap::WholeDomain,
    }
}

impl Replication<'_> {
    /// The part of the domain that each agent can measure.
    fn parts(&self) -> Vec<Part> {
        self.own.iter().map(|own| own.points.clone()).collect()
    }

    /// Which region each agent explores, and whose vectors are in which sum; `cut` are the regions of the series.
    pub(super) fn placement(&self, series: &FederatedSeries, cut: &Regions) -> Placement {
        let explored = self.recipe.explored(self.stage, series.sharing.regions());
        Placement::new(explored, overlap(series).covering(&self.parts(), cut))
    }

    /// By agent: for each point, whether the agent follows sums to that point; `None` if it follows them to every point that
    /// it can measure.
    pub(super) fn followed(&self, series: &FederatedSeries) -> Vec<Part> {
        let parts = self.parts();
        let common = overlap(series).followed(&parts);
        let own = |part: Part| {
            let common = common.as_ref()?;
            let both =
                |(point, common): (usize, &bool)| *common && part.as_ref().is_none_or(|part| part[point]);
            Some(Arc::new(common.iter().enumerate().map(both).collect()))
        };
        parts.into_iter().map(own).collect()
    }

    /// How much of the domain agents have in common, and how much of its own part each agent loses. With `CommonPoints`, an
    /// agent loses the points to which it does not follow sums. With `CoveredRegions`, it loses the points in regions whose
    /// sums do not contain the agent. Empty with `WholeDomain`, and in a dry run.
    pub(super) fn overlap_outcomes(&self, series: &FederatedSeries) -> Vec<(&'static str, f64)> {
        if self.stage.options.dry {
            return Vec::new();
        }
        match overlap(series) {
            Overlap::WholeDomain => Vec::new(),
            Overlap::CommonPoints(_) => self.common_points(series),
            Overlap::CoveredRegions(_) => self.covered_regions(series),
        }
    }

    fn common_points(&self, series: &FederatedSeries) -> Vec<(&'static str, f64)> {
        let parts = self.parts();
        let points = self.instance.inputs.n();
        let common = overlap(series).followed(&parts).unwrap_or_else(|| vec![true; points]);
        let mut found = vec![("Overlap of domains: share of the domain", share(&common, |_| true))];
        let lost = |part: &Part| 1.0 - share(&common, |point| part.as_ref().is_none_or(|part| part[point]));
        found.extend(mean_and_most(
            parts.iter().map(lost),
            [
                "Overlap of domains: share of own points lost, mean of agents",
                "Overlap of domains: share of own points lost, most of any agent",
            ],
        ));
        // An agent that follows no sum is left out of the mean of the values lost: there is no point to which it follows
        // sums, and so no largest value at such points.
        let lost = self.own.iter().zip(self.followed(series)).filter_map(|(own, followed)| {
            let values = own.function.at(0);
            let followed = followed?;
            let best = values.iter().zip(followed.iter()).filter(|(_, followed)| **followed);
            let best = best.map(|(value, _)| *value).fold(f64::NEG_INFINITY, f64::max);
            Some(own.function.best(0) - best).filter(|lost| lost.is_finite())
        });
        let lost: Vec<f64> = lost.collect();
        let mean = lost.iter().sum::<f64>() / (lost.len().max(1)) as f64;
        found.push(("Overlap of domains: value lost at other points", mean));
        let nowhere = |followed: &Part| followed.as_ref().is_some_and(|points| !points.contains(&true));
        let nowhere = self.followed(series).iter().filter(|followed| nowhere(followed)).count();
        found.push(("Overlap of domains: agents that follow no sum", nowhere as f64));
        found
    }

    fn covered_regions(&self, series: &FederatedSeries) -> Vec<(&'static str, f64)> {
        let cut = self.common.regions(series.sharing.regions());
        let (parts, placement) = (self.parts(), self.placement(series, &cut));
        let regions = placement
            .covering()
            .map_or_else(|| vec![vec![true; parts.len()]; cut.count()], <[Vec<bool>]>::to_vec);
        let of_arms = cut.of_arms();
        let common: Vec<bool> = of_arms.iter().map(|&region| !regions[region].contains(&false)).collect();
        let mut found = vec![("Overlap of domains: share of the domain", share(&common, |_| true))];
        let lost = |(agent, part): (usize, &Part)| {
            let here: Vec<bool> = of_arms.iter().map(|&region| regions[region][agent]).collect();
            1.0 - share(&here, |point| part.as_ref().is_none_or(|part| part[point]))
        };
        found.extend(mean_and_most(
            parts.iter().enumerate().map(lost),
            [
                "Overlap of domains: share of own points lost, mean of agents",
                "Overlap of domains: share of own points lost, most of any agent",
            ],
        ));
        let members = |covers: &Vec<bool>| covers.iter().filter(|covers| **covers).count() as f64;
        let members: Vec<f64> = regions.iter().map(members).collect();
        let mean = members.iter().sum::<f64>() / members.len().max(1) as f64;
        let fewest = members.iter().copied().fold(f64::INFINITY, f64::min);
        found.push(("Overlap of domains: agents in a sum, mean of regions", mean));
        found.push(("Overlap of domains: agents in a sum, fewest of any region", fewest));
        found
    }
}

/// The number of points of a part for which `is` holds, as a share of all points of the part; 0 if the part is empty.
fn share(is: &[bool], part: impl Fn(usize) -> bool) -> f64 {
    let of: Vec<bool> = is.iter().enumerate().filter(|(point, _)| part(*point)).map(|(_, is)| *is).collect();
    of.iter().filter(|is| **is).count() as f64 / of.len().max(1) as f64
}

/// The mean and the largest value.
fn mean_and_most(of: impl Iterator<Item = f64>, names: [&'static str; 2]) -> [(&'static str, f64); 2] {
    let of: Vec<f64> = of.collect();
    let mean = of.iter().sum::<f64>() / of.len().max(1) as f64;
    [(names[0], mean), (names[1], of.iter().copied().fold(0.0, f64::max))]
}
