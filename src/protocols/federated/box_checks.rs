//! Checks for settings that a federation on a box cannot have.

use super::queries::Width;
use super::recipe::Federated;
use super::regions::Regions;
use super::series::Sharing;
use crate::gp::Points;
use crate::objectives::Objective;
use crate::vocab::{Problem, SearchBox};

/// The advice for every setting that needs a finite set of arms.
const FINITE: &str = "leave it out, or use a finite set of arms, `points: Sobol(1024)` in the objective";

impl Federated {
    /// What is wrong with the recipe for an objective whose queries are the points of a box.
    pub(super) fn check_box(&self, objective: &dyn Objective) -> Vec<Problem> {
        let Some(domain) = objective.domain() else { return Vec::new() };
        let mut problems = Vec::new();
        let mut refuse = |place: &str, expected: &str, found: &str| {
            problems.push(Problem::wrong(place, expected, found, FINITE));
        };
        if !objective.programs().is_empty() {
            let expected = "a function that is computed here: the functions of all agents, and their largest values, must be known \
                            from the start";
            refuse("", expected, "a program that is asked for each point of a box");
        }
        if self.perturbation.get() > 0.0 {
            let expected = "0 on a box: a function to which a new random number is added at every point has no largest value there";
            refuse("perturbation", expected, &self.perturbation.to_string());
        }
        if matches!(self.width, Width::Theorem { .. }) {
            let expected = "Constant on a box: the information gain is bounded by a greedy choice among arms";
            refuse("width", expected, "Theorem");
        }
        if self.regret_terms.is_some() {
            let expected = "none on a box: the terms are maxima over a finite set of arms";
            refuse("regret_terms", expected, "regret terms");
        }
        for (index, group) in self.groups.iter().enumerate() {
            let differences = &group.differences;
            let mixed = [
                ("heterogeneity", group.heterogeneity.get() > 0.0),
                ("differences.clusters", differences.split_up().is_some()),
                ("differences.drift", differences.drifting().is_some()),
            ];
            for (field, _) in mixed.into_iter().filter(|(_, set)| *set) {
                let expected = "functions that differ by shift and scale: the largest value of a mixture with drawn functions is \
                                not known on a box";
                refuse(&format!("groups[{index}].{field}"), expected, "a mixture");
            }
            if group.differences.part().is_some() {
                let place = format!("groups[{index}].differences.domain");
                let expected = "the whole box: the largest value in a part of it is not known";
                refuse(&place, expected, "a part for each agent");
            }
        }
        for (index, series) in self.series.iter().enumerate() {
            let Sharing::Aggregate(aggregate) = &series.sharing else { continue };
            let regions = aggregate.regions.get() as usize;
            if regions > 1 && !domain.ordered().contains(&true) {
                let place = format!("series[{index}].sharing.regions");
                let expected =
                    "1 on a box whose inputs are all categories, which are not divided among regions";
                problems.push(Problem::wrong(place, expected, regions.to_string(), "leave it out"));
            } else if let Some(empty) = without_point(&domain, regions) {
                let place = format!("series[{index}].sharing.regions");
                let expected = "regions that each contain a point: an input of whole numbers has too few values for this number of regions";
                problems.push(Problem::wrong(
                    place,
                    expected,
                    format!("{regions}, of which number {empty} (from 0) has none"),
                    "lower `regions`, or widen the first inputs",
                ));
            }
        }
        problems
    }
}

/// The number, from 0, of the first region that contains no valid point, if the box is cut into `regions` regions; `None`
/// if every region contains one. Only the first 100,000 regions are checked; more regions would need more than 100,000
/// agents, because a federation has at most as many regions as agents.
fn without_point(domain: &SearchBox, regions: usize) -> Option<usize> {
    let middle = vec![0.5; domain.ordered().len()];
    let sample = Points::new(1, middle.len(), middle);
    let cut = Regions::of_box(domain, &sample, regions);
    let half = vec![0.5; domain.d()];
    (0..cut.count().min(100_000)).find(|&region| domain.valid_point_in(&cut.ends(region), &half).is_none())
}
