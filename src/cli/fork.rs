//! `subrosa run --fork-at`: simulates a common beginning once, and then several branches that begin at the fork.

use super::ending::{ended, interrupted_at, unreadable};
use super::exit::Exit;
use super::interruption;
use super::load::{load, thread_count};
use super::options::{Format, RunArguments, ScenarioArguments};
use super::output::{eprint_line, print, width};
use super::programs;
use super::progress::StudyProgressBar;
use crate::protocols::ForkPoint;
use crate::report;
use crate::scenario::fork::{changeable, new_observers, other_readers, settled};
use crate::scenario::{ForkDraft, invalid_name};
use crate::study::{
    self, BranchRow, FolderError, Forked, Options, Plan, RunFolder, Summary, file_safe, files, write_summary,
};
use crate::vocab::in_pool;
use serde::Serialize;

/// Name and overrides of each branch, in order.
type Branches = Vec<(String, Vec<String>)>;

/// Whether the command line or the scenario requests a fork; false for a dry run.
pub(super) fn is_requested(plan: &Plan, arguments: &RunArguments) -> bool {
    !arguments.dry
        && (arguments.fork_at.is_some()
            || !arguments.branch.is_empty()
            || plan.cells[0].scenario.draft().fork.is_some())
}

/// Runs all branches, writes the run folder and prints the result.
pub(super) fn fork(plan: Plan, arguments: &RunArguments) -> Exit {
    let section = plan.cells[0].scenario.draft().fork.clone();
    let ForkRequest { point, branches, plan, common } = match requested_fork(section, plan, arguments) {
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
    let (plan, plans) = match programs::ask_all(plan, plans) {
        Ok(asked) => asked,
        Err(exit) => return exit,
    };
    let place = RunFolder::at(&arguments.out.join(plan.fork_folder_name(&point.to_string(), &plans)));
    let whole = Plan::of_branches(plan.clone(), point.to_string(), plans.clone());
    let options = Options {
        threads: thread_count(arguments.threads),
        fail_fast: arguments.fail_fast,
        interrupted: interruption::listen(),
    };
    let bar = StudyProgressBar::new(plan.name.clone());
    let played = study::play(&whole, &place, options, &bar);
    bar.finish();
    let finished = played.and_then(|outcome| {
        if let Some(exit) = interrupted_at(&outcome) {
            return Ok(Err(exit));
        }
        let forked = Forked::read(&whole, &place)?;
        let summary = in_pool(thread_count(arguments.threads), || study::finish(&whole, &place))?;
        write_folder(&plan, point, &plans, &forked, &place)?;
        Ok(Ok((outcome, forked, summary)))
    });
    let (outcome, forked, summary) = match finished {
        Ok(Ok(finished)) => finished,
        Ok(Err(exit)) => return exit,
        Err(error) => return unreadable(&error),
    };
    let folder = place.path().display();
    match arguments.scenario.format {
        Format::Text => {
            print(&report::fork_text(&plan, &point.to_string(), &forked, width()));
            print(&format!(
                "\nAll branches side by side, with curves and privacy losses: {folder}/{}\nFull report of each branch: \
                 {folder}/*/report.txt\nDifferences with intervals: subrosa compare {folder}\n",
                report::PAGE
            ));
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
    ended(&outcome, &summary)
}

/// Name and version of the schema of the printed document and of `fork.json`.
const SCHEMA: &str = "subrosa.fork/1";

/// The JSON document that is printed.
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
struct ForkJson<'a> {
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
struct ForkRequest {
    point: ForkPoint,
    branches: Branches,
    /// The plan of the unchanged branch.
    plan: Plan,
    /// Overrides that apply to every branch.
    common: Vec<String>,
}

fn requested_fork(
    section: Option<ForkDraft>,
    plan: Plan,
    arguments: &RunArguments,
) -> Result<ForkRequest, Exit> {
    let Some(point) = arguments.fork_at.or(section.as_ref().map(|section| section.at)) else {
        eprint_line("error: expected --fork-at with --branch, as in --fork-at 20 or --fork-at 5min");
        return Err(Exit::Usage);
    };
    let mut branches: Branches =
        section.map(|section| section.branches.into_iter().collect()).unwrap_or_default();
    for text in &arguments.branch {
        let Some((name, change)) = text.split_once(':').filter(|(_, change)| change.contains('=')) else {
            eprint_line(format_args!("error: expected --branch 'NAME: PATH=RON', found {text:?}"));
            return Err(Exit::Usage);
        };
        let (name, change) = (name.trim(), change.trim().to_owned());
        match branches.iter_mut().find(|(known, _)| known == name) {
            Some((_, changes)) => changes.push(change),
            None => branches.push((name.to_owned(), vec![change])),
        }
    }
    if branches.iter().any(|(name, _)| name == "unchanged" || name.is_empty()) {
        eprint_line("error: a branch needs a name other than \"unchanged\", which is always part of a fork");
        return Err(Exit::Usage);
    }
    if let Some(problem) = branches.iter().find_map(|(name, _)| invalid_name(name)) {
        eprint_line(format_args!("error: the name of a branch: {problem}"));
        return Err(Exit::Usage);
    }
    if !branches.is_empty() {
        return Ok(ForkRequest { point, branches, plan, common: arguments.scenario.overrides.clone() });
    }
    // Without --branch, and without branches in the scenario, the overrides (-o) define a single changed branch. The
    // unchanged branch is then the scenario without the overrides.
    let own = &arguments.scenario;
    if own.overrides.is_empty() {
        eprint_line(
            "error: expected what changes after the fork, as in --branch 'lossy: network.default.loss=Independent(0.5)' or -o \
             network.default.loss='Independent(0.5)'; without a change there is only one branch",
        );
        return Err(Exit::Usage);
    }
    let plan = load(&ScenarioArguments { overrides: Vec::new(), ..own.clone() })?;
    let branches = vec![("changed".to_owned(), own.overrides.clone())];
    Ok(ForkRequest { point, branches, plan, common: Vec::new() })
}

/// The plan of the branch `name`. Refuses a branch that has other cells than the unchanged branch, or that changes something
/// that cannot change after the fork.
fn branch(plan: &Plan, name: &str, arguments: ScenarioArguments) -> Result<Plan, Exit> {
    let branch = load(&arguments)?;
    let points = |plan: &Plan| plan.cells.iter().map(|cell| cell.point.clone()).collect::<Vec<_>>();
    if points(&branch) != points(plan) {
        eprint_line(format_args!("error: branch \"{name}\": {}", other_cells(plan, &branch)));
        return Err(Exit::InvalidScenario);
    }
    for (base, changed) in plan.cells.iter().zip(&branch.cells) {
        let (base, changed) = (&base.scenario, &changed.scenario);
        if let Some(path) = settled(base.draft(), changed.draft()).first() {
            eprint_line(format_args!(
                "error: branch \"{name}\" changes {path}, which cannot change after the fork; a branch may change {}",
                changeable(base.draft()).join(", ")
            ));
            return Err(Exit::InvalidScenario);
        }
        let observers = || new_observers(base.draft(), changed.draft());
        if let Some(problem) = other_readers(base, changed).or_else(observers) {
            eprint_line(format_args!("error: branch \"{name}\": {problem}"));
            return Err(Exit::InvalidScenario);
        }
    }
    Ok(branch)
}

/// Why the cells of a branch are not those of the unchanged branch, and what to write instead.
fn other_cells(plan: &Plan, branch: &Plan) -> String {
    let axes = |plan: &Plan| {
        let point = plan.cells.first().map(|cell| cell.point.clone()).unwrap_or_default();
        point.into_iter().map(|(axis, _)| axis).collect::<Vec<_>>()
    };
    let (known, own) = (axes(plan), axes(branch));
    let quoted = |axis: &String| format!("\"{axis}\"");
    let gone: Vec<String> = known.iter().filter(|axis| !own.contains(axis)).map(quoted).collect();
    let new: Vec<String> = own.iter().filter(|axis| !known.contains(axis)).map(quoted).collect();
    let (cells, found) = (plan.cells.len(), branch.cells.len());
    let cells = format!(
        "expected the {cells} cells that the study has without the branch's changes, found {found} with them"
    );
    if !new.is_empty() {
        return format!(
            "{cells}: the branch adds an Each, {}\n  help: a branch has one value; write a branch for each, such as \
             --branch 'A: PATH=1' --branch 'B: PATH=2'",
            new.join(", ")
        );
    }
    if !gone.is_empty() {
        return format!(
            "{cells}: the branch replaces what the study varies by Each, {}\n  help: give that setting one value for the beginning \
             (-o PATH=VALUE) and a branch for each value after the fork, or let the branch change another setting",
            gone.join(", ")
        );
    }
    format!(
        "expected the study's own values of {}, found other values with the branch's changes\n  help: a branch has one value for what it \
         changes; give that setting one value for the beginning (-o PATH=VALUE) and write a branch for each value",
        known.iter().map(quoted).collect::<Vec<_>>().join(", ")
    )
}

/// Writes the comparison of the branches and the page into the folder, and the summary and the report of each branch into a
/// folder of its own inside this folder.
fn write_folder(
    plan: &Plan,
    point: ForkPoint,
    plans: &[(String, Plan)],
    forked: &Forked,
    place: &RunFolder,
) -> Result<(), FolderError> {
    let own = std::iter::once(plan).chain(plans.iter().map(|(_, plan)| plan));
    for (index, ((name, records), plan)) in forked.branches.iter().zip(own).enumerate() {
        let folder = RunFolder::at(&place.file(&format!("{index}-{}", file_safe(name))));
        files::make_folder(folder.path())?;
        let summary = Summary::of(plan, &folder, records);
        write_summary(&folder, &summary)?;
        files::write(
            &folder.file("report.txt"),
            report::text(
                &summary,
                report::Terminal { detail: report::Detail::Full, ..report::Terminal::default() },
            )
            .as_bytes(),
        )?;
    }
    let branches = plans.iter().map(|(name, plan)| Branch { name, overrides: &plan.overrides });
    let document = ForkJson {
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
    report::write_page(place)
}
