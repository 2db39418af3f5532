//! A resource that the tasks of one process share.

use super::line::{Claim, Discipline, Resource};
use super::statistics::ResourceStatistics;
use crate::kernel::process::Clock;
use crate::vocab::{Span, Time};
use std::cell::RefCell;
use std::future::Future;
use std::num::NonZeroU32;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// The waker of the task that waits until a job gets or loses its server; `None` if no task waits.
#[derive(Clone, Debug, Default)]
struct WaitingTask(Option<Waker>);

/// Servers that the tasks of one process share. Clones are handles to the same servers.
#[derive(Clone, Debug)]
pub struct SharedResource(Rc<RefCell<Resource<WaitingTask>>>);

/// A job that lost its server to another job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("another job took the server when {left} of the work was left")]
pub struct Preempted {
    /// The work that is left.
    pub left: Span,
}

impl SharedResource {
    /// Free servers and an empty queue.
    #[must_use]
    pub fn new(servers: NonZeroU32, discipline: Discipline) -> Self {
        Self(Rc::new(RefCell::new(Resource::new(servers, discipline))))
    }

    /// The statistics from the start to `now`.
    #[must_use]
    pub fn statistics(&self, now: Time) -> ResourceStatistics {
        self.0.borrow().statistics(now)
    }

    pub(in crate::kernel) fn acquire(&self, clock: &Clock, priority: i64) -> Acquire {
        Acquire { resource: self.clone(), clock: clock.clone(), priority, claimed: None }
    }

    fn wake(&self, claim: Option<Claim>) {
        let seat = claim.and_then(|claim| self.0.borrow_mut().job_mut(claim).and_then(|seat| seat.0.take()));
        if let Some(waker) = seat {
            waker.wake();
        }
    }

    /// If `served` is true, ready when the job has a server; if `served` is false, ready when the job has no server.
    fn once(&self, claim: Claim, served: bool, task: &Context<'_>) -> Poll<()> {
        let mut resource = self.0.borrow_mut();
        if resource.serves(claim) == served {
            return Poll::Ready(());
        }
        if let Some(seat) = resource.job_mut(claim) {
            seat.0 = Some(task.waker().clone());
        }
        Poll::Pending
    }
}

/// Waits for a server; see [`ProcessContext::acquire`](crate::kernel::ProcessContext::acquire). The job joins the queue
/// when this future is first awaited.
#[derive(Debug)]
#[must_use = "futures do nothing unless awaited"]
pub struct Acquire {
    resource: SharedResource,
    clock: Clock,
    priority: i64,
    claimed: Option<Claimed>,
}

impl Future for Acquire {
    type Output = Claimed;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Claimed> {
        let claim = if let Some(claimed) = &self.claimed {
            claimed.claim
        } else {
            let now = self.clock.now();
            let begun = self.resource.0.borrow_mut().request(now, self.priority, WaitingTask::default());
            self.resource.wake(begun.preempted);
            let (resource, clock) = (self.resource.clone(), self.clock.clone());
            // If this future is dropped, the `Claimed` is dropped too, and the job leaves the queue.
            self.claimed = Some(Claimed { resource, clock, claim: begun.claim });
            begun.claim
        };
        if self.resource.once(claim, true, task).is_pending() {
            return Poll::Pending;
        }
        self.claimed.take().map_or(Poll::Pending, Poll::Ready)
    }
}

/// A server that a task has acquired. It is released when this value is dropped.
#[derive(Debug)]
#[must_use = "the server is released when this is dropped"]
pub struct Claimed {
    resource: SharedResource,
    clock: Clock,
    claim: Claim,
}

impl Claimed {
    /// Whether the task still has the server. Only with [`Discipline::Preemptive`] can another job take it away.
    #[must_use]
    pub fn is_served(&self) -> bool {
        self.resource.0.borrow().serves(self.claim)
    }

    /// Waits until the server is taken away.
    pub fn preempted(&self) -> Preemption<'_> {
        Preemption(self)
    }

    /// Waits until the task has a server again; its job is in the queue already, before jobs of its priority with later
    /// requests.
    pub fn regained(&self) -> Regained<'_> {
        Regained(self)
    }
}

impl Drop for Claimed {
    fn drop(&mut self) {
        let now: Time = self.clock.now();
        let freed = self.resource.0.borrow_mut().leave(now, self.claim);
        self.resource.wake(freed.and_then(|freed| freed.next));
    }
}

/// Waits for the loss of a server; see [`Claimed::preempted`].
#[derive(Debug)]
#[must_use = "futures do nothing unless awaited"]
pub struct Preemption<'a>(&'a Claimed);

impl Future for Preemption<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<()> {
        self.0.resource.once(self.0.claim, false, task)
    }
}

/// Waits until a task that lost its server has a server again; see [`Claimed::regained`].
#[derive(Debug)]
#[must_use = "futures do nothing unless awaited"]
pub struct Regained<'a>(&'a Claimed);

impl Future for Regained<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<()> {
        self.0.resource.once(self.0.claim, true, task)
    }
}
