//! What every message costs on the wire before it says anything.

/// Headers of one message: 40 bytes of IPv4 and TCP.
pub(in crate::protocols) const HEADER_BYTES: u64 = 40;
