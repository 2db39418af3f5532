//! The AboveThreshold mechanism on trials: returns the setting of the first trial whose noisy result is not below a noisy
//! threshold.

use super::pair::{Distinguisher, Pair, RATIO};
use super::private_selection::{Selected, SelectedTrial};
use super::sparse_vector::Comparisons;
use super::{Compared, Mechanism, MechanismError, Price, SparseVector};
use crate::rng::Stream;
use crate::vocab::{Epsilon, Finite, Neighbours, NonNegative, Positive};
use std::num::NonZeroU32;

/// Compares the noisy results of trials with a noisy threshold, in the order of the trials. Returns the setting of the
/// first trial whose noisy result is not below the noisy threshold, with a noisy value of the result if values are
/// released; `None` if all noisy results are below. The mechanism is [`SparseVector`] with cutoff 1, whose output also
/// shows how many comparisons were made. So the cost holds for an observer who learns how many trials were made, too.
///
/// * Precondition: the precondition of [`SparseVector`]; the order of the trials does not depend on the data, and each
///   setting is tried at most once.
/// * Postcondition: the postcondition of [`SparseVector`].
///
/// Source: as [`SparseVector`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FirstAbove(SparseVector);

impl FirstAbove {
    /// From the epsilon of all comparisons, the epsilon of the released value (`None`: no value is released), the
    /// sensitivity of a result, the largest rounding error of a result, and the threshold.
    #[must_use]
    pub fn new(
        (epsilon, of_value): (Epsilon, Option<Epsilon>),
        sensitivity: Positive,
        error: NonNegative,
        threshold: Finite,
    ) -> Self {
        let comparisons =
            SparseVector::new(epsilon, sensitivity, threshold, NonZeroU32::MIN).computed_within(error);
        Self(match of_value {
            Some(epsilon) => comparisons.with_values(epsilon),
            None => comparisons,
        })
    }

    /// The same mechanism, with its noise sampled in this arithmetic.
    #[must_use]
    pub const fn with(self, arithmetic: super::NoiseArithmetic) -> Self {
        Self(self.0.with(arithmetic))
    }

    /// The comparisons, as a [`SparseVector`] of cutoff 1.
    #[must_use]
    pub const fn comparisons(&self) -> &SparseVector {
        &self.0
    }

    /// Draws the noise on the threshold, as [`SparseVector::begin`] does; the results are then compared one by one.
    ///
    /// # Errors
    /// As [`SparseVector::begin`].
    pub(crate) fn begin(&self, stream: &mut Stream) -> Result<Comparisons, MechanismError> {
        self.0.begin(stream)
    }
}

fn results(trials: &[Selected]) -> Vec<f64> {
    trials.iter().map(|(_, result)| *result).collect()
}

impl Mechanism for FirstAbove {
    type Input = Vec<Selected>;
    type Output = SelectedTrial;

    fn price(&self, trials: &Vec<Selected>, neighbours: &Neighbours) -> Result<Price, MechanismError> {
        self.0.price(&results(trials), neighbours)
    }

    fn privatise(
        &self,
        trials: &Vec<Selected>,
        stream: &mut Stream,
    ) -> Result<SelectedTrial, MechanismError> {
        let answers = self.0.privatise(&results(trials), stream)?;
        let found = trials.iter().zip(answers).find_map(|((setting, _), answer)| match answer {
            Compared::Below => None,
            Compared::Above(value) => Some((*setting, value)),
        });
        Ok(found)
    }

    /// The worst pair of [`SparseVector`]: the numbers of that pair become the results of the trials. The trials have the
    /// settings of `like`.
    fn worst_pair(&self, like: &Vec<Selected>) -> Option<Pair<Vec<Selected>>> {
        let Pair { inputs: [given, neighbour], words } = self.0.worst_pair(&results(like))?;
        let of = |results: Vec<f64>| like.iter().map(|(setting, _)| *setting).zip(results).collect();
        Some(Pair::new(of(given), of(neighbour), words))
    }

    fn distinguisher(
        &self,
        [given, neighbour]: [&Vec<Selected>; 2],
    ) -> Result<Distinguisher<SelectedTrial>, MechanismError> {
        let test = self.0.distinguisher([&results(given), &results(neighbour)])?;
        let settings: Vec<u64> = given.iter().map(|(setting, _)| *setting).collect();
        let laws = test.laws.clone();
        let score = move |found: &SelectedTrial| {
            let place = found.and_then(|(setting, _)| settings.iter().position(|tried| *tried == setting));
            let below = place.unwrap_or(settings.len());
            let mut answers = vec![Compared::Below; below];
            answers.extend(found.map(|(_, value)| Compared::Above(value)));
            test.log_ratio(&answers)
        };
        Ok(Distinguisher { tests: vec![(RATIO, Box::new(score))], laws, ..Distinguisher::unknown() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(value: Option<f64>) -> FirstAbove {
        let epsilon = |epsilon: f64| Epsilon::new(epsilon).unwrap();
        let (one, none) = (Positive::new(1.0).unwrap(), NonNegative::new(0.0).unwrap());
        FirstAbove::new((epsilon(2.0), value.map(epsilon)), one, none, Finite::new(0.5).unwrap())
    }

    /// The returned setting tells which comparison is the first with the answer "above", so the pair, the laws and the
    /// ratio are those of the comparisons.
    #[test]
    fn trials_are_distinguished_as_their_comparisons_are() {
        for value in [None, Some(1.0)] {
            let mechanism = of(value);
            let comparisons = mechanism.comparisons();
            let trials: Vec<Selected> = vec![(7, 0.1), (3, 0.9), (5, 0.4)];
            let pair = mechanism.worst_pair(&trials).unwrap();
            let plain = comparisons.worst_pair(&results(&trials)).unwrap();
            assert_eq!(pair.inputs.clone().map(|trials| results(&trials)), plain.inputs);
            assert!(
                pair.inputs.iter().all(|trials| trials.iter().map(|(setting, _)| *setting).eq([7, 3, 5]))
            );
            let found = mechanism.distinguisher([&pair.inputs[0], &pair.inputs[1]]).unwrap();
            let expected = comparisons.distinguisher([&plain.inputs[0], &plain.inputs[1]]).unwrap();
            assert_eq!(found.laws, expected.laws);
            assert!(found.laws.is_some());
            let released = value.map(|_| 0.8);
            let below = Compared::Below;
            let above = Compared::Above(released);
            for (trial, answers) in [
                (Some((7, released)), vec![above]),
                (Some((3, released)), vec![below, above]),
                (Some((5, released)), vec![below, below, above]),
                (None, vec![below, below, below]),
            ] {
                let ratio = found.log_ratio(&trial);
                assert_eq!(ratio, expected.log_ratio(&answers), "{trial:?}");
                assert!(ratio != 0.0, "{trial:?}");
            }
        }
    }
}
