//! Audits of local differential privacy: one user's rewards are changed across their range (or, if only the
//! distribution of rewards is protected, that distribution is changed), and the service observes the reports.

use super::audited::{AuditContext, Audited, named};
use super::one_reward::{Reward, log_ratio_of_mixtures};
use super::request::numbers;
use super::running_mean::published;
use super::system::{Candidates, NotAudited, NotAuditedReason, System};
use crate::audit::error::AuditError;
use crate::audit::measure::{Experiment, KnownPair, NeighbourSide, Transcript};
use crate::audit::verdict::{Statement, upper_bound};
use crate::objectives::Instance;
use crate::privacy::mechanisms::reports::RewardMechanism;
use crate::privacy::mechanisms::{Disclosed, Distinguisher, Mechanism, Price, RATIO};
use crate::protocols::local::{Local, NeverAnswer, SeriesRecipe, UserKind};
use crate::rng::Key;
use crate::vocab::{Neighbours, counted};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Number of rewards that are drawn at the arm with the smallest mean, and again at the arm with the largest mean, to
/// estimate the range of rewards if the noise of the rewards is unbounded.
const DRAWS: u64 = 100_000;
/// Distance between the bound and a reward beyond the bound, in standard deviations of the privacy noise, at which such
/// a reward is almost always recognised: the absolute value of Laplace noise exceeds this distance with probability
/// e^-28.
const REACH: f64 = 20.0;
/// The condition, in the words after "holds with", under which the price of the published means bounds all that a reader
/// learns.
const REPORTS: &str = "the chosen arms taken as public: they depend on the reports, and the ledger lists these for the readers too";
/// Largest sum of deltas: a sum of 1 or more would be no claim.
const MAX_DELTA: f64 = 1.0 - f64::EPSILON;

impl Audited for Local {
    /// The reports of one user of each kind in one series, for each pair of rewards that is tried, and the published
    /// means if the series has them.
    fn candidates(
        &self,
        series: &str,
        context: &AuditContext<'_>,
    ) -> Result<Vec<Candidates>, NotAuditedReason> {
        let series = named(&self.series, series, |series| &series.name)?;
        let instance = context.stage.objective(&series.name).map_err(AuditError::from)?;
        let visits = visits(self, context.key);
        let given = context.neighbour.map(as_given).transpose()?;
        let kinds = self.kinds_of_users(series, context.stage, context.key).map_err(AuditError::scenario)?;
        let mut groups = Vec::with_capacity(kinds.len());
        for kind in &kinds {
            groups.extend(of_kind(self, series, instance, (kind, visits), given.clone(), context)?);
        }
        if let Some(means) = &series.running_mean {
            let mut conditions = self.conditions(context.stage, instance);
            if !series.learner.as_dyn().ignores_outcomes() {
                conditions.push(REPORTS.to_owned());
            }
            groups.push(published(self, &series.name, means, visits, context.delta, &conditions)?);
        }
        if groups.is_empty() {
            return Err(NotAuditedReason::Unprotected(
                "users report rewards without protection: nothing is claimed",
            ));
        }
        Ok(groups)
    }

    /// The reports without protection of a series whose published means are audited.
    fn unprotected_part(&self, series: &str) -> Option<NotAudited> {
        let recipe = self.series.iter().find(|recipe| recipe.name == series)?;
        recipe.running_mean.as_ref()?;
        recipe.report.get::<Disclosed>()?;
        let why = NotAuditedReason::Unprotected(
            "users report rewards without protection: nothing is claimed about the reports",
        );
        Some(why.of(series))
    }
}

/// The reports of one user of a kind (a cohort with one epsilon), for each pair of rewards that is tried; `None` if
/// reports of this kind have no protection.
fn of_kind(
    recipe: &Local,
    series: &SeriesRecipe,
    instance: &Instance,
    (kind, visits): (&UserKind, u64),
    given: Option<(String, [Reward; 2])>,
    context: &AuditContext<'_>,
) -> Result<Option<Candidates>, NotAuditedReason> {
    let conditions = recipe.conditions(context.stage, instance);
    let Some(mechanism) = &kind.mechanism else { return Ok(None) };
    let whose = match kind.protected == recipe.users {
        true => "one user".to_owned(),
        false => format!("one user of {}", kind.protected),
    };
    let price = mechanism.price(&0.0, &mechanism.neighbours()).map_err(AuditError::from)?;
    let of_one = price.claim.as_ref().map_or(0.0, |claim| claim.delta);
    let pairs = match given {
        Some(given) => vec![given],
        None => pairs(kind, &**mechanism, of_one, context.key),
    };
    // The deltas of a user's reports add up, as their epsilons do.
    let claimed_delta = (visits as f64 * of_one).min(MAX_DELTA);
    let one = |(words, rewards): (String, [Reward; 2])| -> Result<System, AuditError> {
        let delta = context.delta.unwrap_or(claimed_delta);
        let covered = mechanism.neighbours() != Neighbours::AnyMean
            || rewards.iter().all(|reward| reward.mode().abs() <= mechanism.bound());
        // At a delta below the claimed delta, nothing is claimed.
        let claim = price.claim.as_ref().filter(|_| covered && delta >= claimed_delta).map(|claim| {
            let source = match visits {
                1 => claim.source.clone(),
                _ => format!("{}, {visits} times", claim.source),
            };
            (visits as f64 * claim.epsilon, source)
        });
        let depends_on_reward = kind.never_answer.depends_on_reward();
        let fixed = rewards.iter().all(Reward::is_fixed);
        // If the probability of silence is a logistic function of the reward or regret, silence has a privacy cost,
        // which is added to that of the report.
        let silence = kind.never_answer.informative().filter(|silence| silence.depends());
        let silence = silence.map(|silence| silence.price(&0.0, &mechanism.neighbours()));
        let silence = silence.transpose().map_err(AuditError::from)?;
        let prices: Vec<(&Price, u64)> =
            std::iter::once(&price).chain(&silence).map(|price| (price, visits)).collect();
        let priced = covered && (!depends_on_reward || silence.is_some());
        let statement = Statement {
            name: series.name.clone(),
            about: format!(
                "{}, {} of {whose}{}",
                mechanism.about(),
                counted(visits, "report"),
                match (depends_on_reward, fixed) {
                    (false, _) => "",
                    (true, true) => ", and whether the user reports at all",
                    (true, false) => ", and whether the user reports at all (which is not attacked)",
                }
            ),
            neighbours: words,
            observer: recipe.service.clone(),
            delta,
            claim,
            proven: if priced { upper_bound(&prices, delta) } else { None },
            disjoint: None,
            broken: false,
        };
        let means = [0, 1].map(|side: usize| rewards[side].mode());
        let distinguisher = mechanism.distinguisher([&means[0], &means[1]])?;
        // The known distributions are those of the reports of fixed rewards; they do not cover whether a user reports.
        let premise = "the noise is Laplace, independent from visit to visit, and only its size is unknown";
        let laws = distinguisher.laws.as_ref().filter(|_| !depends_on_reward && fixed);
        let pair = KnownPair::of([(laws, visits)]).map(|pair| pair.on_premise(premise));
        let mechanism = Arc::clone(mechanism);
        let (never_answer, best) = (kind.never_answer, kind.best);
        let experiment = Reports { mechanism, rewards, distinguisher, visits, never_answer, best, pair };
        Ok(System::new(statement.with_conditions(&conditions), experiment))
    };
    Ok(Some(pairs.into_iter().map(one).collect::<Result<_, _>>()?))
}

/// Reads `--neighbour A,B`: two different rewards, with a description of them.
fn as_given(text: &str) -> Result<(String, [Reward; 2]), AuditError> {
    match numbers(text)?.as_slice() {
        [a, b] if a != b => {
            Ok((format!("every reward of one user, {a} or {b}, as given"), [*a, *b].map(Reward::Fixed)))
        }
        _ => Err(AuditError::Neighbour {
            expected: "two different rewards, A,B".to_owned(),
            found: text.to_owned(),
        }),
    }
}

/// The largest number of visits of one person.
fn visits(recipe: &Local, key: Key) -> u64 {
    if recipe.population.is_none() {
        return 1;
    }
    let mut times: BTreeMap<u64, u64> = BTreeMap::new();
    for user in 0..recipe.rounds {
        *times.entry(recipe.person(key, user).unwrap_or(user)).or_default() += 1;
    }
    times.into_values().max().unwrap_or(1)
}

/// Pairs of rewards, each with a description. `delta` is the probability with which a reward may exceed the bound if only
/// the distribution of rewards is protected.
fn pairs(
    kind: &UserKind,
    mechanism: &dyn RewardMechanism,
    delta: f64,
    key: Key,
) -> Vec<(String, [Reward; 2])> {
    let bound = mechanism.bound();
    let every =
        |[a, b]: [f64; 2]| (format!("every reward of one user, {a:.4} or {b:.4}"), [a, b].map(Reward::Fixed));
    let mut found = vec![every([bound, -bound])];
    // If only the distribution of a reward is protected, two pairs are added: the two distributions that are furthest
    // apart among all that the claim covers, and the distributions of rewards at the objective's best and worst arm.
    if mechanism.neighbours() == Neighbours::AnyMean {
        let far = bound + REACH * mechanism.variance().sqrt();
        let law = |sign: f64| Reward::Mixed { near: sign * bound, far: sign * far, beyond: delta };
        let words = format!(
            "one user's rewards: {bound:.4} or {:.4}; with probability {delta}, they are {far:.4} or {:.4} instead",
            -bound, -far
        );
        found.push((words, [1.0, -1.0].map(law)));
        let arms = || kind.values.iter().copied().enumerate();
        let ends = (arms().max_by(|a, b| a.1.total_cmp(&b.1)), arms().min_by(|a, b| a.1.total_cmp(&b.1)));
        if let (Some(high), Some(low)) = ends {
            let words = format!(
                "the mean of one user's rewards, {:.4} or {:.4}, each with noise of the objective",
                high.1, low.1
            );
            let drawn = |(arm, mean): (usize, f64)| Reward::Drawn { mean, arm, noise: kind.noise.clone() };
            found.push((words, [high, low].map(drawn)));
        }
        return found;
    }
    if mechanism.clips() {
        // Any reward may occur: clipping must bound it.
        found.extend(mechanism.worst_pair(&bound).map(|pair| every(pair.inputs)));
        return found;
    }
    // Without clipping, the rewards that occur are used.
    let values = || kind.values.iter().copied();
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    let place = |value: f64| values().position(|v| v == value).unwrap_or(0);
    let (least, most) = match kind.noise.bound() {
        Some(noise) => (low - noise, high + noise),
        None => {
            let mut stream = key.child("audit").child("rewards").stream();
            (0..DRAWS).fold((low, high), |(least, most), _| {
                let down = low + kind.noise.draw(place(low), &mut stream);
                let up = high + kind.noise.draw(place(high), &mut stream);
                (least.min(down), most.max(up))
            })
        }
    };
    let which = if kind.noise.bound().is_some() {
        "the ends of their range".to_owned()
    } else {
        format!("the most extreme of {DRAWS} draws")
    };
    // These rewards replace the pair at the bound: without clipping only rewards that occur can refute a claim.
    let words = format!("every reward of one user, {most:.4} or {least:.4}, {which}");
    found[0] = (words, [most, least].map(Reward::Fixed));
    found
}

/// All reports of one user.
struct Reports {
    mechanism: Arc<dyn RewardMechanism>,
    rewards: [Reward; 2],
    distinguisher: Distinguisher<f64>,
    visits: u64,
    never_answer: NeverAnswer,
    /// The largest mean reward of any arm.
    best: f64,
    pair: Option<KnownPair>,
}

impl Reports {
    /// ln of the likelihood ratio of a report: exact for fixed rewards and, under Laplace noise, for two mixtures.
    /// Otherwise it is the ratio for two fixed rewards: the means of the distributions, or the likelier rewards of mixtures.
    fn log_ratio(&self, report: f64) -> f64 {
        match (&self.rewards, self.mechanism.laplace_scale()) {
            ([Reward::Mixed { near, far, beyond }, Reward::Mixed { .. }], Some(scale)) => {
                log_ratio_of_mixtures(report, (*near, *far, *beyond), scale)
            }
            _ => self.distinguisher.log_ratio(&report),
        }
    }
}

impl Experiment for Reports {
    fn tests(&self) -> Vec<String> {
        let mut tests = vec![RATIO.to_owned()];
        if !self.rewards.iter().all(Reward::is_fixed) {
            tests.push("sum of reports".to_owned());
        }
        tests
    }

    fn trial(&self, side: NeighbourSide, key: Key) -> Result<Transcript, AuditError> {
        let fixed = [0, 1].map(|side: usize| self.rewards[side].fixed());
        let silence = match fixed {
            [Some(a), Some(b)] => [a, b].map(|reward| self.never_answer.chance(reward, self.best)),
            // If rewards are drawn at each visit, the probability of silence would be a mean over their distribution,
            // which is not computed. So whether the user reports is not used as evidence: equal probabilities add 0 to
            // the score.
            _ => [0.5, 0.5],
        };
        let (mut score, mut sum) = (0.0, 0.0);
        for visit in 0..self.visits {
            let mut stream = key.child("rewards").index(visit).stream();
            let reward = self.rewards[side.index()].draw(&mut stream);
            let mut behaviour = key.child("behaviour").index(visit).stream();
            let silent = self.never_answer.does_not_answer(reward, self.best, &mut behaviour);
            if silent {
                score += libm::log(silence[0] / silence[1]);
                continue;
            }
            score += libm::log((1.0 - silence[0]) / (1.0 - silence[1]));
            let mut stream = key.child("mechanisms").index(visit).stream();
            let report = self.mechanism.privatise(&reward, &mut stream)?;
            score += self.log_ratio(report);
            sum += report;
        }
        let mut scores = vec![score, sum];
        scores.truncate(self.tests().len());
        Ok(Transcript::rounded(scores))
    }

    fn pair(&self) -> Option<&KnownPair> {
        self.pair.as_ref()
    }
}
