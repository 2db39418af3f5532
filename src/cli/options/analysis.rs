//! Arguments of `threshold` and `explain`.

use super::bad_value::BadValue;
use super::scenario::ScenarioArguments;
use crate::scenario::MAX_REPLICATIONS;
use clap::Args;
use std::path::PathBuf;

/// Parses a share, a number strictly between 0 and 1.
pub(super) fn share(text: &str) -> Result<f64, BadValue> {
    let found = text.parse::<f64>().ok();
    found.filter(|share| *share > 0.0 && *share < 1.0).ok_or_else(|| BadValue::Share(text.to_owned()))
}

/// Parses a finite number.
pub(super) fn finite(text: &str) -> Result<f64, BadValue> {
    let found = text.parse::<f64>().ok();
    found.filter(|number| number.is_finite()).ok_or_else(|| BadValue::NotFinite(text.to_owned()))
}

/// One value that a design varies over a range.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::cli) struct RangeArgument {
    /// The path of the value, or the name of its `Each`.
    pub(in crate::cli) axis: String,
    pub(in crate::cli) from: f64,
    pub(in crate::cli) to: f64,
    /// Whether the value is uniform on a logarithmic scale.
    pub(in crate::cli) log: bool,
}

/// Parses PATH=FROM..TO or PATH=FROM..TO:log.
fn range(text: &str) -> Result<RangeArgument, BadValue> {
    let wrong = || BadValue::NotARange(text.to_owned());
    let (axis, ends) = text.rsplit_once('=').ok_or_else(wrong)?;
    let (ends, log) = ends.strip_suffix(":log").map_or((ends, false), |ends| (ends, true));
    let (from, to) = ends.split_once("..").ok_or_else(wrong)?;
    let (from, to) = (finite(from).map_err(|_| wrong())?, finite(to).map_err(|_| wrong())?);
    if axis.trim().is_empty() || from >= to || (log && from <= 0.0) {
        return Err(wrong());
    }
    Ok(RangeArgument { axis: axis.trim().to_owned(), from, to, log })
}

#[derive(Debug, Args)]
#[command(
    override_usage = "subrosa threshold [OPTIONS] <SCENARIO> --series <NAME> --against <NAME>\n                         \
                            --over <AXIS> --from <VALUE> --to <VALUE>"
)]
pub(in crate::cli) struct ThresholdArguments {
    #[command(flatten)]
    pub(in crate::cli) scenario: ScenarioArguments,
    /// The series whose advantage is examined
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) series: String,
    /// The series with which --series is compared
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) against: String,
    /// The metric that is compared: a column of results.csv, named without the prefix "more." if it has one
    #[arg(long, value_name = "NAME", default_value = "simple_regret")]
    pub(in crate::cli) metric: String,
    /// Use the metric, which must be a regret, of this group of agents or cohort of users only. With "worst", use in each
    /// replication the group where the regret is largest
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) group: Option<String>,
    /// A larger value of the metric is better. Default: a smaller one, as for regret
    #[arg(long)]
    pub(in crate::cli) larger_is_better: bool,
    /// The value that is varied: its path, as in -o, or the name of its Each
    #[arg(long, value_name = "AXIS")]
    pub(in crate::cli) over: String,
    /// The smallest value
    #[arg(long, value_name = "VALUE", value_parser = finite, allow_negative_numbers = true)]
    pub(in crate::cli) from: f64,
    /// The largest value
    #[arg(long, value_name = "VALUE", value_parser = finite, allow_negative_numbers = true)]
    pub(in crate::cli) to: f64,
    /// Unit to write after each value, for example ms
    #[arg(long, value_name = "UNIT", default_value = "", hide_default_value = true)]
    pub(in crate::cli) unit: String,
    /// Stop when the confidence interval of the threshold is at most this wide. Default: a twentieth of the range
    #[arg(long, alias = "width", value_name = "WIDTH", value_parser = finite)]
    pub(in crate::cli) max_width: Option<f64>,
    /// Halve the range on a logarithmic scale; --max-width is then the ratio of the interval's ends
    #[arg(long)]
    pub(in crate::cli) log: bool,
    /// By how much the series must be better to count as better, in the unit of the metric
    #[arg(long, value_name = "MARGIN", value_parser = finite, default_value_t = 0.0, allow_negative_numbers = true)]
    pub(in crate::cli) margin: f64,
    /// Probability with which the interval covers the threshold
    #[arg(long, value_name = "SHARE", value_parser = share, default_value_t = 0.95)]
    pub(in crate::cli) confidence: f64,
    /// Largest number of replications of a value. The first test of a value uses 20, or the number of --replications
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(2..=MAX_REPLICATIONS))]
    pub(in crate::cli) max_replications: u64,
    #[command(flatten)]
    pub(in crate::cli) playing: Playing,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ExplainArguments {
    #[command(flatten)]
    pub(in crate::cli) scenario: ScenarioArguments,
    /// The metric that is explained: a column of results.csv, named without the prefix "more." if it has one
    #[arg(long, value_name = "NAME", default_value = "simple_regret")]
    pub(in crate::cli) metric: String,
    /// Use the metric, which must be a regret, of this group of agents or cohort of users only. With "worst", use in each
    /// replication the group where the regret is largest
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) group: Option<String>,
    /// Draw a value quasi-randomly from a range. Default: every Each takes the values that it lists. With ":log" at the end,
    /// the drawn value is uniform on a logarithmic scale. May be repeated
    #[arg(long, value_name = "AXIS=FROM..TO", value_parser = range)]
    pub(in crate::cli) over: Vec<RangeArgument>,
    /// Number of points of the quasi-random design. The design has POINTS times (d + 2) cells for d ranges
    #[arg(long, value_name = "POINTS", default_value_t = 64, requires = "over", value_parser = clap::value_parser!(u32).range(4..=16384))]
    pub(in crate::cli) points: u32,
    /// Estimate the interactions of pairs of values too; the design then has POINTS times (2 d + 2) cells for d ranges
    #[arg(long, requires = "over")]
    pub(in crate::cli) pairs: bool,
    /// Approximate probability with which the interval of a share of the variance covers the true share
    #[arg(long, value_name = "SHARE", value_parser = share, default_value_t = 0.95)]
    pub(in crate::cli) confidence: f64,
    #[command(flatten)]
    pub(in crate::cli) playing: Playing,
}

/// How the replications of an analysis are run, and where its picture goes.
#[derive(Debug, Args)]
pub(in crate::cli) struct Playing {
    /// Write the picture as an SVG file too
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) svg: Option<PathBuf>,
    /// Folder in which the run folder is made
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub(in crate::cli) out: PathBuf,
    /// Number of threads that run replications; results do not depend on it. Default: one per core
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(in crate::cli) threads: Option<u32>,
    /// Stop at the first replication that fails instead of running all others
    #[arg(long)]
    pub(in crate::cli) fail_fast: bool,
}
