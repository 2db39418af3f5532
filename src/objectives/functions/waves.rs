//! Functions with many local minima: Ackley, Levy, Griewank, Rastrigin and Michalewicz.

use std::f64::consts::{E, PI, TAU};

/// Ackley, with a = 20, b = 0.2, c = 2 pi; 0 at the origin.
pub(super) fn ackley(x: &[f64]) -> f64 {
    let d = x.len() as f64;
    let root = (x.iter().map(|x| x * x).sum::<f64>() / d).sqrt();
    let cosines = x.iter().map(|x| libm::cos(TAU * x)).sum::<f64>() / d;
    -20.0 * libm::exp(-0.2 * root) - libm::exp(cosines) + 20.0 + E
}

/// Levy; 0 where every coordinate is 1.
pub(super) fn levy(x: &[f64]) -> f64 {
    let w = |x: f64| 1.0 + (x - 1.0) / 4.0;
    let square = |x: f64| x * x;
    let Some((&last, others)) = x.split_last() else { return 0.0 };
    let first = square(libm::sin(PI * w(x[0])));
    let middle = others.iter().map(|&x| {
        let w = w(x);
        square(w - 1.0) * (1.0 + 10.0 * square(libm::sin(PI * w + 1.0)))
    });
    let last = w(last);
    first + middle.sum::<f64>() + square(last - 1.0) * (1.0 + square(libm::sin(TAU * last)))
}

/// Griewank; 0 at the origin.
pub(super) fn griewank(x: &[f64]) -> f64 {
    let squares = x.iter().map(|x| x * x).sum::<f64>() / 4000.0;
    let cosines = x.iter().enumerate().map(|(i, x)| libm::cos(x / ((i + 1) as f64).sqrt()));
    squares - cosines.product::<f64>() + 1.0
}

/// Rastrigin; 0 at the origin.
pub(super) fn rastrigin(x: &[f64]) -> f64 {
    x.iter().map(|x| 10.0 + x * x - 10.0 * libm::cos(TAU * x)).sum()
}

/// Michalewicz with m = 10.
pub(super) fn michalewicz(x: &[f64]) -> f64 {
    let terms = x.iter().enumerate().map(|(i, &x)| {
        let wave = libm::sin((i + 1) as f64 * x * x / PI);
        let square = wave * wave;
        let fourth = square * square;
        libm::sin(x) * fourth * fourth * fourth * fourth * fourth
    });
    -terms.sum::<f64>()
}

/// Michalewicz's function is minus a sum of terms, each a function of one input. These numbers are the largest values of
/// the first 16 terms for inputs from 0 to pi, so minus the sum of the first d numbers is the smallest value of the
/// function of d inputs. Each number was computed with 30 digits (mpmath 1.3):
/// the best point of a grid of 4,000,001 points, refined.
pub(super) const MICHALEWICZ: [f64; 16] = [
    0.801_303_410_098_552_5,
    1.0,
    0.959_091_269_896_005_9,
    0.938_462_418_472_083_4,
    0.988_801_080_621_504_4,
    1.0,
    0.993_227_135_355_881_6,
    0.982_872_036_272_210_5,
    0.996_394_364_925_102_9,
    1.0,
    0.997_330_541_550_768_2,
    0.992_092_741_522_682,
    0.998_242_986_883_168_7,
    1.0,
    0.998_582_204_721_444_4,
    0.995_464_628_630_558_7,
];
