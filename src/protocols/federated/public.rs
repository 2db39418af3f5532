//! What observers know of the agents besides the releases in the ledger.

use super::series::Sharing;
use crate::objectives::Instance;
use crate::protocols::stage::ReplicationSetup;
use crate::vocab::{Origin, PublicFact};

/// The name in the ledger for the agents as owners of the protected data.
pub(super) const PROTECTED: &str = "agents";

/// The name in the ledger for all agents as observers of what the server broadcasts.
pub const EVERY_AGENT: &str = "every agent";

/// Facts about the agents that no release accounts for; `objective` holds the public facts about the problem.
pub(super) fn facts(sharing: &Sharing, objective: &[PublicFact]) -> Vec<PublicFact> {
    let protocol = |what: &str| PublicFact::new(what, Origin::Protocol).about(PROTECTED);
    let mut facts = Vec::new();
    match sharing {
        Sharing::Alone(_) => return facts,
        Sharing::RandomAgent(_) => {}
        Sharing::Aggregate(aggregate) => {
            let what = match aggregate.adaptive_clip {
                None => "the bound on vectors, the noise, the sampling and every agent's weight in every sum",
                Some(_) => {
                    "the first bound on vectors and the rule by which it follows the noisy counts, the noise, the sampling \
                     and every agent's weight in every sum"
                }
            };
            facts.push(PublicFact::new(what, Origin::Stated));
            if !aggregate.selection.is_everyone() {
                facts.push(protocol(
                    "which agents are selected in which round: each agent sees whether it is; computed from public values \
                     and from the losses in the ledger, if there are any",
                ));
            }
            if aggregate.server.is_masked() {
                let what =
                    "who has set up masks, and whose answers are in each sum: the server tells the agents";
                facts.push(protocol(what));
            }
        }
    }
    let when = "who answers in which round, and when, and so when rounds end: taken as independent of the agents' data";
    facts.push(protocol(when));
    facts.push(protocol(
        "the features of shared models, and the hyperparameters that agents' models begin with",
    ));
    facts.extend(objective.iter().map(|fact| match fact.about.is_empty() {
        true => fact.clone().about(PROTECTED),
        false => fact.clone(),
    }));
    facts
}

/// Facts about the problem of a federation, as its objective and its tables state them.
pub(super) fn of_the_problem(stage: &ReplicationSetup, instance: &Instance) -> Vec<PublicFact> {
    instance.background.public.iter().cloned().chain(stage.inputs_of_records()).collect()
}

/// The conditions of all privacy losses on this problem.
pub(crate) fn conditions_of(stage: &ReplicationSetup, instance: &Instance) -> Vec<String> {
    conditions(&of_the_problem(stage, instance))
}

/// The conditions of all privacy losses: facts about the problem that were computed from protected data are public.
pub(super) fn conditions(objective: &[PublicFact]) -> Vec<String> {
    objective.iter().filter_map(PublicFact::condition).collect()
}
