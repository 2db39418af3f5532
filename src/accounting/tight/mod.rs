//! The tight accountant computes epsilon from the hockey-stick curve of the whole composition. It computes a certified
//! lower and a certified upper bound on epsilon, called the two "ends".
//!
//! The first row that fits the composition applies. The rows for equal releases fit only up to the number of releases
//! that `binomial` can sum exactly.
//!
//! | composition | method | the two ends |
//! |---|---|---|
//! | Gaussians only; one Poisson-subsampled Gaussian; one Laplace release | closed form | equal |
//! | equal randomised responses; equal releases of which only an epsilon (and a delta) is known | binomial sums | equal |
//! | equal exponential mechanisms | binomial sums | the lower end holds for fixed choices, the upper end for adaptive ones |
//! | one Gaussian on a sample of fixed size | closed form | an upper end; the lower end is 0 |
//! | with a release of which only Renyi divergences are bounded | Renyi divergences | an upper end; the lower end is 0 |
//! | any other, for delta below 1e-30 | Renyi divergences | the lower end is the largest closed-form epsilon of one item |
//! | any other, if characteristic functions decrease fast | `contour` | from bounds on aliasing, truncation and rounding |
//! | any other | `steps`, on lattices or grids | from two laws, one worse and one better than the true one |
//!
//! An item is a cost with the number of its releases. In the row for equal exponential mechanisms, only the lower end is
//! a binomial sum; the upper end is computed by the methods of the last three rows. If a composition contains a Gaussian
//! on a sample of fixed size, the lower end is 0 whatever the method.
//!
//! One law is *worse* than another if its hockey-stick divergence is at least that of the other law at every epsilon.
//! It is *better* if its divergence is at most that of the other law at every epsilon.
//!
//! `rounded` moves a law to a lattice (connect the dots, Doroshenko et al. 2022). Sums of laws on a lattice are formed
//! term by term (`convolution`) or by one tilted Fourier transform with Chernoff bounds on its wrap-around (`tilted`,
//! after Koskela, Jälkö and Honkela 2020 and Gopi, Lee and Wutschitz 2021). Where losses are nearly always tiny and
//! rarely large, grids of varying spacing replace lattices (`graded_grids`); `windows` divides the laws into the cells
//! of these grids. The grids are refined in several passes. Each pass uses the results of the previous pass to place grid
//! points where they reduce the error most (`grid_placement`).
//!
//! Where the row for equal exponential mechanisms applies, the accountant returns the lower end. Otherwise it returns the
//! upper end. If the two ends are then not equal, it also computes upper bounds by the theorems of other accountants, and
//! returns the smallest upper bound.

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
