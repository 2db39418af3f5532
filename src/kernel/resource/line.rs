//! Servers and the queue of jobs that wait for them. A resource handles no events: its owner passes it the time.

use super::statistics::ResourceStatistics;
use crate::kernel::{Digest, Digestible};
use crate::vocab::{Span, Time};
use std::collections::BTreeMap;
use std::num::NonZeroU32;

/// The queue discipline: which of the waiting jobs is served next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Discipline {
    /// The job with the earliest request. Priorities are ignored.
    #[default]
    Fifo,
    /// The job with the latest request. Priorities are ignored.
    Lifo,
    /// The job with the lowest priority number; among jobs with this number, the job with the earliest request.
    Priority,
    /// As `Priority`. In addition, if no server is free, a new job takes the server of the served job with the highest
    /// priority number, if this number is higher than the new job's. If several served jobs have the highest number, the
    /// one with the latest request is preempted. The preempted job returns to the queue, before jobs of its priority with
    /// later requests.
    Preemptive,
}

/// A job's position in the order of service: jobs with lower claims are served first. The claim also identifies the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Claim {
    priority: i64,
    order: i64,
}

impl Digestible for Claim {
    fn digest(&self, digest: &mut Digest) {
        digest.words([self.priority.cast_unsigned(), self.order.cast_unsigned()]);
    }
}

/// The result of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "the caller sets a timer if the job is served, and cancels that of a preempted job"]
pub struct RequestResult {
    /// The job's claim, which identifies it.
    pub claim: Claim,
    /// Whether the job has a server now.
    pub served: bool,
    /// The job that lost its server to the new job, and is in the queue again.
    pub preempted: Option<Claim>,
}

/// The result of [`Resource::leave`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "the caller sets a timer for the job that is served next"]
pub struct Freed<J> {
    /// The job that left.
    pub job: J,
    /// The job that gets the server, if the job that left had one and another job waits; else `None`.
    pub next: Option<Claim>,
}

#[derive(Clone, Debug)]
struct Entry<J> {
    job: J,
    /// Time of the request.
    asked: Time,
    /// When the job last joined the queue, by its request or because it was preempted; for a job that never waited, the
    /// time of its request.
    since: Time,
    /// Whether the job has had a server.
    begun: bool,
}

/// Servers and a queue of jobs. The owner passes the present time to each method; the time must not decrease.
#[derive(Clone, Debug)]
pub struct Resource<J> {
    discipline: Discipline,
    serving: BTreeMap<Claim, Entry<J>>,
    waiting: BTreeMap<Claim, Entry<J>>,
    asked: i64,
    statistics: ResourceStatistics,
}

impl<J> Resource<J> {
    /// Free servers and an empty queue.
    #[must_use]
    pub fn new(servers: NonZeroU32, discipline: Discipline) -> Self {
        let statistics = ResourceStatistics::new(servers.get());
        Self { discipline, serving: BTreeMap::new(), waiting: BTreeMap::new(), asked: 0, statistics }
    }

    /// Requests a server for a job, which joins the queue if it gets none. Lower priority numbers are served first, unless
    /// the discipline ignores priorities.
    pub fn request(&mut self, now: Time, priority: i64, job: J) -> RequestResult {
        self.statistics.forward(now);
        self.statistics.requests += 1;
        self.asked += 1;
        let claim = match self.discipline {
            Discipline::Fifo => Claim { priority: 0, order: self.asked },
            Discipline::Lifo => Claim { priority: 0, order: -self.asked },
            Discipline::Priority | Discipline::Preemptive => Claim { priority, order: self.asked },
        };
        let entry = Entry { job, asked: now, since: now, begun: true };
        let free = self.serving.len() < self.statistics.servers as usize;
        let preempted = if free { None } else { self.preempt(now, claim) };
        let served = free || preempted.is_some();
        if served {
            self.statistics.begins(None);
            self.serving.insert(claim, entry);
        } else {
            self.waiting.insert(claim, Entry { begun: false, ..entry });
        }
        self.count();
        RequestResult { claim, served, preempted }
    }

    /// With [`Discipline::Preemptive`], moves the served job with the highest claim back to the queue if its priority number
    /// is higher than that of `claim`. The result is the claim of the moved job; `None` if no job is preempted.
    fn preempt(&mut self, now: Time, claim: Claim) -> Option<Claim> {
        if self.discipline != Discipline::Preemptive {
            return None;
        }
        let last = self.serving.last_entry().filter(|last| last.key().priority > claim.priority)?;
        let (last, entry) = last.remove_entry();
        self.waiting.insert(last, Entry { since: now, ..entry });
        self.statistics.preemptions += 1;
        Some(last)
    }

    /// Releases a job's server, or removes the job from the queue; `None` if the job has left already.
    pub fn leave(&mut self, now: Time, claim: Claim) -> Option<Freed<J>> {
        self.statistics.forward(now);
        let freed = if let Some(left) = self.waiting.remove(&claim) {
            self.statistics.in_queue += u128::from(now.since(left.since).nanos());
            if left.begun {
                self.statistics.done += 1;
            } else {
                self.statistics.withdrawn += 1;
            }
            Freed { job: left.job, next: None }
        } else {
            let done = self.serving.remove(&claim)?;
            self.statistics.done += 1;
            Freed { job: done.job, next: self.begin(now) }
        };
        self.count();
        Some(freed)
    }

    /// Gives a server to the first job of the queue.
    fn begin(&mut self, now: Time) -> Option<Claim> {
        let (claim, entry) = self.waiting.pop_first()?;
        self.statistics.in_queue += u128::from(now.since(entry.since).nanos());
        if !entry.begun {
            self.statistics.begins(Some(now.since(entry.asked)));
        }
        self.serving.insert(claim, Entry { begun: true, ..entry });
        Some(claim)
    }

    fn count(&mut self) {
        let statistics = &mut self.statistics;
        statistics.waiting = self.waiting.len() as u64;
        statistics.serving = self.serving.len() as u64;
        statistics.most_waiting = statistics.most_waiting.max(statistics.waiting);
    }

    /// Whether a job has a server.
    #[must_use]
    pub fn serves(&self, claim: Claim) -> bool {
        self.serving.contains_key(&claim)
    }

    /// A job that has a server or waits for one.
    pub fn job_mut(&mut self, claim: Claim) -> Option<&mut J> {
        let entry = self.serving.get_mut(&claim).or_else(|| self.waiting.get_mut(&claim));
        entry.map(|entry| &mut entry.job)
    }

    /// The statistics from the start to `now`.
    #[must_use]
    pub fn statistics(&self, now: Time) -> ResourceStatistics {
        let mut statistics = self.statistics.clone();
        statistics.forward(now);
        let waiting = self.waiting.values().map(|entry| now.since(entry.since));
        statistics.in_queue += waiting.map(Span::nanos).map(u128::from).sum::<u128>();
        statistics
    }
}
