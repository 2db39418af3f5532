//! Conformance tests of mechanisms, accountants and publications.

use super::{Violation, Violations, key};
use crate::accounting::{Accountant, Composition, EpsilonKind, Tight};
use crate::audit::{AuditError, Effort, Releases, measure, upper_bound};
use crate::privacy::mechanisms::{Mechanism, Selected, SelectedTrial};
use crate::protocols::release::{CannotRelease, Publication, Task};
use crate::vocab::{Cost, Delta, Neighbours};
use std::fmt;
use std::sync::Arc;

/// Checks the rules of mechanisms:
///
/// * A mechanism that names no worst known pair of neighbours states an unprotected release.
/// * The same stream gives the same release.
/// * The privacy cost does not depend on the values of the input.
/// * Unless the release is unprotected, the cost has a finite epsilon at `delta`, whose basis is `Proven` or `Conditional`;
///   `AsPublished` does not suffice.
/// * The audit's attack on the worst known pair of neighbours does not show, with 95 % confidence and `trials` releases of
///   each neighbour, that epsilon is above the epsilon of the stated cost.
/// * If the exact epsilon of this pair at `delta` is known, it is not above the epsilon of the stated cost either.
///
/// Other pairs and attacks are not tried.
///
/// # Errors
/// [`AuditError`] if the mechanism cannot release this input or state its cost. Also the errors of [`measure`], for example
/// if `trials` is too small.
pub fn mechanism<M>(
    mechanism: M,
    like: &M::Input,
    neighbours: &Neighbours,
    delta: f64,
    trials: u64,
) -> Result<Vec<Violation>, AuditError>
where
    M: Mechanism + Clone + Sync,
    M::Input: Clone + Sync,
    M::Output: fmt::Debug,
{
    let mut found = Violations::default();
    let price = mechanism.price(like, neighbours)?;
    let draw =
        || mechanism.privatise(like, &mut key("mechanism").stream()).map(|output| format!("{output:?}"));
    let (once, twice) = (draw()?, draw()?);
    found.require(once == twice, "the same release for the same stream", || format!("{once} and {twice}"));
    let unprotected = price.cost == Cost::Unprotected;
    let Some(pair) = mechanism.worst_pair(like) else {
        found.require(unprotected, "a worst known pair, or an unprotected release", || "none".to_owned());
        return Ok(found.0);
    };
    for input in &pair.inputs {
        let other = mechanism.price(input, neighbours)?;
        found.require(other == price, "a cost that does not depend on values", || format!("{other:?}"));
    }
    let Some((claimed, _)) = upper_bound(&[(&price, 1)], delta) else {
        found.require(unprotected, "a finite epsilon at this delta that is proven or conditional", || {
            format!("{:?} ({:?})", price.cost, price.basis)
        });
        return Ok(found.0);
    };
    let experiment = Releases::on(mechanism.clone(), pair, 1)?;
    let effort = Effort { trials, key: key("audit"), delta, models: false };
    let evidence = measure(&experiment, effort, &|_| {})?;
    found.require(evidence.epsilon_lower <= claimed, "no more loss than the stated cost", || {
        format!("epsilon of at least {} where {claimed} is stated", evidence.epsilon_lower)
    });
    if let Some(known) = evidence.pair {
        let within = !known.exceeds(claimed);
        found.require(within, "known distributions with no more loss than the stated cost", || {
            format!("{} where {claimed} is stated", known.epsilon)
        });
    }
    Ok(found.0)
}

/// Compositions with costs of every kind except `Unprotected`, each cost with its count.
fn histories() -> Vec<Vec<(Cost, u64)>> {
    let gaussian = Cost::Gaussian { noise_multiplier: 4.0 };
    let sampled = Cost::PoissonGaussian { rate: 0.05, noise_multiplier: 1.5 };
    let drawn = Cost::FixedSizeGaussian { population: 200, size: 10, noise_multiplier: 2.0 };
    let laplace = Cost::Laplace { scale: 20.0 };
    let pure = Cost::PureDp { epsilon: 0.05 };
    vec![
        vec![(gaussian.clone(), 10)],
        vec![(laplace.clone(), 30)],
        vec![(Cost::ExponentialMechanism { epsilon: 0.1 }, 20)],
        vec![(Cost::RandomizedResponse { epsilon: 0.1 }, 20)],
        vec![(pure.clone(), 40)],
        vec![(Cost::ZeroConcentratedDp { rho: 0.01 }, 5)],
        vec![(Cost::RepeatedGaussian { noise_multiplier: 20.0, shape: 1.0, mean: 10.0 }, 3)],
        vec![(Cost::PoissonRepeatedGaussian { noise_multiplier: 20.0, mean: 10.0 }, 3)],
        vec![(Cost::ApproximateDp { epsilon: 0.2, delta: 1e-12 }, 5)],
        vec![(sampled.clone(), 100)],
        vec![(drawn, 100)],
        vec![(gaussian, 3), (laplace, 5), (pure, 2)],
        vec![(sampled, 50), (Cost::Laplace { scale: 3.0 }, 1)],
    ]
}

fn composed<'a>(costs: impl IntoIterator<Item = &'a (Cost, u64)>) -> Composition {
    costs.into_iter().map(|(cost, count)| (cost, *count)).collect()
}

/// Relative tolerance of comparisons between epsilons, for discretisation and rounding errors.
const APART: f64 = 1e-3;

/// Checks the rules of accountants:
///
/// * The name is one word of lower-case letters and digits.
/// * Epsilon is never NaN or negative. It is 0 without releases, and infinite for an unprotected release.
/// * Epsilon is the same at a second call with the releases in reverse order.
/// * Epsilon does not decrease if delta decreases, and is no smaller for all releases than for a single release with the
///   first of their costs.
/// * A note explains every infinite epsilon.
/// * A bound is no smaller than the proven lower bound of the tight accountant.
///
/// Where one epsilon must be no smaller than another, a relative difference of 1e-3 is allowed.
#[must_use]
pub fn accountant(theorem: &dyn Accountant) -> Vec<Violation> {
    let mut found = Violations::default();
    let delta = |delta: f64| Delta::new(delta).expect("between 0 and 1");
    let word = theorem.name();
    let lower =
        !word.is_empty() && word.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit());
    found.require(lower, "a name of lower-case letters and digits", || format!("{word:?}"));
    let nothing = theorem.price(&Composition::new(), delta(1e-5)).epsilon;
    found.require(nothing == 0.0, "a loss of 0 where nothing was released", || nothing.to_string());
    let bare = theorem.price(&composed(&[(Cost::Unprotected, 1)]), delta(1e-5));
    found.require(
        bare.epsilon.is_infinite() && !bare.notes.is_empty(),
        "an infinite loss, and a note, for what is not protected",
        || format!("{} with {} notes", bare.epsilon, bare.notes.len()),
    );
    let at_most = |small: f64, large: f64| small <= large * (1.0 + APART) + 1e-9;
    for costs in histories() {
        let mut larger: Option<(f64, f64)> = None;
        for at in [0.1, 1e-3, 1e-5, 1e-8] {
            let priced = theorem.price(&composed(&costs), delta(at));
            let epsilon = priced.epsilon;
            let words = || format!("{epsilon} for {costs:?} at delta {at}");
            found.require(epsilon >= 0.0, "a loss of 0 or more", words);
            found.require(
                epsilon.is_finite() || !priced.notes.is_empty(),
                "a note with an infinite loss",
                words,
            );
            let turned = theorem.price(&composed(costs.iter().rev()), delta(at)).epsilon;
            found.require(
                turned.to_bits() == epsilon.to_bits(),
                "the same loss at every call and in every order",
                || format!("{turned} and {}", words()),
            );
            if let Some((delta, before)) = larger {
                found.require(
                    at_most(before, epsilon),
                    "a loss that does not decrease if delta does",
                    || format!("{before} at delta {delta}, and {}", words()),
                );
            }
            larger = Some((at, epsilon));
            let one: Vec<(Cost, u64)> = costs.iter().map(|(cost, _)| (cost.clone(), 1)).take(1).collect();
            let single = theorem.price(&composed(&one), delta(at)).epsilon;
            found.require(
                at_most(single, epsilon),
                "no less loss for all releases than for one of them",
                || format!("{single} for one, and {}", words()),
            );
            let bound = priced.standing != EpsilonKind::NotABound && !theorem.is_approximation();
            let certain = Tight.price(&composed(&costs), delta(at)).lower.unwrap_or(0.0);
            found.require(
                !bound || at_most(certain, epsilon),
                "a bound no smaller than the proven lower bound",
                || format!("{}, where no less than {certain} is possible", words()),
            );
        }
    }
    found.0
}

/// Checks the rules of publications:
///
/// * Plan and search are the same at every call, because they must depend on public facts only.
/// * The plan's mechanisms state their privacy cost for one record replaced, and the cost does not depend on the values of
///   the input.
/// * The same stream gives the same release.
/// * The released setting exists.
/// * Every bound that the plan states on the quality of what is published is at least 0, and holds with a probability
///   from 0 to 1.
/// * A protected release whose mechanism names its worst pair of neighbours obeys the rules of [`mechanism`]. The delta for
///   these rules is 0 if the cost has a finite epsilon at delta 0 (as Laplace noise has), and otherwise 1e-5 (as for
///   Gaussian noise).
///
/// # Errors
/// [`AuditError`] if a search or a plan cannot be made for this task, or if a mechanism cannot release or state its cost.
/// Also the errors of [`mechanism`], for example if `trials` is too small.
pub fn publication(recipe: &dyn Publication, task: &Task, trials: u64) -> Result<Vec<Violation>, AuditError> {
    let mut found = Violations::default();
    let cannot = |error: CannotRelease| AuditError::Scenario(error.into());
    let searches = [recipe.search(task).map_err(cannot)?, recipe.search(task).map_err(cannot)?];
    found.require(searches[0] == searches[1], "the same search at every call", || format!("{searches:?}"));
    let (plan, again) = (recipe.plan(task).map_err(cannot)?, recipe.plan(task).map_err(cannot)?);
    let same = format!("{plan:?}") == format!("{again:?}");
    found.require(same, "the same plan at every call", || "another one".to_owned());
    for bound in plan.guarantees.iter().map(|guarantee| &guarantee.bound) {
        let fits = bound.at_most >= 0.0 && (0.0..=1.0).contains(&bound.probability);
        found.require(fits, "a bound of at least 0, with a probability from 0 to 1", || format!("{bound:?}"));
    }
    let n = task.n();
    if let Some(release) = plan.setting {
        let chosen: Arc<dyn Mechanism<Input = Vec<f64>, Output = usize> + Send + Sync> =
            release.mechanism.into();
        let utilities: Vec<f64> = (0..n).map(|setting| libm::sin(setting as f64)).collect();
        let setting = chosen.privatise(&utilities, &mut key("publication").stream())?;
        found.require(setting < n, "an existing setting", || format!("{setting} of {n}"));
        attacked(&mut found, chosen, &utilities, trials)?;
    }
    if let Some(release) = plan.value {
        let released: Arc<dyn Mechanism<Input = Vec<f64>, Output = Vec<f64>> + Send + Sync> =
            release.mechanism.into();
        attacked(&mut found, released, &vec![0.25], trials)?;
    }
    if let Some(release) = plan.best {
        let selected: Arc<dyn Mechanism<Input = Vec<Selected>, Output = SelectedTrial> + Send + Sync> =
            release.mechanism.into();
        // At most eight settings: for a search that stops at the first setting above a threshold, the exact likelihood ratio
        // takes longer to compute with every further setting.
        let tried: Vec<Selected> =
            (0..n.min(8) as u64).map(|setting| (setting, libm::sin(setting as f64))).collect();
        let setting = selected.privatise(&tried, &mut key("publication").stream())?;
        found.require(setting.is_none_or(|(setting, _)| setting < n as u64), "an existing setting", || {
            format!("{setting:?} of {n}")
        });
        attacked(&mut found, selected, &tried, trials)?;
    }
    Ok(found.0)
}

/// An element of the input of a mechanism: a value x, or the number of a setting together with the setting's result x.
trait Numbered {
    /// The same element with x replaced by 1 - 2 x.
    fn turned(&self) -> Self;
}

impl Numbered for f64 {
    fn turned(&self) -> Self {
        1.0 - 2.0 * self
    }
}

impl Numbered for Selected {
    fn turned(&self) -> Self {
        (self.0, self.1.turned())
    }
}

/// Checks one mechanism of a publication on the input `like`.
fn attacked<N: Numbered + Clone + Sync + 'static, O: fmt::Debug + 'static>(
    found: &mut Violations,
    release: Arc<dyn Mechanism<Input = Vec<N>, Output = O> + Send + Sync>,
    like: &Vec<N>,
    trials: u64,
) -> Result<(), AuditError> {
    let relation = Neighbours::ReplaceOne;
    let price = release.price(like, &relation)?;
    let other = release.price(&like.iter().map(Numbered::turned).collect(), &relation)?;
    found.require(other == price, "a cost that does not depend on values", || format!("{other:?}"));
    let draw =
        || release.privatise(like, &mut key("publication").stream()).map(|output| format!("{output:?}"));
    let (once, twice) = (draw()?, draw()?);
    found.require(once == twice, "the same release for the same stream", || format!("{once} and {twice}"));
    if price.cost != Cost::Unprotected && release.worst_pair(like).is_some() {
        let pure = upper_bound(&[(&price, 1)], 0.0).is_some_and(|(epsilon, _)| epsilon.is_finite());
        let delta = if pure { 0.0 } else { 1e-5 };
        for breach in mechanism(release, like, &relation, delta, trials)? {
            found.require(false, breach.rule, || breach.found);
        }
    }
    Ok(())
}
