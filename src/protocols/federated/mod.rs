//! Federated optimisation: many agents, each with an objective of its own, share vectors of weights through a server. The
//! weights are those of a linear model whose features are the same for all agents. Each agent draws its vector from its own
//! posterior of the weights.
//!
//! ```text
//! server --Begin--------------------------> agents      measure their initial points, fit their weights
//! server <--Weights(0)--------------------- agents
//! server: ends the round, adds the vectors up (sampled, clipped, with noise), enters the sum in the ledger
//! server --Share(1, vectors)--------------> agents      one query each: own model, or the shared one
//! server <--Weights(1)--------------------- agents      ... and so on until round T
//! ```
//!
//! Thompson sampling (TS), federated Thompson sampling (FTS), FTS with distributed exploration (FTS-DE), and the
//! differentially private variants DP-FTS and DP-FTS-DE are settings of this one protocol. Source: Dai, Low and Jaillet
//! 2020 ("Federated Bayesian optimization via Thompson sampling") and 2021 ("Differentially private federated Bayesian
//! optimization with distributed exploration").

mod adaptive_clip;
mod agent;
mod answers;
mod contribution;
mod effort;
mod failure;
mod hyperparameters;
mod importance;
mod loss_reports;
mod mask_graph;
mod masked_rounds;
mod masking;
mod masking_checks;
mod messages;
mod overlap;
mod sum_release;
mod own_model;
mod placement;
mod common_domain;
mod play;
mod public;
mod queries;
mod query;
mod box_search;
mod box_checks;
mod recipe;
mod regions;
mod remedies;
mod roster;
mod masked_round;
mod replication;
mod rounds;
mod selected_weights;
mod selecting;
mod selection;
mod series;
mod server;
mod server_party;
mod server_trust;
mod key_exchange;
mod key_exchange_state;
mod shared_model;
mod staleness;
mod tally;
mod theorem;
mod dissimilarity;
mod unmasking;
mod weights;
mod common;
mod silence;
mod silence_release;
mod rank_assignment;
mod participation;
mod personal;
mod personal_sampling;

pub use super::stage::differences::{Clusters, Differences, Domain, Drift, Factors, Shift};
pub use adaptive_clip::AdaptiveClip;
pub use hyperparameters::OwnHyperparameters;
pub use importance::{AnswerChance, Importance};
pub use loss_reports::LossReports;
pub use masked_round::MaskedRound;
pub use messages::{Clipped, Close, Fact, FederatedProtocol, Message, OwnFact};
pub use overlap::Overlap;
pub use participation::Respondents;
pub use personal::AgentLevel;
pub use personal_sampling::PersonalSampling;
pub use placement::Placement;
pub use public::EVERY_AGENT;
pub(crate) use public::conditions_of;
pub use queries::{InitialPoints, Repeated, Width};
pub use recipe::Federated;
pub use rounds::{All, Buffered, Deadline, FirstK, Late, Policy, PolicyMember, Quorum, RoundPolicy};
pub use selected_weights::SelectedWeights;
pub use selection::{
    Everyone, Fastest, LossReporters, Oort, PowerOfChoice, Selection, SelectionHistory, SelectionMember,
    SelectionModel, by_weight,
};
pub use series::{AgentGroup, Aggregate, Alone, FederatedSeries, RandomAgent, SharedQueries, Sharing};
pub use server_trust::ServerTrust;
pub use shared_model::WeightOutcomes;
pub use staleness::{Hinge, Polynomial, Staleness, StalenessDiscount, StalenessMember};
pub use theorem::RegretTerms;
pub use weights::{Annealed, Uniform, WeightMember, WeightSchedule, Weights};
