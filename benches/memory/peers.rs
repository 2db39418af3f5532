//! Idle parties on other engines.

use crate::counting;
use nexosim::model::Model;
use nexosim::simulation::{Mailbox, SimInit};
use nexosim::time::MonotonicTime;
use std::cell::RefCell;
use std::rc::Rc;

struct Handler {
    _context: simcore::SimulationContext,
}

impl simcore::EventHandler for Handler {
    fn on(&mut self, _: simcore::Event) {}
}

/// Bytes per party of `simcore`.
pub fn simcore(parties: u32) -> usize {
    let before = counting::now();
    let mut simulation = simcore::Simulation::new(1);
    for party in 0..parties {
        let name = format!("agent-{party}");
        let handler = Handler { _context: simulation.create_context(&name) };
        simulation.add_handler(name, Rc::new(RefCell::new(handler)));
    }
    (counting::now() - before) / parties as usize
}

#[derive(serde::Serialize, serde::Deserialize)]
struct Idle;

#[Model]
impl Idle {}

/// Bytes per party of `nexosim`.
pub fn nexosim(parties: u32) -> usize {
    let before = counting::now();
    let mut bench = SimInit::with_num_threads(1);
    for party in 0..parties {
        bench = bench.add_model(Idle, Mailbox::new(), &format!("agent-{party}"));
    }
    let simulation = bench.init(MonotonicTime::EPOCH).expect("the models start");
    let bytes = counting::now() - before;
    drop(simulation);
    bytes / parties as usize
}
