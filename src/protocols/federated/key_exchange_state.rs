//! The progress of a server's agreement on masks: which agents have sent a key, and which agents have distributed shares of
//! their secrets.

use std::sync::Arc;

/// The phase of the agreement on masks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Phase {
    /// No agreement is in progress: it has not begun, there is nothing to agree on, or it is finished.
    #[default]
    Done,
    /// The server waits for keys.
    Keys,
    /// The server waits for shares.
    Shares,
}

/// The progress of the agreement on masks.
#[derive(Clone, Debug, Default)]
pub(super) struct Setup {
    pub(super) phase: Phase,
    /// How often the server has sent the request of this phase.
    pub(super) asked: u32,
    /// By agent: whether it has sent a key.
    pub(super) keys: Arc<Vec<bool>>,
    /// By agent: whether it has distributed shares of its secrets.
    pub(super) members: Arc<Vec<bool>>,
}

impl Setup {
    /// The state before the agreement begins.
    pub(super) fn of(agents: usize) -> Self {
        let nobody = Arc::new(vec![false; agents]);
        Self { phase: Phase::Done, asked: 0, keys: Arc::clone(&nobody), members: nobody }
    }

    /// The agents to which the request of this phase is sent, and whether each has answered.
    pub(super) fn answers(&self) -> Vec<(usize, bool)> {
        let all = self.keys.iter().zip(self.members.iter()).enumerate();
        match self.phase {
            Phase::Done => Vec::new(),
            Phase::Keys => all.map(|(agent, (key, _))| (agent, *key)).collect(),
            Phase::Shares => {
                all.filter(|(_, (key, _))| **key).map(|(agent, (_, dealt))| (agent, *dealt)).collect()
            }
        }
    }
}
