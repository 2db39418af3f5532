//! Conformance tests of the families of federations: weight schedules and round policies.

use super::{Violation, Violations};
use crate::protocols::federated::{Policy, Weights};
use crate::vocab::Span;

/// Rules, at the first hundred aggregations: every agent has a weight in every region, weights are not negative, their
/// sum is 1 in each region, and they are the same at every call.
#[must_use]
pub fn weights(schedule: &dyn Weights) -> Vec<Violation> {
    let mut found = Violations::default();
    let explored: Vec<usize> = (0..10).map(|agent| agent % 4).collect();
    for k in 0..100 {
        let regions = schedule.at(k, &explored, 4);
        let same = schedule.at(k, &explored, 4) == regions;
        found.require(same, "the same weights at every call", || "others".to_owned());
        let shape = regions.len() == 4 && regions.iter().all(|region| region.len() == explored.len());
        found.require(shape, "weights of every agent in every region", || "another shape".to_owned());
        for region in regions {
            let sum: f64 = region.iter().sum();
            let fits = region.iter().all(|weight| *weight >= 0.0) && (sum - 1.0).abs() < 1e-9;
            found.require(fits, "weights that are not negative, with sum 1", || format!("{region:?}"));
        }
    }
    found.0
}

/// Rules: patience and decisions are the same at every call; the patience is above 0; if a policy ends a round with some number of answers, it does so with more answers
/// too.
#[must_use]
pub fn policy(policy: &dyn Policy) -> Vec<Violation> {
    let mut found = Violations::default();
    found.require(policy.patience() > Span::ZERO, "a patience above 0", || "0 s".to_owned());
    let told = || format!("{:?}", [policy.patience(), policy.patience()]);
    found.require(policy.patience() == policy.patience(), "the same patience at every call", told);
    for agents in [1u64, 2, 10, 200] {
        let enough = |fresh: u64| policy.is_enough(fresh, fresh, agents);
        let same = (0..=agents).all(|fresh| enough(fresh) == enough(fresh));
        found.require(same, "the same decision at every call", || "another one".to_owned());
        let falls = (1..=agents).find(|&fresh| enough(fresh - 1) && !enough(fresh));
        found.require(falls.is_none(), "that more answers never keep a round open", || {
            format!("{falls:?} of {agents}")
        });
    }
    found.0
}
