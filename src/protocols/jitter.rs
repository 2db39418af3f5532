//! Says when a model needed more jitter than before.

/// The largest jitter that a party's model has needed so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct JitterWatch {
    largest: f64,
}

impl JitterWatch {
    /// The jitter, if it is larger than ever before: worth a fact in the journal.
    pub fn grown(&mut self, jitter: f64) -> Option<f64> {
        (jitter > self.largest).then(|| {
            self.largest = jitter;
            jitter
        })
    }
}
