//! Reconstruction of records from a released projection and some known records.

use crate::gp::combine;
use crate::privacy::mechanisms::{MechanismError, Rows};
use serde::Serialize;

/// The result of a reconstruction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Reconstruction {
    /// Number of records known to the attacker.
    pub known: usize,
    /// Number of reconstructed records, without the known ones.
    pub rebuilt: usize,
    /// Largest error of a reconstructed number, in units of the inputs.
    pub largest_error: f64,
    /// Largest difference of two records in one column, for comparison with the error.
    pub range: f64,
    /// Share of the unknown records whose every number is reconstructed to within a millionth of the range.
    pub success: f64,
}

/// Reconstructs all records, the rows of X (d numbers each), from the released Z and the rows `known` of X. If Z is a
/// projection of X to at least d dimensions, one affine function maps each row of Z to the row of X with the same
/// index; least squares finds this function from at least d + 1 known rows in general position.
///
/// # Errors
/// If fewer than d + 1 rows are known, a known row does not exist, Z has another number of rows than X, or a decomposition
/// does not converge.
pub fn reconstruct(x: &Rows, z: &Rows, known: &[usize]) -> Result<Reconstruction, MechanismError> {
    if known.len() <= x.d() || known.iter().any(|row| *row >= x.n()) || z.n() != x.n() {
        return Err(MechanismError::Shape {
            expected: format!("at least {} known rows with indices below {}", x.d() + 1, x.n()),
            found: format!("{} known rows, Z of {} rows", known.len(), z.n()),
        });
    }
    // The rows of Z span at most d dimensions; coordinates in their span make the least squares problem well posed.
    let svd = z.singular()?;
    let rank = x.d().min(z.d());
    let coordinates = |i: usize| (0..rank).map(|j| svd.left(j)[i]).chain([1.0]).collect::<Vec<f64>>();
    let rows = Rows::new(known.len(), rank + 1, known.iter().flat_map(|&i| coordinates(i)).collect())?;
    let values: Vec<f64> = known.iter().flat_map(|&i| x.row(i)).copied().collect();
    let map = least_squares(&rows, &values, x.d())?;
    let mut rebuilt = vec![0.0; z.n() * x.d()];
    for (i, row) in rebuilt.chunks_exact_mut(x.d()).enumerate() {
        combine(&map, &coordinates(i), row);
    }
    let errors: Vec<f64> = (0..x.n())
        .filter(|row| !known.contains(row))
        .map(|i| {
            x.row(i).iter().enumerate().map(|(j, v)| (rebuilt[i * x.d() + j] - v).abs()).fold(0.0, f64::max)
        })
        .collect();
    let column = |j: usize| (0..x.n()).map(move |i| x.row(i)[j]);
    let range = (0..x.d())
        .map(|j| column(j).fold(f64::NEG_INFINITY, f64::max) - column(j).fold(f64::INFINITY, f64::min))
        .fold(0.0, f64::max);
    let exact = errors.iter().filter(|error| **error <= 1e-6 * range).count();
    Ok(Reconstruction {
        known: known.len(),
        rebuilt: errors.len(),
        largest_error: errors.iter().copied().fold(0.0, f64::max),
        range,
        success: exact as f64 / errors.len().max(1) as f64,
    })
}

/// The matrix [m, d] for which `rows` [k, m] times the matrix has the smallest squared distance from `values` [k, d];
/// if there are several, the one of smallest norm. Computed from the singular values of the rows.
fn least_squares(rows: &Rows, values: &[f64], d: usize) -> Result<Vec<f64>, MechanismError> {
    let svd = rows.singular()?;
    let largest = svd.values().first().copied().unwrap_or(0.0);
    let mut map = vec![0.0; rows.d() * d];
    let mut along = vec![0.0; d];
    // Singular values up to this bound are zero except for rounding errors.
    let smallest = f64::EPSILON * rows.n() as f64 * largest;
    for (index, &size) in svd.values().iter().enumerate().filter(|(_, size)| **size > smallest) {
        combine(values, svd.left(index), &mut along);
        for (row, part) in map.chunks_exact_mut(d).zip(svd.right(index)) {
            row.iter_mut().zip(&along).for_each(|(sum, value)| *sum += part * value / size);
        }
    }
    Ok(map)
}
