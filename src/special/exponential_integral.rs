//! The entire exponential integral, which gives the mean of a Gumbel distribution that is truncated at 0.

/// Ein(e^y), the integral of (1 - e^-t) / t from 0 to e^y; relative error about 1e-14. The argument is the logarithm y,
/// because e^y may overflow.
///
/// Source: DLMF 6.2.3 and 6.6.4 (series), 6.2.4 and 6.9.1 (continued fraction of E1).
#[must_use]
pub fn entire_exponential_integral(y: f64) -> f64 {
    const EULER: f64 = 0.577_215_664_901_532_9;
    let x = libm::exp(y);
    if x <= 2.0 {
        // x - x^2 / (2 2!) + x^3 / (3 3!) - ...
        let (mut sum, mut power) = (0.0, -1.0);
        for k in 1..60 {
            let k = f64::from(k);
            power *= -x / k;
            sum += power / k;
        }
        return sum;
    }
    // Ein(x) = ln x + Euler's constant + E1(x). For x above 700, E1(x) is smaller than the rounding error of this sum.
    y + EULER + if x > 700.0 { 0.0 } else { first(x) }
}

/// E1(x) for x above 2.
fn first(x: f64) -> f64 {
    let mut b = x + 1.0;
    let (mut c, mut d) = (1e300, 1.0 / b);
    let mut fraction = d;
    for i in 1..1000 {
        let coefficient = -f64::from(i * i);
        b += 2.0;
        d = 1.0 / (coefficient * d + b);
        c = b + coefficient / c;
        fraction *= c * d;
        if (c * d - 1.0).abs() < 1e-16 {
            break;
        }
    }
    fraction * libm::exp(-x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_agree_with_those_in_arithmetic_of_forty_digits() {
        for (x, expected) in [
            (0.001, 0.000_999_750_055_545_140_5),
            (0.5, 0.443_842_079_117_748_37),
            (1.9, 1.275_273_929_248_462_5),
            (2.1, 1.361_767_351_139_425_3),
            (10.0, 2.879_804_914_864_508),
            (700.0, 7.128_295_999_944_937),
        ] {
            let found = entire_exponential_integral(libm::log(x));
            assert!((found / expected - 1.0_f64).abs() < 1e-13, "{x}: {found} for {expected}");
        }
    }
}
