//! Sizes of messages: headers, and the bytes of their fields.

use crate::privacy::Released;

/// Headers of one message: 40 bytes of IPv4 and TCP.
pub const HEADER_BYTES: u64 = 40;

/// The size of a field of a message on the wire, in bytes; [`crate::messages!`] adds these sizes up.
pub trait WireSize {
    /// Size in bytes, without headers.
    fn wire_size(&self) -> u64;
}

macro_rules! sizes {
    ($($number:ty),+) => {
        $(impl WireSize for $number {
            fn wire_size(&self) -> u64 {
                size_of::<$number>() as u64
            }
        })+
    };
}

sizes!(u8, u16, u32, u64, i8, i16, i32, i64, f32, f64, bool);

impl<T: WireSize> WireSize for Released<T> {
    fn wire_size(&self) -> u64 {
        self.get().wire_size()
    }
}

/// One byte says whether there is a value.
impl<T: WireSize> WireSize for Option<T> {
    fn wire_size(&self) -> u64 {
        1 + self.as_ref().map_or(0, WireSize::wire_size)
    }
}

/// Eight bytes say how many values there are.
impl<T: WireSize> WireSize for Vec<T> {
    fn wire_size(&self) -> u64 {
        8 + self.iter().map(WireSize::wire_size).sum::<u64>()
    }
}
