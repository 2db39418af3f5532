//! `ledger.csv`: one line per entry of a record's list of releases. An entry is one release, or several releases that
//! differ only in round and time. In most protocols, such releases share an entry if they are consecutive. The protocol
//! `Local` makes the entries of each unit separately, so that releases about one unit can share an entry even if releases
//! about other units lie between them.

use crate::accounting::{CountedRelease, LossBasis};
use crate::study::results::columns::{Column, Entry, integers, numbers, texts};
use crate::vocab::{Basis, Claim, Cost, Neighbours, Sampler};

/// The columns of the table that follow those for cell, point, replication and series.
pub(in crate::study) fn columns() -> Vec<Column> {
    let texts_of = |names: &[&str]| names.iter().map(|name| texts(name)).collect::<Vec<_>>();
    let mut columns = texts_of(&["released", "mechanism", "protected", "unit"]);
    columns.push(integers("unit_index"));
    columns.push(texts("neighbours"));
    columns.push(numbers("neighbour_distance"));
    columns.push(texts("observer"));
    columns.extend(["first_round", "last_round"].map(integers));
    columns.extend(["first_seconds", "last_seconds"].map(numbers));
    columns.push(integers("releases"));
    columns.push(texts("sampler"));
    columns.push(numbers("sampling_rate"));
    columns.extend(["sampled_from", "sample_size"].map(integers));
    columns.push(numbers("sensitivity"));
    columns.extend(cost_columns("cost"));
    columns.extend(["claimed_epsilon", "claimed_delta"].map(numbers));
    columns.push(texts("claimed_by"));
    columns.extend(cost_columns("claimed_cost"));
    columns.extend(texts_of(&["basis", "basis_reason", "arithmetic"]));
    columns
}

/// The values of a release, in the order of [`columns`].
pub(in crate::study) fn entries(release: &CountedRelease) -> Vec<Entry> {
    let event = &release.event;
    let (neighbours, distance) = neighbours(&event.neighbours);
    let (sampler, rate, from, size) = match event.sampler {
        Sampler::Full => ("Full", None, None, None),
        Sampler::Poisson { rate } => ("Poisson", Some(rate), None, None),
        Sampler::FixedSize { population, size } => ("FixedSize", None, Some(population), Some(size)),
    };
    let claim = event.claim.as_ref();
    let stated = claim.filter(|claim| claim.cost.is_none());
    let reason = match &event.basis {
        Basis::Conditional { on } => Some(on.as_str()),
        Basis::Refuted { why } => Some(why.as_str()),
        Basis::Proven | Basis::AsPublished | Basis::Unprotected => None,
    };
    let mut entries: Vec<Entry> = vec![
        event.released.as_str().into(),
        event.mechanism.as_str().into(),
        event.protected.as_str().into(),
        format!("{:?}", event.unit).as_str().into(),
        event.unit_index.into(),
        neighbours.into(),
        distance.into(),
        event.observer.0.as_str().into(),
        event.round.into(),
        release.last_round.into(),
        release.first_seconds.into(),
        release.last_seconds.into(),
        release.count.into(),
        sampler.into(),
        rate.into(),
        from.into(),
        size.into(),
        event.sensitivity.into(),
    ];
    entries.extend(cost(Some(&event.cost)));
    entries.extend([
        stated.map(|claim| claim.epsilon).into(),
        stated.map(|claim| claim.delta).into(),
        claim.map(|claim| claim.source.as_str()).into(),
    ]);
    entries.extend(cost(claim.and_then(|Claim { cost, .. }| cost.as_ref())));
    entries.extend([
        LossBasis::from(&event.basis).words().into(),
        reason.into(),
        event.arithmetic.words().into(),
    ]);
    entries
}

/// The name of a neighbouring relation as the ledger writes it, and its distance if it has one.
pub(in crate::study) fn neighbours(relation: &Neighbours) -> (&'static str, Option<f64>) {
    match relation {
        Neighbours::RowMoved { distance } => ("RowMoved", Some(*distance)),
        Neighbours::ReplaceOne => ("ReplaceOne", None),
        Neighbours::AddRemove => ("AddRemove", None),
        Neighbours::ZeroOut => ("ZeroOut", None),
        Neighbours::AnyValue => ("AnyValue", None),
        Neighbours::AnyMean => ("AnyMean", None),
    }
}

/// The parameters of all kinds of cost, except those that are whole numbers. Each kind of cost has some of them, or none.
const PARTS: [&str; 8] = ["noise_multiplier", "scale", "epsilon", "delta", "rho", "rate", "shape", "mean"];

fn cost_columns(name: &str) -> Vec<Column> {
    let mut columns = vec![texts(name)];
    columns.extend(PARTS.iter().map(|part| numbers(&format!("{name}.{part}"))));
    columns.extend(["population", "size"].map(|part| integers(&format!("{name}.{part}"))));
    columns
}

/// The name of a cost and its parameters, in the order of [`cost_columns`].
fn cost(cost: Option<&Cost>) -> Vec<Entry> {
    let Some(cost) = cost else { return vec![Entry::None; 3 + PARTS.len()] };
    let mut parts: [Option<f64>; PARTS.len()] = [None; PARTS.len()];
    let mut counts: [Option<u64>; 2] = [None; 2];
    let [multiplier, scale, of_epsilon, of_delta, of_rho, of_rate, of_shape, of_mean] = &mut parts;
    let name = match *cost {
        Cost::Gaussian { noise_multiplier } => {
            *multiplier = Some(noise_multiplier);
            "Gaussian"
        }
        Cost::Laplace { scale: of } => {
            *scale = Some(of);
            "Laplace"
        }
        Cost::ExponentialMechanism { epsilon } => {
            *of_epsilon = Some(epsilon);
            "ExponentialMechanism"
        }
        Cost::RandomizedResponse { epsilon } => {
            *of_epsilon = Some(epsilon);
            "RandomizedResponse"
        }
        Cost::PoissonGaussian { rate, noise_multiplier } => {
            (*of_rate, *multiplier) = (Some(rate), Some(noise_multiplier));
            "PoissonGaussian"
        }
        Cost::FixedSizeGaussian { population, size, noise_multiplier } => {
            (counts, *multiplier) = ([Some(population), Some(size)], Some(noise_multiplier));
            "FixedSizeGaussian"
        }
        Cost::ZeroConcentratedDp { rho } => {
            *of_rho = Some(rho);
            "ZeroConcentratedDp"
        }
        Cost::RepeatedGaussian { noise_multiplier, shape, mean } => {
            (*multiplier, *of_shape, *of_mean) = (Some(noise_multiplier), Some(shape), Some(mean));
            "RepeatedGaussian"
        }
        Cost::PoissonRepeatedGaussian { noise_multiplier, mean } => {
            (*multiplier, *of_mean) = (Some(noise_multiplier), Some(mean));
            "PoissonRepeatedGaussian"
        }
        Cost::PureDp { epsilon } => {
            *of_epsilon = Some(epsilon);
            "PureDp"
        }
        Cost::ApproximateDp { epsilon, delta } => {
            (*of_epsilon, *of_delta) = (Some(epsilon), Some(delta));
            "ApproximateDp"
        }
        Cost::Unprotected => "Unprotected",
    };
    let mut entries = vec![Entry::from(name)];
    entries.extend(parts.map(Entry::from));
    entries.extend(counts.map(Entry::from));
    entries
}
