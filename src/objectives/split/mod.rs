//! Which agent holds which records of a file.
//!
//! Either columns of the file state the agent of each record, or the records are divided among the agents at random, with
//! label skew, quantity skew, feature shift and noise.

mod division;
mod holder;
mod holdings;
mod recipe;

pub(super) use division::{Share, divided, quarters};
pub(super) use holder::{Holder, by_columns};
pub use holdings::{AgentHoldings, HoldingDistances, Holdings};
pub(super) use holdings::{Held, records_of};
pub use recipe::{FeatureShift, Labels, Sizes, Split};
pub(super) use recipe::{agents, facts, field, problems, too_few};
