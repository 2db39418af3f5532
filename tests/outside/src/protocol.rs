//! A protocol: a service asks a device for one measurement at a time, and asks again what gets lost.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use subrosa::audit::systems::{AuditContext, Audited, Candidates, NotAuditedReason};
use subrosa::gp::ArmCovariance;
use subrosa::learners::{Arms, ProblemConstants};
use subrosa::prelude::*;
use subrosa::protocols::{self, AfterTimeout, Requester, RetryTimer};

/// A message about an arm, in a round from 1 on: a question has no outcome, an answer has one.
#[derive(Clone, Debug)]
struct Trial(u64, Option<f64>, u64);

impl Digestible for Trial {
    fn digest(&self, digest: &mut Digest) {
        digest.word(self.0);
        digest.float(self.1.unwrap_or(f64::NAN));
        digest.word(self.2);
    }
}

impl Payload for Trial {
    fn wire_bytes(&self) -> u64 {
        28 + 8 + if self.1.is_some() { 8 } else { 0 }
    }
    fn label(&self) -> &'static str {
        if self.1.is_some() { "Outcome" } else { "Measure" }
    }
}

#[derive(Clone, Debug)]
struct Lab;

impl Protocol for Lab {
    type Message = Trial;
    type Timer = RetryTimer;
    type Fact = Trial;
}

/// For dry runs, traces and forks after a round.
impl protocols::Rounds for Lab {
    fn round(Trial(_, _, round): &Trial) -> Option<u64> {
        Some(*round)
    }

    fn closes(Trial(_, _, round): &Trial) -> Option<u64> {
        Some(*round)
    }
}

/// Chooses arms; knows nothing of the objective except the outcomes that it receives.
#[derive(Clone, Debug)]
struct Service(Box<dyn Learner>, Requester<Lab>, Stream, u64, PartyId, u64);

impl Service {
    fn ask(&mut self, ctx: &mut Context<'_, Lab>) {
        let arm = self.0.suggest(&mut self.2);
        self.5 += 1;
        self.1.ask(ctx, self.4, Trial(arm as u64, None, self.5));
    }
}

impl Party<Lab> for Service {
    fn handle(&mut self, input: Input<Lab>, ctx: &mut Context<'_, Lab>) {
        match input {
            Input::Start => self.ask(ctx),
            Input::Message { message: Trial(arm, Some(outcome), _), .. } => {
                self.1.close(ctx);
                self.3 -= 1;
                if self.0.observe(arm as usize, outcome).is_err() || self.3 == 0 {
                    return ctx.stop();
                }
                self.ask(ctx);
            }
            Input::Timer(timer) => {
                if self.1.timeout(ctx, timer) == AfterTimeout::GaveUp {
                    ctx.stop();
                }
            }
            Input::CameBack => self.1.reconnected(ctx),
            Input::Message { .. } | Input::WentOffline => {}
        }
    }
}

/// Measures what it is asked to.
#[derive(Clone, Debug)]
struct Device(Instance, Stream);

impl Party<Lab> for Device {
    fn handle(&mut self, input: Input<Lab>, ctx: &mut Context<'_, Lab>) {
        if let Input::Message { from, message: Trial(arm, None, round) } = input {
            let noise = self.0.noise.draw(arm as usize, &mut self.1);
            let trial = Trial(arm, Some(self.0.values[arm as usize] + noise), round);
            ctx.record(trial.clone());
            ctx.send(from, trial);
        }
    }
}

/// A service asks a device for one measurement at a time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Remote {
    /// The party that asks.
    service: String,
    /// The party that measures.
    device: String,
    /// Number of measurements.
    rounds: u64,
    /// The learners, with one series each.
    learners: Vec<LearnerModel>,
}

/// No audit is possible: measurements are sent without protection.
impl Audited for Remote {
    fn candidates(&self, _: &str, _: &AuditContext<'_>) -> Result<Vec<Candidates>, NotAuditedReason> {
        Err(NotAuditedReason::Unprotected("measurements are told as they are"))
    }
}

impl protocols::Protocol for Remote {
    fn problems(&self, stage: &ReplicationSetup) -> Vec<Problem> {
        let roles = [("service", &self.service), ("device", &self.device)];
        roles.into_iter().filter_map(|(path, name)| stage.party(path, name).err()).collect()
    }

    fn needs_objective(&self) -> bool {
        true
    }

    fn series(&self) -> Vec<String> {
        self.learners.iter().map(|learner| learner.name().to_owned()).collect()
    }

    /// Every learner on the same problem, the same noise and the same network draws.
    fn play(&self, stage: &ReplicationSetup, key: Key) -> Result<Vec<SeriesRecord>, ReplicationError> {
        let party = |path, name| {
            stage.party(path, name).map_err(|problem| ReplicationError::scenario(path, &problem))
        };
        let (service, device) = (party("service", &self.service)?, party("device", &self.device)?);
        let fails = |reason: String| ReplicationError::party("all", reason);
        let instance = stage.instance.as_ref().ok_or_else(|| fails("there is no objective".to_owned()))?;
        let (inputs, model) = (Arc::clone(&instance.inputs), &instance.surrogate);
        let arms = Arms {
            n: inputs.n(),
            covariance: Some(ArmCovariance::of_inputs(inputs, model.covariance.clone())),
            noise_variance: model.noise_variance,
            mean: model.mean,
            facts: ProblemConstants::default(),
        };
        let series = self.learners.iter().map(|learner| {
            let built = learner.as_dyn().build(&arms).map_err(|error| fails(error.to_string()))?;
            let (asker, stream) =
                (Requester::new(Retry::default(), key.child("retries")), key.child("learner").stream());
            let mut asking = Some(Service(built, asker, stream, self.rounds, device, 0));
            let parties = (0..stage.names.len()).map(|index| -> Box<dyn Party<Lab>> {
                match asking.take_if(|_| index == service.index()) {
                    Some(asking) => Box::new(asking),
                    None => Box::new(Device(instance.clone(), key.child("noise").stream())),
                }
            });
            let (mut iterations, best) = (Vec::new(), instance.best());
            let (mut simple, mut cumulative) = (f64::INFINITY, 0.0);
            let mut record = stage.run(learner.name(), parties.collect(), key, &mut |at, event| {
                if let Event::Recorded { fact: Trial(arm, Some(outcome), _), .. } = event {
                    let value = instance.values[*arm as usize];
                    simple = f64::min(simple, best - value);
                    cumulative += best - value;
                    iterations.push(Iteration {
                        t: iterations.len() as u64 + 1,
                        arm: *arm,
                        outcome: *outcome,
                        value,
                        simple_regret: simple,
                        cumulative_regret: cumulative,
                        seconds: at.seconds(),
                    });
                }
            })?;
            record.iterations = iterations;
            Ok(record)
        });
        series.collect()
    }
}
