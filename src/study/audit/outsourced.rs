//! Outsourced optimisation: one record moved by the allowed distance, seen by the modeler.

use super::{Candidates, System};
use crate::objectives::Instance;
use crate::privacy::audit::{ProjectionAudit, Statement, reconstruct};
use crate::privacy::mechanisms::{JohnsonLindenstrauss, Mechanism, Rows};
use crate::protocols::Stage;
use crate::protocols::outsourced::{InputRelease, Outsourced};
use crate::rng::{Key, Stream};
use crate::vocab::{Basis, Neighbours};

/// A neighbour moves a record by this much in the scaled inputs.
const DISTANCE: f64 = 1.0;
/// Random records that are moved in random directions.
const RANDOM: u64 = 2;

pub(super) fn systems(recipe: &Outsourced, stage: &Stage, key: Key) -> Result<Vec<(String, Candidates)>, String> {
    let instance = stage.instance.as_ref().ok_or("the scenario has no objective")?;
    let rows = rows_of(instance)?;
    let mut found = Vec::new();
    for series in &recipe.series {
        let candidates = match &series.release {
            InputRelease::JohnsonLindenstrauss(mechanism) => {
                projection(&series.name, &recipe.modeler, mechanism, &rows, key)?
            }
            // Nothing is claimed for them.
            InputRelease::Disclosure(_) | InputRelease::Withheld(_) => Vec::new(),
        };
        found.push((series.name.clone(), candidates));
    }
    Ok(found)
}

fn rows_of(instance: &Instance) -> Result<Rows, String> {
    let inputs = &instance.inputs;
    Rows::new(inputs.n(), inputs.d(), inputs.row_major().to_vec()).map_err(|error| error.to_string())
}

/// Neighbours by the words that describe them: an extreme record, one in the middle, and random ones.
pub(super) fn moved_rows(rows: &Rows, stream: &mut Stream) -> Result<Vec<(String, Rows)>, String> {
    let centred = rows.centred();
    let norm = |row: usize| centred.row(row).iter().map(|v| v * v).sum::<f64>().sqrt();
    let by_norm = |far: bool| {
        (0..rows.n()).fold(0, |best, row| if (norm(row) > norm(best)) == far && norm(row) != norm(best) { row } else { best })
    };
    let (far, near) = (by_norm(true), by_norm(false));
    let outwards = |row: usize| -> Vec<f64> {
        let length = norm(row);
        if length > 0.0 {
            centred.row(row).iter().map(|v| v / length).collect()
        } else {
            (0..rows.d()).map(|j| if j == 0 { 1.0 } else { 0.0 }).collect()
        }
    };
    let mut chosen = vec![
        (format!("the outermost record, {far}, moved outwards by {DISTANCE}"), far, outwards(far)),
        (format!("the record nearest the mean, {near}, moved outwards by {DISTANCE}"), near, outwards(near)),
    ];
    for _ in 0..RANDOM {
        let row = stream.below(rows.n() as u64) as usize;
        let mut direction = vec![0.0; rows.d()];
        stream.fill_normal(&mut direction);
        let length = direction.iter().map(|v| v * v).sum::<f64>().sqrt();
        direction.iter_mut().for_each(|v| *v /= length);
        chosen.push((format!("record {row} moved by {DISTANCE} in a random direction"), row, direction));
    }
    chosen
        .into_iter()
        .map(|(words, row, direction)| {
            let mut values = rows.values().to_vec();
            let place = &mut values[row * rows.d()..][..rows.d()];
            place.iter_mut().zip(&direction).for_each(|(v, u)| *v += DISTANCE * u);
            let moved = Rows::new(rows.n(), rows.d(), values).map_err(|error| error.to_string())?;
            Ok((words, moved))
        })
        .collect()
}

fn projection(
    series: &str,
    modeler: &str,
    mechanism: &JohnsonLindenstrauss,
    rows: &Rows,
    key: Key,
) -> Result<Candidates, String> {
    let failed = |error: crate::privacy::mechanisms::MechanismError| error.to_string();
    let price = mechanism.price(rows, &Neighbours::RowMoved { distance: DISTANCE }).map_err(failed)?;
    let claim = price.claim.as_ref().map(|claim| (claim.epsilon, claim.source.clone()));
    let why = match &price.basis {
        Basis::Refuted { why } => vec![why.clone()],
        Basis::Proven | Basis::Conditional { .. } | Basis::AsPublished | Basis::Unprotected => Vec::new(),
    };
    let mut stream = key.child("audit").child("neighbours").stream();
    let neighbours = moved_rows(rows, &mut stream)?;
    // One release, and d + 1 records that the modeler happens to know.
    let z = mechanism.privatise(rows, &mut stream).map_err(failed)?;
    let reconstruction = if rows.n() > rows.d() + 1 {
        let known = stream.distinct(rows.n(), rows.d() + 1);
        Some(reconstruct(rows, &z, &known).map_err(failed)?)
    } else {
        None
    };
    neighbours
        .into_iter()
        .map(|(words, moved)| {
            let statement = Statement {
                name: series.to_owned(),
                about: format!(
                    "Johnson-Lindenstrauss projection of {} records of {} numbers, r = {}",
                    rows.n(),
                    rows.d(),
                    mechanism.r
                ),
                neighbours: words,
                observer: modeler.to_owned(),
                delta: mechanism.delta.get(),
                claim: claim.clone(),
                proven: None,
                broken: false,
            };
            let audit = ProjectionAudit::new(mechanism.clone(), [rows.clone(), moved]).map_err(failed)?;
            let mut system = System::new(statement, audit);
            system.notes.clone_from(&why);
            system.reconstruction = reconstruction;
            Ok(system)
        })
        .collect()
}
