//! An experiment: a randomised system on two neighbouring inputs, as its observer sees it.

use super::evidence::NeighbourSide;
use super::pair::KnownPair;
use crate::audit::error::AuditError;
use crate::rng::Key;

/// A canary is a unit of data that the auditor includes with probability 1/2, independently of all other canaries. For each
/// canary: whether it was included, and its score. A positive score is a guess that the canary was included, any other
/// score a guess that it was not.
pub type CanaryScores = Vec<(bool, f64)>;

/// What one run of the audited system shows its observer, reduced to numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transcript {
    /// One score per test of the experiment; larger scores favour the data as given ([`NeighbourSide::Given`]). Never NaN.
    pub scores: Vec<f64>,
    /// Numbers of the transcript, on which a statistic is trained; empty if the scores use all the information.
    pub features: Vec<f64>,
}

impl Transcript {
    /// A transcript with scores only.
    #[must_use]
    pub fn scored(scores: Vec<f64>) -> Self {
        Self { scores, features: Vec::new() }
    }

    /// A transcript of scores only, rounded to multiples of 2^-20. If noise is drawn in floating point, the low bits of
    /// an output, and of a likelihood ratio computed from it, can reveal the input even where the output has the same
    /// density on both inputs. Separate audits test for this leak; rounding keeps it out of every audit whose transcripts
    /// are rounded.
    #[must_use]
    pub fn rounded(mut scores: Vec<f64>) -> Self {
        scores.iter_mut().for_each(|score| *score = rounded(*score));
        Self::scored(scores)
    }
}

/// A score as a multiple of 2^-20.
pub(in crate::audit) fn rounded(score: f64) -> f64 {
    (score * RESOLUTION).round() / RESOLUTION
}

const RESOLUTION: f64 = (1u64 << 20) as f64;

/// A randomised system on two neighbouring inputs, as its observer sees it.
pub trait Experiment: Sync {
    /// Names of the tests, in the order of [`Transcript::scores`]. If there is a test of which outputs are possible on each
    /// input ("support"), it comes first, before others such as "likelihood ratio".
    fn tests(&self) -> Vec<String>;

    /// One run on one of the two sides. All its random numbers come from `key` and its children.
    ///
    /// # Errors
    /// If the system cannot run.
    fn trial(&self, side: NeighbourSide, key: Key) -> Result<Transcript, AuditError>;

    /// The output laws of the two neighbours, where they are known.
    fn pair(&self) -> Option<&KnownPair> {
        None
    }

    /// One run with many canaries, each included with probability 1/2; `None` if the system cannot run with canaries. The
    /// run takes at most roughly as much work as `trials` trials. All its random numbers come from `key` and its children.
    fn one_run(&self, _trials: u64, _key: Key) -> Option<Result<CanaryScores, AuditError>> {
        None
    }
}
