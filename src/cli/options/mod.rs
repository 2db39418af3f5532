//! Verbs and flags.

mod bad_value;
mod help;
mod play;
mod privacy;
mod scenario;
mod sweep;

pub(super) use bad_value::BadValue;
pub(super) use help::{CompletionsArguments, ListArguments, ManArguments, NewArguments};
pub(super) use play::{
    CheckArguments, CompareArguments, ReplayArguments, ReportArguments, RunArguments, TraceArguments,
    TraceFormat,
};
pub(super) use privacy::{
    AccountArguments, AuditArguments, AuditOptions, AuditWhat, CalibrateArguments, Expected,
    MechanismAuditArguments,
};
pub(super) use scenario::{Format, ScenarioArguments};
pub(super) use sweep::{
    Engine, SweepArguments, SweepMergeArguments, SweepPlanArguments, SweepStatusArguments,
    SweepSubmitArguments, SweepVerb, SweepWorkArguments,
};

use clap::{CommandFactory, Parser, Subcommand};

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

/// The whole command line, for completions and the man page.
#[must_use]
pub fn command() -> clap::Command {
    Arguments::command()
}
