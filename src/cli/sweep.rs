//! `subrosa cluster`: runs a study on many machines.

use super::budget_exit::budget;
use super::exit::Exit;
use super::interruption;
use super::load::{load, not_a_run, plan_to_play, thread_count};
use super::options::{
    ClusterCommand, Engine, Format, SweepArguments, SweepMergeArguments, SweepPlanArguments,
    SweepStatusArguments, SweepSubmitArguments, SweepWorkArguments,
};
use super::output::{eprint_line, print};
use super::programs;
use super::progress::{StudyProgressBar, print_other_builds};
use super::run::terminal;
use crate::report::{self, Detail};
use crate::study::sweep::{self, HeartbeatTimes, Status, SweepError, WorkOptions};
use crate::study::{FolderError, Plan, RunFolder, file_safe, files};
use crate::vocab::{counted, shell_word};
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Runs the command that follows `cluster`.
pub(super) fn sweep(arguments: &SweepArguments) -> Exit {
    let done = match &arguments.verb {
        ClusterCommand::Plan(arguments) => plan(arguments),
        ClusterCommand::Work(arguments) => work(arguments),
        ClusterCommand::Status(arguments) => status(arguments),
        ClusterCommand::Merge(arguments) => merge(arguments),
        ClusterCommand::Submit(arguments) => submit(arguments),
    };
    done.unwrap_or_else(|exit| exit)
}

fn print_error(error: SweepError) -> Exit {
    eprint_line(format_args!("error: {error}"));
    match error {
        SweepError::Folder(FolderError::Conflict(_)) => Exit::ReplayDiffers,
        SweepError::Folder(_) => Exit::Internal,
        SweepError::NotPlanned(_) | SweepError::Busy { .. } => Exit::Usage,
        SweepError::Incomplete { .. } => Exit::CellsFailed,
    }
}

fn plan(arguments: &SweepPlanArguments) -> Result<Exit, Exit> {
    let plan = programs::ask(load(&arguments.scenario)?)?;
    let path = arguments.out.join(plan.folder_name());
    let laid = sweep::plan_sweep(&plan, &RunFolder::at(&path), arguments.blocks, arguments.force)
        .map_err(print_error)?;
    match arguments.scenario.format {
        Format::Text => {
            let how = if laid.unchanged { "planned already" } else { "planned" };
            eprint_line(format_args!(
                "{how}: {} with {} each; {} to run in {}, {} already done",
                counted(plan.cells.len() as u64, "cell"),
                counted(plan.replications, "replication"),
                counted(laid.to_play, "replication"),
                counted(laid.blocks, "block"),
                laid.there
            ));
            print_other_builds(laid.other_builds);
            if laid.reused > 0 {
                eprint_line(format_args!(
                    "Taken from an earlier run, unchanged since: {}.",
                    counted(laid.reused, "replication")
                ));
            }
            print(&format!("{}\n", path.display()));
        }
        Format::Json => print(&report::json(&PlanJson {
            folder: &path,
            cells: plan.cells.len(),
            replications: plan.total(),
            to_play: laid.to_play,
            there: laid.there,
            reused: laid.reused,
            blocks: laid.blocks,
            unchanged: laid.unchanged,
        })),
    }
    Ok(Exit::Ok)
}

/// The JSON document of `cluster plan`.
#[derive(Serialize)]
struct PlanJson<'a> {
    folder: &'a Path,
    cells: usize,
    replications: u64,
    to_play: u64,
    there: u64,
    reused: u64,
    blocks: u64,
    unchanged: bool,
}

/// The JSON document of `cluster status` for a complete run.
#[derive(Serialize)]
struct CompleteJson {
    merged: bool,
}

fn work(arguments: &SweepWorkArguments) -> Result<Exit, Exit> {
    let folder = RunFolder::at(&arguments.folder);
    let (plan, manifest) = plan_to_play(&folder)?;
    if manifest.complete {
        eprint_line("Nothing is left to run: the run is complete.");
        return Ok(Exit::Ok);
    }
    let pace = pace(arguments.heartbeat, arguments.dead_after)?;
    let options = WorkOptions {
        slot: arguments.slot,
        threads: thread_count(arguments.threads),
        pace,
        interrupted: interruption::listen(),
    };
    programs::same_as_planned(&plan)?;
    programs::announce(&plan);
    let bar = StudyProgressBar::new(format!("worker {}/{}", arguments.slot.0, arguments.slot.1));
    let worked = sweep::work(&plan, &folder, options, &bar);
    bar.finish();
    let worked = worked.map_err(print_error)?;
    let also_finished = worked.twice + worked.conflicts.len() as u64;
    let twice = match also_finished {
        0 => String::new(),
        count => format!("; another worker had also finished {count} of these blocks"),
    };
    eprint_line(format_args!(
        "Worker {}/{}: ran {} ({} failed) in {}{twice}.",
        arguments.slot.0,
        arguments.slot.1,
        counted(worked.replications, "replication"),
        worked.failed,
        counted(worked.blocks + also_finished, "block")
    ));
    for path in &worked.conflicts {
        eprint_line(format_args!(
            "warning: a block was computed twice with different results; the second result is in {}. One of the two \
             machines is at fault, or the program: find out which before you merge.",
            path.display()
        ));
    }
    Ok(if !worked.conflicts.is_empty() {
        Exit::ReplayDiffers
    } else if worked.interrupted {
        eprint_line("Interrupted: other workers can take the blocks that were not finished.");
        Exit::Interrupted
    } else if worked.failed > 0 {
        Exit::CellsFailed
    } else {
        Exit::Ok
    })
}

/// Checks the two times about heartbeats that the command line gives, and returns them.
fn pace(heartbeat: humantime::Duration, dead_after: humantime::Duration) -> Result<HeartbeatTimes, Exit> {
    let pace = HeartbeatTimes { heartbeat: *heartbeat, dead_after: *dead_after };
    if pace.heartbeat < Duration::from_millis(10) || pace.dead_after < pace.heartbeat.saturating_mul(2) {
        eprint_line(format_args!(
            "error: expected --heartbeat of at least 10ms and --dead-after of at least twice as much, found {heartbeat} and \
             {dead_after}"
        ));
        return Err(Exit::Usage);
    }
    Ok(pace)
}

fn status(arguments: &SweepStatusArguments) -> Result<Exit, Exit> {
    let folder = RunFolder::at(&arguments.folder);
    let (plan, manifest) = plan_to_play(&folder)?;
    if manifest.complete {
        match arguments.format {
            Format::Text => print("merged: the run is complete\n"),
            Format::Json => print(&report::json(&CompleteJson { merged: true })),
        }
        return Ok(Exit::Ok);
    }
    let status = sweep::status(&plan, &folder).map_err(print_error)?;
    match arguments.format {
        Format::Text => print(&status_text(&status)),
        Format::Json => print(&report::json(&status)),
    }
    Ok(if status.conflicts.is_empty() { Exit::Ok } else { Exit::ReplayDiffers })
}

fn status_text(status: &Status) -> String {
    let mut text = format!(
        "blocks {} of {}, replications {} of {}",
        status.blocks_finished, status.blocks, status.replications_finished, status.replications
    );
    if let Some(left) = status.seconds_left.filter(|left| *left > 0.0) {
        let left = humantime::format_duration(Duration::from_secs(left.ceil() as u64));
        text.push_str(&format!(", about {left} left"));
    }
    text.push('\n');
    for claim in &status.claims {
        let taken = match claim.taken_over {
            0 => String::new(),
            times => format!(", taken over {times} times"),
        };
        text.push_str(&format!(
            "block {} by {}, last heartbeat {:.0} s ago{taken}\n",
            claim.block, claim.worker, claim.silent_seconds
        ));
    }
    if status.damaged > 0 {
        text.push_str(&format!("damaged records: {}\n", status.damaged));
    }
    for failure in status.failed.iter().take(20) {
        text.push_str(&format!("failed: {failure}\n"));
    }
    if status.failed.len() > 20 {
        text.push_str(&format!("failed: {} in all\n", status.failed.len()));
    }
    for conflict in &status.conflicts {
        text.push_str(&format!("warning: {conflict}\n"));
    }
    if status.blocks_finished == status.blocks {
        text.push_str("every block is finished: `subrosa cluster merge` merges them into a run");
        text.push_str(if status.replications_finished < status.replications {
            ", `subrosa cluster plan` plans the missing replications again\n"
        } else {
            "\n"
        });
    }
    text
}

fn merge(arguments: &SweepMergeArguments) -> Result<Exit, Exit> {
    let folder = RunFolder::at(&arguments.folder);
    let (plan, _) = plan_to_play(&folder)?;
    let others: Vec<RunFolder> = arguments.others.iter().map(|path| RunFolder::at(path)).collect();
    for other in &others {
        of_this_study(&plan, other)?;
    }
    let summary = sweep::merge(&plan, &folder, &others, arguments.partial).map_err(print_error)?;
    report::write_page(&folder).map_err(|error| print_error(error.into()))?;
    match arguments.format {
        Format::Text => print(&report::text(&summary, terminal(Detail::Short))),
        Format::Json => print(&report::json(&summary)),
    }
    Ok(if summary.complete { budget(&summary) } else { Exit::CellsFailed })
}

/// Refuses a folder that has no cell in common with the study.
fn of_this_study(plan: &Plan, other: &RunFolder) -> Result<(), Exit> {
    let manifest = match other.manifest() {
        Ok(Some(manifest)) => manifest,
        Ok(None) => return Err(not_a_run(other)),
        Err(error) => return Err(print_error(error.into())),
    };
    let mine: BTreeSet<&String> = plan.cells.iter().map(|cell| &cell.identity).collect();
    if manifest.cells.iter().any(|cell| mine.contains(&cell.identity)) {
        return Ok(());
    }
    eprint_line(format_args!(
        "error: {} holds no part of this study: it was made from another scenario, or by another version of the \
         program (name folders that `cluster plan` or `run` made from the same scenario)",
        other.path().display()
    ));
    Err(Exit::Usage)
}

fn submit(arguments: &SweepSubmitArguments) -> Result<Exit, Exit> {
    let folder = RunFolder::at(&arguments.folder);
    pace(arguments.heartbeat, arguments.dead_after)?;
    let (plan, _) = plan_to_play(&folder)?;
    let internal = |error: String| {
        eprint_line(format_args!("error: {error}"));
        Exit::Internal
    };
    let program = std::env::current_exe().map_err(|error| internal(error.to_string()))?;
    let place = std::path::absolute(&arguments.folder).map_err(|error| internal(error.to_string()))?;
    let Engine::Slurm = arguments.engine;
    let script = slurm(arguments, &plan.name, &program, &place);
    if arguments.print {
        print(&script);
        return Ok(Exit::Ok);
    }
    // Reports an error of the plan now, rather than in the log of a job.
    sweep::status(&plan, &folder).map_err(print_error)?;
    let path = folder.file("work").join("slurm.sh");
    files::make_folder(&folder.file("work").join("logs"))
        .and_then(|()| files::write(&path, script.as_bytes()))
        .map_err(|error| internal(error.to_string()))?;
    let answer = Command::new("sbatch").arg("--parsable").arg(&path).output().map_err(|error| {
        internal(format!(
            "cannot start sbatch: {error} (Slurm's commands must be in PATH; the script is {}, and --print shows \
             it)",
            path.display()
        ))
    })?;
    if !answer.status.success() {
        return Err(internal(format!("sbatch refused: {}", String::from_utf8_lossy(&answer.stderr).trim())));
    }
    let job = String::from_utf8_lossy(&answer.stdout).trim().to_owned();
    eprint_line(format_args!(
        "submitted {} as job {job}; their logs are in {}",
        counted(u64::from(arguments.workers), "worker"),
        place.join("work/logs").display()
    ));
    print(&format!("{job}\n"));
    Ok(Exit::Ok)
}

/// The batch script: a job array of workers, each of which runs blocks until none is left.
fn slurm(arguments: &SweepSubmitArguments, name: &str, program: &Path, place: &Path) -> String {
    let name = file_safe(name);
    let further: String = arguments.directive.iter().map(|line| format!("#SBATCH {line}\n")).collect();
    format!(
        "#!/bin/sh\n\
         #SBATCH --job-name=subrosa-{name}\n\
         #SBATCH --array=0-{last}\n\
         #SBATCH --ntasks=1\n\
         #SBATCH --cpus-per-task={threads}\n\
         #SBATCH --output={logs}\n\
         #SBATCH --open-mode=append\n\
         {further}\
         # A worker runs blocks until none is left; another worker takes over the block of a worker that was killed.\n\
         exec {program} cluster work {folder} --slot \"$SLURM_ARRAY_TASK_ID/{workers}\" --threads {threads} \\\n  \
         --heartbeat {heartbeat} --dead-after {dead_after}\n",
        last = arguments.workers - 1,
        threads = arguments.threads,
        logs = log_files(&place.join("work").join("logs")),
        program = shell_word(&program.to_string_lossy()),
        folder = shell_word(&place.to_string_lossy()),
        workers = arguments.workers,
        heartbeat = arguments.heartbeat.to_string().replace(' ', ""),
        dead_after = arguments.dead_after.to_string().replace(' ', ""),
    )
}

/// The names of the workers' log files in this folder, as one value of a line `#SBATCH`. In such a line, `%` begins a
/// replacement (`%A` is the number of the job, `%a` that of the worker), and the character after a backslash is taken as it
/// is.
fn log_files(folder: &Path) -> String {
    let folder = folder.display().to_string().replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%");
    format!("\"{folder}/%A_%a.log\"")
}
