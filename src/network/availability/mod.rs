//! Availability models: when a party is connected, and which messages it receives.

mod always;
mod battery;
mod beta_per_message;
mod churn;
mod crashing;
mod day_and_night;
mod fedscale_trace;
mod flash_records;
mod flash_trace;
mod on_off;
mod per_message;
mod recording;
mod scheduled;
mod trace;
mod turns;

pub use always::Always;
pub use battery::{Battery, ChargingHours};
pub use beta_per_message::BetaPerMessage;
pub use churn::Churn;
pub use crashing::Crashing;
pub use day_and_night::DayAndNight;
pub use fedscale_trace::FedScaleTrace;
pub use flash_records::FlashState;
pub use flash_trace::FlashTrace;
pub use on_off::OnOff;
pub use per_message::PerMessage;
pub use recording::{RecordedDevice, RecordingEnd, RecordingOffset};
pub use scheduled::Scheduled;
pub use trace::Trace;

use crate::kernel::Switch;
use crate::rng::Stream;
use crate::vocab::{DataFolders, Problem, Span, Time};
use std::path::PathBuf;

use super::latency::LatencyModel;

/// The behaviour of an availability model. An availability model is a recipe that starts one process per party.
pub trait Availability {
    /// A new process for one party, which draws from `stream`.
    fn start(&self, stream: Stream) -> Box<dyn AvailabilityProcess>;

    /// A new process for the party with this number, from 0, among the parties of its entry in the scenario. The default
    /// calls [`Self::start`], so the number has no effect.
    fn start_numbered(&self, number: u64, stream: Stream) -> Box<dyn AvailabilityProcess> {
        let _ = number;
        self.start(stream)
    }

    /// Whether parties with this recipe differ because each party draws, when its process starts, how available it is.
    fn differs(&self) -> bool {
        false
    }

    /// A new process for a party whose availability is given: the availability is the quantile at `level` of the
    /// distribution from which [`Self::start`] draws an availability. `level` is in (0, 1), near 1 for the most available
    /// parties. All other draws of the process are those of [`Self::start`]. The method is called only if [`Self::differs`]
    /// is true.
    fn start_at(&self, level: f64, stream: Stream) -> Box<dyn AvailabilityProcess> {
        let _ = level;
        self.start(stream)
    }

    /// Whether the party can be connected at some time, and then receives a message with a probability above 0.
    fn ever_available(&self) -> bool;

    /// Whether crashes of the party can lose its memory.
    fn loses_memory(&self) -> bool {
        false
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

/// Problems of the distributions from which periods' lengths are drawn; each distribution is given with its field.
pub(super) fn periods<const N: usize>(periods: [(&str, &LatencyModel); N]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (field, model) in periods {
        let own = length_problems("", model);
        if own.is_empty() && !lasts(model) {
            problems.push(Problem::wrong(
                field,
                "a mean length above 0",
                "a mean length of 0",
                "state a mean length above 0, or leave the availability out",
            ));
        }
        problems.extend(own.into_iter().map(|problem| problem.below(field)));
    }
    problems
}

/// Problems of the distribution of a duration, reported at the field `field`. The distribution must not depend on a link or
/// on the time.
fn length_problems(field: &str, model: &LatencyModel) -> Vec<Problem> {
    let own = model.as_dyn().problems().into_iter().chain(model.outside_of_links());
    own.map(|problem| problem.below(field)).collect()
}

/// Whether the mean of this distribution of lengths is above 0; also true if a file that the model names could not be read.
/// The unread file is reported elsewhere.
fn lasts(length: &LatencyModel) -> bool {
    length.as_dyn().is_unread() || length.as_dyn().mean_seconds() > 0.0
}

/// Reads the files of latency models. Each model is given with its field, and its problems are reported at that field.
pub(super) fn load_periods<const N: usize>(
    periods: [(&str, &mut LatencyModel); N],
    base: &DataFolders,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (field, model) in periods {
        problems.extend(model.as_dyn_mut().load(base).into_iter().map(|problem| problem.below(field)));
    }
    problems
}

/// Clones a boxed [`AvailabilityProcess`] when a simulation is cloned. The trait is implemented for every process that is
/// `Clone`.
pub trait BoxedAvailability {
    /// A boxed copy of the process.
    fn boxed_clone(&self) -> Box<dyn AvailabilityProcess>;
}

impl<T: AvailabilityProcess + Clone + 'static> BoxedAvailability for T {
    fn boxed_clone(&self) -> Box<dyn AvailabilityProcess> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn AvailabilityProcess> {
    fn clone(&self) -> Self {
        // Calls the method of the boxed value, not that of the box.
        (**self).boxed_clone()
    }
}

/// The availability of one party during a run.
pub trait AvailabilityProcess: std::fmt::Debug + BoxedAvailability {
    /// Whether the party is connected at time zero.
    fn starts_online(&mut self) -> bool {
        true
    }

    /// The next change of the connection, later than the previous change; `None` if there are no more changes. A change may
    /// leave the connection as it is.
    fn next_switch(&mut self) -> Option<Switch> {
        None
    }

    /// Whether the party, while it is connected, receives a message that has just arrived.
    fn receives(&mut self) -> bool {
        true
    }

    /// Informs the process, at `now`, that the party is to work on a message. The work begins at `begins` and takes the time
    /// `for_time`. Calls are in order of `now`. Returns true if the changes at or after `now` that [`Self::next_switch`] has
    /// returned are no longer valid; the next call of [`Self::next_switch`] then returns the first change at or after `now`.
    fn works(&mut self, now: Time, begins: Time, for_time: Span) -> bool {
        let _ = (now, begins, for_time);
        false
    }
}

crate::family! {
    /// When a party is connected, and which messages it then receives.
    pub struct AvailabilityModel(AvailabilityMember): dyn Availability, "availability" {
        Always(Always),
        PerMessage(PerMessage),
        BetaPerMessage(BetaPerMessage),
        OnOff(OnOff),
        Scheduled(Scheduled),
        Trace(Trace),
        FlashTrace(FlashTrace),
        FedScaleTrace(FedScaleTrace),
        Crashing(Crashing),
        DayAndNight(DayAndNight),
        Battery(Battery),
        Churn(Churn),
    }
}
