//! An objective of one's own: Forrester's function, searched by a modeler that receives inputs and outcomes without
//! protection, on a network that loses messages. `cargo run --example own_objective`

use std::error::Error;
use std::sync::Arc;
use subrosa::prelude::*;
use subrosa::protocols::outsourced::{Disclosed, InputRelease, OutcomeRelease, Outsourced, SeriesRecipe};

/// -(6x - 2)^2 sin(12x - 4) on equidistant points of [0, 1] (Forrester, Sobester and Keane 2008, appendix).
#[derive(Debug)]
struct Forrester {
    points: usize,
}

impl Prepared for Forrester {
    fn realise(&self, _: Key) -> Result<Instance, ObjectiveError> {
        let inputs: Vec<f64> = (0..self.points).map(|i| i as f64 / (self.points - 1) as f64).collect();
        let values = inputs.iter().map(|x| -(6.0 * x - 2.0).powi(2) * libm::sin(12.0 * x - 4.0)).collect();
        Ok(Instance {
            inputs: Arc::new(Points::new(self.points, 1, inputs)),
            values: Arc::new(values),
            noise: Noise::gaussian(0.1),
            surrogate: Surrogate {
                covariance: Covariance::squared_exponential(0.15, 25.0),
                noise_variance: 0.01,
                mean: 0.0,
            },
            background: ProblemFacts::default(),
        })
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let key = Key::root(7);
    let link = Link { loss: Independent(Probability::new(0.1)?).into(), ..Link::default() };
    let mut stage = ReplicationSetup::new(["hospital", "lab"], Network::new(Mesh {}.into(), link));
    stage.instance = Some(Forrester { points: 100 }.realise(key.child("objective"))?);
    let series = SeriesRecipe {
        name: "GP-UCB".to_owned(),
        release: InputRelease::from(Disclosed {}),
        outcomes: OutcomeRelease::default(),
        learner: GpUcb::default().into(),
    };
    let protocol = Outsourced {
        curator: "hospital".to_owned(),
        modeler: "lab".to_owned(),
        rounds: 25,
        initial_points: 1,
        queries_at_once: std::num::NonZeroU64::MIN,
        retry: Retry::default(),
        silence: None,
        series: vec![series],
    };
    for record in protocol.play(&stage, key)? {
        let last = record.iterations.last().ok_or("nothing was measured")?;
        println!("{}: simple regret {:.4} after {} rounds", record.name, last.simple_regret, last.t);
        println!("{} messages, {} lost", record.messages, record.messages_lost);
    }
    Ok(())
}
