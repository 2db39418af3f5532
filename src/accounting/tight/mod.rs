//! The tight accountant: epsilon from the hockey-stick curve of the whole composition, with a certified upper and a
//! certified lower bound on epsilon (its two "ends").
//!
//! The first row that fits the composition applies:
//!
//! | composition | method | the two ends |
//! |---|---|---|
//! | Gaussians only; one Poisson-subsampled Gaussian; one Laplace release | closed form | equal |
//! | equal randomised responses | binomial sums | equal |
//! | equal exponential mechanisms | binomial sums | the lower end holds for fixed choices, the upper end for adaptive ones |
//! | one Gaussian on a sample of fixed size | closed form | an upper end; the lower end is 0 |
//! | with a release of which only Renyi divergences are bounded | Renyi divergences | an upper end; the lower end is 0 |
//! | any other, for delta below 1e-30 | Renyi divergences | the lower end is the largest closed-form epsilon of one item |
//! | any other, if characteristic functions decrease fast | `contour` | from bounds on aliasing, truncation and rounding |
//! | any other | `steps`, on lattices or grids | from two laws, one worse and one better than the true one |
//!
//! One law is *worse* than another if its hockey-stick divergence is at least that of the other law at every epsilon. It
//! is *better* if its divergence is at most that of the other law at every epsilon.
//!
//! `rounded` moves a law to a lattice (connect the dots, Doroshenko et al. 2022). Sums of laws on a lattice are formed
//! term by term (`convolution`) or by one tilted Fourier transform with Chernoff bounds on its wrap-around (`tilted`,
//! after Koskela, Jälkö and Honkela 2020 and Gopi, Lee and Wutschitz 2021). Where losses are nearly always tiny and
//! rarely large, grids of varying spacing replace lattices (`graded_grids`); `windows` divides the laws into the cells
//! of these grids. The grids are refined in several passes. Each pass uses the results of the previous pass to place grid
//! points where they reduce the error most (`grid_placement`). Where the two ends are not equal, the accountant also
//! computes upper bounds by the theorems of other accountants, and returns the smallest upper bound.

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
