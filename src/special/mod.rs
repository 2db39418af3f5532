//! Special functions, bit-identical on every platform: the normal, gamma and beta distributions with their quantiles,
//! Zipf's law, the scaled complementary error function, and an exponential integral.

mod beta;
mod beta_quantile;
mod exponential_integral;
mod gamma;
mod normal;
mod scaled_erfc;
mod zipf;

pub use beta::incomplete_beta;
pub use beta_quantile::beta_quantile;
pub use exponential_integral::entire_exponential_integral;
pub use gamma::{gamma_quantile, incomplete_gamma};
pub use normal::{normal_cdf, normal_quantile};
pub use scaled_erfc::scaled_erfc;
pub use zipf::zipf_quantile;
