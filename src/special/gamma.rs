//! The regularised incomplete gamma functions and their inverse, for gamma distributions and the tails of Poisson counts.

use super::normal_quantile;

/// The regularised incomplete gamma functions: the lower one, P(a, x), and the upper one, Q(a, x) = 1 - P(a, x), for a > 0.
/// Each is in [0, 1]. The relative error of the smaller one is about 1e-13 for a from 0.01 to 1e6. If x is at most 0 or NaN,
/// the result is (0, 1).
///
/// Source: the series DLMF 8.7.1 and the continued fraction DLMF 8.9.2, by Lentz's method (Press, Teukolsky, Vetterling
/// and Flannery 2007, section 6.2).
#[must_use]
pub fn incomplete_gamma(a: f64, x: f64) -> (f64, f64) {
    if x.is_nan() || x <= 0.0 {
        return (0.0, 1.0);
    }
    if x == f64::INFINITY {
        return (1.0, 0.0);
    }
    // x^a e^-x / Gamma(a + 1)
    let term = poisson_mass(a, x);
    if x < a + 1.0 {
        let below = (term * series(a, x)).min(1.0);
        return (below, 1.0 - below);
    }
    let above = (term * a * fraction(a, x)).min(1.0);
    (1.0 - above, above)
}

/// The quantile of the gamma distribution of scale 1: the x with P(a, x) = p, for a > 0. The result is 0 for p of at most 0,
/// and infinite for p of at least 1.
///
/// The relative error is below 1e-12 for a from 0.01 to 1e6. A quantile below the smallest positive double is 0.
///
/// Newton's method is applied to the logarithm of the smaller tail: to ln P(a, x) as a function of ln x, or to ln Q(a, x) as
/// a function of x. The first function is concave. The second one is concave for a of at least 1, and convex for smaller a.
/// Both are monotone. The tangent of a concave function is nowhere below the function, and that of a convex function is
/// nowhere above that function. So a step of full length ends on a side of the quantile that does not depend on where the
/// step begins, and no later step leaves this side. The iterates pass the quantile at most once, and cannot cycle.
#[must_use]
pub fn gamma_quantile(a: f64, p: f64) -> f64 {
    if p <= 0.0 {
        return 0.0;
    }
    if p >= 1.0 {
        return f64::INFINITY;
    }
    let start = first_guess(a, p);
    if start == 0.0 {
        return 0.0;
    }
    if p <= 0.5 { from_below(a, libm::log(p), start) } else { from_above(a, libm::log1p(-p), start) }
}

/// Largest number of steps of Newton's method; fewer than ten are usual.
const MAX_STEPS: u32 = 100;
/// A relative step below which the next one, by quadratic convergence, is smaller than the rounding error.
const SETTLED: f64 = 1e-9;

/// A starting point. The approximation of Wilson and Hilferty is that a gamma variable is approximately a times the cube of
/// a normally distributed number. The starting point is the quantile of this approximation, unless a is below 1 or the
/// number that is cubed is below 0.1. Then the starting point is the x at which the first term of the series of P(a, x) near
/// x = 0, which is x^a / Gamma(a + 1), equals p. This x is a lower bound of the quantile.
fn first_guess(a: f64, p: f64) -> f64 {
    let near_zero = libm::exp((libm::log(p) + libm::lgamma(a + 1.0)) / a);
    let root = 1.0 - 1.0 / (9.0 * a) + normal_quantile(p) / (3.0 * a.sqrt());
    if a < 1.0 || root < 0.1 { near_zero } else { a * root * root * root }
}

/// The x at which ln P(a, x) is `wanted`, by Newton steps in ln x.
fn from_below(a: f64, wanted: f64, start: f64) -> f64 {
    let mut x = start;
    for _ in 0..MAX_STEPS {
        let below = incomplete_gamma(a, x).0;
        // d ln P / d ln x
        let slope = a * poisson_mass(a, x) / below;
        let step = ((wanted - libm::log(below)) / slope).clamp(-3.0, 3.0);
        x *= libm::exp(step);
        if step.abs() < SETTLED || x == 0.0 {
            break;
        }
    }
    x
}

/// The x at which ln Q(a, x) is `wanted`, by Newton steps in x.
fn from_above(a: f64, wanted: f64, start: f64) -> f64 {
    let mut x = start;
    for _ in 0..MAX_STEPS {
        let above = incomplete_gamma(a, x).1;
        // - d ln Q / d x
        let slope = a * poisson_mass(a, x) / (x * above);
        let step = ((libm::log(above) - wanted) / slope).clamp(-0.9 * x, 2.0 * x + 2.0);
        x += step;
        if step.abs() < SETTLED * x {
            break;
        }
    }
    x
}

/// x^a e^-x / Gamma(a + 1) for a, x > 0, without loss of digits where a is large (Loader 2000, "Fast and accurate
/// computation of binomial probabilities").
fn poisson_mass(a: f64, x: f64) -> f64 {
    if a < 10.0 {
        return libm::exp(a * libm::log(x) - x - libm::lgamma(a + 1.0));
    }
    let scale = (2.0 * std::f64::consts::PI * a).sqrt();
    libm::exp(-stirling_error(a) - deviance(a, x)) / scale
}

/// ln Gamma(a + 1) minus Stirling's approximation of it, for a of at least 10 (DLMF 5.11.1).
fn stirling_error(a: f64) -> f64 {
    const TERMS: [f64; 7] = [
        1.0 / 12.0,
        -1.0 / 360.0,
        1.0 / 1260.0,
        -1.0 / 1680.0,
        1.0 / 1188.0,
        -691.0 / 360_360.0,
        1.0 / 156.0,
    ];
    let square = 1.0 / (a * a);
    TERMS.iter().rev().fold(0.0, |sum, term| sum * square + term) / a
}

/// a ln(a / x) + x - a, which is at least 0. It is computed by a series if a and x are close.
fn deviance(a: f64, x: f64) -> f64 {
    let difference = a - x;
    if difference.abs() >= 0.1 * (a + x) {
        return a * libm::log(a / x) - difference;
    }
    let v = difference / (a + x);
    let (mut sum, mut power) = (difference * v, 2.0 * a * v);
    for j in 1..1000 {
        power *= v * v;
        let next = sum + power / f64::from(2 * j + 1);
        if next == sum {
            break;
        }
        sum = next;
    }
    sum
}

/// 1 + x / (a + 1) + x^2 / ((a + 1)(a + 2)) + ..., for x below a + 1.
fn series(a: f64, x: f64) -> f64 {
    let (mut term, mut sum, mut divisor) = (1.0, 1.0, a);
    // For a = x = 1e6 about 8,000 terms are needed.
    for _ in 0..1_000_000 {
        divisor += 1.0;
        term *= x / divisor;
        sum += term;
        if term < sum * 1e-17 {
            break;
        }
    }
    sum
}

/// The continued fraction of Q(a, x) Gamma(a) e^x / x^a, for x of at least a + 1.
fn fraction(a: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let apart = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut b = x + 1.0 - a;
    let mut c = 1.0 / TINY;
    let mut d = 1.0 / apart(b);
    let mut fraction = d;
    for i in 1..1_000_000 {
        let i = f64::from(i);
        let coefficient = -i * (i - a);
        b += 2.0;
        d = 1.0 / apart(coefficient * d + b);
        c = apart(b + coefficient / c);
        let step = c * d;
        fraction *= step;
        if (step - 1.0).abs() < 1e-16 {
            break;
        }
    }
    fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shape, probability, and quantile to 17 digits. Computed by bisection on incomplete gamma functions in arithmetic of
    /// 40 digits.
    const QUANTILES: &[(f64, f64, f64)] = &[
        (0.01, 0.25, 3.522_685_997_313_756e-61),
        (0.01, 0.5, 4.465_535_018_910_355e-31),
        (0.01, 0.9, 1.503_593_623_070_294_8e-05),
        (0.01, 0.999, 1.509_084_147_694_749_9),
        (0.01, 0.999_999_999_999_090_5, 20.109_230_192_198_833),
        (0.1, 1.110_223_024_625_156_5e-16, 1.727_861_937_099_317_6e-160),
        (0.1, 1e-09, 6.073_048_362_407_956e-91),
        (0.1, 0.001, 6.073_048_362_407_907e-31),
        (0.1, 0.25, 5.791_713_294_969_607e-07),
        (0.1, 0.5, 0.000_593_391_104_460_226_1),
        (0.1, 0.9, 0.266_154_553_738_837_84),
        (0.1, 0.999, 3.363_677_011_718_753_6),
        (0.1, 0.999_999_999_999_090_5, 22.628_394_906_872_16),
        (0.5, 1.110_223_024_625_156_5e-16, 9.680_779_783_384_862e-33),
        (0.5, 1e-09, 7.853_981_633_974_484e-19),
        (0.5, 0.001, 7.853_985_746_312_45e-07),
        (0.5, 0.25, 0.050_765_522_133_810_775),
        (0.5, 0.5, 0.227_468_211_559_786_4),
        (0.5, 0.9, 1.352_771_727_047_707_5),
        (0.5, 0.999, 5.413_783_085_331_365_5),
        (0.5, 0.999_999_999_999_090_5, 25.515_167_833_748_652),
        (1.0, 1.110_223_024_625_156_5e-16, 1.110_223_024_625_156_5e-16),
        (1.0, 1e-09, 1.000_000_000_500_000_1e-09),
        (1.0, 0.001, 0.001_000_500_333_583_533_5),
        (1.0, 0.25, 0.287_682_072_451_780_9),
        (1.0, 0.5, std::f64::consts::LN_2),
        (1.0, 0.9, std::f64::consts::LN_10),
        (1.0, 0.999, 6.907_755_278_982_136),
        (1.0, 0.999_999_999_999_090_5, 27.725_887_222_397_812),
        (1.7, 1.110_223_024_625_156_5e-16, 5.321_445_826_665_737e-10),
        (1.7, 1e-09, 6.560_936_878_042_645e-06),
        (1.7, 0.001, 0.022_385_834_486_309_06),
        (1.7, 0.25, 0.745_062_722_761_855_3),
        (1.7, 0.5, 1.380_762_075_939_121),
        (1.7, 0.9, 3.436_646_394_452_656_4),
        (1.7, 0.999, 8.584_612_769_946_618),
        (1.7, 0.999_999_999_999_090_5, 30.230_568_178_074_346),
        (3.0, 1.110_223_024_625_156_5e-16, 8.733_495_650_441_965e-06),
        (3.0, 1e-09, 0.001_817_946_600_027_015_7),
        (3.0, 0.001, 0.190_533_377_568_403_2),
        (3.0, 0.25, 1.727_299_417_860_519_4),
        (3.0, 0.5, 2.674_060_313_723_560_3),
        (3.0, 0.9, 5.322_320_337_834_21),
        (3.0, 0.999, 11.228_872_242_412_661),
        (3.0, 0.999_999_999_999_090_5, 34.152_967_000_919_32),
        (30.0, 1.110_223_024_625_156_5e-16, 4.029_979_447_767_459),
        (30.0, 1e-09, 7.739_647_727_297_11),
        (30.0, 0.001, 15.869_170_797_140_358),
        (30.0, 0.25, 26.146_908_291_887_556),
        (30.0, 0.5, 29.667_333_138_221_23),
        (30.0, 0.9, 37.198_502_859_684_3),
        (30.0, 0.999, 49.803_616_534_924_686),
        (30.0, 0.999_999_999_999_090_5, 86.071_434_686_696_83),
        (1_000.0, 1.110_223_024_625_156_5e-16, 762.070_537_026_186_6),
        (1_000.0, 1e-09, 821.832_753_583_170_9),
        (1_000.0, 0.001, 905.120_790_934_976_6),
        (1_000.0, 0.25, 978.492_966_494_692_8),
        (1_000.0, 0.5, 999.666_686_426_965_2),
        (1_000.0, 0.9, 1_040.734_308_013_69),
        (1_000.0, 0.999, 1_100.578_098_293_314_5),
        (1_000.0, 0.999_999_999_999_090_5, 1_239.346_025_324_158_3),
        (123_456.0, 1.110_223_024_625_156_5e-16, 120_593.565_077_271_57),
        (123_456.0, 1e-09, 121_360.236_289_969_25),
        (123_456.0, 0.001, 122_373.055_739_618_77),
        (123_456.0, 0.25, 123_218.827_878_635_03),
        (123_456.0, 0.5, 123_455.666_666_826_67),
        (123_456.0, 0.9, 123_906.503_461_697_2),
        (123_456.0, 0.999, 124_544.643_944_363_34),
    ];

    #[test]
    fn quantiles_agree_with_those_in_arithmetic_of_forty_digits() {
        for &(a, p, expected) in QUANTILES {
            let found = gamma_quantile(a, p);
            assert!((found / expected - 1.0).abs() < 1e-12, "{a} {p}: {found} for {expected}");
        }
    }

    #[test]
    fn quantiles_invert_the_distribution_function() {
        for a in [0.01, 0.3, 1.0, 2.5, 9.99, 10.0, 47.0, 2_000.0, 1e5] {
            for k in 1..400 {
                let p = f64::from(k) / 400.0;
                let (below, above) = incomplete_gamma(a, gamma_quantile(a, p));
                let error = if p <= 0.5 { below / p - 1.0 } else { above / (1.0 - p) - 1.0 };
                // At a = 1e5 the rounding of x changes P by about 1e-16 sqrt(a) relatively, and by more in the tails.
                assert!(error.abs() < 1e-12, "{a} {p}: {error}");
            }
        }
    }

    #[test]
    fn closed_forms() {
        for x in [1e-9, 0.1, 1.0, 1.9, 2.1, 3.5, 40.0, 600.0] {
            let (below, above) = incomplete_gamma(1.0, x);
            assert!(
                (below / -libm::expm1(-x) - 1.0).abs() < 1e-13 && (above / libm::exp(-x) - 1.0).abs() < 1e-13
            );
            // Q(1/2, x) = erfc(sqrt x), Q(3, x) = e^-x (1 + x + x^2 / 2)
            let above = incomplete_gamma(0.5, x).1;
            assert!((above / libm::erfc(x.sqrt()) - 1.0).abs() < 1e-12, "{x}");
            let above = incomplete_gamma(3.0, x).1;
            assert!((above / (libm::exp(-x) * (1.0 + x + 0.5 * x * x)) - 1.0).abs() < 1e-12, "{x}");
        }
        assert_eq!([gamma_quantile(2.0, 0.0), gamma_quantile(2.0, 1.0)], [0.0, f64::INFINITY]);
        // This quantile is far below the smallest positive double.
        assert_eq!(gamma_quantile(0.01, 1e-9), 0.0);
    }
}
