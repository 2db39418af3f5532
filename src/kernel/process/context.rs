//! What a process may ask for and wait for: the effects of a [`Context`](crate::kernel::Context), and futures over
//! virtual time.

use super::clock::Clock;
use super::state::{Effect, Shared};
use super::waiting::{ConnectionChange, Receive, Sleep};
use crate::kernel::resource::{Acquire, Claimed, Preempted, SharedResource};
use crate::kernel::{Protocol, Recorder};
use crate::rng::{Key, Stream};
use crate::vocab::{PartyId, Span, Time};
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

/// The context of a process. Clones are handles on the same process, for tasks that it begins.
///
/// Effects take place in the order in which they are asked for, once the process waits again or ends.
pub struct ProcessContext<P: Protocol> {
    shared: Shared<P>,
    key: Key,
}

impl<P: Protocol> fmt::Debug for ProcessContext<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProcessContext").field("now", &self.now()).finish_non_exhaustive()
    }
}

impl<P: Protocol> Clone for ProcessContext<P> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone(), key: self.key }
    }
}

impl<P: Protocol> Recorder<P> for ProcessContext<P> {
    fn now(&self) -> Time {
        ProcessContext::now(self)
    }

    fn record(&mut self, fact: P::Fact) {
        self.shared.effect(Effect::Record(fact));
    }

    fn stop(&mut self) {
        ProcessContext::stop(self);
    }
}

impl<P: Protocol> ProcessContext<P> {
    pub(super) fn new(shared: Shared<P>, key: Key) -> Self {
        Self { shared, key }
    }

    /// The present virtual time.
    #[must_use]
    pub fn now(&self) -> Time {
        self.clock().now()
    }

    fn clock(&self) -> &Clock {
        &self.shared.clock
    }

    /// The party whose process this is.
    #[must_use]
    pub fn me(&self) -> PartyId {
        self.shared.state.borrow().me
    }

    /// The stream of random numbers for a purpose, from its beginning: the same at every call. After a crash that
    /// lost the party's memory it is another one.
    #[must_use]
    pub fn stream(&self, purpose: &str) -> Stream {
        self.key.child(purpose).stream()
    }

    /// Sends a message. The medium decides if and when it arrives.
    pub fn send(&self, to: PartyId, message: P::Message) {
        self.shared.effect(Effect::Send(to, message));
    }

    /// Sends the same message to many, in their order.
    pub fn broadcast(&self, to: impl IntoIterator<Item = PartyId>, message: &P::Message) {
        for to in to {
            self.send(to, message.clone());
        }
    }

    /// States a fact for the record.
    pub fn record(&self, fact: impl Into<P::Fact>) {
        self.shared.effect(Effect::Record(fact.into()));
    }

    /// Ends the simulation when this process waits again or ends.
    pub fn stop(&self) {
        self.shared.effect(Effect::Stop);
    }

    /// Waits for `span` of virtual time, counted from this call.
    pub fn sleep(&self, span: Span) -> Sleep<P> {
        self.sleep_until(self.now() + span)
    }

    /// Waits for a moment; one that has passed comes at once, as an event of its own.
    pub fn sleep_until(&self, moment: Time) -> Sleep<P> {
        Sleep::new(&self.shared, moment)
    }

    /// Waits for the next message, or takes the oldest of those that came while nobody waited.
    pub fn receive(&self) -> Receive<P> {
        Receive::new(&self.shared, None)
    }

    /// Waits for a message that is `wanted`, by sender and contents; others stay for who wants them.
    pub fn receive_if(&self, wanted: impl FnMut(PartyId, &P::Message) -> bool + 'static) -> Receive<P> {
        Receive::new(&self.shared, Some(Box::new(wanted)))
    }

    /// As [`Self::receive`], but for no longer than `span`.
    pub async fn receive_within(&self, span: Span) -> Option<(PartyId, P::Message)> {
        self.timeout(span, self.receive()).await
    }

    /// Drops the messages that came while nobody waited and that are `unwanted`.
    pub fn discard(&self, mut unwanted: impl FnMut(PartyId, &P::Message) -> bool) {
        let mut mailbox = std::mem::take(&mut self.shared.state.borrow_mut().mailbox);
        mailbox.retain(|(from, message)| !unwanted(*from, message));
        self.shared.state.borrow_mut().mailbox = mailbox;
    }

    /// Waits until the party loses its connection or gets it back; true when it is back.
    pub fn connection_change(&self) -> ConnectionChange<P> {
        ConnectionChange::new(&self.shared)
    }

    /// What `future` gives if it does within `span`, counted from this call; it is dropped otherwise. What is ready
    /// at the very end is in time.
    pub async fn timeout<F: Future>(&self, span: Span, future: F) -> Option<F::Output> {
        let mut sleep = pin!(self.sleep(span));
        let mut future = pin!(future);
        poll_fn(|task| match future.as_mut().poll(task) {
            Poll::Ready(done) => Poll::Ready(Some(done)),
            Poll::Pending => sleep.as_mut().poll(task).map(|()| None),
        })
        .await
    }

    /// Begins a further task of the same party: it runs beside this one, and begins when this one waits.
    pub fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        self.shared.state.borrow_mut().begun.push(Box::pin(task));
    }

    /// Waits for a server of a resource; lower priorities are served first, where the resource has priorities. The
    /// server is given back when what this gives is dropped, and the place in the queue when this is.
    pub fn acquire(&self, resource: &SharedResource, priority: i64) -> Acquire {
        resource.acquire(self.clock(), priority)
    }

    /// Keeps a server for `span`.
    ///
    /// # Errors
    /// [`Preempted`] with the time that was left when somebody else got the server.
    pub async fn hold(&self, claim: &Claimed, span: Span) -> Result<(), Preempted> {
        let end = self.now() + span;
        let mut sleep = pin!(self.sleep_until(end));
        let mut lost = pin!(claim.preempted());
        poll_fn(|task| {
            if lost.as_mut().poll(task).is_ready() {
                let left = end.since(self.now());
                return Poll::Ready(if left > Span::ZERO { Err(Preempted { left }) } else { Ok(()) });
            }
            sleep.as_mut().poll(task).map(Ok)
        })
        .await
    }

    /// Is served for `span` in all: waits for a server, keeps it as long, and goes on later where it was preempted.
    pub async fn serve(&self, resource: &SharedResource, priority: i64, span: Span) {
        let claim = self.acquire(resource, priority).await;
        let mut left = span;
        while let Err(preempted) = self.hold(&claim, left).await {
            left = preempted.left;
            claim.regained().await;
        }
    }
}
