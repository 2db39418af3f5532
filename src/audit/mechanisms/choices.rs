//! Audits of choices among options, of one bit, and of unprotected releases.

use super::case::{Case, CaseDescription, epsilon, on_pair, positive, worst};
use crate::privacy::mechanisms::{
    Argmax, Disclosure, ExponentialMechanism, Pair, RandomizedResponse, ReportNoisyMax,
};
use crate::vocab::Neighbours;

pub(super) fn cases() -> Vec<Case> {
    let (options, terms) = (vec![0.0; 21], (1, 0.0, Neighbours::AnyValue));
    vec![
        worst(
            CaseDescription::sound("randomized-response", "randomised response on one bit, epsilon 1"),
            RandomizedResponse::new(epsilon(1.0)),
            &true,
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
