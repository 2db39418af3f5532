//! Audits of local differential privacy: one user's rewards are changed across their range, and the service
//! observes the reports.

use super::audited::{Audited, Ground, named};
use super::request::numbers;
use super::system::{Candidates, LeftOut, System};
use crate::audit::error::AuditError;
use crate::audit::measure::{Experiment, KnownPair, Transcript, World};
use crate::audit::verdict::{Statement, upper_bound};
use crate::objectives::Instance;
use crate::privacy::mechanisms::reports::RewardMechanism;
use crate::privacy::mechanisms::{Distinguisher, Mechanism, RATIO};
use crate::protocols::local::{Local, NeverAnswer};
use crate::rng::Key;
use crate::vocab::{Neighbours, counted};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Number of rewards drawn to estimate their range, where the noise is unbounded.
const DRAWS: u64 = 100_000;

impl Audited for Local {
    /// One user's reports in one series, on each pair of rewards that is tried.
    fn candidates(&self, series: &str, ground: &Ground<'_>) -> Result<Vec<Candidates>, LeftOut> {
        let series = named(&self.series, series, |series| &series.name)?;
        let missing = || AuditError::scenario("the scenario has no objective");
        let instance = ground.stage.instance.as_ref().ok_or_else(missing)?;
        let visits = visits(self, ground.key);
        let given = ground.neighbour.map(as_given).transpose()?;
        let Some(mechanism) = self.reporting(series, instance).map_err(AuditError::scenario)? else {
            return Err(LeftOut::Unprotected("users report rewards without protection: nothing is claimed"));
        };
        let pairs = match given {
            Some(given) => vec![given],
            None => pairs(instance, &*mechanism, ground.key),
        };
        let one = |(words, rewards): (String, [f64; 2])| -> Result<System, AuditError> {
            let price = mechanism.price(&rewards[0], &mechanism.neighbours())?;
            let claim = price.claim.as_ref().map(|claim| {
                let source = match visits {
                    1 => claim.source.clone(),
                    _ => format!("{}, {visits} times", claim.source),
                };
                (visits as f64 * claim.epsilon, source)
            });
            let delta = ground.delta.unwrap_or(0.0);
            let tells = self.never_answer.tells();
            let statement = Statement {
                name: series.name.clone(),
                about: format!(
                    "{}, {} of one user{}",
                    mechanism.about(),
                    counted(visits, "report"),
                    if tells { ", and whether it reports at all" } else { "" }
                ),
                neighbours: words,
                observer: self.service.clone(),
                delta,
                claim,
                proven: if tells { None } else { upper_bound(&[(&price, visits)], delta) },
                disjoint: None,
                broken: false,
            };
            let told = mechanism.distinguisher([&rewards[0], &rewards[1]])?;
            // Reports of clipped rewards differ by noise alone; whether a user reports at all is not covered.
            let premise =
                "the noise is Laplace, independent from visit to visit, and only its size is unknown";
            let laws = told.laws.as_ref().filter(|_| !tells);
            let pair = KnownPair::of([(laws, visits)]).map(|pair| pair.on_premise(premise));
            let mechanism = Arc::clone(&mechanism);
            let experiment =
                Reports { mechanism, rewards, told, visits, never_answer: self.never_answer, pair };
            Ok(System::new(statement, experiment))
        };
        Ok(vec![pairs.into_iter().map(one).collect::<Result<_, _>>()?])
    }
}

/// "A,B": two rewards.
fn as_given(text: &str) -> Result<(String, [f64; 2]), AuditError> {
    match numbers(text)?.as_slice() {
        [a, b] if a != b => Ok((format!("every reward of one user, {a} or {b}, as given"), [*a, *b])),
        _ => Err(AuditError::Neighbour {
            expected: "two different rewards, A,B".to_owned(),
            found: text.to_owned(),
        }),
    }
}

/// The largest number of visits of one person.
fn visits(recipe: &Local, key: Key) -> u64 {
    let Some(population) = recipe.population else { return 1 };
    let mut times: BTreeMap<u64, u64> = BTreeMap::new();
    for user in 0..recipe.rounds {
        *times.entry(recipe.person(key, user, population.get())).or_default() += 1;
    }
    times.into_values().max().unwrap_or(1)
}

/// Pairs of rewards, with the words for them.
fn pairs(instance: &Instance, mechanism: &dyn RewardMechanism, key: Key) -> Vec<(String, [f64; 2])> {
    let bound = mechanism.bound();
    let every = |[a, b]: [f64; 2]| (format!("every reward of one user, {a:.4} or {b:.4}"), [a, b]);
    let mut found = vec![every([bound, -bound])];
    // Only the law of a reward is protected: two rewards within the bound, to which delta refers.
    if mechanism.neighbours() == Neighbours::AnyMean {
        return found;
    }
    if mechanism.clips() {
        // Any reward may occur: clipping must bound it.
        found.extend(mechanism.worst_pair(&bound).map(|pair| every(pair.inputs)));
        return found;
    }
    // Without clipping, the rewards that occur are used.
    let values = || instance.values.iter().copied();
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    let place = |value: f64| values().position(|v| v == value).unwrap_or(0);
    let (least, most) = match instance.noise.bound() {
        Some(noise) => (low - noise, high + noise),
        None => {
            let mut stream = key.child("audit").child("rewards").stream();
            (0..DRAWS).fold((low, high), |(least, most), _| {
                let down = low + instance.noise.draw(place(low), &mut stream);
                let up = high + instance.noise.draw(place(high), &mut stream);
                (least.min(down), most.max(up))
            })
        }
    };
    let which = if instance.noise.bound().is_some() {
        "the ends of their range".to_owned()
    } else {
        format!("the most extreme of {DRAWS} draws")
    };
    // Rewards that occur come first: without clipping only they can refute anything.
    found[0] = (format!("every reward of one user, {most:.4} or {least:.4}, {which}"), [most, least]);
    found
}

/// All reports of one user.
struct Reports {
    mechanism: Arc<dyn RewardMechanism>,
    rewards: [f64; 2],
    told: Distinguisher<f64>,
    visits: u64,
    never_answer: NeverAnswer,
    pair: Option<KnownPair>,
}

impl Experiment for Reports {
    fn tests(&self) -> Vec<String> {
        vec![RATIO.to_owned()]
    }

    fn trial(&self, world: World, key: Key) -> Result<Transcript, AuditError> {
        let reward = self.rewards[world.index()];
        let silence = self.rewards.map(|reward| self.never_answer.chance(reward));
        let mut score = 0.0;
        for visit in 0..self.visits {
            let silent = self.never_answer.silent(reward, &mut key.child("behaviour").index(visit).stream());
            if silent {
                score += libm::log(silence[0] / silence[1]);
                continue;
            }
            score += libm::log((1.0 - silence[0]) / (1.0 - silence[1]));
            let mut stream = key.child("mechanisms").index(visit).stream();
            score += self.told.log_ratio(&self.mechanism.privatise(&reward, &mut stream)?);
        }
        Ok(Transcript::rounded(vec![score]))
    }

    fn pair(&self) -> Option<&KnownPair> {
        self.pair.as_ref()
    }
}
