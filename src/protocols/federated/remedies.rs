//! Checks of the settings that counteract dropouts and differences between agents: adaptive clipping, `overlap` (for agents
//! that measure different points), selection, discounts of stale vectors, and weights that correct for biased participation.

use super::importance::AnswerChance;
use super::rounds::{Late, RoundPolicy};
use super::selection::LossReporters;
use super::series::Aggregate;
use crate::privacy::mechanisms::{Divisor, Participation};
use crate::vocab::Problem;

impl Aggregate {
    /// The planned number of agents in a sum, if `asked` agents are asked.
    #[must_use]
    pub fn planned(&self, asked: u64) -> f64 {
        match self.participation {
            Participation::Poisson(rate) => rate.get() * asked as f64,
            Participation::FixedSize(size) => size as f64,
        }
    }

    /// Whether the selection depends on agents' losses.
    #[must_use]
    pub fn selects_by_loss(&self) -> bool {
        self.selection.as_dyn().reporters() != LossReporters::Nobody
    }

    /// The problems of the settings that this module checks, for agents in these groups: wrong values, and settings that
    /// cannot be combined.
    pub(super) fn remedy_problems(
        &self,
        policy: &RoundPolicy,
        agents: u64,
        groups: &[String],
    ) -> Vec<Problem> {
        let mut problems = self.clipping_problems(agents);
        problems.extend(self.overlap.problem().map(|problem| problem.below("overlap")));
        problems.extend(self.selection_problems(policy, agents));
        if let Some(importance) = &self.importance {
            let found = importance.problems(groups).into_iter();
            problems.extend(found.map(|problem| problem.below("importance")));
            if self.server.is_masked() {
                problems.push(not_masked("importance"));
            }
            if self.divisor == Divisor::ArrivedOrGone && importance.answers == AnswerChance::Counted {
                let expected = "stated probabilities: a neighbouring data set lacks an agent and its answers, so counts of \
                                answers, and the noise that follows from them, would show whether the agent is missing";
                let cure = "write Stated({..}), or another divisor";
                problems.push(Problem::wrong("importance.answers", expected, "Counted", cure));
            }
        }
        if let Some(discount) = &self.staleness {
            if self.server.is_masked() {
                problems.push(not_masked("staleness"));
            } else if self.late == Late::Discard && !policy.as_dyn().buffers() {
                problems.push(Problem::wrong(
                    "staleness",
                    "late answers that are used: without them no vector in a sum is stale",
                    discount.name(),
                    "write `late: KeepLast` (or AddToNext, ReplaceNext), or the policy Buffered",
                ));
            }
        }
        problems
    }

    fn clipping_problems(&self, agents: u64) -> Vec<Problem> {
        let Some(adaptive) = &self.adaptive_clip else { return Vec::new() };
        let planned = self.planned(agents);
        let found = adaptive.problems(self.noise_multiplier.get(), planned).into_iter();
        let mut problems: Vec<Problem> = found.map(|problem| problem.below("adaptive_clip")).collect();
        if self.clip.is_none() {
            let expected = "the clipping norm of the first sum";
            problems.push(Problem::wrong("clip", expected, "none, with `adaptive_clip`", "clip: 1"));
        }
        if self.server.is_masked() {
            problems.push(not_masked("adaptive_clip"));
        }
        problems
    }

    fn selection_problems(&self, policy: &RoundPolicy, agents: u64) -> Vec<Problem> {
        let mut problems: Vec<Problem> = self
            .selection
            .as_dyn()
            .problems(agents)
            .into_iter()
            .map(|problem| problem.below(&format!("selection.{}", self.selection.name())))
            .collect();
        let private = self.noise_multiplier.get() > 0.0;
        if self.loss_reports.is_some() && !self.selects_by_loss() {
            let expected = "none: this selection does not depend on losses";
            problems.push(Problem::wrong("loss_reports", expected, "LossReports(..)", "leave it out"));
        }
        if self.selection.is_everyone() {
            return problems;
        }
        if self.selects_by_loss() && private && self.loss_reports.is_none() {
            problems.push(Problem::wrong(
                "selection",
                "losses with noise in a private series: the selection depends on them, and every agent sees \
                 whether it is selected, so no epsilon would hold",
                format!("{}, by losses without noise", self.selection.name()),
                "state the noise, which enters the ledger: loss_reports: LossReports(bound: 4, noise_multiplier: 5); or select \
                 by what depends on no data: Fastest(k: 10)",
            ));
        }
        if self.server.is_masked() {
            problems.push(not_masked("selection"));
        }
        if matches!(self.participation, Participation::FixedSize(_)) {
            let expected = "Poisson(..): a fixed number is drawn from all agents, selected or not";
            problems.push(Problem::wrong("participation", expected, "FixedSize", "write Poisson(1)"));
        }
        if self.late != Late::Discard || policy.as_dyn().buffers() {
            problems.push(Problem::wrong(
                "selection",
                "answers that count in their own round only: an agent whose answer is late is perhaps not selected in the \
                 round in which it arrives",
                if self.late == Late::Discard { policy.name().to_owned() } else { format!("{:?}", self.late) },
                "leave `late` out, and use All, Deadline, Quorum or FirstK",
            ));
        }
        problems
    }
}

fn not_masked(field: &str) -> Problem {
    let expected = "a server that is trusted: this is not implemented under masks";
    Problem::wrong(field, expected, "Masked", "leave it out, or trust the server")
}
