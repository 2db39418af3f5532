//! Sums of many independent losses on one lattice, by Fourier transforms of tilted laws.
//!
//! The tilt multiplies each mass by e^{c loss}, with c near the Chernoff optimum for an estimate of epsilon. So the
//! rounding error, which is relative to the total tilted mass, is small compared with delta. Mass outside the window of
//! losses that the transform covers wraps around into the window. This mass is missing at its own loss, and is added at
//! another loss. A Chernoff bound for the lattice laws limits both errors (Koskela, Jälkö and Honkela 2020 bound the
//! same two errors, without a tilt). Each loss has two lattice laws (`Laws`): the worse one gives the upper bound on
//! epsilon, the better one the lower bound.

use super::contour::EpsilonBounds;
use super::convolution::Laws;
use super::fft::Fft;
use super::staircase;
use crate::accounting::complex::Complex;

/// Relative rounding error that each doubling of a transform's length adds: the error of a complex product, that of the
/// root of unity in this product, and that of a sum.
const ROUNDING: f64 = 7e-16;

/// The result of [`ends`].
#[derive(Debug)]
pub(super) struct Found {
    pub(super) ends: EpsilonBounds,
    /// The approximate error of delta by the worse law, relative to delta: from rounding, and from mass above the
    /// window.
    pub(super) error: f64,
    /// Epsilon by the worse law if `error` is ignored. The search uses it as its next estimate of epsilon.
    pub(super) plain: f64,
}

/// The exponent `c` of the tilt, and the window of losses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    c: f64,
    pub(super) window: (f64, f64),
}

/// The tilt for an epsilon near `about`, and a window of losses. Each of three errors of delta at `about` is at most
/// `lost` times delta: what the mass above the window would contribute, and what the masses that wrap around from below
/// and from above the window add.
pub(super) fn plan(laws: &[(Laws, u64)], spacing: f64, about: f64, delta: f64, lost: f64) -> Plan {
    let moment = |s: f64| log_moment(laws, |law| &law.worse, spacing, s);
    let c = tilt(moment, spacing, about);
    let whole = moment(c);
    // ln of the tilted mass that may wrap around to losses above epsilon, relative to the total tilted mass.
    let least = libm::log(lost * delta) - whole + c * about;
    let least = least.min(-1.0);
    // Chernoff's bound for the sum S of all losses is P(S > x) <= exp(K(s) - s x) for s > 0, with K(s) = ln E exp(s S).
    // `tail` is from this bound. `tilted` is from the bound for the tilted law of S, exp(K(c + r) - K(c) - r x) for
    // r > 0. `low` is from the bound on the tilted mass at losses below x, exp(K(c - r) - K(c) + r x) for r > 0.
    let low = -least_ratio(spacing, |r| moment(c - r) - whole - least);
    let tail = least_ratio(spacing, |s| moment(s) - libm::log(lost * delta));
    let tilted = least_ratio(spacing, |r| moment(c + r) - whole - least);
    // Mass above the window wraps around to the window's lower end. It stays below epsilon if it lies above the window
    // by less than `about` - `low`.
    let high = tail.max(tilted - (about - low).max(0.0)).max(about + spacing);
    Plan { c, window: (low.min(about - spacing), high) }
}

/// An upper bound on the epsilon of the worse laws at `delta`, by Renyi divergences. Infinite losses are left out.
pub(super) fn enough(laws: &[(Laws, u64)], spacing: f64, delta: f64) -> f64 {
    least_ratio(spacing, |s| log_moment(laws, |law| &law.worse, spacing, s) - libm::log(delta)).max(0.0)
}

/// An approximation, from above, of min over r > 0 of f(r) / r, for a convex f.
fn least_ratio(spacing: f64, f: impl Fn(f64) -> f64) -> f64 {
    let ratio = |r: f64| f(r) / r;
    let (low, high) = log_bracket(ratio, 1e-7 / spacing, 1.0 / spacing, 0.3);
    above_nan(ratio(libm::exp(0.5 * (low + high))))
}

/// The logarithms of the two ends of an interval in [`least`, `most`] that holds the minimum of `f`. On a logarithmic
/// scale the interval is at most `width` wide. `f` must have only one local minimum.
fn log_bracket(f: impl Fn(f64) -> f64, least: f64, most: f64, width: f64) -> (f64, f64) {
    let at = |log_x: f64| above_nan(f(libm::exp(log_x)));
    let (mut low, mut high) = (libm::log(least), libm::log(most));
    while high - low > width {
        let (a, b) = (low + 0.4 * (high - low), low + 0.6 * (high - low));
        if at(a) <= at(b) { high = b } else { low = a }
    }
    (low, high)
}

/// The value, or infinity if it is NaN because a moment overflowed.
fn above_nan(value: f64) -> f64 {
    if value.is_nan() { f64::INFINITY } else { value }
}

/// A lower and an upper bound on epsilon, at least 0, at `delta`. `about` is an estimate of epsilon. Mass outside the
/// window of `plan` wraps around into the window; the bounds allow for this.
pub(super) fn ends(laws: &[(Laws, u64)], spacing: f64, plan: Plan, about: f64, delta: f64) -> Found {
    let Plan { c, window } = plan;
    let points = (((window.1 - window.0) / spacing).ceil().max(2.0) as usize).next_power_of_two();
    let offset: f64 = laws.iter().map(|(law, count)| *count as f64 * law.offset).sum();
    let bottom = ((window.0 - offset) / spacing).floor() as i64;
    let top = bottom + points as i64 - 1;
    let low = offset + bottom as f64 * spacing;
    let high = offset + top as f64 * spacing;

    let fft = Fft::new(points);
    let mut product = vec![(Complex::ONE, Complex::ONE); points / 2 + 1];
    let (mut worse, mut better) = (Factored::default(), Factored::default());
    let per_transform = ROUNDING * f64::from(points.trailing_zeros() + 1);
    let longest = laws.iter().map(|(law, _)| law.worse.len().max(law.better.len())).max().unwrap_or(0);
    // Entry k is the factor of the tilt at a loss that is k points below the last loss, divided by the factor at the
    // last loss.
    let fall: Vec<f64> = (0..longest).map(|k| libm::exp(-c * spacing * k as f64)).collect();
    for (law, count) in laws {
        let mut packed = vec![Complex::ZERO; points];
        let one = fold(&law.worse, &fall, |k, value| packed[k % points].re += value);
        let other = fold(&law.better, &fall, |k, value| packed[k % points].im += value);
        worse.add(law, *count, spacing, c, one, per_transform * (1.0 + other / one));
        better.add(law, *count, spacing, c, other, per_transform * (1.0 + one / other));
        fft.forward(&mut packed);
        // One transform of two real sequences, the second multiplied by i. With X(k) for the transform, (X(k) + conj
        // X(-k)) / 2 is the transform of the first sequence, and (X(k) - conj X(-k)) / 2 is i times that of the second.
        for (k, (a, b)) in product.iter_mut().enumerate() {
            let (here, there) = (packed[fft.place(k)], packed[fft.place((points - k) % points)].conj());
            let (even, odd) = ((here + there).scale(0.5 / one), (here - there).scale(0.5 / other));
            *a *= even.power(*count);
            *b *= Complex::new(odd.im, -odd.re).power(*count);
        }
    }
    let mut packed = vec![Complex::ZERO; points];
    for (k, (a, b)) in product.iter().enumerate() {
        packed[fft.place(k)] = *a + Complex::new(-b.im, b.re);
        if k > 0 && k < points / 2 {
            // The transform of a real sequence at -k is the conjugate of its transform at k.
            let mirrored = b.conj();
            packed[fft.place(points - k)] = a.conj() + Complex::new(-mirrored.im, mirrored.re);
        }
    }
    fft.backward(&mut packed);

    let first =
        laws.iter().fold(0i64, |sum, (law, count)| sum.wrapping_add((*count as i64).wrapping_mul(law.first)));
    let place = |index: i64| index.wrapping_sub(first).rem_euclid(points as i64) as usize;
    // In delta, the error of a tilted mass at a loss above epsilon has a weight of at most e^{-c (loss - epsilon)}, up
    // to a common factor; `weights` bounds the Euclidean norm of all these weights.
    let weights = (1.0 + 0.5 / (c * spacing)).min(points as f64).sqrt();
    // For the worse and the better law: the mass without tilt, divided by exp(log_mass - c about), at the loss that is
    // j points below the largest loss of the window.
    let untilted = |j: i64| {
        let loss = high - j as f64 * spacing;
        let (both, tilt) = (packed[place(top - j)], libm::exp(-c * (loss - about)));
        let mass = |value: f64| (if value > 0.0 || value.is_nan() { value } else { 0.0 }) * tilt;
        (mass(both.re), mass(both.im))
    };
    let (of_worse, of_better): (Vec<f64>, Vec<f64>) = (0..points as i64).map(untilted).unzip();
    let solve = |masses: &[f64], target: f64| {
        staircase::epsilon_above(low, high, spacing, masses.iter().copied(), target)
    };
    let infinite: f64 = laws.iter().map(|(law, count)| *count as f64 * law.infinite).sum();

    let scale = worse.log_mass - c * about;
    let target = (delta - infinite) * libm::exp(-scale - worse.doubt);
    let plain = solve(&of_worse, target);
    // An upper bound on what mass above the window contributes to delta, in the unit of `target`.
    let lost = beyond(Side::Above, laws, |law| &law.worse, spacing, &worse, c, high)
        * libm::exp(-c * (high - about));
    let mut error = (worse.rounding + per_transform) * weights * libm::exp(-c * (plain - about)) + lost;
    let upper = solve(&of_worse, target - error);
    error /= target;
    let found = plain;

    let scale = better.log_mass - c * about;
    let target = delta * libm::exp(-scale + better.doubt);
    let plain = solve(&of_better, target);
    let plain = if plain.is_finite() { plain } else { about };
    let folded =
        beyond(Side::Above, laws, |law| &law.better, spacing, &better, c, high + (plain - low).max(0.0))
            + beyond(Side::Below, laws, |law| &law.better, spacing, &better, c, low);
    let part = ((better.rounding + per_transform) * weights + folded) * libm::exp(-c * (plain - about));
    // If the lower bound on epsilon is at the bottom of the window, 0 is used.
    let lower = solve(&of_better, target + part);
    let lower = if lower <= low + spacing { 0.0 } else { lower };
    let error = if error.is_finite() { error } else { f64::INFINITY };
    Found {
        ends: EpsilonBounds { lower: if lower.is_finite() { lower } else { 0.0 }, upper },
        error,
        plain: found,
    }
}

/// Calls `put` with the index of each mass and the scaled mass: the tilted mass, divided by e^{c loss} at the last loss.
/// Returns the sum of the scaled masses. `fall[k]` is e^{c loss} at k points below the last loss, divided by e^{c loss}
/// at the last loss.
fn fold(masses: &[f64], fall: &[f64], mut put: impl FnMut(usize, f64)) -> f64 {
    let last = masses.len() - 1;
    let mut size = 0.0;
    for (k, mass) in masses.iter().enumerate() {
        let value = mass * fall[last - k];
        size += value;
        put(k, value);
    }
    size.max(1e-300)
}

/// The law of the sum is computed as a product of the transforms of tilted laws, each divided by its total mass. A
/// `Factored` holds the factor by which this product must then be multiplied, and bounds on errors.
#[derive(Debug, Default)]
struct Factored {
    /// ln of the factor, which is the product of the total tilted masses of all losses.
    log_mass: f64,
    /// Bound on the error of `log_mass`: from rounding, and from the relative errors of the laws' masses.
    doubt: f64,
    /// Bound on the error of each value of the product, before the product is transformed back.
    rounding: f64,
}

impl Factored {
    fn add(&mut self, law: &Laws, count: u64, spacing: f64, c: f64, size: f64, per_value: f64) {
        let count = count as f64;
        let top = last_loss(law, spacing);
        self.log_mass += count * (libm::log(size) + c * top);
        self.doubt += count * law.relative + 1e-15 * count * (1.0 + libm::log(size).abs() + (c * top).abs());
        self.rounding += count * (per_value + 3e-16);
    }
}

fn last_loss(law: &Laws, spacing: f64) -> f64 {
    law.offset + (law.first + law.worse.len() as i64 - 1) as f64 * spacing
}

/// ln E exp(s S) of the sum S of all losses, where `part` returns the worse or the better masses of a loss; infinite
/// losses are left out.
fn log_moment(laws: &[(Laws, u64)], part: fn(&Laws) -> &[f64], spacing: f64, s: f64) -> f64 {
    laws.iter()
        .map(|(law, count)| {
            let (masses, ratio) = (part(law), libm::exp(-s.abs() * spacing));
            // Horner's scheme, relative to the end where e^{s loss} is largest.
            let horner = |sum: f64, mass: &f64| sum * ratio + mass;
            let (sum, end) = if s >= 0.0 {
                (masses.iter().fold(0.0, horner), last_loss(law, spacing))
            } else {
                (masses.iter().rev().fold(0.0, horner), law.offset + law.first as f64 * spacing)
            };
            *count as f64 * (libm::log(sum.max(1e-300)) + s * end)
        })
        .sum()
}

/// An approximation of the c > 0 at which exp(K(c) - c epsilon) is smallest; K, given as `moment`, is convex.
fn tilt(moment: impl Fn(f64) -> f64, spacing: f64, epsilon: f64) -> f64 {
    libm::exp(log_bracket(|c| moment(c) - c * epsilon, 1e-6 / spacing, 0.5 / spacing, 0.1).0)
}

/// The losses below or above a given one.
#[derive(Clone, Copy, Debug)]
enum Side {
    Above,
    Below,
}

/// Chernoff's bound on the tilted mass of all sums above or below `loss`, relative to the total tilted mass.
fn beyond(
    side: Side,
    laws: &[(Laws, u64)],
    part: fn(&Laws) -> &[f64],
    spacing: f64,
    factored: &Factored,
    c: f64,
    loss: f64,
) -> f64 {
    let side = match side {
        Side::Above => 1.0,
        Side::Below => -1.0,
    };
    chernoff(side * loss, |by| log_moment(laws, part, spacing, c + side * by) - factored.log_mass, spacing)
}

/// An approximation, from above, of min over r > 0 of exp(K(r) - r x), at most 1; K, given as `moment`, is convex with
/// K(0) = 0. The search is on a logarithmic scale.
fn chernoff(x: f64, moment: impl Fn(f64) -> f64, spacing: f64) -> f64 {
    let exponent = |r: f64| moment(r) - r * x;
    let (low, high) = log_bracket(exponent, 1e-7 / spacing, 1.0 / spacing, 0.5);
    libm::exp(above_nan(exponent(libm::exp(0.5 * (low + high)))).min(0.0))
}
