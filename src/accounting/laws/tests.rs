//! Every law agrees with itself: its cumulants, its moment-generating function on lines in the complex plane and its masses
//! in cells belong to one distribution.

use super::*;

fn laws() -> Vec<Box<dyn Law>> {
    let mut laws: Vec<Box<dyn Law>> = vec![
        Box::new(TwoAtoms::randomized_response(0.7)),
        Box::new(TwoAtoms::bounded_range(1.2, 0.4)),
        Box::new(BoundedRange { epsilon: 0.9 }),
        Box::new(Laplace { u: 0.6 }),
        Box::new(Laplace { u: 3.0 }),
        Box::new(Gaussian { mu: 0.8 }),
        Box::new(FixedSizeGaussian::new(0.1, 2.0)),
    ];
    for direction in Direction::BOTH {
        for (rate, sigma) in [(0.2, 1.1), (0.01, 0.7), (0.9, 3.0)] {
            laws.push(Box::new(PoissonGaussian::new(rate, sigma, direction)));
        }
    }
    laws
}

/// The law of the loss L as pairs of a loss and its probability under P, and the cells from which these pairs are computed.
/// The mass of a piece of a cell is divided between the ends of the piece. This changes E exp((s + i y) L) by at most
/// |s + i y|^2 width^2 / 8 times E exp(s L): at most 1e-5 times for the s and y of the tests below, and 3e-5 times for third
/// powers.
fn atoms(law: &dyn Law, tail: f64) -> (Vec<(f64, f64)>, Cells) {
    let (low, high) = law.span(tail);
    let cells = law.cells(Grid { spacing: 2e-3, pieces: 2, offset: 0.3e-3 }, low, high);
    let place = |piece: usize| {
        cells.grid.offset + (cells.first * cells.grid.pieces as i64 + piece as i64) as f64 * cells.width()
    };
    let pieces = cells.mass.iter().zip(&cells.up).enumerate();
    let atoms = pieces
        .filter(|(_, (mass, _))| **mass > 0.0)
        .flat_map(|(piece, (mass, up))| [(place(piece), mass - up), (place(piece + 1), *up)])
        .collect();
    (atoms, cells)
}

fn close(found: f64, expected: f64, error: f64, what: &str, law: &dyn Law) {
    assert!((found - expected).abs() <= error, "{law:?}: {what} is {found}, expected {expected}");
}

#[test]
fn cumulants_are_those_of_the_cells() {
    for law in laws() {
        let (atoms, cells) = atoms(&*law, 1e-60);
        let all = cells.mass.iter().sum::<f64>() + cells.swept + cells.beyond;
        close(all, 1.0, 1e-9, "all mass", &*law);
        for s in [0.0, 0.5, 1.0, 3.0] {
            let sum: f64 = atoms.iter().map(|(loss, mass)| mass * (s * loss).exp()).sum();
            assert!(law.is_exact(s), "{law:?}: not exact at {s}");
            close(law.cumulants(s).value, sum.ln(), 1e-4, &format!("K({s})"), &*law);
        }
    }
}

#[test]
fn mean_and_variance_are_the_derivatives_of_the_cumulant_generating_function() {
    const H: f64 = 1e-2;
    for law in laws() {
        for s in [0.5, 1.0, 3.0] {
            let [before, at, after] = [s - H, s, s + H].map(|s| law.cumulants(s));
            let (first, second) = (
                (after.value - before.value) / (2.0 * H),
                (after.value - 2.0 * at.value + before.value) / (H * H),
            );
            close(at.mean, first, 1e-3 * (1.0 + at.variance), &format!("K'({s})"), &*law);
            close(at.variance, second, 2e-3 * (at.variance + 0.1), &format!("K''({s})"), &*law);
        }
    }
}

#[test]
fn values_on_a_line_are_those_of_the_cells() {
    const STEP: f64 = 0.37;
    for law in laws() {
        let (atoms, _) = atoms(&*law, 1e-60);
        for s in [0.5, 3.0] {
            // `contour` is called for three releases, and its first value is at the third node of the line. The accountant
            // also composes several releases, and computes the values on a line in blocks that begin at later nodes.
            let (from, count) = (2, 3);
            let start = Complex::new(0.25, 2.0);
            let mut found = [start; 20];
            law.contour(s, STEP, from, count, &mut found);
            let whole: f64 = atoms.iter().map(|(loss, mass)| mass * (s * loss).exp()).sum();
            let mut largest_after = 0.0;
            for (j, found) in found.iter().enumerate().rev() {
                let y = (from + j) as f64 * STEP;
                let mut one = Complex::ZERO;
                for (loss, mass) in &atoms {
                    one = one + Complex::turn(y * loss).scale(mass * (s * loss).exp() / whole);
                }
                let expected = one.power(count) * start;
                close(found.re, expected.re, 3e-4, &format!("the real part at {s} + {y} i"), &*law);
                close(found.im, expected.im, 3e-4, &format!("the imaginary part at {s} + {y} i"), &*law);
                largest_after = f64::max(largest_after, one.norm_squared().sqrt());
                let ceiling = law.ceiling(s, y);
                assert!(
                    ceiling.is_none_or(|c| c >= largest_after - 1e-4),
                    "{law:?}: {ceiling:?} at {s} + {y} i"
                );
            }
        }
    }
}

#[test]
fn ceilings_do_not_increase_and_tend_to_the_proven_limit() {
    for law in laws() {
        let ceilings: Vec<f64> = (0..200).filter_map(|k| law.ceiling(1.5, 0.1 * f64::from(k))).collect();
        assert!(ceilings.windows(2).all(|two| two[1] <= two[0]), "{law:?}");
        assert!(ceilings.first().is_none_or(|first| *first <= 1.0), "{law:?}");
    }
    let laplace = Laplace { u: 3.0 };
    // With w = 2 s + 1, exp(K(s)) is e^{s u} ((s + 1) / w + s / w e^{-w u}). As y grows, the bound on |exp(K(s + i y))|
    // tends to e^{s u} (1 + e^{-w u}) / 2. The ceiling tends to the second expression divided by the first.
    let (s, u) = (1.5, 3.0);
    let w: f64 = 2.0 * s + 1.0;
    let limit = 0.5 * (1.0 + (-w * u).exp()) / ((s + 1.0) / w + s / w * (-w * u).exp());
    close(laplace.ceiling(s, 1e9).unwrap(), limit, 1e-9, "the limit of the ceiling", &laplace);
}

#[test]
fn little_mass_lies_outside_of_a_span() {
    for law in laws() {
        for tail in [1e-3, 1e-8] {
            let (_, cells) = atoms(&*law, tail);
            let all = cells.mass.iter().sum::<f64>() + cells.swept + cells.beyond;
            close(all, 1.0, 1e-9, "all mass", &*law);
            for part in [cells.swept, cells.beyond] {
                assert!(part <= tail * (1.0 + 1e-6), "{law:?}: {part} above {tail}");
            }
        }
    }
}

/// Where the noise is small, the two normal distributions of a sampled Gaussian are integrated separately.
#[test]
fn no_mass_is_lost_where_the_noise_is_small() {
    for direction in Direction::BOTH {
        for sigma in [0.02, 0.03, 0.05] {
            let law = PoissonGaussian::new(0.3, sigma, direction);
            let (low, high) = law.span(1e-60);
            let cells = law.cells(Grid { spacing: 0.05, pieces: 1, offset: 0.0 }, low, high);
            let all = cells.mass.iter().sum::<f64>() + cells.swept + cells.beyond;
            close(all, 1.0, 1e-9, "all mass", &law);
        }
    }
}
