//! A scenario that can be played: the draft after every cross-field check.

use super::draft::{Draft, PartyDraft};
use super::limits;
use crate::network::availability::AvailabilityModel;
use crate::objectives::{Instance, Resources};
use crate::protocols::{Directions, Stage};
use crate::vocab::Problem;

/// A draft in which nothing is wrong.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// What its author wrote.
    pub draft: Draft,
}

impl Scenario {
    /// Checks all that no single field can tell, files included.
    ///
    /// # Errors
    /// Every problem there is, at once.
    pub fn check(mut draft: Draft, resources: &Resources) -> Result<Self, Vec<Problem>> {
        let mut problems = draft.load(&resources.base);
        let scenario = Self { draft };
        problems.extend(scenario.problems(resources));
        if problems.is_empty() { Ok(scenario) } else { Err(problems) }
    }

    /// The world of one replication.
    #[must_use]
    pub fn stage(&self, instance: Option<Instance>) -> Stage {
        let parties = self.draft.parties.iter().flat_map(|(name, party)| party.named(name));
        let (names, traits) = parties.unzip();
        Stage {
            names,
            traits,
            network: self.draft.network.clone(),
            instance,
            prepared: None,
            budget: self.draft.privacy.budget,
            watcher: None,
            directions: Directions::default(),
        }
    }

    /// The scenario as RON, with every default written out.
    #[must_use]
    pub fn resolved(&self) -> String {
        let config = ron::ser::PrettyConfig::new().struct_names(true).extensions(super::EXTENSIONS);
        let mut text = ron::ser::to_string_pretty(&self.draft, config)
            .expect("a draft is plain data that RON can express");
        text.push('\n');
        text
    }

    fn problems(&self, resources: &Resources) -> Vec<Problem> {
        let draft = &self.draft;
        let stage = self.stage(None);
        let mut problems = Vec::new();
        if draft.name.trim().is_empty() {
            problems.push(Problem::wrong("name", "a short name", "an empty text", "name the scenario"));
        }
        if draft.parties.is_empty() {
            let cure = "write parties: { \"name\": Party() }";
            problems.push(Problem::wrong("parties", "at least one party", "none", cure));
        }
        for (name, party) in &draft.parties {
            let place = format!("parties[\"{name}\"]");
            problems.extend(party.problems().into_iter().map(|p| p.below(&place)));
        }
        problems.extend(
            draft.network.problems(&stage.names, &stage.traits).into_iter().map(|p| p.below("network")),
        );
        if let Some(objective) = &draft.objective {
            let name = objective.name();
            let found = objective.as_dyn().problems(resources);
            problems.extend(found.into_iter().map(|p| p.below(name).below("objective")));
        } else if draft.protocol.as_dyn().needs_objective() {
            let cure = "add objective: GpSample(..), BraninHoo(..) or Table(..)";
            problems.push(Problem::wrong("objective", "an objective for this protocol", "none", cure));
        }
        problems.extend(limits::problems(draft));
        let name = draft.protocol.name();
        let found = draft.protocol.as_dyn().problems(&stage);
        problems.extend(found.into_iter().map(|p| p.below(name).below("protocol")));
        problems.extend(self.unreachable());
        problems.extend(self.amnesia());
        problems.extend(self.idle_budget());
        let series = draft.protocol.as_dyn().series();
        let figures = draft.published.iter().map(|figure| &figure.series).enumerate();
        let figures = figures.map(|(index, name)| (format!("published[{index}].series"), name));
        let losses = draft.published_losses.iter().map(|loss| &loss.series).enumerate();
        let losses = losses.map(|(index, name)| (format!("published_losses[{index}].series"), name));
        for (path, name) in figures.chain(losses) {
            if !series.contains(name) {
                problems.push(Problem::unknown(path, "series", name, &series));
            }
        }
        problems
    }

    /// A budget for a unit that no release is about: it would limit nothing.
    fn idle_budget(&self) -> Option<Problem> {
        let unit = self.draft.privacy.budget?.unit?;
        let known = self.draft.protocol.as_dyn().units();
        if known.iter().any(|known| unit.covers(known)) {
            return None;
        }
        let known: Vec<String> = known.iter().map(|known| format!("{known:?}")).collect();
        let expected =
            if known.is_empty() { "no budget: nothing is released".to_owned() } else { known.join(" or ") };
        Some(Problem::wrong(
            "privacy.budget.unit",
            expected,
            format!("{unit:?}, which no release of {} is about", self.draft.protocol.name()),
            "name that unit, or leave the field out: then every unit is limited",
        ))
    }

    /// Crashes that the protocol's parties cannot come back from.
    fn amnesia(&self) -> Option<Problem> {
        let protocol = &self.draft.protocol;
        if protocol.as_dyn().survives_amnesia() {
            return None;
        }
        let forgets = |party: &PartyDraft| party.availability.as_dyn().loses_memory();
        let (name, _) = self.draft.parties.iter().find(|(_, party)| forgets(party))?;
        Some(Problem::wrong(
            format!("parties[\"{name}\"].availability"),
            "crashes that keep the memory",
            format!("memory: Lost, and no party of {} can start again in the middle", protocol.name()),
            "write memory: Kept",
        ))
    }

    /// Parties or links that nothing ever gets through: a question would be asked for ever.
    fn unreachable(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let deaf = |model: &AvailabilityModel| !model.as_dyn().ever_available();
        for (name, party) in &self.draft.parties {
            if deaf(&party.availability) {
                problems.push(Problem::wrong(
                    format!("parties[\"{name}\"].availability"),
                    "a party that hears something now and then",
                    "a party that never hears anything",
                    "raise its availability above 0, or leave the party out",
                ));
            }
        }
        let network = &self.draft.network;
        let rules =
            network.links.iter().enumerate().map(|(i, rule)| (format!("links[{i}].loss"), &rule.loss));
        let default = std::iter::once(("default.loss".to_owned(), &network.default.loss));
        for (path, loss) in default.chain(rules) {
            if loss.as_dyn().mean() >= 1.0 {
                problems.push(Problem::wrong(
                    format!("network.{path}"),
                    "a link that lets something through",
                    "a loss of 1: every message is lost, and retries never end",
                    "lower the loss below 1, or leave the party out",
                ));
            }
        }
        problems
    }
}
