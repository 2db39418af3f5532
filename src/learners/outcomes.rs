//! What is known about the outcomes that a learner observes.

/// The properties of the outcomes that a learner observes, as far as a scenario states them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcomes {
    /// Whether outcomes have Laplace noise for privacy; outcomes with this noise may be clipped too. `None` if it is not
    /// known whether outcomes have this noise.
    pub private: Option<bool>,
    /// Whether the measurement noise of outcomes is bounded; `None` if that is not known.
    pub bounded: Option<bool>,
}
