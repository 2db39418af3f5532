//! A study before it is run: its cells, in order, and the number of replications.

use crate::objectives::Resources;
use crate::programs::{Program, ProgramIdentity, ProgramUse, without_timeouts};
use crate::scenario::{Draft, OwnMember, Scenario, programs_in_text};
use crate::study::plan::file_name::file_safe;
use crate::study::plan::fork_branches::ForkBranches;
use crate::study::plan::identity::{Identity, build_with};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// One cell: a scenario without `Each`, and its point in the study.
#[derive(Clone, Debug)]
pub struct CellPlan {
    /// Name and value of each `Each`. The value is written in RON, or as its label if it has one. Empty for a scenario
    /// without `Each`.
    pub point: Vec<(String, String)>,
    /// The checked scenario.
    pub scenario: Scenario,
    /// Hash of everything on which the records of the cell's replications depend.
    pub identity: String,
    /// Hash of everything on which the preparation of the cell's objective depends. Cells with equal hashes share the
    /// preparation.
    pub preparation: String,
    /// The programs that the scenario names. They are part of the identity.
    pub programs: Vec<ProgramIdentity>,
}

impl CellPlan {
    /// The seed from which the random numbers of this cell's replications are derived. Cells may
    /// have different seeds.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.scenario.draft().seed
    }
}

/// A study before it is run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Name of the scenario.
    pub name: String,
    /// The scenario file as written.
    pub source: String,
    /// Overrides of the command line, `path=RON`.
    pub overrides: Vec<String>,
    /// Folder to which paths in the scenario are relative.
    pub base: PathBuf,
    /// The folder of `--data`, in which the scenario's files are looked up too.
    pub data: Option<PathBuf>,
    /// Number of replications of every cell.
    pub replications: u64,
    /// The cells in order.
    pub cells: Vec<CellPlan>,
    /// The build for which the cells' identities were computed: that of `subrosa`, or of a user's own executable that uses
    /// this library.
    pub build: String,
    /// The family members that the cells name and that a user's own executable adds to those of the library.
    pub own: Vec<OwnMember>,
    /// The branches of a fork, if the cells belong to them.
    pub fork: Option<ForkBranches>,
}

/// The family members that scenarios name and that a user's own executable adds to those of the library, without duplicates.
fn own(cells: &[(Vec<(String, String)>, Scenario)]) -> Vec<OwnMember> {
    let mut found: Vec<OwnMember> = Vec::new();
    for member in cells.iter().flat_map(|(_, scenario)| scenario.draft().own_members()) {
        if !found.contains(&member) {
            found.push(member);
        }
    }
    found
}

impl Plan {
    /// A plan for the running executable, made from checked scenarios: one per cell, each with its point.
    ///
    /// # Panics
    /// If there is no cell; a scenario has at least one.
    #[must_use]
    pub fn new(
        source: String,
        overrides: Vec<String>,
        resources: &Resources,
        cells: Vec<(Vec<(String, String)>, Scenario)>,
    ) -> Self {
        let build = build_with(&own(&cells));
        Self::of_build(source, overrides, resources, cells, &build)
    }

    /// The plan that an executable of the build `build` would make, to find the results of that build and to replay them.
    ///
    /// # Panics
    /// If there is no cell.
    #[must_use]
    pub fn of_build(
        source: String,
        overrides: Vec<String>,
        resources: &Resources,
        cells: Vec<(Vec<(String, String)>, Scenario)>,
        build: &str,
    ) -> Self {
        let own = own(&cells);
        // The cells of a study usually read the same files.
        let mut files = Contents::default();
        let cells: Vec<CellPlan> = cells
            .into_iter()
            .map(|(point, scenario)| {
                let settings = settings(&scenario);
                let text = written(&settings, &[]);
                let programs = files.programs(&text, &resources.base);
                let text = if programs.is_empty() { text } else { written(&settings, &programs) };
                CellPlan {
                    identity: identity(&scenario, &text, &programs, resources, &mut files, build),
                    preparation: preparation(&scenario, &programs, resources, &mut files, build),
                    point,
                    scenario,
                    programs,
                }
            })
            .collect();
        let first = &cells.first().expect("a scenario has at least one cell").scenario.draft();
        Self {
            name: first.name.clone(),
            replications: first.replications.get(),
            source,
            overrides,
            base: resources.base.clone(),
            data: resources.data.clone(),
            cells,
            build: build.to_owned(),
            own,
            fork: None,
        }
    }

    /// The programs of all cells, without duplicates.
    #[must_use]
    pub fn programs(&self) -> Vec<ProgramIdentity> {
        programs_of(std::slice::from_ref(self))
    }

    /// Those programs of all cells that must be started for the use `starts`, such as running the replications.
    #[must_use]
    pub fn programs_started(&self, starts: ProgramUse) -> Vec<ProgramIdentity> {
        let mut programs = self.programs();
        if starts != ProgramUse::ToPlay {
            let cells = self.cells.iter().filter(|cell| !cell.programs.is_empty());
            let started: Vec<Program> = cells.flat_map(|cell| cell.scenario.programs(starts)).collect();
            programs.retain(|program| started.iter().any(|started| started.command == program.command));
        }
        programs
    }

    /// The plan of the same study, with the identities of its programs taken from `known`. The known identities contain
    /// the versions that the programs have stated, or they were read from a run folder. Each program gets the known
    /// identity with the same command and the same files. If there is none, it gets the first known identity with the
    /// same command whose files include the program's files. If there is no such identity either, it keeps its own.
    #[must_use]
    pub fn with_programs(mut self, known: &[ProgramIdentity]) -> Self {
        let resources = self.resources();
        let mut files = Contents::default();
        for cell in &mut self.cells {
            for program in &mut cell.programs {
                let named = |known: &&ProgramIdentity| known.command == program.command;
                let equal = |known: &&ProgramIdentity| known.files.keys().eq(program.files.keys());
                // If a file that the command names has been removed, only the known identity contains it.
                let more = |known: &&ProgramIdentity| {
                    program.files.keys().all(|file| known.files.contains_key(file))
                };
                let same = known.iter().filter(named).find(equal);
                let same = same.or_else(|| known.iter().filter(named).find(more)).cloned();
                same.into_iter().for_each(|same| *program = same);
            }
            if !cell.programs.is_empty() {
                let (scenario, programs) = (&cell.scenario, &cell.programs);
                let text = written(&settings(scenario), programs);
                cell.identity = identity(scenario, &text, programs, &resources, &mut files, &self.build);
                cell.preparation = preparation(scenario, programs, &resources, &mut files, &self.build);
            }
        }
        self
    }

    /// The folders in which files of the scenario are looked up.
    #[must_use]
    pub fn resources(&self) -> Resources {
        Resources { base: self.base.clone(), data: self.data.clone(), ..Resources::default() }
    }

    /// The identity of the running executable's build, including the members in `own`.
    #[must_use]
    pub fn this_build(&self) -> String {
        build_with(&self.own)
    }

    /// The cells' identities in order.
    pub(in crate::study) fn identities(&self) -> Vec<&str> {
        self.cells.iter().map(|cell| cell.identity.as_str()).collect()
    }

    /// Sets the replications of every cell, as `--replications` does.
    pub(in crate::study) fn set_replications(&mut self, replications: u64) {
        let Some(count) = std::num::NonZeroU64::new(replications) else { return };
        self.replications = replications;
        for cell in &mut self.cells {
            cell.scenario.set_replications(count);
        }
        self.overrides.retain(|text| !text.starts_with("replications="));
        self.overrides.push(format!("replications={replications}"));
    }

    /// The first cell's seed. Reports name it, and random numbers that belong to no single cell are derived from it. Every
    /// cell is run with [its own seed](CellPlan::seed).
    #[must_use]
    pub fn first_seed(&self) -> u64 {
        self.cells.first().map_or(0, CellPlan::seed)
    }

    /// Number of replications of all cells together.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.replications * self.cells.len() as u64
    }

    /// The beginning of the names of all run folders of this scenario.
    pub(in crate::study) fn folder_prefix(&self) -> String {
        format!("{}-", file_safe(&self.name))
    }

    /// The name of the run folder: the scenario's name, and a hash of the cells' identities.
    #[must_use]
    pub fn folder_name(&self) -> String {
        format!("{}-{}", file_safe(&self.name), self.short_hash("run", ""))
    }

    /// The name of an analysis's folder. The analysis, such as "threshold", begins with the cells of this plan, and chooses
    /// further cells to answer `question`. Different questions have different folders.
    #[must_use]
    pub fn folder_name_of(&self, analysis: &str, question: &str) -> String {
        format!("{}-{analysis}-{}", file_safe(&self.name), self.short_hash(analysis, question))
    }

    fn short_hash(&self, purpose: &str, question: &str) -> String {
        let mut identity = Identity::new(purpose);
        for cell in &self.cells {
            identity.text(&cell.identity);
        }
        if !question.is_empty() {
            identity.text(question);
        }
        identity.hex()[..10].to_owned()
    }
}

/// The programs of all cells of several plans, without duplicates.
#[must_use]
pub fn programs_of(plans: &[Plan]) -> Vec<ProgramIdentity> {
    let mut found: Vec<ProgramIdentity> = Vec::new();
    for program in plans.iter().flat_map(|plan| &plan.cells).flat_map(|cell| &cell.programs) {
        if !found.contains(program) {
            found.push(program.clone());
        }
    }
    found
}

/// The JSON text of a recipe, as it enters an identity. `programs` are programs that the recipe names. If there are any,
/// the programs' timeouts are left out, since no answer depends on a timeout.
fn written(value: &impl Serialize, programs: &[ProgramIdentity]) -> String {
    let text = if programs.is_empty() {
        serde_json::to_string(value)
    } else {
        serde_json::to_value(value).and_then(|value| serde_json::to_string(&without_timeouts(value)))
    };
    text.expect("a recipe is plain data with text keys")
}

/// The settings of a scenario that are part of the identity of its cells. Three kinds of settings are left out. The first
/// are the published results and losses, the description and the series to compare with: they change only reports. The
/// second is the number of replications: the record of replication k does not depend on it. The third is the fork: each
/// branch gets an identity of its own ([`Plan::of_branches`]).
fn settings(scenario: &Scenario) -> Draft {
    let mut draft = scenario.draft().clone();
    draft.published.clear();
    draft.published_losses.clear();
    draft.compared_with.clear();
    draft.replications = std::num::NonZeroU64::MIN;
    draft.about.clear();
    draft.fork = None;
    draft
}

/// The identity of a cell whose settings, as JSON, are `text`.
fn identity(
    scenario: &Scenario,
    text: &str,
    programs: &[ProgramIdentity],
    resources: &Resources,
    files: &mut Contents,
    build: &str,
) -> String {
    let mut identity = Identity::of_build("cell", build);
    identity.text(text);
    programs.iter().for_each(|program| identity.text(&written(program, &[])));
    if let Some(objective) = &scenario.draft().objective {
        for file in objective.as_dyn().files(resources) {
            identity.text(files.hash(file));
        }
    }
    for file in scenario.draft().files() {
        identity.text(files.hash(resources.place(&file)));
    }
    identity.hex()
}

fn preparation(
    scenario: &Scenario,
    programs: &[ProgramIdentity],
    resources: &Resources,
    files: &mut Contents,
    build: &str,
) -> String {
    let mut identity = Identity::of_build("preparation", build);
    identity.word(scenario.draft().seed);
    if let Some(objective) = &scenario.draft().objective {
        let text = serde_json::to_string(objective).expect("a recipe is plain data with text keys");
        let own = if programs.is_empty() { Vec::new() } else { programs_in_text(&text) };
        let own = programs.iter().filter(|program| own.iter().any(|(_, own)| own.command == program.command));
        let own: Vec<ProgramIdentity> = own.cloned().collect();
        identity.text(&if own.is_empty() { text } else { written(objective, &own) });
        own.iter().for_each(|program| identity.text(&written(program, &[])));
        for file in objective.as_dyn().files(resources) {
            identity.text(files.hash(file));
        }
    }
    identity.hex()
}

/// Caches hashes of files and identities of programs, so that each is computed once.
#[derive(Default)]
struct Contents {
    hashes: BTreeMap<PathBuf, String>,
    programs: Vec<(Program, ProgramIdentity)>,
}

impl Contents {
    /// The programs that are named in `text`, a scenario as JSON, without duplicates.
    fn programs(&mut self, text: &str, base: &Path) -> Vec<ProgramIdentity> {
        let mut found: Vec<ProgramIdentity> = Vec::new();
        for (_, program) in programs_in_text(text) {
            if !self.programs.iter().any(|(known, _)| *known == program) {
                let identity = program.identity(base);
                self.programs.push((program.clone(), identity));
            }
            let known = self.programs.iter().find(|(known, _)| *known == program);
            if let Some((_, identity)) = known.filter(|(_, identity)| !found.contains(identity)) {
                found.push(identity.clone());
            }
        }
        found
    }

    /// The hash of a file, or a fixed text if it cannot be read: the cell then fails later, with a message about the file.
    fn hash(&mut self, file: PathBuf) -> &str {
        self.hashes.entry(file).or_insert_with_key(|file| {
            std::fs::read(file).map_or_else(
                |_| String::from("unreadable"),
                |bytes| blake3::hash(&bytes).to_hex().to_string(),
            )
        })
    }
}
