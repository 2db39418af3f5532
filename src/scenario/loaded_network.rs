//! The parties and the network of a scenario, with the contents of the files that they name.

use super::draft::{Draft, PartyDraft};
use crate::network::Network;
use crate::objectives::Instance;
use crate::protocols::{ReplicationSetup, RunOptions};
use crate::vocab::{DataFolders, Problem};
use std::collections::BTreeMap;

/// Parties and network, with the contents of the files that their models name.
#[derive(Debug)]
pub(super) struct LoadedNetwork {
    pub(super) parties: BTreeMap<String, PartyDraft>,
    pub(super) network: Network,
}

impl LoadedNetwork {
    /// Reads the files that the parties and the network of the draft name. Returns the problems of these files too.
    /// Files with relative paths are searched for in the folders of `base`.
    pub(super) fn load(draft: &Draft, base: &DataFolders) -> (Self, Vec<Problem>) {
        let mut world = Self { parties: draft.parties.clone(), network: draft.network.clone() };
        let mut problems = Vec::new();
        for (name, party) in &mut world.parties {
            let availability = party.availability.as_dyn_mut().load(base).into_iter();
            let compute = party.compute.as_dyn_mut().load(base).into_iter();
            let access = party.access.load(base).into_iter().map(|p| p.below("access"));
            let all =
                availability.map(|p| p.below("availability")).chain(compute.map(|p| p.below("compute")));
            let all = all.chain(access);
            problems.extend(all.map(|p| p.below(&format!("parties[\"{name}\"]"))));
        }
        problems.extend(world.network.load(base).into_iter().map(|problem| problem.below("network")));
        (world, problems)
    }

    /// The setup of one replication, with default run options.
    pub(super) fn stage(&self, draft: &Draft, instance: Option<Instance>) -> ReplicationSetup {
        let parties = self.parties.iter().flat_map(|(name, party)| party.named(name));
        let (names, traits) = parties.unzip();
        ReplicationSetup {
            names,
            traits,
            network: self.network.clone(),
            instance,
            prepared: None,
            budget: draft.privacy.budget,
            watcher: None,
            options: RunOptions::default(),
        }
    }
}
