//! The sum of all protected values so far, released again and again while the values come.

use super::ledger::{LedgerWriter, Occasion, ReleaseError, enter};
use super::mechanisms::clipping::Range;
use super::mechanisms::{MechanismError, TreeAggregation, TreeRun};
use super::{Released, Sensitive};
use crate::rng::Stream;
use std::collections::BTreeMap;
use std::num::NonZeroU64;

/// Sums of numbers by [tree aggregation](TreeAggregation). Every number is clipped to a public range. The mechanism's
/// price holds for at most a stated number of contributions of one unit. Of each unit only that many numbers count: the
/// first ones. So the precondition of the mechanism holds whatever the numbers are.
#[derive(Clone, Debug)]
pub struct RunningSum {
    run: TreeRun,
    range: Range,
    /// How many numbers of one unit may count.
    most: NonZeroU64,
    /// For each unit, how many of its numbers have counted.
    counted: BTreeMap<u64, u64>,
    stream: Stream,
}

impl RunningSum {
    /// Begins the sums, and enters the price of all of them in the ledger. The sensitivity of `mechanism` must be at least
    /// the width of the range. A clone of the `RunningSum` continues with the same noise. Clones are for forks of a
    /// simulation: publish the sums of one branch only.
    ///
    /// # Errors
    /// [`ReleaseError`] if the width of the range is not a finite number above 0, if the range is wider than the mechanism's
    /// sensitivity, if the ledger refuses the release, or if the mechanism has no exact arithmetic for its noise.
    pub fn begin(
        ledger: &mut dyn LedgerWriter,
        occasion: Occasion,
        mechanism: &TreeAggregation,
        range: Range,
        stream: Stream,
    ) -> Result<Self, ReleaseError> {
        let (width, covered) = (range.width()?, mechanism.sensitivity());
        if width > covered {
            return Err(ReleaseError::Mechanism(MechanismError::Shape {
                expected: format!("a range of at most the mechanism's sensitivity, {covered}"),
                found: format!("a width of {width}"),
            }));
        }
        enter(ledger, occasion, mechanism, &Sensitive::new(vec![vec![0.0]]))?;
        let (run, most) = (mechanism.begin(1)?, mechanism.contributions());
        Ok(Self { run, range, most, counted: BTreeMap::new(), stream })
    }

    /// Adds a unit's number; returns the released sum of all numbers that count so far. `None` if this unit has already
    /// made all the contributions that a unit may make: then nothing is added and nothing is drawn.
    ///
    /// # Errors
    /// [`ReleaseError`] if as many numbers have counted before as the tree has steps.
    pub fn add(&mut self, unit: u64, number: &Sensitive<f64>) -> Result<Option<Released<f64>>, ReleaseError> {
        let counted = self.counted.entry(unit).or_default();
        if *counted == self.most.get() {
            return Ok(None);
        }
        let value = self.range.clip(*number.expose());
        let sum = self.run.add(&[value], &mut self.stream)?;
        *counted += 1;
        Ok(sum.first().map(|sum| Released::new(*sum)))
    }
}
