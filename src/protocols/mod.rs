//! The protocols: which parties exchange which messages. Each protocol defines its messages, timers and facts, and
//! builds its parties.
//!
//! Outside of this module and the kernel, nothing is generic over a protocol's message types: a [`Protocol`] recipe
//! simulates one replication and returns records without type parameters.

pub mod echo;
pub mod federated;
pub mod local;
pub mod outsourced;
pub mod release;
pub mod stage;

pub use stage::*;

crate::family! {
    /// What the parties do, and which messages they exchange.
    pub struct ProtocolModel(ProtocolMember): dyn Protocol, "protocol" {
        Outsourced(outsourced::Outsourced),
        Federated(federated::Federated),
        Local(local::Local),
        Release(release::Release),
        Echo(echo::Echo),
    }
}
