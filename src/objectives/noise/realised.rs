//! The noise of a realised objective: a distribution, or recorded deviations.

use super::gaussian::Gaussian;
use super::scaled::Scaled;
use super::{NoiseLaw as _, NoiseModel};
use crate::rng::Stream;
use crate::vocab::{Delta, Finite};
use std::sync::Arc;

/// Deviations of recorded outcomes from the mean of their arm; all deviations of an arm are equally likely.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// The deviations of each arm, at least one.
    deviations: Vec<Vec<f64>>,
}

impl Recorded {
    /// The deviations of each arm.
    ///
    /// # Panics
    /// If an arm has no deviation.
    #[must_use]
    pub fn new(deviations: Vec<Vec<f64>>) -> Self {
        assert!(deviations.iter().all(|arm| !arm.is_empty()), "every arm has recorded outcomes");
        Self { deviations }
    }

    fn all(&self) -> impl Iterator<Item = f64> {
        self.deviations.iter().flatten().copied()
    }
}

/// The noise of a realised objective.
#[derive(Clone, Debug, PartialEq)]
pub enum Noise {
    /// The same distribution for every arm.
    Law(NoiseModel),
    /// Recorded deviations for each arm.
    Recorded(Arc<Recorded>),
}

impl Noise {
    /// Normal noise of standard deviation `sd`.
    ///
    /// # Panics
    /// If `sd` is negative or not finite.
    #[must_use]
    pub fn gaussian(sd: f64) -> Self {
        Self::Law(NoiseModel::from(Gaussian::of(sd)))
    }

    /// The standard deviation of normal noise; `None` for any other distribution.
    #[must_use]
    pub fn gaussian_sd(&self) -> Option<f64> {
        match self {
            Self::Law(law) => law.get::<Gaussian>().map(|law| law.variance().sqrt()),
            Self::Recorded(_) => None,
        }
    }

    /// The noise of one outcome of an arm.
    ///
    /// # Panics
    /// If the noise is recorded and there is no such arm.
    #[must_use]
    pub fn draw(&self, arm: usize, stream: &mut Stream) -> f64 {
        match self {
            Self::Law(law) => law.as_dyn().draw(stream),
            Self::Recorded(recorded) => {
                let own = &recorded.deviations[arm];
                own[stream.below(own.len() as u64) as usize]
            }
        }
    }

    /// This noise times a factor, which is not 0; the same noise if the factor is 1 or not finite.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        let Ok(by) = Finite::new(factor) else { return self.clone() };
        match self {
            _ if factor == 1.0 => self.clone(),
            Self::Law(law) => Self::Law(NoiseModel::from(Scaled { law: Box::new(law.clone()), factor: by })),
            Self::Recorded(recorded) => {
                let of_arm = |arm: &Vec<f64>| arm.iter().map(|deviation| factor * deviation).collect();
                Self::Recorded(Arc::new(Recorded::new(recorded.deviations.iter().map(of_arm).collect())))
            }
        }
    }

    /// The variance, possibly infinite. For recorded deviations, the mean of the squares of all arms' deviations
    /// together.
    #[must_use]
    pub fn variance(&self) -> f64 {
        match self {
            Self::Law(law) => law.as_dyn().variance(),
            Self::Recorded(recorded) => {
                recorded.all().map(|v| v * v).sum::<f64>() / recorded.all().count() as f64
            }
        }
    }

    /// The largest absolute value of a draw, which the descriptions of distributions call R; `None` for unbounded
    /// noise.
    #[must_use]
    pub fn bound(&self) -> Option<f64> {
        match self {
            Self::Law(law) => law.as_dyn().bound(),
            Self::Recorded(recorded) => Some(recorded.all().fold(0.0, |most, v| most.max(v.abs()))),
        }
    }

    /// A bound that the absolute value of a draw exceeds with probability at most `delta`; `None` if none is known.
    #[must_use]
    pub fn tail(&self, delta: Delta) -> Option<f64> {
        match self {
            Self::Law(law) => law.as_dyn().tail(delta),
            Self::Recorded(_) => self.bound(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Key;

    /// Every distribution, at least once, with the kurtosis of its noise.
    fn laws() -> Vec<(&'static str, f64)> {
        vec![
            ("Gaussian(sd: 1.5)", 3.0),
            ("Uniform(bound: 2.0)", 1.8),
            ("StudentT(degrees: 9, scale: 0.5)", 3.0 + 6.0 / 5.0),
            ("Triangular(bound: 2.0)", 2.4),
            // Truncated at one standard deviation: the kurtosis of a standard normal z truncated to [-1, 1] is
            // E z^4 / (E z^2)^2 = (3 v - c) / v^2, where v = 1 - c and c = 2 phi(1) / (2 Phi(1) - 1). phi is the normal
            // density, Phi the normal distribution function.
            ("TruncatedGaussian(sd: 2.0, bound: 2.0)", 1.940_919_919_9),
            ("Gumbel(scale: 0.7)", 5.4),
            ("Gamma(shape: 2, scale: 0.5)", 6.0),
            // The kurtosis of a beta distribution:
            // 3 + 6 ((a - b)^2 (a + b + 1) - a b (a + b + 2)) / (a b (a + b + 2) (a + b + 3)).
            ("Beta(a: 1, b: 1, width: 3)", 1.8),
            // The fourth moment over the squared variance: 3 (0.9 * 1 + 0.1 * 81) / (0.9 * 1 + 0.1 * 9)^2.
            (
                "Mixture(parts: [(weight: 9, law: Gaussian(sd: 1)), (weight: 1, law: Gaussian(sd: 3))])",
                3.0 * 9.0 / 3.24,
            ),
            // The absolute value of the noise at scale 1 is X^theta for a standard exponential X, so the kurtosis is
            // E X^(4 theta) / (E X^(2 theta))^2 = Gamma(4 theta + 1) / Gamma(2 theta + 1)^2.
            ("Weibull(theta: 1, scale: 2)", 6.0),
            ("Weibull(theta: 0.5)", 2.0),
            // From the moments of a log-logistic X with scale 1 and shape 20: E X^k = (k pi / 20) / sin(k pi / 20).
            ("LogLogistic(scale: 2, shape: 20)", 4.690_833_823),
            ("Scaled(law: Gumbel(scale: 0.7), factor: -3)", 5.4),
        ]
    }

    #[test]
    fn laws_have_the_variance_and_the_bound_they_state() {
        // The mean square of 200,000 draws is within six standard errors of the variance. The standard error of the mean
        // square is computed from the kurtosis, so every distribution here has a finite fourth moment. (Student's t with
        // 9 degrees of freedom has one.)
        for (text, kurtosis) in laws() {
            let model: NoiseModel = crate::scenario::part(text).unwrap();
            let noise = Noise::Law(model);
            let mut stream = Key::root(4).stream();
            let n = 200_000;
            let draws: Vec<f64> = (0..n).map(|_| noise.draw(0, &mut stream)).collect();
            let variance = noise.variance();
            let square = draws.iter().map(|v| v * v).sum::<f64>() / f64::from(n);
            let mean = draws.iter().sum::<f64>() / f64::from(n);
            let error = variance * ((kurtosis - 1.0) / f64::from(n)).sqrt();
            assert!((square - variance).abs() < 6.0 * error, "{text}: {square} for {variance}");
            assert!(mean.abs() < 6.0 * (variance / f64::from(n)).sqrt(), "{text}: mean {mean}");
            if let Some(bound) = noise.bound() {
                assert!(draws.iter().all(|v| v.abs() <= bound));
                assert!(draws.iter().any(|v| v.abs() > 0.98 * bound));
            }
        }
    }

    #[test]
    fn students_t_has_its_quantiles() {
        // For 3 degrees of freedom, P(|T| > 3.182446) = 0.05 and P(|T| > 12.92398) = 0.001. The shares among 400,000
        // draws are within six standard errors of these probabilities.
        let mut stream = Key::root(8).stream();
        let n = 400_000;
        let draws: Vec<f64> = (0..n).map(|_| stream.student_t(3.0)).collect();
        for (bound, tail) in [(3.182_446, 0.05), (12.923_98, 0.001)] {
            let found = draws.iter().filter(|v| v.abs() > bound).count() as f64 / f64::from(n);
            let error = (tail * (1.0 - tail) / f64::from(n)).sqrt();
            assert!((found - tail).abs() < 6.0 * error, "{found} beyond {bound}");
        }
    }

    /// Tails are quantiles from tables or closed forms. For `Uniform` and `Beta` the tail is the bound of the noise, and
    /// for a `Mixture` it is the largest tail of a part; for these three, the tail is at least the quantile.
    #[test]
    fn tails_are_those_of_the_tables() {
        let noise = |text: &str| Noise::Law(crate::scenario::part(text).unwrap());
        for (text, delta, quantile) in [
            ("Gaussian(sd: 2)", 0.05, 2.0 * 1.959_963_984_540_054),
            ("Gaussian(sd: 0)", 0.05, 0.0),
            ("Uniform(bound: 3)", 0.05, 3.0),
            ("StudentT(degrees: 3)", 0.05, 3.182_446_305_283_71),
            ("StudentT(degrees: 3, scale: 2)", 0.001, 2.0 * 12.923_978_636_687),
            ("StudentT(degrees: 10)", 0.01, 3.169_272_672_616_9),
            ("Weibull(theta: 2, scale: 3)", 0.01, 3.0 * 21.207_592_441_913_597),
            ("Weibull(theta: 0.5)", 0.01, 2.145_966_026_289_347),
            ("StudentT(degrees: 1.5)", 1e-6, 8_285.4),
            // The probability of the lower tail is negligible, so the tail at scale 1 is -ln(-ln(1 - delta)) minus Euler's
            // constant.
            ("Gumbel(scale: 2)", 1e-6, 2.0 * (13.815_510_057_964_191 - 0.577_215_664_901_532_9)),
            // Exponential noise minus its mean: -ln(delta) - 1.
            ("Gamma(shape: 1, scale: 3)", 1e-3, 3.0 * (6.907_755_278_982_137 - 1.0)),
            ("Beta(a: 1, b: 3, width: 4)", 0.05, 3.0),
            // At scale 1, the tail is sqrt(1 / delta - 1) minus the mean pi / 2.
            ("LogLogistic(scale: 3, shape: 2)", 1e-4, 295.272_610_644_599_1),
            ("Scaled(law: Gaussian(sd: 1), factor: -2)", 0.05, 2.0 * 1.959_963_984_540_054),
            (
                "Mixture(parts: [(weight: 9, law: Uniform(bound: 1)), (weight: 1, law: Gaussian(sd: 2))])",
                0.05,
                2.0 * 1.959_963_984_540_054,
            ),
        ] {
            let found = noise(text).tail(Delta::new(delta).unwrap()).unwrap();
            let room = if text.contains("1.5") { 1e-4 } else { 1e-7 };
            assert!(found >= quantile * (1.0 - room) && found <= quantile * (1.0 + room), "{text}: {found}");
        }
    }

    #[test]
    fn every_law_is_tested() {
        let tested: Vec<&str> = laws().iter().filter_map(|(text, _)| text.split('(').next()).collect();
        for name in NoiseModel::names() {
            assert!(tested.contains(name), "{name}");
        }
    }

    #[test]
    fn parameters_out_of_range_are_refused() {
        let path = |text: &str| {
            let model: NoiseModel = crate::scenario::part(text).unwrap();
            model.as_dyn().problems().first().map(|problem| problem.path.clone())
        };
        assert_eq!(path("Gamma(shape: 1e-9, scale: 1)").as_deref(), Some("shape"));
        assert_eq!(path("Beta(a: 1, b: 1e9, width: 1)").as_deref(), Some("b"));
        assert_eq!(path("LogLogistic(scale: 1, shape: 1)").as_deref(), Some("shape"));
        assert_eq!(path("Scaled(law: Gumbel(scale: 1), factor: 0)").as_deref(), Some("factor"));
        let scaled = "Scaled(law: StudentT(degrees: 0.5), factor: 2)";
        assert_eq!(path(scaled).as_deref(), Some("law.StudentT.degrees"));
        assert_eq!(path("Mixture(parts: [])").as_deref(), Some("parts"));
        let inside = "Mixture(parts: [(weight: 1, law: StudentT(degrees: 0.5))])";
        assert_eq!(path(inside).as_deref(), Some("parts[0].law.StudentT.degrees"));
        assert_eq!(path("Mixture(parts: [(weight: 1, law: Gumbel(scale: 1))])"), None);
    }

    #[test]
    fn recorded_noise_is_what_was_recorded() {
        let noise = Noise::Recorded(Arc::new(Recorded::new(vec![vec![-1.0, 1.0], vec![3.0, -1.0, -2.0]])));
        assert_eq!(noise.bound(), Some(3.0));
        assert_eq!(noise.variance(), 16.0 / 5.0);
        assert_eq!(noise.scaled(3.0).variance(), 9.0 * 16.0 / 5.0);
        assert_eq!(noise.scaled(1.0), noise);
        let mut stream = Key::root(2).stream();
        let mut seen: Vec<f64> = (0..200).map(|_| noise.draw(1, &mut stream)).collect();
        seen.sort_by(f64::total_cmp);
        seen.dedup();
        assert_eq!(seen, [-2.0, -1.0, 3.0]);
    }
}
