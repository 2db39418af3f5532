//! Outsourced optimisation: one record moved by the allowed distance, seen by the modeler.

use super::{Candidates, System};
use crate::objectives::Instance;
use crate::privacy::audit::{
    ProjectionAudit, RATIO, Releases, Score, Statement, noisy_table, reconstruct, upper_bound,
    worst_direction,
};
use crate::privacy::mechanisms::clipping::Range;
use crate::privacy::mechanisms::{JohnsonLindenstrauss, Mechanism, Price, Rows};
use crate::protocols::Stage;
use crate::protocols::outsourced::{InputRelease, OutcomeRelease, Outsourced, SeriesRecipe};
use crate::rng::{Key, Stream};
use crate::vocab::{Neighbours, Positive};

/// A neighbour moves a record by this much in the scaled inputs.
const DISTANCE: f64 = 1.0;
/// Random records that are moved in random directions.
const RANDOM: u64 = 2;

pub(super) fn systems(
    recipe: &Outsourced,
    stage: &Stage,
    key: Key,
    given: Option<&str>,
) -> Result<Vec<(String, Candidates)>, String> {
    let instance = stage.instance.as_ref().ok_or("the scenario has no objective")?;
    let rows = rows_of(instance)?;
    let mut stream = key.child("audit").child("neighbours").stream();
    let distance = Positive::new(DISTANCE).expect("1 is above 0");
    let neighbours = match given {
        Some(given) => vec![moved_as_given(&rows, given)?],
        None => moved_rows(&rows, &mut stream)?,
    };
    let mut found = Vec::new();
    for series in &recipe.series {
        let candidates = match &series.release {
            InputRelease::JohnsonLindenstrauss(mechanism) => {
                projection(&series.name, &recipe.modeler, mechanism, (&rows, &neighbours), &mut stream)?
            }
            InputRelease::NoisyRows(input) => {
                let mechanism = input.calibrated(distance).map_err(|error| error.to_string())?;
                let sd = mechanism.standard_deviation();
                let about = format!("{} records of {} numbers with Gaussian noise", rows.n(), rows.d());
                let words = Words { series: &series.name, observer: &recipe.modeler, about };
                let means = |rows: &Rows| Ok(rows.clone());
                noisy(&words, &mechanism, (&rows, &neighbours), &means, (sd, input.delta.get()))?
            }
            InputRelease::NoisyProjection(input) => {
                let drawn = input.drawn(rows.d(), distance, &mut stream);
                let mechanism = drawn.map_err(|error| error.to_string())?;
                let sd = mechanism.standard_deviation();
                let about = format!(
                    "a known projection of {} records to {} numbers, with Gaussian noise",
                    rows.n(),
                    input.r
                );
                let words = Words { series: &series.name, observer: &recipe.modeler, about };
                let mut neighbours = neighbours.clone();
                if given.is_none() {
                    let by = worst_direction(&mechanism, rows.d()).map_err(|error| error.to_string())?;
                    let text = "record 0 moved by 1 where the projection stretches most".to_owned();
                    neighbours.insert(0, (text, with_moved(&rows, 0, &by)?));
                }
                let means = |rows: &Rows| mechanism.projected(rows).map_err(|error| error.to_string());
                noisy(&words, &mechanism, (&rows, &neighbours), &means, (sd, input.delta.get()))?
            }
            // Nothing is claimed for them.
            InputRelease::Disclosure(_) | InputRelease::Withheld(_) => Vec::new(),
        };
        found.push((series.name.clone(), candidates));
        if given.is_none()
            && let Some(system) = outcome(series, &recipe.modeler)?
        {
            found.push((series.name.clone(), vec![system]));
        }
    }
    Ok(found)
}

/// What the audits of one release of a table have in common.
struct Words<'a> {
    series: &'a str,
    observer: &'a str,
    about: String,
}

/// A table with Gaussian noise on every number; `means` is what it is without noise.
fn noisy<M>(
    words: &Words<'_>,
    mechanism: &M,
    (rows, neighbours): (&Rows, &[(String, Rows)]),
    means: &dyn Fn(&Rows) -> Result<Rows, String>,
    (sd, delta): (f64, f64),
) -> Result<Candidates, String>
where
    M: Mechanism<Input = Rows, Output = Rows> + Clone + Send + Sync + 'static,
{
    let relation = Neighbours::RowMoved { distance: DISTANCE };
    let price = mechanism.price(rows, &relation).map_err(|error| error.to_string())?;
    neighbours
        .iter()
        .map(|(text, moved)| {
            let statement = Statement {
                name: words.series.to_owned(),
                about: words.about.clone(),
                neighbours: text.clone(),
                observer: words.observer.to_owned(),
                delta,
                claim: None,
                proven: upper_bound(&[(&price, 1)], delta),
                disjoint: None,
                broken: false,
            };
            let pair = [rows.clone(), moved.clone()];
            let without_noise = [means(rows)?, means(moved)?];
            Ok(System::new(statement, noisy_table(mechanism.clone(), pair, &without_noise, sd)))
        })
        .collect()
}

/// A private outcome: that of one row replaced by any other. A row that is asked for again is answered as before.
fn outcome(series: &SeriesRecipe, modeler: &str) -> Result<Option<System>, String> {
    let statement = |price: &Price, delta: f64, ends: [f64; 2]| Statement {
        name: format!("{}, outcomes", series.name),
        about: "the answer to one row's outcome, however often it is asked for".to_owned(),
        neighbours: format!("the outcome of one row, {} or {}", ends[0], ends[1]),
        observer: modeler.to_owned(),
        delta,
        claim: None,
        proven: upper_bound(&[(price, 1)], delta),
        disjoint: None,
        broken: false,
    };
    // Beyond the range by its width: clipping must take care of it.
    let ends = |range: &Range| {
        let (low, high) = (range.low.get(), range.high.get());
        [high + (high - low), low - (high - low)]
    };
    let any = Neighbours::AnyValue;
    match &series.outcomes {
        OutcomeRelease::Disclosure(_) => Ok(None),
        OutcomeRelease::ClippedLaplace(mechanism) => {
            let inputs = ends(&mechanism.range);
            let price = mechanism.price(&inputs[0], &any).map_err(|error| error.to_string())?;
            let (low, high) = (mechanism.range.low.get(), mechanism.range.high.get());
            let test: Score<f64> = Box::new(move |&y| ((y - low).abs() - (y - high).abs()) / (high - low));
            let releases =
                Releases { mechanism: mechanism.clone(), inputs, times: 1, tests: vec![(RATIO, test)] };
            Ok(Some(System::new(statement(&price, 0.0, inputs), releases)))
        }
        OutcomeRelease::ClippedGaussian(mechanism) => {
            let inputs = ends(&mechanism.range);
            let price = mechanism.price(&inputs[0], &any).map_err(|error| error.to_string())?;
            let (low, high) = (mechanism.range.low.get(), mechanism.range.high.get());
            // A multiple of the ratio's logarithm.
            let test: Score<f64> = Box::new(move |&y| (y - low) / (high - low));
            let releases =
                Releases { mechanism: mechanism.clone(), inputs, times: 1, tests: vec![(RATIO, test)] };
            Ok(Some(System::new(statement(&price, mechanism.delta.get(), inputs), releases)))
        }
    }
}

fn rows_of(instance: &Instance) -> Result<Rows, String> {
    let inputs = &instance.inputs;
    Rows::new(inputs.n(), inputs.d(), inputs.row_major().to_vec()).map_err(|error| error.to_string())
}

/// Neighbours by the words that describe them: an extreme record, one in the middle, and random ones.
pub(super) fn moved_rows(rows: &Rows, stream: &mut Stream) -> Result<Vec<(String, Rows)>, String> {
    let centred = rows.centred();
    let norm = |row: usize| centred.row(row).iter().map(|v| v * v).sum::<f64>().sqrt();
    let by_norm = |far: bool| {
        (0..rows.n()).fold(0, |best, row| {
            if (norm(row) > norm(best)) == far && norm(row) != norm(best) { row } else { best }
        })
    };
    let (far, near) = (by_norm(true), by_norm(false));
    let outwards = |row: usize| -> Vec<f64> {
        let length = norm(row);
        if length > 0.0 {
            centred.row(row).iter().map(|v| v / length).collect()
        } else {
            (0..rows.d()).map(|j| if j == 0 { 1.0 } else { 0.0 }).collect()
        }
    };
    let mut chosen = vec![
        (format!("the outermost record, {far}, moved outwards by {DISTANCE}"), far, outwards(far)),
        (format!("the record nearest the mean, {near}, moved outwards by {DISTANCE}"), near, outwards(near)),
    ];
    for _ in 0..RANDOM {
        let row = stream.below(rows.n() as u64) as usize;
        let mut direction = vec![0.0; rows.d()];
        stream.fill_normal(&mut direction);
        let length = direction.iter().map(|v| v * v).sum::<f64>().sqrt();
        direction.iter_mut().for_each(|v| *v /= length);
        chosen.push((format!("record {row} moved by {DISTANCE} in a random direction"), row, direction));
    }
    chosen
        .into_iter()
        .map(|(words, row, direction)| {
            let by: Vec<f64> = direction.iter().map(|u| DISTANCE * u).collect();
            Ok((words, with_moved(rows, row, &by)?))
        })
        .collect()
}

fn with_moved(rows: &Rows, row: usize, by: &[f64]) -> Result<Rows, String> {
    let mut values = rows.values().to_vec();
    values[row * rows.d()..][..rows.d()].iter_mut().zip(by).for_each(|(v, u)| *v += u);
    Rows::new(rows.n(), rows.d(), values).map_err(|error| error.to_string())
}

/// "ROW:D1,D2,..": a record, and by how much each of its scaled numbers moves.
fn moved_as_given(rows: &Rows, text: &str) -> Result<(String, Rows), String> {
    let expected = || {
        format!(
            "--neighbour: expected ROW:D1,..,D{} with a row below {} and a distance of at most {DISTANCE}, found \"{text}\"",
            rows.d(),
            rows.n()
        )
    };
    let (row, by) = text.split_once(':').ok_or_else(expected)?;
    let row: usize = row.trim().parse().map_err(|_| expected())?;
    let by = super::numbers(by)?;
    let length = by.iter().map(|v| v * v).sum::<f64>().sqrt();
    if row >= rows.n() || by.len() != rows.d() || length > DISTANCE * (1.0 + 1e-12) || length <= 0.0 {
        return Err(expected());
    }
    Ok((format!("record {row} moved by {length}, as given"), with_moved(rows, row, &by)?))
}

fn projection(
    series: &str,
    modeler: &str,
    mechanism: &JohnsonLindenstrauss,
    (rows, neighbours): (&Rows, &[(String, Rows)]),
    stream: &mut Stream,
) -> Result<Candidates, String> {
    let failed = |error: crate::privacy::mechanisms::MechanismError| error.to_string();
    let price = mechanism.price(rows, &Neighbours::RowMoved { distance: DISTANCE }).map_err(failed)?;
    let claim = price.claim.as_ref().map(|claim| (claim.epsilon, claim.source.clone()));
    // One release, and d + 1 records that the modeler happens to know.
    let z = mechanism.privatise(rows, stream).map_err(failed)?;
    let reconstruction = if rows.n() > rows.d() + 1 {
        let known = stream.distinct(rows.n(), rows.d() + 1);
        Some(reconstruct(rows, &z, &known).map_err(failed)?)
    } else {
        None
    };
    neighbours
        .iter()
        .map(|(words, moved)| {
            let mut statement = Statement {
                name: series.to_owned(),
                about: format!(
                    "Johnson-Lindenstrauss projection of {} records of {} numbers, r = {}",
                    rows.n(),
                    rows.d(),
                    mechanism.r
                ),
                neighbours: words.clone(),
                observer: modeler.to_owned(),
                delta: mechanism.delta.get(),
                claim: claim.clone(),
                proven: None,
                disjoint: None,
                broken: false,
            };
            let audit =
                ProjectionAudit::new(mechanism.clone(), [rows.clone(), moved.clone()]).map_err(failed)?;
            statement.disjoint = audit.disjoint();
            let mut system = System::new(statement, audit);
            system.reconstruction = reconstruction;
            Ok(system)
        })
        .collect()
}
