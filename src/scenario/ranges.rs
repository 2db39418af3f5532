//! `Range(0, 30)` and `LogRange(0.1, 10, 5)`: lists of values of an `Each`, computed from their ends.

use crate::vocab::value::Node;

/// First number, count and step of `Range(first, stop)` or `Range(first, stop, step)`, where `stop` is not included; `None`
/// unless there are two or three bounds, all are whole numbers, and the step is above 0.
pub(super) fn whole(bounds: &[Node], text: &str) -> Option<(i128, i128, i128)> {
    let bounds: Vec<i64> =
        bounds.iter().map(|bound| text[bound.span.clone()].trim().parse().ok()).collect::<Option<_>>()?;
    let (first, stop, step) = match *bounds.as_slice() {
        [first, stop] => (first, stop, 1),
        [first, stop, step] if step > 0 => (first, stop, step),
        _ => return None,
    };
    let (first, stop, step) = (i128::from(first), i128::from(stop), i128::from(step));
    Some((first, ((stop - first).max(0) + step - 1) / step, step))
}

/// The ends and the count of `LogRange(first, last, count)`; `None` unless there are three bounds, both ends are finite and
/// above 0, and the count is a whole number of at least 2.
pub(super) fn logarithmic(bounds: &[Node], text: &str) -> Option<(f64, f64, u32)> {
    let [first, last, count] = bounds else { return None };
    let number = |bound: &Node| {
        text[bound.span.clone()].trim().parse::<f64>().ok().filter(|end| end.is_finite() && *end > 0.0)
    };
    let count = text[count.span.clone()].trim().parse().ok().filter(|count: &u32| *count >= 2)?;
    Some((number(first)?, number(last)?, count))
}

/// Value `index`, from 0, of `count` values from `first` to `last` with equally spaced logarithms, rounded to four
/// significant digits; the two ends are exact.
pub(super) fn spaced((first, last, count): (f64, f64, u32), index: u32) -> f64 {
    if index == 0 {
        return first;
    }
    if index + 1 >= count {
        return last;
    }
    let part = f64::from(index) / f64::from(count - 1);
    let value = libm::exp(libm::log(first) * (1.0 - part) + libm::log(last) * part);
    format!("{value:.3e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_logarithmic_range_has_its_ends_and_equal_ratios() {
        let values: Vec<f64> = (0..5).map(|index| spaced((0.01, 100.0, 5), index)).collect();
        assert_eq!(values, [0.01, 0.1, 1.0, 10.0, 100.0]);
        assert_eq!(spaced((0.1, 0.3, 3), 1).to_string(), "0.1732");
    }
}
