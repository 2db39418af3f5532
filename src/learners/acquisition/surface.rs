//! The interface of an acquisition function: its value and its gradient at a point in the coordinates of the model.

/// An acquisition function, fixed for the choice of one query: the next query is the point at which the function is largest.
pub(super) trait Surface {
    /// The value at the point `x` of d coordinates.
    fn at(&self, x: &[f64]) -> f64;

    /// The value at the point `x` of d coordinates; the gradient there is written to `gradient`, d numbers.
    fn with_gradient(&self, x: &[f64], gradient: &mut [f64]) -> f64;
}
