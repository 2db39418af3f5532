//! The context of a process: the effects of a [`Context`](crate::kernel::Context), and futures over virtual time.

use super::clock::Clock;
use super::state::{Effect, Shared};
use super::waiting::{ConnectionChange, Receive, Sleep};
use crate::kernel::resource::{Acquire, Claimed, Preempted, SharedResource};
use crate::kernel::{Connection, Protocol, Recorder};
use crate::rng::{Key, Stream};
use crate::vocab::{PartyId, Span, Time};
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

/// The context of a process. Clones are handles to the same process, for the tasks that the process spawns.
///
/// Effects take place in the order of the calls, when the present task has to wait or ends. Only [`Self::stop`] waits until
/// every task of the process waits or has ended.
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

    /// The stream of random numbers for a purpose, always from the beginning of the stream: every call with the same
    /// purpose returns the same stream. After a crash that lost the party's memory, a call returns a different stream.
    #[must_use]
    pub fn stream(&self, purpose: &str) -> Stream {
        self.key.child(purpose).stream()
    }

    /// The key of the seed tree for a purpose; after a crash that lost the party's memory, it is a different key.
    pub(crate) fn key(&self, purpose: &str) -> Key {
        self.key.child(purpose)
    }

    /// The party's connection; correct even if the party has been offline since the start.
    #[must_use]
    pub fn connection(&self) -> Connection {
        self.shared.state.borrow().connection
    }

    /// Sends a message. The medium decides if and when it arrives.
    pub fn send(&self, to: PartyId, message: P::Message) {
        self.shared.effect(Effect::Send(to, message));
    }

    /// Sends the same message to many parties, in their order.
    pub fn broadcast(&self, to: impl IntoIterator<Item = PartyId>, message: &P::Message) {
        for to in to {
            self.send(to, message.clone());
        }
    }

    /// Records a fact in the journal.
    pub fn record(&self, fact: impl Into<P::Fact>) {
        self.shared.effect(Effect::Record(fact.into()));
    }

    /// Ends the simulation when every task of this process waits or has ended.
    pub fn stop(&self) {
        self.shared.effect(Effect::Stop);
    }

    /// Waits for `span` of virtual time, counted from this call.
    pub fn sleep(&self, span: Span) -> Sleep<P> {
        self.sleep_until(self.now() + span)
    }

    /// Waits until a point of virtual time; if that point has passed, a timer without delay is set.
    pub fn sleep_until(&self, moment: Time) -> Sleep<P> {
        Sleep::new(&self.shared, moment)
    }

    /// Takes the oldest message of the mailbox (messages that no task has taken), or waits for the next message.
    pub fn receive(&self) -> Receive<P> {
        Receive::new(&self.shared, None)
    }

    /// Takes the oldest message for which `wanted`, called with sender and contents, is true, or waits for such a message.
    /// Other messages stay in the mailbox.
    pub fn receive_if(&self, wanted: impl FnMut(PartyId, &P::Message) -> bool + 'static) -> Receive<P> {
        Receive::new(&self.shared, Some(Box::new(wanted)))
    }

    /// As [`Self::receive`], but waits for no longer than `span`; the output is `None` if no message has arrived by then.
    pub async fn receive_within(&self, span: Span) -> Option<(PartyId, P::Message)> {
        self.timeout(span, self.receive()).await
    }

    /// Removes from the mailbox the messages for which `unwanted` is true.
    pub fn discard(&self, mut unwanted: impl FnMut(PartyId, &P::Message) -> bool) {
        let mut mailbox = std::mem::take(&mut self.shared.state.borrow_mut().mailbox);
        mailbox.retain(|(from, message)| !unwanted(*from, message));
        self.shared.state.borrow_mut().mailbox = mailbox;
    }

    /// Waits until the party loses or regains its connection. The output is true if the party is then connected.
    pub fn connection_change(&self) -> ConnectionChange<P> {
        ConnectionChange::new(&self.shared)
    }

    /// The output of `future` if it completes within `span`, counted from the first poll of the timeout; else `None`, and
    /// `future` is dropped. If `future` is ready when the timer of the timeout is handled, it has completed in time. Events
    /// at the same virtual time that are handled after the timer come too late.
    pub async fn timeout<F: Future>(&self, span: Span, future: F) -> Option<F::Output> {
        let mut sleep = pin!(self.sleep(span));
        let mut future = pin!(future);
        poll_fn(|task| match future.as_mut().poll(task) {
            Poll::Ready(done) => Poll::Ready(Some(done)),
            Poll::Pending => sleep.as_mut().poll(task).map(|()| None),
        })
        .await
    }

    /// Spawns another task of the same party. The new task begins when the present task has to wait or ends, after the tasks
    /// that are ready already.
    pub fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        self.shared.state.borrow_mut().begun.push(Box::pin(task));
    }

    /// Waits for a server of a resource. If the resource has priorities, jobs with smaller numbers `priority` are served
    /// first. The output is a [`Claimed`]: dropping it releases the server. Dropping the future while it waits removes the
    /// job from the queue.
    pub fn acquire(&self, resource: &SharedResource, priority: i64) -> Acquire {
        resource.acquire(self.clock(), priority)
    }

    /// Uses an acquired server for `span`.
    ///
    /// # Errors
    /// [`Preempted`] with the remaining time if another job took the server before the end of `span`.
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

    /// Waits for a server and uses it, for `span` in total. Whenever another job takes the server, waits for a server again
    /// and continues.
    pub async fn serve(&self, resource: &SharedResource, priority: i64, span: Span) {
        let claim = self.acquire(resource, priority).await;
        let mut left = span;
        while let Err(preempted) = self.hold(&claim, left).await {
            left = preempted.left;
            claim.regained().await;
        }
    }
}
