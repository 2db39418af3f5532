//! The `subrosa` binary: calls the library's command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    subrosa::cli::main()
}
