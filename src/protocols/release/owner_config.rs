//! The settings, parties and random streams that the owner of one series is created with.

use super::missing::MissingOutcomes;
use super::publication::{PublicationModel, Task};
use super::reading_relays::ReadingRelays;
use crate::objectives::Continuum;
use crate::programs::Programs;
use crate::protocols::stage::Retry;
use crate::rng::{Key, Stream};
use crate::vocab::PartyId;
use std::sync::Arc;

/// The settings and random streams of the owner of one series.
#[derive(Clone)]
pub(super) struct OwnerConfig {
    pub(super) name: String,
    pub(super) workers: Vec<PartyId>,
    pub(super) readers: Vec<PartyId>,
    pub(super) publication: PublicationModel,
    pub(super) task: Arc<Task>,
    /// Noise-free performance of each setting on the validation set.
    pub(super) values: Arc<Vec<f64>>,
    /// The box, if settings are its points.
    pub(super) continuum: Option<Continuum>,
    pub(super) noise_sd: f64,
    /// Node of the seed tree for the noise; trial k draws from its child k, whichever setting is tried.
    pub(super) noise: Key,
    pub(super) retry: Retry,
    /// Node of the seed tree for the jitter of retries.
    pub(super) retries: Key,
    /// Whether this is a dry run: outcomes have no meaning, and a learner is replaced by random choices.
    pub(super) dry: bool,
    /// Whether models are trained, so that the publication depends on training records too.
    pub(super) trains: bool,
    pub(super) relays: ReadingRelays,
    /// Conditions under which the privacy loss of every release holds, besides those of the release's mechanism.
    pub(super) conditions: Vec<String>,
    /// Random numbers of the mechanisms.
    pub(super) mechanisms: Stream,
    /// Random numbers of the learner.
    pub(super) learning: Stream,
    /// Decides which outcomes the owner never learns (the scenario's `silence`); `None` if the owner learns all outcomes.
    pub(super) silence: Option<MissingOutcomes>,
    /// The user's programs, for a learner that is one of them.
    pub(super) programs: Programs,
}
