//! Checks of settings that need agents with objectives, noise or records of their own.
//!
//! There are two such settings: a field `together` of parties that names a quantity of agents' data, and an objective that
//! is only for protocols whose agents have objectives of their own (`Table` or `Tuning` with `agent` or `split`).

use super::draft::Draft;
use crate::network::PartyQuantity;
use crate::protocols::ReplicationSetup;
use crate::vocab::Problem;
use std::collections::BTreeSet;

/// The problems of the fields `together`. Such a field may name a quantity of agents' data only if all parties of its entry
/// are among the parties that differ in this quantity. There is one problem for each quantity that violates this rule.
pub(super) fn problems(draft: &Draft, stage: &ReplicationSetup) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (name, party) in &draft.parties {
        let of = party.together.as_ref().map_or(&[][..], |together| &together.of);
        for (index, quantity) in of.iter().enumerate().filter(|(_, quantity)| quantity.is_of_data()) {
            let own = differing(draft, stage, *quantity);
            let members = party.named(name);
            if let Some((member, _)) = members.iter().find(|(member, _)| !own.contains(member.as_str())) {
                let (expected, found, cure) = lacking(*quantity, member, draft.protocol.name());
                let place = format!("parties[\"{name}\"].together.of[{index}]");
                problems.push(Problem::wrong(place, expected, found, cure));
            }
        }
    }
    problems
}

/// The names of the parties that differ in `quantity`, a quantity of agents' data.
fn differing<'a>(draft: &Draft, stage: &'a ReplicationSetup, quantity: PartyQuantity) -> BTreeSet<&'a str> {
    let (protocol, objective) = (draft.protocol.as_dyn(), draft.objective.as_ref());
    let places = match (quantity, objective) {
        (PartyQuantity::Noise, _) => protocol.with_own_noise(stage),
        (PartyQuantity::DataSize, Some(objective)) if !objective.as_dyn().divides_records() => Vec::new(),
        (_, Some(objective)) => protocol.with_own_objective(stage, objective.as_dyn()),
        (_, None) => Vec::new(),
    };
    places.into_iter().map(|place| stage.names[place].as_str()).collect()
}

/// The texts of a problem: what is expected of parties that differ in `quantity`, what was found at the party `member`, and
/// the cure.
fn lacking(quantity: PartyQuantity, member: &str, protocol: &str) -> (&'static str, String, &'static str) {
    match quantity {
        PartyQuantity::Noise => (
            "agents whose noise differs",
            format!("{member}, whose noise is the same as that of all others of its group"),
            "make these parties agents of Federated, in a group with `differences: Differences(noise: LogNormal(0.5))`, or leave \
             Noise out",
        ),
        PartyQuantity::DataSize => (
            "agents with records of their own",
            format!("{member}, which holds no records of its own"),
            "take an objective that divides records among the agents of Federated (FederatedTuning, or Table and Tuning with \
             `agent` or `split`), or leave DataSize out",
        ),
        PartyQuantity::Heterogeneity | PartyQuantity::Speed | PartyQuantity::Availability => (
            "agents whose objectives differ",
            format!("{member}, whose objective is the same as that of all others of {protocol}"),
            "make these parties agents of Federated that differ from each other in round 0: by a `heterogeneity` or \
             `perturbation` above 0, by `differences` (shift, scale, or several clusters), or by an objective that gives \
             each agent a function of its own; or leave Heterogeneity out",
        ),
    }
}

/// The problem of an objective that is only for protocols whose agents have objectives of their own, if the scenario's
/// protocol is not such a protocol.
/// `FederatedTuning` is not such an objective: in other protocols, its values are the means over all agents.
pub(super) fn without_agents(draft: &Draft, stage: &ReplicationSetup) -> Option<Problem> {
    let objective = draft.objective.as_ref().filter(|objective| objective.as_dyn().is_for_agents_only())?;
    let own = draft.protocol.as_dyn().with_own_objective(stage, objective.as_dyn());
    own.is_empty().then(|| {
        let name = objective.name();
        let cure = "leave `agent` and `split` out, or take the protocol Federated";
        let expected =
            "records that are not divided: this protocol has no agents with objectives of their own";
        Problem::wrong(format!("objective.{name}"), expected, "records of several agents", cure)
    })
}
