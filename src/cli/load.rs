//! Loads a scenario from a file or from a run folder, and makes its plan.

use super::exit::Exit;
use super::options::{Format, ScenarioArguments};
use super::output::{eprint_line, eprint_lines, print};
use crate::objectives::{Resources, RunLimits};
use crate::programs::{ProgramUse, Programs, Recorded};
use crate::report;
use crate::scenario::{Diagnostics, Document, OwnMember, own_members};
use crate::study::{Manifest, Plan, RunFolder, files};
use crate::vocab::cores;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Loads and checks a scenario to be run. The memory limit is checked for one replication at a time. On failure, all errors
/// have been printed.
pub(super) fn load(arguments: &ScenarioArguments) -> Result<Plan, Exit> {
    load_to(arguments, ProgramUse::ToPlay, Some(1))
}

/// Number of replications that are run at the same time: as stated, else one per core.
pub(super) fn threads(stated: Option<u32>) -> u64 {
    stated.map_or_else(|| cores() as u64, u64::from)
}

/// The stated number of threads; 0, which stands for one per core, if none is stated.
pub(super) fn thread_count(stated: Option<u32>) -> usize {
    stated.map_or(0, |threads| threads as usize)
}

/// As [`load`], for a given use of the scenario: only the programs that this use starts must exist. The memory limit is
/// checked for `at_once` replications at the same time; if `at_once` is `None`, for one replication per core.
pub(super) fn load_to(
    arguments: &ScenarioArguments,
    starts: ProgramUse,
    at_once: Option<u32>,
) -> Result<Plan, Exit> {
    let loaded = Loaded::read(arguments, starts, at_once)?;
    loaded.plan(&[]).map_err(|diagnostics| print_error(&diagnostics, arguments.format))
}

/// A scenario file that was read, with everything that the command line says about it.
pub(super) struct Loaded {
    pub(super) document: Document,
    pub(super) overrides: Vec<String>,
    resources: Resources,
}

impl Loaded {
    /// Reads a scenario. On failure, all errors have been printed.
    pub(super) fn read(
        arguments: &ScenarioArguments,
        starts: ProgramUse,
        at_once: Option<u32>,
    ) -> Result<Self, Exit> {
        if let Some(folder) = arguments.data.as_deref().filter(|folder| !folder.is_dir()) {
            eprint_line(format_args!(
                "error: --data {}: there is no such folder (name the folder of the data files, or leave --data out)",
                folder.display()
            ));
            return Err(Exit::Usage);
        }
        let document = Document::load(&arguments.scenario)
            .map_err(|diagnostics| print_error(&diagnostics, arguments.format))?;
        let mut overrides = arguments.overrides.clone();
        overrides.extend(arguments.seed.map(|seed| format!("seed={seed}")));
        overrides.extend(arguments.replications.map(|n| format!("replications={n}")));
        let resources = Resources {
            starts,
            limits: RunLimits {
                threads: threads(at_once),
                memory: arguments.memory.unwrap_or(RunLimits::default().memory),
            },
            ..resources_of(&arguments.scenario, arguments.data.clone())
        };
        Ok(Self { document, overrides, resources })
    }

    /// The plan with further overrides after those of the command line.
    pub(super) fn plan(&self, further: &[String]) -> Result<Plan, Diagnostics> {
        let overrides = [self.overrides.as_slice(), further].concat();
        let cells = self.document.cells(&overrides, &self.resources)?;
        Ok(Plan::new(self.document.ron()?, overrides, &self.resources, cells))
    }
}

/// The folders of files that a scenario may use: its own folder, and `data`. If `data` is `None`, the environment variable
/// SUBROSA_DATA names the second folder, if the variable is set.
pub(super) fn resources_of(scenario: &Path, data: Option<PathBuf>) -> Resources {
    let data = data.or_else(|| std::env::var_os("SUBROSA_DATA").map(PathBuf::from));
    let data = data.map(|folder| absolute(&folder));
    Resources { base: folder_of(scenario), data, ..Resources::default() }
}

/// The plan of a run folder, and its manifest.
pub(super) fn plan_of_run(folder: &RunFolder) -> Result<(Plan, Manifest), Exit> {
    let manifest = match folder.manifest() {
        Ok(Some(manifest)) => manifest,
        Ok(None) => return Err(not_a_run(folder)),
        Err(error) => {
            eprint_line(format_args!("error: {error}"));
            return Err(Exit::Internal);
        }
    };
    if let Some(words) = missing_members(folder, &manifest) {
        eprint_lines(&words);
        return Err(Exit::InvalidScenario);
    }
    let file = folder.file("scenario.ron");
    let text = files::read(&file).map_err(|error| {
        eprint_line(format_args!("error: {error}"));
        Exit::Internal
    })?;
    // The folder has the answers of the programs, so the programs need not exist any more.
    let programs = Programs::recorded(Box::new(Recorded::default()));
    let (base, data) = (manifest.base.clone(), manifest.data.clone());
    let resources =
        Resources { base, data, programs, limits: RunLimits::unlimited(), ..Resources::default() };
    let document = Document::from_text(&file, text);
    let plan = |overrides: &[String]| {
        let cells = document
            .cells(overrides, &resources)
            .map_err(|diagnostics| print_error(&diagnostics, Format::Text))?;
        let text = document.ron().map_err(|diagnostics| print_error(&diagnostics, Format::Text))?;
        let plan = Plan::of_build(text, overrides.to_vec(), &resources, cells, &manifest.build);
        Ok(plan.with_programs(&manifest.programs))
    };
    let mut whole = plan(&manifest.overrides)?;
    if let Some(fork) = &manifest.fork {
        let others = fork.branches.iter().skip(1);
        let branches = others.map(|branch| Ok((branch.name.clone(), plan(&branch.overrides)?)));
        let branches = branches.collect::<Result<_, Exit>>()?;
        whole = Plan::of_branches(whole, fork.at.clone(), branches).with_branch_axis(&fork.axis);
    }
    Ok((whole, manifest))
}

/// As [`plan_of_run`], but refuses the run of a fork: its branches share their beginning, so none can be simulated
/// alone.
pub(super) fn plan_to_play(folder: &RunFolder) -> Result<(Plan, Manifest), Exit> {
    let (plan, manifest) = plan_of_run(folder)?;
    if manifest.fork.is_some() {
        eprint_line(format_args!(
            "error: {} is a fork: its branches share their beginning, so none is simulated alone (`subrosa replay` \
             simulates all of them again, and compares them with their records)",
            folder.path().display()
        ));
        return Err(Exit::Usage);
    }
    Ok((plan, manifest))
}

/// The error if the run's scenario names members that this program lacks, because they are members of the program that made
/// the run; `None` if this program lacks no member.
fn missing_members(folder: &RunFolder, manifest: &Manifest) -> Option<String> {
    let here = own_members();
    let known = |member: &OwnMember| {
        here.iter().any(|own| (&own.family, &own.name) == (&member.family, &member.name))
    };
    let missing: Vec<String> =
        manifest.members.iter().filter(|member| !known(member)).map(OwnMember::to_string).collect();
    if missing.is_empty() {
        return None;
    }
    let path = folder.path().display();
    let missing = missing.join(", ");
    Some(format!(
        "error: {path} was run by a program that has members of its own, which this one lacks: {missing}\n  use the \
         program that ran it, or add them to this one (subrosa::Catalogue)\n"
    ))
}

/// Reports that a path is not a run folder, and names a run folder nearby if there is one.
pub(super) fn not_a_run(folder: &RunFolder) -> Exit {
    let around = folder.path().parent().filter(|_| folder.path().is_file());
    // If the path is a file in a run folder, that folder is suggested.
    let own = around.filter(|around| around.join("manifest.json").is_file()).map(Path::to_owned);
    let example = match own.or_else(|| inside(around.unwrap_or(folder.path())).into_iter().next()) {
        Some(run) => run.display().to_string(),
        None => "runs/<name>-<hash>".to_owned(),
    };
    eprint_line(format_args!(
        "error: {} is not a run folder: it has no manifest.json (name a folder that `subrosa run` wrote, such as \
         {example})",
        folder.path().display()
    ));
    Exit::Usage
}

/// The run folders inside a folder, the latest first.
fn inside(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let dated = entries.filter_map(|entry| {
        let written = std::fs::metadata(entry.path().join("manifest.json")).ok()?.modified().ok()?;
        Some((written, entry.path()))
    });
    let mut runs: Vec<_> = dated.collect();
    runs.sort();
    runs.into_iter().rev().map(|(_, run)| run).collect()
}

/// The JSON document of a scenario with errors.
#[derive(Serialize)]
struct Invalid {
    valid: bool,
    diagnostics: Vec<serde_json::Value>,
}

pub(super) fn print_error(diagnostics: &Diagnostics, format: Format) -> Exit {
    match format {
        Format::Text => eprint_lines(&diagnostics.render()),
        Format::Json => {
            print(&report::json(&Invalid { valid: false, diagnostics: diagnostics.json() }));
        }
    }
    Exit::InvalidScenario
}

/// The folder of a file, absolute if possible, so that a replay from another folder finds the same files.
fn folder_of(file: &Path) -> PathBuf {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    absolute(folder)
}

fn absolute(folder: &Path) -> PathBuf {
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}
