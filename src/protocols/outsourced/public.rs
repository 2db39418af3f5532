//! The facts about the curator's data that the modeler knows and that no ledger entry accounts for.

use super::recipe::SeriesRecipe;
use crate::objectives::{Instance, PublicFacts};
use crate::privacy::mechanisms::JohnsonLindenstrauss;
use crate::vocab::{Origin, PublicFact};

/// What the modeler of a series knows without a release.
pub(super) fn taken_as_public(
    series: &SeriesRecipe,
    instance: &Instance,
    curator: &str,
    modeler: &str,
) -> Vec<PublicFact> {
    let PublicFacts { shape, inputs, length_scales, outcomes, model, .. } = &instance.background.facts;
    let shown = series.release.shows_inputs();
    let modelled = series.learner.as_dyn().needs_inputs();
    // The facts about the hyperparameters of the model are taken as public only if the learner has a model and they were not
    // fitted to the data. Fitted hyperparameters are released with ledger entries, and a learner without a model receives no
    // hyperparameters.
    let model = if modelled && !instance.background.fitted { &model[..] } else { &[] };
    let (inputs, length_scales) = if shown { (&inputs[..], &length_scales[..]) } else { (&[][..], &[][..]) };
    let protocol = [
        "which row is queried in which round: chosen by the modeler from what was released to it",
        "when messages arrive: delays and lost messages are drawn independently of the data",
    ];
    let protocol = protocol.map(|what| PublicFact::new(what, Origin::Protocol));
    // r is the number of columns of the projection. If r was chosen by PO-GP-UCB's design rule (`subrosa calibrate
    // --scenario`), r depends on the inputs; the scenario states only the number.
    let columns = series.release.get::<JohnsonLindenstrauss>().is_some().then(|| {
        let what = "number of columns (r), epsilon and delta of the projection: if they were chosen from the smallest singular \
                    value of the inputs, they reveal something about it";
        PublicFact::new(what, Origin::Stated).about(curator).for_observer(modeler)
    });
    let facts = shape.iter().chain(inputs).chain(length_scales).chain(outcomes).chain(model);
    let facts = facts.map(|fact| fact.clone().about(curator).for_observer(modeler));
    facts.chain(columns).chain(protocol).collect()
}
