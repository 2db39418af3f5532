//! Records when a model needed more jitter than before.

use super::facts::{Fact, RecordsFacts};
use crate::kernel::Recorder;

/// The largest jitter that a party's model has needed so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct JitterWatch {
    largest: f64,
}

impl JitterWatch {
    /// Records a jitter in the journal if it is the largest so far.
    pub fn note<P: RecordsFacts>(&mut self, jitter: f64, ctx: &mut dyn Recorder<P>) {
        if jitter > self.largest {
            self.largest = jitter;
            ctx.record(Fact::Jittered(jitter));
        }
    }
}
