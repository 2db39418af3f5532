//! A dry run: parties exchange messages of the right sizes, but nothing is optimised. It measures the latencies of messages,
//! the durations of rounds, and how many answers are late or missing.

use crate::network::LinkStatistics;
use crate::protocols::{RunOptions, SeriesRecord, TraceEvent, TraceKind, Watcher};
use crate::study::plan::cells::Plan;
use crate::study::play::cell_runner::CellRunner;
use crate::study::play::progress::Failure;
use crate::vocab::{PartyId, Time};
use rayon::prelude::*;
use serde::Serialize;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The result of a dry run for one series of one cell, over all replications.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DrySeries {
    /// Position of the cell in the study.
    pub cell: usize,
    /// The values of the varied parameters in this cell, by name.
    pub point: Vec<(String, String)>,
    /// Name of the series.
    pub name: String,
    /// Number of replications.
    pub replications: u64,
    /// Virtual seconds from the end of one round to the end of the next; for the first round, from the start. Absent if no
    /// round ended.
    pub rounds: Option<Quantiles>,
    /// Mean over replications of the virtual seconds from start to end.
    pub virtual_seconds: f64,
    /// Mean number of messages sent in a replication.
    pub messages: f64,
    /// Mean number of messages lost in a replication.
    pub messages_lost: f64,
    /// Mean number of bytes sent in a replication.
    pub bytes: f64,
    /// Quantiles .5 and .99 of the latency of one message over one link, in seconds, over all links and replications; absent
    /// if no message was delivered.
    pub latency_seconds: Option<[f64; 2]>,
    /// Answers to requests, by group.
    pub groups: Vec<Answers>,
    /// The (at most five) parties with the largest share of late or missing answers, largest first.
    pub latest: Vec<Answers>,
    /// Why a replication ended before its last round: the reason of the first such replication.
    pub ended_early: Option<String>,
}

/// The answers of a party or a group to requests.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Answers {
    /// Name of the party or the group.
    pub who: String,
    /// Number of requests, counted once per requester, responder and round. Of two parties, the requester is the party that
    /// first sends to the other in a round. Rounds after the last round that the requester closed are not counted.
    pub asked: u64,
    /// Number of requests whose first answer arrived before the requester closed the round.
    pub in_time: u64,
    /// Number of requests whose first answer arrived after the requester had closed the round.
    pub late: u64,
    /// Number of requests without an answer.
    pub missing: u64,
    /// Virtual seconds from a request to its first answer, late answers included; absent if no answer arrived.
    pub seconds: Option<Quantiles>,
}

/// The distribution of a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Quantiles {
    /// Number of values.
    pub count: u64,
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// Quantile .95.
    pub p95: f64,
    /// Largest value.
    pub most: f64,
}

impl Quantiles {
    fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_unstable_by(f64::total_cmp);
        let last = values.len().checked_sub(1)?;
        let at = |q: f64| values[(q * last as f64).round() as usize];
        Some(Self {
            count: values.len() as u64,
            mean: values.iter().sum::<f64>() / values.len() as f64,
            p50: at(0.5),
            p95: at(0.95),
            most: values[last],
        })
    }
}

/// Makes a dry run of every replication of every cell, in parallel on the current thread pool.
///
/// # Errors
/// A [`Failure`] of the first cell in which a replication fails. If several replications of this cell fail, it is the
/// failure of any one of them.
pub fn dry_run(plan: &Plan) -> Result<Vec<DrySeries>, Failure> {
    let runners: Vec<CellRunner<'_>> =
        (0..plan.cells.len()).map(|cell| CellRunner::without_folder(cell, &plan.cells[cell], plan)).collect();
    let mut all = Vec::new();
    for (cell, runner) in runners.iter().enumerate() {
        let played: Vec<(Vec<SeriesRecord>, BTreeMap<String, DryObservations>)> = (0..plan.replications)
            .into_par_iter()
            .map(|replication| {
                let seen: Rc<RefCell<BTreeMap<String, DryObservations>>> = Rc::default();
                let watcher = {
                    let seen = Rc::clone(&seen);
                    Watcher::new(move |series, event| {
                        let mut seen = seen.borrow_mut();
                        if !seen.contains_key(series) {
                            seen.insert(series.to_owned(), DryObservations::default());
                        }
                        if let Some(seen) = seen.get_mut(series) {
                            seen.see(&event);
                        }
                    })
                };
                let options = RunOptions { dry: true, ..RunOptions::default() };
                let record = runner.play_with(replication, Some(watcher), options)?;
                Ok((record.series, seen.take()))
            })
            .collect::<Result<_, Failure>>()?;
        let (names, labels) = parties(plan, cell);
        for (index, first) in played[0].0.iter().enumerate() {
            let records: Vec<&SeriesRecord> = played.iter().map(|(records, _)| &records[index]).collect();
            let seen: Vec<&DryObservations> =
                played.iter().filter_map(|(_, seen)| seen.get(&first.name)).collect();
            let mut series = summary(&records, &seen, &names, &labels);
            series.cell = cell;
            series.point.clone_from(&plan.cells[cell].point);
            all.push(series);
        }
    }
    Ok(all)
}

/// The name of each party, and the name of its group (the party's own name if it is in no group).
fn parties(plan: &Plan, cell: usize) -> (Vec<String>, Vec<String>) {
    let stage = plan.cells[cell].scenario.stage(None);
    let labels = stage.names.iter().zip(&stage.traits);
    let labels = labels.map(|(name, traits)| traits.group.clone().unwrap_or_else(|| name.clone()));
    (stage.names.clone(), labels.collect())
}

fn summary(
    records: &[&SeriesRecord],
    seen: &[&DryObservations],
    names: &[String],
    labels: &[String],
) -> DrySeries {
    let count = records.len() as f64;
    let mean =
        |of: &dyn Fn(&SeriesRecord) -> f64| records.iter().map(|record| of(record)).sum::<f64>() / count;
    let mut link = LinkStatistics::default();
    for (_, _, statistics) in records.iter().flat_map(|record| &record.network.links) {
        link.merge(statistics);
    }
    let latency = |q| link.latency_seconds(q);
    let by_group = answers(seen, labels);
    let mut latest = answers(seen, names);
    latest.retain(|answers| answers.late + answers.missing > 0);
    let share = |a: &Answers| (a.late + a.missing) as f64 / a.asked as f64;
    latest.sort_by(|a, b| share(b).total_cmp(&share(a)).then_with(|| a.who.cmp(&b.who)));
    latest.truncate(5);
    DrySeries {
        name: records[0].name.clone(),
        replications: records.len() as u64,
        rounds: Quantiles::of(seen.iter().flat_map(|seen| seen.durations()).collect()),
        virtual_seconds: mean(&|record| record.virtual_seconds),
        messages: mean(&|record| record.messages as f64),
        messages_lost: mean(&|record| record.messages_lost as f64),
        bytes: mean(&|record| record.bytes as f64),
        latency_seconds: latency(0.5).zip(latency(0.99)).map(|(p50, p99)| [p50, p99]),
        groups: by_group,
        latest,
        ended_early: records.iter().find_map(|record| record.ended_early.clone()),
        ..DrySeries::default()
    }
}

fn answers(seen: &[&DryObservations], labels: &[String]) -> Vec<Answers> {
    let mut all: BTreeMap<&str, (Answers, Vec<f64>)> = BTreeMap::new();
    let counted = |seen: &DryObservations, from: PartyId, round: u64| {
        // A requester does not wait for answers in rounds after the last round that it closed. If a requester never closes a
        // round, all its requests are counted.
        seen.last.get(&from).is_none_or(|&last| round <= last)
    };
    let questions = seen.iter().flat_map(|seen| seen.questions.iter().map(move |q| (seen, q)));
    for (seen, (&(from, to, round), question)) in questions {
        if !counted(seen, from, round) {
            continue;
        }
        let who = labels[to.index()].as_str();
        let (answers, seconds) = all.entry(who).or_default();
        answers.asked += 1;
        match question.answered {
            None => answers.missing += 1,
            Some((at, in_time)) => {
                if in_time {
                    answers.in_time += 1;
                } else {
                    answers.late += 1;
                }
                seconds.push((at - question.asked).seconds());
            }
        }
    }
    all.into_iter()
        .map(|(who, (answers, seconds))| Answers {
            who: who.to_owned(),
            seconds: Quantiles::of(seconds),
            ..answers
        })
        .collect()
}

/// The observations in one series of one replication.
#[derive(Debug, Default)]
struct DryObservations {
    /// The requests, by requester, responder and round.
    questions: BTreeMap<(PartyId, PartyId, u64), Question>,
    /// The rounds that each party closed.
    closed: BTreeSet<(PartyId, u64)>,
    /// The last round that each party closed.
    last: BTreeMap<PartyId, u64>,
    /// The times at which rounds were closed, in order.
    closings: Vec<Time>,
}

#[derive(Clone, Copy, Debug)]
struct Question {
    asked: Time,
    /// When the first answer arrived, and whether the requester's round was still open then.
    answered: Option<(Time, bool)>,
}

impl DryObservations {
    fn see(&mut self, event: &TraceEvent) {
        let Some(round) = event.round else { return };
        match &event.kind {
            // Of two parties, the one that first sends to the other in a round is the requester.
            TraceKind::Sent(p) if !self.questions.contains_key(&(p.to, p.from, round)) => {
                self.questions
                    .entry((p.from, p.to, round))
                    .or_insert(Question { asked: event.at, answered: None });
            }
            TraceKind::Delivered(p, _) => {
                let open = !self.closed.contains(&(p.to, round));
                if let Some(question) = self.questions.get_mut(&(p.to, p.from, round)) {
                    question.answered.get_or_insert((event.at, open));
                }
            }
            TraceKind::Recorded(party, _) => {
                let last = self.last.entry(*party).or_insert(round);
                *last = round.max(*last);
                if self.closed.insert((*party, round)) {
                    self.closings.push(event.at);
                }
            }
            TraceKind::Sent(_)
            | TraceKind::Lost(..)
            | TraceKind::Doubled(_)
            | TraceKind::Handled(..)
            | TraceKind::TimerFired(..)
            | TraceKind::Switched(..) => {}
        }
    }

    fn durations(&self) -> Vec<f64> {
        let starts = std::iter::once(Time::ZERO).chain(self.closings.iter().copied());
        self.closings.iter().zip(starts).map(|(end, start)| (*end - start).seconds()).collect()
    }
}
