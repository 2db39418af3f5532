//! Bounds on a series' regret: the lower bound of Theorem 1 of Zhou and Tan 2021, and the upper bound of the learner's
//! theorem.

use crate::gp::covariance::Shape;
use crate::gp::gain_bounds;
use crate::learners::{Arms, LearnerModel, Theorem};
use crate::objectives::Instance;
use crate::protocols::stage::{BoundSide, BoundedRegret, RegretBound};

/// The bounds on a series are computed after at most this many of its rounds, evenly spaced.
const PLACES: u64 = 60;
const NORM: &str =
    "unless the learner states B, B is max |f - prior mean|, which may be below the norm of f - prior mean";

/// What the bounds of all series of one replication need. The information gain is computed once for
/// each noise variance.
#[derive(Debug)]
pub(super) struct Bounds<'a> {
    instance: &'a Instance,
    rounds: Vec<u64>,
    largest_possible: f64,
    /// Upper bounds on the information gain after each of `rounds`, by noise variance; `None` if they cannot be
    /// computed.
    gains: Vec<(f64, Option<Vec<f64>>)>,
}

/// The quantities on which the lower bound of Theorem 1 of Zhou and Tan 2021 depends.
#[derive(Clone, Copy, Debug)]
pub(super) struct LowerBoundInputs {
    /// B, an upper bound on |f - prior mean|.
    pub(super) bound: f64,
    /// v, an upper bound on E|reward - prior mean|^(1 + alpha), before the reward is made private.
    pub(super) moment: f64,
    /// alpha, above 0 and at most 1.
    pub(super) alpha: f64,
    /// d, dimension of the inputs.
    pub(super) dimension: f64,
    /// epsilon of a report; `None` without privacy.
    pub(super) epsilon: Option<f64>,
    /// Shape of the covariance.
    pub(super) shape: Shape,
}

impl LowerBoundInputs {
    /// The bound of Theorem 1 after `rounds` rounds, with constant 1: the larger of the private bound and the bound
    /// without privacy. For Matern covariances and epsilon above ln 2, the bound without privacy is the larger one.
    /// `None` where the theorem gives no bound.
    ///
    /// Source: Zhou and Tan 2021, Theorem 1; in the Matern case, zeta has the exponent that the theorem's proof gives.
    pub(super) fn lower_bound(&self, rounds: f64) -> Option<f64> {
        let open = self.at(rounds, 1.0);
        let private = self.epsilon.and_then(|epsilon| self.at(rounds, libm::expm1(epsilon)));
        match (open, private) {
            (Some(open), Some(private)) => Some(open.max(private)),
            (one, other) => one.or(other),
        }
    }

    /// The bound for a value of zeta: zeta is e^epsilon - 1 with privacy, and 1 without privacy.
    fn at(&self, rounds: f64, zeta: f64) -> Option<f64> {
        let (v, b, d, alpha) = (self.moment, self.bound, self.dimension, self.alpha);
        let matern = |nu: f64| {
            let whole = nu * (1.0 + alpha) + d * alpha;
            let power = |base: f64, exponent: f64| libm::pow(base, exponent / whole);
            let sizes = power(v, nu) * power(rounds, nu + d * alpha);
            sizes * power(zeta, -2.0 * alpha * nu) * power(b, d * alpha)
        };
        let bound = match self.shape {
            Shape::SquaredExponential => {
                let (of_b, of_v) = (libm::pow(b, (1.0 + alpha) / alpha), libm::pow(v, 1.0 / alpha));
                let logarithm = libm::log(of_b * rounds * zeta * zeta / of_v);
                if logarithm <= 0.0 {
                    return None;
                }
                let exponent = 1.0 / (1.0 + alpha);
                let sizes = libm::pow(v * rounds, exponent) * libm::pow(zeta, -2.0 * alpha * exponent);
                sizes * libm::pow(logarithm, 0.5 * d * alpha * exponent)
            }
            Shape::Matern12 => matern(0.5),
            Shape::Matern32 => matern(1.5),
            Shape::Matern52 => matern(2.5),
            Shape::Linear => return None,
        };
        bound.is_finite().then_some(bound)
    }
}

impl<'a> Bounds<'a> {
    pub(super) fn new(instance: &'a Instance, rounds: u64) -> Self {
        let places = PLACES.min(rounds).max(1);
        let worst = instance.values.iter().copied().fold(f64::INFINITY, f64::min);
        Self {
            instance,
            rounds: (1..=places).map(|place| rounds * place / places).collect(),
            largest_possible: rounds as f64 * (instance.best() - worst),
            gains: Vec::new(),
        }
    }

    /// All bounds on a series.
    pub(super) fn of(
        &mut self,
        learner: &LearnerModel,
        arms: &Arms,
        epsilon: Option<f64>,
    ) -> Vec<RegretBound> {
        let bound = arms.facts.bound.unwrap_or(0.0);
        let noise = match self.instance.noise.bound() {
            Some(bound) => bound * bound,
            None => self.instance.noise.variance(),
        };
        // If a learner assumes no more than a bound on a moment of an order below 2, the lower bound is computed for that
        // moment; otherwise it is computed for the second moment.
        let (moment, alpha) = learner.as_dyn().moment(arms).unwrap_or((bound * bound + noise, 1.0));
        let hardness = LowerBoundInputs {
            bound,
            moment,
            alpha,
            dimension: self.instance.inputs.d() as f64,
            epsilon,
            shape: self.instance.surrogate.covariance.shape,
        };
        let mut bounds = Vec::new();
        bounds.extend(self.lower(&hardness));
        // Theorems about functions drawn from the learner's model do not apply: here the noise need not be normal, and
        // the function need not be such a draw.
        let theorem = learner.as_dyn().theorem(arms).filter(|theorem| !theorem.of_the_model);
        bounds.extend(theorem.and_then(|theorem| self.upper(&theorem, arms)));
        // Upper bounds of private series get a caveat where the objective's noise is unbounded.
        if self.instance.noise.bound().is_none() {
            let unbounded = "the theorem assumes rewards bounded by B + R, or the bounded moment that it names; this \
                             noise is unbounded, so either clipping biases rewards, or the theorem does not apply";
            for bound in bounds.iter_mut().filter(|bound| bound.side == BoundSide::Upper && epsilon.is_some())
            {
                bound.caveats.push(unbounded.to_owned());
            }
        }
        bounds
    }

    fn lower(&self, hardness: &LowerBoundInputs) -> Option<RegretBound> {
        let points: Vec<(u64, f64)> =
            self.rounds.iter().filter_map(|&t| Some((t, hardness.lower_bound(t as f64)?))).collect();
        if points.is_empty() {
            return None;
        }
        let caveats = [
            "the order of the bound, computed with constant 1",
            "about the hardest function of norm B, not about this one",
            NORM,
        ];
        let caveats = caveats.map(str::to_owned).to_vec();
        Some(self.bound(BoundSide::Lower, "Zhou and Tan 2021, Theorem 1", caveats, points))
    }

    fn upper(&mut self, theorem: &Theorem, arms: &Arms) -> Option<RegretBound> {
        let known = self.gains.iter().position(|(noise, _)| *noise == theorem.noise_variance);
        let place = known.unwrap_or_else(|| {
            let covariance = arms.covariance.as_ref();
            let gains = covariance.and_then(|c| gain_bounds(c, &self.rounds, theorem.noise_variance).ok());
            self.gains.push((theorem.noise_variance, gains));
            self.gains.len() - 1
        });
        let gains = self.gains[place].1.as_ref()?;
        let points = self.rounds.iter().zip(gains).map(|(&t, &gain)| (t, theorem.at(t, gain)));
        let points: Vec<(u64, f64)> = points.filter(|(_, value)| value.is_finite()).collect();
        let mut caveats = theorem.caveats.clone();
        caveats.push(NORM.to_owned());
        (!points.is_empty()).then(|| self.bound(BoundSide::Upper, theorem.source, caveats, points))
    }

    fn bound(
        &self,
        side: BoundSide,
        source: &str,
        caveats: Vec<String>,
        points: Vec<(u64, f64)>,
    ) -> RegretBound {
        let (regret, source) = (BoundedRegret::Cumulative, source.to_owned());
        RegretBound { side, regret, source, caveats, points, largest_possible: self.largest_possible }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bounds are compared with those under `lower_bounds_order_constant1` in `ldp_federated_units.json`, which are
    /// for B = 4, v = 17, alpha = 1, d = 1, and nu = 2.5 with Matern.
    #[test]
    fn lower_bounds_agree_with_the_oracle() {
        let oracle: serde_json::Value =
            serde_json::from_str(include_str!("../../../tests/oracles/ldp_federated_units.json")).unwrap();
        for (name, shape) in [("se", Shape::SquaredExponential), ("mat", Shape::Matern52)] {
            for epsilon in ["0.5", "1.0", "2.0"] {
                for rounds in ["10000", "40000"] {
                    let stated = epsilon.parse().unwrap();
                    let hardness = LowerBoundInputs {
                        bound: 4.0,
                        moment: 17.0,
                        alpha: 1.0,
                        dimension: 1.0,
                        epsilon: Some(stated),
                        shape,
                    };
                    let place = format!("{name}_eps{epsilon}_T{rounds}");
                    let expected = oracle["lower_bounds_order_constant1"][&place].as_f64().unwrap();
                    let rounds = rounds.parse().unwrap();
                    let found = hardness.at(rounds, libm::expm1(stated)).unwrap();
                    assert!((found / expected - 1.0).abs() < 1e-12, "{place}: {found}");
                    // With these numbers, the bound without privacy is the larger one if epsilon is at least ln 2.
                    let drawn = hardness.lower_bound(rounds).unwrap();
                    let open = LowerBoundInputs { epsilon: None, ..hardness }.lower_bound(rounds).unwrap();
                    assert_eq!(drawn, if stated < std::f64::consts::LN_2 { found } else { open });
                }
            }
        }
    }

    /// For alpha = 1/2 and B = v = zeta = 1, the bound after T rounds is T^(2/3) (ln T)^(1/6) for the squared exponential,
    /// and T^(3/4.25) for Matern 5/2 (with nu = 5/2 and d = 1, the exponent is (nu + d/2) / (3/2 nu + d/2)). For other
    /// values of zeta, the bound for the squared exponential is T^(2/3) (ln(zeta^2 T))^(1/6) zeta^(-2/3).
    #[test]
    fn lower_bounds_below_alpha_1() {
        let of = |shape| LowerBoundInputs {
            bound: 1.0,
            moment: 1.0,
            alpha: 0.5,
            dimension: 1.0,
            epsilon: None,
            shape,
        };
        let (se, matern, t) = (of(Shape::SquaredExponential), of(Shape::Matern52), 1e4f64);
        let logarithms = |t: f64| libm::pow(t, 2.0 / 3.0) * libm::pow(libm::log(t), 1.0 / 6.0);
        assert!((se.at(t, 1.0).unwrap() / logarithms(t) - 1.0).abs() < 1e-12);
        assert!((matern.at(t, 1.0).unwrap() / libm::pow(t, 3.0 / 4.25) - 1.0).abs() < 1e-12);
        let private =
            libm::pow(t, 2.0 / 3.0) * libm::pow(libm::log(t / 16.0), 1.0 / 6.0) * libm::pow(4.0, 2.0 / 3.0);
        assert!((se.at(t, 0.25).unwrap() / private - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_short_run_has_no_lower_bound_where_the_theorem_says_nothing() {
        let hardness = LowerBoundInputs {
            bound: 1.0,
            moment: 100.0,
            alpha: 1.0,
            dimension: 1.0,
            epsilon: Some(0.1),
            shape: Shape::SquaredExponential,
        };
        assert_eq!(hardness.lower_bound(50.0), None);
        assert_eq!(LowerBoundInputs { shape: Shape::Linear, ..hardness }.lower_bound(1e6), None);
    }
}
