//! A box of real numbers: the domain of a continuous search.

use std::sync::Arc;

/// A box: an interval for each input, with its lower end below its upper one.
///
/// Models of a box see its points as points of the unit cube: each coordinate minus its lower end, divided by the length of its
/// interval. Queries are in the inputs' own units.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchBox {
    sides: Arc<[(f64, f64)]>,
}

impl SearchBox {
    /// The box with these intervals, `[d]`.
    ///
    /// # Panics
    /// If an end is not finite, or a lower end is not below its upper one.
    #[must_use]
    pub fn new(sides: Vec<(f64, f64)>) -> Self {
        let usable = |&(low, high): &(f64, f64)| low.is_finite() && high.is_finite() && low < high;
        assert!(sides.iter().all(usable), "a lower end is below its upper end");
        Self { sides: sides.into() }
    }

    /// The unit cube of `d` dimensions.
    #[must_use]
    pub fn unit(d: usize) -> Self {
        Self::new(vec![(0.0, 1.0); d])
    }

    /// Number of inputs, d.
    #[must_use]
    pub fn d(&self) -> usize {
        self.sides.len()
    }

    /// Lower and upper end of each input: `[d]`.
    #[must_use]
    pub fn sides(&self) -> &[(f64, f64)] {
        &self.sides
    }

    /// The point of the box at a point of the unit cube, `[d]` each.
    #[must_use]
    pub fn from_unit(&self, unit: &[f64]) -> Vec<f64> {
        let place = |(u, (low, high)): (&f64, &(f64, f64))| (low + (high - low) * u).clamp(*low, *high);
        unit.iter().zip(self.sides.iter()).map(place).collect()
    }

    /// The point of the unit cube at a point of the box, `[d]` each.
    #[must_use]
    pub fn to_unit(&self, point: &[f64]) -> Vec<f64> {
        let place = |(x, (low, high)): (&f64, &(f64, f64))| (x - low) / (high - low);
        point.iter().zip(self.sides.iter()).map(place).collect()
    }

    /// Whether a point has d finite coordinates within the box.
    #[must_use]
    pub fn contains(&self, point: &[f64]) -> bool {
        let within = |(x, (low, high)): (&f64, &(f64, f64))| low <= x && x <= high;
        point.len() == self.d() && point.iter().zip(self.sides.iter()).all(within)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_of_the_unit_cube_are_points_of_the_box() {
        let domain = SearchBox::new(vec![(-5.0, 10.0), (0.0, 0.3)]);
        let point = domain.from_unit(&[0.2, 1.0]);
        assert_eq!(point, [-2.0, 0.3]);
        assert!(domain.contains(&point) && !domain.contains(&[-2.0, 0.31]) && !domain.contains(&[0.0]));
        assert!(!domain.contains(&[f64::NAN, 0.1]));
        assert!((domain.to_unit(&point)[0] - 0.2).abs() < 1e-15);
    }
}
