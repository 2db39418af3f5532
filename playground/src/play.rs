//! Plays a scenario into its run folder, and prints its progress: replications, the report so far, and how the run ended.

use crate::check::{plan, refuse};
use serde_json::{Value, json};
use std::error::Error;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use subrosa::report::{self, Page, Refresh};
use subrosa::study::{self, Failure, Options, Outcome, Plan, Progress, RunFolder, Start};
use subrosa::vocab::{Interruption, counted};

/// Least time between two printed numbers of finished replications.
const LINE: Duration = Duration::from_millis(50);
/// Least time between two reports.
const REPORT: Duration = Duration::from_secs(1);
/// The next report is made only after a pause of this multiple of the time that the last report took, so that reports take
/// less than a tenth of the time of a run.
const REST: u32 = 10;
/// The file of the report so far, beside the run folder.
const LIVE: &str = "live.html";

/// Plays the replications of a scenario that are missing in its run folder, which is inside `out`.
pub(crate) fn run(file: &Path, out: &Path) -> Result<(), Box<dyn Error>> {
    let plan = match plan(file) {
        Ok(plan) => plan,
        Err(diagnostics) => {
            refuse(&diagnostics);
            return Ok(());
        }
    };
    if plan.cells[0].scenario.draft().fork.is_some() {
        return Err(
            "the scenario has a fork, which is several runs: play it with the command `subrosa run`".into()
        );
    }
    let plan = plan.ask_programs()?;
    let folder = RunFolder::at(&out.join(plan.folder_name()));
    let live = out.join(LIVE);
    let progress = JsonProgress::of(&plan, &folder, &live);
    let options = Options { threads: 1, fail_fast: false, interrupted: &Interruption::default() };
    let outcome = study::play(&plan, &folder, options, &progress)?;
    let summary = study::finish(&plan, &folder)?;
    report::write_page(&folder)?;
    if summary.complete {
        // `records.jsonl` has the contents of the segments. The library does not remove them here, because WASI has no locks
        // that would show that nobody writes to them.
        drop(std::fs::remove_dir_all(folder.file("segments")));
    }
    let failures = match &outcome {
        Outcome::Failed(failures) | Outcome::Interrupted { failures, .. } => told(failures),
        Outcome::Complete => Vec::new(),
    };
    let spent: Vec<Value> = summary
        .spent_budgets()
        .map(|(series, reason)| json!({ "series": series, "reason": reason }))
        .collect();
    println!(
        "{}",
        json!({
            "kind": "end",
            "folder": folder.path(),
            "page": folder.file(report::PAGE),
            "digest": summary.digest,
            "complete": summary.complete,
            "failures": failures,
            "budget_spent": spent,
        })
    );
    Ok(())
}

fn told(failures: &[Failure]) -> Vec<Value> {
    failures.iter().map(|failure| failure.to_string().into()).collect()
}

/// Prints the progress of a run as lines of JSON.
struct JsonProgress<'a> {
    plan: &'a Plan,
    folder: &'a RunFolder,
    live: &'a Path,
    state: Mutex<State>,
}

struct State {
    finished: u64,
    said: Instant,
    reported: Instant,
    /// How long the last report took.
    took: Duration,
}

impl<'a> JsonProgress<'a> {
    fn of(plan: &'a Plan, folder: &'a RunFolder, live: &'a Path) -> Self {
        let now = Instant::now();
        let state = State { finished: 0, said: now, reported: now, took: Duration::ZERO };
        Self { plan, folder, live, state: Mutex::new(state) }
    }

    fn say(&self, finished: u64) {
        println!("{}", json!({ "kind": "progress", "finished": finished, "total": self.plan.total() }));
    }

    /// Makes the report of the replications that are stored.
    fn report(&self) -> Result<(), Box<dyn Error>> {
        let (mut summary, finished) = study::so_far(self.plan, self.folder, self.plan.replications)?;
        let Some(manifest) = self.folder.manifest()?.filter(|_| finished > 0) else { return Ok(()) };
        // An incomplete summary would make the report say that replications failed; `line` says how many have finished.
        summary.complete = true;
        let page = Page::so_far(self.folder, manifest, summary)?;
        let total = counted(self.plan.total(), "replication");
        let line = format!("Not final: {finished} of {total} finished.");
        std::fs::write(self.live, report::growing_page(Some(&page), &line, Refresh::Never))?;
        println!("{}", json!({ "kind": "report", "page": self.live, "folder": self.folder.path() }));
        Ok(())
    }

    /// Counts a replication that has finished, and prints a line or makes a report if enough time has passed.
    fn another(&self) {
        let mut state = self.state.lock().expect("no holder of this lock panics");
        state.finished += 1;
        let now = Instant::now();
        if now - state.said >= LINE {
            state.said = now;
            self.say(state.finished);
        }
        if state.finished < self.plan.total() && now - state.reported >= REPORT.max(state.took * REST) {
            // An error is ignored here: the final report is made from all records, and its errors are printed.
            drop(self.report());
            state.reported = Instant::now();
            state.took = state.reported - now;
        }
    }
}

impl Progress for JsonProgress<'_> {
    fn begin(&self, start: &Start) {
        self.state.lock().expect("no holder of this lock panics").finished = start.there;
        self.say(start.there);
    }

    fn done(&self) {
        self.another();
    }

    fn failed(&self, failure: &Failure) {
        println!("{}", json!({ "kind": "failure", "text": failure.to_string() }));
        self.another();
    }
}
