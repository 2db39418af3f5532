//! A mechanism of one's own: randomised response over k answers. Two thousand people tell twice which of five wards
//! they were in, and every accountant computes one person's privacy loss. `cargo run --example own_mechanism`

use std::error::Error;
use subrosa::prelude::*;

/// The true answer with probability e^epsilon / (e^epsilon + k - 1), else one of the others (Kairouz et al. 2016).
#[derive(Debug)]
struct RandomizedChoice(Epsilon, u64);

impl Mechanism for RandomizedChoice {
    type Input = u64;
    type Output = u64;

    fn price(&self, _: &u64, _: &Neighbours) -> Result<Price, MechanismError> {
        Ok(Price {
            mechanism: "randomised choice",
            sampler: Sampler::Full,
            sensitivity: None,
            cost: Cost::PureDp { epsilon: self.0.get() },
            claim: None,
            basis: Basis::Proven,
            arithmetic: Arithmetic::Ideal,
        })
    }

    fn privatise(&self, answer: &u64, stream: &mut Stream) -> Result<u64, MechanismError> {
        let weight = libm::exp(self.0.get());
        let truth = stream.bernoulli(weight / (weight + (self.1 - 1) as f64));
        let other = 1 + stream.below(self.1 - 1);
        Ok(if truth { *answer } else { (answer + other) % self.1 })
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let (mechanism, mut ledger, mut counts) =
        (RandomizedChoice(Epsilon::new(1.0)?, 5), Ledger::new(), [0; 5]);
    for (person, week) in (0..2000).flat_map(|person| [(person, 0), (person, 1)]) {
        let ward = Sensitive::new(person % 3); // nobody was in wards 3 and 4
        let occasion = Occasion {
            released: "ward".to_owned(),
            protected: "patients".to_owned(),
            unit: ProtectedUnit::User,
            unit_index: Some(person),
            neighbours: Neighbours::AnyValue,
            observer: Observer("registry".to_owned()),
            round: week,
            at: Time::ZERO,
            conditions: Vec::new(),
        };
        let mut stream = Key::root(3).child("patients").index(person).index(week).stream();
        counts[*release(&mut ledger, occasion, &mechanism, &ward, &mut stream)?.get() as usize] += 1;
    }
    println!("answers by ward: {counts:?}");
    let mine = Composition::of_events(ledger.events().iter().filter(|event| event.unit_index == Some(17)));
    for accountant in accounting::all() {
        println!("{}: epsilon {:.4}", accountant.name(), accountant.price(&mine, Delta::new(1e-5)?).epsilon);
    }
    Ok(())
}
