//! Functions with valleys: Rosenbrock, and the six-hump camel.

/// Rosenbrock; 0 where every coordinate is 1.
pub(super) fn rosenbrock(x: &[f64]) -> f64 {
    let terms = x.windows(2).map(|pair| {
        let (curve, along) = (pair[1] - pair[0] * pair[0], pair[0] - 1.0);
        100.0 * curve * curve + along * along
    });
    terms.sum()
}

/// The six-hump camel function of two inputs.
pub(super) fn six_hump_camel(x: &[f64]) -> f64 {
    let (a, b) = (x[0] * x[0], x[1] * x[1]);
    (4.0 - 2.1 * a + a * a / 3.0) * a + x[0] * x[1] + (4.0 * b - 4.0) * b
}

/// The smallest value of the six-hump camel function, at (0.0898420131, -0.7126564030) and at the
/// same point with both signs changed. The value was computed at a stationary point that was found
/// with 30 digits (mpmath 1.3, starting at the minimiser in the literature).
pub(super) const LEAST_CAMEL: f64 = -1.031_628_453_489_877_4;
