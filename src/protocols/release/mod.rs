//! Private release: tuning on sensitive validation data, after which only a setting and its performance are published
//! (Kusner, Gardner, Garnett and Weinberger 2015).
//!
//! The owner holds the validation set V and tries settings; workers, which are machines of the owner, train a model for
//! each setting. When all trials are done, the owner releases once and publishes the result to readers.
//!
//! ```text
//! owner --Train(k, setting)--> worker       given to another worker after a timeout
//! owner <--Trained(k)--------- worker       the owner evaluates on V; V never leaves it
//! owner --Announce(k, setting)> reader      if every setting is published as it is chosen
//! owner --Publish(..)--------> reader       made once; sending it again releases nothing new
//! owner <--Received----------- reader
//! ```
//!
//! Proven here: Algorithm 3, the evaluation of a fixed grid and the publication of every setting, given the loss's
//! stated constants. Conditional on functions from the assumed prior: Algorithms 1 and 2. Conditional on readers who do
//! not learn the number of trials: the best of a random number of trials.

pub mod constants;
mod failure;
mod messages;
mod missing;
mod open_request;
mod outcomes;
mod owner;
mod owner_config;
mod play;
mod public;
mod publication;
mod reader;
mod reading_relays;
mod recipe;
mod sampling;
mod search_stop;
mod searching;
mod secrets;
mod training;
mod worker;

pub use failure::CannotRelease;
pub use messages::{Fact, Message, OwnFact, ReleaseProtocol, Timer};
pub use publication::{
    AboveThreshold, BestRelease, Blind, Constants, EverySetting, FixedGrid, GpNoiseFree, GpNoisy, Guarantee,
    Lipschitz, Measure, NonPrivate, OutcomeNoise, Part, Plan, Publication, PublicationMember,
    PublicationModel, RandomRepetitions, Sampling, Search, Selection, SettingRelease, TAIL, Task, TaskFacts,
    TaskOutline, TrialOrder, Utility, ValueOf, ValueRelease, sensitivity,
};
pub use recipe::{Release, ReleaseSeries};
pub use secrets::TrialResults;
