//! `subrosa run --fork-at`: runs a common beginning once and several branches from there.

use super::exit::Exit;
use super::load::load;
use super::options::{Format, RunArguments, ScenarioArguments};
use super::output::{print, say};
use super::programs;
use super::progress::Bar;
use crate::protocols::ForkPoint;
use crate::report;
use crate::scenario::ForkDraft;
use crate::scenario::fork::{changeable, other_readers, settled};
use crate::study::{self, BranchRow, FolderError, Forked, Plan, RunFolder, Summary, files, write_summary};
use serde::Serialize;

/// Branches by name, each with its overrides, in order.
type Branches = Vec<(String, Vec<String>)>;

/// Whether a run forks: the command line or the scenario says so.
pub(super) fn wanted(plan: &Plan, arguments: &RunArguments) -> bool {
    !arguments.dry
        && (arguments.fork_at.is_some()
            || !arguments.branch.is_empty()
            || plan.cells[0].scenario.draft().fork.is_some())
}

/// Runs all branches and reports.
pub(super) fn fork(plan: Plan, arguments: &RunArguments) -> Exit {
    let section = plan.cells[0].scenario.draft().fork.clone();
    let What { point, branches, plan, common } = match what(section, plan, arguments) {
        Ok(found) => found,
        Err(exit) => return exit,
    };
    let mut plans: Vec<(String, Plan)> = Vec::new();
    for (name, changes) in branches {
        let overrides = common.iter().chain(&changes).cloned().collect();
        match branch(&plan, &name, ScenarioArguments { overrides, ..arguments.scenario.clone() }) {
            Ok(branch) => plans.push((name, branch)),
            Err(exit) => return exit,
        }
    }
    programs::announce_all(std::iter::once(&plan).chain(plans.iter().map(|(_, plan)| plan)));
    let bar = Bar::new(plan.name.clone());
    bar.length(plan.replications * plan.cells.len() as u64);
    let threads = arguments.threads.map_or(0, |threads| threads as usize);
    let go = || study::fork(&plan, point, &plans, &|| bar.step());
    let played = match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
        Ok(pool) => pool.install(go),
        // If the machine cannot start threads, this thread does the work.
        Err(_) => go(),
    };
    bar.finish();
    let forked = match played {
        Ok(forked) => forked,
        Err(failure) => {
            say(format_args!("error: {failure}"));
            return Exit::CellsFailed;
        }
    };
    let place = match keep(&plan, point, &plans, &forked, arguments) {
        Ok(place) => place,
        Err(reason) => {
            say(format_args!("error: {reason}"));
            return Exit::Internal;
        }
    };
    let folder = place.path().display();
    match arguments.scenario.format {
        Format::Text => {
            print(&report::fork_text(&plan, &point.to_string(), &forked));
            print(&format!("\nFull report of each branch, with privacy losses: {folder}/*/report.txt\n"));
        }
        Format::Json => {
            print(&report::json(&ForkDocument {
                schema: SCHEMA,
                scenario: &plan.name,
                seed: plan.first_seed(),
                at: point.to_string(),
                run: folder.to_string(),
                reached_seconds: &forked.reached,
                rows: forked.rows(),
            }));
        }
    }
    Exit::Ok
}

/// Name and version of the form of both documents.
const SCHEMA: &str = "subrosa.fork/1";

/// The document that is printed.
#[derive(Serialize)]
struct ForkDocument<'a> {
    schema: &'static str,
    scenario: &'a str,
    seed: u64,
    at: String,
    run: String,
    reached_seconds: &'a [Vec<f64>],
    rows: Vec<BranchRow>,
}

/// The contents of `fork.json`.
#[derive(Serialize)]
struct Kept<'a> {
    schema: &'static str,
    scenario: &'a str,
    seed: u64,
    at: String,
    overrides: &'a [String],
    branches: Vec<Branch<'a>>,
    reached_seconds: &'a [Vec<f64>],
    rows: Vec<BranchRow>,
}

/// One branch.
#[derive(Serialize)]
struct Branch<'a> {
    name: &'a str,
    overrides: &'a [String],
}

/// The fork that the command line and the scenario request.
struct What {
    point: ForkPoint,
    branches: Branches,
    /// The plan of the unchanged branch.
    plan: Plan,
    /// Overrides of all branches.
    common: Vec<String>,
}

fn what(section: Option<ForkDraft>, plan: Plan, arguments: &RunArguments) -> Result<What, Exit> {
    let Some(point) = arguments.fork_at.or(section.as_ref().map(|section| section.at)) else {
        say("error: expected --fork-at with --branch, as in --fork-at 20 or --fork-at 5min");
        return Err(Exit::Usage);
    };
    let mut branches: Branches =
        section.map(|section| section.branches.into_iter().collect()).unwrap_or_default();
    for text in &arguments.branch {
        let Some((name, change)) = text.split_once(':').filter(|(_, change)| change.contains('=')) else {
            say(format_args!("error: expected --branch 'NAME: PATH=RON', found {text:?}"));
            return Err(Exit::Usage);
        };
        let (name, change) = (name.trim(), change.trim().to_owned());
        match branches.iter_mut().find(|(known, _)| known == name) {
            Some((_, changes)) => changes.push(change),
            None => branches.push((name.to_owned(), vec![change])),
        }
    }
    if branches.iter().any(|(name, _)| name == "unchanged" || name.is_empty()) {
        say("error: a branch needs a name other than \"unchanged\", which is always part of a fork");
        return Err(Exit::Usage);
    }
    if !branches.is_empty() {
        return Ok(What { point, branches, plan, common: arguments.scenario.overrides.clone() });
    }
    // The only branch is the one that -o changes.
    let own = &arguments.scenario;
    let plan = load(&ScenarioArguments { overrides: Vec::new(), ..own.clone() })?;
    let branches = vec![("changed".to_owned(), own.overrides.clone())];
    Ok(What { point, branches, plan, common: Vec::new() })
}

/// The plan of a branch, if its differences are permitted.
fn branch(plan: &Plan, name: &str, arguments: ScenarioArguments) -> Result<Plan, Exit> {
    let branch = load(&arguments)?;
    if branch.cells.len() != plan.cells.len() {
        let (cells, found) = (plan.cells.len(), branch.cells.len());
        say(format_args!("error: branch \"{name}\": expected {cells} cells as without it, found {found}"));
        return Err(Exit::InvalidScenario);
    }
    for (base, changed) in plan.cells.iter().zip(&branch.cells) {
        let (base, changed) = (&base.scenario, &changed.scenario);
        if let Some(path) = settled(base.draft(), changed.draft()).first() {
            say(format_args!(
                "error: branch \"{name}\" changes {path}, which cannot change after the fork; a branch may change {}",
                changeable(base.draft()).join(", ")
            ));
            return Err(Exit::InvalidScenario);
        }
        if let Some(problem) = other_readers(base, changed) {
            say(format_args!("error: branch \"{name}\": {problem}"));
            return Err(Exit::InvalidScenario);
        }
    }
    Ok(branch)
}

/// Writes the comparison and every branch's own report into a folder.
fn keep(
    plan: &Plan,
    point: ForkPoint,
    plans: &[(String, Plan)],
    forked: &Forked,
    arguments: &RunArguments,
) -> Result<RunFolder, FolderError> {
    let place = RunFolder::at(&arguments.out.join(format!("{}-fork", plan.folder_name())));
    let own = std::iter::once(plan).chain(plans.iter().map(|(_, plan)| plan));
    for (index, ((name, records), plan)) in forked.branches.iter().zip(own).enumerate() {
        let safe: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let folder = RunFolder::at(&place.file(&format!("{index}-{safe}")));
        files::make_folder(folder.path())?;
        let summary = Summary::of(plan, &folder, records);
        write_summary(&folder, &summary)?;
        files::write(&folder.file("report.txt"), report::text(&summary, false).as_bytes())?;
    }
    let branches = plans.iter().map(|(name, plan)| Branch { name, overrides: &plan.overrides });
    let document = Kept {
        schema: SCHEMA,
        scenario: &plan.name,
        seed: plan.first_seed(),
        at: point.to_string(),
        overrides: &plan.overrides,
        branches: branches.collect(),
        reached_seconds: &forked.reached,
        rows: forked.rows(),
    };
    let text = serde_json::to_string_pretty(&document).expect("plain data with text keys");
    files::write(&place.file("fork.json"), format!("{text}\n").as_bytes())?;
    Ok(place)
}
