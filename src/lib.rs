//! `subrosa`: a discrete-event simulator of privacy-preserving Bayesian optimisation.
//!
//! A run answers three questions together: how good is the result (regret), what did it cost (virtual time, messages,
//! lost messages), and who learned what about whom (the privacy ledger). Version, scenario and seed determine the answers.
//!
//! # 1. Run a scenario
//!
//! A scenario names parties, the network between them, an objective, a protocol, and the series to compare:
//!
//! ```text
#![doc = include_str!("tour.ron")]
//! ```
//!
//! `subrosa run tour.ron` runs it on the command line. The following program runs it too, and reads regret and privacy loss:
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/tour.ron"));
//! use subrosa::accounting::AccountantName;
//! let folder = tempfile::tempdir()?; // replications that this folder already holds are not run again
//! let summary = subrosa::study::simulate(text, &[], folder.path())?;
//! let cell = &summary.cells[0];
//! for series in &cell.series {
//!     let regret = series.metrics.simple_regret.ok_or("nothing was measured")?;
//!     println!("{}: simple regret {:.2} +- {:.2}", series.name, regret.mean, regret.se);
//! }
//! let tight = |series: &str| {
//!     let rows = cell.privacy.iter().filter(|row| row.series == series);
//!     let mut losses = rows.flat_map(|row| &row.losses); // one loss per accountant
//!     losses.find(|loss| loss.accountant == AccountantName::Tight).map_or(f64::NAN, |loss| loss.epsilon)
//! };
//! // The tight accountant bounds epsilon by 1 for "private"; "open" discloses rewards, so it has no finite bound.
//! assert!(tight("private") <= 1.0 && tight("open") == f64::INFINITY);
//! # Ok(())
//! # }
//! ```
//!
//! # 2. Add a network and dropouts, and compare
//!
//! Any value can be changed by its path, as with `-o` on the command line. For each purpose, random numbers are drawn from
//! a stream of their own. So the two runs of the following program have the same functions and the same noise, and all
//! differences are due to the network and to the users who never answer.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/tour.ron"));
//! # let (one, other) = (tempfile::tempdir()?, tempfile::tempdir()?);
//! use subrosa::study::simulate;
//! let before = simulate(text, &[], one.path())?;
//! let slow = r#"network.default=Link(latency: LogNormal(median: "60ms", sigma: 0.6), loss: Independent(0.05))"#;
//! let after = simulate(text, &[slow, "protocol.never_answer=Independent(0.3)"], other.path())?;
//! for (before, after) in before.cells[0].series.iter().zip(&after.cells[0].series) {
//!     let (before, after) = (&before.metrics, &after.metrics);
//!     let (fast, slow, lost) = (before.virtual_seconds, after.virtual_seconds, after.messages_lost);
//!     println!("{fast:.0} s -> {slow:.0} s, {lost} messages lost");
//!     assert!(slow > fast && lost > 0.0);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # 3. Add a latency of your own
//!
//! A family is a set of alternatives that a scenario chooses from, such as all latencies or all learners. Each member of a
//! family is an implementation of a trait. A [`Catalogue`] adds your own members to those of the library, and a scenario
//! names both in the same way. In the following program, some messages of the scenario take longer, as if they were lost
//! at first and sent a second time.
//!
//! ```standalone_crate
//! use schemars::JsonSchema;
//! use serde::{Deserialize, Serialize};
//! use subrosa::{Catalogue, network::latency::Latency, study::simulate, vocab::{Probability, Span}};
//!
//! /// A message takes `first`, and with probability `share` it is sent again and takes `again` longer.
//! #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
//! struct SentAgain {
//!     first: Span,
//!     again: Span,
//!     share: Probability,
//! }
//!
//! impl Latency for SentAgain {
//!     fn quantile(&self, u: f64) -> Span {
//!         if u < 1.0 - self.share.get() { self.first } else { self.first + self.again }
//!     }
//!     fn mean_seconds(&self) -> f64 {
//!         self.first.seconds() + self.share.get() * self.again.seconds()
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/tour.ron"));
//! # let folder = tempfile::tempdir()?;
//! Catalogue::standard().latency::<SentAgain>("SentAgain").install()?;
//! let own = r#"network.default=Link(latency: SentAgain(first: "40ms", again: "1s", share: 0.1))"#;
//! let summary = simulate(text, &[own], folder.path())?;
//! // 60 users get an arm and answer: 120 messages of 140 ms on average.
//! let seconds = summary.cells[0].series[0].metrics.virtual_seconds;
//! assert!((10.0..25.0).contains(&seconds), "{seconds}");
//! # Ok(())
//! # }
//! ```
//!
//! With `Catalogue::main` in place of `install`, the program has the whole command line of `subrosa`. `examples/` has a
//! latency, an objective, a mechanism, a party and a whole protocol; `docs/extending.md` explains these examples.
//!
//! # Without a scenario
//!
//! Kernel, ledger and accountants can also be used on their own. In the following program, users answer one question by
//! randomised response. The mechanism states its privacy cost, [`privacy::ledger::release()`] records this cost in the
//! ledger, the network may lose the answer, and the accountants compute the privacy loss.
//!
//! ```
//! use subrosa::prelude::*;
//!
//! /// The truth with probability e^epsilon / (1 + e^epsilon), else the opposite (Warner 1965).
//! #[derive(Debug)]
//! struct Coin(Epsilon);
//!
//! impl Mechanism for Coin {
//!     type Input = bool;
//!     type Output = bool;
//!     fn price(&self, _: &bool, _: &Neighbours) -> Result<Price, MechanismError> {
//!         let (cost, sampler) = (Cost::PureDp { epsilon: self.0.get() }, Sampler::Full);
//!         let (basis, arithmetic) = (Basis::Proven, Arithmetic::Ideal);
//!         Ok(Price { mechanism: "coin", sampler, sensitivity: None, cost, claim: None, basis, arithmetic })
//!     }
//!     fn privatise(&self, truth: &bool, stream: &mut Stream) -> Result<bool, MechanismError> {
//!         Ok(*truth == stream.bernoulli(1.0 / (1.0 + libm::exp(-self.0.get()))))
//!     }
//! }
//!
//! /// The types of messages, timers and recorded facts.
//! #[derive(Clone, Debug)]
//! struct Poll;
//! impl Protocol for Poll {
//!     type Message = f64;
//!     type Timer = ();
//!     type Fact = f64;
//! }
//! impl Rounds for Poll {}
//!
//! /// A user with an answer, or the service (`None`).
//! #[derive(Clone, Debug)]
//! struct Voter(Option<bool>);
//! impl Party<Poll> for Voter {
//!     fn handle(&mut self, input: Input<Poll>, ctx: &mut Context<'_, Poll>) {
//!         match (input, self.0) {
//!             (Input::Start, Some(answer)) => ctx.send(PartyId(0), f64::from(answer)),
//!             (Input::Message { message, .. }, None) => ctx.record(message),
//!             _ => {}
//!         }
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (key, mut ledger) = (Key::root(1), Ledger::new());
//! let mut parties: Vec<Box<dyn Party<Poll>>> = vec![Box::new(Voter(None))];
//! for user in 0..200 {
//!     let occasion = Occasion {
//!         released: "answer".to_owned(),
//!         protected: "users".to_owned(),
//!         unit: ProtectedUnit::User,
//!         unit_index: Some(user),
//!         neighbours: Neighbours::AnyValue,
//!         observer: Observer("service".to_owned()),
//!         round: 0,
//!         at: Time::ZERO,
//!         conditions: Vec::new(),
//!     };
//!     let (coin, truth) = (Coin(Epsilon::new(1.0)?), Sensitive::new(user % 4 == 0));
//!     let mut stream = key.child("users").index(user).stream();
//!     let answer = release(&mut ledger, occasion, &coin, &truth, &mut stream)?;
//!     parties.push(Box::new(Voter(Some(*answer.get()))));
//! }
//! let link = Link { loss: Independent(Probability::new(0.1)?).into(), ..Link::default() };
//! let names = (0..=200).map(|k| if k == 0 { "service".to_owned() } else { format!("user-{k}") });
//! let stage = ReplicationSetup::new(names, Network::new(Star { hub: "service".to_owned() }.into(), link));
//! let mut heard = Vec::new();
//! let record = stage.run("poll", parties, key, &mut |_, event| {
//!     if let Event::Recorded { fact, .. } = event {
//!         heard.push(**fact);
//!     }
//! })?;
//! assert_eq!(heard.len() as u64 + record.messages_lost, 200);
//! // An answer that the network lost was released all the same, so the ledger has an entry for every user.
//! let mine = Composition::of_events(ledger.events().iter().filter(|event| event.unit_index == Some(17)));
//! for accountant in accounting::all() {
//!     println!("{}: epsilon {:.3}", accountant.name(), accountant.price(&mine, Delta::new(1e-5)?).epsilon);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! `src/lib.rs` lists the modules by layer. A module imports only from layers below its own (`docs/architecture.md` names
//! one exception).

// If the command line is not compiled, code that only the command line uses is not reported as dead.
#![cfg_attr(not(feature = "cli"), allow(unused_imports, dead_code))]
#![warn(missing_docs, missing_debug_implementations, unreachable_pub)]

// Layer 1
pub mod vocab;
pub mod special;
pub mod rng;
// Layer 2
pub mod kernel;
pub mod gp;
pub mod accounting;
pub mod programs;
// Layer 3
pub mod privacy;
pub mod network;
pub mod objectives;
pub mod learners;
// Layer 4
pub mod protocols;
// Layer 5
pub mod scenario;
// Layer 6
pub mod study;
// Layer 7
pub mod audit;
// Layer 8
pub mod conformance;
#[cfg(feature = "report")]
pub mod report;
// Layer 9
#[cfg(feature = "cli")]
pub mod cli;
pub mod prelude;
// Layer 10
pub mod catalogue;

pub use catalogue::Catalogue;
