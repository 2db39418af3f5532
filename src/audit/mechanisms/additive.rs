//! Audits of noise added to numbers.

use super::case::{Case, CaseDescription, DELTA, delta, epsilon, positive, worst};
use crate::privacy::mechanisms::{DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace, Lattice};
use crate::vocab::Neighbours;
use std::num::NonZeroU32;

pub(super) fn cases() -> Vec<Case> {
    let unit = positive(1.0);
    let gaussian = Gaussian::analytic(epsilon(1.0), delta(), unit).expect("some noise gives epsilon 1");
    let lattice = Lattice::new(positive(0.125));
    let steps = |n: u32| NonZeroU32::new(n).expect("not zero");
    let (one, pure, with_delta) =
        (vec![0.0], (1, 0.0, Neighbours::AnyValue), (1, DELTA, Neighbours::AnyValue));
    vec![
        worst(
            CaseDescription::sound("laplace", "Laplace noise of scale 1"),
            Laplace::new(unit, unit),
            &one,
            pure.clone(),
        ),
        worst(
            CaseDescription::sound("gaussian", "Gaussian noise calibrated to (1, 1e-5)"),
            gaussian,
            &one,
            with_delta.clone(),
        ),
        worst(
            CaseDescription::sound(
                "discrete-laplace",
                "exact Laplace noise of scale 9 on a lattice of spacing 1/8",
            ),
            DiscreteLaplace::new(lattice, steps(9), unit),
            &one,
            pure,
        ),
        worst(
            CaseDescription::sound(
                "discrete-gaussian",
                "exact Gaussian noise of 30 spacings on a lattice of spacing 1/8",
            ),
            DiscreteGaussian::new(lattice, steps(30), unit).expect("a small standard deviation"),
            &one,
            with_delta,
        ),
    ]
}
