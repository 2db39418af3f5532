//! The sum of all protected values so far, released again and again while the values come.

use super::ledger::{LedgerWriter, Occasion, ReleaseError, enter};
use super::mechanisms::clipping::Range;
use super::mechanisms::{MechanismError, TreeAggregation, TreeRun};
use super::{Released, Sensitive};
use crate::rng::Stream;
use std::collections::BTreeMap;
use std::num::NonZeroU64;

/// Sums of numbers by [tree aggregation](TreeAggregation). Every number is clipped to a public range, and of each unit
/// at most `contributions` numbers count, as many as the noise is scaled to. So the precondition of the mechanism holds
/// whatever the numbers are.
#[derive(Clone, Debug)]
pub struct RunningSum {
    run: TreeRun,
    range: Range,
    /// The largest number of a unit's numbers that count.
    most: NonZeroU64,
    /// For each unit, how many of its numbers have counted.
    counted: BTreeMap<u64, u64>,
    stream: Stream,
}

impl RunningSum {
    /// Enters the price of all sums in the ledger, before the first one. `mechanism` is scaled to `contributions` of
    /// one unit, and at least to the width of the range. A copy of the sum continues with the same noise: it is for a
    /// fork of the simulation, of which only one branch is published.
    ///
    /// # Errors
    /// [`ReleaseError`] if the range is wider than the mechanism's sensitivity, if the ledger refuses the release, or if the
    /// mechanism has no exact arithmetic for its noise.
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

    /// Adds a unit's number; returns the released sum of all numbers that count so far. `None` if the largest allowed
    /// number of this unit's numbers has counted before: then nothing is added and nothing is drawn.
    ///
    /// # Errors
    /// [`ReleaseError`] if there were as many numbers as the tree has steps.
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
