//! Plays a scenario into its run folder, and says how far it is: replications, the report so far, and how it ended.

use crate::check::{plan, refuse};
use serde_json::{Value, json};
use std::error::Error;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use subrosa::report::{self, Page, Refresh};
use subrosa::study::{self, Failure, Options, Outcome, Plan, Progress, RunFolder, Start};
use subrosa::vocab::{Interruption, counted};

/// Least time between two lines about replications.
const LINE: Duration = Duration::from_millis(50);
/// Least time between two reports.
const REPORT: Duration = Duration::from_secs(1);
/// A report is made only after this multiple of the time that the last one took, so that it takes little from the run.
const REST: u32 = 10;
/// The file of the report so far, beside the run folder.
const LIVE: &str = "live.html";

/// Plays the replications of a scenario that are missing in its folder, which is below `out`.
pub(crate) fn run(file: &Path, out: &Path) -> Result<(), Box<dyn Error>> {
    let plan = match plan(file) {
        Ok(plan) => plan,
        Err(diagnostics) => {
            refuse(&diagnostics);
            return Ok(());
        }
    };
    if plan.cells[0].scenario.draft().fork.is_some() {
        return Err("the scenario has a fork, whose branches are no single run: play it with the command `subrosa run`".into());
    }
    let plan = plan.ask_programs()?;
    let folder = RunFolder::at(&out.join(plan.folder_name()));
    let live = out.join(LIVE);
    let telling = Telling::of(&plan, &folder, &live);
    let options = Options { threads: 1, fail_fast: false, interrupted: &Interruption::default() };
    let outcome = study::play(&plan, &folder, options, &telling)?;
    let summary = study::finish(&plan, &folder)?;
    report::write_page(&folder)?;
    if summary.complete {
        // What they hold is in `records.jsonl`; WASI has no locks, which would tell that nobody writes to them.
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

/// Says how far a run is.
struct Telling<'a> {
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

impl<'a> Telling<'a> {
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
        // What a report says of a run that ended without all replications is not true here; the line says what is.
        summary.complete = true;
        let page = Page::so_far(self.folder, manifest, summary)?;
        let total = counted(self.plan.total(), "replication");
        let line = format!("Not final: {finished} of {total} finished.");
        std::fs::write(self.live, report::growing_page(Some(&page), &line, Refresh::Never))?;
        println!("{}", json!({ "kind": "report", "page": self.live, "folder": self.folder.path() }));
        Ok(())
    }

    /// After another replication.
    fn another(&self) {
        let mut state = self.state.lock().expect("no holder of this lock panics");
        state.finished += 1;
        let now = Instant::now();
        if now - state.said >= LINE {
            state.said = now;
            self.say(state.finished);
        }
        if state.finished < self.plan.total() && now - state.reported >= REPORT.max(state.took * REST) {
            // The last report is made of all records, and says what cannot be read.
            drop(self.report());
            state.reported = Instant::now();
            state.took = state.reported - now;
        }
    }
}

impl Progress for Telling<'_> {
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
