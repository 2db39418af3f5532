//! The tight accountant by an integral along a line in the complex plane.
//!
//! Let L = ln dP/dQ be the total loss, and K(z) = ln E exp(z L) under P. Delta at epsilon is the mean of g(L - epsilon)
//! under P, where g(y) = 1 - exp(-y) for y > 0 and g(y) = 0 otherwise. The Laplace transform of g is 1/(z (z + 1)).
//! Inverting this transform gives, for any c > 0, delta(epsilon) = 1/(2 pi i) * integral from c - i inf to c + i inf of
//! exp(K(z) - z epsilon) / (z (z + 1)) dz.
//!
//! On the positive real axis, this integrand is smallest at one c, the saddle point. On the line through the saddle
//! point, the integrand decreases like a Gaussian. The error of the trapezoid rule with step h is the sum over m != 0 of
//! exp(c A m) delta(epsilon + A m), where A = 2 pi / h. Every term of this error is at least 0, so the result of the
//! trapezoid rule is an upper bound on delta(epsilon).

use crate::accounting::complex::Complex;
use crate::accounting::laws::{Cumulants, Law};
use std::f64::consts::PI;

/// Laws of the loss, each with the number of times that it is composed.
pub(in crate::accounting) type Laws = [(Box<dyn Law>, u64)];

type OwnLaws = Vec<(Box<dyn Law>, u64)>;

/// A lower and an upper bound on an epsilon, its two "ends".
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::accounting) struct EpsilonBounds {
    pub(in crate::accounting) lower: f64,
    pub(in crate::accounting) upper: f64,
}

/// K of the whole composition (see the module's documentation), and the first two derivatives of K.
pub(super) fn cumulants(laws: &Laws, s: f64) -> Cumulants {
    laws.iter().fold(Cumulants::ZERO, |sum, (law, count)| sum.plus(*count as f64, law.cumulants(s)))
}

/// The point c at which the line crosses the real axis, with the saddle-point approximation at this point.
#[derive(Clone, Copy, Debug)]
pub(super) struct SaddlePoint {
    pub(super) c: f64,
    /// The epsilon for which c is the saddle point of the integrand.
    pub(super) epsilon: f64,
    pub(super) cumulants: Cumulants,
    /// Curvature of the whole integrand, K'' + 1/c^2 + 1/(c + 1)^2.
    pub(super) curvature: f64,
}

impl SaddlePoint {
    pub(super) fn at(laws: &Laws, c: f64) -> Self {
        let cumulants = cumulants(laws, c);
        let epsilon = cumulants.mean - 1.0 / c - 1.0 / (c + 1.0);
        let curvature = cumulants.variance + 1.0 / (c * c) + 1.0 / ((c + 1.0) * (c + 1.0));
        Self { c, epsilon, cumulants, curvature }
    }

    /// ln of the approximate delta at `epsilon`.
    fn log_delta(&self) -> f64 {
        let c = self.c;
        self.cumulants.value
            - c * self.epsilon
            - libm::log(c * (c + 1.0))
            - 0.5 * libm::log(2.0 * PI * self.curvature)
    }

    /// A saddle point at which the approximate delta is `delta`, usually up to a factor of 1.3. This accuracy is enough,
    /// because the integral has the same value for any c.
    pub(super) fn find(laws: &Laws, delta: f64) -> Self {
        let target = libm::log(delta);
        let (mut low, mut high) = (-16.0, 16.0);
        let mut log_c: f64 = 0.5;
        let mut saddle = Self::at(laws, libm::exp(log_c));
        for _ in 0..60 {
            let error = saddle.log_delta() - target;
            if error.abs() < 0.25 || high - low < 1e-6 {
                break;
            }
            // Delta decreases as c increases. The next ln c is that of a Newton step, or the middle of the bracket if the
            // step leaves the bracket.
            if error > 0.0 {
                low = log_c;
            } else {
                high = log_c;
            }
            let slope = saddle.c * saddle.c * saddle.curvature;
            let next = log_c + (error / slope).clamp(-1.5, 1.5);
            log_c = if next > low && next < high { next } else { 0.5 * (low + high) };
            saddle = Self::at(laws, libm::exp(log_c));
        }
        saddle
    }
}

/// Number of nodes of the trapezoid rule that are computed together.
const BLOCK: usize = 32;
/// Largest number of nodes of the trapezoid rule.
const MAX_NODES: usize = 8192;
/// Largest number of terms for one value of a law's transform exp(K); if more are needed, the line is given up.
const MAX_TERMS: f64 = 40_000.0;
/// Largest contribution of the terms beyond the last node, relative to the estimated integral.
const TRUNCATION: f64 = 1e-14;
/// Largest number of terms of all values together, at effort 1.
const MAX_WORK: f64 = 4e5;
/// A part of the allowed work; the allowed work is `effort` times [`MAX_WORK`]. If more work than this part is done and
/// |exp(K(c + i y) - K(c))|, which is 1 at y = 0, has not decreased to 1/10, the line is given up.
const FIRST_PART: f64 = 0.1;

/// Both ends of epsilon at `delta`; `None` if no line gives a sum that is accurate and takes no more work than allowed.
///
/// The first line crosses the real axis at the saddle point. If large losses are rare, the tilted law at this point
/// consists of the large losses alone, and the error of the trapezoid rule (aliasing) is not small. If the first line does
/// not give close ends, the largest losses are removed from the laws. Let s + 1 be the best Renyi order of the remaining
/// laws. The next line crosses the real axis at s; further lines, if they are needed, cross it nearer to 0.
///
/// `effort` multiplies the limit on the work.
pub(super) fn epsilon(laws: &Laws, delta: f64, effort: f64) -> Option<EpsilonBounds> {
    let mut best: Option<EpsilonBounds> = None;
    let mut look = |laws: &Laws, saddle: &SaddlePoint, lost: f64| {
        if let Some(ends) = at(laws, saddle, delta, lost, effort)
            .filter(|ends| ends.lower <= ends.upper && ends.upper.is_finite())
        {
            let lower = best.map_or(ends.lower, |best| best.lower.max(ends.lower));
            let upper = best.map_or(ends.upper, |best| best.upper.min(ends.upper));
            best = Some(EpsilonBounds { lower: lower.min(upper), upper });
        }
        best.is_some_and(|best| best.upper <= 0.0 || best.upper - best.lower <= CLOSE * best.upper)
    };
    let saddle = SaddlePoint::find(laws, delta);
    if !look(laws, &saddle, 0.0) {
        let (tapered, lost) = tapered(laws, delta);
        let order = best_order(&tapered, delta);
        let _ = [1.0, 0.5, 0.25]
            .into_iter()
            .any(|part| look(&tapered, &SaddlePoint::at(&tapered, part * order), lost));
    }
    best
}

/// Approximately the largest relative change of delta that removing the largest losses may cause.
const LOST: f64 = 1e-8;

/// The laws without their largest losses, and an upper bound on the removed mass divided by delta.
fn tapered(laws: &Laws, delta: f64) -> (OwnLaws, f64) {
    let releases: f64 = laws.iter().map(|(_, count)| *count as f64).sum();
    let mut all = 0.0;
    let tapered = laws
        .iter()
        .map(|(law, count)| match law.tapered(LOST * delta / releases) {
            Some((law, lost)) => {
                all += *count as f64 * lost;
                (law, *count)
            }
            None => (law.duplicate(), *count),
        })
        .collect();
    (tapered, all / delta)
}

/// An approximation of the s > 0 at which (K(s) - ln delta) / s is smallest.
fn best_order(laws: &Laws, delta: f64) -> f64 {
    let bound = |log_s: f64| {
        let s = libm::exp(log_s);
        let found = (cumulants(laws, s).value - libm::log(delta)) / s;
        if found.is_nan() { f64::INFINITY } else { found }
    };
    let (mut low, mut high) = (-16.0, 20.0);
    while high - low > 0.3 {
        let (a, b) = (low + 0.4 * (high - low), low + 0.6 * (high - low));
        if bound(a) <= bound(b) {
            high = b;
        } else {
            low = a;
        }
    }
    libm::exp(0.5 * (low + high))
}

/// If the two ends differ by at most this share of the upper one, no other line is tried.
const CLOSE: f64 = 1e-7;

/// Both ends of epsilon from a line through `saddle`; `lost` is the mass that was removed from the laws, divided by
/// delta. `None` if the sum would be too long or is not accurate.
fn at(laws: &Laws, saddle: &SaddlePoint, delta: f64, lost: f64, effort: f64) -> Option<EpsilonBounds> {
    let most_work = effort * MAX_WORK;
    let c = saddle.c;
    let k = saddle.cumulants;
    if laws.iter().any(|(law, _)| !law.is_exact(c)) {
        return None;
    }
    let step = (0.35 / saddle.curvature.sqrt()).min(2.0 * PI * c / (30.0 - libm::log(delta)));
    let size = 1.0 / (c * (c + 1.0) * (2.0 * PI * saddle.curvature).sqrt());
    let highest = step * MAX_NODES as f64;
    if laws.iter().all(|(law, _)| law.ceiling(c, highest).is_some())
        && ceiling(laws, c, highest) / (PI * highest) > TRUNCATION * size
    {
        return None;
    }

    // Each y on the line, with the term of the sum at y without its phase exp(-i y epsilon).
    let mut terms: Vec<(f64, Complex)> = Vec::new();
    let mut work = 0.0;
    let beyond = loop {
        let from = terms.len();
        let y_max = (from + BLOCK) as f64 * step;
        if from >= MAX_NODES || laws.iter().any(|(law, _)| law.terms(c, y_max) > MAX_TERMS) {
            return None;
        }
        work += BLOCK as f64 * laws.iter().map(|(law, _)| law.terms(c, y_max)).sum::<f64>();
        if work > most_work {
            return None;
        }
        let (mut watched, mut proven) = ([Complex::ONE; BLOCK], [Complex::ONE; BLOCK]);
        for (law, count) in laws {
            let values = if law.ceiling(c, 0.0).is_some() { &mut proven } else { &mut watched };
            law.contour(c, step, from, *count, values);
        }
        for (j, (a, b)) in watched.iter().zip(proven).enumerate() {
            let y = (from + j) as f64 * step;
            let kernel = (Complex::new(c, y) * Complex::new(c + 1.0, y)).inverse();
            terms.push((y, *a * b * kernel));
        }
        let y = (from + BLOCK) as f64 * step;
        let seen = watched[BLOCK / 2..].iter().fold(0.0, |most: f64, v| most.max(v.norm_squared())).sqrt();
        let beyond = seen * ceiling(laws, c, y) / (PI * y);
        if work > FIRST_PART * most_work && seen * ceiling(laws, c, y) > 0.1 {
            return None;
        }
        if beyond <= TRUNCATION * size {
            break beyond;
        }
    };

    let sums = |epsilon: f64| {
        let (mut value, mut slope, mut moduli) = (0.0, 0.0, 0.0);
        for (j, (y, term)) in terms.iter().enumerate() {
            let weight = if j == 0 { 0.5 } else { 1.0 };
            let turned = (*term * Complex::turn(-y * epsilon)).scale(weight);
            value += turned.re;
            slope -= c * turned.re - y * turned.im;
            moduli += term.norm_squared().sqrt();
        }
        (value * step / PI, slope * step / PI, moduli * step / PI)
    };
    let target = libm::log(delta) - k.value;
    let mut epsilon = saddle.epsilon;
    for _ in 0..60 {
        let (value, slope, _) = sums(epsilon);
        if value <= 0.0 {
            return None;
        }
        let by = (libm::log(value) - c * epsilon - target) / (slope / value);
        epsilon -= by;
        if by.abs() <= 1e-15 * epsilon.abs().max(1.0) {
            break;
        }
    }
    let (value, slope, moduli) = sums(epsilon);
    // Newton's method must have converged: delta must decrease in epsilon and have the requested value.
    let missed = (libm::log(value) - c * epsilon - target).abs();
    if value.is_nan() || value <= 0.0 || slope >= 0.0 || missed.is_nan() || missed > 1e-9 {
        return None;
    }
    // Converts a relative error of delta into an error of epsilon.
    let per_relative = value / slope.abs();
    let releases: f64 = laws.iter().map(|(_, count)| *count as f64).sum();
    let rounding = 1e-15 * (releases + k.value.abs() + (c * epsilon).abs() + 10.0) * (moduli / value);
    let aliasing = aliasing(laws, saddle, epsilon, step, value);
    // A safety factor of 10, because for some laws the decrease of the values is observed, not proven.
    let truncation = 10.0 * beyond / value;
    Some(EpsilonBounds {
        lower: epsilon - (rounding + truncation + aliasing) * per_relative,
        upper: epsilon + (rounding + truncation + 1.1 * lost) * per_relative,
    })
}

/// A bound on |exp(K(c + i v) - K(c))| for all v >= `y`, where K is that of the whole composition: the product of the
/// laws' proven bounds. Laws without a proven bound are left out, because their factors are at most 1.
fn ceiling(laws: &Laws, c: f64, y: f64) -> f64 {
    let log: f64 = laws
        .iter()
        .filter_map(|(law, count)| law.ceiling(c, y).map(|bound| *count as f64 * libm::log(bound)))
        .sum();
    libm::exp(log)
}

/// A bound on the error of the trapezoid rule, relative to delta: the sum over m != 0 in the module's documentation, with
/// A = `period`. The terms with m < 0 and those with m > 0 are bounded by one geometric series each.
fn aliasing(laws: &Laws, saddle: &SaddlePoint, epsilon: f64, step: f64, value: f64) -> f64 {
    let c = saddle.c;
    let period = 2.0 * PI / step;
    let log_delta = saddle.cumulants.value - c * epsilon + libm::log(value);
    // The terms with m < 0: exp(-c A |m|) times a delta that is at most 1.
    let below = libm::exp(-c * period - log_delta) / -libm::expm1(-c * period);
    // The terms with m > 0: the smallest of the Chernoff bounds delta(x) <= exp(K(r) - r x) for several r above c.
    let mut above = f64::INFINITY;
    for spreads in [6.0, 3.0, 1.5, 0.75] {
        let r = c + spreads / saddle.curvature.sqrt();
        let log = cumulants(laws, r).value - r * epsilon - (r - c) * period - log_delta;
        above = above.min(libm::exp(log) / -libm::expm1(-(r - c) * period));
        if above < 1e-16 {
            break;
        }
    }
    below + above
}
