//! Private release: one validation record replaced, or the function of a neighbouring validation set, seen by readers.

use super::{Candidates, System, Why};
use crate::audit::{Experiment, KnownPair, Statement, Transcript, World, upper_bound};
use crate::privacy::mechanisms::Price;
use crate::protocols::Stage;
use crate::protocols::release::{
    PublicationModel, Release, ReleaseSeries, Secrets, SettingRelease, Task, ValueOf, ValueRelease,
};
use crate::rng::Key;
use crate::vocab::{Basis, Cost, Neighbours};

/// Pairs of data sets that are searched for the one that tells most.
const PAIRS: u64 = 20;
/// Who sees a publication.
const OBSERVER: &str = "anyone who reads the publication";

type Worlds<'a> = dyn Fn(u64) -> Result<(Stage, Key), String> + 'a;

/// The most telling of several pairs, by the exact privacy loss of each.
pub(super) fn candidates(
    recipe: &Release,
    series: &ReleaseSeries,
    worlds: &Worlds<'_>,
    delta: Option<f64>,
) -> Result<Vec<Candidates>, Why> {
    if matches!(series.publication, PublicationModel::EverySetting(_)) {
        return Err(Why::beyond(
            "each setting is published before the next is tried, so a trial would have to play the whole search in both \
             worlds; the auditor repeats the last release only",
        ));
    }
    let mut pairs: Vec<(f64, Publication)> = Vec::new();
    for replication in 0..PAIRS {
        let (stage, key) = worlds(replication)?;
        let instance = stage.instance.as_ref().ok_or_else(|| "the scenario has no objective".to_owned())?;
        let task = Task::of(instance, recipe.rounds);
        let neighbours = match (&instance.background.neighbour, &stage.prepared) {
            (Some(values), _) => vec![(
                "the functions of two neighbouring validation sets, with noise of their own".to_owned(),
                values.to_vec(),
            )],
            (None, Some(prepared)) => prepared.neighbours(PAIRS, key.child("audit").child("neighbours")),
            (None, None) => Vec::new(),
        };
        for (words, values) in &neighbours {
            // Noise of a record's own evaluation is its own; where neighbours share the noise, nothing else differs.
            let own =
                if instance.background.neighbour.is_some() { "neighbour noise" } else { "objective noise" };
            let secrets = [
                recipe
                    .secrets(series, &task, &instance.values, key.child("objective noise"), key)
                    .map_err(String::from)?,
                recipe.secrets(series, &task, values, key.child(own), key).map_err(String::from)?,
            ];
            let Some(publication) = Publication::new(series, &task, secrets, words.clone(), delta)? else {
                return Err(Why::unprotected("what is published has no noise: nothing is claimed"));
            };
            pairs.push((publication.loss(), publication));
        }
        if instance.background.neighbour.is_none() {
            // Real records: all replications have the same.
            break;
        }
    }
    let Some((_, any)) = pairs.first() else {
        return Err(Why::beyond(
            "the objective has no neighbours to audit with: use MultiTaskSample or Tuning",
        ));
    };
    // A certificate that may fail for a share of the functions is put to the test on the worst of the others.
    let (failure, epsilon) = (any.failure(), any.tested(delta)?);
    pairs.sort_by(|a, b| b.0.total_cmp(&a.0));
    let tried = pairs.len();
    let above = pairs.iter().filter(|(loss, _)| *loss > epsilon).count();
    let passed_over = ((failure * tried as f64) as usize).min(tried - 1);
    let largest = pairs[0].0;
    let (loss, publication) = pairs.swap_remove(passed_over);
    let statement = publication.statement(&series.name, delta);
    let mut system = System::new(statement, publication);
    let permitted = if failure > 0.0 {
        format!(
            "; the claim may fail for a share of {failure} of the functions, so the worst {passed_over} are passed over"
        )
    } else {
        String::new()
    };
    system.notes.push(format!(
        "exact loss of the releases on this pair: {loss:.4}; the largest of {tried} pairs is {largest:.4}, and {above} \
         exceed {epsilon:.4}{permitted}"
    ));
    Ok(vec![vec![system]])
}

/// What readers get, on two data sets whose searches are over.
struct Publication {
    words: String,
    setting: Option<(SettingRelease, [Vec<f64>; 2])>,
    value: Option<(ValueRelease, [Secrets; 2])>,
    prices: Vec<Price>,
    /// ln of each setting's probability, by world, up to a constant.
    log_probabilities: Option<[Vec<f64>; 2]>,
    /// Scale of the Laplace noise.
    scale: Option<f64>,
    /// The exact loss, at delta 0.
    pair: Option<KnownPair>,
}

impl Publication {
    fn new(
        series: &ReleaseSeries,
        task: &Task,
        secrets: [Secrets; 2],
        words: String,
        delta: Option<f64>,
    ) -> Result<Option<Self>, String> {
        let plan = series.publication.as_dyn().plan(task)?;
        let failed = |error: crate::privacy::mechanisms::MechanismError| error.to_string();
        let mut prices = Vec::new();
        let mut log_probabilities = None;
        let setting = match plan.setting {
            Some(release) => {
                let utilities = [
                    secrets[0].utilities(task, release.utility)?,
                    secrets[1].utilities(task, release.utility)?,
                ];
                let price =
                    release.mechanism.price(&utilities[0], &Neighbours::ReplaceOne).map_err(failed)?;
                let epsilon = match price.cost {
                    Cost::ExponentialMechanism { epsilon } | Cost::PureDp { epsilon } => Some(epsilon),
                    _ => None,
                };
                if let (Some(epsilon), Some(sensitivity)) = (epsilon, price.sensitivity) {
                    log_probabilities =
                        Some([0, 1].map(|w| log_softmax(&utilities[w], epsilon / (2.0 * sensitivity))));
                }
                prices.push(price);
                Some((release, utilities))
            }
            None => None,
        };
        let mut scale = None;
        let value = match plan.value {
            Some(release) => {
                let price = release.mechanism.price(&vec![0.0], &Neighbours::ReplaceOne).map_err(failed)?;
                if let (Cost::Laplace { scale: relative }, Some(sensitivity)) =
                    (&price.cost, price.sensitivity)
                {
                    scale = Some(relative * sensitivity);
                }
                prices.push(price);
                Some((release, secrets))
            }
            None => None,
        };
        // Nothing is claimed for what has no noise.
        if prices.is_empty() || prices.iter().any(|price| price.basis == Basis::Unprotected) {
            return Ok(None);
        }
        let mut publication = Self { words, setting, value, prices, log_probabilities, scale, pair: None };
        if delta.unwrap_or(0.0) == 0.0 && publication.is_known() {
            publication.pair = Some(KnownPair::largest(publication.loss()));
        }
        Ok(Some(publication))
    }

    /// The number that is released with noise, if this setting was.
    fn number(of: ValueOf, secrets: &Secrets, setting: Option<usize>) -> Result<f64, String> {
        let number = match of {
            ValueOf::Best => secrets.best(),
            ValueOf::Last => secrets.last(),
            ValueOf::Setting => setting.and_then(|setting| secrets.mean(setting)),
        };
        number.ok_or_else(|| "no setting was tried, so there is no performance to release".to_owned())
    }

    /// How far the numbers of the two worlds lie apart, if this setting was released.
    fn apart(&self, setting: Option<usize>) -> f64 {
        let Some((release, secrets)) = &self.value else { return 0.0 };
        let numbers = [0, 1].map(|w| Self::number(release.of, &secrets[w], setting));
        match numbers {
            [Ok(a), Ok(b)] => (a - b).abs(),
            _ => 0.0,
        }
    }

    /// The exact largest loss of the releases on this pair, by the densities of exponential mechanism and Laplace noise.
    fn loss(&self) -> f64 {
        let value = |setting| self.scale.map_or(0.0, |scale| self.apart(setting) / scale);
        match &self.log_probabilities {
            Some([given, neighbour]) => given
                .iter()
                .zip(neighbour)
                .enumerate()
                .map(|(i, (a, b))| (a - b).abs() + value(Some(i)))
                .fold(0.0, f64::max),
            None => value(None),
        }
    }

    /// Whether the densities of all that is released are known.
    fn is_known(&self) -> bool {
        self.setting.is_some() == self.log_probabilities.is_some()
            && self.value.is_some() == self.scale.is_some()
    }

    /// Probability, over functions, with which the claims may fail.
    fn failure(&self) -> f64 {
        self.prices.iter().filter_map(|price| price.claim.as_ref()).map(|claim| claim.delta).sum()
    }

    fn tested(&self, delta: Option<f64>) -> Result<f64, String> {
        self.statement("", delta).tested().ok_or_else(|| "nothing is claimed".to_owned())
    }

    /// What is said about it. The mechanisms are pure, and a claim's delta is about functions, not about the noise of a
    /// release: so delta is 0 unless another one is asked for.
    fn statement(&self, name: &str, delta: Option<f64>) -> Statement {
        let claims = || self.prices.iter().filter_map(|price| price.claim.as_ref());
        let delta = delta.unwrap_or(0.0);
        let failure = self.failure();
        let claim = claims().next().map(|first| {
            let but = if failure > 0.0 {
                format!(", with probability {} over functions", 1.0 - failure)
            } else {
                String::new()
            };
            (claims().map(|claim| claim.epsilon).sum(), format!("{}{but}", first.source))
        });
        let counted: Vec<(&Price, u64)> = self.prices.iter().map(|price| (price, 1)).collect();
        let proven = upper_bound(&counted, delta);
        let mut words: Vec<&str> = self.prices.iter().map(|price| price.mechanism).collect();
        words.dedup();
        Statement {
            name: name.to_owned(),
            about: words.join("; "),
            neighbours: self.words.clone(),
            observer: OBSERVER.to_owned(),
            delta,
            claim,
            proven,
            disjoint: None,
            broken: false,
        }
    }
}

/// ln of the probabilities proportional to exp(scale u).
fn log_softmax(utilities: &[f64], scale: f64) -> Vec<f64> {
    let best = utilities.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let total: f64 = utilities.iter().map(|u| libm::exp(scale * (u - best))).sum();
    utilities.iter().map(|u| scale * (u - best) - libm::log(total)).collect()
}

impl Experiment for Publication {
    fn tests(&self) -> Vec<String> {
        vec!["likelihood ratio".to_owned()]
    }

    fn trial(&self, world: World, key: Key) -> Result<Transcript, String> {
        let w = world.index();
        let mut stream = key.stream();
        let mut score = 0.0;
        let mut chosen = None;
        if let Some((release, utilities)) = &self.setting {
            let setting =
                release.mechanism.privatise(&utilities[w], &mut stream).map_err(|error| error.to_string())?;
            if let Some([given, neighbour]) = &self.log_probabilities {
                score += given[setting] - neighbour[setting];
            }
            chosen = Some(setting);
        }
        if let Some((release, secrets)) = &self.value {
            let numbers = [
                Self::number(release.of, &secrets[0], chosen)?,
                Self::number(release.of, &secrets[1], chosen)?,
            ];
            let released = release
                .mechanism
                .privatise(&vec![numbers[w]], &mut stream)
                .map_err(|error| error.to_string())?;
            if let (Some(y), Some(scale)) = (released.first(), self.scale) {
                score += ((y - numbers[1]).abs() - (y - numbers[0]).abs()) / scale;
            }
        }
        Ok(Transcript::rounded(vec![score]))
    }

    fn pair(&self) -> Option<&KnownPair> {
        self.pair.as_ref()
    }
}
