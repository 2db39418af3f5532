//! Loss models: which messages a link loses.

mod gilbert_elliott;
mod independent;
mod loss_trace;
mod no_loss;
mod schedule;

pub use gilbert_elliott::GilbertElliott;
pub use independent::Independent;
pub use loss_trace::LossTrace;
pub use no_loss::NoLoss;
pub use schedule::{LossStep, Schedule};

use crate::vocab::{DataFolders, Problem, Time};
use std::path::PathBuf;

/// The behaviour of a loss model. A loss model is a recipe that starts one process per link.
pub trait Loss {
    /// A new process for one link.
    fn start(&self) -> Box<dyn LossProcess>;

    /// The long-run share of messages that are lost.
    fn mean(&self) -> f64;

    /// Whether no message is ever lost, whatever is drawn.
    fn is_never(&self) -> bool {
        false
    }

    /// The probability with which each message is lost, if losses are independent of each other and of the time; `None`
    /// otherwise. If this probability is stated, no process is started: a message with the draw u is lost if u is below the
    /// probability.
    fn independent(&self) -> Option<f64> {
        self.is_never().then_some(0.0)
    }

    /// What is wrong with the recipe as a whole.
    fn problems(&self) -> Vec<Problem> {
        Vec::new()
    }

    /// Reads the files that the recipe names; relative paths are looked up in the folders of `base`.
    fn load(&mut self, base: &DataFolders) -> Vec<Problem> {
        let _ = base;
        Vec::new()
    }

    /// The files that the recipe names.
    fn files(&self) -> Vec<PathBuf> {
        Vec::new()
    }
}

/// Clones a boxed [`LossProcess`] when a simulation is cloned. Implemented for every process that is `Clone`.
pub trait BoxedLoss {
    /// A boxed copy of the process.
    fn boxed_clone(&self) -> Box<dyn LossProcess>;
}

impl<T: LossProcess + Clone + 'static> BoxedLoss for T {
    fn boxed_clone(&self) -> Box<dyn LossProcess> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn LossProcess> {
    fn clone(&self) -> Self {
        // Calls the method of the boxed value, not that of the box.
        (**self).boxed_clone()
    }
}

/// The losses of one link during a run.
pub trait LossProcess: std::fmt::Debug + BoxedLoss {
    /// Whether the next message is lost; `u` is that message's uniform draw on [0, 1).
    fn drops(&mut self, u: f64) -> bool;

    /// Whether the next message, which enters the link at `at`, is lost; `u` is that message's
    /// uniform draw on [0, 1). The default calls [`Self::drops`].
    fn drops_at(&mut self, at: Time, u: f64) -> bool {
        let _ = at;
        self.drops(u)
    }
}

crate::family! {
    /// Which messages a link loses.
    pub struct LossModel(LossMember): dyn Loss, "loss" {
        NoLoss(NoLoss),
        Independent(Independent),
        GilbertElliott(GilbertElliott),
        Schedule(Schedule),
        LossTrace(LossTrace),
    }
}
