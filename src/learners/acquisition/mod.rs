//! Bayesian optimisation with an acquisition function, over a finite set of arms or over a box.

mod largest_value;
mod model;
mod recipe;
mod score;
mod search;
mod settings;
mod trust_region;

pub use settings::{Acquisition, AcquisitionFunction, Refit};
