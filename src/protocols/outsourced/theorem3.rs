//! PO-GP-UCB's design rule and Theorem 3 for one run, computed for the report only: the numbers of the design rule, the
//! assumptions of the theorem, whether they hold, and the terms of the theorem's bound.

use crate::gp::Points;
use crate::gp::covariance::Covariance;
use crate::privacy::mechanisms::JohnsonLindenstrauss;
use crate::protocols::stage::{Iteration, SeriesOutcome};

/// Names of the outcomes of the design rule begin with this text.
const RULE: &str = "PO-GP-UCB's design rule";
/// Names of the outcomes of the theorem begin with this text.
const THEOREM: &str = "PO-GP-UCB's Theorem 3";

fn named(group: &str, name: &str, value: f64) -> Option<SeriesOutcome> {
    value.is_finite().then(|| SeriesOutcome::new(format!("{group}: {name}"), value))
}

/// The numbers of the design rule (Kharkovskii, Dai and Low 2020, section 3.4), with their names. `sigma_min` is the
/// smallest singular value of the centred inputs, and omega is its threshold. If `sigma_min` is below omega, singular
/// values are lifted, that is, increased ("lifted" is then 1, otherwise 0). C' of Theorem 2 is the factor by which lifting
/// may increase squared distances. "largest r" is the largest r at which singular values are not lifted (0 if there is
/// none).
pub(super) fn design_rule(release: &JohnsonLindenstrauss, sigma_min: f64) -> Vec<SeriesOutcome> {
    let largest = release.largest_unlifted(sigma_min).map_or(0.0, |r| r.get() as f64);
    let all = [
        ("sigma_min", sigma_min),
        ("omega", release.omega()),
        ("lifted", f64::from(u8::from(release.lifts(sigma_min)))),
        ("C'", release.stretch(sigma_min)),
        ("largest r", largest),
    ];
    all.into_iter().filter_map(|(name, value)| named(RULE, name, value)).collect()
}

/// Theorem 3 of Kharkovskii, Dai and Low 2020 with the numbers of one run. Constants in the theorem's O(.) terms are set
/// to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Theorem3 {
    /// The smallest r for which Lemma 1 gives a nu as small as Theorem 3 requires. r is the number of columns of the
    /// projection, and nu a bound on the relative error of squared distances in the projection.
    columns_needed: f64,
    /// epsilon_ucb, the first term of the bound; `None` if the run's r is below `columns_needed`.
    epsilon_ucb: Option<f64>,
    /// The largest M such that, for every m up to M, the covariance of the rows of the first m outcomes is diagonally
    /// dominant.
    dominant: usize,
    /// The M for which the theorem assumes this diagonal dominance: the number of outcomes without the last outcome.
    outcomes: usize,
    /// Whether singular values were lifted.
    lifted: bool,
    /// The theorem's C1 = sqrt(v (v + noise)) (v / noise + 1) and C2 = (v / noise) times the largest absolute outcome, with
    /// v and noise as in `factor`.
    factors: [f64; 2],
    /// 24 v / ln(1 + v / noise), where v is the prior variance (1 in the paper) and noise is the noise variance.
    factor: f64,
}

/// The inputs of the theorem.
pub(super) struct Case<'a> {
    pub(super) inputs: &'a Points,
    pub(super) covariance: &'a Covariance,
    pub(super) noise_variance: f64,
    /// Length-scale l of the covariance, in units of the inputs.
    pub(super) length_scale: f64,
    pub(super) release: &'a JohnsonLindenstrauss,
    /// The smallest singular value of the centred inputs, in their units.
    pub(super) sigma_min: f64,
    /// The delta of the schedule of beta. The theorem's mu and its delta' both have this value, which is delta_ucb / 2 in
    /// the paper.
    pub(super) delta: f64,
    pub(super) iterations: &'a [Iteration],
}

impl Theorem3 {
    pub(super) fn of(case: &Case<'_>) -> Self {
        let (n, r) = (case.inputs.n() as f64, case.release.r.get() as f64);
        let (v, noise) = (case.covariance.variance, case.noise_variance);
        let width = diameter(case.inputs) / case.length_scale;
        let square = width * width;
        // Lemma 1 requires r to be at least 8 ln(n^2 / mu) / nu^2, and Theorem 3 requires nu to be at most 2 / d^2 and
        // at most 1/2, where d is the diameter of the inputs in length-scales.
        let needed = 8.0 * libm::log(n * n / case.delta);
        let largest_nu = (2.0 / square).min(0.5);
        let nu = (needed / r).sqrt();
        let largest_outcome = case.iterations.iter().map(|i| i.outcome.abs()).fold(0.0, f64::max);
        let ratio = v / noise;
        Self {
            columns_needed: (needed / (largest_nu * largest_nu)).ceil(),
            epsilon_ucb: (nu <= largest_nu).then(|| 2.0 * 3f64.sqrt() * square * largest_outcome * nu),
            dominant: dominant(case),
            outcomes: case.iterations.len().saturating_sub(1),
            lifted: case.release.lifts(case.sigma_min),
            factors: [(v * (v + noise)).sqrt() * (ratio + 1.0), ratio * largest_outcome],
            factor: 24.0 * v / libm::log1p(ratio),
        }
    }

    /// Whether the theorem's assumptions hold in this run.
    pub(super) fn holds(&self) -> bool {
        self.epsilon_ucb.is_some() && !self.lifted && self.dominant >= self.outcomes
    }

    /// Two terms of the bound after t rounds: the term that contains C1 and C2, and the term that contains the information
    /// gain gamma_T. The bound is the square root of the sum of the squares of epsilon_ucb and of these two terms. `beta` is
    /// beta_t, and `gain` is an upper bound on gamma_T.
    fn terms(&self, t: f64, beta: f64, gain: f64) -> [f64; 2] {
        let [c1, c2] = self.factors;
        let first = 24.0f64.sqrt() * (c2 + c1 * beta.sqrt()) * (libm::log(t) / t).sqrt();
        [first, (self.factor * beta * gain / t).sqrt()]
    }

    /// The bound on the simple regret after t rounds, if the assumptions hold; infinite without an epsilon_ucb.
    pub(super) fn at(&self, t: f64, beta: f64, gain: f64) -> f64 {
        let epsilon = self.epsilon_ucb.unwrap_or(f64::INFINITY);
        let [first, second] = self.terms(t, beta, gain);
        (epsilon * epsilon + first * first + second * second).sqrt()
    }

    /// The theorem's assumptions and terms, for a table.
    pub(super) fn outcomes(&self, t: f64, beta: f64, gain: f64) -> Vec<SeriesOutcome> {
        let [first, second] = self.terms(t, beta, gain);
        let all = [
            ("r required", self.columns_needed),
            ("dominant up to outcome", self.dominant as f64),
            ("epsilon_ucb", self.epsilon_ucb.unwrap_or(f64::NAN)),
            ("term C1, C2", first),
            ("term gamma_T", second),
            ("assumptions hold", f64::from(u8::from(self.holds()))),
        ];
        all.into_iter().filter_map(|(name, value)| named(THEOREM, name, value)).collect()
    }
}

/// The largest distance between two rows, exactly. Pairs are skipped if their distances to the centre add up to no more
/// than the largest distance found so far.
fn diameter(points: &Points) -> f64 {
    let (n, d) = (points.n(), points.d());
    let mean = |column: usize| (0..n).map(|row| points.row(row)[column]).sum::<f64>() / n as f64;
    let centre: Vec<f64> = (0..d).map(mean).collect();
    let distance =
        |row: usize| points.row(row).iter().zip(&centre).map(|(x, c)| (x - c) * (x - c)).sum::<f64>().sqrt();
    let mut rows: Vec<(f64, usize)> = (0..n).map(|row| (distance(row), row)).collect();
    rows.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut widest = 0.0f64;
    for (place, &(far, row)) in rows.iter().enumerate() {
        for &(less, other) in &rows[..place] {
            // The rows after `other` are no farther from the centre than `other`, so `row` is within the distance `widest`
            // of each of them.
            if less + far <= widest {
                break;
            }
            widest = widest.max(points.squared_distance(row, other).sqrt());
        }
        if rows[0].0 + far <= widest {
            break;
        }
    }
    widest
}

/// The largest M such that, for every m up to M, the covariance of the rows of the first m outcomes is diagonally
/// dominant: each variance is at least (sqrt(m - 1) + 1) times the sum of the row's other covariances (Definition 3).
/// The last outcome is left out, since no choice follows it.
fn dominant(case: &Case<'_>) -> usize {
    let rows: Vec<&[f64]> = case.iterations.iter().map(|i| case.inputs.row(i.arm as usize)).collect();
    let mut sums: Vec<f64> = Vec::new();
    for (m, row) in rows.iter().enumerate().take(rows.len().saturating_sub(1)) {
        let mut own = 0.0;
        for (other, sum) in rows[..m].iter().zip(&mut sums) {
            let k = case.covariance.between(row, other);
            *sum += k;
            own += k;
        }
        sums.push(own);
        let most = sums.iter().copied().fold(0.0, f64::max);
        if case.covariance.between(row, row) < ((m as f64).sqrt() + 1.0) * most {
            return m;
        }
    }
    sums.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evaluation(arm: u64, outcome: f64) -> Iteration {
        Iteration {
            t: 1,
            arm,
            outcome,
            value: outcome,
            simple_regret: 0.0,
            cumulative_regret: 0.0,
            seconds: 0.0,
        }
    }

    fn release(r: usize) -> JohnsonLindenstrauss {
        ron::from_str(&format!("(epsilon: 3, delta: 1e-5, r: {r})")).unwrap()
    }

    #[test]
    fn the_diameter_is_the_largest_distance_of_all_pairs() {
        let mut stream = crate::rng::Key::root(3).stream();
        for (n, d) in [(1, 2), (2, 1), (40, 2), (60, 5)] {
            let points = Points::new(n, d, (0..n * d).map(|_| stream.normal()).collect());
            let all = (0..n).flat_map(|a| (0..a).map(move |b| (a, b)));
            let widest = all.map(|(a, b)| points.squared_distance(a, b).sqrt()).fold(0.0, f64::max);
            assert_eq!(diameter(&points), widest);
        }
    }

    /// With length-scale 1, the covariance of two rows at distance x is dominant if 1 >= 2 exp(-x^2 / 2), that is, if x is
    /// at least 1.1774. If the same row occurs twice, the covariance is not dominant.
    #[test]
    fn dominance_agrees_with_definition_3() {
        let points = Points::new(4, 1, vec![0.0, 1.17, 1.18, 50.0]);
        let covariance = Covariance::squared_exponential(1.0, 1.0);
        let release = release(10);
        let upto = |arms: &[u64]| {
            let iterations: Vec<Iteration> = arms.iter().map(|&arm| evaluation(arm, 0.0)).collect();
            dominant(&Case {
                inputs: &points,
                covariance: &covariance,
                noise_variance: 0.1,
                length_scale: 1.0,
                release: &release,
                sigma_min: 1.0,
                delta: 0.025,
                iterations: &iterations,
            })
        };
        assert_eq!(upto(&[0, 1, 3]), 1);
        assert_eq!(upto(&[0, 2, 3]), 2);
        assert_eq!(upto(&[0, 0, 3]), 1);
        assert_eq!(upto(&[0, 3, 0]), 2);
        assert_eq!(upto(&[0, 3, 0, 1]), 2);
        assert_eq!(upto(&[0]), 0);
    }

    /// Lemma 1 with n = 10,000 and mu = .025 requires 708 columns at nu = 1/2. If a projection has enough columns, singular
    /// values are not lifted and the rows lie far apart, the assumptions hold. The bound is the square root of the sum of
    /// three squared terms.
    #[test]
    fn the_bound_applies_where_its_assumptions_hold() {
        let inputs = Points::new(2, 1, vec![0.0, 1.9]);
        let covariance = Covariance::squared_exponential(1.0, 1.0);
        let iterations = [evaluation(0, 0.5), evaluation(1, -2.0), evaluation(1, -2.0)];
        let of = |r: usize, sigma_min: f64, inputs: &Points, iterations: &[Iteration]| {
            Theorem3::of(&Case {
                inputs,
                covariance: &covariance,
                noise_variance: 0.25,
                length_scale: 1.0,
                release: &release(r),
                sigma_min,
                delta: 0.025,
                iterations,
            })
        };
        let needed = 8.0 * libm::log(4.0 / 0.025) / 0.25;
        let theorem = of(200, 1e9, &inputs, &iterations);
        assert_eq!(theorem.columns_needed, needed.ceil());
        assert!(theorem.holds());
        let epsilon = 2.0 * 3f64.sqrt() * 3.61 * 2.0 * (8.0 * libm::log(160.0) / 200.0).sqrt();
        assert!((theorem.epsilon_ucb.unwrap() - epsilon).abs() < 1e-12);
        let (t, beta, gain) = (3.0f64, 9.0f64, 1.5f64);
        let first = 24.0 * (4.0 * 2.0 + 1.25f64.sqrt() * 5.0 * 3.0).powi(2) * t.ln() / t;
        let second = 24.0 / 5f64.ln() * beta * gain / t;
        let whole = (epsilon * epsilon + first + second).sqrt();
        assert!((theorem.at(t, beta, gain) / whole - 1.0).abs() < 1e-12);
        assert!(!of(100, 1e9, &inputs, &iterations).holds(), "too few columns");
        assert!(!of(200, 1.0, &inputs, &iterations).holds(), "lifted");
        let close = Points::new(2, 1, vec![0.0, 0.5]);
        assert!(!of(200, 1e9, &close, &iterations).holds(), "not dominant");
        let grid = Points::new(10_000, 1, (0..10_000).map(|i| f64::from(i) * 1e-4).collect());
        assert_eq!(of(200, 1e9, &grid, &iterations).columns_needed, 708.0);
    }
}
