//! A progress bar on standard error; plain words there when it is not a terminal.

use super::output::say;
use crate::study::{Failure, Progress, Start};
use crate::vocab::counted;
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const TEMPLATE: &str = "{msg} [{bar:30}] {pos}/{len} {elapsed} left {eta}";
/// Failures shown one by one; beyond these only the count at the end tells.
const SHOWN_FAILURES: u64 = 20;
/// Time between two lines where there is no terminal to draw a bar on.
const LINE_EVERY: Duration = Duration::from_secs(30);

/// Progress of a study in the terminal.
#[derive(Debug)]
pub(super) struct Bar {
    bar: ProgressBar,
    failures: AtomicU64,
    told: Mutex<Instant>,
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
        Self { bar, failures: AtomicU64::new(0), told: Mutex::new(Instant::now()) }
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    pub(super) fn step(&self) {
        self.bar.inc(1);
    }

    /// Now and then a line, where there is no bar.
    fn tell(&self) {
        let Ok(mut told) = self.told.try_lock() else { return };
        if !self.bar.is_hidden() || told.elapsed() < LINE_EVERY {
            return;
        }
        *told = Instant::now();
        let failures = match self.failures.load(Ordering::Relaxed) {
            0 => String::new(),
            some => format!(", {some} failed"),
        };
        let left = HumanDuration(self.bar.eta());
        let (done, length) = (self.bar.position(), self.bar.length().unwrap_or(0));
        say(format_args!("{}: {done} of {length}{failures}, about {left} left", self.bar.message()));
    }

    pub(super) fn advance(&self, steps: u64) {
        self.bar.inc(steps);
    }

    pub(super) fn length(&self, length: u64) {
        self.bar.set_length(length);
    }
}

impl Progress for Bar {
    fn begin(&self, start: &Start) {
        let Start { to_play, there, reused, damaged } = *start;
        if damaged > 0 {
            say(format_args!(
                "Damaged records: {damaged} (as a kill or a full disk leaves them); they are played again."
            ));
        }
        if reused > 0 {
            say(format_args!(
                "Taken from an earlier run, unchanged since: {}.",
                counted(reused, "replication")
            ));
        }
        if there > 0 && to_play > 0 {
            say(format_args!("Resuming: replications on disk {there}, left to play {to_play}."));
        }
        self.bar.set_length(to_play);
        self.bar.reset_eta();
    }

    fn done(&self) {
        self.bar.inc(1);
        self.tell();
    }

    fn failed(&self, failure: &Failure) {
        if self.failures.fetch_add(1, Ordering::Relaxed) < SHOWN_FAILURES {
            self.bar.suspend(|| say(format_args!("failed: {failure}")));
        }
        self.bar.inc(1);
        self.tell();
    }
}
