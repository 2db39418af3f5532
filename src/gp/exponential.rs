//! exp for covariances: elementwise, so that it vectorises, and bit-identical on every machine.

/// 1.5 * 2^52. If this constant is added to a number and then subtracted again, the number is rounded to an integer. The
/// lowest bits of the sum hold this integer.
const ROUND: f64 = 6_755_399_441_055_744.0;
/// ln 2 in two parts. The first part has 21 trailing zero bits, so its products with the integers k of [`exp`] are exact.
const LN2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
const LN2_LOW: f64 = f64::from_bits(0x3dea_39ef_3579_3c76);
/// For x below this, [`exp`] returns 0; the true exp(x) is less than 1.5 times the smallest normal number.
const UNDERFLOW: f64 = -708.0;

/// The coefficients of the Taylor polynomial of exp: 1/i! from i = 13 down to 0.
const COEFFICIENTS: [f64; 14] = [
    1.0 / 6_227_020_800.0,
    1.0 / 479_001_600.0,
    1.0 / 39_916_800.0,
    1.0 / 3_628_800.0,
    1.0 / 362_880.0,
    1.0 / 40_320.0,
    1.0 / 5_040.0,
    1.0 / 720.0,
    1.0 / 120.0,
    1.0 / 24.0,
    1.0 / 6.0,
    0.5,
    1.0,
    1.0,
];

/// exp(x) for x at most 0, with an error below two units in the last place; 0 below -708.
///
/// Let x = k ln 2 + r, with an integer k and |r| at most ln 2 / 2. Then exp(x) = 2^k exp(r). The Taylor polynomial of degree
/// 13 replaces exp(r), with an error below 5e-18 for these r.
#[inline(always)]
pub(super) fn exp(x: f64) -> f64 {
    let shifted = x * std::f64::consts::LOG2_E + ROUND;
    let k = shifted - ROUND;
    let r = (x - k * LN2_HIGH) - k * LN2_LOW;
    let mut p = COEFFICIENTS[0];
    for c in &COEFFICIENTS[1..] {
        p = p * r + c;
    }
    let scale = f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52);
    if x < UNDERFLOW { 0.0 } else { p * scale }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_within_two_units_of_libm() {
        let mut worst: f64 = 0.0;
        for i in 0..400_000 {
            let x = -f64::from(i) * 0.001_77;
            let (found, expected) = (exp(x), libm::exp(x));
            if x >= UNDERFLOW {
                worst = worst.max((found - expected).abs() / (expected * f64::EPSILON));
            } else {
                assert_eq!(found, 0.0);
            }
        }
        // The error of libm is itself below one unit.
        assert!(worst <= 2.0, "{worst}");
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(exp(-0.0), 1.0);
        assert_eq!(exp(f64::NEG_INFINITY), 0.0);
        assert!(exp(f64::NAN).is_nan());
    }
}
