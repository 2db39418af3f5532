//! What one choice of a query maximises: a function of a point in the coordinates of the model, with its gradient.

/// A function of a point that one choice of a query maximises.
pub(super) trait Surface {
    /// The value at a point, `[d]`.
    fn at(&self, x: &[f64]) -> f64;

    /// The value at a point, `[d]`; its gradient replaces `gradient`, `[d]`.
    fn with_gradient(&self, x: &[f64], gradient: &mut [f64]) -> f64;
}
