//! Checks of parties whose speed or availability is to depend on their heterogeneity, which only the protocol knows.

use super::draft::Draft;
use crate::network::PartyQuantity;
use crate::protocols::ReplicationSetup;
use crate::vocab::Problem;
use std::collections::BTreeSet;

/// A problem for each entry whose `together` names heterogeneity although its parties have no objectives of their own.
pub(super) fn problems(draft: &Draft, stage: &ReplicationSetup) -> Vec<Problem> {
    let named = |of: &[PartyQuantity]| of.iter().position(|of| *of == PartyQuantity::Heterogeneity);
    let entries = draft.parties.iter().filter_map(|(name, party)| {
        let index = named(&party.together.as_ref()?.of)?;
        Some((name, party, index))
    });
    let mut problems = Vec::new();
    for (name, party, index) in entries {
        let protocol = draft.protocol.as_dyn();
        let own =
            draft.objective.as_ref().map(|objective| protocol.with_own_objective(stage, objective.as_dyn()));
        let own: BTreeSet<&str> =
            own.into_iter().flatten().map(|place| stage.names[place].as_str()).collect();
        let members = party.named(name);
        if let Some((member, _)) = members.iter().find(|(member, _)| !own.contains(member.as_str())) {
            problems.push(Problem::wrong(
                format!("parties[\"{name}\"].together.of[{index}]"),
                "agents whose objectives differ",
                format!("{member}, which has the same objective as all other agents of {}", draft.protocol.name()),
                "make these parties agents of Federated that differ from each other in round 0: by a `heterogeneity` or \
                 `perturbation` above 0, by `differences` (shift, scale, or several clusters), or by an objective that has \
                 one for each agent; or leave Heterogeneity out",
            ));
        }
    }
    problems
}
