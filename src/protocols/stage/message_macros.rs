//! Macros for the enums of a protocol: [`vocabulary!`](crate::vocabulary) declares messages, timers or facts, with
//! their digest and label; [`messages!`](crate::messages) declares messages that also have a size and a round.
//!
//! ```text
//! vocabulary! {
//!     /// The messages.
//!     pub enum Message {
//!         /// Measure this row in this round.
//!         Query { round: u64, row: u64 } = 2,
//!         /// The published setting; `None` is digested as `u64::MAX`.
//!         Published { setting: Option<u64> => or_max } = 3,
//!     }
//! }
//! ```
//! expands to the enum, its implementation of [`crate::kernel::Digestible`], the constant `NUMBERS` with the numbers of all
//! variants, and `label`, which returns the variant's name. The digest of a value has the variant's number, and then the
//! variant's fields in order. Each field enters the digest by the implementation of the field's type, or by the function
//! after `=>`. Since the numbers are part of every digest, a number that was used once must not be used for another
//! variant.

use crate::kernel::{Digest, Digestible};
use crate::privacy::Released;

/// Declares an enum of messages, timers or facts with its digest; the documentation of the module
/// `protocols::stage::message_macros` has an example.
#[macro_export]
macro_rules! vocabulary {
    (@absorb $digest:ident, $field:ident) => {
        $crate::kernel::Digestible::digest($field, $digest)
    };
    (@absorb $digest:ident, $field:ident, $how:path) => {
        $how($field, $digest)
    };
    ($(#[$meta:meta])* $vis:vis enum $name:ident {
        $(
            $(#[$of_variant:meta])*
            $variant:ident
            $({ $($(#[$of_field:meta])* $field:ident: $type:ty $(=> $how:path)?),+ $(,)? })?
            $(($slot:ident: $inner:ty))?
            = $number:literal
        ),+ $(,)?
    }) => {
        $(#[$meta])*
        #[derive(Clone, Debug)]
        $vis enum $name {
            $(
                $(#[$of_variant])*
                $variant $({ $($(#[$of_field])* $field: $type),+ })? $(($inner))?,
            )+
        }

        impl $crate::kernel::Digestible for $name {
            fn digest(&self, digest: &mut $crate::kernel::Digest) {
                match self {
                    $(Self::$variant $({ $($field),+ })? $(($slot))? => {
                        digest.word($number);
                        $($($crate::vocabulary!(@absorb digest, $field $(, $how)?);)+)?
                        $($crate::vocabulary!(@absorb digest, $slot);)?
                    })+
                }
            }
        }

        impl $name {
            /// For each variant, the number that stands for it in a digest.
            #[allow(dead_code, reason = "only those of facts are compared")]
            $vis const NUMBERS: &'static [u64] = &[$($number),+];

            /// The name of the variant, as traces show it.
            #[must_use]
            $vis fn label(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => stringify!($variant),)+
                }
            }
        }
    };
}

/// Declares an enum of messages as [`vocabulary!`](crate::vocabulary) does, and implements what a message needs besides
/// its digest: its size (40 bytes of headers, and the [size](crate::protocols::WireSize) of each field), its label, and
/// its round, which is the field `round` if the variant has one.
///
/// ```
/// use subrosa::kernel::Payload;
/// use subrosa::protocols::RoundMessage;
///
/// subrosa::messages! {
///     /// The messages.
///     pub enum Message {
///         /// Measure this arm.
///         Measure { round: u64, arm: u64 } = 0,
///         /// No more measurements are needed.
///         Done = 1,
///     }
/// }
///
/// let question = Message::Measure { round: 3, arm: 7 };
/// assert_eq!((question.wire_bytes(), Payload::label(&question), question.round()), (56, "Measure", Some(3)));
/// assert_eq!((Message::Done.wire_bytes(), Message::Done.round()), (40, None));
/// ```
#[macro_export]
macro_rules! messages {
    (@round $found:ident, $field:ident, round) => {
        Some(*$field)
    };
    (@round $found:ident, $field:ident, $other:ident) => {{
        let _ = $field;
        $found
    }};
    ($(#[$meta:meta])* $vis:vis enum $name:ident {
        $(
            $(#[$of_variant:meta])*
            $variant:ident $({ $($(#[$of_field:meta])* $field:ident: $type:ty),+ $(,)? })?
            = $number:literal
        ),+ $(,)?
    }) => {
        $crate::vocabulary! {
            $(#[$meta])*
            $vis enum $name {
                $($(#[$of_variant])* $variant $({ $($(#[$of_field])* $field: $type),+ })? = $number,)+
            }
        }

        impl $crate::kernel::Payload for $name {
            fn wire_bytes(&self) -> u64 {
                match self {
                    $(Self::$variant $({ $($field),+ })? => {
                        $crate::protocols::HEADER_BYTES $($(+ $crate::protocols::WireSize::wire_size($field))+)?
                    })+
                }
            }

            fn label(&self) -> &'static str {
                Self::label(self)
            }
        }

        impl $crate::protocols::RoundMessage for $name {
            fn round(&self) -> Option<u64> {
                match self {
                    $(Self::$variant $({ $($field),+ })? => {
                        let found: Option<u64> = None;
                        $($(let found = $crate::messages!(@round found, $field, $field);)+)?
                        found
                    })+
                }
            }
        }
    };
}

pub(in crate::protocols) use crate::vocabulary;

/// A released value has the same digest as the value itself.
impl<T: Digestible> Digestible for Released<T> {
    fn digest(&self, digest: &mut Digest) {
        self.get().digest(digest);
    }
}

/// Adds the value to the digest, or nothing if the value is absent. This function is meant for the last field of a variant.
/// If other fields follow, or if several fields of a variant use this function, the digest does not say which fields are
/// present.
pub(in crate::protocols) fn if_any<T: Digestible>(value: &Option<T>, digest: &mut Digest) {
    if let Some(value) = value {
        value.digest(digest);
    }
}

/// Adds nothing to the digest: for a field whose value follows from what the digest already contains. For example, which
/// agents are heard follows from the messages received, and a value without noise follows from the point of the box.
pub(in crate::protocols) fn nothing<T>(_: &T, _: &mut Digest) {}

/// Adds the value to the digest, or `u64::MAX` if it is absent.
pub(in crate::protocols) fn or_max<T: Digestible>(value: &Option<T>, digest: &mut Digest) {
    match value {
        Some(value) => value.digest(digest),
        None => digest.word(u64::MAX),
    }
}

/// Adds the values to the digest without their count. If the count differs between messages of a variant, the digest
/// does not determine where the values end.
pub(in crate::protocols) fn each<T: Digestible>(values: &[T], digest: &mut Digest) {
    values.iter().for_each(|value| value.digest(digest));
}
