//! Audits of mechanisms that clip a number to a range and then add noise. One of them is CTL ([`Ctl`]), which adds Laplace
//! noise to a user's reward. CTL is also audited without clipping; its claim is then false.

use super::case::{Case, CaseDescription, DELTA, delta, epsilon, on_pair, positive};
use crate::privacy::mechanisms::clipping::Range;
use crate::privacy::mechanisms::{ClippedGaussian, ClippedLaplace, Ctl, Mechanism, NoiseArithmetic, Pair};
use crate::vocab::{Finite, Neighbours};

pub(super) fn cases() -> Vec<Case> {
    let curator = |clip| Ctl::new(epsilon(1.0), positive(5.0), clip).expect("a finite scale");
    let end = |value| Finite::new(value).expect("a finite number");
    let range = Range { low: end(-5.0), high: end(5.0) };
    let (pure, with_delta) = ((1, 0.0, Neighbours::AnyValue), (1, DELTA, Neighbours::AnyValue));
    let arithmetic = NoiseArithmetic::Exact;
    let reward = |pair: Pair<f64>| Pair {
        words: format!("{}; CTL assumes rewards of absolute value at most 5", pair.words),
        ..pair
    };
    vec![
        worst_with(
            CaseDescription::sound("ctl", "CTL with clipping to [-5, 5], epsilon 1"),
            curator(true),
            pure.clone(),
            reward,
        ),
        worst_with(
            CaseDescription::refuted("ctl-unclipped", "CTL without clipping, epsilon 1 claimed"),
            curator(false),
            pure.clone(),
            reward,
        ),
        worst_with(
            CaseDescription::sound(
                "clipped-laplace",
                "an outcome clipped to [-5, 5], Laplace noise, epsilon 1",
            ),
            ClippedLaplace { epsilon: epsilon(1.0), range, arithmetic },
            pure,
            |pair| pair,
        ),
        worst_with(
            CaseDescription::sound(
                "clipped-gaussian",
                "an outcome clipped to [-5, 5], Gaussian noise for (1, 1e-5)",
            ),
            ClippedGaussian { epsilon: epsilon(1.0), delta: delta(), range, arithmetic },
            with_delta,
            |pair| pair,
        ),
    ]
}

/// The audit of a mechanism that releases one number, on its worst pair of neighbours; `said` changes the description of the
/// pair.
fn worst_with<M>(
    words: CaseDescription,
    mechanism: M,
    terms: super::case::Terms,
    said: impl Fn(Pair<f64>) -> Pair<f64>,
) -> Case
where
    M: Mechanism<Input = f64, Output = f64> + Send + Sync + 'static,
{
    let pair = mechanism.worst_pair(&0.0).expect("numbers that are clipped have a worst pair");
    on_pair(words, mechanism, said(pair), terms)
}
