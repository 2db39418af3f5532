//! The commands of `subrosa` with their flags.

mod analysis;
mod bad_value;
mod editing;
mod help;
mod play;
mod privacy;
mod scenario;
mod sweep;

pub(super) use analysis::{ExplainArguments, Playing, RangeArgument, ThresholdArguments};
pub(super) use bad_value::BadValue;
#[cfg(feature = "lsp")]
pub(super) use editing::LspArguments;
pub(super) use editing::{ConvertArguments, FormatArguments};
pub(super) use help::{CompletionsArguments, ListArguments, ManArguments, NewArguments};
pub(super) use play::{
    CheckArguments, CompareArguments, PaperTable, ReplayArguments, ReportArguments, RunArguments,
    SignArguments, TraceArguments, TraceFormat,
};
pub(super) use privacy::{
    AccountArguments, AuditArguments, AuditCommand, AuditOptions, CalibrateArguments, Expected,
    MechanismAuditArguments,
};
pub(super) use scenario::{Format, ScenarioArguments};
pub(super) use sweep::{
    ClusterCommand, Engine, SweepArguments, SweepMergeArguments, SweepPlanArguments, SweepStatusArguments,
    SweepSubmitArguments, SweepWorkArguments,
};

use clap::{CommandFactory, Parser, Subcommand};

/// A discrete-event simulator of privacy-preserving Bayesian optimisation.
#[derive(Debug, Parser)]
#[command(name = "subrosa", version, arg_required_else_help = true, max_term_width = 80, after_help = EXIT_CODES)]
pub(super) struct Arguments {
    #[command(subcommand)]
    pub(super) verb: TopCommand,
}

const EXIT_CODES: &str = "Exit codes: 0 ok, 1 internal, 2 usage, 3 invalid scenario, 4 a replication, a trial of an audit or an external program \
failed, or a study is incomplete, 5 results that should be equal differ, 6 privacy budget exhausted, 7 an audit's verdict is not the expected one, 130 interrupted and resumable.";

#[derive(Debug, Subcommand)]
pub(super) enum TopCommand {
    /// Check a scenario and print every error in it; run nothing
    Check(CheckArguments),
    /// Run a scenario, print a report, and write a run folder
    Run(RunArguments),
    /// Repeat a run, and compare its records and files
    Replay(ReplayArguments),
    /// Sign a run folder with an OpenSSH key, so that others can tell who ran it
    Sign(SignArguments),
    /// Run a study on many machines: plan it, start workers, show progress, merge the results
    #[command(name = "cluster", visible_alias = "sweep")]
    Sweep(SweepArguments),
    /// Compare two runs, replication by replication on common random numbers
    Compare(CompareArguments),
    /// Find where one series stops being better than another, with a confidence interval
    Threshold(ThresholdArguments),
    /// Find which of the varied values matter, how much, and which of them interact
    Explain(ExplainArguments),
    /// Write the report of a run again: text, report.html, and on request one figure as a file
    Report(ReportArguments),
    /// Write a commented scenario to start from
    #[command(arg_required_else_help = true)]
    New(NewArguments),
    /// Show one replication's events: as text, as JSON lines, or as a message-sequence picture
    Trace(TraceArguments),
    /// Compute the privacy loss of a list of releases, or of a run, by every accountant
    Account(AccountArguments),
    /// Test the privacy claims of a scenario, or of every mechanism, by attacks
    Audit(AuditArguments),
    /// Find the smallest noise for a privacy target, or the largest number of rounds for a noise
    Calibrate(CalibrateArguments),
    /// List what a scenario may contain
    List(ListArguments),
    /// Print the JSON Schema of scenarios: what an editor or a program needs to write them in JSON
    Schema,
    /// Print a RON scenario as JSON, or a JSON scenario as RON
    Convert(ConvertArguments),
    /// Format scenario files: only their white space changes
    #[command(name = "fmt")]
    Format(FormatArguments),
    /// Answer an editor on standard input and output: errors, explanations, completions (language server protocol)
    #[cfg(feature = "lsp")]
    Lsp(LspArguments),
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
