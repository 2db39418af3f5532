//! The domain cut into hyper-rectangles of equal size.

use crate::gp::Points;
use crate::vocab::SearchBox;

/// The parts of a domain, of equal size, numbered from 0. A boundary between two parts belongs to the upper one.
///
/// The cuts follow from the number of regions, n, and from the dimensions that may be cut, in cyclic order. While n is
/// even, every part is cut in two along the next of these dimensions, and n is halved. Once n is odd, every part is cut into
/// n parts along the first of these dimensions. So 4 regions of a square are its quarters, and 3 regions are strips.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Regions {
    /// Number of parts along each dimension.
    cuts: Vec<usize>,
    /// Lower and upper end of the domain along each dimension.
    bounds: Vec<(f64, f64)>,
    /// The region of every arm; on a box, of every point of the sample that represents the box.
    of_arms: Vec<usize>,
}

impl Regions {
    /// The smallest hyper-rectangle that contains these arms, cut into this number of regions.
    pub(super) fn of_points(points: &Points, regions: usize) -> Self {
        Self::new(points, (0..points.d()).map(|k| points.range(k)).collect(), regions, &[])
    }

    /// The unit cube that represents a box, cut into this number of regions; `sample` holds points of the cube. The
    /// dimensions that stand for categories are not cut. (If all dimensions stand for categories, there must be one region.)
    pub(super) fn of_box(domain: &SearchBox, sample: &Points, regions: usize) -> Self {
        Self::new(sample, vec![(0.0, 1.0); sample.d()], regions, &domain.ordered())
    }

    /// `cuttable` says which dimensions may be cut; empty if all may.
    fn new(points: &Points, bounds: Vec<(f64, f64)>, regions: usize, cuttable: &[bool]) -> Self {
        let d = points.d();
        let along: Vec<usize> = (0..d).filter(|&k| cuttable.get(k).is_none_or(|can| *can)).collect();
        let mut cuts = vec![1usize; d.max(1)];
        let (mut left, mut dimension) = (regions.max(1), 0);
        while left.is_multiple_of(2) && !along.is_empty() {
            cuts[along[dimension % along.len()]] *= 2;
            left /= 2;
            dimension += 1;
        }
        cuts[along.first().copied().unwrap_or(0)] *= left;
        let mut found = Self { cuts, bounds, of_arms: Vec::new() };
        found.of_arms = (0..points.n()).map(|index| found.of(points.row(index))).collect();
        found
    }

    /// The region of a point, which is given in the coordinates of the arms (on a box, in those of the unit cube).
    pub(super) fn of(&self, point: &[f64]) -> usize {
        point.iter().zip(&self.bounds).zip(&self.cuts).fold(0, |region, ((x, (low, high)), &cut)| {
            let share = if high > low { (x - low) / (high - low) } else { 0.0 };
            region * cut + ((share * cut as f64) as usize).min(cut - 1)
        })
    }

    /// The region of every arm, or of every point of the sample.
    pub(super) fn of_arms(&self) -> &[usize] {
        &self.of_arms
    }

    /// Number of regions.
    pub(super) fn count(&self) -> usize {
        self.cuts.iter().product()
    }

    /// Lower and upper end of a region along each dimension; both ends belong to the region.
    pub(super) fn ends(&self, region: usize) -> Vec<(f64, f64)> {
        let mut left = region;
        let part = |((low, high), &cut): (&(f64, f64), &usize)| {
            let (number, length) = (left % cut, (high - low) / cut as f64);
            left /= cut;
            let end =
                if number + 1 == cut { *high } else { (low + (number + 1) as f64 * length).next_down() };
            (low + number as f64 * length, end)
        };
        let mut ends: Vec<(f64, f64)> = self.bounds.iter().zip(&self.cuts).rev().map(part).collect();
        ends.reverse();
        ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quarters_halves_and_strips() {
        let square = Points::new(4, 2, vec![0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0]);
        let of = |points: &Points, regions| Regions::of_points(points, regions).of_arms;
        assert_eq!(of(&square, 4), [0, 1, 2, 3]);
        assert_eq!(of(&square, 2), [0, 0, 1, 1]);
        assert_eq!(of(&square, 1), [0; 4]);
        let line = Points::new(6, 1, vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(of(&line, 3), [0, 0, 1, 1, 2, 2]);
    }

    /// Twelve regions of a cube: six parts along the first dimension and two along the second. The middle, the lower corner
    /// and the upper corner of each region lie in the region.
    #[test]
    fn regions_of_a_box_are_boxes_that_fill_it() {
        let sample = Points::new(1, 3, vec![0.5; 3]);
        let regions = Regions::of_box(&SearchBox::unit(3), &sample, 12);
        assert_eq!(regions.count(), 12);
        let mut volume = 0.0;
        for region in 0..12 {
            let ends = regions.ends(region);
            let middle: Vec<f64> = ends.iter().map(|(low, high)| 0.5 * (low + high)).collect();
            let corner: Vec<f64> = ends.iter().map(|(low, _)| *low).collect();
            let upper: Vec<f64> = ends.iter().map(|(_, high)| *high).collect();
            let found = [&middle, &corner, &upper].map(|point| regions.of(point));
            assert_eq!(found, [region; 3], "{ends:?}");
            volume += ends.iter().map(|(low, high)| high - low).product::<f64>();
        }
        assert!((volume - 1.0).abs() < 1e-12);
    }
}
