//! What distinguishes two neighbouring inputs of PO-GP-UCB's projection, from outside of the library.

use std::num::NonZeroUsize;
use subrosa::privacy::mechanisms::{JlVariant, JohnsonLindenstrauss, Mechanism, Rows};
use subrosa::vocab::{Delta, Epsilon};

fn recipe(r: usize) -> JohnsonLindenstrauss {
    JohnsonLindenstrauss {
        epsilon: Epsilon::new(1.0).unwrap(),
        delta: Delta::new(1e-3).unwrap(),
        r: NonZeroUsize::new(r).unwrap(),
        variant: JlVariant::Paper,
    }
}

fn rows(d: usize, values: &[f64]) -> Rows {
    Rows::new(values.len() / d, d, values.to_vec()).unwrap()
}

/// The neighbour's first record is moved by 1 along the first column, and no other number.
#[test]
fn the_worst_pair_moves_the_first_number() {
    let like = rows(2, &[0.5, 0.25, 3.0, 1.0, 2.0, 0.0, -1.0, 4.0]);
    let pair = recipe(2).worst_pair(&like).unwrap();
    assert_eq!(pair.inputs[0], like);
    assert_eq!(pair.inputs[1], rows(2, &[1.5, 0.25, 3.0, 1.0, 2.0, 0.0, -1.0, 4.0]));
}

/// Four records of one number: Z is a multiple of the centred column, which differs between the neighbours. An output of one
/// of them scores 1 or -1, an output of neither 0.
#[test]
fn records_that_span_different_spaces_are_distinguished_by_them() {
    let given = rows(1, &[1.0, -1.0, 0.0, 0.0]);
    let neighbour = rows(1, &[2.0, -1.0, 0.0, 0.0]);
    let found = recipe(1).distinguisher([&given, &neighbour]).unwrap();
    assert!(found.disjoint.as_ref().is_some_and(|why| why.contains("column space")));
    assert!(found.features.is_none() && found.tests.len() == 1);
    let score = |z: &[f64]| (found.tests[0].1)(&rows(1, z));
    assert_eq!(score(&[3.0, -3.0, 0.0, 0.0]), 1.0);
    // Centred, the neighbour is (7, -5, -1, -1) / 4.
    assert_eq!(score(&[-7.0, 5.0, 1.0, 1.0]), -1.0);
    assert_eq!(score(&[1.0, 0.0, 0.0, -1.0]), 0.0);
    // Where the neighbour spans a larger space, an output may be possible on both.
    let (flat, full) =
        (rows(2, &[1.0, 0.0, -1.0, 0.0, 0.0, 0.0]), rows(2, &[1.0, 1.0, -1.0, 0.0, 0.0, -1.0]));
    assert!(recipe(1).distinguisher([&flat, &full]).unwrap().disjoint.is_none());
}

/// Inputs along the same directions differ by the sizes of Z: for singular values s and s' after the lift, the squared norm
/// q of r numbers of variance s^2 / r has the log ratio r (q (1/s'^2 - 1/s^2) / 2 - ln(s / s')).
#[test]
fn inputs_along_one_direction_are_distinguished_by_the_size_of_the_output() {
    let own = recipe(2);
    let omega = own.omega();
    // Singular values of omega / 2, which is lifted, and of 2 omega, which is not.
    let of = |size: f64| rows(1, &[size / 2f64.sqrt(), -size / 2f64.sqrt()]);
    let (small, large) = (of(0.5 * omega), of(2.0 * omega));
    let found = own.distinguisher([&small, &large]).unwrap();
    assert!(found.disjoint.is_none() && found.features.is_none());
    let (name, score) = &found.tests[1];
    assert_eq!(*name, "likelihood ratio of the branch");
    let (s, other) = (omega * 1.25f64.sqrt(), 2.0 * omega);
    for (a, b) in [(1.0, 2.0), (omega, -omega), (3.0 * omega, 0.5)] {
        let z = rows(2, &[a, b, -a, -b]);
        let square = 2.0 * (a * a + b * b);
        let expected = 2.0 * (0.5 * square * (other.powi(-2) - s.powi(-2)) - (s / other).ln());
        assert!(
            (score(&z) - expected).abs() < 1e-9 * expected.abs().max(1.0),
            "{} for {expected}",
            score(&z)
        );
    }
}
