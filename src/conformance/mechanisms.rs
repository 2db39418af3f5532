//! Conformance tests of the families of mechanisms. They check what releases of inputs, outcomes and rewards state
//! besides their privacy costs.

use super::{Violation, Violations, key};
use crate::privacy::mechanisms::inputs::Input;
use crate::privacy::mechanisms::outcomes::Outcome;
use crate::privacy::mechanisms::reports::{ReportError, RewardFacts, RewardReport};
use crate::privacy::mechanisms::{MechanismError, Rows};
use crate::rng::Stream;
use crate::vocab::{Cost, Neighbours, Positive};

/// Number of draws, for each input, from which a variance is estimated.
const DRAWS: u32 = 40_000;

/// Checks the stated variance of the noise, at five evenly spaced inputs from `from` to `to`. The variance of the noise
/// must not exceed the stated variance at any of these inputs, and must reach it at one of them at least.
fn variance(
    found: &mut Violations,
    stated: f64,
    [from, to]: [f64; 2],
    draw: &dyn Fn(f64, &mut Stream) -> Result<f64, MechanismError>,
) -> Result<(), MechanismError> {
    let fits = stated.is_finite() && stated >= 0.0;
    found.require(fits, "a variance that is finite and not negative", || stated.to_string());
    let mut most = f64::NEG_INFINITY;
    for step in 0..5u32 {
        let input = from + (to - from) * f64::from(step) / 4.0;
        let mut stream = key("variance").index(u64::from(step)).stream();
        let mut draws = Vec::with_capacity(DRAWS as usize);
        for _ in 0..DRAWS {
            draws.push(draw(input, &mut stream)?);
        }
        let n = f64::from(DRAWS);
        let mean = draws.iter().sum::<f64>() / n;
        let squares: Vec<f64> = draws.iter().map(|draw| (draw - mean).powi(2)).collect();
        let own = squares.iter().sum::<f64>() / n;
        let error = (squares.iter().map(|square| (square - own).powi(2)).sum::<f64>() / n / n).sqrt();
        let slack = 6.0 * error + 1e-9 * stated;
        found.require(own <= stated + slack, "no more variance than is stated", || {
            format!("{own} at {input} where {stated} is stated")
        });
        most = most.max(own + slack);
    }
    found.require(most >= stated, "as much variance as is stated, at some number", || {
        format!("at most {most} where {stated} is stated")
    });
    Ok(())
}

/// Checks that a stated delta is in its range.
fn delta(found: &mut Violations, delta: f64) {
    found.require((0.0..1.0).contains(&delta), "a delta from 0 to below 1", || delta.to_string());
}

/// Checks the rules of releases of outcomes:
///
/// * Mechanism, variance and delta are the same at every call.
/// * Delta is from 0 to below 1.
/// * An outcome without protection has no noise.
/// * At five evenly spaced outcomes, the variance of the noise never exceeds the stated variance, and reaches it at
///   least once. The first and the last of these outcomes are the worst pair of neighbours, or -1 and 1 if the mechanism
///   names no pair.
///
/// The draws of an external program are not tested. [`mechanism`](super::mechanism) tests the privacy cost.
///
/// # Errors
/// [`MechanismError`] if the mechanism cannot release, or cannot state its variance or its privacy cost.
pub fn outcome(recipe: &dyn Outcome) -> Result<Vec<Violation>, MechanismError> {
    let mut found = Violations::default();
    let stated = recipe.variance()?;
    let same = stated.to_bits() == recipe.variance()?.to_bits()
        && recipe.delta().to_bits() == recipe.delta().to_bits()
        && format!("{:?}", recipe.mechanism()) == format!("{:?}", recipe.mechanism());
    found.require(same, "the same mechanism, variance and delta at every call", || "others".to_owned());
    delta(&mut found, recipe.delta());
    match recipe.mechanism() {
        None => found.require(stated == 0.0, "no variance without a mechanism", || stated.to_string()),
        Some(mechanism) if recipe.programs().is_empty() => {
            let ends = mechanism.worst_pair(&0.0).map_or([-1.0, 1.0], |pair| pair.inputs);
            mechanism.price(&ends[0], &Neighbours::AnyValue)?;
            variance(&mut found, stated, ends, &|input, stream| mechanism.privatise(&input, stream))?;
        }
        Some(_) => {}
    }
    Ok(found.0)
}

/// Checks the rules of reward reports, for rewards of which `facts` are known:
///
/// * The mechanism is the same at every call.
/// * There is an epsilon above 0 if and only if there is a mechanism.
/// * The mechanism's bound is finite and above 0. A reward counts as exceeding the bound if and only if the reward's
///   absolute value is larger than the bound.
/// * The mechanism states its cost for the neighbouring relation that it names.
/// * With equal random numbers, a mechanism that clips gives a reward beyond the bound the same report as the reward of
///   equal sign at the bound.
/// * At five evenly spaced rewards within the bound, the variance of the noise never exceeds the stated variance, and
///   reaches it at least once.
/// * A stated Laplace scale agrees with the stated variance.
///
/// [`mechanism`](super::mechanism) tests the privacy cost.
///
/// # Errors
/// [`ReportError`] if the recipe cannot make its mechanism for these rewards, or if the mechanism cannot report a reward.
pub fn report(recipe: &dyn RewardReport, facts: &RewardFacts<'_>) -> Result<Vec<Violation>, ReportError> {
    let mut found = Violations::default();
    let (made, again) = (recipe.mechanism(facts)?, recipe.mechanism(facts)?);
    let same = format!("{made:?}") == format!("{again:?}");
    found.require(same, "the same mechanism at every call", || "another one".to_owned());
    let epsilon = recipe.epsilon();
    let fits = epsilon.is_some() == made.is_some() && epsilon.is_none_or(|epsilon| epsilon > 0.0);
    found.require(fits, "an epsilon above 0 if and only if there is a mechanism", || format!("{epsilon:?}"));
    let Some(mechanism) = made else { return Ok(found.0) };
    let bound = mechanism.bound();
    let positive = bound.is_finite() && bound > 0.0;
    found.require(positive, "a bound that is finite and above 0", || bound.to_string());
    let exceeds = |times: f64| mechanism.exceeds(times * bound);
    let beyond = [exceeds(-1.01), exceeds(-0.99), exceeds(0.0), exceeds(0.99), exceeds(1.01)];
    let right = beyond == [true, false, false, false, true];
    found.require(
        right,
        "that a reward counts as exceeding the bound if and only if its absolute value is larger",
        || format!("{beyond:?}"),
    );
    let neighbours = mechanism.neighbours();
    let priced = mechanism.price(&0.0, &neighbours);
    found.require(priced.is_ok(), "a price for the neighbours that are protected", || format!("{priced:?}"));
    let report = |reward: f64, stream: &mut Stream| mechanism.privatise(&reward, stream);
    if mechanism.clips() {
        for sign in [-1.0, 1.0] {
            for draw in 0..100 {
                let stream = || key("clipping").index(draw).stream();
                let ends = [report(sign * bound, &mut stream())?, report(sign * 1e3 * bound, &mut stream())?];
                found.require(
                    ends[0].to_bits() == ends[1].to_bits(),
                    "rewards that are clipped to the bound",
                    || format!("{} at the bound, {} beyond it", ends[0], ends[1]),
                );
            }
        }
    }
    let stated = mechanism.variance();
    variance(&mut found, stated, [-bound, bound], &report)?;
    if let Some(scale) = mechanism.laplace_scale() {
        let fits = (2.0 * scale * scale - stated).abs() <= 1e-9 * stated;
        found.require(fits, "a Laplace scale with the stated variance", || format!("{scale} and {stated}"));
    }
    Ok(found.0)
}

/// Checks the rules of releases of inputs, for a table in which one row moves by at most `distance`:
///
/// * `shows_inputs` is true (inputs are released, with noise or without) if and only if there is a mechanism.
/// * A reason for the lack of protection is given if and only if there is no mechanism or the mechanism's cost is
///   unprotected.
/// * If the mechanism's public random parts, such as a projection, are drawn from the same random stream, the mechanism is
///   the same.
/// * The mechanism releases as many rows as the table has, with as many columns as are stated.
/// * If the mechanism names worst neighbours, the two tables differ in one row, by at most the distance.
/// * If the mechanism names a worst direction, the direction has length 1 and one number for each column of the table.
/// * Delta is from 0 to below 1.
/// * The name of the release in the ledger (`release_name`) and its description in an audit (`about`) are not empty.
///
/// [`mechanism`](super::mechanism) tests the privacy cost.
///
/// # Errors
/// [`MechanismError`] if the recipe cannot make its mechanism for this table, or if the mechanism cannot state its privacy
/// cost or cannot release the table.
pub fn input(recipe: &dyn Input, rows: &Rows, distance: Positive) -> Result<Vec<Violation>, MechanismError> {
    let mut found = Violations::default();
    delta(&mut found, recipe.delta());
    let words = [recipe.release_name().to_owned(), recipe.about(rows)];
    found.require(
        words.iter().all(|words| !words.trim().is_empty()),
        "a name for the ledger and a description for an audit",
        || format!("{words:?}"),
    );
    let make = || recipe.mechanism(rows.d(), distance, &mut key("public part").stream());
    let (made, again) = (make()?, make()?);
    let same = format!("{made:?}") == format!("{again:?}");
    found.require(same, "the same mechanism for the same public stream", || "another one".to_owned());
    let shown = recipe.shows_inputs();
    found.require(
        shown == made.is_some(),
        "inputs that are shown if and only if there is a mechanism",
        || format!("shown: {shown}, a mechanism: {}", made.is_some()),
    );
    let reason = recipe.unprotected();
    let Some(mechanism) = made else {
        found.require(reason.is_some(), "a reason why nothing is protected", || "none".to_owned());
        return Ok(found.0);
    };
    let relation = Neighbours::RowMoved { distance: distance.get() };
    let price = mechanism.price(rows, &relation)?;
    let bare = price.cost == Cost::Unprotected;
    found.require(
        bare == reason.is_some(),
        "a reason for the lack of protection if and only if the price is unprotected",
        || format!("{reason:?} with {:?}", price.cost),
    );
    let released = mechanism.privatise(rows, &mut key("inputs").stream())?;
    let (shape, columns) = ((released.n(), released.d()), recipe.columns(rows.d() as u64));
    found.require(
        (shape.0, shape.1 as u64) == (rows.n(), columns),
        "the columns that are stated, for every row",
        || format!("{shape:?} where {columns} columns are stated for {} rows", rows.n()),
    );
    if let Some(pair) = mechanism.worst_pair(rows) {
        let [given, other] = &pair.inputs;
        let alike =
            (given.n(), given.d()) == (rows.n(), rows.d()) && (other.n(), other.d()) == (rows.n(), rows.d());
        let moves: Vec<f64> = (0..rows.n().min(given.n()).min(other.n()))
            .map(|row| {
                let squares = given.row(row).iter().zip(other.row(row)).map(|(a, b)| (a - b) * (a - b));
                squares.sum::<f64>().sqrt()
            })
            .filter(|moved| *moved > 0.0)
            .collect();
        let one = moves.len() == 1 && moves[0] <= distance.get() * (1.0 + 1e-9);
        found.require(alike && one, "worst neighbours with one row moved by at most the distance", || {
            format!("rows moved by {moves:?}")
        });
    }
    if let Some((direction, _)) = mechanism.worst_direction() {
        let length = direction.iter().map(|part| part * part).sum::<f64>().sqrt();
        let unit = direction.len() == rows.d() && (length - 1.0).abs() < 1e-9;
        found.require(unit, "a worst direction of length 1", || format!("{direction:?}"));
    }
    Ok(found.0)
}
