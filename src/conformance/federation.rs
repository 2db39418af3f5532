//! Conformance tests of four families from which a federation takes its settings: weight schedules, round policies,
//! selections of agents, and staleness discounts.

use super::{Violation, Violations};
use crate::protocols::federated::{LossReporters, Policy, Selection, SelectionHistory, Staleness, Weights};
use crate::rng::Key;
use crate::vocab::Span;

/// Checks the rules of weight schedules, for ten agents, four regions and the first hundred aggregations. Every agent
/// has a weight in every region. Weights are not negative, add up to 1 in each region, and are the same at every call.
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

/// Checks the rules of round policies. The patience (the longest time that a round stays open) is above 0. The patience
/// and the decision whether a round ends are the same at every call. A policy that ends a round with some number of
/// answers also ends it with more answers.
#[must_use]
pub fn policy(policy: &dyn Policy) -> Vec<Violation> {
    let mut found = Violations::default();
    found.require(policy.patience() > Span::ZERO, "a patience above 0", || "0 s".to_owned());
    let both = || format!("{:?}", [policy.patience(), policy.patience()]);
    found.require(policy.patience() == policy.patience(), "the same patience at every call", both);
    for agents in [1u64, 2, 10, 200] {
        let enough = |fresh: u64| policy.is_enough(fresh, fresh, agents);
        let same = (0..=agents).all(|fresh| enough(fresh) == enough(fresh));
        found.require(same, "the same decision at every call", || "another one".to_owned());
        let falls = (1..=agents).find(|&fresh| enough(fresh - 1) && !enough(fresh));
        found.require(falls.is_none(), "that more answers never keep a round open", || {
            let stays = falls.unwrap_or_default();
            format!(
                "a round of {agents} agents that ends with {} answers and stays open with {stays}",
                stays.saturating_sub(1)
            )
        });
    }
    found.0
}

/// Checks the rules of selections, for ten agents in thirty rounds. At least one agent is selected (`None` selects all
/// agents). The same draws select the same agents. If no agent reports its loss, the selection does not depend on
/// losses. The report that an agent computes from finite losses is finite.
#[must_use]
pub fn selection(selection: &dyn Selection) -> Vec<Violation> {
    let mut found = Violations::default();
    let agents = 10usize;
    for round in 0..30u64 {
        let mut draws = Key::root(round).stream();
        let mut known = SelectionHistory::new((0..agents).map(|_| draws.uniform()).collect());
        known.round = round;
        if round > 0 {
            known.reported = (0..agents).map(|_| draws.bernoulli(0.8).then(|| draws.normal())).collect();
            known.involved = known.reported.iter().map(|report| report.map(|_| draws.below(round))).collect();
            known.took = known.involved.iter().map(|round| round.map(|_| draws.uniform())).collect();
            known.utility = (0..round).map(|_| draws.normal()).collect();
            let rounds = |last: &Option<u64>| last.map_or(0, |last| 1 + draws.below(last + 1));
            known.rounds = known.involved.iter().map(rounds).collect();
        }
        let select =
            |known: &SelectionHistory| selection.select(known, &mut Key::root(99).index(round).stream());
        let selected = select(&known);
        let fits = selected.as_ref().is_none_or(|all| all.len() == agents && all.contains(&true));
        found.require(fits, "one or more of the agents", || format!("{selected:?}"));
        found.require(select(&known) == selected, "the same agents for the same draws", || {
            "others".to_owned()
        });
        if selection.reporters() == LossReporters::Nobody {
            let mut others = known.clone();
            others.reported = (0..agents).map(|agent| Some(agent as f64)).collect();
            others.utility = vec![0.0; round as usize];
            let same = select(&others) == selected;
            found.require(same, "a selection without reporters that does not depend on losses", || {
                "other agents for other losses".to_owned()
            });
        }
    }
    for losses in [vec![0.0], vec![1.0, 4.0], vec![1e9; 50]] {
        let report = selection.report(&losses);
        found.require(report.is_finite(), "a finite report", || report.to_string());
    }
    found.0
}

/// Checks the rules of staleness discounts, for vectors that are up to 99 rounds late. The factor is from 0 to 1, and
/// is 1 for a vector on time. One more round of delay never makes the factor larger. The factor is the same at every
/// call.
#[must_use]
pub fn staleness(discount: &dyn Staleness) -> Vec<Violation> {
    let mut found = Violations::default();
    let on_time = discount.factor(0);
    found.require(on_time == 1.0, "a factor of 1 for a vector on time", || on_time.to_string());
    let mut before = 1.0;
    for late in 1..100 {
        let factor = discount.factor(late);
        found.require((0.0..=1.0).contains(&factor), "a factor from 0 to 1", || {
            format!("{factor} for {late}")
        });
        found.require(factor <= before, "a factor that never grows", || format!("{factor} after {before}"));
        found.require(discount.factor(late) == factor, "the same factor at every call", || {
            "another".to_owned()
        });
        before = factor;
    }
    found.0
}
