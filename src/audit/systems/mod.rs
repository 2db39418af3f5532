//! Audits of whole systems: a scenario's releases on neighbouring inputs, as its observers see them.
//!
//! The data of one replication are prepared once. From these data, a trial repeats the releases by the protocol's own
//! mechanisms, on one of two neighbouring inputs. What an observer does with a release afterwards (queries, learning,
//! choices) cannot reveal more, so it is not repeated.
//!
//! Each protocol has one file or folder here, which implements [`Audited`] for it, and one entry in `collect`. A
//! protocol that a user's own program defines is added by [`add_providers`], which [`crate::Catalogue`] calls.

mod answers;
mod audited;
mod collect;
mod echo;
mod federated;
mod local;
mod one_reward;
mod outsourced;
mod release;
mod request;
mod running_mean;
mod search;
mod system;

pub use answers::search_candidates;
pub use audited::{AuditContext, Audited, named};
pub use collect::{AuditProvider, add_providers, offer, systems};
pub use request::Request;
pub use search::{audit, effort};
pub use system::{Candidates, NotAudited, NotAuditedReason, System, Systems};
