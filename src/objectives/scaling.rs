//! Scaling of inputs and values.
//!
//! Inputs are centred, then scaled so that the longest row has a given norm. The centre and scale of a grid are public; a
//! centre and a scale that are computed from records depend on every record, so a change of one record can change all
//! rows.

/// Centres every column of `rows` (row-major, `d` columns) and multiplies all rows by one factor, so that the largest row
/// norm is `max_norm`. Returns the factor; 1 if all rows are the same.
pub(super) fn centre_and_scale(rows: &mut [f64], d: usize, max_norm: f64) -> f64 {
    for column in 0..d {
        let (mean, _) = centre(rows[column..].iter().step_by(d).copied());
        rows[column..].iter_mut().step_by(d).for_each(|value| *value -= mean);
    }
    let norm = |row: &[f64]| row.iter().map(|v| v * v).sum::<f64>().sqrt();
    let longest = rows.chunks(d).map(norm).fold(0.0, f64::max);
    if longest == 0.0 {
        return 1.0;
    }
    let factor = max_norm / longest;
    rows.iter_mut().for_each(|value| *value *= factor);
    factor
}

/// The points of a regular grid over `bounds`, row-major, the last coordinate fastest. A coordinate with a count of 1 has
/// the middle of its bounds.
pub(super) fn grid(counts: &[usize], bounds: &[(f64, f64)]) -> Vec<f64> {
    let axis = |(&count, &(low, high)): (&usize, &(f64, f64))| {
        let share = |step: usize| if count > 1 { step as f64 / (count - 1) as f64 } else { 0.5 };
        (0..count).map(|step| low + (high - low) * share(step)).collect()
    };
    combinations(&counts.iter().zip(bounds).map(axis).collect::<Vec<_>>())
}

/// Every combination of one number from each list, row-major, the last list changing fastest.
pub(super) fn combinations(lists: &[Vec<f64>]) -> Vec<f64> {
    let n: usize = lists.iter().map(Vec::len).product();
    let mut rows = Vec::with_capacity(n * lists.len());
    for index in 0..n {
        let (mut rest, mut stride) = (index, n);
        for list in lists {
            stride /= list.len();
            rows.push(list[rest / stride]);
            rest %= stride;
        }
    }
    rows
}

/// The mean of some numbers, and whether they differ; if they are all the same, the mean is that number, without rounding.
/// NaN and true if there are none.
fn centre(values: impl Iterator<Item = f64> + Clone) -> (f64, bool) {
    match values.clone().next() {
        Some(first) if values.clone().all(|value| value == first) => (first, false),
        _ => (values.clone().sum::<f64>() / values.count() as f64, true),
    }
}

/// Mean and standard deviation (with divisor n) of some numbers; `None` if all are the same, there are none, or the
/// computed standard deviation is 0. Whether all are the same is tested separately: the computed mean is rounded, so the
/// computed standard deviation of equal numbers could be above 0.
pub(super) fn spread(values: impl Iterator<Item = f64> + Clone) -> Option<(f64, f64)> {
    let (mean, differ) = centre(values.clone());
    let n = values.clone().count() as f64;
    let sd = (values.map(|v| (v - mean) * (v - mean)).sum::<f64>() / n).sqrt();
    (differ && sd > 0.0).then_some((mean, sd))
}

/// Shifts and scales `values` to mean 0 and variance 1. Returns the original mean and standard
/// deviation. If [`spread`] returns `None`, so does this function, and the values stay as they are.
pub(super) fn standardise(values: &mut [f64]) -> Option<(f64, f64)> {
    let (mean, sd) = spread(values.iter().copied())?;
    values.iter_mut().for_each(|value| *value = (*value - mean) / sd);
    Some((mean, sd))
}

/// For each column of the rows at `places`, its mean and the factor that gives it standard deviation 1. Both are 0 for a
/// column that is constant in these rows and so carries no information.
pub(super) fn scales<'a>(d: usize, places: &[usize], row: impl Fn(usize) -> &'a [f64]) -> Vec<(f64, f64)> {
    let scale = |column: usize| {
        let cells = places.iter().map(|&place| row(place)[column]);
        spread(cells).map_or((0.0, 0.0), |(mean, sd)| (mean, 1.0 / sd))
    };
    (0..d).map(scale).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_grid_has_the_stated_spacing() {
        // tests/oracles/outsourced_release_units.json, entry `po_grid`: a grid of 100 x 100 points whose longest row has the
        // norm 25 has the spacing 0.357124...
        let mut rows = grid(&[100, 100], &[(0.0, 1.0), (0.0, 1.0)]);
        centre_and_scale(&mut rows, 2, 25.0);
        let spacing = rows[3] - rows[1];
        assert!((spacing - 0.357_124_636_962_900_87).abs() < 1e-12, "{spacing}");
        let longest = rows.chunks(2).map(|r| (r[0] * r[0] + r[1] * r[1]).sqrt()).fold(0.0, f64::max);
        assert!((longest - 25.0).abs() < 1e-12);
    }

    #[test]
    fn equal_rows_are_left_at_the_origin() {
        // In floating point, the sum of ten numbers 0.1 is not 1, so this sum divided by ten differs from 0.1.
        for number in [3.0, 0.1] {
            let mut rows = vec![number; 20];
            assert_eq!(centre_and_scale(&mut rows, 2, 25.0), 1.0);
            assert_eq!(rows, vec![0.0; 20]);
        }
    }

    #[test]
    fn numbers_that_are_all_the_same_have_no_spread() {
        for number in [3.0, 0.1, 1e-30, -7e99] {
            let mut same = vec![number; 10];
            assert_eq!(standardise(&mut same), None);
            assert_eq!(same, vec![number; 10]);
            assert_eq!(spread(same.into_iter()), None);
        }
        assert_eq!(spread(std::iter::empty()), None);
        assert_eq!(spread([1.0, 3.0].into_iter()), Some((2.0, 1.0)));
        let rows = [[0.1, 1.0], [0.1, 3.0], [0.2, 9.0]];
        assert_eq!(scales(2, &[0, 1], |place| &rows[place]), [(0.0, 0.0), (2.0, 1.0)]);
    }

    #[test]
    fn combinations_have_every_choice_once() {
        let rows = combinations(&[vec![1.0, 2.0], vec![3.0], vec![5.0, 6.0]]);
        assert_eq!(rows, [1.0, 3.0, 5.0, 1.0, 3.0, 6.0, 2.0, 3.0, 5.0, 2.0, 3.0, 6.0]);
    }
}
