//! One macro for the enums of a protocol: its messages, its timers and its own facts, each with its digest.
//!
//! ```text
//! vocabulary! {
//!     /// What is said.
//!     pub enum Message {
//!         /// Measure this row in this round.
//!         Query { round: u64, row: u64 } = 2,
//!         /// What went out; no setting counts as the largest number.
//!         Published { setting: Option<u64> => or_max } = 3,
//!     }
//! }
//! ```
//! writes the enum, its [`crate::kernel::Digestible`] (the variant's number, then its fields in order, each as its type has it or
//! as the function behind `=>` does) and `label`, the variant's name. Numbers are part of every digest: a
//! number that was used once is never used for another variant.

use crate::kernel::{Digest, Digestible};
use crate::privacy::Released;

macro_rules! vocabulary {
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
                        $($($crate::protocols::stage::vocabulary::absorb!(digest, $field $(, $how)?);)+)?
                        $($crate::protocols::stage::vocabulary::absorb!(digest, $slot);)?
                    })+
                }
            }
        }

        impl $name {
            /// The name of the kind, as traces show it.
            #[must_use]
            $vis fn label(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => stringify!($variant),)+
                }
            }
        }
    };
}

macro_rules! absorb {
    ($digest:ident, $field:ident) => {
        $crate::kernel::Digestible::digest($field, $digest)
    };
    ($digest:ident, $field:ident, $how:path) => {
        $how($field, $digest)
    };
}

pub(in crate::protocols) use {absorb, vocabulary};

/// What was released has the digest of its value.
impl<T: Digestible> Digestible for Released<T> {
    fn digest(&self, digest: &mut Digest) {
        self.get().digest(digest);
    }
}

/// The value; nothing if it is absent. Only for the last field of a variant.
pub(in crate::protocols) fn if_any<T: Digestible>(value: &Option<T>, digest: &mut Digest) {
    if let Some(value) = value {
        value.digest(digest);
    }
}

/// The value; the largest number if it is absent.
pub(in crate::protocols) fn or_max<T: Digestible>(value: &Option<T>, digest: &mut Digest) {
    match value {
        Some(value) => value.digest(digest),
        None => digest.word(u64::MAX),
    }
}

/// The values without their number, which is the same for all messages of the kind.
pub(in crate::protocols) fn each<T: Digestible>(values: &[T], digest: &mut Digest) {
    values.iter().for_each(|value| value.digest(digest));
}
