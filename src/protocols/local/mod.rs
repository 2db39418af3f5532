//! Local differential privacy: users who never show their reward. LDP-BO (Zhou and Tan 2021) and its baselines.
//!
//! A service recommends arms to users who come once each (or again and again) and wants to learn the best arm. A user
//! plays the arm, sees its reward, and sends it back only after clipping and noise of its own (curator CTL).
//!
//! ```text
//! one by one:  service --Play(user, arm)-----------> users      the next user when this one answered,
//!              service <--Report(user, arm, y~)----- users      or when patience ends
//!
//! Poisson:     service <--Arrived(user)------------- users      whenever a user happens to come
//!              service --Play(user, arm)-----------> users      at once, with what is known by then
//!              service <--Report(user, arm, y~)----- users      late, out of order, or never
//! ```
//!
//! One party plays all users, so that there may be a hundred thousand of them; each has draws of its own, addressed by
//! its number, and messages of its own. A user plays once even if a message is duplicated, and a report counts once.
//! Nothing here waits for a lost message for ever: the service waits no longer than its patience, and the series ends
//! after a given number of users in a row from whom nothing arrived.
//!
//! Proven here: each report is epsilon-LDP in ideal arithmetic. Not hidden: that a user answers. If that depends on the
//! reward, the ledger has an entry for it.

mod arrivals;
mod bounds;
mod messages;
mod play;
mod public;
mod recent;
mod recipe;
mod service;
mod tally;
mod users;

pub use crate::privacy::mechanisms::{CtlReport, Report};
pub use arrivals::{Arrivals, NeverAnswer};
pub use messages::{Fact, Message, OwnFact, Timer, World};
pub use recipe::{Local, SeriesRecipe};
