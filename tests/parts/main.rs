//! The library's parts: kernel, network, samplers, Gaussian processes, learners and mechanisms.

#[path = "../support/mod.rs"]
mod support;
#[path = "../support/words.rs"]
mod words;

mod conformance;
mod conformance_families;
mod crashes;
mod gp_dense;
mod gp_determinism;
mod gp_oracle;
mod kernel;
mod kernel_contracts;
mod ideal_noise;
mod laws;
mod learners_ldp;
mod length_scales;
mod mechanisms;
mod network;
mod processes;
mod projections;
mod resources;
mod samplers;
mod sparse_vector;
#[cfg(target_os = "linux")]
mod streams;
