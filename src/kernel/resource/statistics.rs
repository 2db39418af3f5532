//! Statistics of a resource: how busy its servers were, and how long jobs waited for them.

use crate::vocab::{Span, Time};

const NANOS_PER_SECOND: f64 = 1e9;

/// Counts and sums of a resource from the start to some moment. Sums of times are whole nanoseconds, so that they
/// are exact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceStatistics {
    /// Number of servers.
    pub servers: u32,
    /// The time up to which the statistics count.
    pub at: Time,
    /// Jobs that requested a server.
    pub requests: u64,
    /// Jobs that got a server.
    pub begun: u64,
    /// Jobs that got a server after waiting for it.
    pub delayed: u64,
    /// Jobs that left after they had a server.
    pub done: u64,
    /// Jobs that left the queue before they had a server.
    pub withdrawn: u64,
    /// Number of times that a job lost its server to another job.
    pub preemptions: u64,
    /// Number of jobs in the queue now.
    pub waiting: u64,
    /// Number of jobs with a server now.
    pub serving: u64,
    /// The largest number of jobs in the queue at one time.
    pub most_waiting: u64,
    /// Nanoseconds from a job's request until it first got a server, summed over all jobs that got one.
    pub until_begun: u128,
    /// The longest time from a job's request until it first got a server.
    pub longest_until_begun: Span,
    /// Nanoseconds that jobs have been in the queue, summed over all jobs, including those that are in the queue now.
    pub in_queue: u128,
    /// Nanoseconds that servers have been busy, summed over all servers.
    pub busy: u128,
    /// The integral of the number of jobs in the queue over time, in nanoseconds. It equals `in_queue`, but is summed over
    /// time instead of over jobs, so each of the two checks the other.
    pub queue_area: u128,
}

impl ResourceStatistics {
    pub(super) fn new(servers: u32) -> Self {
        Self {
            servers,
            at: Time::ZERO,
            requests: 0,
            begun: 0,
            delayed: 0,
            done: 0,
            withdrawn: 0,
            preemptions: 0,
            waiting: 0,
            serving: 0,
            most_waiting: 0,
            until_begun: 0,
            longest_until_begun: Span::ZERO,
            in_queue: 0,
            busy: 0,
            queue_area: 0,
        }
    }

    /// Adds the time up to `now`, during which the numbers of waiting and served jobs did not change.
    pub(super) fn forward(&mut self, now: Time) {
        let passed = u128::from(now.since(self.at).nanos());
        self.queue_area += passed * u128::from(self.waiting);
        self.busy += passed * u128::from(self.serving);
        self.at = now;
    }

    /// Counts a job that gets a server for the first time. `waited` is the time since the job's request; `None` if the job
    /// did not have to wait.
    pub(super) fn begins(&mut self, waited: Option<Span>) {
        self.begun += 1;
        if let Some(waited) = waited {
            self.delayed += 1;
            self.until_begun += u128::from(waited.nanos());
            self.longest_until_begun = self.longest_until_begun.max(waited);
        }
    }

    /// The share of time for which a server was busy, in [0, 1], averaged over all servers; 0 at the start.
    #[must_use]
    pub fn utilisation(&self) -> f64 {
        let all = self.at.nanos() as f64 * f64::from(self.servers);
        if all > 0.0 { self.busy as f64 / all } else { 0.0 }
    }

    /// Among the jobs that got a server, the share that had to wait for it, in [0, 1]; NaN before the first job got a
    /// server.
    #[must_use]
    pub fn share_delayed(&self) -> f64 {
        self.delayed as f64 / self.begun as f64
    }

    /// Mean time in seconds from a job's request until it first got a server, over the jobs that got one; NaN before the
    /// first job got a server.
    #[must_use]
    pub fn mean_wait_seconds(&self) -> f64 {
        self.until_begun as f64 / NANOS_PER_SECOND / self.begun as f64
    }

    /// Mean over time of the number of jobs in the queue; 0 at the start.
    #[must_use]
    pub fn mean_waiting(&self) -> f64 {
        if self.at > Time::ZERO { self.queue_area as f64 / self.at.nanos() as f64 } else { 0.0 }
    }
}
