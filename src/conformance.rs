//! What a member of a family promises, tried: for tests of one's own members and of the library's.
//!
//! Each function takes a member behind its family's trait and says what it breaks; an empty list means that nothing was found,
//! which proves nothing. Trials have fixed seeds, so the answer is always the same. Statistical rules allow six standard errors.

use crate::audit::{AuditError, Effort, Releases, measure, numerical_error, upper_bound};
use crate::learners::{Arms, BuildError, Learner, LearnerRecipe};
use crate::network::availability::Availability;
use crate::network::compute::Compute;
use crate::network::latency::Latency;
use crate::network::loss::Loss;
use crate::objectives::{DataSource, Noise, NoiseLaw, Objective, ObjectiveError, Resources};
use crate::privacy::mechanisms::Mechanism;
use crate::protocols::federated::{Policy, Weights};
use crate::rng::{Key, Stream};
use crate::vocab::{Cost, Neighbours, Span, Time};
use std::fmt;

/// A promise that a member does not keep.
#[derive(Clone, Debug, PartialEq)]
pub struct Breach {
    /// The promise, in words.
    pub promise: &'static str,
    /// What was found instead.
    pub found: String,
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}, found {}", self.promise, self.found)
    }
}

/// Breaches as they are found.
#[derive(Default)]
struct Found(Vec<Breach>);

impl Found {
    fn unless(&mut self, kept: bool, promise: &'static str, found: impl FnOnce() -> String) {
        if !kept && self.0.iter().all(|known| known.promise != promise) {
            self.0.push(Breach { promise, found: found() });
        }
    }
}

/// Cells of the midpoint rule.
const CELLS: u32 = 20_000;

/// Draws of a statistical rule.
const DRAWS: u32 = 100_000;

fn key(purpose: &str) -> Key {
    Key::root(1).child("conformance").child(purpose)
}

/// Delays do not fall as the draw rises; their mean is the integral of the quantile function; the same draw gives the same
/// delay.
///
/// The mean is compared within 2 %: the midpoint rule misses the last part of heavy tails. A law without a finite mean is not
/// compared.
#[must_use]
pub fn latency(law: &dyn Latency) -> Vec<Breach> {
    let mut found = Found::default();
    let (mut last, mut sum) = (Span::ZERO, 0.0);
    for cell in 0..CELLS {
        let u = (f64::from(cell) + 0.5) / f64::from(CELLS);
        let delay = law.quantile(u);
        found.unless(delay >= last, "quantiles that do not fall", || format!("{delay} after {last}"));
        found.unless(law.quantile(u) == delay, "one delay for one draw", || format!("two at u = {u}"));
        (last, sum) = (delay, sum + delay.seconds());
    }
    let (integral, mean) = (sum / f64::from(CELLS), law.mean_seconds());
    let agree = !mean.is_finite() || (integral - mean).abs() <= 0.02 * mean.abs().max(1e-9);
    found.unless(agree, "a mean that is the integral of the quantiles", || {
        format!("mean_seconds {mean}, integral {integral}")
    });
    found.0
}

/// The share of lost messages is the mean; a copy of a process goes on as the process does; a new process begins anew.
///
/// The share is compared within 0.02: losses of a link may depend on each other.
#[must_use]
pub fn loss(model: &dyn Loss) -> Vec<Breach> {
    let mut found = Found::default();
    let mut stream = key("loss").stream();
    let draws: Vec<f64> = (0..DRAWS).map(|_| stream.uniform()).collect();
    let (mut first, mut second) = (model.start(), model.start());
    let mut copy = None;
    let mut lost = 0u32;
    for (index, &u) in draws.iter().enumerate() {
        if index == draws.len() / 2 {
            copy = Some(first.clone());
        }
        let drops = first.drops(u);
        lost += u32::from(drops);
        let again = second.drops(u);
        found.unless(again == drops, "processes that begin alike", || {
            format!("a difference at message {index}")
        });
        if let Some(copy) = &mut copy {
            let copied = copy.drops(u);
            found.unless(copied == drops, "copies that go on alike", || {
                format!("a difference at message {index}")
            });
        }
    }
    let (share, mean) = (f64::from(lost) / f64::from(DRAWS), model.mean());
    found.unless((share - mean).abs() < 0.02, "a mean that is the share of lost messages", || {
        format!("mean {mean}, share {share}")
    });
    found.0
}

/// Changes come one after another; the same stream gives the same changes; a copy goes on as the process does.
#[must_use]
pub fn availability(model: &dyn Availability) -> Vec<Breach> {
    let mut found = Found::default();
    let mut first = model.start(key("availability").stream());
    let mut second = model.start(key("availability").stream());
    let started = (first.starts_online(), second.starts_online());
    found.unless(started.0 == started.1, "the same beginning for the same stream", || format!("{started:?}"));
    let (mut last, mut copy) = (Time::ZERO, None);
    for index in 0..1000 {
        if index == 500 {
            copy = Some(first.clone());
        }
        let switch = first.next_switch();
        let again = second.next_switch();
        found.unless(again == switch, "the same changes for the same stream", || {
            format!("{again:?}, {switch:?}")
        });
        if let Some(copy) = &mut copy {
            let copied = copy.next_switch();
            found.unless(copied == switch, "copies that go on alike", || format!("{copied:?}, {switch:?}"));
        }
        let Some(switch) = switch else { break };
        found.unless(index == 0 || switch.at > last, "changes one after another", || {
            format!("{:?} after {last:?}", switch.at)
        });
        last = switch.at;
    }
    found.0
}

/// The same draws give the same job; a model that says that no job takes time has none that does.
#[must_use]
pub fn compute(model: &dyn Compute) -> Vec<Breach> {
    let mut found = Found::default();
    let mut stream = key("compute").stream();
    for _ in 0..1000 {
        let u = stream.open_uniform();
        let (slowness, length, mishap) = (model.slowness(u), stream.open_uniform(), stream.uniform());
        found.unless(slowness.is_finite() && slowness >= 0.0, "a slowness of 0 or more", || {
            slowness.to_string()
        });
        let job = model.job(slowness, length, mishap);
        let same = model.slowness(u) == slowness && model.job(slowness, length, mishap) == job;
        found.unless(same, "one job for one draw", || "two".to_owned());
        found.unless(!model.is_instant() || job == Span::ZERO, "no time where `is_instant` says so", || {
            job.to_string()
        });
    }
    found.0
}

/// Draws have mean 0 and the variance that is stated, stay within the bound, exceed no tail more often than stated, and come
/// from the stream alone.
#[must_use]
pub fn noise(law: &dyn NoiseLaw) -> Vec<Breach> {
    let mut found = Found::default();
    let mut stream = key("noise").stream();
    let draws: Vec<f64> = (0..DRAWS).map(|_| law.draw(&mut stream)).collect();
    let mut again = key("noise").stream();
    let same = draws.iter().all(|&draw| law.draw(&mut again).to_bits() == draw.to_bits());
    found.unless(same, "the same draws for the same stream", || "others".to_owned());
    let (n, variance) = (f64::from(DRAWS), law.variance());
    if variance.is_finite() {
        let mean = draws.iter().sum::<f64>() / n;
        found.unless(mean.abs() <= 6.0 * (variance / n).sqrt(), "a mean of 0", || mean.to_string());
        let squares: Vec<f64> = draws.iter().map(|draw| draw * draw).collect();
        let second = squares.iter().sum::<f64>() / n;
        let spread = squares.iter().map(|square| (square - second).powi(2)).sum::<f64>() / n;
        let off = (second - variance).abs();
        found.unless(
            off <= 6.0 * (spread / n).sqrt() + 1e-12 * variance,
            "the variance that is stated",
            || format!("{second} where {variance} is stated"),
        );
    }
    if let Some(bound) = law.bound() {
        let most = draws.iter().fold(0.0f64, |most, draw| most.max(draw.abs()));
        found.unless(most <= bound, "draws within the bound", || format!("{most} beyond {bound}"));
    }
    found.0
}

/// Suggestions are arms; the same stream and outcomes give the same suggestions; a copy goes on as the learner does.
///
/// # Errors
/// [`BuildError`]: what the recipe says of these arms.
pub fn learner(recipe: &dyn LearnerRecipe, arms: &Arms) -> Result<Vec<Breach>, BuildError> {
    let mut found = Found::default();
    let (mut first, mut second) = (recipe.build(arms)?, recipe.build(arms)?);
    let (mut stream, mut again) = (key("learner").stream(), key("learner").stream());
    let mut copy: Option<(Box<dyn Learner>, Stream)> = None;
    for round in 0..40u64 {
        if round == 20 {
            copy = Some((first.clone(), stream.clone()));
        }
        let arm = first.suggest(&mut stream);
        found.unless(arm < arms.n, "arms that there are", || format!("arm {arm} of {}", arms.n));
        if arm >= arms.n {
            break;
        }
        let outcome = libm::sin(arm as f64) + 0.1 * libm::cos(round as f64);
        let other = second.suggest(&mut again);
        found.unless(other == arm, "the same arms for the same stream", || format!("{other} and {arm}"));
        if let Some((copy, stream)) = &mut copy {
            let copied = copy.suggest(stream);
            found.unless(copied == arm, "copies that go on alike", || format!("{copied} and {arm}"));
            drop(copy.observe(arm, outcome));
        }
        drop((first.observe(arm, outcome), second.observe(arm, outcome)));
    }
    Ok(found.0)
}

/// There is a value for each arm, each finite; the same key gives the same problem.
///
/// # Errors
/// [`ObjectiveError`]: what cannot be prepared or realised.
pub fn objective(recipe: &dyn Objective, resources: &Resources) -> Result<Vec<Breach>, ObjectiveError> {
    let mut found = Found::default();
    let (shared, own) = (key("objective").child("shared"), key("objective").child("own"));
    let instance = recipe.prepare(resources, None, shared)?.realise(own)?;
    let prepared = recipe.prepare(resources, None, shared)?;
    let again = prepared.realise(own)?;
    let reads = !recipe.files(resources).is_empty();
    found.unless(
        !reads || prepared.source() != DataSource::Drawn,
        "a source that says that files are read",
        || "`Prepared::source` says that the data are drawn".to_owned(),
    );
    let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<u64>>();
    found.unless(instance.values.len() == instance.inputs.n(), "a value for each arm", || {
        format!("{} values, {} arms", instance.values.len(), instance.inputs.n())
    });
    found.unless(instance.values.iter().all(|value| value.is_finite()), "finite values", || {
        "others".to_owned()
    });
    let same = bits(&instance.values) == bits(&again.values) && instance.noise == again.noise;
    found.unless(same, "the same problem for the same key", || "another one".to_owned());
    if let Noise::Law(law) = &instance.noise {
        found.0.extend(noise(law.as_dyn()));
    }
    Ok(found.0)
}

/// Weights are not negative and each region's sum is 1, at the first hundred aggregations.
#[must_use]
pub fn weights(schedule: &dyn Weights) -> Vec<Breach> {
    let mut found = Found::default();
    let explored: Vec<usize> = (0..10).map(|agent| agent % 4).collect();
    for k in 0..100 {
        let regions = schedule.at(k, &explored, 4);
        let shape = regions.len() == 4 && regions.iter().all(|region| region.len() == explored.len());
        found.unless(shape, "weights of every agent in every region", || "another shape".to_owned());
        for region in regions {
            let sum: f64 = region.iter().sum();
            let fits = region.iter().all(|weight| *weight >= 0.0) && (sum - 1.0).abs() < 1e-9;
            found.unless(fits, "weights that are not negative, with sum 1", || format!("{region:?}"));
        }
    }
    found.0
}

/// A round ends some time; a policy that can close a round can close it with more answers too.
#[must_use]
pub fn policy(policy: &dyn Policy) -> Vec<Breach> {
    let mut found = Found::default();
    found.unless(policy.patience() > Span::ZERO, "a patience above 0", || "0 s".to_owned());
    for agents in [1u64, 2, 10, 200] {
        let enough = |fresh: u64| policy.is_enough(fresh, fresh, agents);
        let falls = (1..=agents).find(|&fresh| enough(fresh - 1) && !enough(fresh));
        found.unless(falls.is_none(), "no round that more answers keep open", || {
            format!("{falls:?} of {agents}")
        });
    }
    found.0
}

/// The same stream gives the same release; the price does not depend on values; no attack on the worst known pair shows more than the
/// price, at `delta`, with 95 % confidence (`trials` of each world), and the known laws of that pair cost no more either.
///
/// # Errors
/// [`AuditError`]: a mechanism that does not release or price this input.
pub fn mechanism<M>(
    mechanism: M,
    like: &M::Input,
    neighbours: &Neighbours,
    delta: f64,
    trials: u64,
) -> Result<Vec<Breach>, AuditError>
where
    M: Mechanism + Clone + Sync,
    M::Input: Clone + Sync,
    M::Output: fmt::Debug,
{
    let mut found = Found::default();
    let price = mechanism.price(like, neighbours)?;
    let draw =
        || mechanism.privatise(like, &mut key("mechanism").stream()).map(|output| format!("{output:?}"));
    let (once, twice) = (draw()?, draw()?);
    found.unless(once == twice, "the same release for the same stream", || format!("{once} and {twice}"));
    let unprotected = price.cost == Cost::Unprotected;
    let Some(pair) = mechanism.worst_pair(like) else {
        found.unless(unprotected, "a worst known pair beside a price", || "none".to_owned());
        return Ok(found.0);
    };
    for input in &pair.inputs {
        let other = mechanism.price(input, neighbours)?;
        found.unless(other == price, "a price that does not depend on values", || format!("{other:?}"));
    }
    let Some((claimed, _)) = upper_bound(&[(&price, 1)], delta) else {
        found.unless(unprotected, "a price that accountants can compute", || format!("{:?}", price.cost));
        return Ok(found.0);
    };
    let experiment = Releases::on(mechanism.clone(), pair, 1)?;
    let effort = Effort { trials, key: key("audit"), delta, models: false };
    let evidence = measure(&experiment, effort, &|_| {})?;
    found.unless(evidence.epsilon_lower <= claimed, "no more loss than the price", || {
        format!("epsilon of at least {} where {claimed} is stated", evidence.epsilon_lower)
    });
    if let Some(known) = evidence.pair_epsilon {
        let within = known <= claimed + numerical_error(claimed);
        found.unless(within, "laws that cost no more than the price", || {
            format!("{known} where {claimed} is stated")
        });
    }
    Ok(found.0)
}
