//! Arguments of `convert`, `fmt` and `lsp`.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(in crate::cli) struct ConvertArguments {
    /// The scenario file; - reads standard input. A file that begins with { is in JSON
    pub(in crate::cli) scenario: PathBuf,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct FormatArguments {
    /// The scenario files; - reads standard input and prints the result
    #[arg(required = true, value_name = "FILE")]
    pub(in crate::cli) scenarios: Vec<PathBuf>,
    /// Change no file, and end with exit code 3 if one would change
    #[arg(long)]
    pub(in crate::cli) check: bool,
}

#[cfg(feature = "lsp")]
#[derive(Debug, Args)]
pub(in crate::cli) struct LspArguments {
    /// Has no effect: the server always uses standard input and output, but some editors pass this flag
    #[arg(long, hide = true)]
    pub(in crate::cli) stdio: bool,
}
