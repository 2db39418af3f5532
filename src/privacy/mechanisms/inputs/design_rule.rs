//! PO-GP-UCB's design rule: the largest number r of columns of the projection for which the smallest singular value of the
//! inputs reaches the threshold omega, which grows with r.

use super::johnson_lindenstrauss::JohnsonLindenstrauss;
use crate::privacy::mechanisms::{MechanismError, Rows, all_finite};
use std::num::NonZeroUsize;

/// Limit of the search: the rule finds fewer columns than this.
const MAX_COLUMNS: usize = 1 << 24;

/// The smallest singular value of the centred inputs, in their units; 0 with fewer rows than columns. This number is as
/// sensitive as the inputs.
///
/// Cost: one thin singular value decomposition of n x d numbers.
///
/// # Errors
/// If the inputs are not finite, or if the decomposition does not converge.
pub fn sigma_min(x: &Rows) -> Result<f64, MechanismError> {
    all_finite(x.values())?;
    if x.n() < x.d() {
        return Ok(0.0);
    }
    Ok(x.centred().singular()?.values().last().copied().unwrap_or(0.0))
}

impl JohnsonLindenstrauss {
    /// Whether singular values are lifted for inputs whose smallest singular value is `sigma_min`.
    #[must_use]
    pub fn lifts(&self, sigma_min: f64) -> bool {
        sigma_min < self.omega()
    }

    /// C', the largest factor by which the lift, before the projection, may increase squared distances between inputs.
    /// Without a lift C' is 1. With a lift it is 1 + omega^2 / sigma_min^2 in the variant `Paper` and
    /// (1 + omega / sigma_min)^2 in the variant `PublicCode`. For a smallest singular value of 0 it is infinite. Source:
    /// Kharkovskii, Dai and Low 2020, Theorem 2.
    #[must_use]
    pub fn stretch(&self, sigma_min: f64) -> f64 {
        if !self.lifts(sigma_min) {
            return 1.0;
        }
        let factor = self.variant.lifted(sigma_min, self.omega()) / sigma_min;
        factor * factor
    }

    /// The largest r, with this epsilon and delta, at which nothing is lifted (omega grows with r). `None` if there is
    /// no such r. Source: Kharkovskii, Dai and Low 2020, section 3.4.
    #[must_use]
    pub fn largest_unlifted(&self, sigma_min: f64) -> Option<NonZeroUsize> {
        let kept = |r: usize| NonZeroUsize::new(r).filter(|&r| !Self { r, ..self.clone() }.lifts(sigma_min));
        kept(1)?;
        // Nothing is lifted at r = `low`. After the first loop, the result is at least `low` and below `high`.
        let (mut low, mut high) = (1, 2);
        while high < MAX_COLUMNS && kept(high).is_some() {
            (low, high) = (high, 2 * high);
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if kept(middle).is_some() { low = middle } else { high = middle }
        }
        NonZeroUsize::new(low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With fewer rows than columns the result is exactly 0; otherwise it is the smallest singular value of the centred
    /// inputs.
    #[test]
    fn the_smallest_singular_value_is_0_with_fewer_rows_than_columns() {
        let of = |values: &[f64], d: usize| {
            sigma_min(&Rows::new(values.len() / d, d, values.to_vec()).unwrap()).unwrap()
        };
        assert_eq!(of(&[0.1, 0.7, 0.3, 0.2, 0.9, 0.5], 3), 0.0);
        // Centred: (-1, 0), (1, 0), (0, -2), (0, 2), with singular values sqrt(2) and sqrt(8).
        let found = of(&[4.0, 7.0, 6.0, 7.0, 5.0, 5.0, 5.0, 9.0], 2);
        assert!((found - 2.0_f64.sqrt()).abs() < 1e-12, "{found}");
    }

    /// The grid of the paper's synthetic experiment has sigma_min 1030.88: for epsilon = e^1.1, e^1.3 and e^1.5 the
    /// largest r are 11, 15 and 22 (the paper's tables list 10, 15 and 20), and for epsilon = 0.1 no r is small enough.
    #[test]
    fn the_rule_finds_the_papers_columns() {
        let recipe = |epsilon: f64| -> JohnsonLindenstrauss {
            ron::from_str(&format!("(epsilon: {epsilon}, delta: 1e-5, r: 10)")).unwrap()
        };
        for (log_epsilon, largest) in [(1.1, 11), (1.3, 15), (1.5, 22)] {
            let recipe = recipe(libm::exp(log_epsilon));
            assert_eq!(recipe.largest_unlifted(1030.88).unwrap().get(), largest);
            assert!(!recipe.lifts(1030.88) && recipe.stretch(1030.88) == 1.0);
            // At the threshold itself nothing is lifted; just below it everything is, and C' is near 2.
            assert_eq!(recipe.largest_unlifted(recipe.omega()).unwrap(), recipe.r);
            assert!((recipe.stretch(recipe.omega() * (1.0 - 1e-12)) - 2.0).abs() < 1e-9);
        }
        assert_eq!(recipe(0.1).largest_unlifted(1030.88), None);
        assert_eq!(recipe(1.0).stretch(0.0), f64::INFINITY);
        assert_eq!(recipe(1.0).largest_unlifted(f64::INFINITY).unwrap().get(), MAX_COLUMNS - 1);
    }

    #[test]
    fn wide_inputs_have_no_full_rank() {
        let x = Rows::new(2, 3, vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0]).unwrap();
        assert_eq!(sigma_min(&x).unwrap(), 0.0);
        // Columns (1, -1, 0, 0) and (0, 0, 2, -2): singular values sqrt 2 and sqrt 8.
        let x = Rows::new(4, 2, vec![1.0, 0.0, -1.0, 0.0, 0.0, 2.0, 0.0, -2.0]).unwrap();
        assert!((sigma_min(&x).unwrap() - 2f64.sqrt()).abs() < 1e-12);
    }
}
