//! Audits of releases of a table: noisy rows, noisy projections, and PO-GP-UCB's projection.

use super::canaries;
use super::case::{Case, CaseDescription, DELTA, delta, epsilon, on_pair, positive, with_canaries, worst};
use crate::privacy::mechanisms::{
    JlVariant, JohnsonLindenstrauss, NoiseArithmetic, NoisyProjection, NoisyRows, Pair, Rows,
};
use crate::rng::Key;
use crate::vocab::{Epsilon, Neighbours};
use std::num::NonZeroUsize;

pub(super) fn cases() -> Vec<Case> {
    let one = positive(1.0);
    let table = Rows::new(10, 2, (0..20).map(|k| f64::from(k) - 9.5).collect());
    let table = table.expect("10 rows of two numbers");
    let terms = (1, DELTA, Neighbours::RowMoved { distance: 1.0 });
    let rows = NoisyRows { epsilon: epsilon(1.0), delta: delta(), arithmetic: NoiseArithmetic::Exact }
        .calibrated(one)
        .expect("some noise gives epsilon 1");
    let noisy_rows = worst(
        CaseDescription::sound(
            "noisy-rows",
            "Gaussian noise on 10 records of 2 numbers, calibrated to (1, 1e-5)",
        ),
        rows,
        &table,
        terms.clone(),
    );
    let projection = NoisyProjection {
        epsilon: epsilon(1.0),
        delta: delta(),
        r: NonZeroUsize::new(3).expect("not zero"),
        arithmetic: NoiseArithmetic::Exact,
    };
    let mut stream = Key::root(2013).child("audit").child("projection").stream();
    let drawn = projection.drawn(2, one, &mut stream).expect("some noise gives epsilon 1");
    let noisy_projection = worst(
        CaseDescription::sound(
            "noisy-projection",
            "Gaussian noise on a known projection of 10 records to 3 numbers, calibrated to (1, 1e-5)",
        ),
        drawn,
        &table,
        terms.clone(),
    );
    let mechanism = johnson_lindenstrauss(10);
    let n = 60;
    let mut stream = Key::root(2020).child("audit").child("tall data").stream();
    let tall = Rows::new(n, 2, (0..2 * n).map(|_| 500.0 * stream.normal()).collect());
    let tall = tall.expect("n rows of two numbers");
    let branch = branch_pair(&mechanism, n);
    vec![
        with_canaries(noisy_rows, canaries::of_rows(rows)),
        noisy_projection,
        worst(
            CaseDescription::refuted(
                "johnson-lindenstrauss",
                "PO-GP-UCB's projection of 60 records of 2 numbers, r = 10",
            ),
            mechanism.clone(),
            &tall,
            terms.clone(),
        ),
        on_pair(
            CaseDescription::refuted(
                "johnson-lindenstrauss-branch",
                "PO-GP-UCB's projection of two data sets with the same column space, of which only \
                 one has its singular values lifted",
            ),
            mechanism,
            branch,
            terms,
        ),
    ]
}

/// Claimed epsilon e^1.1, as in the first table of the paper on PO-GP-UCB.
const CLAIMED: f64 = 3.004_166_023_946_433;

fn johnson_lindenstrauss(r: usize) -> JohnsonLindenstrauss {
    JohnsonLindenstrauss {
        epsilon: Epsilon::new(CLAIMED).expect("above 0"),
        delta: delta(),
        r: NonZeroUsize::new(r).expect("not zero"),
        variant: JlVariant::Paper,
    }
}

/// Two data sets that differ in one record. Their centred columns span the same space. Of their smallest singular
/// values, one lies above the threshold omega and the other below it; all singular values of a data set are lifted if
/// the smallest one lies below omega. In the last column, all records except the first are equal, and the first record
/// differs by 1 between the two data sets.
fn branch_pair(mechanism: &JohnsonLindenstrauss, n: usize) -> Pair<Rows> {
    let omega = mechanism.omega();
    let share = (1.0 - 1.0 / n as f64).sqrt();
    // The first column is orthogonal to the last one and to the vector of ones; its norm is just above omega, and its
    // entry for the first record is 0.
    let other = |i: usize| match i {
        0 => 0.0,
        i if i % 2 == 1 && i + 1 < n => 1.0,
        i if i % 2 == 0 => -1.0,
        _ => 0.0,
    };
    let length = (0..n).map(|i| other(i) * other(i)).sum::<f64>().sqrt();
    let size = omega * (1.0 + 1e-9);
    // The norm of the centred last column is the outlier times `share`; omega lies between the values of this norm for
    // the two data sets.
    let [given, neighbour] = [0.5, -0.5].map(|off| {
        let outlier = omega / share + off;
        let values =
            (0..n).flat_map(|i| [other(i) / length * size, if i == 0 { outlier } else { 0.0 }]).collect();
        Rows::new(n, 2, values).expect("n rows of two numbers")
    });
    Pair::new(given, neighbour, "an outlying record moved by 1, across the threshold")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::mechanisms::sigma_min;

    /// The neighbouring relation allows a distance of 1. A pair that is further apart could refute a sound mechanism.
    #[test]
    fn the_pair_across_the_threshold_is_one_apart() {
        let (mechanism, n) = (johnson_lindenstrauss(10), 60);
        let pair = branch_pair(&mechanism, n);
        let [given, neighbour] = [0, 1].map(|place: usize| pair.inputs[place].values());
        let apart = given.iter().zip(neighbour).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
        assert!((apart - 1.0).abs() < 1e-9, "{apart}");
        let smallest = [0, 1].map(|place: usize| sigma_min(&pair.inputs[place]).unwrap());
        assert!(!mechanism.lifts(smallest[0]) && mechanism.lifts(smallest[1]), "{smallest:?}");
    }
}
