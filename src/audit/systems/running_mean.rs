//! Audits of published running means: one person's rewards are changed, and a reader sees all means.

use super::system::{Candidates, System};
use crate::audit::error::AuditError;
use crate::audit::measure::{Experiment, KnownPair, NeighbourSide, Transcript};
use crate::audit::verdict::{Statement, upper_bound};
use crate::privacy::ledger::{Ledger, Occasion, ReleaseError};
use crate::privacy::mechanisms::{Distinguisher, Mechanism, RATIO, TreeAggregation};
use crate::privacy::{RunningSum, Sensitive};
use crate::protocols::local::{Local, RunningMean};
use crate::rng::Key;
use crate::vocab::{Neighbours, Observer, ProtectedUnit, Time, counted};

/// The audit of the means that one series publishes. The neighbours differ in all rewards of one person: on D they lie above
/// the range, on D' below it. `visits` is the largest number of visits of one person.
pub(super) fn published(
    recipe: &Local,
    series: &str,
    means: &RunningMean,
    visits: u64,
    delta: Option<f64>,
    conditions: &[String],
) -> Result<Candidates, AuditError> {
    let population = recipe.population.map_or(recipe.rounds, std::num::NonZeroU64::get);
    let mechanism = means.mechanism(recipe.rounds, population)?;
    let pair = means.range.worst_pair().ok_or_else(|| AuditError::scenario("the range has no ends"))?;
    let given = visits.min(mechanism.contributions().get());
    let steps = mechanism.steps().get();
    // The values that enter the sums. The rewards of the person come first, clipped to the range. If the person has more
    // rewards than the mechanism permits contributions, only the permitted number of them enter. The rewards of the other
    // persons are at the lower end of the range.
    let low = means.range.low.get();
    let counting = |reward: f64| -> Vec<Vec<f64>> {
        (0..steps).map(|step| vec![if step < given { means.range.clip(reward) } else { low }]).collect()
    };
    let inputs = pair.inputs.map(counting);
    let told = mechanism.distinguisher([&inputs[0], &inputs[1]])?;
    let price = mechanism.price(&inputs[0], &Neighbours::AnyValue)?;
    let stated = means.delta.get();
    let delta = delta.unwrap_or(stated);
    let source = "the scenario".to_owned();
    let statement = Statement {
        name: series.to_owned(),
        about: format!("{} of rewards, by {}", counted(steps, "running mean"), price.mechanism),
        neighbours: format!("all {visits} rewards of one person, {} or {}", pair.inputs[0], pair.inputs[1]),
        observer: means.readers.join(", "),
        delta,
        // At a delta below the one that the scenario states, nothing is claimed.
        claim: (delta >= stated).then(|| (means.epsilon.get(), source)),
        proven: upper_bound(&[(&price, 1)], delta),
        disjoint: None,
        broken: false,
    };
    let known = KnownPair::of([(told.laws.as_ref(), 1)]);
    let experiment =
        Published { mechanism, means: means.clone(), rewards: pair.inputs, visits, steps, told, known };
    Ok(vec![System::new(statement.with_conditions(conditions), experiment)])
}

/// The experiment in which a reader sees all published sums. (A mean is a sum divided by a number that is public.)
struct Published {
    mechanism: TreeAggregation,
    means: RunningMean,
    /// The reward that the person whose rewards differ has at every visit: first on D, then on D'.
    rewards: [f64; 2],
    visits: u64,
    steps: u64,
    told: Distinguisher<Vec<Vec<f64>>>,
    known: Option<KnownPair>,
}

impl Published {
    /// All sums on one of the two neighbours, computed by the code of the simulation: the person's rewards come first.
    fn sums(&self, side: NeighbourSide, key: Key) -> Result<Vec<Vec<f64>>, ReleaseError> {
        let occasion = Occasion {
            released: "running means of rewards".to_owned(),
            protected: String::new(),
            unit: ProtectedUnit::User,
            unit_index: None,
            neighbours: Neighbours::AnyValue,
            observer: Observer(String::new()),
            round: 0,
            at: Time::ZERO,
            conditions: Vec::new(),
        };
        let (range, stream) = (self.means.range, key.child("running mean").stream());
        let mut sum = RunningSum::begin(&mut Ledger::new(), occasion, &self.mechanism, range, stream)?;
        let mut sums = Vec::with_capacity(self.steps as usize);
        let mut add = |unit: u64, reward: f64| -> Result<(), ReleaseError> {
            let released = sum.add(unit, &Sensitive::new(reward))?;
            sums.extend(released.map(|sum| vec![sum.into_inner()]));
            Ok(())
        };
        for _ in 0..self.visits {
            add(0, self.rewards[side.index()])?;
        }
        let counting = self.visits.min(self.mechanism.contributions().get());
        for step in counting..self.steps {
            add(step + 1, self.means.range.low.get())?;
        }
        Ok(sums)
    }
}

impl Experiment for Published {
    fn tests(&self) -> Vec<String> {
        vec![RATIO.to_owned()]
    }

    fn trial(&self, side: NeighbourSide, key: Key) -> Result<Transcript, AuditError> {
        let sums = self.sums(side, key).map_err(AuditError::scenario)?;
        Ok(Transcript::rounded(vec![self.told.log_ratio(&sums)]))
    }

    fn pair(&self) -> Option<&KnownPair> {
        self.known.as_ref()
    }
}
