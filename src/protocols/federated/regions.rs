//! The domain cut into hyper-rectangles of equal size.

use crate::gp::Points;

/// The region of every point, 0 to `regions` - 1.
///
/// While the number of regions is even, it is halved and the box around the points is cut in two along the next
/// dimension; then the first dimension is cut into as many parts as remain (4 regions of a square are its quarters, 3
/// are strips).
pub(super) fn regions_of(points: &Points, regions: usize) -> Vec<usize> {
    let d = points.d();
    let mut cuts = vec![1usize; d.max(1)];
    let (mut left, mut dimension) = (regions.max(1), 0);
    while left.is_multiple_of(2) && d > 0 {
        cuts[dimension % d] *= 2;
        left /= 2;
        dimension += 1;
    }
    cuts[0] *= left;
    let bounds: Vec<(f64, f64)> = (0..d).map(|k| points.range(k)).collect();
    (0..points.n())
        .map(|index| {
            points.row(index).iter().zip(&bounds).zip(&cuts).fold(0, |region, ((x, (low, high)), &cut)| {
                let share = if high > low { (x - low) / (high - low) } else { 0.0 };
                region * cut + ((share * cut as f64) as usize).min(cut - 1)
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quarters_halves_and_strips() {
        let square = Points::new(4, 2, vec![0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0]);
        assert_eq!(regions_of(&square, 4), [0, 1, 2, 3]);
        assert_eq!(regions_of(&square, 2), [0, 0, 1, 1]);
        assert_eq!(regions_of(&square, 1), [0; 4]);
        let line = Points::new(6, 1, vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(regions_of(&line, 3), [0, 0, 1, 1, 2, 2]);
    }
}
