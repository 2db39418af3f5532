//! A box of real numbers, whole numbers and categories: the domain of a continuous or mixed search.

use super::input_kind::InputKind;
use std::f64::consts::FRAC_1_SQRT_2;
use std::sync::Arc;

/// The value of a category's own coordinate in the unit cube. The distance between two categories of an input is then 1, as
/// between the two ends of a real-valued input.
const CATEGORY: f64 = FRAC_1_SQRT_2;

/// A box: an interval for each input, with its lower end below its upper one, or a list of categories.
///
/// Models of a box see its points as points of the unit cube: each coordinate minus its lower end, divided by the length of
/// its interval. An input with a logarithmic scale, and the ends of its interval, are first replaced by their logarithms.
/// Before that, the interval of a whole-numbered input is widened by 1/2 at both ends. The unit interval then has one cell
/// for each value, and every point of a cell stands for the cell's value. The model sees only one point of each cell: the
/// point to which the value is mapped. Queries are in the inputs' own units.
///
/// An input with k categories is a whole number from 0 to k - 1 in queries. In the unit cube it has k coordinates: that
/// of its category is 1 / sqrt(2), and the others are 0 (one-hot). All categories then have the same distance from each
/// other, so a covariance that is a function of the distance is a covariance of mixed inputs too. With a length-scale l
/// for all coordinates, a squared exponential has the factor exp(-1 / (2 l^2)) wherever two points differ in the
/// category.
///
/// The documentation of methods writes `[d]` for one entry per input, and `[w]` for one entry per coordinate of the unit
/// cube.
///
/// Source of the one-hot coordinates, and of a model that sees valid points only: Garrido-Merchan and Hernandez-Lobato
/// 2020, "Dealing with categorical and integer-valued variables in Bayesian optimization with Gaussian processes".
#[derive(Clone, Debug, PartialEq)]
pub struct SearchBox {
    sides: Arc<[(f64, f64)]>,
    kinds: Arc<[InputKind]>,
    names: Arc<[String]>,
    /// The categories of each input; empty for numbers.
    categories: Arc<[Vec<String>]>,
}

impl SearchBox {
    /// The box with these intervals, `[d]`; all inputs are real numbers on a linear scale, called x1, x2 and so on.
    ///
    /// # Panics
    /// If an end is not finite, or a lower end is not below its upper one.
    #[must_use]
    pub fn new(sides: Vec<(f64, f64)>) -> Self {
        let usable = |&(low, high): &(f64, f64)| low.is_finite() && high.is_finite() && low < high;
        assert!(sides.iter().all(usable), "a lower end is below its upper end");
        let d = sides.len();
        let names = (1..=d).map(|input| format!("x{input}")).collect();
        let categories = vec![Vec::new(); d].into();
        Self { sides: sides.into(), kinds: vec![InputKind::default(); d].into(), names, categories }
    }

    /// The same box with another kind and name for each input, `[d]` each.
    ///
    /// # Panics
    /// If there is not one kind and one name for every input, if an end of a whole-numbered input is not whole, or if the
    /// lower end of a logarithmic input is not above 0.
    #[must_use]
    pub fn with_kinds(self, kinds: Vec<InputKind>, names: Vec<String>) -> Self {
        assert!(kinds.len() == self.d() && names.len() == self.d(), "a kind and a name for each input");
        for (kind, (low, high)) in kinds.iter().zip(self.sides.iter()) {
            assert!(!kind.whole || (low.fract() == 0.0 && high.fract() == 0.0), "whole ends");
            assert!(!kind.logarithmic || *low > 0.0, "a logarithm's lower end is above 0");
        }
        Self { kinds: kinds.into(), names: names.into(), ..self }
    }

    /// The same box with these categories, `[d]` lists. An input with an empty list stays a number. The values of every
    /// other input become its categories, numbered from 0.
    ///
    /// # Panics
    /// If there is not one list for every input, or a list has a single category.
    #[must_use]
    pub fn with_categories(self, categories: Vec<Vec<String>>) -> Self {
        assert!(categories.len() == self.d(), "a list for each input");
        assert!(categories.iter().all(|list| list.len() != 1), "at least two categories");
        let (mut sides, mut kinds) = (self.sides.to_vec(), self.kinds.to_vec());
        for (input, list) in categories.iter().enumerate().filter(|(_, list)| !list.is_empty()) {
            sides[input] = (0.0, (list.len() - 1) as f64);
            kinds[input] = InputKind { whole: true, logarithmic: false };
        }
        Self { sides: sides.into(), kinds: kinds.into(), categories: categories.into(), ..self }
    }

    /// The name of each input, `[d]`: x1, x2 and so on unless others were stated.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The name of each input as the header of a column of numbers, `[d]`. The name of an input with categories is followed
    /// by their numbers, as in `solver (0 = sgd; 1 = adam)`.
    #[must_use]
    pub fn columns(&self) -> Vec<String> {
        let one = |(name, list): (&String, &Vec<String>)| {
            let numbered: Vec<String> =
                list.iter().enumerate().map(|(number, word)| format!("{number} = {word}")).collect();
            if numbered.is_empty() { name.clone() } else { format!("{name} ({})", numbered.join("; ")) }
        };
        self.names.iter().zip(self.categories.iter()).map(one).collect()
    }

    /// The categories of each input, `[d]` lists; empty for numbers.
    #[must_use]
    pub fn categories(&self) -> &[Vec<String>] {
        &self.categories
    }

    /// The kind of each input, `[d]`.
    #[must_use]
    pub fn kinds(&self) -> &[InputKind] {
        &self.kinds
    }

    /// The inputs in order, each with the index of the first of its coordinates in the unit cube and the number of its
    /// coordinates.
    fn blocks(&self) -> impl Iterator<Item = (usize, usize, usize)> + '_ {
        self.categories.iter().enumerate().scan(0, |next, (input, list)| {
            let (first, width) = (*next, list.len().max(1));
            *next += width;
            Some((input, first, width))
        })
    }

    /// Number of coordinates of a point of the unit cube, w: one for each input that is a number, and one for each category
    /// of every other input.
    #[must_use]
    pub fn width(&self) -> usize {
        self.categories.iter().map(|list| list.len().max(1)).sum()
    }

    /// Whether all inputs are real numbers.
    #[must_use]
    pub fn is_continuous(&self) -> bool {
        self.kinds.iter().all(|kind| !kind.whole)
    }

    /// Whether all inputs are real numbers on a linear scale.
    #[must_use]
    pub fn is_linear(&self) -> bool {
        self.kinds.iter().all(|kind| *kind == InputKind::default())
    }

    /// For each coordinate of the unit cube, whether it has only finitely many valid values: `[w]`.
    #[must_use]
    pub fn discrete(&self) -> Vec<bool> {
        let one =
            |(input, _, width): (usize, usize, usize)| std::iter::repeat_n(self.kinds[input].whole, width);
        self.blocks().flat_map(one).collect()
    }

    /// For each coordinate of the unit cube, whether larger numbers stand for larger values, `[w]`: false for the
    /// coordinates of categories, and true for all other coordinates.
    #[must_use]
    pub fn ordered(&self) -> Vec<bool> {
        let one =
            |(input, _, width): (usize, _, _)| std::iter::repeat_n(self.categories[input].is_empty(), width);
        self.blocks().flat_map(one).collect()
    }

    /// For each coordinate of the unit cube, `[w]`, the entry of `of_inputs`, `[d]`, that belongs to its input.
    #[must_use]
    pub fn of_coordinates(&self, of_inputs: &[f64]) -> Vec<f64> {
        let one = |(input, _, width): (usize, usize, usize)| std::iter::repeat_n(of_inputs[input], width);
        self.blocks().flat_map(one).collect()
    }

    /// The coordinates in the unit cube, `[w]`, for `shares`, a number from 0 to 1 for each input, `[d]`. If an input is a
    /// number, its share is its coordinate; if it has k categories, each of k equal parts of [0, 1] stands for one category.
    #[must_use]
    pub fn spread(&self, shares: &[f64]) -> Vec<f64> {
        let mut unit = Vec::with_capacity(self.width());
        for (input, _, width) in self.blocks() {
            let share = shares[input];
            let category = ((share * width as f64) as usize).min(width - 1);
            let of = |k: usize| if k == category { CATEGORY } else { 0.0 };
            unit.extend((0..width).map(|k| if width > 1 { of(k) } else { share }));
        }
        unit
    }

    /// As [`Self::spread`], but the coordinate of a whole-numbered input is moved to the point to which its value is mapped.
    #[must_use]
    pub fn at_shares(&self, shares: &[f64]) -> Vec<f64> {
        self.valid_unit(&self.spread(shares))
    }

    /// A valid point of `region`, a box in the unit cube, `[w]`. Upper ends below 1 do not belong to the region. `shares`,
    /// `[d]`, are from 0 to below 1. The coordinate of a real input lies at its share of the way from the lower to the
    /// upper end of the region. For a whole-numbered input, this place lies in the cell of one value. Three values are
    /// tried: this value, the next larger value and the next smaller value. The input has the first of them that is mapped
    /// to a point in the region. `None` if none of the three is. Categories are chosen as by [`Self::spread`], whatever the
    /// region is.
    #[must_use]
    pub fn valid_point_in(&self, region: &[(f64, f64)], shares: &[f64]) -> Option<Vec<f64>> {
        let mut point = self.spread(shares);
        for (input, first, width) in self.blocks() {
            if width > 1 {
                continue;
            }
            let ((low, high), kind, side) = (region[first], self.kinds[input], self.sides[input]);
            let u = low + (high - low) * shares[input];
            if !kind.whole {
                point[first] = u;
                continue;
            }
            let inside = |u: &f64| low <= *u && (*u < high || high >= 1.0);
            let value = kind.value_at(u, side);
            let mut near = [value, value + 1.0, value - 1.0].into_iter();
            let valid = |value: &f64| side.0 <= *value && *value <= side.1;
            let place = |value| kind.place_of(value, side);
            point[first] = near.by_ref().filter(valid).map(place).find(inside)?;
        }
        Some(point)
    }

    /// The category, as a number from 0, that these coordinates of one input stand for. It is the index of the largest
    /// coordinate, and of the first such coordinate if several are equal.
    fn category(coordinates: &[f64]) -> usize {
        (1..coordinates.len()).fold(0, |best, k| if coordinates[k] > coordinates[best] { k } else { best })
    }

    /// The point that the model sees, `[w]`, for a query at the point `unit` of the unit cube, `[w]`. The coordinate of
    /// a whole-numbered input moves to the point to which its value is mapped. The coordinates of an input with
    /// categories move to the category whose coordinate is the largest. The coordinates of real-valued inputs stay.
    #[must_use]
    pub fn valid_unit(&self, unit: &[f64]) -> Vec<f64> {
        let mut point = unit.to_vec();
        for (input, first, width) in self.blocks() {
            let (kind, side) = (self.kinds[input], self.sides[input]);
            if width > 1 {
                let category = Self::category(&unit[first..][..width]);
                point[first..][..width].fill(0.0);
                point[first + category] = CATEGORY;
            } else if kind.whole {
                point[first] = kind.place_of(kind.value_at(unit[first], side), side);
            }
        }
        point
    }

    /// The points of the unit cube that differ from `unit` in one discrete input. Either a whole-numbered input has the
    /// next smaller or larger value, or an input has another category. The next smaller or larger value counts only if the
    /// coordinate to which it is mapped lies within the interval that `region`, a box in the unit cube, has for this
    /// coordinate.
    #[must_use]
    pub fn neighbours(&self, unit: &[f64], region: &Self) -> Vec<Vec<f64>> {
        let mut found = Vec::new();
        for (input, first, width) in self.blocks() {
            let (kind, side) = (self.kinds[input], self.sides[input]);
            if width > 1 {
                let now = Self::category(&unit[first..][..width]);
                for other in (0..width).filter(|other| *other != now) {
                    let mut point = unit.to_vec();
                    point[first..][..width].fill(0.0);
                    point[first + other] = CATEGORY;
                    found.push(point);
                }
                continue;
            }
            if !kind.whole {
                continue;
            }
            let now = kind.value_at(unit[first], side);
            for next in [now - 1.0, now + 1.0] {
                if next < side.0 || next > side.1 {
                    continue;
                }
                let place = kind.place_of(next, side);
                let (low, high) = region.sides[first];
                if low <= place && place <= high {
                    let mut point = unit.to_vec();
                    point[first] = place;
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

    /// The query (a point of the box, `[d]`) that a point of the unit cube, `[w]`, stands for.
    #[must_use]
    pub fn from_unit(&self, unit: &[f64]) -> Vec<f64> {
        let one = |(input, first, width): (usize, usize, usize)| {
            if width > 1 {
                return Self::category(&unit[first..][..width]) as f64;
            }
            self.kinds[input].value_at(unit[first], self.sides[input])
        };
        self.blocks().map(one).collect()
    }

    /// The point of the unit cube, `[w]`, to which a point of the box, `[d]`, is mapped.
    #[must_use]
    pub fn to_unit(&self, point: &[f64]) -> Vec<f64> {
        let mut unit = Vec::with_capacity(self.width());
        for (input, _, width) in self.blocks() {
            if width > 1 {
                let category = point[input] as usize;
                unit.extend((0..width).map(|k| if k == category { CATEGORY } else { 0.0 }));
            } else {
                unit.push(self.kinds[input].place_of(point[input], self.sides[input]));
            }
        }
        unit
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
        // The middle of a logarithmic interval is its geometric mean; each of the five whole numbers has a fifth of [0, 1].
        let point = domain.from_unit(&[0.5, 0.19, 1.0]);
        assert!((point[0] - 1.0).abs() < 1e-12);
        assert_eq!(point[1..], [-2.0, 64.0]);
        assert_eq!(domain.from_unit(&[0.0, 0.21, 0.0])[1..], [-1.0, 1.0]);
        assert!(domain.contains(&point) && !domain.contains(&[1.0, 0.5, 3.0]));
        let unit = domain.valid_unit(&[0.3, 0.19, 0.7]);
        assert_eq!(unit[0], 0.3);
        assert!((unit[1] - 0.1).abs() < 1e-15);
        assert_eq!(domain.from_unit(&unit), domain.from_unit(&[0.3, 0.19, 0.7]));
        // The smallest value has one neighbour; a neighbour outside the region is left out.
        let width = domain.from_unit(&unit)[2];
        let near = domain.neighbours(&unit, &SearchBox::unit(3));
        let values: Vec<(f64, f64)> =
            near.iter().map(|unit| domain.from_unit(unit)).map(|x| (x[1], x[2])).collect();
        assert_eq!(values, [(-1.0, width), (-2.0, width - 1.0), (-2.0, width + 1.0)]);
        let region = SearchBox::new(vec![(0.0, 1.0), (0.0, 0.2), (0.0, unit[2])]);
        assert_eq!(domain.neighbours(&unit, &region).len(), 1);
        // The places of -2, -1, 0, 1, 2 are 0.1, 0.3, .., 0.9: the first half has two of these places, and [0.15, 0.25)
        // has none.
        let place = |low: f64, high: f64, share: f64| {
            let region = [(0.0, 1.0), (low, high), (0.0, 1.0)];
            domain.valid_point_in(&region, &[0.5, share, 0.0]).map(|point| domain.from_unit(&point)[1])
        };
        let values = [0.0, 0.39, 0.41, 0.99].map(|share| place(0.0, 0.5, share).unwrap());
        assert_eq!(values, [-2.0, -2.0, -1.0, -1.0]);
        assert_eq!([place(0.5, 1.0, 0.0), place(0.5, 1.0, 0.99)], [Some(0.0), Some(2.0)]);
        assert_eq!(place(0.15, 0.25, 0.5), None);
        assert_eq!(domain.at_shares(&[0.3, 0.19, 0.7]), domain.valid_unit(&[0.3, 0.19, 0.7]));
    }

    #[test]
    fn categories_have_a_coordinate_each_and_the_same_distance_from_each_other() {
        let words = |list: &[&str]| list.iter().map(|word| (*word).to_owned()).collect::<Vec<String>>();
        let names = words(&["rate", "solver", "depth"]);
        let whole = InputKind { whole: true, logarithmic: false };
        let kinds = vec![InputKind::default(), InputKind::default(), whole];
        let domain = SearchBox::new(vec![(0.0, 2.0), (0.0, 1.0), (1.0, 4.0)])
            .with_kinds(kinds, names)
            .with_categories(vec![vec![], words(&["a", "b", "c"]), vec![]]);
        assert_eq!((domain.d(), domain.width()), (3, 5));
        assert_eq!(domain.columns()[1], "solver (0 = a; 1 = b; 2 = c)");
        assert_eq!(domain.ordered(), [true, false, false, false, true]);
        assert_eq!(domain.discrete(), [false, true, true, true, true]);
        let points: Vec<Vec<f64>> = [0.0, 1.0, 2.0].iter().map(|c| domain.to_unit(&[1.0, *c, 2.0])).collect();
        for (a, b) in [(0, 1), (0, 2), (1, 2)] {
            let square: f64 = points[a].iter().zip(&points[b]).map(|(x, y)| (x - y) * (x - y)).sum();
            assert!((square - 1.0).abs() < 1e-15);
        }
        for (number, point) in points.iter().enumerate() {
            assert_eq!(domain.from_unit(point), [1.0, number as f64, 2.0]);
            assert_eq!(&domain.valid_unit(point), point);
        }
        assert_eq!(domain.valid_unit(&[0.5, 0.2, 0.3, 0.3, 0.4]), points[1]);
        // Each of the three categories has a third of the shares.
        let solver = |share: f64| domain.from_unit(&domain.at_shares(&[0.0, share, 0.0]))[1];
        assert_eq!([0.0, 0.32, 0.34, 0.99].map(solver), [0.0, 0.0, 1.0, 2.0]);
        let near = domain.neighbours(&points[1], &SearchBox::unit(5));
        let near: Vec<Vec<f64>> = near.iter().map(|unit| domain.from_unit(unit)).collect();
        assert_eq!(near, [[1.0, 0.0, 2.0], [1.0, 2.0, 2.0], [1.0, 1.0, 1.0], [1.0, 1.0, 3.0]]);
        assert!(domain.contains(&[2.0, 2.0, 4.0]) && !domain.contains(&[2.0, 3.0, 4.0]));
    }
}
