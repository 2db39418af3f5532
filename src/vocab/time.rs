//! Virtual time in integer nanoseconds, so that times are compared exactly and their order is total.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use std::ops::{Add, Sub};
use std::str::FromStr;
use thiserror::Error;

/// A moment of virtual time: nanoseconds since the start of the simulation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Time(u64);

/// A length of virtual time in nanoseconds. In RON: a string with units, `"40ms"`, `"1s 500ms"`, `"2h"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Span(u64);

const NANOS_PER_SECOND: f64 = 1e9;

impl Time {
    /// The start of every simulation.
    pub const ZERO: Self = Self(0);
    /// The latest time that can be represented; it stands for "never".
    pub const NEVER: Self = Self(u64::MAX);

    /// A moment from nanoseconds since the start.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since the start.
    #[must_use]
    pub const fn nanos(self) -> u64 {
        self.0
    }

    /// Seconds since the start.
    #[must_use]
    pub fn seconds(self) -> f64 {
        self.0 as f64 / NANOS_PER_SECOND
    }

    /// Time elapsed since `earlier`; zero if `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Span> for Time {
    type Output = Self;
    fn add(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl Sub for Time {
    type Output = Span;
    fn sub(self, earlier: Self) -> Span {
        self.since(earlier)
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// The longest span; added to a time it gives [`Time::NEVER`].
    pub const MAX: Self = Self(u64::MAX);

    /// A span from nanoseconds.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// A span from milliseconds.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// A span from seconds, rounded to the nearest nanosecond; negative or NaN gives zero, too long gives the
    /// longest span.
    #[must_use]
    pub fn from_seconds(seconds: f64) -> Self {
        // A float-to-integer cast saturates and turns NaN into zero, as documented above. The remainder `nanos - whole` is
        // computed without rounding, and decides whether to round up. This avoids `round`, which is a function call on
        // x86-64 without SSE4.1: every random delay is rounded here.
        let nanos = seconds * NANOS_PER_SECOND;
        let whole = nanos as u64;
        Self(whole.saturating_add(u64::from(nanos - whole as f64 >= 0.5)))
    }

    /// Nanoseconds.
    #[must_use]
    pub const fn nanos(self) -> u64 {
        self.0
    }

    /// Seconds.
    #[must_use]
    pub fn seconds(self) -> f64 {
        self.0 as f64 / NANOS_PER_SECOND
    }
}

impl Add for Span {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

/// A text that could not be read as a duration.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("expected a duration with units such as \"40ms\", \"1s 500ms\" or \"2h\", found \"{found}\"")]
pub struct BadSpan {
    found: String,
}

impl FromStr for Span {
    type Err = BadSpan;
    fn from_str(text: &str) -> Result<Self, BadSpan> {
        let duration = humantime::parse_duration(text).map_err(|_| BadSpan { found: text.to_owned() })?;
        Ok(Self(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)))
    }
}

impl TryFrom<String> for Span {
    type Error = BadSpan;
    fn try_from(text: String) -> Result<Self, BadSpan> {
        text.parse()
    }
}

impl From<Span> for String {
    fn from(span: Span) -> Self {
        span.to_string()
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        humantime::format_duration(std::time::Duration::from_nanos(self.0)).fmt(f)
    }
}

impl JsonSchema for Span {
    fn schema_name() -> Cow<'static, str> {
        "Span".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "a duration with units, as in \"40ms\"" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_read_and_print_units() {
        assert_eq!("40ms".parse::<Span>().unwrap(), Span::from_millis(40));
        assert_eq!("1s 500ms".parse::<Span>().unwrap().to_string(), "1s 500ms");
        assert!("40".parse::<Span>().unwrap_err().to_string().contains("\"40ms\""));
        assert!("-4ms".parse::<Span>().is_err());
    }

    #[test]
    fn time_saturates_instead_of_wrapping() {
        assert_eq!(Time::ZERO + Span::MAX, Time::NEVER);
        assert_eq!(Time::ZERO - Time::from_nanos(5), Span::ZERO);
        assert_eq!(Span::from_seconds(f64::NAN), Span::ZERO);
    }

    /// The result is that of `f64::round` and a cast: for halves and the floats next to them, for whole numbers, and for
    /// numbers outside the range.
    #[test]
    fn seconds_are_rounded_to_the_nearest_nanosecond() {
        for nanos in [0.0, 0.5, 1.5, 2.5, 1e6, 4_503_599_627_370_496.0, 9_007_199_254_740_993.0, 1.8e19, 1e20]
        {
            for nanos in [nanos, f64::next_up(nanos), f64::next_down(nanos), -nanos] {
                let seconds = nanos / NANOS_PER_SECOND;
                let expected = (seconds * NANOS_PER_SECOND).round() as u64;
                assert_eq!(Span::from_seconds(seconds).nanos(), expected, "{nanos}");
            }
        }
        for seconds in [f64::INFINITY, f64::NEG_INFINITY, f64::MIN_POSITIVE, f64::MAX] {
            assert_eq!(Span::from_seconds(seconds).nanos(), (seconds * NANOS_PER_SECOND).round() as u64);
        }
    }
}
