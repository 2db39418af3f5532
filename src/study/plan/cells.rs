//! A study before it is played: its cells, in order, and how often each is repeated.

use crate::objectives::Resources;
use crate::scenario::{OwnMember, Scenario};
use crate::study::plan::identity::{Identity, build_with};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// One cell: a scenario without any `Each` left, and where it stands in the study.
#[derive(Debug)]
pub struct CellPlan {
    /// Value of each `Each` by its name, as written in RON. Empty for a study of one cell.
    pub point: Vec<(String, String)>,
    /// The checked scenario.
    pub scenario: Scenario,
    /// Hash of all that the cell's results depend on, the number of replications apart.
    pub identity: String,
    /// Hash of all that the preparation of its objective depends on: cells that share it share the work.
    pub preparation: String,
}

impl CellPlan {
    /// The seed that its replications are drawn from. Cells may differ in it.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.scenario.draft().seed
    }
}

/// A study before it is played.
#[derive(Debug)]
pub struct Plan {
    /// Name of the scenario.
    pub name: String,
    /// The scenario file as written.
    pub source: String,
    /// Overrides of the command line, `path=RON`.
    pub overrides: Vec<String>,
    /// Folder that relative paths of the scenario begin at.
    pub base: PathBuf,
    /// A further folder that files are looked for in.
    pub data: Option<PathBuf>,
    /// Replications of every cell.
    pub replications: u64,
    /// The cells in order.
    pub cells: Vec<CellPlan>,
    /// The build of the program that the cells' identities are of.
    pub build: String,
    /// The members of the program's own that the cells name.
    pub own: Vec<OwnMember>,
}

/// The members of the program's own that scenarios name, each once.
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
    /// A plan for this program from checked scenarios, one per cell, each with its point.
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

    /// The plan that a program of another build would make, to find what it left and to play it again.
    ///
    /// # Panics
    /// As [`Plan::new`].
    #[must_use]
    pub fn of_build(
        source: String,
        overrides: Vec<String>,
        resources: &Resources,
        cells: Vec<(Vec<(String, String)>, Scenario)>,
        build: &str,
    ) -> Self {
        let own = own(&cells);
        // The cells of a study as a rule read the same files.
        let mut files = Contents::default();
        let cells: Vec<CellPlan> = cells
            .into_iter()
            .map(|(point, scenario)| CellPlan {
                identity: identity(&scenario, resources, &mut files, build),
                preparation: preparation(&scenario, resources, &mut files, build),
                point,
                scenario,
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
        }
    }

    /// The build of this program, for the members that the cells name.
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

    /// The first cell's seed, for titles: every cell is played from [its own](CellPlan::seed).
    #[must_use]
    pub fn first_seed(&self) -> u64 {
        self.cells.first().map_or(0, CellPlan::seed)
    }

    /// Replications of all cells.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.replications * self.cells.len() as u64
    }

    /// What every folder of a run of this name begins with.
    pub(in crate::study) fn folder_prefix(&self) -> String {
        format!("{}-", file_safe(&self.name))
    }

    /// The name of the run folder: the scenario's name and what distinguishes it from others of that name.
    #[must_use]
    pub fn folder_name(&self) -> String {
        let mut identity = Identity::new("run");
        for cell in &self.cells {
            identity.text(&cell.identity);
        }
        format!("{}-{}", file_safe(&self.name), &identity.hex()[..10])
    }
}

fn identity(scenario: &Scenario, resources: &Resources, files: &mut Contents, build: &str) -> String {
    let mut identity = Identity::of_build("cell", build);
    let mut draft = scenario.draft().clone();
    // Neither changes a result: published figures are only printed, and replication k does not depend on how
    // many there are.
    draft.published.clear();
    draft.replications = std::num::NonZeroU64::MIN;
    draft.about.clear();
    draft.fork = None;
    identity.text(&serde_json::to_string(&draft).expect("a draft is plain data with text keys"));
    if let Some(objective) = &scenario.draft().objective {
        for file in objective.as_dyn().files(resources) {
            identity.text(files.hash(file));
        }
    }
    for file in draft.files() {
        identity.text(files.hash(resources.place(&file)));
    }
    identity.hex()
}

fn preparation(scenario: &Scenario, resources: &Resources, files: &mut Contents, build: &str) -> String {
    let mut identity = Identity::of_build("preparation", build);
    identity.word(scenario.draft().seed);
    if let Some(objective) = &scenario.draft().objective {
        identity.text(&serde_json::to_string(objective).expect("a recipe is plain data with text keys"));
        for file in objective.as_dyn().files(resources) {
            identity.text(files.hash(file));
        }
    }
    identity.hex()
}

/// Hashes of files, each read once.
#[derive(Default)]
struct Contents(BTreeMap<PathBuf, String>);

impl Contents {
    /// The hash of a file. One that cannot be read now makes the cell fail later, with its own message.
    fn hash(&mut self, file: PathBuf) -> &str {
        self.0.entry(file).or_insert_with_key(|file| {
            std::fs::read(file).map_or_else(
                |_| String::from("unreadable"),
                |bytes| blake3::hash(&bytes).to_hex().to_string(),
            )
        })
    }
}

/// Letters, digits, `-`, `_` and `.` stay; anything else becomes `-`.
fn file_safe(name: &str) -> String {
    let safe: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' })
        .take(80)
        .collect();
    let safe = safe.trim_start_matches('.').to_owned();
    if safe.is_empty() { "scenario".to_owned() } else { safe }
}

#[cfg(test)]
mod tests {
    use super::file_safe;

    #[test]
    fn names_become_safe_file_names() {
        assert_eq!(file_safe("hospital"), "hospital");
        assert_eq!(file_safe("../../etc/passwd"), "-..-etc-passwd");
        assert_eq!(file_safe("a b/c"), "a-b-c");
        assert_eq!(file_safe("…"), "-");
        assert_eq!(file_safe(".."), "scenario");
    }
}
