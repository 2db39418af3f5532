//! Arguments of `convert`, `fmt` and `lsp`.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(in crate::cli) struct ConvertArguments {
    /// The scenario file; - reads standard input. A file that begins with { is in JSON
    pub(in crate::cli) scenario: PathBuf,
}
