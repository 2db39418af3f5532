//! A progress bar on standard error. If standard error is not a terminal, a line of text is printed every 30 s instead.

use super::output::eprint_line;
use crate::study::{self, Failure, Progress, Start};
use crate::vocab::{cores, counted};
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

const TEMPLATE: &str = "{msg} [{bar:30}] {pos}/{len} {elapsed} {left}";
/// Number of failures that are shown one by one; further failures are only counted.
const SHOWN_FAILURES: u64 = 20;
/// Time between two lines if there is no terminal for a bar.
const LINE_EVERY: Duration = Duration::from_secs(30);

/// The rate at which replications end, measured from the end of the first replication. The time before this end is left
/// out, because it includes the preparation that all replications share.
#[derive(Debug, Default)]
struct ReplicationRate {
    /// The time at which it was first seen that replications had ended, and the number that had ended by then.
    first: Mutex<Option<(Instant, u64)>>,
}

impl ReplicationRate {
    fn lock(&self) -> MutexGuard<'_, Option<(Instant, u64)>> {
        self.first.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins the measurement anew, for another set of replications.
    fn restart(&self) {
        *self.lock() = None;
    }

    /// An estimate of the time left; `None` until the number of replications that ended after the first is twice the number
    /// of available threads.
    fn left(&self, now: Instant, done: u64, length: u64) -> Option<Duration> {
        if done == 0 {
            return None;
        }
        let (since, first) = *self.lock().get_or_insert((now, done));
        let threads = cores() as u64;
        let ended = done.saturating_sub(first);
        let pace = now.saturating_duration_since(since).as_secs_f64() / ended as f64;
        let left = pace * length.saturating_sub(done) as f64;
        (ended >= 2 * threads).then(|| Duration::try_from_secs_f64(left).ok()).flatten()
    }
}

/// Progress of a study in the terminal.
#[derive(Debug)]
pub(super) struct StudyProgressBar {
    bar: ProgressBar,
    failures: AtomicU64,
    told: Mutex<Instant>,
    pace: Arc<ReplicationRate>,
}

impl StudyProgressBar {
    pub(super) fn new(message: String) -> Self {
        let target = if std::io::stderr().is_terminal() {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(None, target).with_message(message);
        let style = ProgressStyle::with_template(TEMPLATE).unwrap_or_else(|_| ProgressStyle::default_bar());
        let pace = Arc::new(ReplicationRate::default());
        let shown = Arc::clone(&pace);
        let left = move |state: &ProgressState, out: &mut dyn fmt::Write| {
            let left = shown.left(Instant::now(), state.pos(), state.len().unwrap_or(0));
            if let Some(left) = left {
                // A failure to draw is ignored.
                write!(out, "left {}", HumanDuration(left)).unwrap_or_default();
            }
        };
        bar.set_style(style.progress_chars("=> ").with_key("left", left));
        Self { bar, failures: AtomicU64::new(0), told: Mutex::new(Instant::now()), pace }
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    pub(super) fn step(&self) {
        self.bar.inc(1);
        self.print_line();
    }

    /// Prints a line from time to time if there is no bar.
    fn print_line(&self) {
        let (done, length) = (self.bar.position(), self.bar.length().unwrap_or(0));
        let left = self.pace.left(Instant::now(), done, length);
        let Ok(mut told) = self.told.try_lock() else { return };
        if !self.bar.is_hidden() || told.elapsed() < LINE_EVERY {
            return;
        }
        *told = Instant::now();
        let failures = match self.failures.load(Ordering::Relaxed) {
            0 => String::new(),
            some => format!(", {some} failed"),
        };
        let left = left.map_or_else(String::new, |left| format!(", about {} left", HumanDuration(left)));
        eprint_line(format_args!("{}: {done} of {length}{failures}{left}", self.bar.message()));
    }

    pub(super) fn advance(&self, steps: u64) {
        self.bar.inc(steps);
        self.print_line();
    }

    pub(super) fn length(&self, length: u64) {
        self.bar.set_length(length);
    }
}

/// Prints how many runs of other builds were not reused, if any.
pub(super) fn print_other_builds(runs: u64) {
    if runs > 0 {
        eprint_line(format_args!(
            "Not reused: {} of this name by another build of subrosa, whose results may differ (`subrosa replay RUN` shows \
             whether they do; this is build {}).",
            counted(runs, "earlier run"),
            short(study::BUILD)
        ));
    }
}

/// The first ten digits of a build's hash, enough to distinguish builds.
pub(super) fn short(build: &str) -> &str {
    build.get(..10).unwrap_or("unknown")
}

impl Progress for StudyProgressBar {
    fn begin(&self, start: &Start) {
        let Start { to_play, there, reused, other_builds, damaged } = *start;
        if damaged > 0 {
            eprint_line(format_args!(
                "Damaged records: {damaged} (after a kill or a full disk); they are run again."
            ));
        }
        if reused > 0 {
            eprint_line(format_args!(
                "Taken from an earlier run, unchanged since: {}.",
                counted(reused, "replication")
            ));
        }
        if to_play > 0 {
            print_other_builds(other_builds);
        }
        if there > 0 && to_play > 0 {
            eprint_line(format_args!(
                "Resuming: {} on disk, {to_play} left to run.",
                counted(there, "replication")
            ));
        }
        // One bar can show several sets of replications, one after the other: `--until-halfwidth` adds replications
        // until the intervals are narrow enough.
        self.bar.set_position(0);
        self.bar.set_length(to_play);
        self.bar.reset_eta();
        self.pace.restart();
    }

    fn done(&self) {
        self.step();
    }

    fn failed(&self, failure: &Failure) {
        if self.failures.fetch_add(1, Ordering::Relaxed) < SHOWN_FAILURES {
            self.bar.suspend(|| eprint_line(format_args!("failed: {failure}")));
        }
        self.step();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `--until-halfwidth` runs one set of replications after the other; each set is counted from 0.
    #[test]
    fn the_count_restarts_for_a_second_set_of_replications() {
        let bar = StudyProgressBar::new("study".to_owned());
        let start = |to_play| Start { to_play, there: 0, reused: 0, other_builds: 0, damaged: 0 };
        bar.begin(&start(8));
        (0..8).for_each(|_| bar.done());
        assert_eq!((bar.bar.position(), bar.bar.length()), (8, Some(8)));
        bar.begin(&start(10));
        assert_eq!((bar.bar.position(), bar.bar.length()), (0, Some(10)));
        assert_eq!(*bar.pace.lock(), None);
    }

    #[test]
    fn the_wait_for_the_first_replications_is_not_taken_for_their_pace() {
        let (pace, start, second) = (ReplicationRate::default(), Instant::now(), Duration::from_secs(1));
        let threads = cores() as u64;
        let length = 100 * threads;
        assert_eq!(pace.left(start + second * 29, 0, length), None);
        // Half a minute of preparation, then one replication per second.
        assert_eq!(pace.left(start + second * 30, 1, length), None);
        assert_eq!(pace.left(start + second * 31, 2, length), None);
        let done = 1 + 2 * threads;
        let left = pace.left(start + second * (30 + 2 * threads as u32), done, length).unwrap();
        assert_eq!(left.as_secs(), length - done);
    }
}
