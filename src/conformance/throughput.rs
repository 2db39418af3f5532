//! Conformance test of throughput models.

use super::{Violation, Violations, key};
use crate::network::throughput::{LineOwner, Throughput};
use crate::vocab::{Span, Time};

/// Sizes of messages, in bytes.
const SIZES: [u64; 5] = [0, 1, 100, 10_000, 1_000_000];

/// Checks the rules of throughputs, at 200 times of the first day:
///
/// * The same stream and owner give the same curve.
/// * A rate is finite and not below 0.
/// * Sending a message does not end before it begins.
/// * If the sending of two messages begins at the same time, the sending of the larger message does not end earlier.
/// * If the sending of one message begins later than the sending of another message of the same size, the later sending
///   does not end earlier.
#[must_use]
pub fn throughput(model: &dyn Throughput) -> Vec<Violation> {
    let mut found = Violations::default();
    for (number, slowness) in [0.05, 0.5, 0.95].into_iter().enumerate() {
        let owner = LineOwner { slowness, number: number as u64 };
        let stream = || key("throughput").index(number as u64).stream();
        let curve = model.curve(owner, stream());
        found.require(model.curve(owner, stream()) == curve, "the same curve for the same stream", || {
            format!("another for line {number}")
        });
        let mut before = [Time::ZERO; SIZES.len()];
        for step in 0..200 {
            let at = Time::ZERO + Span::from_seconds(432.1 * f64::from(step));
            let rate = curve.bits_per_second(at);
            found.require(rate.is_finite() && rate >= 0.0, "rates that are finite and not below 0", || {
                format!("{rate} bit/s at {} s", at.seconds())
            });
            let sent = SIZES.map(|bytes| curve.sent(at, bytes));
            let seconds = |ends: &[Time; SIZES.len()]| ends.map(|end| end.seconds());
            let said = || {
                format!(
                    "messages of {SIZES:?} bytes that begin at {} s end at {:?} s; messages that begin 432.1 s earlier end at {:?} s",
                    at.seconds(),
                    seconds(&sent),
                    seconds(&before)
                )
            };
            found.require(
                sent.iter().all(|&sent| sent >= at),
                "messages that do not end before they begin",
                said,
            );
            found.require(sent.is_sorted(), "larger messages that end no earlier", said);
            let earlier = sent.iter().zip(&before).all(|(sent, before)| sent >= before);
            found.require(earlier, "messages that begin later and end no earlier", said);
            before = sent;
        }
    }
    found.0
}
