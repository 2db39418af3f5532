//! A party that is online and offline at stated times.

use super::{Availability, AvailabilityProcess};
use crate::kernel::Switch;
use crate::rng::Stream;
use crate::vocab::{Problem, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Connected and disconnected periods alternate; the scenario states the times of the changes.
///
/// Example: `Scheduled(online: true, switches: ["10s", "12s"])`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scheduled {
    /// Whether the party is connected at the start. Default: true.
    #[serde(default = "yes")]
    pub online: bool,
    /// Times at which the connection changes, ascending, from the start of the run: `["10s", "25s"]`.
    pub switches: Vec<Span>,
}

fn yes() -> bool {
    true
}

impl Availability for Scheduled {
    fn start(&self, _: Stream) -> Box<dyn AvailabilityProcess> {
        Box::new(ScheduleProcess { recipe: self.clone(), next: 0 })
    }

    fn ever_available(&self) -> bool {
        is_ever_online(self.online, &self.switches)
    }

    fn problems(&self) -> Vec<Problem> {
        let backwards = self.switches.windows(2).position(|pair| pair[1] <= pair[0]);
        let Some(index) = backwards else { return Vec::new() };
        vec![Problem::wrong(
            format!("switches[{}]", index + 1),
            format!("a time after {}", self.switches[index]),
            format!("{}, which is not later than the time before", self.switches[index + 1]),
            "put the times in order, each once",
        )]
    }
}

/// Whether a party with this initial state and these times of change is online for a time longer than 0.
pub(super) fn is_ever_online(online: bool, switches: &[Span]) -> bool {
    match switches {
        [] => online,
        // The only change is at time 0, so the state at the start lasts for no time.
        [Span::ZERO] => !online,
        _ => true,
    }
}

#[derive(Clone, Debug)]
struct ScheduleProcess {
    recipe: Scheduled,
    next: usize,
}

impl AvailabilityProcess for ScheduleProcess {
    fn starts_online(&mut self) -> bool {
        self.recipe.online
    }

    fn next_switch(&mut self) -> Option<Switch> {
        let at = Time::ZERO + *self.recipe.switches.get(self.next)?;
        let online = self.recipe.online != self.next.is_multiple_of(2);
        self.next += 1;
        Some(Switch::connection(at, online))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Key;

    #[test]
    fn switches_come_at_their_times() {
        let recipe = Scheduled { online: false, switches: [5, 9].map(Span::from_millis).to_vec() };
        let mut process = recipe.start(Key::root(1).stream());
        assert!(!process.starts_online());
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        assert_eq!(process.next_switch(), Some(Switch::connection(at(5), true)));
        assert_eq!(process.next_switch(), Some(Switch::connection(at(9), false)));
        assert_eq!(process.next_switch(), None);
    }

    #[test]
    fn a_party_that_is_online_for_some_time_is_available() {
        let ever = |online: bool, switches: &[u64]| {
            let switches = switches.iter().map(|&ms| Span::from_millis(ms)).collect();
            Scheduled { online, switches }.ever_available()
        };
        assert!(
            ever(true, &[])
                && ever(true, &[9])
                && ever(true, &[0, 5])
                && ever(false, &[0])
                && ever(false, &[5, 9])
        );
        assert!(!ever(false, &[]) && !ever(true, &[0]));
    }

    #[test]
    fn times_out_of_order_are_refused_with_their_path() {
        let recipe = Scheduled { online: true, switches: [5, 9, 7].map(Span::from_millis).to_vec() };
        assert_eq!(recipe.problems()[0].path, "switches[2]");
    }
}
