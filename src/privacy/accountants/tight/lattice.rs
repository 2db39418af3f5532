//! The tight accountant on a lattice of losses, for laws with atoms, which a line in the complex plane does not suit.
//!
//! Each law becomes two laws on the multiples of a spacing: one that is certainly worse ("connect the dots": P and Q
//! keep their masses and each cell goes to its two ends) and one that is certainly better (cells around each multiple
//! are merged, which is post-processing, and what is left over is moved towards smaller losses). Both are composed
//! exactly by a Fourier transform of the tilted laws, so the two answers enclose the true one.

use super::contour::{Ends, Laws, Saddle, cumulants};
use super::fft::Fft;
use super::staircase;
use crate::privacy::accountants::complex::Complex;
use crate::privacy::accountants::laws::HalfCells;

const LEAST_POINTS: usize = 1 << 12;
const MOST_POINTS: usize = 1 << 18;
/// Wanted accuracy of epsilon.
const WANTED: f64 = 1e-7;

/// Positions above this are not whole numbers of doubles.
const FARTHEST: f64 = (1u64 << 50) as f64;
/// Up to so many releases the rounding of their product is lost in that of the transform.
const FEW: f64 = 1e6;

/// Epsilon at `delta` with both ends; nothing if it lies where doubles cannot hold the masses, or if a law is known by a
/// bound alone.
pub(super) fn epsilon(laws: &Laws, saddle: &Saddle, delta: f64) -> Option<Ends> {
    // Epsilon lies about 1/c below the tilted mean: for large deltas a larger tilt keeps it inside the window.
    let least = 4.0 / half_window(laws, saddle);
    let saddle = &if saddle.c < least { Saddle::at(laws, least) } else { *saddle };
    let c = saddle.c;
    if laws.iter().any(|(law, _)| !law.is_exact(c)) {
        return None;
    }
    let releases: f64 = laws.iter().map(|(_, count)| *count as f64).sum();
    // Rounding adds about spacing^2 / 6 of variance per unit of mass outside of atoms, which shifts epsilon by c/2
    // times that.
    let moving: f64 = laws.iter().map(|(law, count)| *count as f64 * law.continuous_mass(c)).sum();
    let wanted = (12.0 * WANTED / (moving * c).max(1e-300)).sqrt();
    let half_window = half_window(laws, saddle);
    let points = (2.0 * half_window / wanted).min(MOST_POINTS as f64).max(LEAST_POINTS as f64);
    let points = (points as usize).next_power_of_two();
    let (spacing, cut) = cut(laws, aligned(laws, 2.0 * half_window / points as f64), c);
    let window = spacing * points as f64;

    let fft = Fft::new(points);
    let mut product = vec![(Complex::ONE, Complex::ONE); points / 2 + 1];
    let mut worse = Tally::default();
    let mut better = Tally::default();
    for ((_, count), cells) in laws.iter().zip(&cut) {
        let (up, down) = (worse_masses(cells), better_masses(cells));
        let mut packed = vec![Complex::ZERO; points];
        let first = cells.first / 2;
        let size_up = worse.fold(&up, first, spacing, c, *count, |k, value| packed[k % points].re += value);
        let size_down =
            better.fold(&down, first - 1, spacing, c, *count, |k, value| packed[k % points].im += value);
        fft.forward(&mut packed);
        // Two real sequences in one transform: the even part is the first, the odd part the second.
        for (k, (a, b)) in product.iter_mut().enumerate() {
            let (here, there) = (packed[fft.place(k)], packed[fft.place((points - k) % points)].conj());
            let (even, odd) = ((here + there).scale(0.5 / size_up), (here - there).scale(0.5 / size_down));
            *a *= even.power(*count);
            *b *= Complex::new(odd.im, -odd.re).power(*count);
        }
    }
    let mut packed = vec![Complex::ZERO; points];
    for (k, (a, b)) in product.iter().enumerate() {
        let rotated = Complex::new(-b.im, b.re);
        packed[fft.place(k)] = *a + rotated;
        if k > 0 && k < points / 2 {
            // The spectrum of a real sequence is its own mirror image, conjugated.
            let mirrored = b.conj();
            packed[fft.place(points - k)] = a.conj() + Complex::new(-mirrored.im, mirrored.re);
        }
    }
    fft.backward(&mut packed);

    if (saddle.cumulants.mean / spacing).abs() > FARTHEST {
        return None;
    }
    // The tilted total within half a window of its mean; positions are modulo the window.
    let centre = (saddle.cumulants.mean / spacing).round() as i64;
    let top = centre + points as i64 / 2 - 1;
    let slip = outside(laws, saddle, 0.5 * window);
    let noise = 4e-16 * (releases + f64::from(points.trailing_zeros()));
    let solve = |tally: &Tally, part: fn(&Complex) -> f64, slack: f64| {
        // Masses relative to exp(log_mass - c * loss of the centre).
        let masses = (0..points as i64).map(|j| {
            let at = (top - j).wrapping_sub(tally.offset).rem_euclid(points as i64) as usize;
            let untilt = libm::exp(-c * spacing * (top - j - centre) as f64);
            part(&packed[at]).max(0.0) * untilt
        });
        let scale = tally.log_mass - c * spacing * centre as f64;
        let doubt = if releases > FEW { tally.doubt.copysign(slack) } else { 0.0 };
        let target = libm::exp(libm::log(delta) - scale + doubt) + slack;
        if target.is_nan() || target <= 0.0 || target.is_infinite() {
            return f64::INFINITY;
        }
        staircase::epsilon(top as f64 * spacing, spacing, 0, masses, target)
    };
    // Errors of the tilted law count e^{-c (epsilon - centre)} times, at epsilon and above.
    let first_guess = solve(&worse, |z| z.re, 0.0);
    let weight = libm::exp(-c * (first_guess - spacing * centre as f64));
    let per_point = noise * (1.0 / (c * spacing)).min(points as f64);
    let slack = weight * (slip + per_point * max_modulus(&packed));
    // Minus infinity: epsilon lies below the window.
    let bottom = (top - points as i64 + 1) as f64 * spacing;
    let upper = solve(&worse, |z| z.re, -slack).max(bottom);
    let lower = solve(&better, |z| z.im, slack);
    if !upper.is_finite() || lower.is_nan() || lower == f64::INFINITY {
        return None;
    }
    Some(Ends { lower: lower.min(upper), upper })
}

/// The laws cut into cells of one width: the one asked for, or a larger one if a law spans too many such cells.
fn cut(laws: &Laws, spacing: f64, c: f64) -> (f64, Vec<HalfCells>) {
    let mut spacing = spacing;
    loop {
        let cells: Vec<HalfCells> = laws.iter().map(|(law, _)| law.cells(spacing, c)).collect();
        let widest = cells.iter().map(|cells| cells.width).fold(spacing, f64::max);
        if widest <= spacing {
            return (spacing, cells);
        }
        spacing = aligned(laws, widest);
    }
}

fn max_modulus(values: &[Complex]) -> f64 {
    values.iter().fold(0.0, |most: f64, v| most.max(v.norm_squared())).sqrt()
}

/// How far from its mean the tilted total may stray with probability e^-28, by Chernoff's bound on either side.
fn half_window(laws: &Laws, saddle: &Saddle) -> f64 {
    let (c, k) = (saddle.c, saddle.cumulants);
    let spread = k.variance.sqrt().max(1e-12);
    let reach = |r: f64| (cumulants(laws, c + r).value - k.value - r * k.mean + 28.0) / r.abs();
    let best = |sign: f64| {
        [1.0, 2.0, 4.0, 8.0]
            .map(|spreads| {
                reach(sign * if sign < 0.0 { (spreads / spread).min(0.9 * c) } else { spreads / spread })
            })
            .into_iter()
            .fold(f64::INFINITY, f64::min)
    };
    best(1.0).max(best(-1.0))
}

/// A spacing at least `spacing` of which the laws' atoms are multiples, as nearly as can be.
fn aligned(laws: &Laws, spacing: f64) -> f64 {
    let pitches: Vec<(f64, f64)> =
        laws.iter().filter_map(|(law, count)| law.pitch().map(|pitch| (pitch, *count as f64))).collect();
    let Some(&(widest, _)) = pitches.iter().max_by(|a, b| (a.0 * a.1).total_cmp(&(b.0 * b.1))) else {
        return spacing;
    };
    let most = (widest / spacing).floor();
    if most < 1.0 {
        return spacing;
    }
    // How much variance rounding the atoms to a spacing adds.
    let cost = |spacing: f64| -> f64 {
        let square = spacing * spacing;
        pitches
            .iter()
            .map(|(pitch, count)| {
                let share = (pitch / spacing).fract();
                count * square * share * (1.0 - share)
            })
            .sum()
    };
    let candidates = (0..64).map(|k| most - f64::from(k)).filter(|m| *m >= 1.0 && *m >= 0.8 * most);
    candidates.map(|m| widest / m).min_by(|a, b| cost(*a).total_cmp(&cost(*b))).unwrap_or(spacing)
}

/// Tilted mass of the total farther than `half` from its mean, by Chernoff's bound on either side.
fn outside(laws: &Laws, saddle: &Saddle, half: f64) -> f64 {
    let (c, k) = (saddle.c, saddle.cumulants);
    let r = 8.0 / k.variance.sqrt().max(1e-300);
    let above = r.min(10.0 * c);
    let below = r.min(0.9 * c);
    let tail = |by: f64, s: f64| libm::exp(cumulants(laws, s).value - k.value - (s - c) * k.mean - by * half);
    2.0 * (tail(above, c + above) + tail(below, c - below))
}

/// What was factored out of a product of tilted laws.
#[derive(Debug, Default)]
struct Tally {
    /// ln of the product of the tilted masses.
    log_mass: f64,
    /// How far rounding may have moved it.
    doubt: f64,
    /// Sum of the first positions, modulo 2^64 and so modulo every window.
    offset: i64,
}

impl Tally {
    /// Hands out tilted masses, scaled by the largest power; returns their sum.
    fn fold(
        &mut self,
        masses: &[f64],
        first: i64,
        spacing: f64,
        c: f64,
        count: u64,
        mut put: impl FnMut(usize, f64),
    ) -> f64 {
        let last = masses.len() - 1;
        let mut size = 0.0;
        for (k, mass) in masses.iter().enumerate() {
            let value = mass * libm::exp(-c * spacing * (last - k) as f64);
            size += value;
            put(k, value);
        }
        let top = (first + last as i64) as f64 * spacing;
        self.log_mass += count as f64 * (libm::log(size) + c * top);
        self.doubt += 1e-15 * count as f64 * (1.0 + libm::log(size).abs() + (c * top).abs());
        self.offset = self.offset.wrapping_add((count as i64).wrapping_mul(first));
        size
    }
}

/// P's masses on the lattice points first, first + 1, ...: each cell goes to its two ends, P and Q keeping their masses.
fn worse_masses(cells: &HalfCells) -> Vec<f64> {
    let half = 0.5 * cells.width;
    let (down, whole) = (-libm::expm1(-half), -libm::expm1(-cells.width));
    let mut masses = vec![0.0; cells.mass.len() / 2 + 1];
    // Moving mass towards larger losses is worse; moving none of it (below) is better.
    masses[0] = cells.swept;
    for (k, (mass, up)) in cells.mass.chunks_exact(2).zip(cells.up.chunks_exact(2)).enumerate() {
        // What the upper end must get so that Q keeps its mass, from the shares within the two halves.
        let above = (up[0] * down + mass[1] * down + up[1] * down * libm::exp(-half)) / whole;
        masses[k] += mass[0] + mass[1] - above;
        masses[k + 1] += above;
    }
    masses
}

/// P's masses of a law that is certainly better, on the lattice points first - 1, first, ...
///
/// Each half-cell is merged (post-processing) and moved to a lattice point, down for free, up for P-mass that must come
/// from cells which end up at that point or above: moving P-mass towards smaller losses shrinks every hockey-stick
/// divergence. So points are visited from the top; moving the half-cell above a point down to it yields P-mass, which
/// pays for moving up what lies below, the nearest half-cell first. What cannot be paid for moves down.
fn better_masses(cells: &HalfCells) -> Vec<f64> {
    let (half, whole) = (0.5 * cells.width, cells.width);
    let (rise, fall) = (libm::expm1(half), -libm::expm1(-half));
    let points = cells.mass.len() / 2 + 1;
    let mut masses = vec![0.0; points + 1];
    // P-mass that may be spent, and the part of the half-cell above the point that was moved up already.
    let (mut purse, mut gone) = (0.0, 0.0);
    for k in (0..points).rev() {
        // masses[k + 1] stands for point k.
        if let (Some(&mass), Some(&up)) = (cells.mass.get(2 * k), cells.up.get(2 * k)) {
            let yields = up * fall * (1.0 - gone);
            masses[k + 1] += mass * (1.0 - gone) - yields;
            purse += yields;
        }
        gone = 0.0;
        if k == 0 {
            break;
        }
        let near = (cells.mass[2 * k - 1], cells.up[2 * k - 1]);
        let price = (near.0 - near.1) * rise;
        let part = if price > purse { purse / price } else { 1.0 };
        masses[k + 1] += part * (near.0 + price);
        purse -= part * price;
        if part < 1.0 {
            // What stays behind moves to the point below; Q's mass is (mass + price) e^-loss of this point.
            let lowered = (near.0 + price) * libm::exp(-whole);
            masses[k] += (1.0 - part) * lowered;
            purse = (1.0 - part) * (near.0 - lowered);
            continue;
        }
        let far = (cells.mass[2 * k - 2], cells.up[2 * k - 2]);
        let needed = (far.0 - far.1 * fall) * libm::exp(whole);
        let price = needed - far.0;
        if price > 0.0 {
            gone = (purse / price).min(1.0);
            masses[k + 1] += gone * needed;
            purse -= gone * price;
        }
        purse = purse.max(0.0);
    }
    masses
}
