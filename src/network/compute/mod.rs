//! Compute time: how long a party works on a message.
//!
//! A party whose jobs take time has a random stream of its own. It first draws how slow its device is, and then two
//! random numbers per job: one for the job's length, one for random slowdowns. Job k uses the same two numbers with every
//! model.

mod devices;
mod drawn;
mod fedscale_devices;
mod heterogeneous;
mod instant;
mod servers;
mod straggling;

pub use devices::Devices;
pub use drawn::Drawn;
pub use fedscale_devices::FedScaleDevices;
pub use heterogeneous::Heterogeneous;
pub use instant::Instant;
pub use servers::Servers;
pub use straggling::Straggling;

use super::latency::LatencyModel;
use crate::vocab::{DataFolders, Problem, Span};
use std::path::PathBuf;

/// The behaviour of a compute model.
pub trait Compute {
    /// A number that says how slow a party is: usually the factor by which its jobs take longer than the recipe states.
    /// [`Self::job`] interprets the number. `u` in (0, 1) is the party's own draw. A larger `u` never gives a smaller
    /// number.
    fn slowness(&self, u: f64) -> f64 {
        let _ = u;
        1.0
    }

    /// The slowness, as [`Self::slowness`] defines it, of party `number`, counted from 0 among the parties of its entry in
    /// the scenario. By default `number` has no effect.
    fn slowness_numbered(&self, number: u64, u: f64) -> f64 {
        let _ = number;
        self.slowness(u)
    }

    /// How long a job of one unit of work takes on a party of this slowness. The job has two random draws: `length` in
    /// (0, 1), for its length, and `slowdown_draw` in [0, 1), for a random slowdown.
    fn job(&self, slowness: f64, length: f64, slowdown_draw: f64) -> Span;

    /// Number of jobs that a party works on at the same time.
    fn servers(&self) -> u32 {
        1
    }

    /// Whether parties with this recipe draw different speeds. By default, they do if [`Self::slowness`] is greater near
    /// u = 1 than near u = 0.
    fn differs(&self) -> bool {
        self.slowness(f64::MIN_POSITIVE) < self.slowness(1.0 - f64::EPSILON / 2.0)
    }

    /// Whether every job takes no time.
    fn is_instant(&self) -> bool {
        false
    }

    /// What is wrong with the recipe as a whole.
    fn problems(&self) -> Vec<Problem> {
        Vec::new()
    }

    /// Reads the files that the recipe names; relative paths are looked up in the folders of `base`.
    fn load(&mut self, base: &DataFolders) -> Vec<Problem> {
        let _ = base;
        Vec::new()
    }

    /// The files that the recipe names.
    fn files(&self) -> Vec<PathBuf> {
        Vec::new()
    }
}

crate::family! {
    /// How long a party works on each message that it receives, and whether it works on one message or several at a time.
    pub struct ComputeModel(ComputeMember): dyn Compute, "compute" {
        Instant(Instant),
        Drawn(Drawn),
        Heterogeneous(Heterogeneous),
        Straggling(Straggling),
        Devices(Devices),
        FedScaleDevices(FedScaleDevices),
        Servers(Servers),
    }
}

/// How long a job takes: the quantile of `time` at the draw `length`, times `factor`.
fn scaled(time: &LatencyModel, length: f64, factor: f64) -> Span {
    let base = time.as_dyn().quantile(length);
    // With a factor of 1 the time is not converted to floating-point seconds, which would round it.
    if factor == 1.0 { base } else { Span::from_seconds(base.seconds() * factor) }
}

/// What is wrong with the distribution of a job's length.
fn time_problems(time: &LatencyModel) -> Vec<Problem> {
    let found = time.as_dyn().problems().into_iter().chain(time.outside_of_links());
    found.map(|problem| problem.below("time")).collect()
}

/// Reads the files of the distribution of a job's length.
fn load_time(time: &mut LatencyModel, base: &DataFolders) -> Vec<Problem> {
    time.as_dyn_mut().load(base).into_iter().map(|problem| problem.below("time")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::latency::{Constant, Exponential};
    use crate::vocab::{NonNegative, Positive, Probability};

    fn constant(ms: u64) -> LatencyModel {
        LatencyModel::from(Constant(Span::from_millis(ms)))
    }

    #[test]
    fn slowness_has_median_one_and_the_stated_spread() {
        let recipe = Heterogeneous { time: constant(100), sigma: NonNegative::new(0.5).unwrap() };
        assert!((recipe.slowness(0.5) - 1.0).abs() < 1e-12);
        // Phi, the standard normal distribution function, is 0.841344746 at 1. So at this draw the logarithm of the slowness
        // is one standard deviation above its mean of 0.
        assert!((libm::log(recipe.slowness(0.841_344_746_068_543)) - 0.5).abs() < 1e-9);
        assert_eq!(recipe.job(2.0, 0.5, 0.0), Span::from_millis(200));
    }

    #[test]
    fn stragglers_occur_at_their_rate() {
        let recipe = Straggling {
            time: constant(100),
            probability: Probability::new(0.1).unwrap(),
            factor: Positive::new(10.0).unwrap(),
        };
        let slow = (0..1000)
            .filter(|k| recipe.job(1.0, 0.5, f64::from(*k) / 1000.0) == Span::from_millis(1000))
            .count();
        assert_eq!(slow, 100);
        assert_eq!(recipe.job(1.0, 0.5, 0.1), Span::from_millis(100));
    }

    #[test]
    fn a_drawn_job_takes_a_quantile_of_the_stated_distribution() {
        let time = LatencyModel::from(Exponential { mean: Span::from_millis(100) });
        let recipe = Drawn { time: time.clone() };
        assert_eq!(recipe.job(1.0, 0.7, 0.3), time.as_dyn().quantile(0.7));
        assert!(!recipe.is_instant());
        assert!(Instant {}.is_instant());
    }
}
