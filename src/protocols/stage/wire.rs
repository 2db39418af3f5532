//! Size of the headers of a message.

/// Headers of one message: 40 bytes of IPv4 and TCP.
pub(in crate::protocols) const HEADER_BYTES: u64 = 40;
