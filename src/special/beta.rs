//! The regularised incomplete beta function, which gives the tails of binomial and of Student's t distributions.

/// I_x(a, b) and 1 - I_x(a, b), each in [0, 1], for a, b > 0 and x a probability. The relative error of the smaller
/// of the two numbers is about 1e-13 for a + b up to 100. For larger a + b it is about 1e-15 (a + b), because logarithms of
/// gamma functions are subtracted. If a or b is near 0, the error may be larger, because the function may compute the
/// larger of the two numbers, which is near 1, and obtain the smaller one by subtraction from 1.
///
/// Source: the continued fraction DLMF 8.17.22, by Lentz's method as modified by Thompson and Barnett (Press,
/// Teukolsky, Vetterling and Flannery 2007, section 6.4).
#[must_use]
pub fn incomplete_beta(a: f64, b: f64, x: f64) -> (f64, f64) {
    if x <= 0.0 {
        return (0.0, 1.0);
    }
    if x >= 1.0 {
        return (1.0, 0.0);
    }
    // The continued fraction converges fast for x up to this limit. For larger x, it is computed at 1 - x instead, by the
    // symmetry 1 - I_x(a, b) = I_(1-x)(b, a).
    if x <= (a + 1.0) / (a + b + 2.0) {
        let below = part(a, b, x, (libm::log(x), libm::log1p(-x))).min(1.0);
        return (below, 1.0 - below);
    }
    let rest = 1.0 - x;
    // `rest` is exact for x above one half. For smaller x, `rest` is rounded, so both logarithms are computed from x.
    let logs = if x > 0.5 { (libm::log(rest), libm::log1p(-rest)) } else { (libm::log1p(-x), libm::log(x)) };
    let above = part(b, a, rest, logs).min(1.0);
    (1.0 - above, above)
}

/// I_x(a, b) where the continued fraction converges fast, given ln x and ln(1 - x).
fn part(a: f64, b: f64, x: f64, (log_x, log_rest): (f64, f64)) -> f64 {
    let front = libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b) + a * log_x + b * log_rest;
    libm::exp(front) * fraction(a, b, x) / a
}

/// The continued fraction of DLMF 8.17.22.
fn fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let apart = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / apart(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    for m in 1..100_000 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut step = 1.0;
        for coefficient in [even, odd] {
            d = 1.0 / apart(1.0 + coefficient * d);
            c = apart(1.0 + coefficient / c);
            step = c * d;
            fraction *= step;
        }
        if (step - 1.0).abs() < 1e-15 {
            break;
        }
    }
    fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closed_forms_and_symmetry() {
        for x in [1e-12, 0.1, 0.3, 0.5, 0.7, 0.999_999] {
            // I_x(1, b) = 1 - (1 - x)^b and I_x(a, 1) = x^a.
            for power in [0.5, 1.0, 7.0, 300.0] {
                let (below, above) = incomplete_beta(1.0, power, x);
                let expected = libm::exp(power * libm::log1p(-x));
                assert!((above - expected).abs() <= 1e-12 * expected.max(1e-3), "{x} {power}: {above}");
                assert!(
                    (below + libm::expm1(power * libm::log1p(-x))).abs() <= 1e-12,
                    "{x} {power}: {below}"
                );
                let (below, _) = incomplete_beta(power, 1.0, x);
                let expected = libm::pow(x, power);
                assert!((below - expected).abs() <= 1e-12 * expected.max(1e-3), "{x} {power}: {below}");
            }
            let ((p, q), (r, s)) = (incomplete_beta(2.5, 4.0, x), incomplete_beta(4.0, 2.5, 1.0 - x));
            assert!((p - s).abs() < 1e-13 && (q - r).abs() < 1e-13, "{x}: {p} {q} {r} {s}");
        }
        assert_eq!(
            (incomplete_beta(2.0, 3.0, 0.0), incomplete_beta(2.0, 3.0, 1.0)),
            ((0.0, 1.0), (1.0, 0.0))
        );
    }
}
