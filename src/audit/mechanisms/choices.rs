//! Audits of choices among options, of one bit, and of unprotected releases.

use super::case::{Case, CaseDescription, epsilon, on_pair, positive, probability, worst};
use crate::privacy::mechanisms::{
    Argmax, Disclosure, ExponentialMechanism, Informative, Pair, RandomizedResponse, ReportNoisyMax,
    SilenceBy,
};
use crate::vocab::{Finite, Neighbours};

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
