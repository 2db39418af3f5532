//! Special functions, with the same bits on every platform: the normal distribution and the incomplete beta function.

mod beta;
mod normal;

pub use beta::incomplete_beta;
pub use normal::{normal_cdf, normal_quantile};
