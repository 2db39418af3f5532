//! The protocols: who talks to whom about what. Each names its messages, timers and facts and builds its parties.
//!
//! Above this floor nothing is generic in a protocol: a [`Protocol`] recipe plays one replication and returns
//! plain records.

pub mod echo;
pub mod federated;
pub mod local;
pub mod outsourced;
pub mod release;
pub mod stage;

pub use stage::*;

crate::family! {
    /// Who talks to whom about what.
    pub struct ProtocolModel(ProtocolMember): dyn Protocol, "protocol" {
        Outsourced(outsourced::Outsourced),
        Federated(federated::Federated),
        Local(local::Local),
        Release(release::Release),
        Echo(echo::Echo),
    }
}
