//! The tight accountant: the hockey-stick curve of the whole composition, with a certified upper and lower end.
//!
//! | composition | method | what the ends are |
//! |---|---|---|
//! | Gaussians only; one subsampled Gaussian | closed form | equal |
//! | equal randomised responses; equal exponential mechanisms | binomial sums | equal (the latter if not adaptive) |
//! | laws whose characteristic function falls | `contour` | aliasing, truncation and rounding bounded |
//! | the rest | `lattice` | two lattice laws, one worse and one better than the true one |

pub(super) mod binomial;
mod accountant;
mod contour;
mod fft;
mod lattice;
mod staircase;

pub use accountant::Tight;
pub(super) use accountant::curve;
