//! The ranges that shapes and weights of distributions must lie in, so that quantiles are accurate.

use super::{Positive, Problem};

/// Largest allowed ratio of the largest to the smallest weight.
const MOST: f64 = 1e12;

/// A problem, at the field `path`, if a shape is outside 0.01 to 1e6. In this range the quantiles of gamma distributions
/// have a relative error below 1e-12; those of beta distributions may have a larger one (`special::beta_quantile`).
#[must_use]
pub fn extreme_shape(path: &str, shape: Positive) -> Option<Problem> {
    let fits = (0.01..=1e6).contains(&shape.get());
    (!fits).then(|| {
        let cure = "use a shape in that range; outside it nearly all draws are about the same";
        Problem::wrong(path, "a shape from 0.01 to 1000000", shape.to_string(), cure)
    })
}

/// A problem, at the field `parts`, if the weights are too unequal or too extreme. The largest weight may be at most
/// 1e12 times the smallest one, because the rounding error of the sum may otherwise exceed 0.01 % of the smallest
/// weight. Each weight must lie between 1e-150 and 1e150.
#[must_use]
pub fn unequal_weights(weights: impl Iterator<Item = Positive> + Clone) -> Option<Problem> {
    let largest = weights.clone().map(Positive::get).fold(0.0, f64::max);
    let smallest = weights.map(Positive::get).fold(f64::INFINITY, f64::min);
    // Together, these conditions also exclude subnormal numbers and a sum that overflows.
    let fits = largest / MOST <= smallest && largest.is_normal() && largest < 1e150 && smallest > 1e-150;
    (!fits).then(|| {
        Problem::wrong(
            "parts",
            "weights between 1e-150 and 1e150, the largest at most 1e12 times the smallest",
            format!("weights from {smallest:e} to {largest:e}"),
            "write the probabilities, or numbers in proportion to them",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_unequal_or_extreme_weights_are_refused() {
        let refused = |weights: &[f64]| {
            let weights: Vec<Positive> = weights.iter().map(|w| Positive::new(*w).unwrap()).collect();
            unequal_weights(weights.into_iter()).is_some()
        };
        assert!(refused(&[1e308, 1e308]) && refused(&[5e-324, 5e-324]) && refused(&[1.0, 1e-13]));
        assert!(!refused(&[9.0, 1.0]) && !refused(&[1e100, 1e90]) && !refused(&[0.25]));
    }
}
