//! Conformance tests of losses, availabilities, compute times, topologies and outages.

use super::{DRAWS, Violation, Violations, key};
use crate::network::Population;
use crate::network::availability::{Availability, AvailabilityProcess};
use crate::network::compute::Compute;
use crate::network::loss::Loss;
use crate::network::outage::Outage;
use crate::network::topology::{Shape, Topology};
use crate::vocab::{Span, Time};
use std::collections::BTreeSet;

/// Checks the rules of losses: the share of lost messages is the mean that the model states; a copy of a process continues
/// as the original; every new process begins in the same state.
///
/// The tolerance of the share is 0.02, because losses of a link may depend on each other.
#[must_use]
pub fn loss(model: &dyn Loss) -> Vec<Violation> {
    let mut found = Violations::default();
    let mut stream = key("loss").stream();
    let draws: Vec<f64> = (0..DRAWS).map(|_| stream.uniform()).collect();
    let (mut first, mut second) = (model.start(), model.start());
    let mut copy = None;
    let mut lost = 0u32;
    for (index, &u) in draws.iter().enumerate() {
        if index == draws.len() / 2 {
            copy = Some(first.clone());
        }
        let drops = first.drops(u);
        lost += u32::from(drops);
        let again = second.drops(u);
        found.require(again == drops, "processes that begin in the same state", || {
            format!("a difference at message {index}")
        });
        if let Some(copy) = &mut copy {
            let copied = copy.drops(u);
            found.require(copied == drops, "copies that continue identically", || {
                format!("a difference at message {index}")
            });
        }
    }
    let (share, mean) = (f64::from(lost) / f64::from(DRAWS), model.mean());
    found.require((share - mean).abs() < 0.02, "a mean that is the share of lost messages", || {
        format!("mean {mean}, share {share}")
    });
    found.0
}

/// Checks the rules of availabilities: the times of changes increase; the same stream gives the same changes; a copy of
/// a process continues as the original.
#[must_use]
pub fn availability(model: &dyn Availability) -> Vec<Violation> {
    let mut found = Violations::default();
    let start = || model.start(key("availability").stream());
    processes(&mut found, [start(), start()]);
    found.0
}

/// Checks two processes that were started with the same stream.
fn processes(found: &mut Violations, [mut first, mut second]: [Box<dyn AvailabilityProcess>; 2]) {
    let started = (first.starts_online(), second.starts_online());
    found
        .require(started.0 == started.1, "the same beginning for the same stream", || format!("{started:?}"));
    let (mut last, mut copy) = (Time::ZERO, None);
    for index in 0..1000 {
        if index == 500 {
            copy = Some(first.clone());
        }
        let switch = first.next_switch();
        let again = second.next_switch();
        found.require(again == switch, "the same changes for the same stream", || {
            format!("{again:?}, {switch:?}")
        });
        if let Some(copy) = &mut copy {
            let copied = copy.next_switch();
            found.require(copied == switch, "copies that continue identically", || {
                format!("{copied:?}, {switch:?}")
            });
        }
        let Some(switch) = switch else { break };
        found.require(index == 0 || switch.at > last, "changes at increasing times", || {
            format!("{:?} after {last:?}", switch.at)
        });
        last = switch.at;
    }
}

/// Checks the rules of outages. An outage affects only the groups that it names, so no other group is disconnected or
/// partitioned. The outage affects at least one group that it names: the group is offline at the beginning, or the group's
/// connection changes, or the group is partitioned from other parties. Partitions are checked at every second of the first
/// day and at every thousandth second of the first ten days. The connection of a group obeys the rules of [`availability`].
/// Whether two groups are partitioned depends only on the time, and no group is partitioned from itself.
#[must_use]
pub fn outage(model: &dyn Outage) -> Vec<Violation> {
    let mut found = Violations::default();
    let stream = || key("outage").stream();
    let mut named: Vec<String> = model.groups().iter().map(|(_, group)| (*group).to_owned()).collect();
    found.require(named.iter().all(|group| !group.is_empty()), "groups with names", || {
        "one without".to_owned()
    });
    named.sort();
    named.dedup();
    let other = format!("{} and nobody else", named.join(" "));
    found.require(
        model.connection(&other, stream()).is_none(),
        "no change for groups that the outage does not name",
        || "a process for one".to_owned(),
    );
    let (mut changes, mut cuts) = (false, false);
    for group in &named {
        match (model.connection(group, stream()), model.connection(group, stream())) {
            (Some(first), Some(second)) => {
                let mut probe = first.clone();
                changes |= !probe.starts_online() || probe.next_switch().is_some();
                processes(&mut found, [first, second]);
            }
            (None, None) => {}
            (first, _) => {
                let found_one = format!(
                    "a process for {group} the {} time only",
                    if first.is_some() { "first" } else { "second" }
                );
                found.require(false, "the same answer for the same group", || found_one);
            }
        }
    }
    // Every second of the first day, then every thousandth second of the first ten days.
    for second in (0..86_400).chain((0..864).map(|step| 1000 * step)) {
        let at = Time::ZERO + Span::from_millis(1000 * second);
        let strangers = model.cuts(Some(&other), Some(&other), at) || model.cuts(None, None, at);
        found.require(!strangers, "no cut between parties that the outage does not name", || {
            format!("one at {at:?}")
        });
        for from in &named {
            let own = model.cuts(Some(from), Some(from), at);
            found.require(!own, "no cut inside of a group", || format!("one of {from} at {at:?}"));
            for to in named.iter().map(|to| Some(to.as_str())).chain([None]) {
                let cut = model.cuts(Some(from), to, at);
                cuts |= cut;
                let again = model.cuts(Some(from), to, at);
                found.require(cut == again, "the same answer at every call for one time", || {
                    format!("two at {at:?}")
                });
            }
        }
    }
    found.require(changes || cuts, "groups that the outage affects", || format!("none of {named:?}"));
    found.0
}

/// Checks the rules of topologies. Links are between two different existing parties, and each pair has at most one
/// link. The list of links is the same at every call, and the links have the stated shape.
///
/// If the topology has problems with the population, nothing is checked.
#[must_use]
pub fn topology(model: &dyn Topology, population: &Population<'_>) -> Vec<Violation> {
    let mut found = Violations::default();
    if !model.problems(population).is_empty() {
        return found.0;
    }
    let (pairs, count) = (model.pairs(population), population.names.len());
    found.require(model.pairs(population) == pairs, "the same links at every call", || "others".to_owned());
    let mut known = BTreeSet::new();
    for &(a, b) in &pairs {
        found.require(a < count && b < count, "links between existing parties", || {
            format!("{a} with {b}, of {count}")
        });
        found.require(a != b, "links of two parties", || format!("{a} with itself"));
        let new = known.insert((a.min(b), a.max(b)));
        found.require(new, "one link for a pair", || format!("two of {a} and {b}"));
    }
    let stated = match model.shape(population) {
        Shape::Star(hub) => known.len() + 1 == count && known.iter().all(|&(a, b)| a == hub || b == hub),
        Shape::Complete => known.len() == count * count.saturating_sub(1) / 2,
        Shape::Graph => true,
    };
    found.require(stated, "the shape that the links have", || {
        format!("{:?} of {} links", model.shape(population), known.len())
    });
    found.0
}

/// Checks the rules of compute models. Slowness is finite and at least 0. The same draws give the same slowness and the
/// same compute time. The compute time is 0 if the model states that every job is instant.
#[must_use]
pub fn compute(model: &dyn Compute) -> Vec<Violation> {
    let mut found = Violations::default();
    let mut stream = key("compute").stream();
    for _ in 0..1000 {
        let u = stream.open_uniform();
        let (slowness, length, slowdown_draw) = (model.slowness(u), stream.open_uniform(), stream.uniform());
        found.require(slowness.is_finite() && slowness >= 0.0, "a slowness of 0 or more", || {
            slowness.to_string()
        });
        let job = model.job(slowness, length, slowdown_draw);
        let same = model.slowness(u) == slowness && model.job(slowness, length, slowdown_draw) == job;
        found.require(same, "one job for one draw", || "two".to_owned());
        found.require(!model.is_instant() || job == Span::ZERO, "no time where `is_instant` says so", || {
            job.to_string()
        });
    }
    found.0
}
