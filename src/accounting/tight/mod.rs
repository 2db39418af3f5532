//! The tight accountant: the hockey-stick curve of the whole composition, with certified upper and lower bounds
//! ("ends").
//!
//! | composition | method | the two ends |
//! |---|---|---|
//! | Gaussians only; one subsampled Gaussian; one Laplace release | closed form | equal |
//! | equal randomised responses; equal exponential mechanisms | binomial sums | equal (for the latter if fixed in advance) |
//! | one Gaussian on a sample of fixed size | closed form | an upper end; the lower end is 0 |
//! | releases of which only bounds on Renyi divergences are known | Renyi divergences | an upper end; the lower end is 0 |
//! | any other, for delta below 1e-30 | Renyi divergences | apart; the lower end is the largest epsilon of one item |
//! | laws whose characteristic function decreases fast | `contour` | from bounds on aliasing, truncation and rounding |
//! | all others | `steps`, on lattices or grids | from two laws, one worse and one better than the true one |
//!
//! A law is *worse* than another if its hockey-stick divergence is at least as large at every epsilon, and *better* if
//! it is at most as large.
//!
//! `rounded` moves a law to a lattice (connect the dots, Doroshenko et al. 2022). Sums of laws on a lattice are formed
//! term by term (`convolution`) or by one tilted Fourier transform with Chernoff bounds on its wrap-around (`tilted`,
//! after Koskela, Jälkö and Honkela 2020 and Gopi, Lee and Wutschitz 2021). Where losses are nearly always tiny and
//! rarely large, grids of varying spacing replace lattices (`graded_grids`); `windows` divides the laws into the cells
//! of these grids. Each pass uses the results of the previous pass to place its points where they reduce the error most
//! (`grid_placement`). Where the ends remain apart, the accountant returns the smallest of all known upper bounds.

pub(super) mod binomial;
mod accountant;
mod contour;
mod convolution;
mod curve;
mod fft;
mod masses;
mod graded_grids;
mod grid_placement;
mod rounded;
mod steps;
mod tilted;
mod staircase;
mod windows;

pub use accountant::Tight;
pub(super) use curve::curve_below;
