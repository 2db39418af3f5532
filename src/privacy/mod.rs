//! Releases of protected data: mechanisms, their privacy cost, and the ledger.
//!
//! ```text
//!  Sensitive<T> --- release(ledger, occasion, mechanism, secret, stream) ---> Released<U>  (may enter a message)
//!                        |
//!                        +--> PrivacyEvent --> LedgerWriter (the run's ledger) --> Accountant --> AccountedEpsilon
//! ```
//!
//! A [`Mechanism`](mechanisms::Mechanism) draws the noise and states its cost from the same parameters, so that a
//! protocol cannot give different parameters for noise and cost. Only [`release`](ledger::release), and [`RunningSum`] for
//! sums that are released again and again, turn [`Sensitive`] values into [`Released`] ones; both make the ledger entry
//! before they return a value. Accountants read ledger entries only, and do not depend on any mechanism.
//!
//! Three things are left out on purpose:
//!
//! * The ledger stores no joint epsilon of several releases.
//! * No method that code outside this module can call returns the value inside a `Sensitive`.
//! * A mechanism has no default [`Sampler`](crate::vocab::Sampler) (how the units of a release are chosen). So no
//!   amplification by subsampling is claimed for a sampler that did not run.

pub mod ledger;
pub mod mechanisms;
mod personal;
mod running_sum;
mod sensitive;

pub use personal::{Level, PersonalEpsilons};
pub use running_sum::RunningSum;
pub use sensitive::{Released, Sensitive};
