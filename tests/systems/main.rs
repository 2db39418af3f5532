//! The systems played from scenarios: results, replays, forks, studies, and what bad input does.

#[path = "../support/mod.rs"]
mod support;
#[path = "../support/traced.rs"]
mod traced;

mod bad_network;
mod boxes;
mod cohorts;
mod common_sums;
mod crashes;
mod dependence;
mod determinism;
mod dry;
mod early_endings;
mod external;
mod external_boxes;
mod federated;
mod federated_boxes;
mod federated_figures;
mod fork;
mod heterogeneity;
mod hostile;
mod hosts;
mod laws;
mod local;
mod members;
mod mutations;
mod outsourced;
mod own_learner;
mod packed;
mod papers;
mod recorded;
mod release;
mod release_boxes;
mod remedies;
mod replay;
mod running_means;
mod search;
mod shifted_tables;
mod signed;
mod splits;
mod studies;
mod tables;
mod swarm;
mod swarm_systems;
