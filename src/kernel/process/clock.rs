//! The virtual time of the input that a process is handling.

use crate::vocab::Time;
use std::cell::Cell;
use std::rc::Rc;

/// The virtual time, shared by the tasks and futures of one process. The process sets this clock at each input.
#[derive(Clone, Debug, Default)]
pub struct Clock(Rc<Cell<Time>>);

impl Clock {
    /// Virtual time of the present input.
    #[must_use]
    pub fn now(&self) -> Time {
        self.0.get()
    }

    pub(super) fn set(&self, now: Time) {
        self.0.set(now);
    }
}
