//! Moves a law of the privacy loss, divided into pieces, to the points of a lattice. This is done twice, to obtain a law
//! that is certainly worse (with larger hockey-stick divergences) and one that is certainly better.
//!
//! P and Q are the output distributions on the two neighbours; the law is that of ln dP/dQ under P. A cell lies between
//! two neighbouring lattice points and is divided into pieces of equal width. The worse law results from the method
//! "connect the dots" (Doroshenko, Ghazi, Kamath, Kumar and Manurangsi 2022, Section 4): the mass of each cell moves to
//! the two ends of the cell such that P and Q keep their masses. The hockey-stick curve is thereby replaced by its
//! chords between lattice points. The better law results from post-processing (the mass of a piece is merged to one
//! point) and from moves of mass that decrease every hockey-stick divergence.

use crate::accounting::laws::Cells;

/// P's masses on the lattice points first, first + 1, ... of a law that is certainly worse, where first is
/// `cells.first`: the mass of each cell moves to the two ends of the cell, such that P and Q keep their masses.
pub(super) fn worse_masses(cells: &Cells) -> Vec<f64> {
    let (pieces, width) = (cells.grid.pieces, cells.width());
    // Entry j belongs to mass at a point j pieces above the lower end of a cell. It is the share of this mass that
    // moves to the upper end of the cell.
    let share: Vec<f64> =
        (0..=pieces).map(|j| libm::expm1(-(j as f64) * width) / libm::expm1(-cells.grid.spacing)).collect();
    let mut masses = vec![0.0; cells.mass.len() / pieces + 1];
    // The range that was divided begins in the first cell, so losses below the range lie below the second point. They are
    // moved up to this point.
    masses[1] = cells.swept;
    for (k, (mass, up)) in cells.mass.chunks_exact(pieces).zip(cells.up.chunks_exact(pieces)).enumerate() {
        let (mut all, mut above) = (0.0, 0.0);
        for (j, (mass, up)) in mass.iter().zip(up).enumerate() {
            all += mass;
            above += (mass - up) * share[j] + up * share[j + 1];
        }
        masses[k] += (all - above).max(0.0);
        masses[k + 1] += above;
    }
    masses
}

/// P's masses of a law that is certainly better, on the lattice points first - 1, first, ..., where first is
/// `cells.first`. The mass on the point first - 1 is always 0.
///
/// Each piece is merged to one point (post-processing) and moved to a lattice point. Moving a piece down, with Q's mass
/// kept, reduces its P-mass; moving a piece up increases its P-mass. The P-mass needed for moves up must come from
/// pieces that were moved down to the same point or a higher one: moving P-mass towards smaller losses decreases every
/// hockey-stick divergence. So lattice points are visited from the largest loss down. At each point, the pieces of the
/// cell above the point that have not moved up are moved down to the point, which makes P-mass available. This P-mass
/// is used to move pieces of the cell below the point up to the point, the nearest pieces first. Pieces for which too
/// little P-mass is available move down to the next lower point.
///
/// The part of the available P-mass that is used at the first opportunity affects all later moves. Several parts are tried,
/// and the one that leaves P most of its mass is used.
pub(super) fn better_masses(cells: &Cells) -> Vec<f64> {
    let mut best = lowered(cells, 1.0);
    let mut most: f64 = best.iter().sum();
    for spent in SPENT {
        let masses = lowered(cells, spent);
        let size = masses.iter().sum::<f64>();
        if size > most {
            (best, most) = (masses, size);
        }
    }
    best
}

/// The parts of the available P-mass that are tried besides 1.
const SPENT: [f64; 4] = [0.2, 0.4, 0.6, 0.8];

/// The masses of the better law if only the part `spent` of the available P-mass is used at the first opportunity.
fn lowered(cells: &Cells, spent: f64) -> Vec<f64> {
    let (pieces, width) = (cells.grid.pieces, cells.width());
    let (fall, rise) = (-libm::expm1(-width), libm::expm1(width));
    // A piece that moves down to the lower end of its cell makes P-mass available; a piece that moves up to the upper
    // end of its cell needs P-mass. The amount of P-mass is a sum of two products. `downward` and `upward` hold two
    // factors for each piece. The first factor is multiplied by the mass of the piece. The second is multiplied by the
    // part of this mass that is at the upper end (`downward`) or at the lower end (`upward`) of the piece.
    let downward: Vec<(f64, f64)> = (0..pieces)
        .map(|j| (-libm::expm1(-(j as f64) * width), fall * libm::exp(-(j as f64) * width)))
        .collect();
    let upward: Vec<(f64, f64)> = (0..pieces)
        .map(|j| {
            let rest = (pieces - 1 - j) as f64 * width;
            (libm::expm1(rest), rise * libm::exp(rest))
        })
        .collect();
    let points = cells.mass.len() / pieces + 1;
    let mut masses = vec![0.0; points + 1];
    // `available` is the P-mass that can be used for moves up. `held` is true once a part has been held back, or if no
    // part is to be held back. `left` is the number of pieces of the cell above the point that have not moved up. Of
    // the last of these pieces, only the part `part_left` has not moved up.
    let (mut available, mut held) = (0.0, spent >= 1.0);
    let (mut left, mut part_left) = (0, 1.0);
    for k in (0..points).rev() {
        // masses[k + 1] is the mass at point first + k.
        for (j, down) in downward.iter().enumerate().take(left) {
            let (mass, up) = (cells.mass[k * pieces + j], cells.up[k * pieces + j]);
            let part = if j + 1 == left { part_left } else { 1.0 };
            let yields = part * (mass * down.0 + up * down.1);
            masses[k + 1] += part * mass - yields;
            available += yields;
        }
        if k == 0 {
            break;
        }
        let mut budget = available;
        if !held && available > 0.0 {
            budget *= spent;
            held = true;
        }
        available -= budget;
        (left, part_left) = (0, 1.0);
        for j in (0..pieces).rev() {
            let (mass, up) = (cells.mass[(k - 1) * pieces + j], cells.up[(k - 1) * pieces + j]);
            let price = mass * upward[j].0 + (mass - up) * upward[j].1;
            let part = if price > budget { budget / price } else { 1.0 };
            masses[k + 1] += part * (mass + price);
            budget = (budget - part * price).max(0.0);
            if part < 1.0 {
                (left, part_left) = (j + 1, 1.0 - part);
                break;
            }
        }
        available += budget;
    }
    masses
}
