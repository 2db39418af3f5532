//! The names that a program without a scenario file needs most: `use subrosa::prelude::*`.
//!
//! `examples/` shows how to write a party, an objective, a mechanism, a latency and a protocol, each in one file.

pub use crate::accounting::{self, Composition};
pub use crate::gp::{Points, covariance::Covariance};
pub use crate::kernel::{Context, Digest, Digestible, Event, Input, Party, Payload, Protocol};
pub use crate::learners::{GpUcb, Learner, LearnerModel};
pub use crate::network::latency::{Latency, LatencyModel, LogNormal};
pub use crate::network::loss::{Independent, LossModel};
pub use crate::network::topology::{Mesh, Star, TopologyModel};
pub use crate::network::{Link, Network, PartyTraits};
pub use crate::objectives::{Instance, Noise, ObjectiveError, Prepared, ProblemFacts, Surrogate};
pub use crate::privacy::ledger::{Ledger, LedgerWriter, Occasion, release};
pub use crate::privacy::mechanisms::{Mechanism, MechanismError, Price};
pub use crate::privacy::{Released, Sensitive};
pub use crate::protocols::{
    Iteration, Protocol as _, ReplicationError, ReplicationSetup, Retry, Rounds, SeriesRecord,
};
pub use crate::rng::{Key, Law, Portable, Stream, laws};
pub use crate::vocab::{
    Arithmetic, Basis, Claim, Cost, Delta, Epsilon, Neighbours, NonNegative, Observer, PartyId, Positive,
    PrivacyEvent, Probability, Problem, ProtectedUnit, Sampler, Span, Time,
};

// The crates whose types appear in this library's functions: the matrices of faer (`Points::of_faer`), the generator
// traits of rand, which `Stream` implements, and the distributions of rand_distr over `Portable` numbers (`laws`).
pub use faer;
pub use rand;
pub use rand::seq::{IndexedRandom as _, SliceRandom as _};
pub use rand::{Rng as _, RngExt as _};
pub use rand_distr;
