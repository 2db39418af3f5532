//! A latency of one's own: Frechet delays, on the links of a network. `cargo run --example own_latency` simulates calls
//! over them; with arguments it is the command line of subrosa, whose scenarios may say `Frechet(scale: "40ms", shape: 3)`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::process::ExitCode;
use subrosa::prelude::*;
use subrosa::{Catalogue, conformance, protocols::echo::Echo};

/// A Frechet delay: at most t with probability exp(-(t / scale)^-shape). The longest of many delays with a heavy tail has
/// approximately this distribution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Frechet {
    /// The delay that 37 % of messages stay below.
    scale: Span,
    /// The tail's exponent, above 1, because there is no mean otherwise.
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

fn main() -> Result<ExitCode, Box<dyn Error>> {
    if std::env::args().len() > 1 {
        return Ok(Catalogue::standard().latency::<Frechet>("Frechet").main());
    }
    let law = Frechet { scale: Span::from_millis(40), shape: Positive::new(3.0)? };
    assert_eq!(conformance::latency(&law), []);
    println!("mean {:.2} ms, median {}", law.mean_seconds() * 1e3, law.quantile(0.5));
    let link = Link { latency: law.into(), ..Link::default() };
    let stage = ReplicationSetup::new(["caller", "echo"], Network::new(Mesh {}.into(), link));
    let calls = Echo { caller: "caller".to_owned(), rounds: 100, retry: Retry::default() };
    for record in calls.play(&stage, Key::root(1))? {
        println!("{}: {} messages, {} lost", record.name, record.messages, record.messages_lost);
    }
    Ok(ExitCode::SUCCESS)
}
