//! Conformance tests of latencies: quantile function, distribution function and mean must agree.

use super::{Violation, Violations};
use crate::network::latency::Latency;
use crate::vocab::Span;

/// Number of evenly spaced probabilities at which quantiles are checked.
const CELLS: u32 = 20_000;
/// Quantiles are compared with the distribution function at the probabilities that divide the range from 0 to 1 into this
/// number of intervals. The number is smaller than [`CELLS`], because a latency may compute its distribution function by
/// bisection, which takes longer than computing a quantile.
const COMPARED: u32 = 200;
/// Largest difference of two probabilities that count as equal in the comparison with the distribution function.
const STEP: f64 = 1e-6;
/// The integral of the quantiles over the probability u ends at -ln(1 - u) = 32. Near u = 1 - exp(-32) the spacing of
/// doubles is still small compared with 1 - u.
const TAIL: f64 = 32.0;
/// Number of cells of the integral for each unit of -ln(1 - u).
const FINE: u32 = 2000;
/// The mean is checked only if the integrand decays faster than at this rate. The integrand is a function of
/// s = -ln(1 - u): the quantile of u times exp(-s). If the probability of a delay above t falls as t^-a, the integrand
/// decays as exp(-(1 - 1/a) s), so its rate of decay is 1 - 1/a. The rate is below 0.1 for t^-1.11 and for heavier tails;
/// the part of the integral beyond [`TAIL`] is then not known accurately enough.
const SLOWEST: f64 = 0.1;

/// Checks the rules of latencies. Quantiles do not decrease as the probability grows, and the same probability gives the
/// same delay. The distribution function is the inverse of the quantile function. The mean is the integral of the
/// quantiles.
///
/// The variable of integration is s = -ln(1 - u), with u the probability. Cells of equal length in s divide the tail, where
/// 1 - u is small, as finely as the centre. The rest of the integral, beyond the last cell, is extrapolated as the tail of a
/// power law. The integral must be within 2 % of the mean if the tail is lighter than t^-1.11, even if the variance is
/// infinite. The mean is not checked for heavier tails, nor for a law whose quantiles reach [`Span::MAX`].
#[must_use]
pub fn latency(law: &dyn Latency) -> Vec<Violation> {
    let mut found = Violations::default();
    let mut last = Span::ZERO;
    for cell in 0..CELLS {
        let u = (f64::from(cell) + 0.5) / f64::from(CELLS);
        let delay = law.quantile(u);
        found.require(delay >= last, "quantiles that do not fall", || format!("{delay} after {last}"));
        found.require(law.quantile(u) == delay, "one delay for one draw", || format!("two at u = {u}"));
        last = delay;
    }
    for cell in 1..COMPARED {
        let u = f64::from(cell) / f64::from(COMPARED);
        let delay = law.quantile(u);
        // Delays are whole nanoseconds, and at an atom (a delay with a probability above 0) the distribution function may
        // jump from below u to above u. So the function need not be equal to u at the delay. One nanosecond before the
        // delay the function must not be above u, and one nanosecond after the delay it must not be below u.
        let next = delay.nanos().saturating_add(1);
        let (before, after) = (before(law, delay), law.probability_within(Span::from_nanos(next)));
        let agree = after >= u - STEP && before <= u + STEP;
        found.require(agree, "a distribution function that is the inverse of the quantiles", || {
            format!("probability {} of at most {delay}, the quantile at {u}", law.probability_within(delay))
        });
    }
    let (Some(integral), mean) = (integral(law), law.mean_seconds()) else { return found.0 };
    let agree = mean.is_finite() && (integral - mean).abs() <= 0.02 * mean.abs().max(1e-9);
    found.require(agree, "a mean that is the integral of the quantiles", || {
        format!("mean_seconds {mean}, integral {integral}")
    });
    found.0
}

/// The probability of a delay smaller than `delay`.
fn before(law: &dyn Latency, delay: Span) -> f64 {
    match delay.nanos().checked_sub(1) {
        Some(nanos) => law.probability_within(Span::from_nanos(nanos)),
        None => 0.0,
    }
}

/// The integral of the quantiles, in seconds; `None` if the tail is too heavy, or if quantiles reach the longest span.
fn integral(law: &dyn Latency) -> Option<f64> {
    let at = |s: f64| law.quantile(-libm::expm1(-s)).seconds() * libm::exp(-s);
    if law.quantile(-libm::expm1(-TAIL)) == Span::MAX {
        return None;
    }
    let cells = TAIL as u32 * FINE;
    let sum: f64 = (0..cells).map(|cell| at((f64::from(cell) + 0.5) / f64::from(FINE))).sum();
    // The rest of the integral is extrapolated with the integrand's rate of decay from 0.75 TAIL to TAIL.
    let (middle, end) = (at(0.75 * TAIL), at(TAIL));
    if end <= 0.0 {
        return Some(sum / f64::from(FINE));
    }
    let decay = libm::log(middle / end) / (0.25 * TAIL);
    (decay > SLOWEST).then(|| sum / f64::from(FINE) + end / decay)
}
