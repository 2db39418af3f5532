//! Attacks on PO-GP-UCB's projection: the column space that Z lies in, its if/else branch, and records from known rows.

use super::evidence::World;
use super::run::{Experiment, Transcript};
use super::suite::Case;
use super::verdict::{Statement, Verdict};
use crate::privacy::mechanisms::{JlVariant, JohnsonLindenstrauss, Mechanism, MechanismError, Rows};
use crate::rng::Key;
use crate::vocab::{Delta, Epsilon, Neighbours};
use faer::linalg::solvers::{Solve, SolveLstsq};
use faer::{Mat, MatRef};
use serde::Serialize;
use std::num::NonZeroUsize;

/// A space that the columns of a released matrix may lie in.
#[derive(Clone, Debug)]
struct ColumnSpace(Mat<f64>);

impl ColumnSpace {
    /// That of the centred rows; orthonormal columns, those of singular values above 1e-10 of the largest.
    fn of(rows: &Rows) -> Result<Self, MechanismError> {
        let centred = rows.centred();
        let x = MatRef::from_row_major_slice(centred.values(), rows.n(), rows.d());
        let svd = x.thin_svd().map_err(|_| MechanismError::Decomposition)?;
        let sizes: Vec<f64> = svd.S().column_vector().iter().copied().collect();
        let most = sizes.first().copied().unwrap_or(0.0);
        let rank = sizes.iter().filter(|size| **size > 1e-10 * most).count();
        Ok(Self(svd.U().subcols(0, rank).to_owned()))
    }

    /// Largest length of a column's part outside of the space, relative to the largest column.
    fn distance(&self, z: &Rows) -> f64 {
        let z = MatRef::from_row_major_slice(z.values(), z.n(), z.d());
        let inside = &self.0 * (self.0.transpose() * z);
        let outside = z - inside;
        let longest = |m: MatRef<'_, f64>| (0..m.ncols()).map(|j| m.col(j).norm_l2()).fold(0.0, f64::max);
        longest(outside.as_ref()) / longest(z).max(f64::MIN_POSITIVE)
    }
}

/// Z is taken to lie in a space if it leaves it by less than this share of its length. Rounding leaves about 1e-15; a
/// row moved by 1 leaves about 1 / norm of X.
const INSIDE: f64 = 1e-9;

/// The release of Algorithm 1 on two data sets, seen by somebody who knows both and asks which one it was.
pub struct ProjectionAudit {
    mechanism: JohnsonLindenstrauss,
    rows: [Rows; 2],
    spaces: [ColumnSpace; 2],
    /// Singular values after the lift, by world, where both data sets have the same left singular vectors.
    lifted: Option<[Vec<f64>; 2]>,
    disjoint: Option<String>,
}

impl std::fmt::Debug for ProjectionAudit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProjectionAudit").field("mechanism", &self.mechanism).finish_non_exhaustive()
    }
}

impl ProjectionAudit {
    /// The audit of one mechanism on one pair of data sets.
    ///
    /// # Errors
    /// If a singular value decomposition does not converge.
    pub fn new(mechanism: JohnsonLindenstrauss, rows: [Rows; 2]) -> Result<Self, MechanismError> {
        let spaces = [ColumnSpace::of(&rows[0])?, ColumnSpace::of(&rows[1])?];
        let mut audit = Self { mechanism, rows, spaces, lifted: None, disjoint: None };
        audit.disjoint = audit.find_disjoint();
        Ok(audit)
    }

    /// Why no Z can come from both data sets, where it cannot: their centred rows span different spaces of the same
    /// dimension, so Z = X M spans its own with probability 1 and the other's with probability 0.
    #[must_use]
    pub fn disjoint(&self) -> Option<String> {
        self.disjoint.clone()
    }

    fn find_disjoint(&self) -> Option<String> {
        // A projection to fewer columns than records have spans a random part of the space only, still inside of it.
        let apart = self.spaces[0].distance(&self.rows[1].centred());
        let dimensions = self.spaces.each_ref().map(|space| space.0.ncols());
        (apart > INSIDE && dimensions[0] == dimensions[1]).then(|| {
            format!(
                "Z lies in the column space of X, and the neighbour's leaves it by {apart:.1e} of its length"
            )
        })
    }

    /// Where only lengths differ along common, orthogonal directions: ln of the ratio of densities.
    fn branch_ratio(&self, lifted: &[Vec<f64>; 2], z: &Rows) -> f64 {
        let r = z.d() as f64;
        let z = MatRef::from_row_major_slice(z.values(), z.n(), z.d());
        let along = self.spaces[0].0.transpose() * z;
        // Row i of U^T Z is normal with variance s_i^2 / r, whatever V is.
        let log_density = |sizes: &[f64]| -> f64 {
            sizes
                .iter()
                .enumerate()
                .map(|(i, s)| {
                    let square: f64 = along.row(i).iter().map(|v| v * v).sum();
                    -r * libm::log(*s) - 0.5 * r * square / (s * s)
                })
                .sum()
        };
        log_density(&lifted[0]) - log_density(&lifted[1])
    }
}

impl Experiment for ProjectionAudit {
    fn tests(&self) -> Vec<String> {
        let mut tests = vec!["support (column space)".to_owned()];
        if self.lifted.is_some() {
            tests.push("likelihood ratio of the branch".to_owned());
        }
        tests
    }

    fn trial(&self, world: World, key: Key) -> Result<Transcript, String> {
        let z = self
            .mechanism
            .privatise(&self.rows[world.index()], &mut key.stream())
            .map_err(|error| error.to_string())?;
        let inside = |space: &ColumnSpace| f64::from(u8::from(space.distance(&z) < INSIDE));
        let mut scores = vec![inside(&self.spaces[0]) - inside(&self.spaces[1])];
        if let Some(lifted) = &self.lifted {
            scores.push(self.branch_ratio(lifted, &z));
        }
        let mut transcript = Transcript::rounded(scores);
        if self.lifted.is_none() && self.disjoint.is_none() {
            // Nothing is known of the ratio: let a statistic be trained on the lengths of the rows.
            let length = |row: usize| z.row(row).iter().map(|v| v * v).sum::<f64>();
            transcript.features = (0..z.n()).map(length).collect();
        }
        Ok(transcript)
    }
}

/// What was rebuilt of the records from some that are known.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Reconstruction {
    /// Records known to the attacker.
    pub known: usize,
    /// Records rebuilt.
    pub rebuilt: usize,
    /// Largest difference of a rebuilt number, in units of the inputs.
    pub largest_error: f64,
    /// Largest distance of two records' numbers in one column, to compare with.
    pub range: f64,
    /// Share of the unknown records whose every number is rebuilt to within a millionth of the range.
    pub success: f64,
}

/// Rebuilds all records from the released Z and `known` rows of X: X is an affine function of Z, found from d + 1 rows
/// in general position by least squares.
///
/// # Errors
/// If a row is not there or a decomposition does not converge.
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

/// Claimed epsilon e^1.1, as in the paper's first table.
const CLAIMED: f64 = 3.004_166_023_946_433;

fn recipe(r: usize) -> JohnsonLindenstrauss {
    JohnsonLindenstrauss {
        epsilon: Epsilon::new(CLAIMED).expect("above 0"),
        delta: Delta::new(1e-5).expect("a probability"),
        r: NonZeroUsize::new(r).expect("not zero"),
        variant: JlVariant::Paper,
    }
}

fn case(name: &str, about: &str, neighbours: &str, audit: ProjectionAudit) -> Case {
    let price = audit
        .mechanism
        .price(&audit.rows[0], &Neighbours::RowMoved { distance: 1.0 })
        .expect("the suite's own parameters keep every precondition");
    let claim = price.claim.map(|claim| (claim.epsilon, claim.source));
    let statement = Statement {
        name: name.to_owned(),
        about: about.to_owned(),
        neighbours: neighbours.to_owned(),
        observer: "anyone who sees Z".to_owned(),
        delta: 1e-5,
        claim,
        proven: None,
        disjoint: audit.disjoint(),
        broken: false,
    };
    Case { statement, experiment: Box::new(audit), expected: Verdict::Refuted }
}

/// Two data sets that differ in one record, whose centred columns span the same space and lie to either side of the
/// threshold: in the last column all records agree but the first, and that one moves by 1 there.
fn branch_pair(mechanism: &JohnsonLindenstrauss, n: usize) -> [Rows; 2] {
    let omega = mechanism.omega();
    let share = (1.0 - 1.0 / n as f64).sqrt();
    // The other column is orthogonal to it and to the ones: as long as the threshold, on all records but the first.
    let other = |i: usize| match i {
        0 => 0.0,
        i if i % 2 == 1 && i + 1 < n => 1.0,
        i if i % 2 == 0 => -1.0,
        _ => 0.0,
    };
    let length = (0..n).map(|i| other(i) * other(i)).sum::<f64>().sqrt();
    let size = omega * (1.0 + 1e-9);
    [(omega + 0.5) / share, (omega - 0.5) / share].map(|outlier| {
        let values =
            (0..n).flat_map(|i| [other(i) / length * size, if i == 0 { outlier } else { 0.0 }]).collect();
        Rows::new(n, 2, values).expect("n rows of two numbers")
    })
}

pub(super) fn cases() -> Vec<Case> {
    let mechanism = recipe(10);
    let n = 60;
    let mut stream = Key::root(2020).child("audit").child("tall data").stream();
    let rows = Rows::new(n, 2, (0..2 * n).map(|_| 500.0 * stream.normal()).collect())
        .expect("n rows of two numbers");
    let mut moved = rows.values().to_vec();
    moved[0] += 1.0;
    let moved = Rows::new(n, 2, moved).expect("n rows of two numbers");
    let tall = ProjectionAudit::new(mechanism.clone(), [rows, moved]).expect("a small decomposition");
    let pair = branch_pair(&mechanism, n);
    let lifted = pair.clone().map(|rows| {
        let trace = mechanism.trace(&rows, &[0.0; 20]).expect("a small decomposition");
        let lift = |s: f64| if trace.lifted { libm::sqrt(s * s + trace.omega * trace.omega) } else { s };
        trace.singular_values.iter().map(|s| lift(*s)).collect::<Vec<f64>>()
    });
    let mut branch = ProjectionAudit::new(mechanism, pair).expect("a small decomposition");
    branch.lifted = Some(lifted);
    vec![
        case(
            "johnson-lindenstrauss",
            "PO-GP-UCB's projection of 60 records of 2 numbers, r = 10",
            "one record moved by 1",
            tall,
        ),
        case(
            "johnson-lindenstrauss-branch",
            "the same on data with equal column spaces: only the if/else branch tells",
            "an outlying record moved by 1, across the threshold",
            branch,
        ),
    ]
}
