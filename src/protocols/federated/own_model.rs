//! An agent's own Gaussian process, whose hyperparameters may be fitted during the run.

use super::common::AgentCommon;
use super::hyperparameters::OwnHyperparameters;
use super::query::Query;
use super::shared_model::FEW;
use crate::gp::covariance::{Covariance, LengthScale};
use crate::gp::{
    ArmCovariance, Cholesky, GpError, JointPosterior, MultiStart, PointPosterior, Points, SEARCH_UNIT,
    log_marginal_likelihood,
};
use crate::protocols::stage::differences::ModelFactors;
use crate::rng::Stream;
use std::sync::Arc;

/// Bounds of the search: the length-scale in units of the domain's widest extent, variance and noise variance in units
/// of the outcomes' variance. The lower bound on the noise keeps the matrix well conditioned.
const LENGTH_SCALE: (f64, f64) = (0.02, 10.0);
const VARIANCE: (f64, f64) = (0.01, 20.0);
const NOISE: (f64, f64) = (1e-4, 2.0);

/// Hyperparameters that an agent fitted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FittedHyperparameters {
    /// In the unit of the points' coordinates.
    pub(super) length_scale: f64,
    pub(super) variance: f64,
    pub(super) noise_variance: f64,
}

/// The posterior of one agent: over the arms, or over a box.
#[derive(Clone)]
enum OwnPosterior {
    Arms(ArmPosterior),
    Box(PointPosterior),
}

impl OwnPosterior {
    /// The prior. If `shares` is true, the agent uses the covariance of the arms and the Cholesky factor that all agents
    /// have in common; otherwise it computes a covariance and a factor of its own.
    fn new(
        common: &AgentCommon,
        covariance: Covariance,
        shares: bool,
        (noise_variance, mean): (f64, f64),
    ) -> Result<Self, GpError> {
        let points = common.points();
        if common.space.is_some() {
            return Ok(Self::Box(PointPosterior::new(covariance, points.d(), noise_variance, mean)));
        }
        let (covariance, factor) = match &common.prior {
            Some(factor) if shares => (common.covariance.clone(), Arc::clone(factor)),
            _ => {
                let own = ArmCovariance::of_inputs(Arc::clone(points), covariance);
                let factor = Cholesky::with_jitter(own.n(), &own.dense())?;
                (own, Arc::new(factor))
            }
        };
        let prior = ArmPrior::new(covariance, factor, noise_variance, mean);
        Ok(Self::Arms(ArmPosterior { prior, kept: None, few: Vec::new() }))
    }

    fn observe(&mut self, query: &Query, outcome: f64) -> Result<(), GpError> {
        match (self, query) {
            (Self::Arms(posterior), Query::Arm(arm)) => posterior.observe(*arm, outcome),
            (Self::Box(posterior), Query::Point(unit)) => posterior.observe(unit, outcome),
            // A scenario has either arms or a box.
            (Self::Arms(_), Query::Point(_)) | (Self::Box(_), Query::Arm(_)) => Ok(()),
        }
    }

    fn jitter(&self) -> f64 {
        match self {
            Self::Arms(posterior) => posterior.jitter(),
            Self::Box(posterior) => posterior.jitter(),
        }
    }
}

/// A posterior over the arms.
#[derive(Clone)]
struct ArmPosterior {
    prior: ArmPrior,
    /// The posterior given all measurements. As long as there are at most [`FEW`] measurements, it is absent, and every draw
    /// computes the posterior anew. A posterior has rows with one number per arm, and these rows would take more memory than
    /// all other data of an agent. If measurements may need jitter, the posterior is kept from the first measurement.
    kept: Option<JointPosterior>,
    /// The measurements (arm and outcome), as long as no posterior is kept.
    few: Vec<(u32, f64)>,
}

impl ArmPosterior {
    fn observe(&mut self, arm: usize, outcome: f64) -> Result<(), GpError> {
        if !outcome.is_finite() {
            return Err(GpError::OutcomeNotFinite { outcome });
        }
        if let Some(kept) = &mut self.kept {
            return kept.observe(arm, outcome);
        }
        self.few.push((arm as u32, outcome));
        if self.few.len() > FEW || !self.prior.needs_no_jitter {
            self.kept = Some(self.prior.given(&self.few)?);
            self.few = Vec::new();
        }
        Ok(())
    }

    fn jitter(&self) -> f64 {
        self.kept.as_ref().map_or_else(|| self.prior.factor.jitter(), JointPosterior::jitter)
    }

    /// A draw from N(mean, scale^2 covariance) at every arm.
    fn draw(&self, scale: f64, stream: &mut Stream) -> Result<Vec<f64>, GpError> {
        match &self.kept {
            Some(posterior) => Ok(posterior.draw(scale, stream)),
            None => Ok(self.prior.given(&self.few)?.draw(scale, stream)),
        }
    }
}

/// A model of the arms before any measurement. Models of several agents may share its covariance and factor.
#[derive(Clone)]
struct ArmPrior {
    covariance: ArmCovariance,
    factor: Arc<Cholesky>,
    noise_variance: f64,
    mean: f64,
    /// Whether the noise is large enough for every outcome to have a positive variance, so that no measurement needs jitter.
    needs_no_jitter: bool,
}

impl ArmPrior {
    fn new(covariance: ArmCovariance, factor: Arc<Cholesky>, noise_variance: f64, mean: f64) -> Self {
        let largest = covariance.variances().into_iter().fold(0.0, f64::max);
        let needs_no_jitter = JointPosterior::needs_no_jitter(largest, noise_variance);
        Self { covariance, factor, noise_variance, mean, needs_no_jitter }
    }

    fn given(&self, seen: &[(u32, f64)]) -> Result<JointPosterior, GpError> {
        let (covariance, factor) = (self.covariance.clone(), Arc::clone(&self.factor));
        let mut posterior = JointPosterior::new(covariance, factor, self.noise_variance, self.mean);
        seen.iter().try_for_each(|&(arm, outcome)| posterior.observe(arm as usize, outcome))?;
        Ok(posterior)
    }
}

/// A drawn function, as far as it is needed to find its largest value.
pub(super) enum Drawn {
    /// The values at all arms.
    Arms(Vec<f64>),
    /// The point of the unit cube with the largest value.
    Best(Vec<f64>),
}

/// The model of one agent.
#[derive(Clone)]
pub(super) struct OwnModel {
    common: Arc<AgentCommon>,
    hyperparameters: OwnHyperparameters,
    posterior: OwnPosterior,
    /// The measurements, kept only if hyperparameters are fitted.
    seen: Vec<(Query, f64)>,
    /// Number of measurements at the last fit; 0 before the first fit.
    fitted_at: u64,
    now: FittedHyperparameters,
}

impl OwnModel {
    /// A model with the hyperparameters of the objective times this agent's factors.
    pub(super) fn new(
        common: &Arc<AgentCommon>,
        hyperparameters: OwnHyperparameters,
        factors: ModelFactors,
    ) -> Result<Self, GpError> {
        let surrogate = &common.surrogate;
        let noise_variance = match factors.noise_sd {
            1.0 => surrogate.noise_variance,
            factor => surrogate.noise_variance * factor * factor,
        };
        let mut assumed = surrogate.covariance.clone();
        let length_scale = match &mut assumed.length_scale {
            LengthScale::Same(l) => {
                *l *= factors.length_scale;
                *l
            }
            LengthScale::PerDimension(l) => {
                l.iter_mut().for_each(|l| *l *= factors.length_scale);
                l.iter().sum::<f64>() / l.len().max(1) as f64
            }
        };
        let variance = assumed.variance;
        // With the objective's own length-scales, agents share the covariance of the arms and its factor.
        let shares = factors.length_scale == 1.0;
        let posterior = OwnPosterior::new(common, assumed, shares, (noise_variance, surrogate.mean))?;
        Ok(Self {
            common: Arc::clone(common),
            hyperparameters,
            posterior,
            seen: Vec::new(),
            fitted_at: 0,
            now: FittedHyperparameters { length_scale, variance, noise_variance },
        })
    }

    pub(super) fn observe(&mut self, query: &Query, outcome: f64) -> Result<(), GpError> {
        if self.hyperparameters != OwnHyperparameters::Given {
            self.seen.push((query.clone(), outcome));
        }
        self.posterior.observe(query, outcome)
    }

    /// The largest jitter of this model's matrices.
    pub(super) fn jitter(&self) -> f64 {
        self.posterior.jitter()
    }

    /// A draw from N(mean, scale^2 covariance).
    ///
    /// # Errors
    /// [`GpError`] if a function on a box cannot be drawn, or if the posterior over the arms cannot be computed.
    pub(super) fn draw(&self, scale: f64, stream: &mut Stream) -> Result<Drawn, GpError> {
        match (&self.posterior, &self.common.space) {
            (OwnPosterior::Box(posterior), Some(space)) => {
                space.best_by_draw(posterior, scale, stream).map(Drawn::Best)
            }
            (OwnPosterior::Arms(posterior), _) => posterior.draw(scale, stream).map(Drawn::Arms),
            (OwnPosterior::Box(_), None) => Ok(Drawn::Arms(Vec::new())),
        }
    }

    /// Fits the hyperparameters if a fit is due, and returns them; `None` if they stay as they are.
    pub(super) fn refit(
        &mut self,
        stream: impl FnOnce(u64) -> Stream,
    ) -> Result<Option<FittedHyperparameters>, GpError> {
        let OwnHyperparameters::Refitted { every, starts } = self.hyperparameters else { return Ok(None) };
        let points = self.seen.len() as u64;
        if points == self.fitted_at || !points.is_multiple_of(every.get()) {
            return Ok(None);
        }
        self.fitted_at = points;
        let covariance = &self.common.surrogate.covariance;
        let Some((found, mean)) = self.maximum(covariance, starts.get(), &mut stream(points)) else {
            return Ok(None);
        };
        let fitted = Covariance::new(covariance.shape, found.length_scale, found.variance);
        self.posterior = OwnPosterior::new(&self.common, fitted, false, (found.noise_variance, mean))?;
        for (query, outcome) in &self.seen {
            self.posterior.observe(query, *outcome)?;
        }
        self.now = found;
        Ok(Some(found))
    }

    /// The maximum-likelihood hyperparameters and the mean of the outcomes; `None` if the outcomes are all equal or no
    /// fit succeeds.
    ///
    /// Source of the likelihood and its gradient: Rasmussen and Williams 2006, equations 2.30 and 5.9. Optimiser:
    /// L-BFGS on the logarithms.
    fn maximum(
        &self,
        covariance: &Covariance,
        starts: usize,
        stream: &mut Stream,
    ) -> Option<(FittedHyperparameters, f64)> {
        let domain = self.common.points();
        let (n, d) = (self.seen.len(), domain.d());
        let mean = self.seen.iter().map(|(_, y)| y).sum::<f64>() / n as f64;
        let spread = self.seen.iter().map(|(_, y)| (y - mean) * (y - mean)).sum::<f64>() / n as f64;
        if spread <= f64::EPSILON * mean * mean {
            return None;
        }
        let sd = spread.sqrt();
        let extent = |k: usize| {
            let (low, high) = domain.range(k);
            high - low
        };
        let extent = match self.common.space {
            Some(_) => 1.0,
            None => (0..d).map(extent).fold(f64::MIN_POSITIVE, f64::max),
        };
        let rows = self.seen.iter().flat_map(|(query, _)| self.common.coordinates(query)).copied().collect();
        let measured = Points::new(n, d, rows);
        let outcomes: Vec<f64> = self.seen.iter().map(|(_, outcome)| (outcome - mean) / sd).collect();
        let likelihood = |logs: &[f64]| {
            let [l, variance, noise] = [0, 1, 2].map(|k| libm::exp(logs[k]));
            let covariance = Covariance::new(covariance.shape, l * extent, variance);
            let found = log_marginal_likelihood(&measured, &outcomes, &covariance, noise).ok()?;
            Some((found.value, found.gradient))
        };
        let bounds = [LENGTH_SCALE, VARIANCE, NOISE].map(|(low, high)| (libm::log(low), libm::log(high)));
        let so_far =
            [self.now.length_scale / extent, self.now.variance / spread, self.now.noise_variance / spread];
        let first: Vec<f64> = so_far
            .iter()
            .zip(bounds)
            .map(|(&x, (low, high))| libm::log(x.max(1e-9)).clamp(low, high))
            .collect();
        let search = MultiStart { bounds: &bounds, starts, unit: SEARCH_UNIT * n as f64 };
        let logs = search.maximum(&first, stream, likelihood)?.at;
        let [l, variance, noise] = [0, 1, 2].map(|k| libm::exp(logs[k].clamp(bounds[k].0, bounds[k].1)));
        let found = FittedHyperparameters {
            length_scale: l * extent,
            variance: variance * spread,
            noise_variance: noise * spread,
        };
        Some((found, mean))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objectives::{Instance, Noise, ProblemFacts, Surrogate};
    use crate::protocols::federated::common::FeatureRecipe;
    use crate::rng::Key;
    use std::num::{NonZeroU64, NonZeroUsize};

    /// A line of 60 points, and a model with a length-scale of 1 and hardly any noise.
    fn common() -> Arc<AgentCommon> {
        let rows: Vec<f64> = (0..60).map(|k| f64::from(k) / 59.0).collect();
        let instance = Instance {
            inputs: Arc::new(Points::new(60, 1, rows)),
            values: Arc::new(vec![0.0; 60]),
            noise: Noise::gaussian(0.0),
            surrogate: Surrogate {
                covariance: Covariance::squared_exponential(1.0, 1.0),
                noise_variance: 1e-4,
                mean: 0.0,
            },
            background: ProblemFacts::default(),
        };
        Arc::new(
            AgentCommon::new(&instance, FeatureRecipe { m: 5, ..FeatureRecipe::default() }, Key::root(1))
                .unwrap(),
        )
    }

    fn observations(own: &OwnModel) -> usize {
        match &own.posterior {
            OwnPosterior::Arms(ArmPosterior { kept: Some(posterior), .. }) => posterior.observations(),
            OwnPosterior::Arms(ArmPosterior { few, .. }) => few.len(),
            OwnPosterior::Box(posterior) => posterior.observations(),
        }
    }

    fn model(every: u64) -> OwnModel {
        let every = NonZeroU64::new(every).unwrap();
        OwnModel::new(
            &common(),
            OwnHyperparameters::Refitted { every, starts: NonZeroUsize::new(4).unwrap() },
            ModelFactors::NONE,
        )
        .unwrap()
    }

    /// A function of length-scale 0.1 and variance 4 around 7, measured at all 60 points with noise of variance 0.04.
    /// These outcomes determine the length-scale to within a factor of 1.5, and the noise variance to within 50 %.
    #[test]
    fn the_fit_finds_the_hyperparameters_of_a_drawn_function() {
        let truth = Covariance::squared_exponential(0.1, 4.0);
        let truth = ArmCovariance::of_inputs(
            Arc::new(Points::new(60, 1, (0..60).map(|k| f64::from(k) / 59.0).collect())),
            truth,
        );
        let root = Cholesky::with_jitter(60, &truth.dense()).unwrap();
        for seed in 0..5 {
            let mut stream = Key::root(seed).stream();
            let mut z = vec![0.0; 60];
            stream.fill_normal(&mut z);
            let mut own = model(60);
            for (arm, f) in root.times(&z).into_iter().enumerate() {
                assert_eq!(own.refit(|_| Key::root(9).stream()).unwrap(), None);
                own.observe(&Query::Arm(arm), 7.0 + f + 0.2 * stream.normal()).unwrap();
            }
            let found = own.refit(|_| Key::root(9).stream()).unwrap().unwrap();
            assert!((0.067..0.15).contains(&found.length_scale), "{found:?}");
            assert!((0.02..0.06).contains(&found.noise_variance), "{found:?}");
            assert_eq!(observations(&own), 60);
            assert_eq!(own.refit(|_| Key::root(9).stream()).unwrap(), None, "once for the same points");
        }
    }

    #[test]
    fn equal_outcomes_change_no_hyperparameters() {
        let mut own = model(2);
        own.observe(&Query::Arm(3), 0.7).unwrap();
        own.observe(&Query::Arm(9), 0.7).unwrap();
        let before = own.now;
        assert_eq!(own.refit(|_| Key::root(9).stream()).unwrap(), None);
        assert_eq!(own.now, before);
        assert_eq!((observations(&own), own.seen.len()), (2, 2));
    }

    /// With few measurements the posterior is computed for every draw, later it is kept. In both cases the draws are equal,
    /// bit for bit, to those from a posterior that was kept from the beginning. Without noise the posterior is kept from the
    /// first measurement.
    #[test]
    fn draws_do_not_depend_on_whether_the_posterior_is_kept() {
        let given = OwnHyperparameters::Given;
        for noise_sd in [1.0, 0.0] {
            let factors = ModelFactors { noise_sd, ..ModelFactors::NONE };
            let mut own = OwnModel::new(&common(), given, factors).unwrap();
            let arms = |own: &OwnModel| match &own.posterior {
                OwnPosterior::Arms(posterior) => posterior.clone(),
                OwnPosterior::Box(_) => panic!("the problem has arms"),
            };
            let prior = arms(&own).prior;
            let (covariance, factor) = (prior.covariance, prior.factor);
            let mut kept = JointPosterior::new(covariance, factor, prior.noise_variance, prior.mean);
            for k in 0..FEW + 3 {
                assert_eq!(arms(&own).kept.is_some(), k > FEW || (noise_sd == 0.0 && k > 0), "{k}");
                let Drawn::Arms(drawn) = own.draw(1.5, &mut Key::root(3).stream()).unwrap() else {
                    panic!("a point")
                };
                let expected = kept.draw(1.5, &mut Key::root(3).stream());
                assert!(drawn.iter().zip(&expected).all(|(a, b)| a.to_bits() == b.to_bits()), "{k}");
                assert_eq!(own.jitter().to_bits(), kept.jitter().to_bits());
                let (arm, outcome) = ((13 * k + 5) % 60, libm::sin(k as f64));
                own.observe(&Query::Arm(arm), outcome).unwrap();
                kept.observe(arm, outcome).unwrap();
            }
            assert!(own.seen.is_empty() && arms(&own).few.is_empty());
            assert!(own.observe(&Query::Arm(0), f64::NAN).is_err());
        }
    }
}
