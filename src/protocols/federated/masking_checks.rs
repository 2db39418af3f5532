//! Checks of the settings of masked sums.

use super::mask_graph::threshold;
use super::rounds::{Late, RoundPolicy};
use super::series::Aggregate;
use crate::privacy::mechanisms::{Divisor, NoiseArithmetic, Participation};
use crate::vocab::Problem;

impl Aggregate {
    /// What is wrong with the settings of masked sums: settings that cannot be combined with masks, too large a clipping
    /// norm, numbers of agents or neighbours out of range, and too many colluding agents. Empty if the server is trusted.
    pub(super) fn masking_problems(&self, policy: &RoundPolicy, agents: u64) -> Vec<Problem> {
        if !self.server.is_masked() {
            return Vec::new();
        }
        let wrong =
            |path: &str, expected: &str, found: &str, cure: &str| Problem::wrong(path, expected, found, cure);
        let mut problems = Vec::new();
        if !matches!(self.participation, Participation::Poisson(_)) {
            let cure = "write Poisson(0.25)";
            let expected = "Poisson(..): under masks each agent decides at random whether it takes part";
            problems.push(wrong("participation", expected, "FixedSize", cure));
        }
        if self.divisor != Divisor::Planned {
            let expected = "Planned: agents weight their own vector before they know who answers";
            problems.push(wrong("divisor", expected, &format!("{:?}", self.divisor), "leave it out"));
        }
        if self.late != Late::Discard {
            let expected = "Discard: masks are for one round";
            problems.push(wrong("late", expected, &format!("{:?}", self.late), "leave it out"));
        }
        if policy.as_dyn().buffers() {
            let cure = "use Deadline or Quorum";
            let expected =
                "a policy whose sums contain answers to one round only, as masks are for one round";
            problems.push(wrong("server", expected, policy.name(), cure));
        }
        if self.visible_participation {
            let expected = "false: under masks nobody sees which agents were sampled";
            problems.push(wrong("visible_participation", expected, "true", "leave it out"));
        }
        if self.arithmetic == Some(NoiseArithmetic::Exact) {
            let expected = "Ideal: shares of noise that are each rounded do not add up to rounded noise";
            problems.push(wrong("arithmetic", expected, "Exact", "leave it out"));
        }
        let rate = match self.participation {
            Participation::Poisson(rate) => rate.get(),
            Participation::FixedSize(_) => 1.0,
        };
        let reach =
            self.clip.map_or(f64::INFINITY, |clip| (1.0 + self.noise_multiplier.get()) * clip.get() / rate);
        // Encoded sums wrap around at 2^23, which is roughly 8.4 million and so roughly a hundred times the limit that is
        // checked here.
        if reach > 8e4 {
            let found = self.clip.map_or("none".to_owned(), |clip| clip.to_string());
            let expected = "a clipping norm with (1 + noise_multiplier) clip / sampling rate of at most 80,000, so that masked sums fit into 64-bit words";
            problems.push(wrong("clip", expected, &found, "clip: 11 (DP-FTS-DE's synthetic experiment)"));
        }
        if let Some(k) = self.server.neighbours() {
            problems.extend(self.graph_problem(k, agents));
            return problems;
        }
        if !(3..=1000).contains(&agents) {
            let cure =
                "trust the server, change the number of agents, or let them share masks with few neighbours";
            let expected = "3 to 1,000 agents, since every two agents share a mask";
            problems.push(wrong("server", expected, &agents.to_string(), cure));
        }
        let threshold = threshold(agents as usize);
        if self.server.colluding() >= threshold {
            let expected = format!(
                "fewer than {threshold} of {agents} agents: {threshold} shares reveal a secret, and the \
                 secrets reveal every single answer, which has only one agent's share of the noise"
            );
            let cure = "lower `colluding`, or trust the server";
            let found = self.server.colluding().to_string();
            problems.push(wrong("server.Masked.colluding", &expected, &found, cure));
        }
        problems
    }

    /// The problem with masks that each agent shares with `k` neighbours only; `None` if there is no problem.
    fn graph_problem(&self, k: usize, agents: u64) -> Option<Problem> {
        /// The largest admitted bound of the probability that a graph fails, that is, does not protect single answers.
        /// Privacy losses hold on condition that the graph does not fail, and with a larger bound this condition could not
        /// be relied on.
        const MOST: f64 = 0.1;
        let wrong = |path: &str, expected: String, found: String, cure: &str| {
            Some(Problem::wrong(format!("server.Masked.{path}"), expected, found, cure))
        };
        if !(5..=10_000).contains(&agents) {
            let expected = "5 to 10,000 agents".to_owned();
            return wrong("neighbours", expected, agents.to_string(), "trust the server, or use full masks");
        }
        if k < 4 || !k.is_multiple_of(2) || k as u64 >= agents {
            let expected = format!("an even number of at least 4, below the number of agents, {agents}");
            let cure = "write an even number near 10 times the logarithm of the number of agents, or leave it out for full masks";
            return wrong("neighbours", expected, k.to_string(), cure);
        }
        let failure = self.server.failure(agents as usize, 0).filter(|failure| *failure > MOST)?;
        let expected = format!(
            "a number of neighbours with which the graph protects with a probability of at least {}: no agent has {} colluding \
             neighbours, and the agents that answer without colluding are connected",
            1.0 - MOST,
            threshold(k)
        );
        let found = format!(
            "{k}, for which the probability that the graph does not protect is bounded by {failure:.2}"
        );
        wrong("neighbours", expected, found, "raise it, or lower `colluding` or `planned_dropout`")
    }
}
