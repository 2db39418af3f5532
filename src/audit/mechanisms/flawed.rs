//! Audits of mechanisms whose claim is false, because the mechanism is wrong on purpose or because of the low bits of
//! floating-point noise.

use super::broken::{DataScaledNoise, HalfNoise};
use super::case::{
    Case, CaseDescription, DELTA, delta, epsilon, on_pair, positive, with_distinguisher, worst,
};
use super::low_bits::{reachable_gaussian, reachable_laplace};
use crate::privacy::mechanisms::{Distinguisher, Gaussian, Laplace, Mechanism, NoiseArithmetic, Pair};
use crate::vocab::Neighbours;

pub(super) fn cases() -> Vec<Case> {
    let unit = positive(1.0);
    let laplace = Laplace::new(unit, unit).with(NoiseArithmetic::Ideal);
    let gaussian = Gaussian::analytic(epsilon(1.0), delta(), unit).expect("epsilon 1 is possible");
    let sd = gaussian.standard_deviation();
    let gaussian = gaussian.with(NoiseArithmetic::Ideal);
    let (one, pure, with_delta) =
        (vec![0.0], (1, 0.0, Neighbours::AnyValue), (1, DELTA, Neighbours::AnyValue));
    vec![
        worst(
            CaseDescription::refuted(
                "broken-half-noise",
                "wrong on purpose: Laplace noise, half of what epsilon 1 needs",
            ),
            HalfNoise(laplace),
            &one,
            pure.clone(),
        ),
        on_pair(
            CaseDescription::refuted(
                "broken-data-scaled-noise",
                "wrong on purpose: Laplace noise scaled to the largest number of the data, epsilon 1",
            ),
            DataScaledNoise { epsilon: unit },
            Pair::new(vec![2.0], vec![1.0], "one number, 1 or 2, at sensitivity 1"),
            pure.clone(),
        ),
        by_low_bits(
            CaseDescription::refuted(
                "laplace-low-bits",
                "Laplace noise of scale 1 in floating point, attacked by its low bits",
            ),
            laplace,
            pure,
            |secret, y| reachable_laplace(secret, 1.0, y),
        ),
        by_low_bits(
            CaseDescription::refuted(
                "gaussian-low-bits",
                "Gaussian noise for (1, 1e-5) in floating point, attacked by its low bits",
            ),
            gaussian,
            with_delta,
            move |secret, y| reachable_gaussian(secret, sd, y),
        ),
    ]
}

/// Noise on one number, with a test that checks which of the two inputs can have led to an output. The distributions of
/// real-valued noise do not say which outputs noise in floating point can reach, so the audit does not take these
/// distributions as the known output distributions.
fn by_low_bits<M>(
    words: CaseDescription,
    mechanism: M,
    terms: super::case::Terms,
    reachable: impl Fn(f64, f64) -> bool + Send + Sync + 'static,
) -> Case
where
    M: Mechanism<Input = Vec<f64>, Output = Vec<f64>> + Send + Sync + 'static,
{
    let pair = mechanism.worst_pair(&vec![0.0]).expect("added noise has a worst pair");
    let known = mechanism
        .distinguisher([&pair.inputs[0], &pair.inputs[1]])
        .expect("the suite's own inputs satisfy every precondition");
    let secrets = [pair.inputs[0][0], pair.inputs[1][0]];
    let can = move |secret, y| f64::from(u8::from(reachable(secret, y)));
    let distinguisher = Distinguisher { laws: None, ..known }
        .with_support(move |y: &Vec<f64>| can(secrets[0], y[0]) - can(secrets[1], y[0]));
    with_distinguisher(words, mechanism, pair, terms, distinguisher)
}
