//! Estimates the memory and time that a replication of federated optimisation takes.

use super::box_search::{OWN_EVALUATIONS, OWN_FEATURES};
use super::hyperparameters::OwnHyperparameters;
use super::recipe::Federated;
use super::series::{AgentGroup, FederatedSeries, Sharing};
use super::shared_model::FEW;
use crate::gp::MAX_ARMS;
use crate::objectives::Extent;
use crate::privacy::mechanisms::Divisor;
use crate::protocols::stage::ITERATION;
use crate::protocols::stage::differences::effort_of_continuation;
use crate::vocab::Effort;
use crate::vocab::effort::{COVARIANCE, MESSAGE, MULTIPLY, NUMBER};

/// Bytes of an agent besides its models: the party, its streams of random numbers, its timers.
const AGENT: f64 = 4_000.0;

/// Seconds that all accountants together take to compute the loss of one series whose sums have noise.
const ACCOUNTED: f64 = 0.04;

/// Further seconds for each round with `divisor: Arrived`, for at most 40 rounds: the privacy costs of the sums then
/// differ, because the divisor depends on who answers.
const ACCOUNTED_ROUND: f64 = 0.03;

/// Seconds of one random number of a mask.
const NUMBER_OF_A_MASK: f64 = 22e-9;

/// Approximate number of evaluations of the likelihood in a fit from one starting point.
const EVALUATIONS: f64 = 30.0;

impl Federated {
    /// Memory and time of one replication with this number of agents.
    pub(super) fn of_replication(&self, agents: u64, problem: &Extent) -> Effort {
        let points = self.rounds.saturating_add(self.initial_points);
        let (n, m, t) = (problem.arms as f64, f64::from(self.features.get()), points as f64);
        // All agents share the factor of the prior covariance, which does not exist on a box, and the features of all
        // points. Each agent also has the values of its own function.
        let in_common = if problem.is_box { 0.0 } else { 1.0 };
        let (arms, place) = (problem.stated.1, problem.stated.0.clone());
        let factor =
            Effort::due_to(place, arms, 2.0 * NUMBER * n * n, n * n * (MULTIPLY * n / 6.0 + COVARIANCE));
        let features = u64::from(self.features.get());
        let features = Effort::due_to("features", features, NUMBER * n * m, COVARIANCE * n * m);
        let values = Effort::new(NUMBER * n, COVARIANCE * n).times(agents as f64);
        let shared =
            factor.times(in_common).and(features).and(values).and(self.of_functions(agents as f64, problem));
        let own = self.of_agent(problem, points).and(self.of_own_matrices(problem));
        let of_series = |series: &FederatedSeries| {
            let sends = !matches!(series.sharing, Sharing::Alone(_));
            // With masks, `pairs` is the number of masks that an agent computes in a round: approximately one for each agent
            // with which it shares masks. Without masks, `pairs` is 1.
            let pairs = match &series.sharing {
                Sharing::Aggregate(aggregate) if aggregate.server.is_masked() => {
                    aggregate.server.neighbours().map_or(agents as f64, |k| k as f64)
                }
                _ => 1.0,
            };
            let vectors = if sends {
                self.rounds as f64 * m * (NUMBER_OF_A_MASK * pairs + 8.0 * MULTIPLY)
            } else {
                0.0
            };
            let messages = 2.0 * MESSAGE * self.rounds as f64;
            let agent = own.clone().and(Effort::new(AGENT, messages + vectors));
            let accounted = match series.sharing.aggregate() {
                Some(sums) if sums.noise_multiplier.get() > 0.0 => {
                    let differ = sums.divisor == Divisor::Arrived;
                    ACCOUNTED + if differ { ACCOUNTED_ROUND * (self.rounds as f64).min(40.0) } else { 0.0 }
                }
                _ => 0.0,
            };
            agent.times(agents as f64).with_record_size(2.0 * ITERATION * t).accounted(accounted)
        };
        let series = self.series.iter().map(of_series).reduce(Effort::then).unwrap_or_default();
        shared.and(series)
    }

    /// Memory and time of the agents' functions, besides the objective itself and the values of one function per agent:
    /// further draws of the objective (for each agent if a group has a heterogeneity above 0, for each cluster, and for each
    /// round if functions drift), and shifts of functions.
    fn of_functions(&self, agents: f64, problem: &Extent) -> Effort {
        let n = problem.arms as f64;
        // If all draws of the objective are the same, agents' functions also contain draws from its surrogate.
        let from_surrogate =
            if problem.always_the_same { n * n * MULTIPLY / 2.0 + n * COVARIANCE } else { 0.0 };
        let draw = problem.drawn.seconds + from_surrogate;
        let differences = || self.groups.iter().map(|group| group.differences.clone());
        let rounds = self.rounds as f64;
        let drawn = self.groups.iter().any(|group| group.heterogeneity.get() > 0.0);
        let seconds = if drawn { draw * agents } else { 0.0 };
        let mut effort = Effort::new(problem.drawn.bytes, seconds);
        let clusters = differences().filter_map(|d| d.split_up()).map(|c| c.count.get()).max().unwrap_or(0);
        effort = effort.and(Effort::new(NUMBER * n, draw).times(f64::from(clusters).min(agents)));
        let reach = differences().map(|differences| differences.reach()).fold(0.0, f64::max);
        if reach > 0.0 && problem.continued_by_surrogate {
            effort = effort.and(effort_of_continuation(problem.arms, agents));
        } else if reach > 0.0 {
            // A shifted function is drawn on a lattice that reaches beyond the domain. This needs, for each input, a
            // factor of the covariance matrix along that input. Every line of the lattice along the input is multiplied
            // by this factor.
            let wider = 1.0 + 2.0 * reach;
            let along = wider * problem.stated.1.min(problem.arms) as f64;
            let lattice = n * libm::pow(wider, problem.inputs as f64);
            let matrices = Effort::new(4.0 * NUMBER * along * along, MULTIPLY * along * along * along / 2.0);
            let lines =
                Effort::new(5.0 * NUMBER * lattice, 4.0 * MULTIPLY * lattice * along * problem.inputs as f64);
            effort = effort
                .and(matrices)
                .and(lines)
                .and(Effort::new(2.0 * NUMBER * n, COVARIANCE * n).times(agents));
        }
        let drifts: Vec<_> = differences().filter_map(|differences| differences.drifting()).collect();
        if !drifts.is_empty() {
            let own = if drifts.iter().any(|drift| drift.own.get() > 0.0) { draw } else { 0.0 };
            let per_agent = own + 2.0 * MULTIPLY * n;
            let bytes = NUMBER * n * rounds * (agents + 1.0);
            effort = effort.and(Effort::due_to(
                "rounds",
                self.rounds,
                bytes,
                rounds * (draw + agents * per_agent),
            ));
        }
        effort
    }

    /// Memory and time of the Cholesky factor of one agent's covariance, where models have length-scales of their own.
    fn of_own_matrices(&self, problem: &Extent) -> Effort {
        let differ = |group: &AgentGroup| group.differences.in_length_scales();
        if !self.groups.iter().any(differ) {
            return Effort::default();
        }
        let n = problem.arms as f64;
        let seconds = n * n * (MULTIPLY * n / 6.0 + COVARIANCE);
        Effort::due_to(problem.stated.0.clone(), problem.stated.1, NUMBER * n * n, seconds)
    }

    /// Memory and time of one agent with this number of points: of its own model, from which it draws a function in
    /// every round, and of its shared model.
    fn of_agent(&self, problem: &Extent, points: u64) -> Effort {
        // On a box there are no arms whose means and variances are kept.
        let arms = if problem.is_box { 0 } else { problem.arms };
        let (n, m, t) = (arms as f64, f64::from(self.features.get()), points as f64);
        // With at most `FEW` points the own and the shared model are computed anew for every draw, and only the points
        // are kept.
        let kept = points > FEW as u64;
        let again = if kept { FEW as f64 } else { t };
        let again = again * again / 2.0;
        // A row of the model has one number per arm. Rows are allocated in groups of sixteen, and
        // arms in tiles of 32.
        let rows = NUMBER * arms.next_multiple_of(32) as f64 * points.next_multiple_of(16) as f64;
        let rows = if kept { rows } else { 0.0 };
        // On a box a draw is a sum of features, which is computed at every candidate and at every step of the search.
        let draw = if problem.is_box {
            OWN_EVALUATIONS * OWN_FEATURES as f64 * COVARIANCE
        } else {
            MULTIPLY * n * n / 2.0 + COVARIANCE * n
        };
        let drawn = self.rounds as f64 * draw;
        // Once an agent has more points than there are arms, its model stores a factor of the
        // covariance of all arms in place of one row per point, and every further point takes the
        // same time. A model without noise keeps the rows. Whether there is noise is not known
        // here, so the estimate of memory counts the rows of all points.
        let (by_rows, changes) =
            if !problem.is_box && arms <= MAX_ARMS as u64 && t > n { (n, n * n * n) } else { (t, 0.0) };
        let updated = n * by_rows * (COVARIANCE + MULTIPLY * by_rows)
            + MULTIPLY * (changes / 1.5 + (t - by_rows) * n * n);
        let (initial, rounds) = (("initial_points", self.initial_points), ("rounds", self.rounds));
        let (place, count) = if initial.1 > rounds.1 { initial } else { rounds };
        let drawn_again = again * n * (COVARIANCE + MULTIPLY * again.sqrt());
        let rows = Effort::due_to(place, count, rows, drawn + updated + drawn_again);
        let weights = (t + again) * MULTIPLY * 3.0 * m * m;
        let matrix = if kept { NUMBER * m * m } else { 0.0 };
        let matrix = Effort::due_to("features", u64::from(self.features.get()), matrix, weights);
        let always = if kept { 4.0 * NUMBER * n } else { 0.0 };
        let own = rows.and(matrix).and(Effort::new(always, 0.0));
        let OwnHyperparameters::Refitted { every, starts } = self.own_hyperparameters else { return own };
        // The agent fits hyperparameters at k, 2 k, ... points, where k is `every`. After each fit it factors the
        // prior covariance again and conditions its model on all points again.
        let fits = (t / every.get() as f64).floor();
        let searched = EVALUATIONS * starts.get() as f64 * (MULTIPLY * t / 4.0 + COVARIANCE / 3.0) * t * t;
        let again = n * n * (MULTIPLY * n / 6.0 + COVARIANCE) + n * t * (COVARIANCE + MULTIPLY * t / 6.0);
        let place = problem.stated.0.clone();
        own.and(Effort::due_to(place, problem.stated.1, NUMBER * n * n, fits * (searched + again)))
    }
}
