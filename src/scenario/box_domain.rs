//! The check that the protocol of a scenario can search the box of its objective.

use super::draft::Draft;
use crate::objectives::ObjectiveModel;
use crate::vocab::Problem;

/// The problem of an objective on a box, in a protocol that needs a finite set of arms.
pub(super) fn not_searched(draft: &Draft, objective: &ObjectiveModel) -> Option<Problem> {
    let (protocol, name) = (draft.protocol.as_dyn(), objective.name());
    objective.as_dyn().domain().filter(|_| protocol.needs_objective() && !protocol.searches_boxes())?;
    let (field, cure) = objective.as_dyn().finite_instead();
    let reason = protocol.needs_arms_because();
    Some(Problem::wrong(
        format!("objective.{name}.{field}"),
        format!("a finite set of arms, which {} needs: {reason}", draft.protocol.name()),
        "the points of a box",
        cure,
    ))
}
