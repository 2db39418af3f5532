//! Mechanisms: each draws its noise and states its price from one value.
//!
//! One file each, with *precondition* (what must hold for the price to be true), *postcondition* (what is then
//! guaranteed) and *source*. Noise is sampled exactly on a lattice (`rounded.rs` has the proof) unless a scenario asks for
//! floating point, which is booked as [`Arithmetic::Ideal`].

mod argmax;
mod arithmetic;
mod clipped_gaussian;
mod clipped_laplace;
pub mod clipping;
mod column_space;
mod computed;
mod ctl;
mod disclosure;
mod discrete_gaussian;
mod discrete_laplace;
mod exact;
mod exact_choice;
mod exponential;
mod federated_pair;
mod federated_reach;
mod federated_sum;
mod fixed_size_gaussian;
mod gathered;
mod gaussian;
mod johnson_lindenstrauss;
mod laplace;
mod lattice;
mod lift_branch;
mod mechanism;
mod moved;
mod noisy_projection;
mod noisy_rows;
mod pair;
mod poisson_gaussian;
mod randomized_response;
mod real_deviates;
mod report_noisy_max;
mod rounded;
mod rows;
mod sampled_gaussian;
mod secure_sum;
mod spectral;
mod supported;

pub use argmax::Argmax;
pub use arithmetic::NoiseArithmetic;
pub use clipped_gaussian::ClippedGaussian;
pub use clipped_laplace::ClippedLaplace;
pub use ctl::{Ctl, Rewards};
pub use disclosure::Disclosure;
pub use discrete_gaussian::{DiscreteGaussian, LARGEST_SIGMA};
pub use discrete_laplace::DiscreteLaplace;
pub use exponential::ExponentialMechanism;
pub use federated_sum::FederatedSum;
pub use fixed_size_gaussian::FixedSizeGaussian;
pub use gathered::{Divisor, Gathered, Participation, SensitivityRule};
pub use gaussian::Gaussian;
pub use johnson_lindenstrauss::JohnsonLindenstrauss;
pub use laplace::Laplace;
pub use lattice::Lattice;
pub use lift_branch::JlVariant;
pub use mechanism::{Mechanism, MechanismError, Price};
pub use moved::Moved;
pub use noisy_projection::{DrawnProjection, NoisyProjection};
pub use noisy_rows::{CalibratedRows, NoisyRows};
pub use pair::{Distinguisher, KnownLaws, Laws, Pair, RATIO, SUPPORT, Score};
pub use poisson_gaussian::PoissonGaussian;
pub use randomized_response::RandomizedResponse;
pub use report_noisy_max::ReportNoisyMax;
pub use rows::Rows;
pub use sampled_gaussian::Contributions;
pub use secure_sum::{OpenedSum, SecureSum};
pub use supported::Supported;

use mechanism::{all_finite, any_value, moved};
