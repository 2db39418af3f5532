//! Audits of mechanisms that choose among options or release one bit, of private selection, and of unprotected
//! releases.

use super::case::{Case, CaseDescription, DELTA, epsilon, on_pair, positive, probability, worst};
use crate::privacy::mechanisms::{
    Argmax, Disclosure, ExponentialMechanism, Gaussian, Informative, Laplace, Pair, PermuteAndFlip,
    PrivateSelection, RandomizedResponse, Repetitions, ReportNoisyMax, ResultNoise, SilenceBy,
};
use crate::vocab::{AboveOne, Finite, Neighbours};

fn selection(noise: ResultNoise, repetitions: Repetitions) -> PrivateSelection {
    PrivateSelection::new(noise, repetitions).expect("a pure epsilon or Gaussian noise")
}

pub(super) fn cases() -> Vec<Case> {
    let (options, terms) = (vec![0.0; 21], (1, 0.0, Neighbours::AnyValue));
    let finite = |value| Finite::new(value).expect("finite");
    let silence = Informative {
        by: SilenceBy::Value,
        slope: finite(2.0),
        base_rate: probability(0.3),
        centre: finite(0.0),
        scale: positive(1.0),
        least: probability(0.1),
        most: probability(0.6),
    };
    vec![
        worst(
            CaseDescription::sound("randomized-response", "randomised response on one bit, epsilon 1"),
            RandomizedResponse::new(epsilon(1.0)),
            &true,
            terms.clone(),
        ),
        worst(
            CaseDescription::sound(
                "informative-silence",
                "logistic silence between 0.1 and 0.6, epsilon ln 6",
            ),
            silence,
            &0.0,
            terms.clone(),
        ),
        worst(
            CaseDescription::sound("exponential", "exponential mechanism, epsilon 1"),
            ExponentialMechanism::new(epsilon(1.0), positive(1.0)),
            &options,
            terms.clone(),
        ),
        worst(
            CaseDescription::sound("report-noisy-max", "report noisy max with exponential noise, epsilon 1"),
            ReportNoisyMax::new(epsilon(1.0), positive(1.0)),
            &options,
            terms.clone(),
        ),
        worst(
            CaseDescription::sound(
                "permute-and-flip",
                "permute and flip between two options, epsilon 1 (the output has the distribution of report noisy max)",
            ),
            PermuteAndFlip::new(epsilon(1.0), positive(1.0)),
            &vec![0.0; 2],
            terms.clone(),
        ),
        worst(
            CaseDescription::sound(
                "private-selection",
                "best of a geometric number (mean 10) of results with Laplace noise, epsilon 1",
            ),
            selection(
                ResultNoise::Laplace(Laplace::new(positive(3.0), positive(1.0))),
                Repetitions::Geometric { mean: AboveOne::new(10.0).expect("10 is above 1") },
            ),
            &vec![0.0],
            terms.clone(),
        ),
        worst(
            CaseDescription::sound(
                "private-selection-gaussian",
                "best of a Poisson number (mean 10) of results with Gaussian noise of multiplier 8",
            ),
            selection(
                ResultNoise::Gaussian(Gaussian::new(positive(8.0), positive(1.0))),
                Repetitions::Poisson { mean: positive(10.0) },
            ),
            &vec![0.0],
            (1, DELTA, Neighbours::AnyValue),
        ),
        worst(
            CaseDescription::unprotected("argmax", "the best index, without noise: nothing is claimed"),
            Argmax,
            &options,
            terms.clone(),
        ),
        on_pair(
            CaseDescription::unprotected(
                "disclosure",
                "a number released without protection: nothing is claimed",
            ),
            Disclosure::<f64>::new(),
            Pair::new(1.0, 0.0, "the number"),
            terms,
        ),
    ]
}
