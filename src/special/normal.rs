//! The standard normal distribution function and its inverse, bit-identical on every platform.

/// Phi(x), the standard normal distribution function. Relative error at most about 1e-16 max(4, x^2).
#[must_use]
pub fn normal_cdf(x: f64) -> f64 {
    0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2)
}

/// The standard normal quantile, for `p` in (0, 1). Relative error about 1e-16 (Wichura 1988, AS 241, PPND16).
///
/// Outside (0, 1) the result is NaN; the samplers never use such arguments.
#[must_use]
pub fn normal_quantile(p: f64) -> f64 {
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        let r = 0.180_625 - q * q;
        return q * ratio(r, &CENTRE_NUMERATOR, &CENTRE_DENOMINATOR);
    }
    let r = libm::sqrt(-libm::log(if q < 0.0 { p } else { 1.0 - p }));
    let magnitude = if r <= 5.0 {
        ratio(r - 1.6, &MIDDLE_NUMERATOR, &MIDDLE_DENOMINATOR)
    } else {
        ratio(r - 5.0, &TAIL_NUMERATOR, &TAIL_DENOMINATOR)
    };
    if q < 0.0 { -magnitude } else { magnitude }
}

fn ratio(x: f64, numerator: &[f64; 8], denominator: &[f64; 8]) -> f64 {
    horner(x, numerator) / horner(x, denominator)
}

fn horner(x: f64, ascending: &[f64; 8]) -> f64 {
    ascending.iter().rev().fold(0.0, |sum, &c| sum * x + c)
}

const CENTRE_NUMERATOR: [f64; 8] = [
    3.387_132_872_796_366_5,
    1.331_416_678_917_843_8e2,
    1.971_590_950_306_551_3e3,
    1.373_169_376_550_946e4,
    4.592_195_393_154_987e4,
    6.726_577_092_700_87e4,
    3.343_057_558_358_813e4,
    2.509_080_928_730_122_7e3,
];
const CENTRE_DENOMINATOR: [f64; 8] = [
    1.0,
    4.231_333_070_160_091e1,
    6.871_870_074_920_579e2,
    5.394_196_021_424_751e3,
    2.121_379_430_158_659_7e4,
    3.930_789_580_009_271e4,
    2.872_908_573_572_194_3e4,
    5.226_495_278_852_854e3,
];
const MIDDLE_NUMERATOR: [f64; 8] = [
    1.423_437_110_749_683_5,
    4.630_337_846_156_546,
    5.769_497_221_460_691,
    3.647_848_324_763_204_5,
    1.270_458_252_452_368_4,
    2.417_807_251_774_506e-1,
    2.272_384_498_926_918_4e-2,
    7.745_450_142_783_414e-4,
];
const MIDDLE_DENOMINATOR: [f64; 8] = [
    1.0,
    2.053_191_626_637_759,
    1.676_384_830_183_803_8,
    6.897_673_349_851e-1,
    1.481_039_764_274_800_8e-1,
    1.519_866_656_361_645_7e-2,
    5.475_938_084_995_345e-4,
    1.050_750_071_644_416_9e-9,
];
const TAIL_NUMERATOR: [f64; 8] = [
    6.657_904_643_501_103,
    5.463_784_911_164_114,
    1.784_826_539_917_291_3,
    2.965_605_718_285_048_7e-1,
    2.653_218_952_657_612_4e-2,
    1.242_660_947_388_078_4e-3,
    2.711_555_568_743_487_6e-5,
    2.010_334_399_292_288_1e-7,
];
const TAIL_DENOMINATOR: [f64; 8] = [
    1.0,
    5.998_322_065_558_88e-1,
    1.369_298_809_227_358e-1,
    1.487_536_129_085_061_5e-2,
    7.868_691_311_456_133e-4,
    1.846_318_317_510_054_8e-5,
    1.421_511_758_316_446e-7,
    2.044_263_103_389_939_7e-15,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantile_inverts_the_distribution_function() {
        for p in [1e-300, 1e-20, 1e-9, 1e-4, 0.01, 0.07, 0.2, 0.5, 0.73, 0.93, 0.99, 1.0 - 1e-9] {
            let back = normal_cdf(normal_quantile(p));
            assert!((back / p - 1.0).abs() < 2e-12, "p {p}, back {back}");
        }
    }

    #[test]
    fn known_quantiles() {
        for (p, z) in [(0.975, 1.959_963_984_540_054), (0.5, 0.0), (1e-10, -6.361_340_902_404_056)] {
            assert!((normal_quantile(p) - z).abs() < 1e-14, "p {p}: {}", normal_quantile(p));
        }
    }
}
