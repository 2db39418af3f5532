//! The facts about agents that are taken as public. The ledger has no entries for these facts.

use super::overlap::Overlap;
use super::series::{Aggregate, Sharing};
use crate::network::PartyQuantity;
use crate::objectives::Instance;
use crate::protocols::stage::ReplicationSetup;
use crate::vocab::{Origin, PublicFact};
use std::collections::BTreeSet;

/// The name in the ledger for the agents as owners of the protected data.
pub(super) const PROTECTED: &str = "agents";

/// The name in the ledger for all agents as observers of what the server broadcasts.
pub const EVERY_AGENT: &str = "every agent";

/// Beginning of the public fact that speed and availability depend on the agents' data.
const TIED: &str = "how fast agents are and when they are available, which depends on ";

/// The public fact that speed and availability depend on these quantities of the agents' data.
fn tied(quantities: &BTreeSet<PartyQuantity>) -> String {
    let words = |quantity: &PartyQuantity| match quantity {
        PartyQuantity::DataSize => "how many records they hold",
        PartyQuantity::Noise => "how noisy their outcomes are",
        PartyQuantity::Heterogeneity | PartyQuantity::Speed | PartyQuantity::Availability => {
            "how much their objectives differ"
        }
    };
    let of = quantities.iter().map(words).collect::<Vec<_>>().join(" and on ");
    format!("{TIED}{of} (`together`), and so who answers in time")
}

/// The public fact about who answers and when, which the times of messages reveal.
const WHO_AND_WHEN: &str =
    "who answers in which round, and when, and so when rounds end: taken as independent of the agents' data";

/// The public fact that takes the place of [`WHO_AND_WHEN`] if the ledger has entries for who
/// answers.
const WHEN: &str = "when agents answer, given that they do, and so when rounds end: taken as independent of the agents' data";

/// The public fact that takes the place of [`WHO_AND_WHEN`] if speed and availability depend on the
/// agents' data.
const WHO_AND_WHEN_BEYOND: &str = "who answers in which round, and when, beyond what follows from how fast and how available \
                                   each agent is: taken as independent of the agents' data";

/// The public fact that takes the place of [`WHO_AND_WHEN`] if both are true: the ledger has
/// entries for who answers, and speed and availability depend on the agents' data.
const WHEN_BEYOND: &str = "when agents answer, given that they do, beyond what follows from how fast and how available each \
                           agent is: taken as independent of the agents' data";

/// Facts about the agents that are taken as public, since no privacy loss in the ledger covers them.
/// `tells` is true if silence depends on what agents measured; silence is then in the ledger.
/// `objective` holds the public facts about the problem.
pub(super) fn facts(sharing: &Sharing, tells: bool, objective: &[PublicFact]) -> Vec<PublicFact> {
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
            match aggregate.overlap {
                Overlap::WholeDomain => {}
                Overlap::CommonPoints(_) => facts.push(protocol(
                    "which points enough agents can measure: taken as independent of the agents' data",
                )),
                Overlap::CoveredRegions(_) => facts.push(protocol(
                    "which agents can measure enough of which region: taken as independent of the agents' data",
                )),
            }
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
    let tied = objective.iter().any(|fact| fact.what.starts_with(TIED));
    facts.push(protocol(match (tells, tied) {
        (false, false) => WHO_AND_WHEN,
        (true, false) => WHEN,
        (false, true) => WHO_AND_WHEN_BEYOND,
        (true, true) => WHEN_BEYOND,
    }));
    facts.push(protocol(
        "the features of shared models, and the hyperparameters that agents' models begin with",
    ));
    facts.extend(objective.iter().map(|fact| match fact.about.is_empty() {
        true => fact.clone().about(PROTECTED),
        false => fact.clone(),
    }));
    facts
}

/// The public fact about epsilons of agents; `None` if agents have no epsilons of their own.
pub(super) fn of_personal(sharing: &Sharing) -> Option<PublicFact> {
    let Sharing::Aggregate(Aggregate { personal: Some(_), .. }) = sharing else { return None };
    let what = "the epsilon of each agent, and so the probability with which it is sampled: assumed not to depend on the agent's \
                data (personalised differential privacy)";
    Some(PublicFact::new(what, Origin::Protocol).about(PROTECTED))
}

/// Public facts about the problem of a federation: the facts about its objective, about the inputs of records (if the arms
/// are records), about the records on which models are trained (if the objective trains models), and about speed and
/// availability that depend on the agents' data (`together`).
pub(super) fn of_the_problem(stage: &ReplicationSetup, instance: &Instance) -> Vec<PublicFact> {
    let parties = stage.traits.iter().filter_map(|party| party.together.as_ref());
    let told: BTreeSet<PartyQuantity> = parties.flat_map(|together| together.revealed_by_times()).collect();
    let fact = || PublicFact::new(tied(&told), Origin::ComputedFromData).about(PROTECTED);
    let tied = (!told.is_empty()).then(fact);
    let of_records = stage.inputs_of_records().into_iter().chain(stage.records_of_models());
    instance.background.public.iter().cloned().chain(of_records).chain(tied).collect()
}

/// The conditions of all privacy losses on this problem.
pub(crate) fn conditions_of(stage: &ReplicationSetup, instance: &Instance) -> Vec<String> {
    conditions(&of_the_problem(stage, instance))
}

/// The conditions of all privacy losses: each fact about the problem that was computed from protected data must be public
/// already, since no privacy loss covers it.
pub(super) fn conditions(objective: &[PublicFact]) -> Vec<String> {
    objective.iter().filter_map(PublicFact::condition).collect()
}
