//! Memory and processor time of a part of a run. They are estimated before anything runs, from the counts that the scenario
//! states, such as the number of arms or rounds.
//!
//! The estimates count the numbers that are in memory and the operations on them. The seconds of each operation were chosen
//! so that the estimates fit the times that scenarios took on an AMD Zen 4 at 3.7 GHz; docs/reliability.md compares
//! estimates with measurements.

/// Seconds of one multiplication with one addition, in a loop over a long row of numbers.
pub const MULTIPLY: f64 = 0.4e-9;
/// Seconds to compute the covariance of two points, or to draw one random number.
pub const COVARIANCE: f64 = 9.6e-9;
/// Seconds to send, deliver and handle a message.
pub const MESSAGE: f64 = 2e-6;
/// Seconds to start a user's program, such as a Python interpreter. How long the program then computes is unknown.
pub const PROGRAM: f64 = 0.08;
/// Seconds from a question to the answer of a user's program that computes an objective, if the program answers quickly.
pub const QUESTION: f64 = 3e-3;
/// Bytes of a floating-point number.
pub const NUMBER: f64 = 8.0;

/// Placeholder for the path of the field that states the number of arms, in the estimate of a learner or a publication.
/// Learners and publications do not know this path.
pub const ARMS: &str = "arms";
/// Placeholder for the path of the field that states the number of outcomes, in the estimate of a learner.
pub const OUTCOMES: &str = "outcomes";

/// Memory and processor time of a part of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Effort {
    /// The largest number of bytes in use at one time.
    pub bytes: f64,
    /// Bytes that this part adds to the stored results of a replication (its record). The estimate assumes that the records
    /// of all replications of a cell are in memory together.
    pub record: f64,
    /// Processor time in seconds.
    pub seconds: f64,
    /// Processor time in seconds for the privacy losses of the releases, which are computed once per cell.
    pub accounted: f64,
    /// The count in the scenario that accounts for most of the memory.
    pub most: Option<Count>,
}

/// A count that a scenario states (of arms, rounds or the like), and the memory that is proportional to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Count {
    /// The path of the field that states the count. A path that begins with a slash is relative to the scenario; any other
    /// path is relative to the recipe that makes the estimate. In the estimate of a learner or a publication, the
    /// placeholder [`ARMS`] or [`OUTCOMES`] may stand in place of the path.
    pub path: String,
    /// The count.
    pub value: u64,
    /// The memory in bytes.
    pub bytes: f64,
}

impl Effort {
    /// Memory and time, due to no count in particular.
    #[must_use]
    pub fn new(bytes: f64, seconds: f64) -> Self {
        Self { bytes, seconds, ..Self::default() }
    }

    /// Memory and time that are due to the count at `path`.
    #[must_use]
    pub fn due_to(path: impl Into<String>, value: u64, bytes: f64, seconds: f64) -> Self {
        let most = Some(Count { path: path.into(), value, bytes });
        Self { most, ..Self::new(bytes, seconds) }
    }

    /// The same, with a record of this size.
    #[must_use]
    pub fn with_record_size(self, record: f64) -> Self {
        Self { record, ..self }
    }

    /// The same, with this many seconds for its privacy losses.
    #[must_use]
    pub fn accounted(self, seconds: f64) -> Self {
        Self { accounted: seconds, ..self }
    }

    /// The same effort, for a recipe that is one level further down in the scenario: `prefix` and a dot are put in front of
    /// the path of the count, unless this path begins with a slash. [`Problem::below`](super::Problem::below) extends the
    /// path of a problem in a similar way.
    #[must_use]
    pub fn below(self, prefix: &str) -> Self {
        self.placed(|path| match path.strip_prefix('/') {
            Some(_) => path.to_owned(),
            None => format!("{prefix}.{path}"),
        })
    }

    /// The same, with `place` applied to the path of the count.
    #[must_use]
    pub fn placed(self, place: impl FnOnce(&str) -> String) -> Self {
        let most = self.most.map(|count| Count { path: place(&count.path), ..count });
        Self { most, ..self }
    }

    /// Two parts that are in memory at the same time: memory, record sizes and times are added up.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let bytes = self.bytes + other.bytes;
        Self { bytes, ..self.then(other) }
    }

    /// Two parts that run one after the other: the larger memory, and the sums of the record sizes and of the times.
    #[must_use]
    pub fn then(self, other: Self) -> Self {
        let size = |count: &Option<Count>| count.as_ref().map_or(0.0, |count| count.bytes);
        let most = if size(&other.most) > size(&self.most) { other.most } else { self.most };
        Self {
            bytes: self.bytes.max(other.bytes),
            record: self.record + other.record,
            seconds: self.seconds + other.seconds,
            accounted: self.accounted + other.accounted,
            most,
        }
    }

    /// `count` parts like this one at the same time: memory, record size and seconds are multiplied by `count`. The time for
    /// privacy losses stays the same, because it is counted once per cell.
    #[must_use]
    pub fn times(self, count: f64) -> Self {
        let most = self.most.map(|most| Count { bytes: most.bytes * count, ..most });
        Self {
            bytes: self.bytes * count,
            record: self.record * count,
            seconds: self.seconds * count,
            most,
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_adds_up_only_where_it_is_held_together() {
        let small = || Effort::due_to("a", 1, 10.0, 1.0).with_record_size(3.0);
        let large = || Effort::due_to("b", 2, 30.0, 2.0);
        let (both, one_by_one) = (small().and(large()), small().then(large()));
        assert_eq!((both.bytes, both.seconds, both.record), (40.0, 3.0, 3.0));
        assert_eq!((one_by_one.bytes, one_by_one.seconds), (30.0, 3.0));
        assert_eq!(both.most, large().most);
        assert_eq!(small().times(4.0).and(large()).below("c").most.unwrap().path, "c.a");
    }
}
