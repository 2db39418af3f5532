//! How long a message takes to cross one link.
//!
//! A latency model is a quantile function: the delay of a message is the quantile at one uniform draw. So two models
//! give comparable delays for the same draw (common random numbers). Where the quantile has no closed form, the
//! distribution function is inverted numerically by the module `special`, with a relative error of 1e-12 (up to 1e-9 for
//! beta distributions with a shape from 100 to 10,000; larger shapes are not tested). The distribution function of a mixture
//! is inverted by bisection, to whole nanoseconds. No rejection sampler is used. Rounding errors of the inversion may
//! reverse the order of two delays whose draws are almost equal.

mod beta;
mod constant;
mod delay_trace;
mod empirical;
mod erlang;
mod exponential;
mod gamma;
mod gumbel;
mod jittered;
mod log_logistic;
mod lognormal;
mod mixture;
mod normal;
mod pareto;
mod partial_mean;
mod path_delays;
mod round_trips;
mod scaled;
mod schedule;
mod shifted;
mod site_delays;
mod triangular;
mod truncated;
mod uniform;
mod weibull;

pub use beta::Beta;
pub use constant::Constant;
pub use delay_trace::{DelayTrace, MissingDelays};
pub use empirical::Empirical;
pub use erlang::Erlang;
pub use exponential::Exponential;
pub use gamma::Gamma;
pub use gumbel::Gumbel;
pub use jittered::Jittered;
pub use log_logistic::LogLogistic;
pub use lognormal::LogNormal;
pub use mixture::{Mixture, Part};
pub use normal::Normal;
pub use pareto::Pareto;
pub use path_delays::{EdgeDelay, PathDelays};
pub use round_trips::RoundTrips;
pub use scaled::Scaled;
pub use schedule::{LatencyStep, Schedule};
pub use shifted::Shifted;
pub use triangular::Triangular;
pub use truncated::Truncated;
pub use uniform::Uniform;
pub use weibull::Weibull;

use crate::vocab::{DataFolders, Problem, Span, Time};
use std::fmt::Display;
use std::path::PathBuf;

/// One end of a link.
#[derive(Clone, Copy, Debug)]
pub struct LinkEnd<'a> {
    /// The party's name.
    pub name: &'a str,
    /// The group that the party belongs to.
    pub group: Option<&'a str>,
    /// The party's number, from 0, among the parties of its entry in the scenario.
    pub number: u64,
}

/// The behaviour of a latency model.
pub trait Latency {
    /// The delay at probability `u` in (0, 1): the inverse of the distribution function.
    fn quantile(&self, u: f64) -> Span;

    /// The delay, at probability `u`, of a message that enters the link at the time `at`. Apart from rounding errors, the
    /// delay never decreases in `u`.
    fn quantile_at(&self, at: Time, u: f64) -> Span {
        let _ = at;
        self.quantile(u)
    }

    /// Whether the delay depends on the time or on the ends of a link, so that only links can use the model. If so, the
    /// model's quantile and mean are those of the delay at a random time, or between a random pair of sites.
    fn needs_link(&self) -> bool {
        self.differs_between_links()
    }

    /// Whether the delay depends on the ends of the link.
    fn differs_between_links(&self) -> bool {
        false
    }

    /// The latency model of the link from one party to another; `None` if the delay does not depend on the ends of the
    /// link.
    fn between(&self, from: LinkEnd<'_>, to: LinkEnd<'_>) -> Option<LatencyModel> {
        let _ = (from, to);
        None
    }

    /// What is wrong if links between these parties use the recipe.
    fn problems_between(&self, parties: &[LinkEnd<'_>]) -> Vec<Problem> {
        let _ = parties;
        Vec::new()
    }

    /// The mean delay in seconds.
    fn mean_seconds(&self) -> f64;

    /// The probability of a delay of at most `delay`: the distribution function. The default implementation inverts the
    /// quantile by bisection, with an error of 2^-53 after 53 steps. Mixtures and truncations of a model are faster if the
    /// model implements this method.
    fn probability_within(&self, delay: Span) -> f64 {
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..53 {
            let middle = 0.5 * (low + high);
            if self.quantile(middle) <= delay { low = middle } else { high = middle }
        }
        if low == 0.0 { 0.0 } else { high }
    }

    /// The delay of every message, if the model states that all messages have the same delay; else `None`. On a link whose
    /// model states such a delay and which has no losses, no random numbers are drawn for delay and loss.
    fn certain(&self) -> Option<Span> {
        None
    }

    /// What is wrong with the recipe as a whole; the type of a single field checks the field's range.
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

    /// Whether a file that the recipe names has not been read. Quantiles, mean and probabilities then have no meaning.
    fn is_unread(&self) -> bool {
        false
    }
}

crate::family! {
    /// How long a message takes to cross a link.
    pub struct LatencyModel(LatencyMember): dyn Latency, "latency" {
        Constant(Constant),
        Uniform(Uniform),
        Exponential(Exponential),
        LogNormal(LogNormal),
        Normal(Normal),
        Pareto(Pareto),
        Empirical(Empirical),
        Jittered(Jittered),
        Weibull(Weibull),
        Triangular(Triangular),
        Gumbel(Gumbel),
        LogLogistic(LogLogistic),
        Gamma(Gamma),
        Erlang(Erlang),
        Beta(Beta),
        Mixture(Mixture),
        Shifted(Shifted),
        Scaled(Scaled),
        Truncated(Truncated),
        Schedule(Schedule),
        RoundTrips(RoundTrips),
        PathDelays(PathDelays),
        DelayTrace(DelayTrace),
    }
}

impl LatencyModel {
    /// The problem of using this model where there is no link, such as for a compute time; `None` if the model's delay
    /// depends on neither the time nor the link.
    pub(crate) fn outside_of_links(&self) -> Option<Problem> {
        let cure = "write it as the `latency` of links, and here a distribution that depends on neither time nor link";
        let expected = "a distribution that depends on neither time nor link";
        self.as_dyn().needs_link().then(|| Problem::wrong("", expected, self.name(), cure))
    }

    /// The problems of a model that another model contains in its field `field`.
    fn problems_below(&self, field: &str) -> impl Iterator<Item = Problem> + use<> {
        let field = field.to_owned();
        self.as_dyn().problems().into_iter().map(move |problem| problem.below(&field))
    }

    /// Reads the files of a model that another model contains in its field `field`; relative paths are looked up in the
    /// folders of `base`.
    fn load_below(&mut self, field: &str, base: &DataFolders) -> impl Iterator<Item = Problem> + use<> {
        let field = field.to_owned();
        self.as_dyn_mut().load(base).into_iter().map(move |problem| problem.below(&field))
    }
}

/// A problem at the field `path` if its value, `number`, makes the mean at least as long as the longest span, some 584
/// years.
fn extreme_mean(law: &impl Latency, path: &str, number: &impl Display, cure: &str) -> Option<Problem> {
    let mean = law.mean_seconds();
    if mean < Span::MAX.seconds() {
        return None;
    }
    let found = format!("{number}, for which the mean delay is {mean:.1e} s");
    Some(Problem::wrong(path, format!("a {path} for which the mean delay is below 584 years"), found, cure))
}

#[cfg(test)]
mod tests;
