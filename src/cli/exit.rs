//! The exit codes. Scripts depend on them, so their numbers never change.

use std::process::ExitCode;

/// How a call of the command line ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Success.
    Ok = 0,
    /// This program or the machine failed (a bug, or a file that could not be read or written).
    Internal = 1,
    /// The command line is wrong, or the command cannot be carried out as given (for example `sign` on an unfinished run).
    Usage = 2,
    /// The scenario is wrong, or is not formatted (`fmt --check`).
    InvalidScenario = 3,
    /// A replication failed, an external program failed, a trial failed in the audit of a scenario, or the study is
    /// incomplete. After a failed replication, `run` still runs the remaining replications, except with `--fail-fast`.
    CellsFailed = 4,
    /// Two things that should be equal differ: a replay and its run, the files of a run folder and
    /// its records or its signature, two runs (`--diff`), or two results of one block of a study.
    ReplayDiffers = 5,
    /// A privacy budget was used up in a scenario that treats this as a failure.
    BudgetExhausted = 6,
    /// An audit's verdict is not the expected one, or a verdict was expected of a protected series that was not audited.
    VerdictDiffers = 7,
    /// The run was interrupted; the same command, given again, continues it.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
