//! Numbers for readers: in suitable units, with as many digits as their standard errors justify.

use crate::study::Estimate;

/// A regret with its standard error, to two digits of the error: `0.0183 ± 0.0042`. The regret of a single replication has
/// four decimal places and no error. If all replications have the same regret, this regret and its error of 0 have four
/// decimal places each.
#[must_use]
pub fn regret(estimate: Estimate) -> String {
    if estimate.n < 2 {
        return format!("{:.4}", estimate.mean);
    }
    let places = if is_exact(estimate) { 4 } else { places_for(estimate.se) };
    format!("{:.places$} ± {:.places$}", estimate.mean, estimate.se)
}

/// Whether a mean has no error but that of rounding: all replications have the same number.
fn is_exact(estimate: Estimate) -> bool {
    estimate.se <= 1e-12 * estimate.mean.abs()
}

/// The number of decimal places, at most six, with which `value` has two significant digits.
fn places_for(value: f64) -> usize {
    (1.0 - libm::floor(libm::log10(value))).clamp(0.0, 6.0) as usize
}

/// Units of durations: the value in seconds below which a unit is used, its length in seconds, and its name.
const SECONDS: [(f64, f64, &str); 7] = [
    (1e-6, 1e-9, "ns"),
    (1e-3, 1e-6, "µs"),
    (1.0, 1e-3, "ms"),
    (600.0, 1.0, "s"),
    (36_000.0, 60.0, "min"),
    (864_000.0, 3600.0, "h"),
    (f64::INFINITY, 86_400.0, "d"),
];

/// A duration with three digits, in a suitable unit: `35.2 ms`, `2.10 s`, `78.0 min`.
#[must_use]
pub fn seconds(value: f64) -> String {
    if value <= 0.0 {
        return "0 s".to_owned();
    }
    let &(_, size, unit) = SECONDS.iter().find(|(below, _, _)| value < *below).unwrap_or(&SECONDS[6]);
    let scaled = value / size;
    let places = (2.0 - libm::floor(libm::log10(scaled))).clamp(0.0, 2.0) as usize;
    format!("{scaled:.places$} {unit}")
}

/// A mean duration with its standard error, to two digits of the error but at most three decimal places:
/// `15.40 ± 0.20 s`. An error below 0.0005 of the unit is left out; the mean is then written by [`seconds`].
#[must_use]
pub(super) fn seconds_within(mean: f64, error: f64) -> String {
    let plain = seconds(mean);
    let Some((_, unit)) = plain.rsplit_once(' ') else { return plain };
    let size = SECONDS.iter().find(|(_, _, name)| *name == unit).map_or(1.0, |(_, size, _)| *size);
    within(mean, error, size, unit).unwrap_or(plain)
}

/// A mean count with its standard error, to two digits of the error but at most three decimal places: `840.6 ± 3.1 k`. An
/// error below 0.0005 of the unit is left out; the mean is then written by [`quantity`].
#[must_use]
pub(super) fn quantity_within(mean: f64, error: f64) -> String {
    let (size, unit) = match mean {
        v if v >= 1e9 => (1e9, "G"),
        v if v >= 1e6 => (1e6, "M"),
        v if v >= 1e4 => (1e3, "k"),
        _ => (1.0, ""),
    };
    within(mean, error, size, unit).unwrap_or_else(|| quantity(mean))
}

fn within(mean: f64, error: f64, size: f64, unit: &str) -> Option<String> {
    let (mean, error) = (mean / size, error / size);
    // Three decimal places would show an error below 0.0005 as 0.
    if error.is_nan() || error < 0.0005 {
        return None;
    }
    let places = places_for(error).min(3);
    Some(format!("{mean:.places$} ± {error:.places$} {unit}").trim_end().to_owned())
}

/// An upper bound on epsilon with three significant digits but at most six decimal places, rounded up: `0.0998`, `16.5`,
/// `185`. Below 1e7 all digits before the decimal point are kept (`12346`); from 1e7 on it has an exponent.
#[must_use]
pub(super) fn bound(value: f64) -> String {
    if value <= 0.0 || !value.is_finite() {
        return upper(value, 0);
    }
    // 0.0999999 is rounded up to 0.1, so it is written with as many decimal places as 0.1.
    upper(value, (2.0 - libm::floor(libm::log10(value) + 1e-4)).clamp(0.0, 6.0) as i32)
}

/// A count, with a suffix if it is large: `912`, `43.2 k`, `4.32 M`.
#[must_use]
pub fn quantity(value: f64) -> String {
    match value {
        v if v >= 1e9 => format!("{:.2} G", v / 1e9),
        v if v >= 1e6 => format!("{:.2} M", v / 1e6),
        v if v >= 1e4 => format!("{:.1} k", v / 1e3),
        v if v.fract() == 0.0 => format!("{v:.0}"),
        v => format!("{v:.1}"),
    }
}

/// A share as a percentage with one decimal place, rounded down: `95.0 %`, `100 %`.
#[must_use]
pub(super) fn percent(share: f64) -> String {
    if share >= 1.0 { "100 %".to_owned() } else { format!("{:.1} %", libm::floor(share * 1000.0) / 10.0) }
}

/// A delta to four digits: `1e-5`, `2.944e-3`.
#[must_use]
pub(super) fn delta(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(value);
    format!("{rounded:e}")
}

/// A number of any size with four significant digits: `0.01234`, `227.5`, `3.490e6`. Below 1e5 all digits before the
/// decimal point are kept: `12345`.
#[must_use]
pub(super) fn quantity_of(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 || !(1e-4..1e5).contains(&size) {
        return if size == 0.0 { "0".to_owned() } else { format!("{value:.3e}") };
    }
    let places = (3.0 - libm::floor(libm::log10(size))).clamp(0.0, 8.0) as usize;
    format!("{value:.places$}")
}

/// An epsilon with four decimal places, or "inf"; from 1e7 on with an exponent.
#[must_use]
pub(super) fn epsilon(value: f64) -> String {
    match value {
        f64::INFINITY => "inf".to_owned(),
        1e7.. => format!("{value:.2e}"),
        _ => format!("{value:.4}"),
    }
}

/// Rounded up to a whole number, but a number that exceeds a whole number by at most a millionth is rounded down.
fn up(scaled: f64) -> f64 {
    (scaled - 1e-6).ceil()
}

/// A bound on an error with one significant digit, rounded up. A value that exceeds a number with one significant digit by
/// at most a millionth of this digit's place becomes that number.
pub(super) fn error_bound(value: f64) -> String {
    if !(value > 0.0 && value.is_finite()) {
        return epsilon(value);
    }
    let exponent = libm::floor(libm::log10(value));
    let digit = up(value / libm::pow(10.0, exponent));
    // Rounding may carry: 9.5e-4 becomes 1e-3.
    format!("{:.0e}", digit * libm::pow(10.0, exponent))
}

/// An upper bound on epsilon with `digits` decimal places, rounded up. A value that exceeds a number with `digits` decimal
/// places by at most a millionth of the last place, for example by a rounding error, becomes that number. From 1e7 on the
/// bound has an exponent and three significant digits.
pub(super) fn upper(value: f64, digits: i32) -> String {
    outwards(value, digits, up)
}

/// A lower bound on epsilon with `digits` decimal places, rounded down. A value that lies at most a millionth of the last
/// place below a number with `digits` decimal places becomes that number. From 1e7 on the bound has an exponent and three
/// significant digits.
pub(super) fn lower(value: f64, digits: i32) -> String {
    outwards(value, digits, |scaled| (scaled + 1e-6).floor())
}

fn outwards(value: f64, digits: i32, round: impl Fn(f64) -> f64) -> String {
    if !value.is_finite() {
        return epsilon(value);
    }
    if value.abs() >= 1e7 {
        let mut exponent = libm::floor(libm::log10(value.abs()));
        let mut rounded = round(value / libm::pow(10.0, exponent - 2.0));
        // Rounding may carry into one more digit.
        if rounded.abs() >= 1000.0 {
            (rounded, exponent) = (rounded / 10.0, exponent + 1.0);
        }
        return format!("{:.2}e{exponent}", rounded / 100.0);
    }
    let unit = libm::pow(10.0, f64::from(digits));
    // Adding 0.0 avoids "-0.000".
    format!("{:.*}", digits as usize, round(value * unit) / unit + 0.0)
}

/// A regret in a sentence. If no standard error is known, or the error is 0 up to rounding, the regret has two significant
/// digits and no error. Otherwise it is written by [`regret`].
#[must_use]
pub(super) fn brief(estimate: Estimate) -> String {
    if estimate.n < 2 || is_exact(estimate) { two_digits(estimate.mean) } else { regret(estimate) }
}

/// A number with two significant digits, for a sentence: `0.029`, `95`, `1.3e6`. Below 1e5 all digits before the decimal
/// point are kept: `12345`.
#[must_use]
pub(super) fn two_digits(value: f64) -> String {
    significant(value, 2, libm::round)
}

/// A number with two significant digits, rounded up, for an upper bound in a sentence.
#[must_use]
pub(super) fn two_digits_up(value: f64) -> String {
    significant(value, 2, up)
}

/// An upper bound on epsilon with three significant digits, rounded up; "inf" if it is infinite.
#[must_use]
pub(super) fn three_digits_up(value: f64) -> String {
    if value.is_infinite() { epsilon(value) } else { significant(value, 3, up) }
}

fn significant(value: f64, digits: i32, round: impl Fn(f64) -> f64) -> String {
    let size = value.abs();
    if size == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".to_owned() } else { value.to_string() };
    }
    let places_of = |size: f64| digits - 1 - libm::floor(libm::log10(size)) as i32;
    let unit = libm::pow(10.0, f64::from(places_of(size)));
    // Rounding may carry into one more digit: 0.0999 becomes 0.10, not 0.100.
    let places = places_of(size).min(places_of((round(value * unit) / unit).abs().max(size)));
    if places > 6 || size >= 1e5 {
        let unit = libm::pow(10.0, f64::from(places));
        return format!("{:.*e}", digits as usize - 1, round(value * unit) / unit);
    }
    let places = places.max(0);
    let unit = libm::pow(10.0, f64::from(places));
    format!("{:.*}", places as usize, round(value * unit) / unit + 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_rounded_outwards() {
        assert_eq!((upper(2.069_869_65, 4).as_str(), lower(2.069_869_65, 4).as_str()), ("2.0699", "2.0698"));
        assert_eq!((upper(2.069_8, 3).as_str(), lower(2.069_8, 3).as_str()), ("2.070", "2.069"));
        assert_eq!((upper(1.0 + 1e-15, 4).as_str(), lower(1.0 - 1e-15, 4).as_str()), ("1.0000", "1.0000"));
        assert_eq!((upper(0.0, 3).as_str(), lower(0.0, 3).as_str()), ("0.000", "0.000"));
        assert_eq!((upper(f64::INFINITY, 3).as_str(), upper(1e9, 3).as_str()), ("inf", "1.00e9"));
        assert_eq!((upper(1.234_1e8, 4).as_str(), lower(1.239_9e8, 4).as_str()), ("1.24e8", "1.23e8"));
        assert_eq!((upper(9.999e7, 4).as_str(), lower(9.999e7, 4).as_str()), ("1.00e8", "9.99e7"));
        assert_eq!(bound(1.501e200), "1.51e200");
        assert_eq!(
            [1e-4, 1.2e-4, 9.5e-4, 2.0, 0.3].map(error_bound),
            ["1e-4", "2e-4", "1e-3", "2e0", "3e-1"]
        );
        assert_eq!([0.0, f64::INFINITY].map(error_bound), [0.0, f64::INFINITY].map(epsilon));
    }

    #[test]
    fn sentences_have_few_digits() {
        assert_eq!(
            [0.0, 0.0293, 1.04, 17.4, 95.4, 12_345.0, 1.26e6].map(two_digits),
            ["0", "0.029", "1.0", "17", "95", "12345", "1.3e6"]
        );
        assert_eq!(
            [2.998, 0.099_999_8, 0.999_999, 17.4, 17.41, 0.0, 1e-9, 277.99, f64::INFINITY]
                .map(three_digits_up),
            ["3.00", "0.100", "1.00", "17.4", "17.5", "0", "1.00e-9", "278", "inf"]
        );
    }

    #[test]
    fn digits_follow_the_error() {
        let estimate = |mean, se| Estimate { mean, se, n: 9 };
        assert_eq!(regret(estimate(0.018_345, 0.0042)), "0.0183 ± 0.0042");
        assert_eq!(regret(estimate(123.456, 12.0)), "123 ± 12");
        assert_eq!(regret(estimate(0.5, 0.0)), "0.5000 ± 0.0000");
        assert_eq!(regret(estimate(0.263_392_1, 1.8e-17)), "0.2634 ± 0.0000");
        assert_eq!(brief(estimate(0.263_392_1, 1.8e-17)), "0.26");
    }

    #[test]
    fn costs_carry_their_errors() {
        assert_eq!(quantity_within(840_600.0, 3_100.0), "840.6 ± 3.1 k");
        assert_eq!(
            (quantity_within(49.0, 0.0).as_str(), quantity_within(49.0, 12.3).as_str()),
            ("49", "49 ± 12")
        );
        assert_eq!(seconds_within(15.4, 0.2), "15.40 ± 0.20 s");
        assert_eq!(seconds_within(0.0352, 0.0), "35.2 ms");
        assert_eq!([0.099_71, 16.4446, 185.2, 0.0].map(bound), ["0.0998", "16.5", "186", "0"]);
    }

    #[test]
    fn epsilons_stay_short() {
        assert_eq!(
            [1.0, 277.99704, 1.5e200, f64::INFINITY].map(epsilon),
            ["1.0000", "277.9970", "1.50e200", "inf"]
        );
    }

    #[test]
    fn units_fit() {
        assert_eq!(seconds(0.0352), "35.2 ms");
        assert_eq!(seconds(2.1), "2.10 s");
        assert_eq!(seconds(4680.0), "78.0 min");
        assert_eq!(seconds(0.0), "0 s");
        assert_eq!(quantity(43_210.0), "43.2 k");
        assert_eq!(quantity(12.5), "12.5");
    }
}
