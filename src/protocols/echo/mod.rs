//! A test protocol: one party calls the other parties one after another, and each answers with the message that it
//! received. It shows how a protocol is written, and tests the kernel and the network without any optimisation.
//!
//! ```text
//! caller --Call(k)--> listener        sent again after a timeout
//! caller <--Echo(k)-- listener        then the next call; also if the caller gives up
//! ```

mod parties;

use super::{Protocol, ReplicationError, ReplicationSetup, Retry, SeriesRecord};
use crate::kernel::Event;
use crate::objectives::Extent;
use crate::rng::Key;
use crate::vocab::effort::MESSAGE;
use crate::vocab::{Effort, Problem};
pub use parties::{Call, EchoProtocol, Fact, Message, parties};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One party calls every other party in turn and waits for its answer: a protocol for testing a network.
///
/// Nothing is optimised and nothing is released.
///
/// Example: `Echo(caller: "client", rounds: 3)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Echo {
    /// Name of the party that calls.
    #[schemars(with = "crate::vocab::PartyName")]
    pub caller: String,
    /// How many times the caller calls each of the other parties.
    pub rounds: u64,
    /// When the caller repeats a call. Default: after 1 s, then after waits that double up to 32 s, minus a random part
    /// of up to one half; a call is sent at most 100 times in all.
    #[serde(default)]
    pub retry: Retry,
}

const SERIES: &str = "echo";

impl Protocol for Echo {
    fn problems(&self, stage: &ReplicationSetup) -> Vec<Problem> {
        let mut problems: Vec<Problem> = stage.party("caller", &self.caller).err().into_iter().collect();
        problems.extend(self.retry.problems().into_iter().map(|problem| problem.below("retry")));
        problems
    }

    fn effort(&self, stage: &ReplicationSetup, _: &Extent) -> Effort {
        let calls = self.rounds as f64 * stage.names.len().saturating_sub(1) as f64;
        Effort::new(0.0, 2.0 * calls * MESSAGE)
    }

    fn dry_needs_objective(&self) -> bool {
        false
    }

    fn survives_memory_loss(&self) -> bool {
        true
    }

    fn changeable(&self) -> &'static [&'static str] {
        &["retry.**"]
    }

    fn series(&self) -> Vec<String> {
        vec![SERIES.to_owned()]
    }

    fn play(&self, stage: &ReplicationSetup, key: Key) -> Result<Vec<SeriesRecord>, ReplicationError> {
        let caller = stage
            .party("caller", &self.caller)
            .map_err(|problem| ReplicationError::scenario(SERIES, &problem))?;
        let mut unanswered = 0u64;
        let retries = key.child("party").child(&self.caller).child("retries");
        let parties = parties(stage.names.len(), caller, self.rounds, (self.retry, retries));
        let mut record = stage.run(SERIES, parties, key, &mut |_, event| {
            if let Event::Recorded { fact: Fact::GaveUp(_), .. } = event {
                unanswered += 1;
            }
        })?;
        if unanswered > 0 {
            record.ended_early = Some(format!("{unanswered} calls were never answered"));
        }
        Ok(vec![record])
    }
}
