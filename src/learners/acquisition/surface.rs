//! The interface of an acquisition function: its value and its gradient at a point in the coordinates of the model.

/// An acquisition function, as it is for one choice: the next query is the point at which it is largest.
pub(super) trait Surface {
    /// The value at a point, `[d]`.
    fn at(&self, x: &[f64]) -> f64;

    /// The value at a point, `[d]`; its gradient replaces `gradient`, `[d]`.
    fn with_gradient(&self, x: &[f64], gradient: &mut [f64]) -> f64;
}
