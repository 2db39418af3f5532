//! Private selection: the best of a random number of noisy results.

use super::pair::{Distinguisher, Pair, RATIO};
use super::{Gaussian, Laplace, Mechanism, MechanismError, Price, Repetitions, all_finite};
use crate::accounting::repeated::log_gamma;
use crate::rng::Stream;
use crate::special::normal_cdf;
use crate::vocab::{Arithmetic, Cost, Neighbours};

/// A setting, by its number, and its result before or after noise is added.
pub type Selected = (u64, f64);

/// What is released of a search among settings that were tried: one setting, with its noisy result if results are
/// released; `None` if no setting is released.
pub type SelectedTrial = Option<(u64, Option<f64>)>;

/// The noise on one result, calibrated to the sensitivity of a result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ResultNoise {
    /// Laplace noise.
    Laplace(Laplace),
    /// Gaussian noise.
    Gaussian(Gaussian),
}

impl ResultNoise {
    fn mechanism(&self) -> &dyn Mechanism<Input = Vec<f64>, Output = Vec<f64>> {
        match self {
            Self::Laplace(laplace) => laplace,
            Self::Gaussian(gaussian) => gaussian,
        }
    }
}

/// Draws a number K, tries K settings that are drawn uniformly with replacement, and adds noise to each result. Returns
/// the setting with the largest noisy result, together with that result; `None` if K is 0. Of settings with equal noisy
/// results, the one with the largest number (the first part of [`Selected`]) is returned.
///
/// The input holds the result of every setting. An owner that tries settings one by one draws K and the settings itself
/// and uses [`SelectionAmongTrials`].
///
/// * Precondition: results are finite; every result differs by at most the noise's sensitivity between neighbours. Nobody
///   learns K, or a setting or result other than the one returned.
/// * Postcondition: with Laplace noise, epsilon-DP with epsilon = (2 + shape) sensitivity / scale, where shape is the
///   shape parameter of the distribution of K ([`Repetitions::shape`]); with Gaussian noise, the Renyi divergences of
///   [`Cost::RepeatedGaussian`] or [`Cost::PoissonRepeatedGaussian`]. The arithmetic is ideal even with exact noise,
///   since K is drawn in floating point.
///
/// Source: Papernot and Steinke 2022, "Hyperparameter tuning with Renyi differential privacy", Theorems 2 and 6 and
/// Corollary 3; Liu and Talwar 2019, Theorem 3.2, for the geometric distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrivateSelection {
    noise: ResultNoise,
    repetitions: Repetitions,
}

impl PrivateSelection {
    /// From the noise on one result and the distribution of the number of repetitions.
    ///
    /// # Errors
    /// [`MechanismError::Shape`] for Laplace noise with a Poisson number: no pure epsilon is known.
    pub fn new(noise: ResultNoise, repetitions: Repetitions) -> Result<Self, MechanismError> {
        if matches!((noise, repetitions), (ResultNoise::Laplace(_), Repetitions::Poisson { .. })) {
            return Err(MechanismError::Shape {
                expected: "Gaussian noise for a Poisson number of repetitions".to_owned(),
                found: "Laplace noise".to_owned(),
            });
        }
        Ok(Self { noise, repetitions })
    }

    /// The distribution of the number of repetitions.
    #[must_use]
    pub const fn repetitions(&self) -> Repetitions {
        self.repetitions
    }

    fn price(&self, neighbours: &Neighbours) -> Result<Price, MechanismError> {
        let price = self.noise.mechanism().price(&vec![0.0], neighbours)?;
        let mean = self.repetitions.mean();
        let (cost, mechanism) = match (price.cost, self.repetitions.shape()) {
            (Cost::Laplace { scale }, Some(shape)) => (
                Cost::PureDp { epsilon: (2.0 + shape) / scale },
                "best of a random number of results with Laplace noise",
            ),
            (Cost::Gaussian { noise_multiplier }, Some(shape)) => (
                Cost::RepeatedGaussian { noise_multiplier, shape, mean },
                "best of a random number of results with Gaussian noise",
            ),
            (Cost::Gaussian { noise_multiplier }, None) => (
                Cost::PoissonRepeatedGaussian { noise_multiplier, mean },
                "best of a Poisson number of results with Gaussian noise",
            ),
            _ => (Cost::Unprotected, "best of a random number of results"),
        };
        // The number of repetitions is drawn by the inversion of probabilities in floating point, whatever the noise.
        Ok(Price { mechanism, cost, arithmetic: Arithmetic::Ideal, ..price })
    }

    /// The best of these trials after noise.
    fn best(&self, trials: &[Selected], stream: &mut Stream) -> Result<Option<Selected>, MechanismError> {
        let mut best: Option<Selected> = None;
        for &(setting, result) in trials {
            let noisy = self.noise.mechanism().privatise(&vec![result], stream)?;
            let found = (setting, noisy.first().copied().unwrap_or(result));
            let larger = |known: Selected| found.1.total_cmp(&known.1).then(found.0.cmp(&known.0)).is_gt();
            if best.is_none_or(larger) {
                best = Some(found);
            }
        }
        Ok(best)
    }
}

impl Mechanism for PrivateSelection {
    type Input = Vec<f64>;
    type Output = Option<Selected>;

    fn price(&self, _: &Vec<f64>, neighbours: &Neighbours) -> Result<Price, MechanismError> {
        self.price(neighbours)
    }

    fn privatise(&self, results: &Vec<f64>, stream: &mut Stream) -> Result<Option<Selected>, MechanismError> {
        all_finite(results)?;
        if results.is_empty() {
            return Err(MechanismError::Shape {
                expected: "the results of at least one setting".to_owned(),
                found: "none".to_owned(),
            });
        }
        let n = results.len() as u64;
        let tried: Vec<Selected> = (0..self.repetitions.draw(stream))
            .map(|_| stream.below(n))
            .map(|setting| (setting, results[setting as usize]))
            .collect();
        self.best(&tried, stream)
    }

    /// All results are 0 on the first input and equal to the sensitivity on the second, for as many settings as `like`
    /// has. With equal results, every repetition has the same distribution, as with a single
    /// setting.
    fn worst_pair(&self, like: &Vec<f64>) -> Option<Pair<Vec<f64>>> {
        let by = self.noise.mechanism().price(&vec![0.0], &Neighbours::ReplaceOne).ok()?.sensitivity?;
        if like.is_empty() {
            return None;
        }
        let words = format!("results that are all 0 or all {by}, at sensitivity {by}");
        Some(Pair::new(vec![0.0; like.len()], vec![by; like.len()], words))
    }

    /// The likelihood ratio if each input consists of equal results; nothing is known of other inputs. The density of the
    /// best noisy result at y is f'(F(y)) F'(y), with F the distribution function of one noisy result and f the probability
    /// generating function of K.
    fn distinguisher(
        &self,
        inputs: [&Vec<f64>; 2],
    ) -> Result<Distinguisher<Option<Selected>>, MechanismError> {
        let equal = |results: &Vec<f64>| {
            results.first().copied().filter(|first| results.iter().all(|result| result == first))
        };
        let (Some(a), Some(b)) = (equal(inputs[0]), equal(inputs[1])) else {
            return Ok(Distinguisher::unknown());
        };
        let own = *self;
        let log_ratio = move |best: &Option<Selected>| {
            best.map_or(0.0, |(_, y)| own.log_density(y - a) - own.log_density(y - b))
        };
        Ok(Distinguisher { tests: vec![(RATIO, Box::new(log_ratio))], ..Distinguisher::unknown() })
    }
}

impl PrivateSelection {
    /// ln of the density of the largest of K noise values, given that K is not 0, up to a constant.
    fn log_density(&self, y: f64) -> f64 {
        let (below, log_density) = match self.noise {
            ResultNoise::Laplace(laplace) => {
                let z = y / laplace.scale();
                let tail = 0.5 * libm::exp(-z.abs());
                (if z < 0.0 { tail } else { 1.0 - tail }, -z.abs())
            }
            ResultNoise::Gaussian(gaussian) => {
                let z = y / gaussian.standard_deviation();
                (normal_cdf(z), -0.5 * z * z)
            }
        };
        let mean = self.repetitions.mean();
        let log_slope = match self.repetitions.shape() {
            Some(shape) => {
                let rest = -libm::expm1(log_gamma(shape, mean));
                -(1.0 + shape) * libm::log1p(-rest * below)
            }
            None => mean * below,
        };
        log_slope + log_density
    }
}

/// [`PrivateSelection`] for an owner that has drawn K and the settings itself; the input holds the settings that it has
/// tried, each with its result before noise.
///
/// * Precondition: as for [`PrivateSelection`]; besides, K is drawn from [`PrivateSelection::repetitions`], and the
///   settings are drawn independently and uniformly.
/// * Postcondition: as for [`PrivateSelection`].
///
/// Source: as for [`PrivateSelection`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SelectionAmongTrials(pub PrivateSelection);

impl Mechanism for SelectionAmongTrials {
    type Input = Vec<Selected>;
    type Output = SelectedTrial;

    fn price(&self, _: &Vec<Selected>, neighbours: &Neighbours) -> Result<Price, MechanismError> {
        self.0.price(neighbours)
    }

    fn privatise(
        &self,
        trials: &Vec<Selected>,
        stream: &mut Stream,
    ) -> Result<SelectedTrial, MechanismError> {
        Ok(self.0.best(trials, stream)?.map(|(setting, result)| (setting, Some(result))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocab::{AboveOne, Positive, RepetitionShape};

    /// The expected ratio is computed from the derivative, by finite differences, of the distribution function of the best
    /// of K noisy zeros. This function is the sum of P(K = k) F(y)^k over k, where F is the distribution function of one
    /// noisy zero. If all results equal a number m, the density of the best noisy result at y is this derivative at the
    /// point y - m. So the ratio of the densities for two such numbers is a ratio of two values of this derivative.
    #[test]
    fn the_ratio_is_that_of_the_densities_of_the_best() {
        let (of, above) = (|value| Positive::new(value).unwrap(), |mean| AboveOne::new(mean).unwrap());
        let laplace = ResultNoise::Laplace(Laplace::new(of(2.0), of(1.0)));
        let gaussian = ResultNoise::Gaussian(Gaussian::new(of(2.0), of(1.0)));
        let cdf = |noise: &ResultNoise, y: f64| match noise {
            ResultNoise::Gaussian(_) => normal_cdf(y / 2.0),
            ResultNoise::Laplace(_) if y < 0.0 => 0.5 * libm::exp(y / 2.0),
            ResultNoise::Laplace(_) => 1.0 - 0.5 * libm::exp(-y / 2.0),
        };
        // Probability generating functions: geometric of mean 4, and Poisson of mean 3, at x.
        let geometric = |x: f64| 0.25 * x / (1.0 - 0.75 * x);
        let poisson = |x: f64| libm::exp(3.0 * (x - 1.0));
        type Case<'a> = (ResultNoise, Repetitions, &'a dyn Fn(f64) -> f64);
        let cases: [Case<'_>; 4] = [
            (laplace, Repetitions::Geometric { mean: above(4.0) }, &geometric),
            (gaussian, Repetitions::Geometric { mean: above(4.0) }, &geometric),
            (gaussian, Repetitions::Poisson { mean: of(3.0) }, &poisson),
            (
                laplace,
                Repetitions::NegativeBinomial { shape: RepetitionShape::new(1.0).unwrap(), mean: above(4.0) },
                &geometric,
            ),
        ];
        for (noise, repetitions, generating) in cases {
            let selection = PrivateSelection::new(noise, repetitions).unwrap();
            let found = selection.distinguisher([&vec![0.5, 0.5], &vec![-0.7, -0.7]]).unwrap();
            let density = |y: f64| {
                let step = 1e-5;
                (generating(cdf(&noise, y + step)) - generating(cdf(&noise, y - step))) / (2.0 * step)
            };
            for y in [-3.0, -0.6, 0.2, 1.5, 6.0] {
                let expected = libm::log(density(y - 0.5) / density(y + 0.7));
                let ratio = found.log_ratio(&Some((0, y)));
                assert!(
                    (ratio - expected).abs() < 1e-6,
                    "{noise:?} {repetitions:?} {y}: {ratio} for {expected}"
                );
            }
            assert_eq!(found.log_ratio(&None), 0.0);
            assert!(selection.distinguisher([&vec![0.5, 0.4], &vec![0.0, 0.0]]).unwrap().tests.is_empty());
            let pair = selection.worst_pair(&vec![9.0; 2]).unwrap();
            assert_eq!(pair.inputs, [vec![0.0, 0.0], vec![1.0, 1.0]]);
            assert!(selection.worst_pair(&Vec::new()).is_none());
        }
        let poisson = Repetitions::Poisson { mean: of(3.0) };
        assert!(PrivateSelection::new(laplace, poisson).is_err());
    }

    /// The costs of Theorem 2, Theorem 6 and Corollary 3 of Papernot and Steinke 2022, for each noise and distribution.
    #[test]
    fn prices_are_those_of_the_theorems() {
        let (of, above) = (|value| Positive::new(value).unwrap(), |mean| AboveOne::new(mean).unwrap());
        let laplace = ResultNoise::Laplace(Laplace::new(of(4.0), of(2.0)));
        let gaussian = ResultNoise::Gaussian(Gaussian::new(of(6.0), of(2.0)));
        let shaped = |shape| Repetitions::NegativeBinomial {
            shape: RepetitionShape::new(shape).unwrap(),
            mean: above(7.0),
        };
        let cost = |noise, repetitions| {
            let selection = PrivateSelection::new(noise, repetitions).unwrap();
            selection.price(&Neighbours::ReplaceOne).unwrap().cost
        };
        assert_eq!(cost(laplace, shaped(-0.5)), Cost::PureDp { epsilon: 1.5 / 2.0 });
        assert_eq!(cost(laplace, Repetitions::Geometric { mean: above(9.0) }), Cost::PureDp { epsilon: 1.5 });
        let (noise_multiplier, mean) = (3.0, 7.0);
        assert_eq!(
            cost(gaussian, shaped(-0.5)),
            Cost::RepeatedGaussian { noise_multiplier, shape: -0.5, mean }
        );
        assert_eq!(
            cost(gaussian, Repetitions::Poisson { mean: of(7.0) }),
            Cost::PoissonRepeatedGaussian { noise_multiplier, mean }
        );
    }

    /// The setting with the largest noisy result is released; of settings with equal results, the one with the largest
    /// number.
    #[test]
    fn ties_go_to_the_largest_number() {
        let of = |value| Positive::new(value).unwrap();
        // Noise of 1e-30 changes no result.
        let noise =
            Laplace::new(of(1e-30), of(1e-30)).with(crate::privacy::mechanisms::NoiseArithmetic::Ideal);
        let geometric = Repetitions::Geometric { mean: AboveOne::new(4.0).unwrap() };
        let selection = PrivateSelection::new(ResultNoise::Laplace(noise), geometric).unwrap();
        let best = |trials: &[Selected]| {
            let mut stream = crate::rng::Key::root(3).stream();
            SelectionAmongTrials(selection).privatise(&trials.to_vec(), &mut stream).unwrap()
        };
        assert_eq!(best(&[(1, 2.0), (7, 2.0), (3, 2.0), (9, 1.0)]), Some((7, Some(2.0))));
        assert_eq!(best(&[(7, 2.0), (3, 2.5)]), Some((3, Some(2.5))));
        assert_eq!(best(&[]), None);
    }

    /// K settings are drawn uniformly, and the one with the largest noisy result is released. The stream is read for K
    /// first, then for the settings, then for the noise.
    #[test]
    fn the_best_of_the_drawn_settings_is_released() {
        let laplace = Laplace::new(Positive::new(1e-3).unwrap(), Positive::new(1.0).unwrap());
        let noise = ResultNoise::Laplace(laplace.with(super::super::NoiseArithmetic::Ideal));
        let mean = crate::vocab::AboveOne::new(3.0).unwrap();
        let own = PrivateSelection::new(noise, Repetitions::Geometric { mean }).unwrap();
        let results: Vec<f64> = vec![1.0, 3.0, 2.0];
        let mut found = [0; 3];
        for seed in 0..300 {
            let mut stream = crate::rng::Key::root(seed).stream();
            let tried: Vec<u64> = (0..own.repetitions().draw(&mut stream)).map(|_| stream.below(3)).collect();
            let best =
                tried.iter().copied().max_by(|a, b| results[*a as usize].total_cmp(&results[*b as usize]));
            let (setting, noisy) =
                own.privatise(&results, &mut crate::rng::Key::root(seed).stream()).unwrap().unwrap();
            assert_eq!(Some(setting), best, "seed {seed}");
            assert!((noisy - results[setting as usize]).abs() < 0.03, "30 scales: probability 1e-13");
            found[setting as usize] += 1;
        }
        assert!(found.iter().all(|count| *count > 10), "{found:?}");
        assert!(own.privatise(&vec![], &mut crate::rng::Key::root(1).stream()).is_err());
    }
}
