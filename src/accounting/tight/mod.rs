//! The tight accountant: the hockey-stick curve of the whole composition, with a certified upper and lower end.
//!
//! | composition | method | what the ends are |
//! |---|---|---|
//! | Gaussians only; one subsampled Gaussian | closed form | equal |
//! | equal randomised responses; equal exponential mechanisms | binomial sums | equal (the latter if not adaptive) |
//! | laws whose characteristic function falls | `contour` | aliasing, truncation and rounding bounded |
//! | the rest | `steps`, on lattices or grids | two laws, one worse and one better than the true one |
//!
//! Lattices: `rounded` moves a law to one (connect the dots, Doroshenko et al. 2022); sums are formed term by term
//! (`convolution`) or by one tilted Fourier transform with Chernoff's bounds on what it folds (`tilted`, after Koskela,
//! Jälkö and Honkela 2020 and Gopi, Lee and Wutschitz 2021). Where losses are nearly always tiny and now and then large,
//! grids fine here and coarse there take the place of lattices (`graded`, cut by `windows`); a pass learns from the one
//! before where points count (`guide`). Where the ends stay apart, the least of all bounds is quoted.

pub(super) mod binomial;
mod accountant;
mod contour;
mod convolution;
mod fft;
mod gathered;
mod graded;
mod guide;
mod rounded;
mod steps;
mod tilted;
mod staircase;
mod windows;

pub use accountant::Tight;
pub(super) use accountant::curve_below;
