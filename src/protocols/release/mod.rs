//! Private release: tuning on sensitive validation data, after which only a setting and its performance are published
//! (Kusner, Gardner, Garnett and Weinberger 2015).
//!
//! The owner holds the validation set V and tries settings; workers, which are machines of the owner, train a model for
//! each setting. When all trials are done, the owner makes its private releases and publishes them to readers.
//! With [`EverySetting`], the owner also publishes each setting that it has chosen privately, before it tries the setting.
//!
//! ```text
//! owner --Train(k, setting)--> worker       given to another worker after a timeout
//! owner <--Trained(k)--------- worker       the owner evaluates on V; V never leaves it
//! owner --Announce(k, setting)> reader      if every setting is published as it is chosen
//! owner --Publish(..)--------> reader       made once; sending it again releases nothing new
//! owner <--Received----------- reader
//! ```
//!
//! The privacy losses of Algorithm 3 of that paper (with corrected constants), of [`FixedGrid`], [`EverySetting`] and
//! [`AboveThreshold`] are proven if the constants of the loss function follow from the objective, and conditional on these
//! constants if the scenario states them. The privacy losses of Algorithm 1 (with corrected constants) and Algorithm 2 are
//! conditional on functions drawn from the assumed prior, and that of Algorithm 2 also on a stated rate of convergence. The
//! privacy loss of [`RandomRepetitions`] is conditional too: readers must not learn the number of trials, which is random.
//! With printed constants, losses are stated as published, except that the loss of Algorithm 1's setting is conditional.

mod box_points;
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
