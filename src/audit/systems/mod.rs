//! The auditor on whole systems: a scenario's releases on neighbouring inputs, as its observers see them.
//!
//! The world of one replication is prepared once; a trial repeats what is released in it, by the protocol's own
//! mechanisms, on one of two neighbouring inputs. What an observer does with a release afterwards (asking, learning,
//! choosing) can tell nothing more, so it is not repeated.
//!
//! A protocol is one file here, which implements [`Audited`] for it, and its line in `collect`. A program's own protocol
//! is added by [`offer_also`], as [`crate::Catalogue`] does.

mod audited;
mod collect;
mod echo;
mod federated;
mod local;
mod outsourced;
mod release;
mod request;
mod search;
mod system;

pub use audited::{Audited, Ground, named};
pub use collect::{Offer, offer, offer_also, systems};
pub use request::Request;
pub use search::{audit, effort};
pub use system::{Candidates, LeftOut, NotAudited, System, Systems};
