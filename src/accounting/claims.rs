//! Adds up the losses that papers or users claim for releases.

use super::{Accountant, Composition, Moments};
use crate::vocab::{Claim, Delta};
use serde::Serialize;
use std::collections::BTreeSet;

/// The sum of the claims of a list of releases; epsilons are natural logarithms of likelihood ratios, deltas are
/// dimensionless.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Claimed {
    /// Sum of the claimed epsilons, at least 0, may be infinite.
    pub epsilon: f64,
    /// Sum of the claimed deltas, at least 0; if it is 1 or more, the claims together guarantee nothing.
    pub delta: f64,
    /// Number of releases with a claim.
    pub claimed: u64,
    /// Number of releases without a claim, which the sums do not cover.
    pub unclaimed: u64,
    /// Claims that are stated as costs, to be composed by the moments accountant.
    #[serde(skip)]
    pub costs: Composition,
    /// The sources of the claims.
    pub sources: BTreeSet<String>,
}

impl Claimed {
    /// The claimed epsilon of all releases together, at least 0; it may be infinite. It is the sum of the claimed epsilons
    /// plus the epsilon of the claimed costs by the moments accountant at `delta` (Abadi et al. 2016, Theorem 2). Costs are
    /// claimed for DP-FTS-DE, whose paper (Dai, Low and Jaillet 2021) computes losses by the moments accountant.
    #[must_use]
    pub fn epsilon_at(&self, delta: Delta) -> f64 {
        self.epsilon + Moments.price(&self.costs, delta).epsilon
    }
}

/// Adds up the claims of releases. Claimed epsilons and deltas are added up (basic composition, Dwork and Roth 2014,
/// Theorem 3.16); claimed costs are collected for the moments accountant. The result is not a proven bound: see each
/// release's basis.
pub fn claims<'a>(releases: impl IntoIterator<Item = &'a Option<Claim>>) -> Claimed {
    let mut sum = Claimed {
        epsilon: 0.0,
        delta: 0.0,
        claimed: 0,
        unclaimed: 0,
        costs: Composition::new(),
        sources: BTreeSet::new(),
    };
    for claim in releases {
        match claim {
            Some(claim) => {
                sum.epsilon += claim.epsilon;
                sum.delta += claim.delta;
                if let Some(cost) = &claim.cost {
                    sum.costs.add(cost, 1);
                }
                sum.claimed += 1;
                sum.sources.insert(claim.source.clone());
            }
            None => sum.unclaimed += 1,
        }
    }
    sum
}
