//! Bayesian optimisation with an acquisition function, over a finite set of arms or over a box.

mod knowledge_gradient;
mod largest_value;
mod model;
mod noisy_improvement;
#[cfg(test)]
mod oracle;
mod recipe;
mod score;
mod search;
mod settings;
mod surface;
mod surfaces;
mod trust_region;

pub use settings::{Acquisition, AcquisitionFunction, Refit};
