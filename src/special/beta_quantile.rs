//! The quantile of the beta distribution: the inverse of the regularised incomplete beta function.

use super::{gamma_quantile, incomplete_beta};

/// The x with I_x(a, b) = p, for a, b > 0, where I_x(a, b) is the regularised incomplete beta function. The result is 0 for
/// p of at most 0, and 1 for p of at least 1.
///
/// Before x is rounded, the relative error of the smaller one of x and 1 - x is below 1e-12 for a and b from 0.01 to 100.
/// The error is larger if one of a and b is large and the other is small: up to 1e-9 for a and b from 0.01 to 1e4. If x is
/// near 1, 1 - x also has the rounding error of x, about 1e-16 at most; a quantile within 5e-17 of 1 is returned as 1.
///
/// Newton's method is applied to the logarithm of the smaller one of the two tails, I_x(a, b) and 1 - I_x(a, b), as a
/// function of ln(x / (1 - x)). This function is monotone, and concave because both tails are log-concave in this variable.
/// The tangent of a concave function is nowhere below the function. So a step of full length ends on the side of the
/// quantile where the function is at most the wanted value, and no later step leaves this side. The iterates pass the
/// quantile at most once, and cannot cycle.
#[must_use]
pub fn beta_quantile(a: f64, b: f64, p: f64) -> f64 {
    if p <= 0.0 {
        return 0.0;
    }
    if p >= 1.0 {
        return 1.0;
    }
    let below_half = incomplete_beta(a, b, 0.5).0;
    if p <= below_half { lower_half(a, b, (p, 1.0 - p)) } else { 1.0 - lower_half(b, a, (1.0 - p, p)) }
}

/// Most steps of Newton's method; fewer than ten are usual.
const MAX_STEPS: u32 = 100;
/// A step below which the next one, by quadratic convergence, is smaller than the rounding error.
const SETTLED: f64 = 1e-9;

/// A starting point at which neither tail underflows; 0 if the starting point is below the smallest positive double.
fn first_guess(a: f64, b: f64, below: f64, log_beta: f64) -> f64 {
    if a >= 1.0 && b >= 1.0 {
        return a / (a + b);
    }
    if a < 1.0 && b >= 1.0 {
        // A beta variable is G / (G + H), where G and H are gamma-distributed with shapes a and b. H is replaced by its
        // mean, b.
        let first = gamma_quantile(a, below);
        return first / (first + b);
    }
    // The x, but at most 1/2, at which the first term of the series of I_x(a, b) near x = 0 equals `below`. This term is
    // x^a / (a B(a, b)).
    libm::exp((libm::log(below) + libm::log(a) + log_beta) / a).min(0.5)
}

/// A quantile that is at most 1/2, given the probabilities `below` and `above` it.
fn lower_half(a: f64, b: f64, (below, above): (f64, f64)) -> f64 {
    let log_beta = libm::lgamma(a) + libm::lgamma(b) - libm::lgamma(a + b);
    let mut x = first_guess(a, b, below, log_beta);
    // Steps are limited to a few standard deviations of ln(X / (1 - X)) for a beta variable X, so that no tail underflows.
    let farthest = 3.0 * ((1.0 / a + 1.0 / b).sqrt() + 1.0 / a + 1.0 / b);
    let wanted = if below <= above { libm::log(below) } else { libm::log(above) };
    for _ in 0..MAX_STEPS {
        if x == 0.0 {
            break;
        }
        let (now_below, now_above) = incomplete_beta(a, b, x);
        // dI / d ln(x / (1 - x))
        let slope = libm::exp(a * libm::log(x) + b * libm::log1p(-x) - log_beta);
        let step = if below <= above {
            (wanted - libm::log(now_below)) * now_below / slope
        } else {
            (libm::log(now_above) - wanted) * now_above / slope
        };
        let step = step.clamp(-farthest, farthest);
        // Multiplies x / (1 - x) by e^step.
        x = x * libm::exp(step) / (1.0 + x * libm::expm1(step));
        if step.abs() < SETTLED {
            break;
        }
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    /// a, b, probability, quantile and its distance from 1, to 17 digits. Computed by bisection on incomplete beta functions
    /// in arithmetic of 40 digits.
    const QUANTILES: &[(f64, f64, f64, f64, f64)] = &[
        (0.05, 0.05, 1e-09, 9.711_823_602_720_252e-175, 1.0),
        (0.05, 0.05, 0.001, 9.711_823_602_720_095e-55, 1.0),
        (0.05, 0.05, 0.25, 8.832_845_052_345_716e-07, 0.999_999_116_715_494_8),
        (0.05, 0.05, 0.5, 0.5, 0.5),
        (0.05, 0.05, 0.9, 0.999_999_999_999_990_3, 9.711_823_602_719_912e-15),
        (0.5, 0.5, 1.110_223_024_625_156_5e-16, 3.041_306_664_850_247e-32, 1.0),
        (0.5, 0.5, 1e-09, 2.467_401_100_272_34e-18, 1.0),
        (0.5, 0.5, 0.001, 2.467_399_070_916_944e-06, 0.999_997_532_600_929),
        (0.5, 0.5, 0.25, 0.146_446_609_406_726_24, 0.853_553_390_593_273_7),
        (0.5, 0.5, 0.5, 0.5, 0.5),
        (0.5, 0.5, 0.9, 0.975_528_258_147_576_8, 0.024_471_741_852_423_203),
        (0.5, 0.5, 0.999, 0.999_997_532_600_929, 2.467_399_070_916_948_4e-06),
        (0.5, 0.5, 0.999_999_999_999_090_5, 1.0, 2.040_986_353_537_288_2e-24),
        (0.2, 7.0, 1.110_223_024_625_156_5e-16, 1.666_182_188_693_385_5e-81, 1.0),
        (0.2, 7.0, 1e-09, 9.878_052_693_955_099e-47, 1.0),
        (0.2, 7.0, 0.001, 9.878_052_693_955_063e-17, 0.999_999_999_999_999_9),
        (0.2, 7.0, 0.25, 9.651_191_597_384_689e-05, 0.999_903_488_084_026_2),
        (0.2, 7.0, 0.5, 0.003_135_535_088_631_637_2, 0.996_864_464_911_368_4),
        (0.2, 7.0, 0.9, 0.087_462_344_476_364_99, 0.912_537_655_523_635),
        (0.2, 7.0, 0.999, 0.461_530_075_511_988_2, 0.538_469_924_488_011_8),
        (0.2, 7.0, 0.999_999_999_999_090_5, 0.970_461_674_646_310_6, 0.029_538_325_353_689_384),
        (2.0, 5.0, 1.110_223_024_625_156_5e-16, 2.720_567_382_832_306_7e-09, 0.999_999_997_279_432_6),
        (2.0, 5.0, 1e-09, 8.165_054_699_768_936e-06, 0.999_991_834_945_300_2),
        (2.0, 5.0, 0.001, 0.008_255_492_787_746_678, 0.991_744_507_212_253_3),
        (2.0, 5.0, 0.25, 0.161_162_916_790_326_52, 0.838_837_083_209_673_4),
        (2.0, 5.0, 0.5, 0.264_449_983_295_659_94, 0.735_550_016_704_340_1),
        (2.0, 5.0, 0.9, 0.510_316_306_551_491_6, 0.489_683_693_448_508_3),
        (2.0, 5.0, 0.999, 0.818_613_866_919_134, 0.181_386_133_080_866_07),
        (2.0, 5.0, 0.999_999_999_999_090_5, 0.997_268_962_339_654_5, 0.002_731_037_660_345_522),
        (5.0, 2.0, 1.110_223_024_625_156_5e-16, 0.000_450_281_801_009_733_1, 0.999_549_718_198_990_3),
        (5.0, 2.0, 1e-09, 0.011_096_260_926_849_797, 0.988_903_739_073_150_2),
        (5.0, 2.0, 0.001, 0.181_386_133_080_866_04, 0.818_613_866_919_134),
        (5.0, 2.0, 0.25, 0.610_520_514_799_275_6, 0.389_479_485_200_724_45),
        (5.0, 2.0, 0.5, 0.735_550_016_704_340_1, 0.264_449_983_295_659_94),
        (5.0, 2.0, 0.9, 0.907_404_741_086_871_3, 0.092_595_258_913_128_74),
        (5.0, 2.0, 0.999, 0.991_744_507_212_253_3, 0.008_255_492_787_746_682),
        (5.0, 2.0, 0.999_999_999_999_090_5, 0.999_999_753_762_269_5, 2.462_377_305_204_940_5e-07),
        (1.0, 1.0, 1.110_223_024_625_156_5e-16, 1.110_223_024_625_156_5e-16, 0.999_999_999_999_999_9),
        (1.0, 1.0, 1e-09, 1e-09, 0.999_999_999),
        (1.0, 1.0, 0.001, 0.001, 0.999),
        (1.0, 1.0, 0.25, 0.25, 0.75),
        (1.0, 1.0, 0.5, 0.5, 0.5),
        (1.0, 1.0, 0.9, 0.9, 0.099_999_999_999_999_98),
        (1.0, 1.0, 0.999, 0.999, 0.001_000_000_000_000_000_9),
        (1.0, 1.0, 0.999_999_999_999_090_5, 0.999_999_999_999_090_5, 9.094_947_017_729_282e-13),
        (30.0, 80.0, 1.110_223_024_625_156_5e-16, 0.041_944_445_100_481_675, 0.958_055_554_899_518_3),
        (30.0, 80.0, 1e-09, 0.079_036_669_075_262_34, 0.920_963_330_924_737_7),
        (30.0, 80.0, 0.001, 0.155_496_126_240_486_62, 0.844_503_873_759_513_4),
        (30.0, 80.0, 0.25, 0.243_351_964_145_437_33, 0.756_648_035_854_562_6),
        (30.0, 80.0, 0.5, 0.271_345_667_754_134_7, 0.728_654_332_245_865_3),
        (30.0, 80.0, 0.9, 0.327_885_715_531_735_73, 0.672_114_284_468_264_3),
        (30.0, 80.0, 0.999, 0.413_094_444_298_196_6, 0.586_905_555_701_803_5),
        (30.0, 80.0, 0.999_999_999_999_090_5, 0.603_696_089_880_224_8, 0.396_303_910_119_775_1),
        (700.0, 900.0, 1.110_223_024_625_156_5e-16, 0.338_434_776_738_726_24, 0.661_565_223_261_273_8),
        (700.0, 900.0, 1e-09, 0.364_423_025_422_624_56, 0.635_576_974_577_375_5),
        (700.0, 900.0, 0.001, 0.399_448_504_766_762_8, 0.600_551_495_233_237_3),
        (700.0, 900.0, 0.25, 0.429_120_161_528_531_7, 0.570_879_838_471_468_3),
        (700.0, 900.0, 0.5, 0.437_473_951_885_456_85, 0.562_526_048_114_543_1),
        (700.0, 900.0, 0.9, 0.453_408_803_670_530_4, 0.546_591_196_329_469_6),
        (700.0, 900.0, 0.999, 0.475_996_281_554_289_36, 0.524_003_718_445_710_6),
        (700.0, 900.0, 0.999_999_999_999_090_5, 0.525_505_190_681_033_3, 0.474_494_809_318_966_7),
    ];

    #[test]
    fn quantiles_agree_with_those_in_arithmetic_of_forty_digits() {
        for &(a, b, p, x, rest) in QUANTILES {
            let found = beta_quantile(a, b, p);
            if x <= rest {
                assert!((found / x - 1.0).abs() < 1e-12, "{a} {b} {p}: {found} for {x}");
            } else {
                // The quantile is above 1/2, so 1 - `found` has the absolute rounding error of a number from 1/2 to 1.
                let error = (1.0 - found - rest).abs();
                assert!(error < 1e-12 * rest + 1.2e-16, "{a} {b} {p}: {found} for {x}");
            }
        }
    }

    #[test]
    fn quantiles_invert_the_distribution_function() {
        for (a, b) in
            [(0.3, 0.4), (0.5, 6.0), (1.0, 1.0), (2.0, 9.0), (60.0, 40.0), (3_000.0, 500.0), (0.2, 3_000.0)]
        {
            for k in 1..300 {
                let p = f64::from(k) / 300.0;
                let x = beta_quantile(a, b, p);
                let (below, above) = incomplete_beta(a, b, x);
                let error = if p <= 0.5 { below / p - 1.0 } else { above / (1.0 - p) - 1.0 };
                // The tolerance covers the rounding of x near 1, which changes powers of 1 - x.
                assert!(error.abs() < 1e-11, "{a} {b} {p}: {error}");
            }
        }
        assert_eq!([beta_quantile(2.0, 3.0, 0.0), beta_quantile(2.0, 3.0, 1.0)], [0.0, 1.0]);
    }
}
