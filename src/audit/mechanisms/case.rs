//! One named audit of a mechanism: the statement, the experiment and the expected verdict.

use super::releases::Releases;
use crate::audit::error::AuditError;
use crate::audit::measure::{CanaryScores, Experiment, KnownPair, NeighbourSide, Transcript};
use crate::audit::verdict::{Statement, Verdict, upper_bound};
use crate::privacy::mechanisms::{Distinguisher, Mechanism, Pair};
use crate::rng::Key;
use crate::vocab::{Delta, Epsilon, Neighbours, Positive, Probability};

/// One named audit of a mechanism.
pub struct Case {
    /// The claim and the upper bound that are tested, and a description of the mechanism.
    pub statement: Statement,
    /// The experiment that is run.
    pub experiment: Box<dyn Experiment + Send>,
    /// The verdict that enough trials must give.
    pub expected: Verdict,
}

impl std::fmt::Debug for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Case").field("statement", &self.statement).finish_non_exhaustive()
    }
}

/// Delta of mechanisms that need one.
pub(super) const DELTA: f64 = 1e-5;

pub(super) fn positive(value: f64) -> Positive {
    Positive::new(value).expect("above 0")
}

pub(super) fn probability(value: f64) -> Probability {
    Probability::new(value).expect("from 0 to 1")
}

pub(super) fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).expect("above 0")
}

pub(super) fn delta() -> Delta {
    Delta::new(DELTA).expect("a probability")
}

/// The name of a case, its description and the expected verdict.
pub(super) struct CaseDescription {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) expected: Verdict,
}

impl CaseDescription {
    /// The description of a case whose mechanism makes a true claim.
    pub(super) const fn sound(name: &'static str, about: &'static str) -> Self {
        Self { name, about, expected: Verdict::Consistent }
    }

    /// The description of a case whose mechanism makes a false claim.
    pub(super) const fn refuted(name: &'static str, about: &'static str) -> Self {
        Self { name, about, expected: Verdict::Refuted }
    }

    /// The description of a case whose mechanism makes no claim.
    pub(super) const fn unprotected(name: &'static str, about: &'static str) -> Self {
        Self { name, about, expected: Verdict::Inconclusive }
    }
}

/// The number of releases of a mechanism, the delta, and the neighbouring relation for which its cost is stated.
pub(super) type Terms = (u64, f64, Neighbours);

/// The case of a mechanism on its own worst known pair, for inputs of the shape of `like`.
pub(super) fn worst<M>(words: CaseDescription, mechanism: M, like: &M::Input, terms: Terms) -> Case
where
    M: Mechanism + Send + Sync + 'static,
    M::Input: Send + Sync + 'static,
    M::Output: 'static,
{
    let pair = mechanism.worst_pair(like).expect("the suite's own mechanisms name their worst pair");
    on_pair(words, mechanism, pair, terms)
}

/// The case of a mechanism on a given pair.
pub(super) fn on_pair<M>(words: CaseDescription, mechanism: M, pair: Pair<M::Input>, terms: Terms) -> Case
where
    M: Mechanism + Send + Sync + 'static,
    M::Input: Send + Sync + 'static,
    M::Output: 'static,
{
    let distinguisher = mechanism
        .distinguisher([&pair.inputs[0], &pair.inputs[1]])
        .expect("the suite's own inputs satisfy every precondition");
    with_distinguisher(words, mechanism, pair, terms, distinguisher)
}

/// The case of a mechanism on a given pair, with given tests of its outputs.
pub(super) fn with_distinguisher<M>(
    words: CaseDescription,
    mechanism: M,
    pair: Pair<M::Input>,
    (times, delta, neighbours): Terms,
    distinguisher: Distinguisher<M::Output>,
) -> Case
where
    M: Mechanism + Send + Sync + 'static,
    M::Input: Send + Sync + 'static,
    M::Output: 'static,
{
    let price = mechanism
        .price(&pair.inputs[0], &neighbours)
        .expect("the suite's own parameters satisfy every precondition");
    let claim = price.claim.as_ref().filter(|claim| claim.cost.is_none());
    let statement = Statement {
        name: words.name.to_owned(),
        about: words.about.to_owned(),
        neighbours: pair.words.clone(),
        observer: "anyone who sees the output".to_owned(),
        delta,
        claim: claim.map(|claim| (claim.epsilon, claim.source.clone())),
        proven: upper_bound(&[(&price, times)], delta),
        disjoint: distinguisher.disjoint.clone(),
        broken: words.name.starts_with("broken-"),
    };
    let experiment = Box::new(Releases::with_distinguisher(mechanism, pair, times, distinguisher));
    Case { statement, experiment, expected: words.expected }
}

/// Makes one run with canaries. The arguments are the number of trials of the audit, and a key: all random numbers come
/// from this key and its children.
pub(super) type Canaries = Box<dyn Fn(u64, Key) -> Result<CanaryScores, AuditError> + Send + Sync>;

/// An experiment that can also be audited in one run.
struct WithCanaries {
    experiment: Box<dyn Experiment + Send>,
    canaries: Canaries,
}

impl Experiment for WithCanaries {
    fn tests(&self) -> Vec<String> {
        self.experiment.tests()
    }

    fn trial(&self, side: NeighbourSide, key: Key) -> Result<Transcript, AuditError> {
        self.experiment.trial(side, key)
    }

    fn pair(&self) -> Option<&KnownPair> {
        self.experiment.pair()
    }

    fn one_run(&self, trials: u64, key: Key) -> Option<Result<CanaryScores, AuditError>> {
        Some((self.canaries)(trials, key))
    }
}

/// Adds an audit in one run to a case.
pub(super) fn with_canaries(case: Case, canaries: Canaries) -> Case {
    Case { experiment: Box::new(WithCanaries { experiment: case.experiment, canaries }), ..case }
}
