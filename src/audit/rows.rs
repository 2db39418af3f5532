//! Audits of noise on whole tables: NoisyRows and NoisyProjection, with the exact likelihood ratio.

use super::KnownPair;
use super::one_run::{Canaries, with_canaries};
use super::releases::{RATIO, Releases, Words, case};
use super::run::rounded;
use super::suite::Case;
use super::verdict::Verdict;
use crate::privacy::mechanisms::{
    CalibratedRows, DrawnProjection, Mechanism, MechanismError, NoiseArithmetic, NoisyProjection, NoisyRows,
    Rows,
};
use crate::rng::Key;
use crate::vocab::{Delta, Epsilon, Neighbours, Positive};
use std::num::NonZeroUsize;

/// The release of a table with independent Gaussian noise on every number: `means` is what it is without noise.
#[must_use]
pub fn noisy_table<M>(mechanism: M, inputs: [Rows; 2], means: &[Rows; 2], sd: f64) -> Releases<M>
where
    M: Mechanism<Input = Rows, Output = Rows>,
{
    let pair = table_pair(means, sd);
    Releases { mechanism, inputs, times: 1, tests: vec![(RATIO, table_ratio(means, sd))], pair }
}

/// Two tables under Gaussian noise: only their distance counts.
fn table_pair(means: &[Rows; 2], sd: f64) -> Option<KnownPair> {
    let squares = means[0].values().iter().zip(means[1].values()).map(|(a, b)| (a - b) * (a - b));
    let distance = squares.sum::<f64>().sqrt();
    (distance > 0.0).then(|| KnownPair::gaussian(distance / sd))
}

fn table_ratio(means: &[Rows; 2], sd: f64) -> Box<dyn Fn(&Rows) -> f64 + Send + Sync> {
    // Only where the two differ does the output tell anything.
    let differ: Vec<(usize, f64, f64)> = means[0]
        .values()
        .iter()
        .zip(means[1].values())
        .enumerate()
        .filter(|(_, (a, b))| a != b)
        .map(|(index, (a, b))| (index, *a, *b))
        .collect();
    Box::new(move |z: &Rows| {
        let log = |&(index, a, b): &(usize, f64, f64)| {
            let z = z.values()[index];
            ((z - b) * (z - b) - (z - a) * (z - a)) / (2.0 * sd * sd)
        };
        differ.iter().map(log).sum()
    })
}

/// The direction, of length 1, in which a row moves its projection most.
///
/// # Errors
/// If the mechanism is for rows of another length.
pub fn worst_direction(mechanism: &DrawnProjection, d: usize) -> Result<Vec<f64>, MechanismError> {
    let units = (0..d * d).map(|k| if k / d == k % d { 1.0 } else { 0.0 }).collect();
    let p = mechanism.projected(&Rows::new(d, d, units)?)?;
    let mut direction: Vec<f64> = (0..d).map(|i| 1.0 + 0.1 * i as f64).collect();
    // Power iteration on P P^T; 500 steps part singular values that differ by 1 %.
    for _ in 0..500 {
        let mut image = vec![0.0; p.d()];
        for (i, weight) in direction.iter().enumerate() {
            image.iter_mut().zip(p.row(i)).for_each(|(sum, value)| *sum += weight * value);
        }
        let back: Vec<f64> = (0..d).map(|i| p.row(i).iter().zip(&image).map(|(a, b)| a * b).sum()).collect();
        let length = back.iter().map(|v| v * v).sum::<f64>().sqrt();
        direction = back.iter().map(|v| v / length).collect();
    }
    Ok(direction)
}

pub(super) fn cases() -> Vec<Case> {
    let one = Positive::new(1.0).expect("above 0");
    let (epsilon, delta) = (Epsilon::new(1.0).expect("above 0"), Delta::new(1e-5).expect("a probability"));
    let rows = |moved: &[f64]| {
        let mut values: Vec<f64> = (0..20).map(|k| f64::from(k) - 9.5).collect();
        values.iter_mut().zip(moved).for_each(|(value, by)| *value += by);
        Rows::new(10, 2, values).expect("10 rows of two numbers")
    };
    let calibrated = NoisyRows { epsilon, delta, arithmetic: NoiseArithmetic::Exact }
        .calibrated(one)
        .expect("epsilon 1 can be had");
    let pair = [rows(&[0.0]), rows(&[0.6, 0.8])];
    let sd = calibrated.standard_deviation();
    let noisy_rows = case(
        Words {
            name: "noisy-rows",
            about: "Gaussian noise on 10 records of 2 numbers, calibrated to (1, 1e-5)",
            neighbours: "one record moved by 1",
            expected: Verdict::Consistent,
        },
        calibrated,
        pair.clone(),
        (1, 1e-5, Neighbours::RowMoved { distance: 1.0 }),
        vec![(RATIO, table_ratio(&pair, sd))],
        table_pair(&pair, sd),
    );
    let recipe = NoisyProjection {
        epsilon,
        delta,
        r: NonZeroUsize::new(3).expect("not zero"),
        arithmetic: NoiseArithmetic::Exact,
    };
    let mut stream = Key::root(2013).child("audit").child("projection").stream();
    let drawn = recipe.drawn(2, one, &mut stream).expect("epsilon 1 can be had");
    let direction = worst_direction(&drawn, 2).expect("rows of two numbers");
    let pair = [rows(&[0.0]), rows(&direction)];
    let means = pair.each_ref().map(|rows| drawn.projected(rows).expect("rows of two numbers"));
    let sd = drawn.standard_deviation();
    let noisy_projection = case(
        Words {
            name: "noisy-projection",
            about: "Gaussian noise on a known projection of 10 records to 3 numbers, calibrated to (1, 1e-5)",
            neighbours: "one record moved by 1 where the projection stretches most",
            expected: Verdict::Consistent,
        },
        drawn,
        pair,
        (1, 1e-5, Neighbours::RowMoved { distance: 1.0 }),
        vec![(RATIO, table_ratio(&means, sd))],
        table_pair(&means, sd),
    );
    vec![with_canaries(noisy_rows, row_canaries(calibrated)), noisy_projection]
}

/// One table of as many records as there would have been trials, each moved by 1 or not by a coin.
fn row_canaries(mechanism: CalibratedRows) -> Canaries {
    Box::new(move |trials, key| {
        let n = trials as usize;
        let mut coins = key.child("coins").stream();
        let is_in: Vec<bool> = (0..n).map(|_| coins.bernoulli(0.5)).collect();
        let values = is_in.iter().flat_map(|is_in| [f64::from(u8::from(*is_in)), 0.0]).collect();
        let failed = |error: MechanismError| error.to_string();
        let rows = Rows::new(n, 2, values).map_err(failed)?;
        let z = mechanism.privatise(&rows, &mut key.child("noise").stream()).map_err(failed)?;
        // The ratio's logarithm, times the variance.
        Ok(is_in.into_iter().enumerate().map(|(i, is_in)| (is_in, rounded(z.row(i)[0] - 0.5))).collect())
    })
}
