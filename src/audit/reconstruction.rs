//! Reconstruction of records from a released projection and some known records.

use crate::privacy::mechanisms::{MechanismError, Rows};
use faer::linalg::solvers::{Solve, SolveLstsq};
use faer::{Mat, MatRef};
use serde::Serialize;

/// The result of a reconstruction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Reconstruction {
    /// Records known to the attacker.
    pub known: usize,
    /// Number of reconstructed records.
    pub rebuilt: usize,
    /// Largest error of a reconstructed number, in units of the inputs.
    pub largest_error: f64,
    /// Largest distance of two records' numbers in one column, to compare with.
    pub range: f64,
    /// Share of the unknown records whose every number is reconstructed to within a millionth of the range.
    pub success: f64,
}

/// Reconstructs all records from the released Z and `known` rows of X: X is an affine function of Z, found from d + 1
/// rows in general position by least squares.
///
/// # Errors
/// If a row does not exist or a decomposition does not converge.
pub fn reconstruct(x: &Rows, z: &Rows, known: &[usize]) -> Result<Reconstruction, MechanismError> {
    if known.len() <= x.d() || known.iter().any(|row| *row >= x.n()) || z.n() != x.n() {
        return Err(MechanismError::Shape {
            expected: format!("at least {} known rows below {}", x.d() + 1, x.n()),
            found: format!("{} known rows, Z of {} rows", known.len(), z.n()),
        });
    }
    // Z spans d dimensions only: its own coordinates there make the least squares well posed.
    let zm = MatRef::from_row_major_slice(z.values(), z.n(), z.d());
    let svd = zm.thin_svd().map_err(|_| MechanismError::Decomposition)?;
    let rank = x.d().min(z.d());
    let coordinates = Mat::from_fn(z.n(), rank + 1, |i, j| if j < rank { svd.U()[(i, j)] } else { 1.0 });
    let rows = Mat::from_fn(known.len(), rank + 1, |i, j| coordinates[(known[i], j)]);
    let values = Mat::from_fn(known.len(), x.d(), |i, j| x.row(known[i])[j]);
    let map = if known.len() == rank + 1 {
        rows.partial_piv_lu().solve(&values)
    } else {
        rows.qr().solve_lstsq(&values)
    };
    let rebuilt = coordinates * map;
    let errors: Vec<f64> = (0..x.n())
        .filter(|row| !known.contains(row))
        .map(|i| x.row(i).iter().enumerate().map(|(j, v)| (rebuilt[(i, j)] - v).abs()).fold(0.0, f64::max))
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
