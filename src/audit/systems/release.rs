//! Audits of the protocol `Release`, for an observer who reads the publication. The neighbours are two sets of real
//! validation records that differ in one record. If the objective draws random functions, they are the two functions that it
//! draws for two neighbouring validation sets.

use super::audited::{AuditContext, Audited, named};
use super::request::Request;
use super::system::{Candidates, NotAuditedReason, System};
use crate::audit::error::AuditError;
use crate::audit::measure::{Experiment, KnownPair, NeighbourSide, Transcript};
use crate::audit::verdict::{Statement, upper_bound};
use crate::privacy::mechanisms::{Distinguisher, Laws, Mechanism, Price, RATIO};
use crate::protocols::release::{
    AboveThreshold, EverySetting, RandomRepetitions, Release, ReleaseSeries, Search, SettingRelease, Task,
    TrialResults, ValueOf, ValueRelease,
};
use crate::rng::Key;
use crate::vocab::{Basis, Cost, Neighbours};

/// Largest number of pairs of neighbours from which the audited pair is chosen.
const PAIRS: u64 = 20;
/// The observer of a publication.
const OBSERVER: &str = "anyone who reads the publication";
/// Why a publication without noise is not audited.
const BARE: &str = "the publication has no noise: nothing is claimed";
/// Why a publication whose search asks a program is not audited.
const BY_PROGRAM: &str = "its search asks a program: the auditor would have to repeat the search on neighbouring data, but two \
     searches by a program may differ although the data do not; audit the series with a learner of the library instead, \
     which has the same mechanism and the same sensitivity";

impl Audited for Release {
    fn candidates(
        &self,
        series: &str,
        context: &AuditContext<'_>,
    ) -> Result<Vec<Candidates>, NotAuditedReason> {
        candidates(self, named(&self.series, series, |series| &series.name)?, context)
    }

    fn refuses(&self, request: &Request) -> Option<&'static str> {
        let given = request.neighbour.is_some();
        given.then_some("Release finds its neighbours itself: leave out --neighbour")
    }
}

/// Whether a user's own program chooses the settings.
fn asks_a_program(series: &ReleaseSeries, task: &Task) -> Result<bool, AuditError> {
    let search = series.publication.as_dyn().search(task).map_err(AuditError::scenario)?;
    Ok(matches!(search, Search::Learner(learner) if !learner.as_dyn().programs().is_empty()))
}

/// Whether what is released is claimed to be private.
fn protects(series: &ReleaseSeries, task: &Task) -> Result<bool, AuditError> {
    let plan = series.publication.as_dyn().plan(task).map_err(AuditError::scenario)?;
    let like = vec![0.0; task.n()];
    let setting = plan.setting.map(|release| release.mechanism.price(&like, &Neighbours::ReplaceOne));
    let value = plan.value.map(|release| release.mechanism.price(&vec![0.0], &Neighbours::ReplaceOne));
    let prices = setting.into_iter().chain(value).collect::<Result<Vec<Price>, _>>()?;
    Ok(!prices.is_empty() && prices.iter().all(|price| price.basis != Basis::Unprotected))
}

/// The publication of a series on the pair of data sets with the largest [`Publication::loss`] of several pairs. If a
/// claim may fail for a share of the functions, the pairs with the largest losses, up to this share of all pairs, are
/// passed over.
fn candidates(
    recipe: &Release,
    series: &ReleaseSeries,
    context: &AuditContext<'_>,
) -> Result<Vec<Candidates>, NotAuditedReason> {
    let delta = context.delta;
    if recipe.silence.is_some_and(|silence| silence.depends()) {
        return Err(NotAuditedReason::NoAttack(
            "which outcomes the search knows depends on their values (`silence`); the auditor \
             repeats only publications of searches that know all of them",
        ));
    }
    if series.publication.get::<EverySetting>().is_some() {
        return Err(NotAuditedReason::NoAttack(
            "each setting is published before the next is tried, so every trial of the audit would have to repeat the whole \
             search; the auditor repeats the last release only",
        ));
    }
    if series.publication.get::<AboveThreshold>().is_some() {
        return Err(NotAuditedReason::NoAttack(
            "its search stops at a noisy comparison: audit the mechanism itself (`subrosa audit mechanism above-threshold`)",
        ));
    }
    if series.publication.get::<RandomRepetitions>().is_some() {
        return Err(NotAuditedReason::NoAttack(
            "its number of trials is random, and only the best of them is published: audit the mechanism itself (`subrosa \
             audit mechanism private-selection`)",
        ));
    }
    let mut pairs: Vec<(f64, Publication)> = Vec::new();
    for replication in 0..PAIRS {
        let (stage, key) = context.replication_setup(replication)?;
        let instance = stage.objective(&series.name).map_err(AuditError::from)?;
        let task = series.publication.as_dyn().prepared_task(Task::of(instance, recipe.rounds));
        if asks_a_program(series, &task)? {
            return Err(if protects(series, &task)? {
                NotAuditedReason::NoAttack(BY_PROGRAM)
            } else {
                NotAuditedReason::Unprotected(BARE)
            });
        }
        let neighbours = match (&instance.background.neighbour, &stage.prepared) {
            (Some(values), _) => vec![(
                "the functions of two neighbouring validation sets, each with its own noise".to_owned(),
                values.to_vec(),
            )],
            (None, Some(prepared)) => prepared.neighbours(PAIRS, key.child("audit").child("neighbours")),
            (None, None) => Vec::new(),
        };
        for (words, values) in &neighbours {
            // Evaluations of two functions have independent noise; evaluations on two neighbouring sets of records have
            // the same noise, so that the two sides of the pair differ in the record only.
            let own =
                if instance.background.neighbour.is_some() { "neighbour noise" } else { "objective noise" };
            let secrets = [
                recipe.secrets(series, &task, &instance.values, key.child("objective noise"), key),
                recipe.secrets(series, &task, values, key.child(own), key),
            ];
            let [given, neighbour] = secrets.map(|secrets| secrets.map_err(AuditError::scenario));
            let secrets = [given?, neighbour?];
            let Some(publication) = Publication::new(series, &task, secrets, words.clone(), delta)? else {
                return Err(NotAuditedReason::Unprotected(BARE));
            };
            pairs.push((publication.loss(), publication));
        }
        if instance.background.neighbour.is_none() {
            // Real records are the same in all replications.
            break;
        }
    }
    let Some((_, any)) = pairs.first() else {
        return Err(NotAuditedReason::NoAttack(
            "the objective has no neighbours to audit with: use MultiTaskSample or Tuning",
        ));
    };
    // If a guarantee may fail for a share of the functions, that share of the pairs is left out, the worst ones first.
    let (failure, epsilon) = (any.failure(), any.tested(delta)?);
    pairs.sort_by(|a, b| b.0.total_cmp(&a.0));
    let tried = pairs.len();
    let above = pairs.iter().filter(|(loss, _)| *loss > epsilon).count();
    let passed_over = ((failure * tried as f64) as usize).min(tried - 1);
    let largest = pairs[0].0;
    let (loss, publication) = pairs.swap_remove(passed_over);
    let what = match publication.is_known() {
        true => "exact loss of the releases",
        false => "loss of those releases whose output distributions are known",
    };
    let statement = publication.statement(&series.name, delta);
    let mut system = System::new(statement, publication);
    let permitted = if failure > 0.0 {
        format!(
            "; the claim may fail for a share of {failure} of the functions, so the worst {passed_over} are left out"
        )
    } else {
        String::new()
    };
    system.notes.push(format!(
        "{what} on this pair: {loss:.4}; the largest of {tried} pairs is {largest:.4}, and the losses of {above} \
         exceed {epsilon:.4}{permitted}"
    ));
    Ok(vec![vec![system]])
}

/// The publication on two data sets, after the search has ended on each of them.
struct Publication {
    words: String,
    setting: Option<Chosen>,
    value: Option<(ValueRelease, [TrialResults; 2])>,
    prices: Vec<Price>,
    /// The pair with its exact loss at delta 0; `None` at another delta, or if the loss is not
    /// known.
    pair: Option<KnownPair>,
}

/// The release of a setting: the mechanism that chooses it, the utilities of all settings on both data sets, and the
/// tests that distinguish the two data sets.
struct Chosen {
    release: SettingRelease,
    utilities: [Vec<f64>; 2],
    distinguisher: Distinguisher<usize>,
}

impl Publication {
    fn new(
        series: &ReleaseSeries,
        task: &Task,
        secrets: [TrialResults; 2],
        words: String,
        delta: Option<f64>,
    ) -> Result<Option<Self>, AuditError> {
        let plan = series.publication.as_dyn().plan(task).map_err(AuditError::scenario)?;
        let mut prices = Vec::new();
        let mut setting = None;
        if let Some(release) = plan.setting {
            let utilities = |secrets: &TrialResults| {
                secrets.utilities(task, release.utility).map_err(AuditError::scenario)
            };
            let utilities = [utilities(&secrets[0])?, utilities(&secrets[1])?];
            prices.push(release.mechanism.price(&utilities[0], &Neighbours::ReplaceOne)?);
            let distinguisher = release.mechanism.distinguisher([&utilities[0], &utilities[1]])?;
            setting = Some(Chosen { release, utilities, distinguisher });
        }
        let mut value = None;
        if let Some(release) = plan.value {
            prices.push(release.mechanism.price(&vec![0.0], &Neighbours::ReplaceOne)?);
            value = Some((release, secrets));
        }
        // There is no claim for a publication without noise.
        if prices.is_empty() || prices.iter().any(|price| price.basis == Basis::Unprotected) {
            return Ok(None);
        }
        let mut publication = Self { words, setting, value, prices, pair: None };
        if delta.unwrap_or(0.0) == 0.0 && publication.is_known() {
            publication.pair = Some(KnownPair::largest(publication.loss()));
        }
        Ok(Some(publication))
    }

    /// The number that is released with noise if `setting` is the released setting.
    fn number(of: ValueOf, secrets: &TrialResults, setting: Option<usize>) -> Result<f64, AuditError> {
        let number = match of {
            ValueOf::Best => secrets.best(),
            ValueOf::Last => secrets.last(),
            ValueOf::Setting => setting.and_then(|setting| secrets.mean(setting)),
        };
        let missing = || AuditError::scenario("no setting was tried, so there is no performance to release");
        number.ok_or_else(missing)
    }

    /// The tests that distinguish the two data sets by the released number if `setting` is the released setting. `None`
    /// if no number is released, if one of the data sets has no such number, or if the mechanism refuses a number.
    fn tests_of_value(&self, setting: Option<usize>) -> Option<Distinguisher<Vec<f64>>> {
        let (release, secrets) = self.value.as_ref()?;
        let number = |secrets| Self::number(release.of, secrets, setting).ok().map(|number| vec![number]);
        let (given, neighbour) = (number(&secrets[0])?, number(&secrets[1])?);
        release.mechanism.distinguisher([&given, &neighbour]).ok()
    }

    /// The largest loss of the releases on this pair, by the distributions that the mechanisms state. It is exact if
    /// [`Self::is_known`]. Otherwise a loss that is not known counts as 0: that of a number whose noise is not Laplace
    /// noise, or that of a setting whose mechanism has no test by likelihood ratio.
    fn loss(&self) -> f64 {
        let value = |setting| self.tests_of_value(setting).as_ref().and_then(largest_loss).unwrap_or(0.0);
        match &self.setting {
            Some(Chosen { utilities, distinguisher, .. }) => (0..utilities[0].len())
                .map(|setting| distinguisher.log_ratio(&setting).abs() + value(Some(setting)))
                .fold(0.0, f64::max),
            None => value(None),
        }
    }

    /// Whether [`Self::loss`] is exact: the distribution of the released setting is known, and the noise of the released
    /// number is Laplace noise.
    fn is_known(&self) -> bool {
        let number = || {
            let (release, _) = self.value.as_ref()?;
            let distinguisher = release.mechanism.distinguisher([&vec![0.0], &vec![1.0]]).ok()?;
            largest_loss(&distinguisher)
        };
        self.setting.as_ref().is_none_or(|chosen| chosen.distinguisher.laws.is_some())
            && (self.value.is_none() || number().is_some())
    }

    /// The probability, over functions, with which some claim may fail: the sum of the deltas of all claims.
    fn failure(&self) -> f64 {
        self.prices.iter().filter_map(|price| price.claim.as_ref()).map(|claim| claim.delta).sum()
    }

    fn tested(&self, delta: Option<f64>) -> Result<f64, AuditError> {
        let tested = self.statement("", delta).tested();
        tested.ok_or_else(|| AuditError::scenario("nothing is claimed"))
    }

    /// The claim about the publication. The mechanisms are epsilon-DP with delta 0. A claim's delta is the probability,
    /// over functions, that the claim fails, and not a probability over the noise of a release. So the statement has
    /// delta 0, unless the argument `delta` requests another value.
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

/// The largest privacy loss of Laplace noise on one number: 0 if the number is the same on both data sets, `None` for
/// noise that is not Laplace noise.
fn largest_loss(distinguisher: &Distinguisher<Vec<f64>>) -> Option<f64> {
    let Laws::Costs(costs) = &distinguisher.laws.as_ref()?.laws else { return None };
    let one = |cost: &Cost| match cost {
        Cost::Laplace { scale } => Some(1.0 / scale),
        _ => None,
    };
    costs.iter().map(one).sum()
}

impl Experiment for Publication {
    fn tests(&self) -> Vec<String> {
        vec![RATIO.to_owned()]
    }

    fn trial(&self, side: NeighbourSide, key: Key) -> Result<Transcript, AuditError> {
        let w = side.index();
        let mut stream = key.stream();
        let mut score = 0.0;
        let mut chosen = None;
        if let Some(Chosen { release, utilities, distinguisher }) = &self.setting {
            let setting = release.mechanism.privatise(&utilities[w], &mut stream)?;
            score += distinguisher.log_ratio(&setting);
            chosen = Some(setting);
        }
        if let Some((release, secrets)) = &self.value {
            let number = Self::number(release.of, &secrets[w], chosen)?;
            let released = release.mechanism.privatise(&vec![number], &mut stream)?;
            score +=
                self.tests_of_value(chosen).map_or(0.0, |distinguisher| distinguisher.log_ratio(&released));
        }
        Ok(Transcript::rounded(vec![score]))
    }

    fn pair(&self) -> Option<&KnownPair> {
        self.pair.as_ref()
    }
}
