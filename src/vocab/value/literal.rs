//! Converts numbers, as they are written in a text, to the requested type.

use super::error::Fault;
use super::node::Number;

/// The suffixes by which a whole number may name its type.
const WHOLE: [&str; 10] = ["i8", "i16", "i32", "i64", "i128", "u8", "u16", "u32", "u64", "u128"];

/// A number of one of the types that [`Number::any`] chooses from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Any {
    Unsigned(u64),
    Signed(i64),
    Float(f64),
}

impl Number {
    /// The number as a whole number of the type `kind`, whose smallest and largest values are `least` and `most`.
    pub(super) fn whole(&self, kind: &str, least: i128, most: i128) -> Result<i128, Fault> {
        let value = match self {
            Self::Unsigned(value) => i128::from(*value),
            Self::Signed(value) => i128::from(*value),
            Self::Float(_) => return Err(Fault::NotWhole),
            Self::Written(text) => {
                let (digits, suffix) = suffix_of(text);
                if let Some(suffix) = suffix.filter(|suffix| *suffix != kind) {
                    let expected = format!("a number of the type {kind}");
                    return Err(Fault::Unfit { expected, found: format!("one of the type {suffix}") });
                }
                whole(digits).map_err(|fault| match fault {
                    Fault::OutsideRange { .. } => Fault::OutsideRange { least, most },
                    other => other,
                })?
            }
        };
        if (least..=most).contains(&value) { Ok(value) } else { Err(Fault::OutsideRange { least, most }) }
    }

    /// The number as an `f64`, with or without a decimal point.
    pub(super) fn float(&self) -> Result<f64, Fault> {
        match self {
            Self::Unsigned(value) => Ok(*value as f64),
            Self::Signed(value) => Ok(*value as f64),
            Self::Float(value) => Ok(*value),
            Self::Written(text) => {
                let digits = text.strip_suffix("f64").unwrap_or(text);
                plain(digits)?.parse().map_err(|_| Fault::NoNumber)
            }
        }
    }

    /// The number as an `f32`.
    pub(super) fn short_float(&self) -> Result<f32, Fault> {
        match self {
            Self::Written(text) => {
                let digits = text.strip_suffix("f32").unwrap_or(text);
                plain(digits)?.parse().map_err(|_| Fault::NoNumber)
            }
            Self::Unsigned(_) | Self::Signed(_) | Self::Float(_) => Ok(self.float()? as f32),
        }
    }

    /// The number as the first of `u64`, `i64` and `f64` that fits. Whole numbers that need more than 64 bits become `f64`.
    /// Those that do not fit in an `i128` either are an error unless they are written in base ten without a suffix.
    pub(super) fn any(&self) -> Result<Any, Fault> {
        let text = match self {
            Self::Unsigned(value) => return Ok(Any::Unsigned(*value)),
            Self::Signed(value) => return Ok(Any::Signed(*value)),
            Self::Float(value) => return Ok(Any::Float(*value)),
            Self::Written(text) => text,
        };
        let value = match whole(suffix_of(text).0) {
            Ok(value) => value,
            Err(Fault::NotWhole | Fault::OutsideRange { .. }) => {
                let digits = without_float_suffix(text);
                return Ok(Any::Float(plain(digits)?.parse().map_err(|_| Fault::NoNumber)?));
            }
            Err(fault) => return Err(fault),
        };
        Ok(match (u64::try_from(value), i64::try_from(value)) {
            (Ok(value), _) => Any::Unsigned(value),
            (_, Ok(value)) => Any::Signed(value),
            _ => Any::Float(value as f64),
        })
    }
}

impl Number {
    /// The number as JSON writes it; `None` if it is not finite, or if its text cannot be read.
    #[must_use]
    pub fn json(&self) -> Option<serde_json::Number> {
        match self.any().ok()? {
            Any::Unsigned(value) => Some(value.into()),
            Any::Signed(value) => Some(value.into()),
            Any::Float(value) => serde_json::Number::from_f64(value),
        }
    }
}

/// Splits a whole number into its digits and the suffix that names its type, if there is one.
fn suffix_of(text: &str) -> (&str, Option<&'static str>) {
    let found = WHOLE.into_iter().find_map(|suffix| Some((text.strip_suffix(suffix)?, suffix)));
    found.map_or((text, None), |(digits, suffix)| (digits, Some(suffix)))
}

fn without_float_suffix(text: &str) -> &str {
    text.strip_suffix("f64").or_else(|| text.strip_suffix("f32")).unwrap_or(text)
}

/// The error of a whole number that does not fit in an `i128`.
const BEYOND: Fault = Fault::OutsideRange { least: i128::MIN, most: i128::MAX };

fn whole(text: &str) -> Result<i128, Fault> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (digits, base) = [("0x", 16), ("0o", 8), ("0b", 2)]
        .into_iter()
        .find_map(|(prefix, base)| Some((unsigned.strip_prefix(prefix)?, base)))
        .unwrap_or((unsigned, 10));
    let exact = digits.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'_');
    if base == 10 && digits.bytes().any(|byte| !byte.is_ascii_digit() && byte != b'_') {
        // A float (with a point or an exponent, `inf` or `NaN`) is a number but not whole; anything else is not a number.
        let float = plain(without_float_suffix(text))?;
        return Err(if float.parse::<f64>().is_ok() { Fault::NotWhole } else { Fault::NoNumber });
    }
    if !exact || digits.starts_with('_') {
        return Err(Fault::NoNumber);
    }
    let digits: String = digits.chars().filter(|&digit| digit != '_').collect();
    if digits.is_empty() {
        return Err(Fault::NoNumber);
    }
    let size = i128::from_str_radix(&digits, base).map_err(|_| {
        let fits = digits.chars().all(|digit| digit.is_digit(base));
        if fits { BEYOND } else { Fault::NoNumber }
    })?;
    Ok(if text.starts_with('-') { -size } else { size })
}

/// The text of a float with its underscores removed. An underscore before the first digit, or right after the point, is an
/// error.
fn plain(text: &str) -> Result<String, Fault> {
    let mut digits = String::with_capacity(text.len());
    let mut behind_digit = false;
    for letter in text.chars() {
        match letter {
            '_' if behind_digit => continue,
            '_' => return Err(Fault::NoNumber),
            '0'..='9' | 'e' | 'E' => behind_digit = true,
            '.' => behind_digit = false,
            _ => {}
        }
        digits.push(letter);
    }
    Ok(digits)
}

/// Writes the methods of a deserializer that read whole numbers, one for each type. They call the deserializer's methods
/// `whole` and `place`.
macro_rules! whole_numbers {
    ($($method:ident $visit:ident $kind:ident)+) => {
        $(fn $method<V: serde::de::Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
            let value = self.whole(stringify!($kind), i128::from($kind::MIN), i128::from($kind::MAX))?;
            let place = self.place();
            // `whole` has checked the range, so this cast does not truncate.
            visitor.$visit(value as $kind).map_err(|error: ReadError| error.within(place))
        })+
    };
    () => {
        whole_numbers! {
            deserialize_i8 visit_i8 i8
            deserialize_i16 visit_i16 i16
            deserialize_i32 visit_i32 i32
            deserialize_i64 visit_i64 i64
            deserialize_u8 visit_u8 u8
            deserialize_u16 visit_u16 u16
            deserialize_u32 visit_u32 u32
            deserialize_u64 visit_u64 u64
        }
    };
}
pub(super) use whole_numbers;

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> Number {
        Number::Written(text.to_owned())
    }

    #[test]
    fn whole_numbers_are_written_in_four_bases() {
        let byte = |text: &str| written(text).whole("u8", 0, 255);
        for (text, value) in [
            ("0", 0),
            ("-0", 0),
            ("+7", 7),
            ("2_5_5", 255),
            ("0xfF", 255),
            ("0o17", 15),
            ("0b1_01", 5),
            ("7u8", 7),
            ("0x1_u8", 1),
        ] {
            assert_eq!(byte(text), Ok(value), "{text}");
        }
        for text in ["256", "-1", "99999999999999999999999999999999999999999999"] {
            assert_eq!(byte(text), Err(Fault::OutsideRange { least: 0, most: 255 }), "{text}");
        }
        for text in ["1.0", "1e3", "NaN", "-inf"] {
            assert_eq!(byte(text), Err(Fault::NotWhole), "{text}");
        }
        for text in ["0x", "0x_1", "0b2", "0XFF", "", "_", "1._0"] {
            assert_eq!(byte(text), Err(Fault::NoNumber), "{text}");
        }
        assert!(matches!(byte("7u64"), Err(Fault::Unfit { .. })));
    }

    #[test]
    fn a_number_is_the_double_closest_to_its_digits() {
        for text in ["0.1", "1e-5", "123456789.123456789e-300", "9007199254740993", "-0.0", "+2.5"] {
            let same = |found: f64| found.to_bits() == text.parse::<f64>().unwrap().to_bits();
            assert!(same(written(text).float().unwrap()), "{text}");
        }
        assert_eq!(written("1_000.5").float(), Ok(1000.5));
        assert_eq!(written("2.5f64").float(), Ok(2.5));
        for text in ["0x10", "1._5", "2f32"] {
            assert_eq!(written(text).float(), Err(Fault::NoNumber), "{text}");
        }
        assert_eq!(written("1").any(), Ok(Any::Unsigned(1)));
        assert_eq!(written("-1").any(), Ok(Any::Signed(-1)));
        assert_eq!(written("1.0").any(), Ok(Any::Float(1.0)));
        assert_eq!(written("18446744073709551616").any(), Ok(Any::Float(18_446_744_073_709_551_616.0)));
    }
}
