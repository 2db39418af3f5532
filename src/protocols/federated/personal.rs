//! Agents with an epsilon of their own: each is sampled as often as its epsilon allows.

use super::recipe::Federated;
use super::rounds::{Late, RoundPolicy};
use super::series::{Aggregate, FederatedSeries, Sharing};
use crate::accounting::calibration::{Target, largest_rate};
use crate::privacy::mechanisms::{Divisor, Participation};
use crate::protocols::stage::ReplicationSetup;
use crate::rng::Key;
use crate::vocab::{Epsilon, Problem};

/// Agents with the same epsilon.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AgentLevel {
    /// Their epsilon, for all sums of a run.
    pub epsilon: Epsilon,
    /// The probability with which each of these agents is sampled for a sum.
    pub rate: f64,
}

impl AgentLevel {
    /// The name in the ledger for these agents as owners of the protected data.
    pub(super) fn protected(&self, agents: &str) -> String {
        format!("{agents}, epsilon {}", self.epsilon)
    }
}

/// Each level once, in descending order of rate, so that the first level is the first to exceed a budget.
pub(super) fn levels_of(by_agent: &[AgentLevel]) -> Vec<AgentLevel> {
    let mut found = by_agent.to_vec();
    found.sort_by(|a, b| b.rate.total_cmp(&a.rate).then(b.epsilon.get().total_cmp(&a.epsilon.get())));
    found.dedup();
    found
}

impl Aggregate {
    /// What is wrong with agents' own epsilons, and the settings that cannot be combined with them; `groups` are the names
    /// of the groups.
    pub(super) fn personal_problems(&self, policy: &RoundPolicy, groups: &[String]) -> Vec<Problem> {
        let Some(personal) = &self.personal else { return Vec::new() };
        let names: Vec<&str> = groups.iter().map(String::as_str).collect();
        let found = personal.epsilons.problems(&names, "group").into_iter();
        let mut problems: Vec<Problem> =
            found.map(|problem| problem.below("epsilons").below("personal")).collect();
        if self.noise_multiplier.get() <= 0.0 {
            let cure = "write noise_multiplier: 1, or leave `personal` out";
            problems.push(Problem::wrong("noise_multiplier", "noise, together with `personal`", "0", cure));
        }
        let refused = [
            ("participation", !matches!(self.participation, Participation::Poisson(_)), "Poisson(..)", ""),
            (
                "server",
                self.server.is_masked(),
                "Trusted",
                ": under masks each agent decides itself whether it takes part",
            ),
            ("selection", !self.selection.is_everyone(), "Everyone", ""),
            (
                "adaptive_clip",
                self.adaptive_clip.is_some(),
                "none",
                ": it assumes one sampling rate for all agents",
            ),
            (
                "divisor",
                self.divisor != Divisor::Planned,
                "Planned",
                ": any other divisor depends on who answers",
            ),
            (
                "late",
                self.late != Late::Discard || policy.as_dyn().buffers(),
                "Discard, without a buffer",
                "",
            ),
            (
                "visible_participation",
                self.visible_participation,
                "false",
                ": sampling does not protect agents that are seen to take part",
            ),
        ];
        for (field, wrong, expected, reason) in refused {
            if wrong {
                let cure = "change it, or leave `personal` out";
                let expected = format!("{expected}, together with `personal`{reason}");
                problems.push(Problem::wrong(field, expected, "another setting", cure));
            }
        }
        problems
    }
}

impl Federated {
    /// The problem of agents' own epsilons together with a `silence` that depends on what agents measured, or together with
    /// `regret_terms`. The cost of such a silence is computed for all agents alike, and the terms are computed with one
    /// sampling rate for all agents.
    pub(super) fn conflict_with_personal(&self, aggregate: &Aggregate) -> Option<Problem> {
        aggregate.personal.as_ref()?;
        let (expected, cure) = if self.informative_silence().is_some() {
            (
                "no silence that depends on what agents measured: its cost is computed for all agents alike",
                "leave `silence` out",
            )
        } else if self.regret_terms.is_some() {
            (
                "no `regret_terms`: the theorem is about one sampling rate",
                "leave `personal` or `regret_terms` out",
            )
        } else {
            return None;
        };
        Some(Problem::wrong("personal", expected, "both", cure))
    }

    /// By agent: its epsilon and its sampling rate; `None` if agents have no epsilons of their own. `key` is the
    /// replication's node of the seed tree.
    #[must_use]
    pub fn agent_levels(
        &self,
        series: &FederatedSeries,
        stage: &ReplicationSetup,
        key: Key,
    ) -> Option<Vec<AgentLevel>> {
        let Sharing::Aggregate(Aggregate {
            personal: Some(personal), participation, noise_multiplier, ..
        }) = &series.sharing
        else {
            return None;
        };
        let Participation::Poisson(rate) = *participation else { return None };
        let sums = series.sharing.broadcasts(self.rounds);
        let mut known: Vec<AgentLevel> = Vec::new();
        let one = |(n, &(party, group)): (usize, &(usize, usize))| {
            let name = &self.groups[group].members;
            let mut stream = key.child("party").child(&stage.names[party]).child("own epsilon").stream();
            let epsilon = personal.epsilons.of(n as u64, name, &mut stream)?;
            if let Some(level) = known.iter().find(|level| level.epsilon == epsilon) {
                return Some(*level);
            }
            let target = Target { epsilon, delta: personal.delta, rate };
            let level = AgentLevel { epsilon, rate: largest_rate(&target, noise_multiplier.get(), sums) };
            known.push(level);
            Some(level)
        };
        self.in_order(stage).iter().enumerate().map(one).collect()
    }
}
