//! A valid scenario: a draft that has passed all checks.

use super::demand::Demand;
use super::dependence;
use super::differing_values::unlike;
use super::draft::{Draft, PartyDraft};
use super::loaded_network::LoadedNetwork;
use super::named_programs::{absent_programs, programs_in};
use super::special_files::special_files;
use super::{box_domain, limits, names};
use crate::network::Network;
use crate::network::availability::AvailabilityModel;
use crate::objectives::{Extent, Instance, ObjectiveModel, Resources};
use crate::programs::{Program, ProgramUse};
use crate::protocols::ReplicationSetup;
use crate::vocab::effort::{MESSAGE, PROGRAM};
use crate::vocab::{Effort, Problem};
use serde_json::Value;
use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::sync::Arc;

/// A draft without errors, together with the contents of the files that are named in the models of its parties and of its
/// network.
///
/// Code outside of this crate gets a `Scenario` only from [`Scenario::check`] or, for the cells of a study, from
/// [`Document::cells`](super::Document::cells):
/// ```
/// use subrosa::objectives::Resources;
/// use subrosa::scenario::{Draft, Scenario};
///
/// fn checked(draft: Draft) -> Option<Scenario> {
///     Scenario::check(draft, &Resources::default()).ok()
/// }
/// ```
/// An unchecked draft is not a scenario:
/// ```compile_fail
/// use subrosa::scenario::{Draft, Scenario};
///
/// fn unchecked(draft: Draft) -> Scenario {
///     Scenario { draft, ..panic!() }
/// }
/// ```
/// and a checked one cannot be changed:
/// ```compile_fail
/// fn unchecked(scenario: &mut subrosa::scenario::Scenario) {
///     scenario.draft.parties.clear();
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Scenario {
    draft: Draft,
    /// The parties and the network, with the contents of their files; shared by all cells of a study with the same
    /// parties and network.
    world: Arc<LoadedNetwork>,
    demand: Demand,
}

impl Scenario {
    /// Checks everything that involves several fields or files, and reads the files that are named in the models of the
    /// parties and of the network.
    ///
    /// # Errors
    /// All problems of the first step that finds any. The first step checks limits, names, files and programs. The
    /// second step checks parties, network, objective, protocol and budget. The third step checks what depends on the
    /// size of the objective, such as the number of arms.
    pub fn check(draft: Draft, resources: &Resources) -> Result<Self, Vec<Problem>> {
        Self::check_with_known_parts(draft, &mut CheckedParts::new(resources), None)
    }

    /// As [`Scenario::check`], for a cell of a study: parts that are equal to those of an earlier cell are not checked or
    /// loaded again. `last` is the last cell without problems.
    pub(super) fn check_with_known_parts(
        mut draft: Draft,
        known: &mut CheckedParts<'_>,
        last: Option<&Self>,
    ) -> Result<Self, Vec<Problem>> {
        if let Some(last) = last {
            // No check depends on the seed.
            let seed = std::mem::replace(&mut draft.seed, last.draft.seed);
            let same = draft == last.draft;
            draft.seed = seed;
            if same {
                return Ok(Self { draft, world: Arc::clone(&last.world), demand: last.demand.clone() });
            }
        }
        // Limits and names are checked first: a list of parties could be very long, and later messages quote names.
        let plain = serde_json::to_value(&draft).unwrap_or_default();
        // `known.plain` is null or the draft of an earlier cell, which has passed these checks. Values that it has at the
        // same places are not checked again.
        let new_values = unlike(&plain, &known.plain);
        let mut problems = limits::problems(&draft, &new_values);
        problems.extend(names::problems(&new_values));
        problems.extend(special_files(&new_values, "", known.resources));
        problems.extend(absent_programs(&draft, &plain, known.resources));
        if !problems.is_empty() {
            return Err(problems);
        }
        known.plain = plain;
        let place = known.worlds.iter().position(|world| world.is_of(&draft));
        let seen = match place {
            Some(place) => known.worlds.swap_remove(place),
            None => {
                let (world, found) = LoadedNetwork::load(&draft, &known.resources.folders());
                problems.extend(found);
                let written = (draft.parties.clone(), draft.network.clone());
                let stage = world.stage(&draft, None);
                CheckedNetwork { written, world: Arc::new(world), stage }
            }
        };
        let stage = ReplicationSetup { budget: draft.privacy.budget, ..seen.stage };
        let mut scenario = Self { draft, world: Arc::clone(&seen.world), demand: Demand::default() };
        let extent = known.extent_of(&scenario.draft.objective);
        let new_objective = extent.is_none();
        problems.extend(scenario.problems(known.resources, &stage, place.is_none(), new_objective));
        if !problems.is_empty() {
            return Err(problems);
        }
        let extent = extent.unwrap_or_else(|| {
            let extent = scenario.extent(known.resources);
            known.objectives.truncate(KEPT - 1);
            known.objectives.push((scenario.draft.objective.clone(), extent.clone()));
            extent
        });
        let problems = scenario.problems_of_size(&stage, &extent);
        if !problems.is_empty() {
            return Err(problems);
        }
        let programs = programs_in(&known.plain).len();
        scenario.demand = scenario.resource_demand(&stage, extent, programs);
        known.worlds.truncate(KEPT - 1);
        known.worlds.push(CheckedNetwork { stage, ..seen });
        Ok(scenario)
    }

    /// The draft as written; the contents of files are not part of it.
    #[must_use]
    pub fn draft(&self) -> &Draft {
        &self.draft
    }

    /// An estimate of the memory and time that the scenario's replications take, from counts such as the number of arms.
    #[must_use]
    pub fn demand(&self) -> &Demand {
        &self.demand
    }

    /// The size of the optimisation problems that the objective creates, such as the number of arms.
    fn extent(&self, resources: &Resources) -> Extent {
        let Some(objective) = &self.draft.objective else { return Extent::of(0, 0) };
        let (of, path) = (objective.as_dyn(), format!("objective.{}", objective.name()));
        let continued_by_surrogate = !of.continues() && of.domain().is_none();
        let always_the_same = of.is_always_the_same();
        Extent { always_the_same, continued_by_surrogate, ..of.extent(resources).at(&path) }
    }

    /// The problems of the protocol with the parties of `stage` and an objective of the size `extent`.
    fn problems_of_size(&self, stage: &ReplicationSetup, extent: &Extent) -> Vec<Problem> {
        let protocol = &self.draft.protocol;
        let placed = |problem: Problem| match problem.path.strip_prefix('/') {
            Some(path) => Problem { path: path.to_owned(), ..problem },
            None => problem.below(protocol.name()).below("protocol"),
        };
        protocol.as_dyn().problems_of_size(stage, extent).into_iter().map(placed).collect()
    }

    fn resource_demand(&self, stage: &ReplicationSetup, extent: Extent, programs: usize) -> Demand {
        let protocol = &self.draft.protocol;
        let play = protocol.as_dyn().effort(stage, &extent).below(&format!("protocol.{}", protocol.name()));
        let count = |party: &PartyDraft| party.count.map_or(1, |count| u64::from(count.get()));
        let largest = self.world.parties.iter().max_by_key(|(_, party)| count(party));
        let largest = largest.map_or_else(String::new, |(name, _)| format!("/parties[\"{name}\"].count"));
        let parties = stage.names.len() as u64;
        let setup = Effort::due_to(largest, parties, PARTY * parties as f64, MESSAGE * parties as f64)
            .and(Effort::new(0.0, PROGRAM * programs as f64));
        Demand { shared: extent.prepared, each: setup.and(extent.drawn).and(play) }
    }

    /// The programs that the given use of the scenario starts.
    #[must_use]
    pub fn programs(&self, starts: ProgramUse) -> Vec<Program> {
        let plain = serde_json::to_value(&self.draft).unwrap_or_default();
        let started =
            programs_in(&plain).into_iter().filter(|(path, _)| self.draft.starts_program(path, starts));
        started.map(|(_, program)| program).collect()
    }

    /// The network, with the contents of the files that its models name.
    pub(super) fn network(&self) -> &Network {
        &self.world.network
    }

    /// Sets another number of replications, from 1 to `MAX_REPLICATIONS`. No check of the scenario depends on this number,
    /// so the scenario stays valid. Whether the run then fits the memory limit ([`Demand`]) is not checked again.
    pub(crate) fn set_replications(&mut self, count: NonZeroU64) {
        debug_assert!(count.get() <= limits::MAX_REPLICATIONS, "the command line lets no more through");
        self.draft.replications = count;
    }

    /// The setup of one replication: parties, network, and `instance` as its objective.
    #[must_use]
    pub fn stage(&self, instance: Option<Instance>) -> ReplicationSetup {
        self.world.stage(&self.draft, instance)
    }

    /// The scenario as RON, with defaults written out. Some fields are left out if they are empty or absent.
    #[must_use]
    pub fn resolved(&self) -> String {
        let config = ron::ser::PrettyConfig::new().struct_names(true).extensions(super::EXTENSIONS);
        let mut text = ron::ser::to_string_pretty(&self.draft, config)
            .expect("a draft is plain data that RON can express");
        text.push('\n');
        text
    }

    /// The problems of the second step of [`Self::check`]. Parties, network and objective are checked only if they are new,
    /// that is, not those of an earlier cell.
    fn problems(
        &self,
        resources: &Resources,
        stage: &ReplicationSetup,
        new_world: bool,
        new_objective: bool,
    ) -> Vec<Problem> {
        let draft = &self.draft;
        let mut problems = Vec::new();
        if draft.name.trim().is_empty() {
            problems.push(Problem::wrong("name", "a short name", "an empty text", "name the scenario"));
        }
        if draft.parties.is_empty() {
            let cure = "write parties: { \"name\": Party() }";
            problems.push(Problem::wrong("parties", "at least one party", "none", cure));
        }
        if new_world {
            for (name, party) in &self.world.parties {
                let place = format!("parties[\"{name}\"]");
                problems.extend(party.problems().into_iter().map(|p| p.below(&place)));
            }
            let found = self.world.network.problems(&stage.names, &stage.traits);
            problems.extend(found.into_iter().map(|p| p.below("network")));
            problems.extend(self.unreachable());
        }
        problems.extend(dependence::problems(draft, stage));
        if let Some(objective) = &draft.objective {
            let name = objective.name();
            let found = if new_objective { objective.as_dyn().problems(resources) } else { Vec::new() };
            problems.extend(found.into_iter().map(|p| p.below(name).below("objective")));
            problems.extend(dependence::without_agents(draft, stage));
            problems.extend(box_domain::not_searched(draft, objective));
            let found = draft.protocol.as_dyn().problems_with(objective.as_dyn());
            problems.extend(found.into_iter().map(|p| p.below(draft.protocol.name()).below("protocol")));
        } else if draft.protocol.as_dyn().needs_objective() {
            let cure = "add objective: GpSample(..), BraninHoo(..) or Table(..)";
            problems.push(Problem::wrong("objective", "an objective for this protocol", "none", cure));
        }
        let name = draft.protocol.name();
        let mut found = draft.protocol.as_dyn().problems(stage);
        if found.is_empty() {
            found.extend(self.repeated_series_names());
        }
        problems.extend(found.into_iter().map(|p| p.below(name).below("protocol")));
        problems.extend(self.memory_loss());
        problems.extend(self.budget_without_releases());
        let series = draft.protocol.as_dyn().series();
        let figures = draft.published.iter().map(|figure| &figure.series).enumerate();
        let figures = figures.map(|(index, name)| (format!("published[{index}].series"), name));
        let losses = draft.published_losses.iter().map(|loss| &loss.series).enumerate();
        let losses = losses.map(|(index, name)| (format!("published_losses[{index}].series"), name));
        let references = draft.compared_with.iter().enumerate();
        let references = references.map(|(index, name)| (format!("compared_with[{index}]"), name));
        for (path, name) in figures.chain(losses).chain(references) {
            if !series.contains(name) {
                problems.push(Problem::unknown(path, "series", name, &series));
            }
        }
        problems
    }

    /// A problem for each series that has the name of an earlier series. The path of the problem is relative to the
    /// protocol's recipe. If exactly one list of the recipe has as many items as there are series, the path is that of the
    /// series' item in this list. Otherwise the path is empty: it is that of the recipe itself.
    fn repeated_series_names(&self) -> Vec<Problem> {
        let protocol = &self.draft.protocol;
        let names = protocol.as_dyn().series();
        let repeated = |index: &usize| names[..*index].contains(&names[*index]);
        let repeated: Vec<usize> = (1..names.len()).filter(repeated).collect();
        if repeated.is_empty() {
            return Vec::new();
        }
        let plain = serde_json::to_value(protocol).unwrap_or_default();
        let fields = plain.as_object().and_then(|recipe| recipe.values().next()?.as_object());
        let fields = fields.into_iter().flatten();
        let mut lists = fields.filter(|(_, value)| value.as_array().map(Vec::len) == Some(names.len()));
        let list = lists.next().filter(|_| lists.next().is_none()).map(|(field, _)| field.as_str());
        let problem = |index: usize| {
            let place = list.map_or_else(String::new, |field| format!("{field}[{index}]"));
            let cure =
                "give each series a name of its own, by a field of the protocol's recipe, or leave one out";
            Problem::wrong(place, "a name that no earlier series has", format!("{:?}", names[index]), cure)
        };
        repeated.into_iter().map(problem).collect()
    }

    /// The problem of a budget for a unit that no release is about: the budget would limit nothing.
    fn budget_without_releases(&self) -> Option<Problem> {
        let unit = self.draft.privacy.budget?.unit?;
        let known = self.draft.protocol.as_dyn().units();
        if known.contains(&unit) {
            return None;
        }
        let known: Vec<String> = known.iter().map(|known| format!("{known:?}")).collect();
        let expected =
            if known.is_empty() { "no budget: nothing is released".to_owned() } else { known.join(" or ") };
        let cure = match known.is_empty() {
            true => "leave `budget` out",
            false => "name one of these units, or leave `unit` out, which limits every unit",
        };
        Some(Problem::wrong(
            "privacy.budget.unit",
            expected,
            format!("{unit:?}, which no release of {} is about", self.draft.protocol.name()),
            cure,
        ))
    }

    /// The problem of crashes that lose memory, in a protocol whose parties cannot recover from such a loss. Only the first
    /// party with such crashes is named.
    fn memory_loss(&self) -> Option<Problem> {
        let protocol = &self.draft.protocol;
        if protocol.as_dyn().survives_memory_loss() {
            return None;
        }
        let forgets = |party: &PartyDraft| party.availability.as_dyn().loses_memory();
        let (name, _) = self.world.parties.iter().find(|(_, party)| forgets(party))?;
        Some(Problem::wrong(
            format!("parties[\"{name}\"].availability"),
            "crashes that keep the memory",
            format!("memory: Lost, but no party of {} can go on without its memory", protocol.name()),
            "write memory: Kept",
        ))
    }

    /// The problems of parties that are never online and links that lose every message: requests would be repeated
    /// without end.
    fn unreachable(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let never_online = |model: &AvailabilityModel| !model.as_dyn().ever_available();
        for (name, party) in &self.world.parties {
            if never_online(&party.availability) {
                problems.push(Problem::wrong(
                    format!("parties[\"{name}\"].availability"),
                    "a party that is online at some time",
                    "a party that is never online",
                    "raise its availability above 0, or leave the party out",
                ));
            }
        }
        let network = &self.world.network;
        let rules =
            network.links.iter().enumerate().map(|(i, rule)| (format!("links[{i}].loss"), &rule.loss));
        let default = std::iter::once(("default.loss".to_owned(), &network.default.loss));
        for (path, loss) in default.chain(rules) {
            if loss.as_dyn().mean() >= 1.0 {
                problems.push(Problem::wrong(
                    format!("network.{path}"),
                    "a link that delivers some messages",
                    "a loss of 1: every message is lost, and retries never end",
                    "lower the loss below 1, or leave the party out",
                ));
            }
        }
        problems
    }
}

/// The parts of a study's cells that were checked without errors; cells usually share parties, network and objective.
#[derive(Debug)]
pub(super) struct CheckedParts<'a> {
    resources: &'a Resources,
    /// The last draft without a problem of limits, names, files or programs, as JSON.
    plain: Value,
    worlds: Vec<CheckedNetwork>,
    objectives: Vec<(Option<ObjectiveModel>, Extent)>,
}

/// Bytes of a party in every protocol: its name, its connections, its streams of random numbers.
const PARTY: f64 = 1_000.0;

/// Largest number of checked networks (with their parties), and of checked objectives, that are kept for
/// reuse.
const KEPT: usize = 64;

/// Parties and network without errors, with their values in the draft for comparison.
#[derive(Debug)]
struct CheckedNetwork {
    written: (BTreeMap<String, PartyDraft>, Network),
    world: Arc<LoadedNetwork>,
    stage: ReplicationSetup,
}

impl CheckedNetwork {
    fn is_of(&self, draft: &Draft) -> bool {
        self.written.0 == draft.parties && self.written.1 == draft.network
    }
}

impl<'a> CheckedParts<'a> {
    pub(super) fn new(resources: &'a Resources) -> Self {
        Self { resources, plain: Value::Null, worlds: Vec::new(), objectives: Vec::new() }
    }

    /// The size of an objective that was checked before.
    fn extent_of(&self, objective: &Option<ObjectiveModel>) -> Option<Extent> {
        let known = self.objectives.iter().find(|(known, _)| known == objective);
        known.map(|(_, extent)| extent.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::parse::parse;
    use crate::scenario::sweep::EditedText;

    #[test]
    fn files_are_read_into_the_scenario_and_the_draft_stays_as_written() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("delays.csv"), "s\n0.02\n0.04\n").unwrap();
        let text = r#"Scenario(
            name: "delays", seed: 1, parties: { "a": Party(), "b": Party() },
            network: Network(topology: Mesh(), default: Link(latency: Empirical(file: "delays.csv", column: "s"))),
            protocol: Echo(caller: "a", rounds: 2),
        )"#;
        let draft: Draft = parse(&EditedText::unchanged(text)).unwrap();
        let resources = Resources { base: folder.path().to_owned(), ..Resources::default() };
        let scenario = Scenario::check(draft.clone(), &resources).unwrap();
        assert_eq!(scenario.draft(), &draft);
        let law = &scenario.stage(None).network.default.latency;
        assert!((law.as_dyn().mean_seconds() - 0.03).abs() < 1e-12);
        drop(folder);
        assert!(Scenario::check(draft, &resources).is_err());
    }
}
