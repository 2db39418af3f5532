//! Memory of many parties: a star of the scenario's network, one broadcast and one reply each, by a counting allocator.

use crate::ALONE;
use crate::star::star;
use std::sync::PoisonError;

/// A million take a minute; what they need in memory is told by a hundred thousand. `--ignored` plays the million.
#[test]
fn a_hundred_thousand_parties_need_a_tenth_of_two_gibibytes() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (idle, most) = star(100_000);
    println!("100,000 parties: {idle} bytes per idle party, {} MiB at most", most >> 20);
    assert!(idle < 1100, "{idle} bytes per idle party");
    assert!(most < (2 << 30) / 10, "{most} bytes");
}

#[test]
#[ignore = "a minute in the dev profile: cargo test --release --test memory -- --ignored --nocapture"]
fn a_million_parties_fit_into_two_gibibytes() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (idle, most) = star(1_000_000);
    println!("1,000,000 parties: {idle} bytes per idle party, {} MiB at most", most >> 20);
    assert!(most < 2 << 30, "{most} bytes");
}
