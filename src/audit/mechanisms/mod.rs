//! Attacks on mechanisms, most of them on the worst pair of neighbours that the mechanism states.

mod additive;
mod broken;
mod canaries;
mod case;
mod choices;
mod clipped;
mod flawed;
mod low_bits;
mod releases;
mod sampled;
mod sequences;
mod suite;
mod tables;

pub use broken::{DataScaledNoise, HalfNoise, NoNoiseOnNumbers};
pub use case::Case;
pub use low_bits::{reachable_gaussian, reachable_laplace};
pub use releases::Releases;
pub use suite::suite;
