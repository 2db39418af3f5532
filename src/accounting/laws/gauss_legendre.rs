//! Gauss-Legendre rules on [-1, 1]: abscissae and weights of the positive half.

/// The rule with two points.
pub(super) const TWO: [(f64, f64); 1] = [(0.577_350_269_189_625_7, 1.0)];

/// The rule with four points.
pub(super) const FOUR: [(f64, f64); 2] =
    [(0.339_981_043_584_856_3, 0.652_145_154_862_546_1), (0.861_136_311_594_052_6, 0.347_854_845_137_453_85)];

/// The rule with sixteen points.
pub(super) const SIXTEEN: [(f64, f64); 8] = [
    (0.095_012_509_837_637_44, 0.189_450_610_455_068_5),
    (0.281_603_550_779_258_9, 0.182_603_415_044_923_6),
    (0.458_016_777_657_227_4, 0.169_156_519_395_002_54),
    (0.617_876_244_402_643_7, 0.149_595_988_816_576_73),
    (0.755_404_408_355_003, 0.124_628_971_255_533_88),
    (0.865_631_202_387_831_7, 0.095_158_511_682_492_79),
    (0.944_575_023_073_232_6, 0.062_253_523_938_647_894),
    (0.989_400_934_991_649_9, 0.027_152_459_411_754_096),
];

/// Calls `visit(x, weight)` at the points of a rule that is scaled to [low, high].
pub(super) fn visit<const N: usize>(
    rule: &[(f64, f64); N],
    low: f64,
    high: f64,
    mut visit: impl FnMut(f64, f64),
) {
    let (centre, half) = (0.5 * (low + high), 0.5 * (high - low));
    for &(abscissa, weight) in rule {
        visit(centre - half * abscissa, half * weight);
        visit(centre + half * abscissa, half * weight);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_integrate_polynomials_of_their_degree() {
        let check = |points: &str, degree: i32, found: f64, tolerance: f64| {
            let exact = 2f64.powi(degree + 1) / f64::from(degree + 1);
            assert!(
                (found / exact - 1.0).abs() < tolerance,
                "{points}, degree {degree}: {found} for {exact}"
            );
        };
        for degree in 0..4 {
            let mut sum = 0.0;
            visit(&TWO, 0.0, 2.0, |x, w| sum += w * x.powi(degree));
            check("2 points", degree, sum, 1e-14);
        }
        for degree in 0..8 {
            let mut sum = 0.0;
            visit(&FOUR, 0.0, 2.0, |x, w| sum += w * x.powi(degree));
            check("4 points", degree, sum, 1e-14);
        }
        for degree in 0..32 {
            let mut sum = 0.0;
            visit(&SIXTEEN, 0.0, 2.0, |x, w| sum += w * x.powi(degree));
            check("16 points", degree, sum, 1e-13);
        }
    }
}
