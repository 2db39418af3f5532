//! A box of real and whole numbers: the domain of a continuous or mixed search.

use std::sync::Arc;

/// A box: an interval for each input, with its lower end below its upper one.
///
/// Models of a box see its points as points of the unit cube: each coordinate minus its lower end,
/// divided by the length of its interval. An input with a logarithmic scale, and the ends of its
/// interval, are replaced by their logarithms before. Queries are in the inputs' own units. For a
/// whole-numbered input the unit interval is divided into one cell for each value, and every point
/// of a cell stands for that value. The model sees only the one point of the cell that the value
/// itself is mapped to.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchBox {
    sides: Arc<[(f64, f64)]>,
    kinds: Arc<[InputKind]>,
    names: Arc<[String]>,
}

/// The values that an input takes between its ends, and how they are spread over the unit interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InputKind {
    /// Whether only whole numbers are valid; both ends are whole.
    pub whole: bool,
    /// Whether the scale is logarithmic: equal ratios, not equal differences, have equal lengths in
    /// the unit interval. The lower end is then above 0.
    pub logarithmic: bool,
}

impl InputKind {
    /// The interval of values (or of their logarithms) that is mapped to the unit interval.
    fn stretch(self, (low, high): (f64, f64)) -> (f64, f64) {
        let (low, high) = if self.whole { (low - 0.5, high + 0.5) } else { (low, high) };
        if self.logarithmic { (libm::log(low), libm::log(high)) } else { (low, high) }
    }

    /// The valid value that a point of the unit interval stands for.
    fn value_at(self, u: f64, (low, high): (f64, f64)) -> f64 {
        let (start, end) = self.stretch((low, high));
        let x = start + (end - start) * u;
        let x = if self.logarithmic { libm::exp(x) } else { x };
        (if self.whole { x.round() } else { x }).clamp(low, high)
    }

    /// The point of the unit interval to which a value is mapped.
    fn place_of(self, x: f64, side: (f64, f64)) -> f64 {
        let (start, end) = self.stretch(side);
        ((if self.logarithmic { libm::log(x) } else { x }) - start) / (end - start)
    }
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
        let d = sides.len();
        let names = (1..=d).map(|input| format!("x{input}")).collect();
        Self { sides: sides.into(), kinds: vec![InputKind::default(); d].into(), names }
    }

    /// The same box with another kind and name for each input, `[d]` each.
    ///
    /// # Panics
    /// If there is not one of each for every input, if an end of a whole-numbered input is not whole, or if the lower end of a
    /// logarithmic one is not above 0.
    #[must_use]
    pub fn with_kinds(self, kinds: Vec<InputKind>, names: Vec<String>) -> Self {
        assert!(kinds.len() == self.d() && names.len() == self.d(), "a kind and a name for each input");
        for (kind, (low, high)) in kinds.iter().zip(self.sides.iter()) {
            assert!(!kind.whole || (low.fract() == 0.0 && high.fract() == 0.0), "whole ends");
            assert!(!kind.logarithmic || *low > 0.0, "a logarithm's lower end is above 0");
        }
        Self { kinds: kinds.into(), names: names.into(), ..self }
    }

    /// The name of each input, `[d]`: x1, x2 and so on unless others were stated.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Whether each input takes whole numbers only: `[d]`.
    pub fn whole(&self) -> impl Iterator<Item = bool> + '_ {
        self.kinds.iter().map(|kind| kind.whole)
    }

    /// For a query at a point of the unit cube, the point that the model sees, `[d]` each: the
    /// coordinates of whole-numbered inputs move to the point that their value is mapped to, the
    /// others stay.
    #[must_use]
    pub fn valid_unit(&self, unit: &[f64]) -> Vec<f64> {
        let place = |(i, &u): (usize, &f64)| {
            let (kind, side) = (self.kinds[i], self.sides[i]);
            if kind.whole { kind.place_of(kind.value_at(u, side), side) } else { u }
        };
        unit.iter().enumerate().map(place).collect()
    }

    /// The points of the unit cube where one whole-numbered input has the next smaller or larger value: `unit` with one coordinate
    /// changed, within `region`, a box in the unit cube.
    #[must_use]
    pub fn neighbours(&self, unit: &[f64], region: &Self) -> Vec<Vec<f64>> {
        let mut found = Vec::new();
        for (i, (kind, side)) in self.kinds.iter().zip(self.sides.iter()).enumerate() {
            if !kind.whole {
                continue;
            }
            let now = kind.value_at(unit[i], *side);
            for next in [now - 1.0, now + 1.0] {
                if next < side.0 || next > side.1 {
                    continue;
                }
                let place = kind.place_of(next, *side);
                let (low, high) = region.sides[i];
                if low <= place && place <= high {
                    let mut point = unit.to_vec();
                    point[i] = place;
                    found.push(point);
                }
            }
        }
        found
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
        let inputs = self.sides.iter().zip(self.kinds.iter());
        unit.iter().zip(inputs).map(|(u, (side, kind))| kind.value_at(*u, *side)).collect()
    }

    /// The point of the unit cube at a point of the box, `[d]` each.
    #[must_use]
    pub fn to_unit(&self, point: &[f64]) -> Vec<f64> {
        let inputs = self.sides.iter().zip(self.kinds.iter());
        point.iter().zip(inputs).map(|(x, (side, kind))| kind.place_of(*x, *side)).collect()
    }

    /// Whether a point has d finite coordinates within the box, whole where only whole numbers are valid.
    #[must_use]
    pub fn contains(&self, point: &[f64]) -> bool {
        let within = |(x, (low, high)): (&f64, &(f64, f64))| low <= x && x <= high;
        let valid = |(x, kind): (&f64, &InputKind)| !kind.whole || x.fract() == 0.0;
        point.len() == self.d()
            && point.iter().zip(self.sides.iter()).all(within)
            && point.iter().zip(self.kinds.iter()).all(valid)
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

    #[test]
    fn whole_and_logarithmic_inputs_have_their_values_and_neighbours() {
        let log = InputKind { whole: false, logarithmic: true };
        let whole = InputKind { whole: true, logarithmic: false };
        let both = InputKind { whole: true, logarithmic: true };
        let names = ["rate", "depth", "width"].map(str::to_owned).to_vec();
        let domain = SearchBox::new(vec![(0.01, 100.0), (-2.0, 2.0), (1.0, 64.0)])
            .with_kinds(vec![log, whole, both], names);
        // The middle of a logarithmic interval is its geometric mean; a whole number has a fifth of the interval here.
        let point = domain.from_unit(&[0.5, 0.19, 1.0]);
        assert!((point[0] - 1.0).abs() < 1e-12);
        assert_eq!(point[1..], [-2.0, 64.0]);
        assert_eq!(domain.from_unit(&[0.0, 0.21, 0.0])[1..], [-1.0, 1.0]);
        assert!(domain.contains(&point) && !domain.contains(&[1.0, 0.5, 3.0]));
        let unit = domain.valid_unit(&[0.3, 0.19, 0.7]);
        assert_eq!(unit[0], 0.3);
        assert!((unit[1] - 0.1).abs() < 1e-15);
        assert_eq!(domain.from_unit(&unit), domain.from_unit(&[0.3, 0.19, 0.7]));
        // The smallest value has one neighbour, and one out of the region is left out.
        let width = domain.from_unit(&unit)[2];
        let near = domain.neighbours(&unit, &SearchBox::unit(3));
        let values: Vec<(f64, f64)> =
            near.iter().map(|unit| domain.from_unit(unit)).map(|x| (x[1], x[2])).collect();
        assert_eq!(values, [(-1.0, width), (-2.0, width - 1.0), (-2.0, width + 1.0)]);
        let region = SearchBox::new(vec![(0.0, 1.0), (0.0, 0.2), (0.0, unit[2])]);
        assert_eq!(domain.neighbours(&unit, &region).len(), 1);
    }
}
