//! Arguments that several commands share: the scenario with its overrides, and the output format.

use crate::report::Detail;
use crate::vocab::Memory;
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};

/// How results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Format {
    /// Text tables
    Text,
    /// One JSON document
    Json,
}

/// How much of a report is printed.
#[derive(Clone, Copy, Debug, Args)]
pub(in crate::cli) struct DetailArguments {
    /// Print every condition, all that is taken as public, and the privacy loss by every accountant
    #[arg(long)]
    pub(in crate::cli) accountants: bool,
    /// Print every table: all cells, counts, conditions and accountants
    #[arg(long)]
    pub(in crate::cli) full: bool,
}

impl DetailArguments {
    pub(in crate::cli) fn detail(self) -> Detail {
        match (self.full, self.accountants) {
            (true, _) => Detail::Full,
            (false, true) => Detail::Accountants,
            (false, false) => Detail::Short,
        }
    }
}

#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct ScenarioArguments {
    /// The scenario file; - reads standard input
    pub(in crate::cli) scenario: PathBuf,
    /// Override a value: path.to.field=RON, as in -o network.default.loss='Independent(0.1)'. May be repeated
    #[arg(short = 'o', long = "override", value_name = "PATH=RON")]
    pub(in crate::cli) overrides: Vec<String>,
    /// Use this seed instead of the scenario's
    #[arg(long, value_name = "SEED")]
    pub(in crate::cli) seed: Option<u64>,
    /// Folder of data files that are not in the scenario's folder. Default: the environment variable SUBROSA_DATA
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) data: Option<PathBuf>,
    /// Number of replications of every cell, instead of the scenario's
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(in crate::cli) replications: Option<u64>,
    /// How results are printed
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(in crate::cli) format: Format,
    /// Refuse a scenario that is estimated to take more memory than this, as in 12GiB. Default: 4GiB
    #[arg(long, value_name = "SIZE")]
    pub(in crate::cli) memory: Option<Memory>,
}

impl ScenarioArguments {
    /// The arguments for a scenario file without overrides and without a limit on memory, for commands that run no
    /// study.
    pub(in crate::cli) fn of(scenario: &Path) -> Self {
        Self {
            scenario: scenario.to_owned(),
            overrides: Vec::new(),
            seed: None,
            data: None,
            replications: None,
            format: Format::Text,
            memory: Some(Memory(u64::MAX)),
        }
    }
}
