//! A law cut into pieces, moved to the points of a lattice: once so that it is certainly worse, once certainly better.
//!
//! Worse is "connect the dots" (Doroshenko, Ghazi, Kamath, Kumar and Manurangsi 2022, Section 4): each cell goes to its
//! two ends such that P and Q keep their masses, so the hockey-stick curve is replaced by its chords between lattice
//! points. Better is post-processing (merged pieces) and moves of losses that shrink every hockey-stick divergence.

use crate::accounting::laws::Cells;

/// P's masses on the lattice points first, first + 1, ...: each cell goes to its two ends, P and Q keeping their masses.
pub(super) fn worse_masses(cells: &Cells) -> Vec<f64> {
    let (pieces, width) = (cells.grid.pieces, cells.width());
    // The share of a loss x above the lower end that goes to the upper one.
    let share: Vec<f64> =
        (0..=pieces).map(|j| libm::expm1(-(j as f64) * width) / libm::expm1(-cells.grid.spacing)).collect();
    let mut masses = vec![0.0; cells.mass.len() / pieces + 1];
    // Losses below the first that was cut up lie below the second point.
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

/// P's masses of a law that is certainly better, on the lattice points first - 1, first, ...
///
/// Each piece is merged (post-processing) and moved to a lattice point, down for free, up for P-mass that must come
/// from pieces which end up at that point or above: moving P-mass towards smaller losses shrinks every hockey-stick
/// divergence. So points are visited from the top; moving the pieces above a point down to it frees P-mass, which is
/// used to move up what lies below, the nearest piece first. Pieces for which too little is available move down.
///
/// What is held back at the first opportunity shifts where the pieces meet all the way down; of a few such shifts the
/// one is taken that leaves P most of its mass.
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

const SPENT: [f64; 4] = [0.2, 0.4, 0.6, 0.8];

/// `spent` is the part of the P-mass that could be used for moves up which is used at the first opportunity.
fn lowered(cells: &Cells, spent: f64) -> Vec<f64> {
    let (pieces, width) = (cells.grid.pieces, cells.width());
    let (fall, rise) = (-libm::expm1(-width), libm::expm1(width));
    // For each piece of a cell, what moving it down or up costs: factors of its mass and of its part that goes up.
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
    // P-mass that is available for moves up; whether any was held back; of the cell above the point, the pieces that
    // stayed behind and what part of the last one did.
    let (mut available, mut held) = (0.0, spent >= 1.0);
    let (mut left, mut part_left) = (0, 1.0);
    for k in (0..points).rev() {
        // masses[k + 1] stands for point k.
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
