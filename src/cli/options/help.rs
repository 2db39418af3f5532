//! Arguments of `new`, `list`, `completions` and `man`.

use super::scenario::Format;
use crate::cli::templates::TEMPLATES;
use clap::Args;
use clap::builder::PossibleValuesParser;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(in crate::cli) struct NewArguments {
    /// The system that the scenario simulates
    #[arg(value_parser = PossibleValuesParser::new(TEMPLATES.iter().map(|template| template.name)))]
    pub(in crate::cli) system: String,
    /// The file to write. Default: the system's name with .ron, in the current folder
    pub(in crate::cli) file: Option<PathBuf>,
    /// Your CSV file with a header line, from which the scenario is made. Needs --output
    #[arg(long, value_name = "FILE", requires = "output")]
    pub(in crate::cli) csv: Option<PathBuf>,
    /// The column of the CSV file to optimise (for `release`: the class to predict)
    #[arg(long, value_name = "COLUMN", requires = "csv")]
    pub(in crate::cli) output: Option<String>,
    /// Overwrite an existing file
    #[arg(long)]
    pub(in crate::cli) force: bool,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ListArguments {
    /// Only this family (latency, loss, availability, objective, protocol, learner ...) or this member
    pub(in crate::cli) what: Option<String>,
    /// Only this member of the family, as in `list latency Gamma`
    pub(in crate::cli) member: Option<String>,
    /// How results are printed
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(in crate::cli) format: Format,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct CompletionsArguments {
    /// The shell
    #[arg(value_enum)]
    pub(in crate::cli) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ManArguments {
    /// Write one page per command into this folder, instead of printing the manual page
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) out: Option<PathBuf>,
}
