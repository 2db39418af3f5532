//! Plays a scenario while Python's other threads go on: progress and Ctrl-C are checked twenty times a second.
//!
//! After a first Ctrl-C replications in progress are finished, and callbacks and programs are asked no further question. A
//! second one raises `KeyboardInterrupt` in callbacks that are under way. If the run has not ended 2 s later, this function
//! returns, and the thread of the run continues until what it waits for ends.

use crate::callbacks::{Given, interrupt};
use crate::documents::{Source, refused};
use pyo3::exceptions::{PyOSError, PyRuntimeError};
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use subrosa::report;
use subrosa::study::{self, Failure, Options, Outcome, Plan, Progress, RunFolder, Start};
use subrosa::vocab::{Interruption, in_pool};

/// Time between two checks of progress and Ctrl-C.
const LOOK: Duration = Duration::from_millis(50);
/// Longest wait for the end of a run after the second Ctrl-C.
const LEAVE_AFTER: Duration = Duration::from_secs(2);

/// The progress of a run, for the thread that waits for its end.
#[derive(Debug, Default)]
struct Counter {
    to_play: AtomicU64,
    played: AtomicU64,
}

impl Progress for Counter {
    fn begin(&self, start: &Start) {
        self.to_play.store(start.to_play, Ordering::Relaxed);
    }
    fn done(&self) {
        self.played.fetch_add(1, Ordering::Relaxed);
    }
    fn failed(&self, _: &Failure) {
        self.played.fetch_add(1, Ordering::Relaxed);
    }
}

/// How a run is played.
#[derive(Debug, FromPyObject)]
pub(crate) struct How {
    #[pyo3(item)]
    out: PathBuf,
    #[pyo3(item)]
    threads: usize,
    #[pyo3(item)]
    fail_fast: bool,
    /// Called with the number of replications that are played, and of those to play; None to call nothing.
    #[pyo3(item)]
    progress: Option<Py<PyAny>>,
    /// Called with the programs that the scenario starts, as a list of commands.
    #[pyo3(item)]
    announce: Py<PyAny>,
}

/// Plays a scenario into its folder. Returns JSON: the folder and how it ended, or what is wrong with the scenario.
#[pyfunction]
pub(crate) fn run(py: Python<'_>, source: Source, how: How, callbacks: Vec<Given>) -> PyResult<String> {
    let offered = Given::offer_all(callbacks)?;
    let plan = match py.detach(|| source.plan()) {
        Ok(plan) => plan,
        Err(diagnostics) => return Ok(refused(&diagnostics)),
    };
    if plan.cells[0].scenario.draft().fork.is_some() {
        let told = "the scenario has a fork, which is several runs: play it with the command `subrosa run`";
        return Err(PyRuntimeError::new_err(told));
    }
    let started: Vec<String> = plan
        .programs()
        .iter()
        .filter(|program| program.command.first().is_none_or(|word| word != "callback"))
        .map(|program| program.words())
        .collect();
    if !started.is_empty() {
        how.announce.call1(py, (started,))?;
    }
    let plan = py.detach(|| plan.ask_programs());
    let plan = plan.map_err(|failure| PyRuntimeError::new_err(failure.to_string()))?;
    let folder = RunFolder::at(&how.out.join(plan.folder_name()));
    let (interruption, counter) = (Interruption::default(), Arc::new(Counter::default()));
    let total = plan.total();
    let playing = {
        let (interruption, counter, folder) = (interruption.clone(), Arc::clone(&counter), folder.clone());
        let (waiting, threads, fail_fast) = (thread::current(), how.threads, how.fail_fast);
        thread::spawn(move || {
            let options = Options { threads, fail_fast, interrupted: &interruption };
            let ended = played(&plan, &folder, options, &counter);
            waiting.unpark();
            ended
        })
    };
    let mut error = None;
    let mut leave_at: Option<Instant> = None;
    while !playing.is_finished() && leave_at.is_none_or(|at| Instant::now() < at) {
        py.detach(|| thread::park_timeout(LOOK));
        let Some(first) = &error else {
            if let Err(raised) = look(py, &how, &counter) {
                interruption.request();
                error = Some(raised);
            }
            continue;
        };
        // Only Ctrl-C counts again, not what a progress bar raises once more.
        if py.check_signals().is_err() {
            interruption.request();
            leave_at.get_or_insert_with(|| Instant::now() + LEAVE_AFTER);
            if let Err(raised) = interrupt(py) {
                raised.set_cause(py, Some(first.clone_ref(py)));
                return Err(raised);
            }
        }
    }
    drop(offered);
    let mut ended = if playing.is_finished() {
        let ended = py.detach(|| playing.join());
        let ended =
            ended.map_err(|_| PyRuntimeError::new_err("a bug in subrosa: the run's thread panicked"))?;
        ended.map_err(|error| PyOSError::new_err(error.to_string()))?
    } else {
        // The thread ends by itself when what it waits for ends; it then stores nothing that the same run would not store.
        let finished = counter.played.load(Ordering::Relaxed);
        json!({ "finished": finished, "total": total, "complete": false, "failures": [] })
    };
    match error {
        // Asked to stop, by Ctrl-C or by a progress bar that raised.
        Some(error) if !error.is_instance_of::<pyo3::exceptions::PyKeyboardInterrupt>(py) => {
            return Err(error);
        }
        Some(_) => ended["interrupted"] = true.into(),
        None => look(py, &how, &counter)?,
    }
    ended["folder"] = folder.path().display().to_string().into();
    Ok(ended.to_string())
}

fn look(py: Python<'_>, how: &How, counter: &Counter) -> PyResult<()> {
    py.check_signals()?;
    if let Some(progress) = &how.progress {
        let (played, all) = (counter.played.load(Ordering::Relaxed), counter.to_play.load(Ordering::Relaxed));
        progress.call1(py, (played, all))?;
    }
    Ok(())
}

/// Plays what is missing and makes the files.
fn played(
    plan: &Plan,
    folder: &RunFolder,
    options: Options<'_>,
    counter: &Counter,
) -> Result<Value, study::FolderError> {
    let outcome = study::play(plan, folder, options, counter)?;
    if let Outcome::Interrupted { finished, total, failures } = &outcome {
        let failures = told(failures);
        return Ok(json!({ "finished": finished, "total": total, "complete": false, "failures": failures }));
    }
    // In a pool of its own: threads that outlive the call would be missing in a process that Python forks.
    let summary = in_pool(options.threads, || {
        let summary = study::finish(plan, folder)?;
        report::write_page(folder).map(|()| summary)
    })?;
    let failures = match outcome {
        Outcome::Failed(failures) => failures,
        Outcome::Complete | Outcome::Interrupted { .. } => Vec::new(),
    };
    let failures = told(&failures);
    // Every record has all series of its cell.
    let stored = summary.cells.iter().filter_map(|cell| cell.series.first());
    let finished: u64 = stored.map(|series| series.replications).sum();
    let spent: Vec<Value> = summary
        .spent_budgets()
        .map(|(series, reason)| json!({ "series": series, "reason": reason }))
        .collect();
    Ok(json!({
        "finished": finished,
        "total": plan.total(),
        "complete": summary.complete,
        "failures": failures,
        "budget_spent": spent,
    }))
}

fn told(failures: &[Failure]) -> Vec<Value> {
    let one = |failure: &Failure| {
        json!({
            "cell": failure.cell,
            "point": failure.point.iter().cloned().collect::<std::collections::BTreeMap<_, _>>(),
            "replication": failure.replication,
            "reason": failure.reason,
        })
    };
    failures.iter().map(one).collect()
}
