//! A mechanism released once or several times, with tests on its output: what most audits of one mechanism are.

use super::run::{Experiment, Transcript};
use super::suite::Case;
use super::verdict::{Statement, Verdict};
use super::{KnownPair, World, upper_bound};
use crate::privacy::mechanisms::Mechanism;
use crate::rng::Key;
use crate::vocab::Neighbours;

/// A score of one output.
pub type Score<O> = Box<dyn Fn(&O) -> f64 + Send + Sync>;

/// One or several releases of a mechanism with the same secret; scores of several releases add up.
pub struct Releases<M: Mechanism> {
    /// The mechanism.
    pub mechanism: M,
    /// Its input under D and under D'.
    pub inputs: [M::Input; 2],
    /// How often it releases.
    pub times: u64,
    /// Tests by name; their scores speak for D.
    pub tests: Vec<(&'static str, Score<M::Output>)>,
    /// The output laws of the two inputs over all releases, where they are known.
    pub pair: Option<KnownPair>,
}

impl<M: Mechanism> std::fmt::Debug for Releases<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Releases").field("mechanism", &self.mechanism).finish_non_exhaustive()
    }
}

impl<M: Mechanism + Sync> Experiment for Releases<M>
where
    M::Input: Sync,
{
    fn tests(&self) -> Vec<String> {
        self.tests.iter().map(|(name, _)| (*name).to_owned()).collect()
    }

    fn trial(&self, world: World, key: Key) -> Result<Transcript, String> {
        let mut stream = key.stream();
        let mut scores = vec![0.0; self.tests.len()];
        for _ in 0..self.times {
            let output = self
                .mechanism
                .privatise(&self.inputs[world.index()], &mut stream)
                .map_err(|error| error.to_string())?;
            scores.iter_mut().zip(&self.tests).for_each(|(score, (_, test))| *score += test(&output));
        }
        Ok(Transcript::rounded(scores))
    }

    fn pair(&self) -> Option<&KnownPair> {
        self.pair.as_ref()
    }
}

/// What a case is called, and the words about it.
pub(super) struct Words {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) neighbours: &'static str,
    pub(super) expected: Verdict,
}

/// Name of tests by the exact ratio of densities.
pub const RATIO: &str = "likelihood ratio";
/// Name of tests by what is possible at all.
pub const SUPPORT: &str = "support";

pub(super) fn case<M>(
    words: Words,
    mechanism: M,
    inputs: [M::Input; 2],
    (times, delta, neighbours): (u64, f64, Neighbours),
    tests: Vec<(&'static str, Score<M::Output>)>,
    pair: Option<KnownPair>,
) -> Case
where
    M: Mechanism + Send + Sync + 'static,
    M::Input: Send + Sync + 'static,
    M::Output: 'static,
{
    let price =
        mechanism.price(&inputs[0], &neighbours).expect("the suite's own parameters keep every precondition");
    let claim = price.claim.as_ref().filter(|claim| claim.cost.is_none());
    let statement = Statement {
        name: words.name.to_owned(),
        about: words.about.to_owned(),
        neighbours: words.neighbours.to_owned(),
        observer: "anyone who sees the output".to_owned(),
        delta,
        claim: claim.map(|claim| (claim.epsilon, claim.source.clone())),
        proven: upper_bound(&[(&price, times)], delta),
        disjoint: None,
        broken: words.name.starts_with("broken-"),
    };
    let experiment = Box::new(Releases { mechanism, inputs, times, tests, pair });
    Case { statement, experiment, expected: words.expected }
}
