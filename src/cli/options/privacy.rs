//! Arguments of `account`, `audit` and `calibrate`.

use super::bad_value::BadValue;
use super::scenario::Format;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(in crate::cli) struct AccountArguments {
    /// A file with Account(delta: .., events: [..]), or the folder of a run
    pub(in crate::cli) file: PathBuf,
    /// State epsilons at this delta instead of the delta of the file, or of each cell's scenario
    #[arg(long, value_name = "DELTA", allow_negative_numbers = true)]
    pub(in crate::cli) delta: Option<f64>,
    /// Draw epsilon over releases into this SVG file, and delta(epsilon) beside it (NAME-curve.svg)
    #[arg(long, alias = "plot", value_name = "FILE.svg")]
    pub(in crate::cli) svg: Option<PathBuf>,
    /// For a run: print each accountant's epsilon with its lower and upper bound, in one table for each observer and unit
    #[arg(long)]
    pub(in crate::cli) accountants: bool,
    /// How results are printed
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(in crate::cli) format: Format,
}

/// A verdict that is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Expected {
    /// A bound above 0 was measured, and neither a bound nor the exact loss of the neighbours exceeds the claim
    Consistent,
    /// The lower bound by counts of trials exceeds the claim, or the two neighbours can have no output in common and all
    /// counted trials confirm this
    Refuted,
    /// Neither consistent nor refuted: too few trials, nothing measured, nothing claimed, or the claim is exceeded only by
    /// the exact loss or by the bound that assumes a model of the noise
    Inconclusive,
    /// The verdict that the documentation states for the mechanism; not for scenarios
    Documented,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(in crate::cli) struct AuditArguments {
    #[command(subcommand)]
    pub(in crate::cli) what: Option<AuditCommand>,
    /// The scenario file
    pub(in crate::cli) scenario: Option<PathBuf>,
    /// Override a value: path.to.field=RON. May be repeated
    #[arg(short = 'o', long = "override", value_name = "PATH=RON")]
    pub(in crate::cli) overrides: Vec<String>,
    /// Folder of data files that are not in the scenario's folder. Default: the environment variable SUBROSA_DATA
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) data: Option<PathBuf>,
    /// Which cell of a study
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(in crate::cli) cell: usize,
    /// Only this series. Default: all
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) series: Option<String>,
    /// Only what this observer sees; write the observer as the audit prints it. Default: all observers
    #[arg(long, value_name = "PARTY")]
    pub(in crate::cli) observer: Option<String>,
    /// The neighbour, instead of a search for one: ROW:D1,D2,.. (a record and by how much it moves), A,B (two
    /// rewards), or the number of an agent
    #[arg(long, value_name = "NEIGHBOUR", allow_hyphen_values = true)]
    pub(in crate::cli) neighbour: Option<String>,
    /// Test this claim instead of the scenario's: EPSILON,DELTA as in 3,1e-5
    #[arg(long, value_name = "EPSILON,DELTA", value_parser = claim)]
    pub(in crate::cli) claim: Option<(f64, f64)>,
    #[command(flatten)]
    pub(in crate::cli) options: AuditOptions,
}

fn claim(text: &str) -> Result<(f64, f64), BadValue> {
    let expected = || BadValue::NotAPair(text.to_owned());
    let (epsilon, delta) = text.split_once(',').ok_or_else(expected)?;
    let number = |part: &str| part.trim().parse::<f64>().map_err(|_| expected());
    let (epsilon, delta) = (number(epsilon)?, number(delta)?);
    if epsilon > 0.0 && epsilon.is_finite() && (0.0..1.0).contains(&delta) {
        Ok((epsilon, delta))
    } else {
        Err(BadValue::Claim(text.to_owned()))
    }
}

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum AuditCommand {
    /// Audit one mechanism by name, or all of them, including those that are broken on purpose
    Mechanism(MechanismAuditArguments),
}

#[derive(Debug, Args)]
pub(in crate::cli) struct MechanismAuditArguments {
    /// Name of the mechanism, as in a scenario (NoisyRows) or as the audit prints it (noisy-rows), or `all`
    pub(in crate::cli) name: String,
    #[command(flatten)]
    pub(in crate::cli) options: AuditOptions,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct AuditOptions {
    /// Trials for each of the two neighbours, D and D'; half of them choose the test, the other half are counted.
    /// Default: 100000, and 10000 for a scenario
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(8..))]
    pub(in crate::cli) trials: Option<u64>,
    /// Seed of all draws. Default: 0, or the scenario's
    #[arg(long, value_name = "SEED")]
    pub(in crate::cli) seed: Option<u64>,
    /// End with exit code 7 if a verdict differs from this one, or if a protected series was not audited
    #[arg(long, value_enum)]
    pub(in crate::cli) expect: Option<Expected>,
    /// Draw the two distributions into this file, .svg or .png; with several findings, one file for each:
    /// NAME-AUDITED.svg, where AUDITED is the mechanism or series
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) plot: Option<PathBuf>,
    /// Number of threads that run trials; results do not depend on it. Default: one per core
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(in crate::cli) threads: Option<u32>,
    /// How results are printed
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(in crate::cli) format: Format,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct CalibrateArguments {
    /// Largest epsilon of all rounds together
    #[arg(long, allow_negative_numbers = true, required_unless_present = "scenario")]
    pub(in crate::cli) epsilon: Option<f64>,
    /// A scenario of outsourced search: find, for each of its projections, the largest number of columns r at which no
    /// singular value of the inputs is lifted (increased)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["epsilon", "rounds", "noise", "delta", "rate"])]
    pub(in crate::cli) scenario: Option<PathBuf>,
    /// Override a value of that scenario: path.to.field=RON. May be repeated
    #[arg(short = 'o', long = "override", value_name = "PATH=RON", requires = "scenario")]
    pub(in crate::cli) overrides: Vec<String>,
    /// Folder of data files that are not in that scenario's folder. Default: the environment variable SUBROSA_DATA
    #[arg(long, value_name = "DIR", requires = "scenario")]
    pub(in crate::cli) data: Option<PathBuf>,
    /// List every projection of that scenario with its own r and omega, below the table of the largest r
    #[arg(long, requires = "scenario")]
    pub(in crate::cli) all: bool,
    /// Delta at which epsilon is stated
    #[arg(long, default_value_t = 1e-5, allow_negative_numbers = true)]
    pub(in crate::cli) delta: f64,
    /// Probability that a unit takes part in a round (Poisson sampling); 1 for no sampling
    #[arg(long, default_value_t = 1.0, allow_negative_numbers = true)]
    pub(in crate::cli) rate: f64,
    /// Number of rounds; the smallest noise multiplier is computed
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    pub(in crate::cli) rounds: Option<u64>,
    /// Noise multiplier; the largest number of rounds is computed
    #[arg(long, allow_negative_numbers = true)]
    pub(in crate::cli) noise: Option<f64>,
    /// How results are printed
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(in crate::cli) format: Format,
}
