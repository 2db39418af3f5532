//! The Hartmann functions of three and of six inputs.

/// The exponents of a Hartmann function, and its centres in units of 1e-4.
type Hills<const D: usize> = ([[f64; D]; 4], [[f64; D]; 4]);

const HEIGHTS: [f64; 4] = [1.0, 1.2, 3.0, 3.2];

const THREE: Hills<3> = (
    [[3.0, 10.0, 30.0], [0.1, 10.0, 35.0], [3.0, 10.0, 30.0], [0.1, 10.0, 35.0]],
    [[3689.0, 1170.0, 2673.0], [4699.0, 4387.0, 7470.0], [1091.0, 8732.0, 5547.0], [381.0, 5743.0, 8828.0]],
);

const SIX: Hills<6> = (
    [
        [10.0, 3.0, 17.0, 3.5, 1.7, 8.0],
        [0.05, 10.0, 17.0, 0.1, 8.0, 14.0],
        [3.0, 3.5, 1.7, 10.0, 17.0, 8.0],
        [17.0, 8.0, 0.05, 10.0, 0.1, 14.0],
    ],
    [
        [1312.0, 1696.0, 5569.0, 124.0, 8283.0, 5886.0],
        [2329.0, 4135.0, 8307.0, 3736.0, 1004.0, 9991.0],
        [2348.0, 1451.0, 3522.0, 2883.0, 3047.0, 6650.0],
        [4047.0, 8828.0, 8732.0, 5743.0, 1091.0, 381.0],
    ],
);

/// The smallest value of Hartmann 3, at a stationary point that was found with 30 digits (mpmath 1.3, starting at the
/// minimiser in the literature).
pub(super) const HARTMANN3_MIN: f64 = -3.862_779_787_332_662_5;
/// The smallest value of Hartmann 6, found in the same way as [`HARTMANN3_MIN`].
pub(super) const HARTMANN6_MIN: f64 = -3.322_368_011_415_514_8;

/// Hartmann 3 on the unit cube.
pub(super) fn hartmann3(x: &[f64]) -> f64 {
    hartmann(&THREE, x)
}

/// Hartmann 6 on the unit cube.
pub(super) fn hartmann6(x: &[f64]) -> f64 {
    hartmann(&SIX, x)
}

fn hartmann<const D: usize>((exponents, centres): &Hills<D>, x: &[f64]) -> f64 {
    let hills = HEIGHTS.iter().zip(exponents).zip(centres).map(|((height, exponents), centres)| {
        let away = exponents.iter().zip(centres).zip(x);
        height * libm::exp(-away.map(|((a, p), x)| a * (x - 1e-4 * p) * (x - 1e-4 * p)).sum::<f64>())
    });
    -hills.sum::<f64>()
}
