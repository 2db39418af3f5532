//! Arguments of `subrosa cluster` and of the commands below it.

use super::bad_value::BadValue;
use super::scenario::{Format, ScenarioArguments};
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(in crate::cli) struct SweepArguments {
    #[command(subcommand)]
    pub(in crate::cli) verb: ClusterCommand,
}

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum ClusterCommand {
    /// Divide a study into blocks for workers, and print its folder
    Plan(SweepPlanArguments),
    /// Run blocks, as one worker, until none is left (call it once on each machine)
    Work(SweepWorkArguments),
    /// Show the progress of a study
    Status(SweepStatusArguments),
    /// Merge the results of the workers into one finished run
    Merge(SweepMergeArguments),
    /// Write the script of a batch system, and submit it
    Submit(SweepSubmitArguments),
}

#[derive(Debug, Args)]
pub(in crate::cli) struct SweepPlanArguments {
    #[command(flatten)]
    pub(in crate::cli) scenario: ScenarioArguments,
    /// Folder in which the study's folder is made; all workers must see it under this path
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub(in crate::cli) out: PathBuf,
    /// Number of blocks of the study; a worker takes one block at a time. Default: one per replication, at most 1024
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(in crate::cli) blocks: Option<u64>,
    /// Plan again even if workers may be running; finished blocks are kept
    #[arg(long)]
    pub(in crate::cli) force: bool,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct SweepWorkArguments {
    /// The study's folder
    pub(in crate::cli) folder: PathBuf,
    /// This worker's number, from 0, and the number of workers. They only decide with which block the worker begins;
    /// every worker continues until no block is left
    #[arg(long, value_name = "I/N", default_value = "0/1", value_parser = slot)]
    pub(in crate::cli) slot: (u64, u64),
    /// Threads of this worker. Default: one per core that it may use
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(in crate::cli) threads: Option<u32>,
    /// Time between two heartbeats of a worker
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub(in crate::cli) heartbeat: humantime::Duration,
    /// Take over the blocks of a worker that gave no heartbeat for this long; at least twice --heartbeat
    #[arg(long, value_name = "TIME", default_value = "60s")]
    pub(in crate::cli) dead_after: humantime::Duration,
}

/// Parses `I/N`, such as `3/16`.
fn slot(text: &str) -> Result<(u64, u64), BadValue> {
    let parsed = text
        .split_once('/')
        .and_then(|(slot, slots)| Some((slot.parse::<u64>().ok()?, slots.parse::<u64>().ok()?)));
    let parsed = parsed.filter(|(slot, slots)| slot < slots);
    parsed.ok_or(BadValue::Slot)
}

#[derive(Debug, Args)]
pub(in crate::cli) struct SweepStatusArguments {
    /// The study's folder
    pub(in crate::cli) folder: PathBuf,
    /// How results are printed
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(in crate::cli) format: Format,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct SweepMergeArguments {
    /// The study's folder
    pub(in crate::cli) folder: PathBuf,
    /// Other folders with parts of the same study that were run elsewhere
    pub(in crate::cli) others: Vec<PathBuf>,
    /// Merge the existing results even if some are missing
    #[arg(long)]
    pub(in crate::cli) partial: bool,
    /// How results are printed
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(in crate::cli) format: Format,
}

/// A batch system that starts workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Engine {
    /// Slurm: a job array, one element per worker
    Slurm,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct SweepSubmitArguments {
    /// The study's folder
    pub(in crate::cli) folder: PathBuf,
    /// The batch system that starts the workers
    #[arg(long, value_enum)]
    pub(in crate::cli) engine: Engine,
    /// Number of workers
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(in crate::cli) workers: u32,
    /// Cores and threads of each worker
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(in crate::cli) threads: u32,
    /// A further line of the script's head, as in --directive '--partition=long'. May be repeated
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    pub(in crate::cli) directive: Vec<String>,
    /// Time between two heartbeats of a worker
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub(in crate::cli) heartbeat: humantime::Duration,
    /// Take over the blocks of a worker that gave no heartbeat for this long; at least twice --heartbeat
    #[arg(long, value_name = "TIME", default_value = "60s")]
    pub(in crate::cli) dead_after: humantime::Duration,
    /// Print the script and submit nothing
    #[arg(long, alias = "dry-run")]
    pub(in crate::cli) print: bool,
}
