//! Verbs and flags.

use super::new::TEMPLATES;
use crate::protocols::ForkPoint;
use crate::scenario::MOST_REPLICATIONS;
use crate::vocab::{Positive, Span};
use clap::builder::PossibleValuesParser;
use clap::{ArgGroup, Args, CommandFactory, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// A discrete-event simulator of privacy-preserving Bayesian optimisation.
#[derive(Debug, Parser)]
#[command(name = "subrosa", version, arg_required_else_help = true, max_term_width = 80, after_help = EXIT_CODES)]
pub(super) struct Arguments {
    #[command(subcommand)]
    pub(super) verb: Verb,
}

const EXIT_CODES: &str = "Exit codes: 0 ok, 1 internal, 2 usage, 3 invalid scenario, 4 some cells failed, \
5 replay differs, 6 privacy budget exhausted, 7 an audit's verdict is not the expected one, 130 interrupted and resumable.";

#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    /// Check a scenario and say all that is wrong with it; run nothing
    Check(CheckArguments),
    /// Play a scenario, report, and leave a run folder
    Run(RunArguments),
    /// Play a run again and compare digests
    Replay(ReplayArguments),
    /// Play a study on many machines: plan it, start workers, watch them, merge what they leave
    Sweep(SweepArguments),
    /// Compare two runs, replication by replication on common random numbers
    Compare(CompareArguments),
    /// Make the report of a run again: text, report.html, and on request a figure as a file
    Report(ReportArguments),
    /// Write a commented scenario that runs at once
    #[command(arg_required_else_help = true)]
    New(NewArguments),
    /// Show one replication's events: as text, as JSON lines, or as a message-sequence picture
    Trace(TraceArguments),
    /// Price a list of releases, or a run's ledger, by every accountant
    Account(AccountArguments),
    /// Attack the privacy claims of a scenario, or of every mechanism, and give a verdict
    Audit(AuditArguments),
    /// Find the smallest noise for a target, or the most rounds for a noise
    Calibrate(CalibrateArguments),
    /// List what a scenario may name
    List(ListArguments),
    /// Print the completion script of a shell
    Completions(CompletionsArguments),
    /// Print the manual page
    Man(ManArguments),
}

/// How results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Tables for people
    Text,
    /// One JSON document
    Json,
}

#[derive(Clone, Debug, Args)]
pub(super) struct ScenarioArguments {
    /// The scenario file
    pub(super) scenario: PathBuf,
    /// Override a value: path.to.field=RON, as in -o network.default.loss='Independent(0.1)'. May be repeated
    #[arg(short = 'o', long = "override", value_name = "PATH=RON")]
    pub(super) overrides: Vec<String>,
    /// Use this seed instead of the scenario's
    #[arg(long, value_name = "SEED")]
    pub(super) seed: Option<u64>,
    /// Folder of data files that are not beside the scenario. Default: the environment's SUBROSA_DATA
    #[arg(long, value_name = "DIR")]
    pub(super) data: Option<PathBuf>,
    /// Play this many replications of every cell instead of the scenario's number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) replications: Option<u64>,
    /// How results are printed
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(super) format: Format,
}

#[derive(Debug, Args)]
pub(super) struct CheckArguments {
    #[command(flatten)]
    pub(super) scenario: ScenarioArguments,
}

#[derive(Debug, Args)]
pub(super) struct RunArguments {
    #[command(flatten)]
    pub(super) scenario: ScenarioArguments,
    /// Play the system alone (timing, losses, who is late): nothing is measured, learned or made private, and no
    /// folder is left
    #[arg(long)]
    pub(super) dry: bool,
    /// Play the beginning once, up to the end of a round (20) or to a virtual time (5min), and several futures from
    /// there on: the unchanged one, and one for each --branch. Without any --branch, what -o changes is the branch
    #[arg(long, value_name = "ROUND|TIME", conflicts_with = "dry")]
    pub(super) fork_at: Option<ForkPoint>,
    /// What a branch changes after the fork, as in 'no outages: network.outages=[]'. May be repeated; changes of the
    /// same name belong together
    #[arg(long, value_name = "NAME: PATH=RON", conflicts_with = "dry")]
    pub(super) branch: Vec<String>,
    /// Folder below which the run folder is made
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub(super) out: PathBuf,
    /// Threads to play replications on; results do not depend on it. Default: one per core
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) threads: Option<u32>,
    /// Stop at the first replication that fails instead of playing all others
    #[arg(long)]
    pub(super) fail_fast: bool,
    /// Play more replications of all cells until the 95 % interval around every mean is at most this far to each side
    #[arg(long, value_name = "WIDTH", value_parser = positive, conflicts_with_all = ["dry", "fork_at", "branch"])]
    pub(super) until_halfwidth: Option<Positive>,
    /// The metric whose means are to be known so well, as results.csv calls it (without "more.")
    #[arg(long, value_name = "NAME", default_value = "simple_regret", requires = "until_halfwidth")]
    pub(super) metric: String,
    /// Most replications of a cell on the way there
    #[arg(long, value_name = "N", default_value_t = 1000, requires = "until_halfwidth",
        value_parser = clap::value_parser!(u64).range(2..=MOST_REPLICATIONS))]
    pub(super) at_most: u64,
}

#[derive(Debug, Args)]
pub(super) struct CompareArguments {
    /// Folder of the first run
    pub(super) a: PathBuf,
    /// Folder of the second run; may be the same, to compare two series of it
    pub(super) b: PathBuf,
    /// Only this series of the first run. Default: all, or the series of --series-b
    #[arg(long, value_name = "NAME")]
    pub(super) series_a: Option<String>,
    /// Only this series of the second run. Default: the series of the same name
    #[arg(long, value_name = "NAME")]
    pub(super) series_b: Option<String>,
    /// How results are printed
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(super) format: Format,
}

#[derive(Debug, Args)]
pub(super) struct SweepArguments {
    #[command(subcommand)]
    pub(super) verb: SweepVerb,
}

#[derive(Debug, Subcommand)]
pub(super) enum SweepVerb {
    /// Divide a study into blocks for workers, and print its folder
    Plan(SweepPlanArguments),
    /// Play blocks until none is left; start as many of these as there are machines
    Work(SweepWorkArguments),
    /// Show how far a sweep has come
    Status(SweepStatusArguments),
    /// Make one finished run of what the workers left
    Merge(SweepMergeArguments),
    /// Write the batch script of an engine and hand it in
    Submit(SweepSubmitArguments),
}

#[derive(Debug, Args)]
pub(super) struct SweepPlanArguments {
    #[command(flatten)]
    pub(super) scenario: ScenarioArguments,
    /// Folder below which the study's folder is made; all workers must see it at this place
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub(super) out: PathBuf,
    /// Blocks to divide the study into; a worker takes one at a time. Default: one per replication, at most 1024
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) blocks: Option<u64>,
    /// Plan anew even if workers may be at work; what they finished is kept
    #[arg(long)]
    pub(super) force: bool,
}

#[derive(Debug, Args)]
pub(super) struct SweepWorkArguments {
    /// The study's folder
    pub(super) folder: PathBuf,
    /// This worker's number, from 0, and the number of workers. Says where to begin; every worker goes on until
    /// nothing is left
    #[arg(long, value_name = "I/N", default_value = "0/1", value_parser = slot)]
    pub(super) slot: (u64, u64),
    /// Threads of this worker. Default: one per core that it may use
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) threads: Option<u32>,
    /// Time between two signs of life
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub(super) heartbeat: humantime::Duration,
    /// Take over the blocks of a worker that has been silent for this long; several heartbeats
    #[arg(long, value_name = "TIME", default_value = "60s")]
    pub(super) dead_after: humantime::Duration,
}

fn positive(text: &str) -> Result<Positive, String> {
    let number = text.parse::<f64>().map_err(|_| "expected a number above 0".to_owned())?;
    Positive::new(number).map_err(|error| error.to_string())
}

/// `3/16`.
fn slot(text: &str) -> Result<(u64, u64), String> {
    let parsed = text
        .split_once('/')
        .and_then(|(slot, slots)| Some((slot.parse::<u64>().ok()?, slots.parse::<u64>().ok()?)));
    let parsed = parsed.filter(|(slot, slots)| slot < slots);
    parsed.ok_or_else(|| {
        "expected a worker's number, from 0, and the number of workers: 0/16 for the first, 15/16 for the last".to_owned()
    })
}

#[derive(Debug, Args)]
pub(super) struct SweepStatusArguments {
    /// The study's folder
    pub(super) folder: PathBuf,
    /// How results are printed
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(super) format: Format,
}

#[derive(Debug, Args)]
pub(super) struct SweepMergeArguments {
    /// The study's folder
    pub(super) folder: PathBuf,
    /// Other folders that hold parts of the same study, played elsewhere
    pub(super) others: Vec<PathBuf>,
    /// Merge what is there even if something is missing
    #[arg(long)]
    pub(super) partial: bool,
    /// How results are printed
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(super) format: Format,
}

/// What starts workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Engine {
    /// Slurm: a job array, one element per worker
    Slurm,
}

#[derive(Debug, Args)]
pub(super) struct SweepSubmitArguments {
    /// The study's folder
    pub(super) folder: PathBuf,
    /// What starts the workers
    #[arg(long, value_enum)]
    pub(super) engine: Engine,
    /// Number of workers
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) workers: u32,
    /// Cores and threads of each worker
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) threads: u32,
    /// A further line of the script's head, as in --directive '--partition=long'. May be repeated
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    pub(super) directive: Vec<String>,
    /// Time between two signs of life
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub(super) heartbeat: humantime::Duration,
    /// Take over the blocks of a worker that has been silent for this long
    #[arg(long, value_name = "TIME", default_value = "60s")]
    pub(super) dead_after: humantime::Duration,
    /// Print the script and hand nothing in
    #[arg(long)]
    pub(super) dry_run: bool,
}

#[derive(Debug, Args)]
pub(super) struct ReplayArguments {
    /// The run folder; with --diff a scenario file will do too
    pub(super) run: PathBuf,
    /// Compare only this replication. Default: all of them; the first one with --diff
    #[arg(long, value_name = "K")]
    pub(super) replication: Option<u64>,
    /// Play and compare only what happens up to this virtual time, as in 1min30s
    #[arg(long, value_name = "TIME")]
    pub(super) until: Option<Span>,
    /// Play nothing: make summary, tables and page again from the records, and compare them with the files
    #[arg(long, conflicts_with_all = ["replication", "until", "diff", "threads"])]
    pub(super) files: bool,
    /// Play this run or scenario too, and name the first event that differs with what led to it on either side
    #[arg(long, value_name = "RUN2")]
    pub(super) diff: Option<PathBuf>,
    /// Which cell of a study, with --diff
    #[arg(long, value_name = "N", default_value_t = 0, requires = "diff")]
    pub(super) cell: usize,
    /// Threads to play replications on. Default: one per core
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) threads: Option<u32>,
    /// How results are printed
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(super) format: Format,
}

/// How a trace is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum TraceFormat {
    /// A line per event for people, long facts cut
    Text,
    /// A JSON object per line, everything whole
    Jsonl,
    /// A message-sequence picture
    Svg,
}

#[derive(Debug, Args)]
pub(super) struct TraceArguments {
    /// The scenario file
    pub(super) scenario: PathBuf,
    /// Override a value: path.to.field=RON. May be repeated
    #[arg(short = 'o', long = "override", value_name = "PATH=RON")]
    pub(super) overrides: Vec<String>,
    /// Use this seed instead of the scenario's
    #[arg(long, value_name = "SEED")]
    pub(super) seed: Option<u64>,
    /// Folder of data files that are not beside the scenario. Default: the environment's SUBROSA_DATA
    #[arg(long, value_name = "DIR")]
    pub(super) data: Option<PathBuf>,
    /// Which replication
    #[arg(long, value_name = "K", default_value_t = 0)]
    pub(super) replication: u64,
    /// Which cell of a study
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) cell: usize,
    /// Only this series. Default: all; the first one for a picture
    #[arg(long, value_name = "NAME")]
    pub(super) series: Option<String>,
    /// Leave out what happens before this virtual time, as in 1s500ms
    #[arg(long, value_name = "TIME")]
    pub(super) from: Option<Span>,
    /// Leave out what happens after this virtual time
    #[arg(long, value_name = "TIME")]
    pub(super) until: Option<Span>,
    /// How events are printed
    #[arg(long, value_enum, default_value_t = TraceFormat::Text)]
    pub(super) format: TraceFormat,
}

#[derive(Debug, Args)]
pub(super) struct AccountArguments {
    /// A file with Account(delta: .., events: [..]), or the folder of a run
    pub(super) file: PathBuf,
    /// State epsilons at this delta instead of the file's
    #[arg(long, value_name = "DELTA", allow_negative_numbers = true)]
    pub(super) delta: Option<f64>,
    /// Draw epsilon over releases into this SVG file, and delta(epsilon) beside it (NAME-curve.svg)
    #[arg(long, value_name = "FILE.svg")]
    pub(super) plot: Option<PathBuf>,
    /// How results are printed
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(super) format: Format,
}

/// A verdict that is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Expected {
    /// Something was measured, and neither it nor the exact loss of the neighbours exceeds the claim
    Consistent,
    /// The bound by counting exceeds the claim
    Refuted,
    /// Neither: too few trials, nothing measured, nothing claimed, or the exact loss exceeds the claim
    Inconclusive,
    /// The verdict that the documentation announces; for mechanisms
    Documented,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct AuditArguments {
    #[command(subcommand)]
    pub(super) what: Option<AuditWhat>,
    /// The scenario file
    pub(super) scenario: Option<PathBuf>,
    /// Override a value: path.to.field=RON. May be repeated
    #[arg(short = 'o', long = "override", value_name = "PATH=RON")]
    pub(super) overrides: Vec<String>,
    /// Folder of data files that are not beside the scenario. Default: the environment's SUBROSA_DATA
    #[arg(long, value_name = "DIR")]
    pub(super) data: Option<PathBuf>,
    /// Which cell of a study
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) cell: usize,
    /// Only this series. Default: all
    #[arg(long, value_name = "NAME")]
    pub(super) series: Option<String>,
    /// Only what this party sees, as the audit names it. Default: all
    #[arg(long, value_name = "PARTY")]
    pub(super) observer: Option<String>,
    /// The neighbour, instead of a search for one: ROW:D1,D2,.. (a record and by how much it moves), A,B (two
    /// rewards), or the number of an agent
    #[arg(long, value_name = "NEIGHBOUR", allow_hyphen_values = true)]
    pub(super) neighbour: Option<String>,
    /// Put this to the test instead of what is claimed: EPSILON,DELTA as in 3,1e-5
    #[arg(long, value_name = "EPSILON,DELTA", value_parser = claim)]
    pub(super) claim: Option<(f64, f64)>,
    #[command(flatten)]
    pub(super) options: AuditOptions,
}

fn claim(text: &str) -> Result<(f64, f64), String> {
    let expected = || format!("expected EPSILON,DELTA as in 3,1e-5, found {text}");
    let (epsilon, delta) = text.split_once(',').ok_or_else(expected)?;
    let number = |part: &str| part.trim().parse::<f64>().map_err(|_| expected());
    let (epsilon, delta) = (number(epsilon)?, number(delta)?);
    if epsilon > 0.0 && epsilon.is_finite() && (0.0..1.0).contains(&delta) {
        Ok((epsilon, delta))
    } else {
        Err(format!("expected an epsilon above 0 and a delta from 0 to below 1, found {text}"))
    }
}

#[derive(Debug, Subcommand)]
pub(super) enum AuditWhat {
    /// Audit one mechanism by name, or all of them, those that are broken on purpose included
    Mechanism(MechanismAuditArguments),
}

#[derive(Debug, Args)]
pub(super) struct MechanismAuditArguments {
    /// Name of the mechanism, or `all`
    pub(super) name: String,
    #[command(flatten)]
    pub(super) options: AuditOptions,
}

#[derive(Debug, Args)]
pub(super) struct AuditOptions {
    /// Trials per world; half of them choose the test, the other half are counted. Default: 100000, and
    /// 10000 for a scenario
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(8..))]
    pub(super) trials: Option<u64>,
    /// Seed of all draws. Default: 0, or the scenario's
    #[arg(long, value_name = "SEED")]
    pub(super) seed: Option<u64>,
    /// End with exit code 7 if a verdict is another one
    #[arg(long, value_enum)]
    pub(super) expect: Option<Expected>,
    /// Draw the two distributions into this file, .svg or .png; of several findings NAME-audited.svg each
    #[arg(long, value_name = "FILE")]
    pub(super) plot: Option<PathBuf>,
    /// Threads to run trials on; results do not depend on it. Default: one per core
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) threads: Option<u32>,
    /// How results are printed
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(super) format: Format,
}

#[derive(Debug, Args)]
pub(super) struct CalibrateArguments {
    /// Largest epsilon of all rounds together
    #[arg(long, allow_negative_numbers = true)]
    pub(super) epsilon: f64,
    /// Delta at which it is stated
    #[arg(long, default_value_t = 1e-5, allow_negative_numbers = true)]
    pub(super) delta: f64,
    /// Probability that a unit takes part in a round (Poisson sampling); 1 for no sampling
    #[arg(long, default_value_t = 1.0, allow_negative_numbers = true)]
    pub(super) rate: f64,
    /// Rounds: find the smallest noise multiplier
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) rounds: Option<u64>,
    /// Noise multiplier: find the most rounds
    #[arg(long, allow_negative_numbers = true)]
    pub(super) noise: Option<f64>,
    /// How results are printed
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(super) format: Format,
}

#[derive(Debug, Args)]
pub(super) struct ListArguments {
    /// Only this family (latency, loss, availability, objective, protocol, learner ...) or this member
    pub(super) what: Option<String>,
    /// How results are printed
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(super) format: Format,
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("file").multiple(true))]
pub(super) struct ReportArguments {
    /// The run folder
    pub(super) run: PathBuf,
    /// Also write a figure as an SVG file
    #[arg(long, value_name = "FILE", group = "file")]
    pub(super) svg: Option<PathBuf>,
    /// Also write a figure as a PNG file
    #[arg(long, value_name = "FILE", group = "file")]
    pub(super) png: Option<PathBuf>,
    /// Which figure, such as cumulative-regret; report.html names each below its values, and a wrong name lists
    /// all. Default: the first
    #[arg(long, value_name = "ID", requires = "file")]
    pub(super) figure: Option<String>,
    /// How results are printed
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(super) format: Format,
}

#[derive(Debug, Args)]
pub(super) struct NewArguments {
    /// The system to play
    #[arg(value_parser = PossibleValuesParser::new(TEMPLATES.iter().map(|template| template.name)))]
    pub(super) system: String,
    /// The file to write. Default: the system's name with .ron, in the current folder
    pub(super) file: Option<PathBuf>,
    /// Overwrite a file that is there
    #[arg(long)]
    pub(super) force: bool,
}

#[derive(Debug, Args)]
pub(super) struct CompletionsArguments {
    /// The shell
    #[arg(value_enum)]
    pub(super) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(super) struct ManArguments {
    /// Write one page per verb into this folder instead
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
}

/// The whole command line, for completions and the man page.
#[must_use]
pub fn command() -> clap::Command {
    Arguments::command()
}
