//! Mechanisms: each draws its noise and states its privacy cost from the same parameters.
//!
//! Each mechanism has a file and states its *precondition* (what must hold for the cost to be true), its
//! *postcondition* (what is then guaranteed) and its *source*. Noise is sampled exactly on a lattice (`rounded.rs` has
//! the proof), unless a scenario asks for floating point or a mechanism has no exact sampler; in these two cases the
//! ledger states [`Arithmetic::Ideal`](crate::vocab::Arithmetic::Ideal).

mod agent_rates;
mod argmax;
mod arithmetic;
pub mod clipping;
mod computed;
mod disclosed;
mod disclosure;
mod discrete_gaussian;
mod discrete_laplace;
mod exact;
mod exact_choice;
mod exponential;
mod federated_pair;
mod federated_reach;
mod federated_sum;
mod first_above;
mod fixed_size_gaussian;
mod sparse_vector;
mod sparse_vector_law;
mod sum_parts;
mod gaussian;
mod informative;
pub mod inputs;
mod laplace;
mod lattice;
mod mechanism;
mod mean_shift;
mod norm_count;
pub mod outcomes;
mod pair;
mod poisson_gaussian;
mod private_selection;
mod randomized_response;
mod real_deviates;
mod repetitions;
mod report_noisy_max;
pub mod reports;
mod rounded;
mod rows;
mod sampled_gaussian;
mod secure_sum;
mod theorem_mechanism;
mod tree_aggregation;
mod tree_law;
mod tree_run;
mod tree_sums;

pub use agent_rates::AgentRates;
pub use argmax::Argmax;
pub use arithmetic::NoiseArithmetic;
pub use disclosed::Disclosed;
pub use disclosure::Disclosure;
pub use discrete_gaussian::{DiscreteGaussian, LARGEST_SIGMA};
pub use discrete_laplace::DiscreteLaplace;
pub use exponential::ExponentialMechanism;
pub use federated_sum::FederatedSum;
pub use first_above::FirstAbove;
pub use fixed_size_gaussian::FixedSizeGaussian;
pub use gaussian::Gaussian;
pub use informative::{Informative, SilenceBy};
pub use inputs::{
    CalibratedRows, DrawnProjection, InputRelease, JlVariant, JohnsonLindenstrauss, NoisyProjection,
    NoisyRows, Withheld, sigma_min,
};
pub use laplace::Laplace;
pub use lattice::Lattice;
pub use mean_shift::SubsampledShift;
pub use mechanism::{Mechanism, MechanismError, Price, any_value, moved};
pub use norm_count::NormCount;
pub use outcomes::{ClippedGaussian, ClippedLaplace, OutcomeRelease};
pub use pair::{
    Distinguisher, Features, KnownLaws, Laws, Numbers, Pair, RATIO, SUPPORT, Score, under_gaussian,
    under_laplace,
};
pub use poisson_gaussian::PoissonGaussian;
pub use private_selection::{PrivateSelection, ResultNoise, Selected, SelectedTrial, SelectionAmongTrials};
pub use randomized_response::RandomizedResponse;
pub use repetitions::Repetitions;
pub use report_noisy_max::{PermuteAndFlip, ReportNoisyMax};
pub use reports::{Ctl, CtlReport, Report, Rewards};
pub use rows::Rows;
pub use sampled_gaussian::Contributions;
pub use secure_sum::{SecureSum, SecureSumOutput};
pub(crate) use sparse_vector::Comparisons;
pub use sparse_vector::{BudgetSplit, Compared, SparseVector};
pub use sum_parts::{Divisor, Participation, ReceivedVectors, SensitivityRule};
pub use theorem_mechanism::TheoremMechanism;
pub use tree_aggregation::TreeAggregation;
pub(in crate::privacy) use tree_run::TreeRun;
pub use tree_sums::SumEstimate;

use mechanism::all_finite;
