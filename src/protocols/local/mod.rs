//! Local differential privacy: each user makes its own reward private before it reports it. The protocol includes
//! LDP-BO (Zhou and Tan 2021) and its baselines, some of which report rewards without protection.
//!
//! A service recommends arms to users, and is to learn the best arm. Each user arrives once (or, with `population`,
//! repeatedly), plays the recommended arm and sees the reward. In a private series, the user clips the reward (unless
//! clipping is off), adds Laplace noise (curator CTL of the paper) and reports the result y~.
//!
//! ```text
//! one by one:  service --Play(user, arm)-----------> users      then the next user, when this one has
//!              service <--Report(user, arm, y~)----- users      answered or a timeout has passed
//!
//! on arrival:  service <--Arrived(user)------------- users      whenever a user arrives
//!              service --Play(user, arm)-----------> users      at once, from the reports so far
//!              service <--Report(user, arm, y~)----- users      late, out of order, or never
//! ```
//!
//! One party represents all users, so there may be a hundred thousand of them; each user has its own random
//! numbers, addressed by its number, and its own messages. A user plays once even if a message is duplicated, and a
//! report counts once. No party waits indefinitely for a lost message: the service waits for a report only as long as
//! `patience`, and the series ends early after a given number of consecutive users without an answer.
//!
//! If curator CTL clips, one report is proven to be epsilon-locally differentially private. By default, the noise of the
//! report is sampled exactly. Without clipping, the stated epsilon holds only if no reward exceeds the bound. If each reward
//! exceeds the bound with probability at most delta, the report is (epsilon, delta)-DP for the distribution of a reward, not
//! for the reward's value. In both of these cases without clipping, the ledger entry has the basis "conditional". If rewards
//! may exceed the bound and no such delta is stated, the claim is "refuted". Whether a user answers is not hidden. If this
//! depends on the user's reward, the ledger has an entry about whether the user answers.
//!
//! A registry that the users trust may publish the mean of all rewards so far ([`RunningMean`]); the party that
//! represents the users also acts as the registry.

mod arrivals;
mod bounds;
mod cohort;
mod cohort_regret;
mod crowd;
mod membership;
mod messages;
mod never_answer;
mod play;
mod popularity;
mod public;
mod published_means;
mod recent;
mod recipe;
mod running_mean;
mod service;
mod tally;
mod times;
mod users;

pub use crate::privacy::mechanisms::{CtlReport, Report};
pub use arrivals::{
    ArrivalMember, ArrivalModel, ArrivalProcess, Arrivals, BoxedArrivals, OneByOne, Poisson, Renewal,
};
pub use cohort::Cohort;
pub use crowd::UserKind;
pub use messages::{Fact, LocalProtocol, Message, OwnFact, Timer};
pub use never_answer::NeverAnswer;
pub use popularity::{Even, Popularity, PopularityMember, PopularityModel, Zipf};
pub use recipe::{Local, SeriesRecipe};
pub use running_mean::RunningMean;
