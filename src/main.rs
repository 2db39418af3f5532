//! The `subrosa` binary: everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    subrosa::cli::main()
}
