//! Outsourced optimisation: one record moved by the allowed distance, or one outcome replaced, seen by the modeler.
//!
//! A record is changed as it is in the file, before anything is computed from the data: a scale that is computed moves
//! all rows, or all answers, and the audit shows it.

use super::{Candidates, System};
use crate::audit::{
    Experiment, KnownPair, ProjectionAudit, RATIO, Statement, Transcript, World, noisy_table, reconstruct,
    upper_bound, worst_direction,
};
use crate::objectives::{Change, Instance, Noise};
use crate::privacy::mechanisms::{JohnsonLindenstrauss, Mechanism, Rows};
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
    let moves = match given {
        Some(given) => vec![moved_as_given(&rows, given)?],
        None => moves(&rows, &mut stream),
    };
    let conditions = instance.background.facts.input_conditions();
    let neighbours = moves.into_iter().map(|step| step.made(stage, &rows)).collect::<Result<Vec<_>, _>>()?;
    let mut found = Vec::new();
    for series in &recipe.series {
        let mut candidates = match &series.release {
            InputRelease::JohnsonLindenstrauss(mechanism) => {
                projection(&series.name, &recipe.modeler, mechanism, (&rows, &neighbours), &mut stream)?
            }
            InputRelease::NoisyRows(input) => {
                let mechanism = input.calibrated(distance).map_err(|error| error.to_string())?;
                let sd = mechanism.standard_deviation();
                let about = format!("{} records of {} numbers with Gaussian noise", rows.n(), rows.d());
                let words =
                    Words { series: &series.name, observer: &recipe.modeler, about, conditions: &conditions };
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
                let words =
                    Words { series: &series.name, observer: &recipe.modeler, about, conditions: &conditions };
                let mut neighbours = neighbours.clone();
                if given.is_none() {
                    let by = worst_direction(&mechanism, rows.d()).map_err(|error| error.to_string())?;
                    let words = "record 0 moved by 1 where the projection stretches most".to_owned();
                    neighbours.insert(0, Move { words, row: 0, by }.made(stage, &rows)?);
                }
                let means = |rows: &Rows| mechanism.projected(rows).map_err(|error| error.to_string());
                noisy(&words, &mechanism, (&rows, &neighbours), &means, (sd, input.delta.get()))?
            }
            // Nothing is claimed for them.
            InputRelease::Disclosure(_) | InputRelease::Withheld(_) => Vec::new(),
        };
        if given.is_none() {
            let asked = (recipe.initial_points + recipe.rounds).min(rows.n() as u64) as usize;
            let asked = key.child("audit").child("asked rows").stream().distinct(rows.n(), asked);
            let outcomes = outcomes(series, &recipe.modeler, stage, &asked)?;
            note_model(instance, series, &mut candidates);
            note_conditions(&conditions, &mut candidates);
            found.push((series.name.clone(), std::mem::take(&mut candidates)));
            found.push((series.name.clone(), outcomes));
        } else {
            found.push((series.name.clone(), candidates));
        }
    }
    Ok(found)
}

/// What the audits of one release of a table have in common.
struct Words<'a> {
    series: &'a str,
    observer: &'a str,
    about: String,
    /// What the mechanism's own price rests on besides.
    conditions: &'a [String],
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
    let mut price = mechanism.price(rows, &relation).map_err(|error| error.to_string())?;
    price.basis = price.basis.under(words.conditions);
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

/// A modeler that is handed fitted hyperparameters knows more than the audited release tells it.
fn note_model(instance: &Instance, series: &SeriesRecipe, candidates: &mut Candidates) {
    if instance.background.fitted && series.learner.as_dyn().needs_inputs() {
        let note =
            "the modeler is also handed hyperparameters that were fitted to the data: nothing protects them";
        candidates.iter_mut().for_each(|system| system.notes.push(note.to_owned()));
    }
}

/// What is proven may rest on more than the mechanism.
fn note_conditions(conditions: &[String], candidates: &mut Candidates) {
    if !conditions.is_empty() {
        let note = format!("what is proven rests on {}", conditions.join(", and "));
        candidates.iter_mut().for_each(|system| system.notes.push(note.clone()));
    }
}

/// Private answers to all rows that are asked for, where one outcome is replaced by any other: that of a row that is
/// asked for, or that of one that is not. A row that is asked for again is answered as before.
fn outcomes(
    series: &SeriesRecipe,
    modeler: &str,
    stage: &Stage,
    asked: &[usize],
) -> Result<Candidates, String> {
    let instance = stage.instance.as_ref().ok_or("the scenario has no objective")?;
    let (range, delta, variance) = match &series.outcomes {
        OutcomeRelease::Disclosure(_) => return Ok(Vec::new()),
        OutcomeRelease::ClippedLaplace(mechanism) => (mechanism.range, 0.0, mechanism.variance()),
        OutcomeRelease::ClippedGaussian(mechanism) => {
            (mechanism.range, mechanism.delta.get(), mechanism.variance())
        }
    };
    let sd = variance.map_err(|error| error.to_string())?.sqrt();
    let (low, high) = (range.low.get(), range.high.get());
    let mut price = private(&series.outcomes, |mechanism| {
        mechanism.price(&low, &Neighbours::AnyValue).map_err(|error| error.to_string())
    })?;
    let conditions = instance.background.facts.outcome_conditions(series.release.shows_inputs());
    price.basis = price.basis.under(&conditions);
    let mut candidates = Vec::new();
    let mut add = |about: String,
                   neighbours: String,
                   changes: [Change; 2],
                   pair: Option<KnownPair>|
     -> Result<(), String> {
        let statement = Statement {
            name: format!("{}, outcomes", series.name),
            about,
            neighbours,
            observer: modeler.to_owned(),
            delta,
            claim: None,
            proven: upper_bound(&[(&price, 1)], delta),
            disjoint: None,
            broken: false,
        };
        let [given, other] = changes.map(|change| values(stage, &change));
        let (given, other) = (given?, other?);
        let differ = asked.iter().copied().filter(|&row| given[row].to_bits() != other[row].to_bits());
        let answers = Answers {
            release: series.outcomes.clone(),
            law: instance.noise.clone(),
            rows: differ.map(|row| (row, [given[row], other[row]])).collect(),
            range: [low, high],
            sd,
            pair,
        };
        candidates.push(System::new(statement, answers));
        Ok(())
    };
    // Clipping takes the two outcomes to the ends of the range, the whole sensitivity apart.
    let premise = "the noise is of the kind stated and only its size is unknown";
    let clipped = KnownPair::composed(vec![(price.cost.clone(), 1)], premise);
    // Beyond the range by its width: clipping must take care of it.
    let ends = [high + (high - low), low - (high - low)];
    let row = asked[0];
    add(
        "the answer to one row's outcome, however often it is asked for".to_owned(),
        format!("the outcome of one row, {} or {}", ends[0], ends[1]),
        ends.map(|value| Change::Outcome { row, value }),
        Some(clipped),
    )?;
    let silent = (0..instance.values.len()).find(|row| !asked.contains(row));
    if let Some(row) = silent
        && stage.prepared.as_ref().is_some_and(|prepared| prepared.has_records())
    {
        let far = [instance.values[row], high + FAR * (high - low)];
        add(
            format!("the answers to the outcomes of {} rows", asked.len()),
            format!("the outcome of a row that is not asked for, {:.3} or {}", far[0], far[1]),
            far.map(|value| Change::Outcome { row, value }),
            None,
        )?;
    }
    note_conditions(&conditions, &mut candidates);
    Ok(candidates)
}

/// An outcome that is out of all proportion: so many widths of the range beyond it.
const FAR: f64 = 100.0;

/// Values of all rows after a change; only the changed one's differs where nothing is computed from the data.
fn values(stage: &Stage, change: &Change) -> Result<Vec<f64>, String> {
    let changed = stage.prepared.as_ref().and_then(|prepared| prepared.changed(change));
    if let Some(changed) = changed {
        return changed.map(|instance| instance.values.to_vec()).map_err(|error| error.to_string());
    }
    let instance = stage.instance.as_ref().ok_or("the scenario has no objective")?;
    let mut values = instance.values.to_vec();
    if let Change::Outcome { row, value } = *change {
        values[row] = value;
    }
    Ok(values)
}

/// What is done with the mechanism of private outcomes.
fn private<T>(
    release: &OutcomeRelease,
    what: impl FnOnce(&dyn Mechanism<Input = f64, Output = f64>) -> Result<T, String>,
) -> Result<T, String> {
    match release {
        OutcomeRelease::Disclosure(_) => Err("the outcomes are not private".to_owned()),
        OutcomeRelease::ClippedLaplace(mechanism) => what(mechanism),
        OutcomeRelease::ClippedGaussian(mechanism) => what(mechanism),
    }
}

/// Private answers for some rows, measured and released once each, on two data sets.
#[derive(Debug)]
struct Answers {
    release: OutcomeRelease,
    law: Noise,
    /// Rows whose values differ, with the value on either data set. Others tell nothing.
    rows: Vec<(usize, [f64; 2])>,
    range: [f64; 2],
    /// Standard deviation of the mechanism's noise.
    sd: f64,
    /// The laws of the answers, where they are known.
    pair: Option<KnownPair>,
}

impl Answers {
    /// ln of the ratio of an answer's densities where measuring adds no noise; else a statistic like any other.
    fn ratio(&self, answer: f64, values: [f64; 2]) -> f64 {
        let [a, b] = values.map(|value| answer - value.clamp(self.range[0], self.range[1]));
        match self.release {
            OutcomeRelease::ClippedGaussian(_) => (b * b - a * a) / (2.0 * self.sd * self.sd),
            // The scale of Laplace noise is its standard deviation over the root of 2.
            OutcomeRelease::ClippedLaplace(_) | OutcomeRelease::Disclosure(_) => {
                (b.abs() - a.abs()) * std::f64::consts::SQRT_2 / self.sd
            }
        }
    }
}

impl Experiment for Answers {
    fn tests(&self) -> Vec<String> {
        vec![RATIO.to_owned()]
    }

    fn trial(&self, world: World, key: Key) -> Result<Transcript, String> {
        let (mut stream, mut measuring) = (key.stream(), key.child("measuring").stream());
        let mut score = 0.0;
        for &(row, values) in &self.rows {
            let outcome = values[world.index()] + self.law.draw(row, &mut measuring);
            let answer = private(&self.release, |mechanism| {
                mechanism.privatise(&outcome, &mut stream).map_err(|error| error.to_string())
            })?;
            score += self.ratio(answer, values);
        }
        Ok(Transcript::rounded(vec![score]))
    }

    fn pair(&self) -> Option<&KnownPair> {
        self.pair.as_ref()
    }
}

fn rows_of(instance: &Instance) -> Result<Rows, String> {
    let inputs = &instance.inputs;
    Rows::new(inputs.n(), inputs.d(), inputs.row_major().to_vec()).map_err(|error| error.to_string())
}

/// A record that moves.
struct Move {
    words: String,
    row: usize,
    /// By how much, in the scaled inputs of the unmoved data.
    by: Vec<f64>,
}

impl Move {
    /// The neighbouring inputs, with the words that describe them.
    fn made(self, stage: &Stage, rows: &Rows) -> Result<(String, Rows), String> {
        let Self { words, row, by } = self;
        let change = Change::Inputs { row, by };
        if let Some(changed) = stage.prepared.as_ref().and_then(|prepared| prepared.changed(&change)) {
            return Ok((words, rows_of(&changed.map_err(|error| error.to_string())?)?));
        }
        let Change::Inputs { row, by } = change else { return Err("no record was moved".to_owned()) };
        let mut values = rows.values().to_vec();
        values[row * rows.d()..][..rows.d()].iter_mut().zip(&by).for_each(|(v, u)| *v += u);
        Ok((words, Rows::new(rows.n(), rows.d(), values).map_err(|error| error.to_string())?))
    }
}

/// An extreme record, one in the middle, and random ones.
fn moves(rows: &Rows, stream: &mut Stream) -> Vec<Move> {
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
            let by = direction.iter().map(|u| DISTANCE * u).collect();
            Move { words, row, by }
        })
        .collect()
}

/// "ROW:D1,D2,..": a record, and by how much each of its scaled numbers moves.
fn moved_as_given(rows: &Rows, text: &str) -> Result<Move, String> {
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
    Ok(Move { words: format!("record {row} moved by {length}, as given"), row, by })
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
