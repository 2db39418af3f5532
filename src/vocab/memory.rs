//! An amount of memory, written with its unit: 500MB, 8GiB.

use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// An amount of memory in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Memory(pub u64);

/// A text that does not state an amount of memory.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("expected an amount of memory such as 500MB or 8GiB, found {found:?}")]
pub struct BadMemory {
    found: String,
}

/// Each unit, with its number of bytes: powers of 1,000 and of 1,024.
const UNITS: [(&str, f64); 7] = [
    ("", 1.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("TiB", 1_099_511_627_776.0),
];

impl Memory {
    /// This many bytes, rounded down to a whole number; 0 for negative numbers.
    #[must_use]
    pub fn of(bytes: f64) -> Self {
        Self(bytes.max(0.0) as u64)
    }
}

impl FromStr for Memory {
    type Err = BadMemory;

    fn from_str(text: &str) -> Result<Self, BadMemory> {
        let bad = || BadMemory { found: text.to_owned() };
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, unit) = text.split_at(end);
        let number: f64 = number.parse().map_err(|_| bad())?;
        let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit.trim()).ok_or_else(bad)?;
        let bytes = number * factor;
        // Above 2^53, not every whole number is a float.
        if (1.0..9e15).contains(&bytes) { Ok(Self(bytes as u64)) } else { Err(bad()) }
    }
}

impl fmt::Display for Memory {
    /// The amount in MiB or GiB, rounded. Amounts below 10 MiB, and those from 1 to 10 GiB, have one decimal place.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mebibytes = self.0 as f64 / 1_048_576.0;
        match mebibytes {
            small if small < 10.0 => write!(f, "{small:.1} MiB"),
            middle if middle < 1024.0 => write!(f, "{middle:.0} MiB"),
            large if large < 10_240.0 => write!(f, "{:.1} GiB", large / 1024.0),
            huge => write!(f, "{:.0} GiB", huge / 1024.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_with_their_units_and_nothing_else_is() {
        let read = |text: &str| text.parse::<Memory>().ok().map(|memory| memory.0);
        assert_eq!(read("500MB"), Some(500_000_000));
        assert_eq!(read("1.5GiB"), Some(3 << 29));
        assert_eq!(read("4096"), Some(4096));
        for bad in ["", "GiB", "-1GB", "1 apple", "0", "1e400", "99999999TiB", "1.2.3MB"] {
            assert_eq!(read(bad), None, "{bad}");
        }
        assert_eq!(
            [Memory(3 << 29), Memory(5 << 19)].map(|memory| memory.to_string()),
            ["1.5 GiB", "2.5 MiB"]
        );
    }
}
