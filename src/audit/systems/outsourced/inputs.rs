//! Audits of the release of inputs to the modeler. The neighbours differ in one record, which is moved.

use super::record_changes::{DISTANCE, RecordChange, candidate_changes, moved_as_given, rows_of};
use crate::audit::error::AuditError;
use crate::audit::mechanisms::Releases;
use crate::audit::reconstruction::reconstruct;
use crate::audit::systems::audited::AuditContext;
use crate::audit::systems::system::{Candidates, System};
use crate::audit::verdict::{Statement, upper_bound};
use crate::objectives::Instance;
use crate::privacy::mechanisms::inputs::RowsMechanism;
use crate::privacy::mechanisms::{Mechanism, Pair};
use crate::protocols::outsourced::{Outsourced, SeriesRecipe};
use crate::vocab::{Neighbours, Positive};
use std::sync::Arc;

/// One candidate for each neighbour that is tried: the release of the inputs by the mechanism of the series, on this
/// neighbour and on the data as given. The list is empty if the inputs are unprotected or not released.
pub(super) fn candidates(
    recipe: &Outsourced,
    series: &SeriesRecipe,
    instance: &Instance,
    context: &AuditContext<'_>,
) -> Result<Candidates, AuditError> {
    let rows = rows_of(instance)?;
    let mut stream = context.key.child("audit").child("neighbours").stream();
    let mut moves = match context.neighbour {
        Some(given) => vec![moved_as_given(&rows, given)?],
        None => candidate_changes(&rows, &mut stream),
    };
    let release = series.release.as_dyn();
    if release.unprotected().is_some() {
        return Ok(Vec::new());
    }
    let distance = Positive::new(DISTANCE).expect("1 is above 0");
    let Some(mechanism) = release.mechanism(rows.d(), distance, &mut stream)? else {
        return Ok(Vec::new());
    };
    let mechanism: Arc<dyn RowsMechanism> = Arc::from(mechanism);
    let worst = mechanism.worst_direction().filter(|_| context.neighbour.is_none());
    if let Some((by, place)) = worst {
        moves.insert(0, RecordChange { words: format!("record 0 moved by {DISTANCE} {place}"), row: 0, by });
    }
    let mut price = mechanism.price(&rows, &Neighbours::RowMoved { distance: DISTANCE })?;
    price.basis = price.basis.with_conditions(&instance.background.facts.input_conditions());
    let reconstruction = if mechanism.is_affine() {
        // The modeler reconstructs the records from one release and d + 1 records that the modeler is assumed to know,
        // where d is the number of inputs of a record. No reconstruction is tried if there are not more than d + 1 records.
        let z = mechanism.privatise(&rows, &mut stream)?;
        let enough = rows.n() > rows.d() + 1;
        let known = enough.then(|| stream.distinct(rows.n(), rows.d() + 1));
        known.map(|known| reconstruct(&rows, &z, &known)).transpose()?
    } else {
        None
    };
    let one = |step: RecordChange| {
        let (words, moved) = step.neighbouring_inputs(context.stage, &rows)?;
        let pair = Pair::new(rows.clone(), moved, words.clone());
        let releases = Releases::on(Arc::clone(&mechanism), pair, 1)?;
        let statement = Statement {
            name: series.name.clone(),
            about: release.about(&rows),
            neighbours: words,
            observer: recipe.modeler.clone(),
            delta: release.delta(),
            claim: price.claim.as_ref().map(|claim| (claim.epsilon, claim.source.clone())),
            proven: upper_bound(&[(&price, 1)], release.delta()),
            disjoint: releases.disjoint().map(str::to_owned),
            broken: false,
        };
        let mut system = System::new(statement, releases);
        system.reconstruction = reconstruction;
        Ok(system)
    };
    moves.into_iter().map(one).collect()
}
