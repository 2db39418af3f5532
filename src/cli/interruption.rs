//! Handles Ctrl-C and SIGTERM: after a first signal, running replications finish; a second signal ends the program at once.

use super::exit::Exit;
use super::output::say;
use std::sync::atomic::{AtomicBool, Ordering};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Installs the signal handler and returns the flag that the first signal sets.
pub(super) fn listen() -> &'static AtomicBool {
    let handler = ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::SeqCst) {
            std::process::exit(i32::from(Exit::Interrupted as u8));
        }
        say("\nInterrupted: finishing the replications in progress (again to stop at once).");
    });
    if let Err(error) = handler {
        say(format_args!(
            "warning: Ctrl-C will stop the run at once ({error}); what is finished is kept anyway"
        ));
    }
    &INTERRUPTED
}
