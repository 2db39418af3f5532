//! The transmission rate of a link or of a party's access line, read with its unit.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

use super::Span;

/// A transmission rate in bits per second, above 0. In RON: a string with its unit, `"10Mbit/s"`, `"250kB/s"`.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Rate(f64);

/// Units by name, in bits per second. Prefixes are decimal, as is usual for networks.
const UNITS: [(&str, f64); 8] = [
    ("Gbit/s", 1e9),
    ("Mbit/s", 1e6),
    ("kbit/s", 1e3),
    ("bit/s", 1.0),
    ("GB/s", 8e9),
    ("MB/s", 8e6),
    ("kB/s", 8e3),
    ("B/s", 8.0),
];

/// A text that could not be read as a rate.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("expected a rate above 0 with its unit such as \"10Mbit/s\" or \"250kB/s\", found \"{found}\"")]
pub struct BadRate {
    found: String,
}

impl Rate {
    /// A rate from bits per second; `None` unless finite and above 0.
    #[must_use]
    pub fn from_bits_per_second(rate: f64) -> Option<Self> {
        (rate.is_finite() && rate > 0.0).then_some(Self(rate))
    }

    /// Bits per second.
    #[must_use]
    pub fn bits_per_second(self) -> f64 {
        self.0
    }

    /// The time that it takes to send `bytes` bytes, rounded to the nearest nanosecond.
    #[must_use]
    pub fn time_for(self, bytes: u64) -> Span {
        Span::from_seconds(8.0 * bytes as f64 / self.0)
    }

    /// The number of bytes, possibly fractional, that are sent in the time `span`.
    #[must_use]
    pub fn bytes_in(self, span: Span) -> f64 {
        span.seconds() * self.0 / 8.0
    }
}

impl FromStr for Rate {
    type Err = BadRate;
    fn from_str(text: &str) -> Result<Self, BadRate> {
        let bad = || BadRate { found: text.to_owned() };
        let unit_at = text.find(|c: char| c.is_alphabetic()).ok_or_else(bad)?;
        let (number, unit) = text.split_at(unit_at);
        let (_, scale) = UNITS.iter().find(|(name, _)| *name == unit.trim()).ok_or_else(bad)?;
        let number: f64 = number.trim().parse().map_err(|_| bad())?;
        Self::from_bits_per_second(number * scale).ok_or_else(bad)
    }
}

impl TryFrom<String> for Rate {
    type Error = BadRate;
    fn try_from(text: String) -> Result<Self, BadRate> {
        text.parse()
    }
}

impl From<Rate> for String {
    fn from(rate: Rate) -> Self {
        rate.to_string()
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A unit is suitable if it is no larger than the rate, and if the text with this unit is read back as exactly this
        // rate. Of Gbit/s, Mbit/s and kbit/s, the largest suitable unit is used. If none of them is suitable, bit/s is
        // used: every rate in bit/s is read back exactly.
        let fits = UNITS[..3].iter().filter(|(_, scale)| self.0 >= *scale);
        let mut written = fits.map(|(unit, scale)| format!("{}{unit}", self.0 / scale));
        match written.find(|text| text.parse() == Ok(*self)) {
            Some(text) => f.write_str(&text),
            None => write!(f, "{}bit/s", self.0),
        }
    }
}

impl JsonSchema for Rate {
    fn schema_name() -> Cow<'static, str> {
        "Rate".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "a rate with its unit, as in \"10Mbit/s\"" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_read_and_print_units() {
        let rate: Rate = "10Mbit/s".parse().unwrap();
        assert_eq!(rate.time_for(1_250_000), Span::from_millis(1000));
        assert_eq!(rate.to_string(), "10Mbit/s");
        assert_eq!("250 kB/s".parse::<Rate>().unwrap().to_string(), "2Mbit/s");
        let bits = [
            1000.7,
            1001.4,
            1_000_600.0,
            9.0e-7,
            0.1,
            1.1e3,
            3.3e3,
            1e6 / 3.0,
            2.2e7,
            1e7 / 7.0,
            123_456_789.123,
            7e9 / 9.0 * 10.0,
            f64::MAX,
        ];
        for rate in bits.map(|bits| Rate::from_bits_per_second(bits).unwrap()) {
            assert_eq!(rate.to_string().parse(), Ok(rate), "{rate}");
        }
        for bad in ["10", "Mbit/s", "-1Mbit/s", "0bit/s", "1Mb", "NaNbit/s", "infMbit/s"] {
            assert!(bad.parse::<Rate>().unwrap_err().to_string().contains("10Mbit/s"), "{bad}");
        }
    }
}
