//! One or several releases of a mechanism, with tests on the outputs: the experiment of most audits of one mechanism.

use crate::audit::error::AuditError;
use crate::audit::measure::{Experiment, KnownPair, NeighbourSide, Transcript};
use crate::privacy::mechanisms::{Distinguisher, Mechanism, Pair};
use crate::rng::Key;

/// One or several releases of a mechanism on one of two neighbouring inputs, which is the same for all releases of a trial.
/// The scores of the releases are added up.
pub struct Releases<M: Mechanism> {
    mechanism: M,
    inputs: [M::Input; 2],
    times: u64,
    distinguisher: Distinguisher<M::Output>,
    pair: Option<KnownPair>,
}

impl<M: Mechanism> std::fmt::Debug for Releases<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Releases").field("mechanism", &self.mechanism).finish_non_exhaustive()
    }
}

impl<M: Mechanism> Releases<M> {
    /// One or several releases of a mechanism on a pair, with the mechanism's own tests.
    ///
    /// # Errors
    /// [`AuditError`] if an input breaks the mechanism's precondition.
    pub fn on(mechanism: M, pair: Pair<M::Input>, times: u64) -> Result<Self, AuditError> {
        let distinguisher = mechanism.distinguisher([&pair.inputs[0], &pair.inputs[1]])?;
        Ok(Self::with_distinguisher(mechanism, pair, times, distinguisher))
    }

    /// One or several releases of a mechanism on a pair, with given tests.
    #[must_use]
    pub fn with_distinguisher(
        mechanism: M,
        pair: Pair<M::Input>,
        times: u64,
        distinguisher: Distinguisher<M::Output>,
    ) -> Self {
        let known = KnownPair::of([(distinguisher.laws.as_ref(), times)]);
        Self { mechanism, inputs: pair.inputs, times, distinguisher, pair: known }
    }

    /// If it has been proved that no output is possible on both inputs, the reason; otherwise `None`.
    #[must_use]
    pub fn disjoint(&self) -> Option<&str> {
        self.distinguisher.disjoint.as_deref()
    }
}

impl<M: Mechanism + Sync> Experiment for Releases<M>
where
    M::Input: Sync,
{
    fn tests(&self) -> Vec<String> {
        self.distinguisher.tests.iter().map(|(name, _)| (*name).to_owned()).collect()
    }

    fn trial(&self, side: NeighbourSide, key: Key) -> Result<Transcript, AuditError> {
        let mut stream = key.stream();
        let mut scores = vec![0.0; self.distinguisher.tests.len()];
        let mut features = Vec::new();
        for _ in 0..self.times {
            let output = self.mechanism.privatise(&self.inputs[side.index()], &mut stream)?;
            scores
                .iter_mut()
                .zip(&self.distinguisher.tests)
                .for_each(|(score, (_, test))| *score += test(&output));
            features.extend(self.distinguisher.features.iter().flat_map(|of| of(&output)));
        }
        Ok(Transcript { features, ..Transcript::rounded(scores) })
    }

    fn pair(&self) -> Option<&KnownPair> {
        self.pair.as_ref()
    }
}
