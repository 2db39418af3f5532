//! Neighbouring inputs in which one record is moved. If the objective can compute its problem from changed data, a copy in
//! memory of the raw records is changed, and scaling and fitting are repeated. Otherwise the record is moved in the scaled
//! inputs.

use crate::audit::error::AuditError;
use crate::audit::systems::request::numbers;
use crate::objectives::{Change, Instance};
use crate::privacy::mechanisms::Rows;
use crate::protocols::ReplicationSetup;
use crate::rng::Stream;

/// The distance by which a record is moved, in the units of the scaled inputs. If the user states the move, this is the
/// largest distance that is accepted.
pub(super) const DISTANCE: f64 = 1.0;
/// Number of random records that are moved in random directions.
const RANDOM: u64 = 2;

/// The scaled inputs of a replication's objective.
pub(super) fn rows_of(instance: &Instance) -> Result<Rows, AuditError> {
    Ok(Rows::of(&instance.inputs)?)
}

/// A record and the vector by which it is moved.
pub(super) struct RecordChange {
    pub(super) words: String,
    pub(super) row: usize,
    /// The vector by which the record moves, in the units of the scaled inputs. The scale is that of the data before the
    /// move.
    pub(super) by: Vec<f64>,
}

impl RecordChange {
    /// The scaled inputs after the move, with the words that describe the move.
    pub(super) fn neighbouring_inputs(
        self,
        stage: &ReplicationSetup,
        rows: &Rows,
    ) -> Result<(String, Rows), AuditError> {
        let Self { words, row, by } = self;
        let change = Change::Inputs { row, by };
        if let Some(changed) = stage.prepared.as_ref().and_then(|prepared| prepared.changed(&change)) {
            return Ok((words, rows_of(&changed.map_err(AuditError::scenario)?)?));
        }
        let Change::Inputs { row, by } = change else {
            return Err(AuditError::scenario("no record was moved"));
        };
        let mut values = rows.values().to_vec();
        values[row * rows.d()..][..rows.d()].iter_mut().zip(&by).for_each(|(v, u)| *v += u);
        Ok((words, Rows::new(rows.n(), rows.d(), values)?))
    }
}

/// The changes that are tried: the record farthest from the mean and the record nearest to the mean, each moved away from
/// the mean, and random records moved in random directions.
pub(super) fn candidate_changes(rows: &Rows, stream: &mut Stream) -> Vec<RecordChange> {
    let centred = rows.centred();
    let norm = |row: usize| centred.row(row).iter().map(|v| v * v).sum::<f64>().sqrt();
    let by_norm = |far: bool| {
        (0..rows.n()).fold(0, |best, row| {
            if (norm(row) > norm(best)) == far && norm(row) != norm(best) { row } else { best }
        })
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
            let by = direction.iter().map(|u| DISTANCE * u).collect();
            RecordChange { words, row, by }
        })
        .collect()
}

/// Parses "ROW:D1,D2,..": the index of a record, and by how much each of the record's scaled numbers moves.
pub(super) fn moved_as_given(rows: &Rows, text: &str) -> Result<RecordChange, AuditError> {
    let expected = || AuditError::Neighbour {
        expected: format!(
            "ROW:D1,..,D{} with a row below {} and a distance above 0 and at most {DISTANCE}",
            rows.d(),
            rows.n()
        ),
        found: text.to_owned(),
    };
    let (row, by) = text.split_once(':').ok_or_else(expected)?;
    let row: usize = row.trim().parse().map_err(|_| expected())?;
    let by = numbers(by)?;
    let length = by.iter().map(|v| v * v).sum::<f64>().sqrt();
    if row >= rows.n() || by.len() != rows.d() || length > DISTANCE * (1.0 + 1e-12) || length <= 0.0 {
        return Err(expected());
    }
    Ok(RecordChange { words: format!("record {row} moved by {length}, as given"), row, by })
}
