//! Handles Ctrl-C and SIGTERM. After a first signal, the replications in progress finish, or stop at their next question to
//! an external program. A second signal ends `subrosa` at once.

use super::exit::Exit;
use super::output::eprint_line;
use crate::vocab::Interruption;
use std::sync::LazyLock;

static INTERRUPTED: LazyLock<Interruption> = LazyLock::new(Interruption::default);

/// Installs the signal handler. The value returned says whether a signal has requested a stop.
pub(super) fn listen() -> &'static Interruption {
    let handler = ctrlc::set_handler(|| {
        if INTERRUPTED.request() > 1 {
            std::process::exit(i32::from(Exit::Interrupted as u8));
        }
        eprint_line(
            "\nInterrupted: the replications in progress finish, or stop at their next question to an external program (a \
             second signal ends subrosa at once).",
        );
    });
    if let Err(error) = handler {
        eprint_line(format_args!(
            "warning: Ctrl-C will stop the run at once ({error}); what is finished is kept anyway"
        ));
    }
    &INTERRUPTED
}
