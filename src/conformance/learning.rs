//! Conformance tests of noise, learners and objectives.

use super::{DRAWS, Violation, Violations, key};
use crate::gp::GpError;
use crate::learners::{Arms, BuildError, Learner, LearnerRecipe};
use crate::objectives::{DataSource, Noise, NoiseLaw, Objective, ObjectiveError, Resources};
use crate::rng::Stream;
use crate::vocab::Delta;

/// Checks the rules of noise distributions. Draws depend on the stream only. If the stated variance is finite, draws
/// have mean 0 and this variance. The absolute value of a draw is at most [`NoiseLaw::bound`]. It exceeds
/// [`NoiseLaw::tail`] at `delta` with a probability of at most `delta`, for `delta` 0.1 and 0.01.
#[must_use]
pub fn noise(law: &dyn NoiseLaw) -> Vec<Violation> {
    let mut found = Violations::default();
    let mut stream = key("noise").stream();
    let draws: Vec<f64> = (0..DRAWS).map(|_| law.draw(&mut stream)).collect();
    let mut again = key("noise").stream();
    let same = draws.iter().all(|&draw| law.draw(&mut again).to_bits() == draw.to_bits());
    found.require(same, "the same draws for the same stream", || "others".to_owned());
    let (n, variance) = (f64::from(DRAWS), law.variance());
    if variance.is_finite() {
        let mean = draws.iter().sum::<f64>() / n;
        found.require(mean.abs() <= 6.0 * (variance / n).sqrt(), "a mean of 0", || mean.to_string());
        let squares: Vec<f64> = draws.iter().map(|draw| draw * draw).collect();
        let second = squares.iter().sum::<f64>() / n;
        let spread = squares.iter().map(|square| (square - second).powi(2)).sum::<f64>() / n;
        let off = (second - variance).abs();
        found.require(
            off <= 6.0 * (spread / n).sqrt() + 1e-12 * variance,
            "the variance that is stated",
            || format!("{second} where {variance} is stated"),
        );
    }
    if let Some(bound) = law.bound() {
        let most = draws.iter().fold(0.0f64, |most, draw| most.max(draw.abs()));
        found.require(most <= bound, "draws within the bound", || format!("{most} beyond {bound}"));
    }
    for delta in [0.1, 0.01] {
        let Some(tail) = Delta::new(delta).ok().and_then(|delta| law.tail(delta)) else { continue };
        let beyond = draws.iter().filter(|draw| draw.abs() > tail).count() as f64 / n;
        let most = delta + 6.0 * (delta * (1.0 - delta) / n).sqrt();
        found.require(beyond <= most, "a tail bound that is exceeded no more often than stated", || {
            format!("{beyond} of the draws beyond {tail}, where {delta} is stated")
        });
    }
    found.0
}

/// Checks the rules of learners. Suggestions are existing arms. The same stream and outcomes give the same suggestions,
/// and a copy continues as the original. [`Learner::observe`] accepts every finite outcome of the arm that was
/// suggested.
///
/// # Errors
/// [`BuildError`] if the learner cannot be built for these arms.
pub fn learner(recipe: &dyn LearnerRecipe, arms: &Arms) -> Result<Vec<Violation>, BuildError> {
    let mut found = Violations::default();
    let (mut first, mut second) = (recipe.build(arms)?, recipe.build(arms)?);
    let (mut stream, mut again) = (key("learner").stream(), key("learner").stream());
    let mut copy: Option<(Box<dyn Learner>, Stream)> = None;
    for round in 0..40u64 {
        if round == 20 {
            copy = Some((first.clone(), stream.clone()));
        }
        let arm = first.suggest(&mut stream);
        found.require(arm < arms.n, "existing arms", || format!("arm {arm} of {}", arms.n));
        if arm >= arms.n {
            break;
        }
        let outcome = libm::sin(arm as f64) + 0.1 * libm::cos(round as f64);
        let other = second.suggest(&mut again);
        found.require(other == arm, "the same arms for the same stream", || format!("{other} and {arm}"));
        if let Some((copy, stream)) = &mut copy {
            let copied = copy.suggest(stream);
            found
                .require(copied == arm, "copies that continue identically", || format!("{copied} and {arm}"));
            require_ok(&mut found, copy.observe(arm, outcome));
        }
        require_ok(&mut found, first.observe(arm, outcome));
        require_ok(&mut found, second.observe(arm, outcome));
    }
    Ok(found.0)
}

fn require_ok(found: &mut Violations, observed: Result<(), GpError>) {
    if let Err(error) = observed {
        found.require(false, "no error for a finite outcome of the suggested arm", || error.to_string());
    }
}

/// Checks the rules of objectives:
///
/// * There is one finite value for each arm.
/// * The same key gives the same inputs, values and noise.
/// * An objective that reads files does not state `DataSource::Drawn` as its source.
/// * If `shift_grid` states a grid, the grid has as many points as there are arms.
/// * If the objective has arms (not a box) and computes its shifted functions itself, a shift of 0 gives the unshifted
///   function.
/// * Noise with a distribution obeys the rules of [`noise`].
///
/// # Errors
/// [`ObjectiveError`] if the objective cannot be prepared or realised.
pub fn objective(recipe: &dyn Objective, resources: &Resources) -> Result<Vec<Violation>, ObjectiveError> {
    let mut found = Violations::default();
    let (shared, own) = (key("objective").child("shared"), key("objective").child("own"));
    let instance = recipe.prepare(resources, None, shared)?.realise(own)?;
    let prepared = recipe.prepare(resources, None, shared)?;
    let again = prepared.realise(own)?;
    let reads = !recipe.files(resources).is_empty();
    found.require(
        !reads || prepared.source() != DataSource::Drawn,
        "a source that says that files are read",
        || "`Prepared::source` says that the data are drawn".to_owned(),
    );
    let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<u64>>();
    found.require(instance.values.len() == instance.inputs.n(), "a value for each arm", || {
        format!("{} values, {} arms", instance.values.len(), instance.inputs.n())
    });
    found.require(instance.values.iter().all(|value| value.is_finite()), "finite values", || {
        "others".to_owned()
    });
    let inputs = [&instance, &again].map(|drawn| (drawn.inputs.d(), bits(drawn.inputs.row_major())));
    let values = bits(&instance.values) == bits(&again.values);
    let same = inputs[0] == inputs[1] && values && instance.noise == again.noise;
    found.require(same, "the same problem for the same key", || "another one".to_owned());
    if let Some(counts) = recipe.shift_grid() {
        let points: usize = counts.iter().map(|count| count.get()).product();
        found.require(points == instance.inputs.n(), "a grid of all arms", || format!("{points} points"));
    }
    if recipe.continues() && recipe.domain().is_none() {
        let unmoved = prepared.shifted(own, &[vec![0.0; instance.inputs.d()]]).transpose()?;
        let same = unmoved.is_some_and(|all| all.len() == 1 && bits(&all[0]) == bits(&instance.values));
        found.require(same, "the function itself for a shift of 0", || "another one".to_owned());
    }
    if let Noise::Law(law) = &instance.noise {
        found.0.extend(noise(law.as_dyn()));
    }
    Ok(found.0)
}
