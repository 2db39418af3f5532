//! Relations that every privacy loss must keep, whatever its value: less noise never costs less, nor do more releases, nor
//! a smaller delta. Over costs drawn from a fixed seed, for every accountant that certifies.

use std::collections::BTreeMap;
use std::path::Path;
use subrosa::accounting::Statement;
use subrosa::rng::{Key, Stream};
use subrosa::scenario::Document;

/// Bounds are computed on grids: two of them may be the wrong way round by that much.
const SLACK: f64 = 1e-6;

/// The epsilon of each accountant that certifies.
fn losses(events: &str, delta: f64) -> BTreeMap<String, f64> {
    let text = format!("Account(delta: {delta:e}, events: [{events}])");
    let document = Document::from_text(Path::new("relations.ron"), text.clone());
    let account = document.account().unwrap_or_else(|error| panic!("{error}\n{text}"));
    let statement =
        Statement::of_costs(account.events.iter().map(|event| event.cost()).collect(), account.delta);
    let document: serde_json::Value =
        serde_json::from_str(&subrosa::report::json(&subrosa::report::account_document(&statement))).unwrap();
    let accountants = document["accountants"].as_object().unwrap();
    // An accountant that is no bound keeps no relation.
    let certifying = accountants.iter().filter(|(_, figures)| figures["standing"] != "not a bound");
    certifying.filter_map(|(name, figures)| Some((name.clone(), figures["epsilon"].as_f64()?))).collect()
}

/// An event with a given share of its noise, `times` in a row.
fn event(kind: u64, size: f64, share: f64, times: u64) -> String {
    match kind {
        0 => format!("Gaussian(noise_multiplier: {}, count: {times})", size * share),
        1 => format!("Laplace(scale: {}, count: {times})", size * share),
        2 => format!("PoissonGaussian(rate: 0.1, noise_multiplier: {}, count: {times})", size * share),
        3 => format!("ExponentialMechanism(epsilon: {}, count: {times})", 0.2 / (size * share)),
        _ => format!("RandomizedResponse(epsilon: {}, count: {times})", 0.5 / (size * share)),
    }
}

struct Costs {
    kinds: Vec<(u64, f64, u64)>,
    delta: f64,
}

impl Costs {
    fn drawn(stream: &mut Stream) -> Self {
        let kinds = (0..=stream.below(2))
            .map(|_| (stream.below(5), 0.6 + 3.0 * stream.uniform(), 1 + stream.below(12)));
        let kinds = kinds.collect();
        Self { kinds, delta: libm::pow(10.0, -2.0 - 5.0 * stream.uniform()) }
    }

    fn losses(&self, share: f64, times: u64, delta: f64) -> BTreeMap<String, f64> {
        let events: Vec<String> =
            self.kinds.iter().map(|&(kind, size, count)| event(kind, size, share, times * count)).collect();
        losses(&events.join(", "), delta)
    }
}

#[track_caller]
fn no_less(before: &BTreeMap<String, f64>, after: &BTreeMap<String, f64>, what: &str, costs: &Costs) {
    let mut compared = 0;
    for (name, epsilon) in before {
        let Some(other) = after.get(name) else { continue };
        compared += 1;
        assert!(
            *other >= epsilon * (1.0 - SLACK),
            "{name}: {epsilon} falls to {other} with {what}: {:?}, delta {}",
            costs.kinds,
            costs.delta
        );
    }
    assert!(compared >= 3, "{before:?} {after:?}");
}

#[test]
fn losses_rise_with_less_noise_more_releases_and_smaller_delta() {
    let cases =
        std::env::var("SUBROSA_RELATIONS").ok().map_or(25, |text| text.parse().expect("a whole number"));
    for case in 0..cases {
        let mut stream = Key::root(24).child("relations").index(case).stream();
        let costs = Costs::drawn(&mut stream);
        let plain = costs.losses(1.0, 1, costs.delta);
        no_less(&plain, &costs.losses(0.9, 1, costs.delta), "less noise", &costs);
        no_less(&plain, &costs.losses(1.0, 2, costs.delta), "more releases", &costs);
        no_less(&plain, &costs.losses(1.0, 1, costs.delta / 2.0), "a smaller delta", &costs);
    }
}
