//! The futures that a process can await: a point of virtual time, a message, a change of its connection.

use super::state::{AlarmState, Effect, ProcessTimer, Shared};
use crate::kernel::Protocol;
use crate::vocab::{PartyId, Time};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Waits until a point of virtual time; see [`super::ProcessContext::sleep`]. A timer is set when the future is first
/// awaited, and cancelled if the future is dropped before the timer runs out.
#[derive(Debug)]
#[must_use = "futures do nothing unless awaited"]
pub struct Sleep<P: Protocol> {
    shared: Shared<P>,
    until: Time,
    alarm: Option<ProcessTimer>,
}

impl<P: Protocol> Sleep<P> {
    pub(super) fn new(shared: &Shared<P>, until: Time) -> Self {
        Self { shared: shared.clone(), until, alarm: None }
    }
}

impl<P: Protocol> Future for Sleep<P> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<()> {
        let shared = self.shared.clone();
        let mut state = shared.state.borrow_mut();
        let span = self.until.since(shared.clock.now());
        let alarm = *self.alarm.get_or_insert_with(|| {
            let alarm = ProcessTimer(state.next_alarm);
            state.next_alarm += 1;
            state.effects.push_back(Effect::Wait(alarm, span));
            state.alarms.insert(alarm, AlarmState::Set(None));
            alarm
        });
        match state.alarms.get_mut(&alarm) {
            Some(AlarmState::Set(waker)) => {
                *waker = Some(task.waker().clone());
                Poll::Pending
            }
            Some(AlarmState::Expired) | None => Poll::Ready(()),
        }
    }
}

impl<P: Protocol> Drop for Sleep<P> {
    fn drop(&mut self) {
        let Some(alarm) = self.alarm else { return };
        let mut state = self.shared.state.borrow_mut();
        if let Some(AlarmState::Set(_)) = state.alarms.remove(&alarm) {
            state.effects.push_back(Effect::Cancel(alarm));
        }
    }
}

/// Decides whether a future takes a message.
type Wanted<P> = Box<dyn FnMut(PartyId, &<P as Protocol>::Message) -> bool>;

/// Waits for a message; see [`super::ProcessContext::receive`].
#[must_use = "futures do nothing unless awaited"]
pub struct Receive<P: Protocol> {
    shared: Shared<P>,
    wanted: Option<Wanted<P>>,
    /// The number of this future; waiting futures are woken in the order of these numbers.
    place: u64,
}

impl<P: Protocol> fmt::Debug for Receive<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receive").field("place", &self.place).finish_non_exhaustive()
    }
}

impl<P: Protocol> Receive<P> {
    pub(super) fn new(shared: &Shared<P>, wanted: Option<Wanted<P>>) -> Self {
        let place = shared.state.borrow_mut().waiter();
        Self { shared: shared.clone(), wanted, place }
    }
}

impl<P: Protocol> Future for Receive<P> {
    type Output = (PartyId, P::Message);

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        let shared = self.shared.clone();
        // The mailbox is moved out while `wanted` is called, because `wanted` is code of the process and may use the
        // context.
        let mut mailbox = std::mem::take(&mut shared.state.borrow_mut().mailbox);
        let found = match &mut self.wanted {
            None => (!mailbox.is_empty()).then_some(0),
            Some(wanted) => mailbox.iter().position(|(from, message)| wanted(*from, message)),
        };
        let message = found.and_then(|place| mailbox.remove(place));
        let mut state = shared.state.borrow_mut();
        state.mailbox = mailbox;
        if let Some(message) = message {
            return Poll::Ready(message);
        }
        state.receivers.insert(self.place, task.waker().clone());
        Poll::Pending
    }
}

impl<P: Protocol> Drop for Receive<P> {
    fn drop(&mut self) {
        self.shared.state.borrow_mut().receivers.remove(&self.place);
    }
}

/// Waits for a change of the connection; see [`super::ProcessContext::connection_change`].
#[derive(Debug)]
#[must_use = "futures do nothing unless awaited"]
pub struct ConnectionChange<P: Protocol> {
    shared: Shared<P>,
    place: u64,
    /// Number of changes when the future was created.
    before: u64,
}

impl<P: Protocol> ConnectionChange<P> {
    pub(super) fn new(shared: &Shared<P>) -> Self {
        let mut state = shared.state.borrow_mut();
        Self { shared: shared.clone(), place: state.waiter(), before: state.changes }
    }
}

impl<P: Protocol> Future for ConnectionChange<P> {
    type Output = bool;

    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<bool> {
        let mut state = self.shared.state.borrow_mut();
        if state.changes > self.before {
            return Poll::Ready(state.online);
        }
        state.watchers.insert(self.place, task.waker().clone());
        Poll::Pending
    }
}

impl<P: Protocol> Drop for ConnectionChange<P> {
    fn drop(&mut self) {
        self.shared.state.borrow_mut().watchers.remove(&self.place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::task::Waker;

    #[derive(Clone, Debug)]
    struct Numbers;

    impl Protocol for Numbers {
        type Message = f64;
        type Timer = ProcessTimer;
        type Fact = f64;
    }

    /// If a future is dropped while it waits, the process drops the waker that it has stored for the future.
    #[test]
    fn a_dropped_future_is_forgotten() {
        let shared = Shared::<Numbers>::new(PartyId(0));
        let waiting = |shared: &Shared<Numbers>| {
            let state = shared.state.borrow();
            (state.receivers.len(), state.watchers.len())
        };
        let mut task = Context::from_waker(Waker::noop());
        {
            let mut receive = pin!(Receive::new(&shared, None));
            let mut change = pin!(ConnectionChange::new(&shared));
            assert!(receive.as_mut().poll(&mut task).is_pending());
            assert!(change.as_mut().poll(&mut task).is_pending());
            assert_eq!(waiting(&shared), (1, 1));
        }
        assert_eq!(waiting(&shared), (0, 0));
    }
}
