//! A latency model of one's own: Frechet delays. A scenario could name it after one more line in
//! `src/network/latency/mod.rs`. `cargo run --example own_latency`

use std::error::Error;
use subrosa::prelude::*;

/// A Frechet delay: at most t with probability exp(-(t / scale)^-shape). The longest of many delays with a heavy tail.
#[derive(Clone, Debug)]
struct Frechet {
    /// The delay that 37 % of messages stay below.
    scale: Span,
    /// The tail's exponent, above 1 so that there is a mean.
    shape: Positive,
}

impl Latency for Frechet {
    fn quantile(&self, u: f64) -> Span {
        Span::from_seconds(self.scale.seconds() * libm::pow(-libm::log(u), -1.0 / self.shape.get()))
    }

    fn mean_seconds(&self) -> f64 {
        self.scale.seconds() * libm::tgamma(1.0 - 1.0 / self.shape.get())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let law = Frechet { scale: Span::from_millis(40), shape: Positive::new(3.0)? };
    // One draw per message, so message k of a link has the same draw under every law.
    let mut stream = Key::root(1).child("network").child("link").stream();
    let drawn: f64 = (0..100_000).map(|_| law.quantile(stream.open_uniform()).seconds()).sum();
    println!("mean {:.2} ms, of 100,000 draws {:.2} ms", law.mean_seconds() * 1e3, drawn / 100.0);
    println!("median {}, 99 % within {}", law.quantile(0.5), law.quantile(0.99));
    Ok(())
}
