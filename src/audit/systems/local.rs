//! Local differential privacy: one user's rewards moved across their range, seen by the service.

use super::{Candidates, System, Why};
use crate::audit::{Experiment, KnownPair, Statement, Transcript, World, upper_bound};
use crate::objectives::Instance;
use crate::privacy::mechanisms::{Ctl, Mechanism};
use crate::protocols::Stage;
use crate::protocols::local::{Local, NeverAnswer, Report, SeriesRecipe};
use crate::rng::Key;
use crate::vocab::{Cost, counted};
use std::collections::BTreeMap;

/// Rewards that are drawn to see how far they reach, where the law of the noise has no end.
const DRAWS: u64 = 100_000;

/// One user's reports in one series, on each pair of rewards that is tried.
pub(super) fn candidates(
    recipe: &Local,
    series: &SeriesRecipe,
    (stage, key): (&Stage, Key),
    delta: Option<f64>,
    given: Option<&str>,
) -> Result<Vec<Candidates>, Why> {
    let instance = stage.instance.as_ref().ok_or_else(|| "the scenario has no objective".to_owned())?;
    let visits = visits(recipe, key);
    let given = given.map(as_given).transpose()?;
    let (Report::Ctl(report), Some(ctl)) =
        (&series.report, recipe.ctl(series, instance).map_err(String::from)?)
    else {
        return Err(Why::unprotected("users report their rewards as they are: nothing is claimed"));
    };
    let mut candidates = Vec::new();
    // What a reward becomes before noise is added.
    let bound = ctl.bound();
    let searched = || match report.delta {
        // Only the law of a reward is protected: rewards within the bound, which delta is about.
        Some(_) => {
            let words = format!("every reward of one user, {bound:.4} or {:.4}", -bound);
            vec![(words, [bound, -bound])]
        }
        None => pairs(instance, bound, report.clip, key),
    };
    for (words, rewards) in given.map_or_else(searched, |given| vec![given]) {
        let price = ctl.price(&rewards[0], &ctl.neighbours()).map_err(|error| error.to_string())?;
        let claim = price.claim.as_ref().map(|claim| {
            let source = match visits {
                1 => claim.source.clone(),
                _ => format!("{}, {visits} times", claim.source),
            };
            (visits as f64 * claim.epsilon, source)
        });
        let delta = delta.unwrap_or(0.0);
        let tells = recipe.never_answer.tells();
        let statement = Statement {
            name: series.name.clone(),
            about: format!(
                "CTL {} clipping, bound {bound:.4}, {} of one user{}",
                if report.clip { "with" } else { "without" },
                counted(visits, "report"),
                if tells { ", and whether it reports at all" } else { "" }
            ),
            neighbours: words,
            observer: recipe.service.clone(),
            delta,
            claim,
            proven: if tells { None } else { upper_bound(&[(&price, visits)], delta) },
            disjoint: None,
            broken: false,
        };
        let means = rewards.map(|reward| if report.clip { reward.clamp(-bound, bound) } else { reward });
        // Reports of clipped rewards differ by Laplace noise alone; whether somebody reports is another matter.
        let distance = (means[0] - means[1]).abs();
        let premise = "the noise is Laplace, independent from visit to visit, and only its size is unknown";
        let pair = (!tells && distance > 0.0).then(|| {
            KnownPair::composed(vec![(Cost::Laplace { scale: ctl.scale() / distance }, visits)], premise)
        });
        let experiment = Reports { ctl, rewards, means, visits, never_answer: recipe.never_answer, pair };
        candidates.push(System::new(statement, experiment));
    }
    Ok(vec![candidates])
}

/// "A,B": two rewards.
fn as_given(text: &str) -> Result<(String, [f64; 2]), String> {
    match super::numbers(text)?.as_slice() {
        [a, b] if a != b => Ok((format!("every reward of one user, {a} or {b}, as given"), [*a, *b])),
        _ => Err(format!("--neighbour: expected two different rewards, A,B, found \"{text}\"")),
    }
}

/// How often the person who comes most often comes.
fn visits(recipe: &Local, key: Key) -> u64 {
    let Some(population) = recipe.population else { return 1 };
    let mut times: BTreeMap<u64, u64> = BTreeMap::new();
    for user in 0..recipe.rounds {
        *times.entry(recipe.person(key, user, population.get())).or_default() += 1;
    }
    times.into_values().max().unwrap_or(1)
}

/// Pairs of rewards, with the words for them.
fn pairs(instance: &Instance, bound: f64, clip: bool, key: Key) -> Vec<(String, [f64; 2])> {
    let mut found = vec![(format!("every reward of one user, {bound:.4} or {:.4}", -bound), [bound, -bound])];
    if clip {
        // Any reward at all may be reported: clipping must take care of it.
        let far = 10.0 * bound;
        found.push((format!("every reward of one user, {far:.4} or {:.4}", -far), [far, -far]));
        return found;
    }
    // Without clipping what counts is which rewards there are.
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
    ctl: Ctl,
    rewards: [f64; 2],
    /// Centres of the reports.
    means: [f64; 2],
    visits: u64,
    never_answer: NeverAnswer,
    pair: Option<KnownPair>,
}

impl Experiment for Reports {
    fn tests(&self) -> Vec<String> {
        vec!["likelihood ratio".to_owned()]
    }

    fn trial(&self, world: World, key: Key) -> Result<Transcript, String> {
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
            let y = self.ctl.privatise(&reward, &mut stream).map_err(|error| error.to_string())?;
            score += ((y - self.means[1]).abs() - (y - self.means[0]).abs()) / self.ctl.scale();
        }
        Ok(Transcript::rounded(vec![score]))
    }

    fn pair(&self) -> Option<&KnownPair> {
        self.pair.as_ref()
    }
}
