//! A progress bar on standard error; plain words there when it is not a terminal.

use crate::study::{Failure, Progress};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::atomic::{AtomicU64, Ordering};

const TEMPLATE: &str = "{msg} [{bar:30}] {pos}/{len} {elapsed} left {eta}";
/// Failures shown one by one; beyond these only the count at the end tells.
const SHOWN_FAILURES: u64 = 5;

/// Progress of a study in the terminal.
#[derive(Debug)]
pub(super) struct Bar {
    bar: ProgressBar,
    failures: AtomicU64,
}

impl Bar {
    pub(super) fn new(message: String) -> Self {
        let target = if std::io::stderr().is_terminal() {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(None, target).with_message(message);
        let style = ProgressStyle::with_template(TEMPLATE).unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.set_style(style.progress_chars("=> "));
        Self { bar, failures: AtomicU64::new(0) }
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    pub(super) fn step(&self) {
        self.bar.inc(1);
    }

    pub(super) fn advance(&self, steps: u64) {
        self.bar.inc(steps);
    }

    pub(super) fn length(&self, length: u64) {
        self.bar.set_length(length);
    }
}

impl Progress for Bar {
    fn begin(&self, to_play: u64, there: u64) {
        if there > 0 && to_play > 0 {
            eprintln!("Resuming: replications on disk {there}, left to play {to_play}.");
        }
        self.bar.set_length(to_play);
        self.bar.reset_eta();
    }

    fn done(&self) {
        self.bar.inc(1);
    }

    fn failed(&self, failure: &Failure) {
        if self.failures.fetch_add(1, Ordering::Relaxed) < SHOWN_FAILURES {
            self.bar.suspend(|| eprintln!("failed: {failure}"));
        }
        self.bar.inc(1);
    }
}
