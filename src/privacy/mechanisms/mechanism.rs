//! The interface of a mechanism: its privacy cost, a draw of its output, and its worst known neighbours.

use super::pair::{Distinguisher, Pair};
use crate::rng::Stream;
use crate::vocab::{Arithmetic, Basis, Claim, Cost, Neighbours, OutOfRange, Positive, Sampler};
use std::fmt;
use std::sync::Arc;
use thiserror::Error;

/// A randomised map from a secret to an output that may be released, together with its privacy cost.
///
/// [`release`](crate::privacy::ledger::release) asks for the price and then draws the output, once per release. An
/// audit calls the mechanism with a plain (not `Sensitive`) input; the output is then plain too, and not a `Released`
/// value.
pub trait Mechanism: fmt::Debug {
    /// The input.
    type Input;
    /// The output.
    type Output;

    /// The privacy cost of one release under a neighbouring relation.
    ///
    /// An implementation may read the public shape of `input`, such as its length, but not the values in it. The conformance
    /// test of a mechanism checks this on the mechanism's worst known pair.
    ///
    /// # Errors
    /// [`MechanismError::NeighboursNotCovered`] if the analysis does not cover the relation; [`MechanismError::Shape`] if
    /// the mechanism cannot be used for inputs of this shape, for example because exact arithmetic finds no lattice for
    /// its noise.
    fn price(&self, input: &Self::Input, neighbours: &Neighbours) -> Result<Price, MechanismError>;

    /// Draws one output; all its random numbers come from `stream`.
    ///
    /// # Errors
    /// [`MechanismError`] if the input violates the precondition, or if no output can be computed.
    fn privatise(&self, input: &Self::Input, stream: &mut Stream) -> Result<Self::Output, MechanismError>;

    /// The worst known pair: the neighbouring inputs, with the public shape of `like`, whose outputs are the easiest to
    /// distinguish. `subrosa audit mechanism` and the conformance tests attack this pair; the audit of a scenario uses
    /// it or changes the scenario's own data. `None` if no such pair is known, or if no privacy is claimed.
    fn worst_pair(&self, like: &Self::Input) -> Option<Pair<Self::Input>> {
        let _ = like;
        None
    }

    /// What is known to distinguish the outputs on two inputs, D and D': tests, and the distributions of the outputs.
    /// Likelihood ratios and distributions are computed for the calibrated noise; with exact arithmetic, the noise that
    /// is drawn on a lattice is slightly larger.
    ///
    /// # Errors
    /// [`MechanismError`] if an input violates the precondition.
    fn distinguisher(
        &self,
        inputs: [&Self::Input; 2],
    ) -> Result<Distinguisher<Self::Output>, MechanismError> {
        let _ = inputs;
        Ok(Distinguisher::unknown())
    }
}

/// Implements [`Mechanism`] for a pointer to a mechanism.
macro_rules! behind {
    ($pointer:ident) => {
        impl<M: Mechanism + ?Sized> Mechanism for $pointer<M> {
            type Input = M::Input;
            type Output = M::Output;

            fn price(&self, input: &M::Input, neighbours: &Neighbours) -> Result<Price, MechanismError> {
                (**self).price(input, neighbours)
            }

            fn privatise(&self, input: &M::Input, stream: &mut Stream) -> Result<M::Output, MechanismError> {
                (**self).privatise(input, stream)
            }

            fn worst_pair(&self, like: &M::Input) -> Option<Pair<M::Input>> {
                (**self).worst_pair(like)
            }

            fn distinguisher(
                &self,
                inputs: [&M::Input; 2],
            ) -> Result<Distinguisher<M::Output>, MechanismError> {
                (**self).distinguisher(inputs)
            }
        }
    };
}

behind!(Box);
behind!(Arc);

/// A mechanism's description of one release: its part of a [`PrivacyEvent`](crate::vocab::PrivacyEvent).
#[derive(Clone, Debug, PartialEq)]
pub struct Price {
    /// Name of the mechanism in words.
    pub mechanism: &'static str,
    /// Sampler that the cost assumes; also `Full` if units are sampled but the sampling does not reduce the loss.
    pub sampler: Sampler,
    /// Sensitivity used to scale the noise, where there is one.
    pub sensitivity: Option<f64>,
    /// The cost, from which accountants compute the loss.
    pub cost: Cost,
    /// The loss that a paper claims, if any.
    pub claim: Option<Claim>,
    /// The basis of the cost.
    pub basis: Basis,
    /// The arithmetic of the noise; `Noiseless` if none is drawn.
    pub arithmetic: Arithmetic,
}

/// Why a mechanism cannot release.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum MechanismError {
    /// The input has the wrong shape, or a number is out of its range.
    #[error("expected {expected}, found {found}")]
    Shape {
        /// What the mechanism needs.
        expected: String,
        /// What the mechanism was given.
        found: String,
    },
    /// The input contains NaN or an infinity. (The position is not reported: it would be a release without
    /// protection.)
    #[error("expected finite numbers, found NaN or infinity in the secret")]
    NotFinite,
    /// The mechanism's analysis does not hold for the neighbouring relation under which the release is priced.
    #[error(
        "{mechanism} is analysed for {covered} only, not for {neighbours:?}: choose another neighbouring relation or \
         another mechanism"
    )]
    NeighboursNotCovered {
        /// The mechanism.
        mechanism: &'static str,
        /// The relation.
        neighbours: Neighbours,
        /// The relations that are covered, in words.
        covered: &'static str,
    },
    /// The mechanism is a user's own program, and this program gave no answer.
    #[error("{why}")]
    NoAnswer {
        /// The reason.
        why: String,
    },
    /// A matrix decomposition did not converge.
    #[error("the singular value decomposition did not converge")]
    Decomposition,
}

impl MechanismError {
    /// The error for a computed number that is out of its range.
    #[must_use]
    pub fn out_of_range(error: OutOfRange) -> Self {
        Self::Shape { expected: error.expected.to_owned(), found: error.found.to_string() }
    }
}

/// Returns an error if a value is NaN or infinite.
pub(super) fn all_finite(values: &[f64]) -> Result<(), MechanismError> {
    if values.iter().all(|v| v.is_finite()) { Ok(()) } else { Err(MechanismError::NotFinite) }
}

/// Returns an error unless neighbours differ in one row, moved by at most `most`.
///
/// # Errors
/// [`MechanismError::NeighboursNotCovered`].
pub fn moved(mechanism: &'static str, neighbours: &Neighbours, most: Positive) -> Result<(), MechanismError> {
    if matches!(neighbours, Neighbours::RowMoved { distance } if *distance <= most.get()) {
        return Ok(());
    }
    let covered = "one row moved by at most the distance that the noise is calibrated to";
    Err(MechanismError::NeighboursNotCovered { mechanism, neighbours: neighbours.clone(), covered })
}

/// Returns an error unless neighbours differ in one report, replaced by any other.
///
/// # Errors
/// [`MechanismError::NeighboursNotCovered`].
pub fn any_value(mechanism: &'static str, neighbours: &Neighbours) -> Result<(), MechanismError> {
    if *neighbours == Neighbours::AnyValue {
        return Ok(());
    }
    let covered = "one report replaced by any other";
    Err(MechanismError::NeighboursNotCovered { mechanism, neighbours: neighbours.clone(), covered })
}
