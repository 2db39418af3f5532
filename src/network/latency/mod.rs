//! How long a message travels along one link.
//!
//! A latency model is its quantile function: one uniform draw per message, so that two models fed with the same
//! draw give comparable delays (common random numbers), and every model is tested by the same mean and quantiles.

mod constant;
mod empirical;
mod exponential;
mod jittered;
mod lognormal;
mod normal;
mod pareto;
mod uniform;

pub use constant::Constant;
pub use empirical::Empirical;
pub use exponential::Exponential;
pub use jittered::Jittered;
pub use lognormal::LogNormal;
pub use normal::Normal;
pub use pareto::Pareto;
pub use uniform::Uniform;

use crate::vocab::{Problem, Span};
use std::path::{Path, PathBuf};

/// The behaviour of a latency model.
pub trait Latency {
    /// The delay at probability `u` in (0, 1): the inverse of the distribution function.
    fn quantile(&self, u: f64) -> Span;

    /// The mean delay in seconds.
    fn mean_seconds(&self) -> f64;

    /// What is wrong with the recipe as a whole. Ranges of single fields are in their types.
    fn problems(&self) -> Vec<Problem> {
        Vec::new()
    }

    /// Reads the files that the recipe names; relative paths begin at `base`.
    fn load(&mut self, base: &Path) -> Vec<Problem> {
        let _ = base;
        Vec::new()
    }

    /// The files that the recipe names.
    fn files(&self) -> Vec<PathBuf> {
        Vec::new()
    }
}

crate::family! {
    /// How long a message travels along a link.
    pub struct LatencyModel(LatencyMember): dyn Latency, "latency" {
        Constant(Constant),
        Uniform(Uniform),
        Exponential(Exponential),
        LogNormal(LogNormal),
        Normal(Normal),
        Pareto(Pareto),
        Empirical(Empirical),
        Jittered(Jittered),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn empirical() -> LatencyModel {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("delays.csv"), "s\n0.03\n0.01\n0.08\n0.04\n").unwrap();
        let mut law = Empirical::new("delays.csv".into(), "s".to_owned(), Span::from_millis(1000));
        assert_eq!(law.load(folder.path()), []);
        LatencyModel::from(law)
    }

    fn examples() -> Vec<LatencyModel> {
        let ms = Span::from_millis;
        vec![
            LatencyModel::from(Constant(ms(40))),
            LatencyModel::from(Uniform { low: ms(10), high: ms(70) }),
            LatencyModel::from(Exponential { mean: ms(40) }),
            LatencyModel::from(LogNormal {
                median: ms(40),
                sigma: crate::vocab::NonNegative::new(0.5).unwrap(),
            }),
            LatencyModel::from(Normal { mean: ms(40), sd: ms(30) }),
            LatencyModel::from(Pareto { shortest: ms(40), shape: crate::vocab::Positive::new(4.0).unwrap() }),
            empirical(),
            LatencyModel::from(Jittered {
                base: ms(30),
                jitter: Box::new(LatencyModel::from(Exponential { mean: ms(10) })),
            }),
        ]
    }

    #[test]
    fn every_member_has_an_example() {
        assert_eq!(examples().len(), LatencyModel::names().len());
    }

    #[test]
    fn means_are_the_integrals_of_the_quantiles() {
        // The midpoint rule over 200,000 cells is within 1e-4 relative for these laws: the exponential's last
        // cell, its worst, misses about 0.7 / 200,000 of the mean.
        for model in examples() {
            let model = model.as_dyn();
            let cells = 200_000;
            let sum: f64 =
                (0..cells).map(|i| model.quantile((f64::from(i) + 0.5) / f64::from(cells)).seconds()).sum();
            let mean = sum / f64::from(cells);
            assert!((mean / model.mean_seconds() - 1.0).abs() < 1e-4, "{mean} {}", model.mean_seconds());
        }
    }

    #[test]
    fn jitter_comes_on_top() {
        let jitter = Exponential { mean: Span::from_millis(10) };
        let law = Jittered { base: Span::from_millis(30), jitter: Box::new(jitter.clone().into()) };
        assert_eq!(law.quantile(0.5), Span::from_millis(30) + jitter.quantile(0.5));
        // 30 ms + 10 ms ln 2
        assert!((law.quantile(0.5).seconds() - 0.036_931_472).abs() < 1e-9);
        assert_eq!(law.mean_seconds(), 0.04);
    }

    #[test]
    fn quantiles_rise() {
        for model in examples() {
            let model = model.as_dyn();
            let mut last = Span::ZERO;
            for i in 1..1000 {
                let delay = model.quantile(f64::from(i) / 1000.0);
                assert!(last <= delay);
                last = delay;
            }
        }
    }
}
