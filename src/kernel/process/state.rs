//! The state that a process and its futures share: mailbox, alarms (timers that futures wait for), and requested effects.

use super::clock::Clock;
use super::tasks::Work;
use crate::kernel::{Connection, Digest, Digestible, Protocol};
use crate::vocab::{PartyId, Span};
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::rc::Rc;
use std::task::Waker;

/// A timer of a process. The timers are numbered in the order in which the process began to wait for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProcessTimer(pub u64);

impl Digestible for ProcessTimer {
    fn digest(&self, digest: &mut Digest) {
        digest.word(self.0);
    }
}

/// A protocol whose parties may be processes: its timer type is [`ProcessTimer`], or converts from and to it.
pub trait Processes: Protocol<Timer: From<ProcessTimer> + TryInto<ProcessTimer>> {}

impl<P: Protocol<Timer: From<ProcessTimer> + TryInto<ProcessTimer>>> Processes for P {}

/// An effect that a process requests from the kernel.
pub(super) enum Effect<P: Protocol> {
    Send(PartyId, P::Message),
    Record(P::Fact),
    Wait(ProcessTimer, Span),
    Cancel(ProcessTimer),
    Stop,
}

/// The futures that wait for one kind of event, by their numbers (`State::waiter`), each with the waker of its task. The
/// numbers are in the order in which the futures were created.
pub(super) type Waiters = BTreeMap<u64, Waker>;

/// The state of an alarm: pending, with the waker of the task that waits for it, or expired.
pub(super) enum AlarmState {
    Set(Option<Waker>),
    Expired,
}

/// The state of one process.
pub(super) struct State<P: Protocol> {
    pub(super) me: PartyId,
    /// Messages that no task has taken yet.
    pub(super) mailbox: VecDeque<(PartyId, P::Message)>,
    pub(super) receivers: Waiters,
    pub(super) alarms: BTreeMap<ProcessTimer, AlarmState>,
    pub(super) next_alarm: u64,
    /// Number of changes of the connection that the process has been informed of so far.
    pub(super) changes: u64,
    /// Whether the party was connected after the last of these changes; not used before the first change.
    pub(super) online: bool,
    /// The connection when the latest input of the party was handled.
    pub(super) connection: Connection,
    pub(super) watchers: Waiters,
    pub(super) next_waiter: u64,
    pub(super) effects: VecDeque<Effect<P>>,
    /// Spawned tasks. When the present task has to wait or ends, they queue up behind the tasks that are ready already.
    pub(super) begun: Vec<Work>,
}

/// A handle to the state of one process.
pub(super) struct Shared<P: Protocol> {
    pub(super) clock: Clock,
    pub(super) state: Rc<RefCell<State<P>>>,
}

impl<P: Protocol> Clone for Shared<P> {
    fn clone(&self) -> Self {
        Self { clock: self.clock.clone(), state: Rc::clone(&self.state) }
    }
}

impl<P: Protocol> fmt::Debug for Shared<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Process").field("now", &self.clock.now()).finish_non_exhaustive()
    }
}

impl<P: Protocol> Shared<P> {
    pub(super) fn new(me: PartyId) -> Self {
        let state = State {
            me,
            mailbox: VecDeque::new(),
            receivers: Waiters::new(),
            alarms: BTreeMap::new(),
            next_alarm: 0,
            changes: 0,
            online: true,
            connection: Connection::Online,
            watchers: Waiters::new(),
            next_waiter: 0,
            effects: VecDeque::new(),
            begun: Vec::new(),
        };
        Self { clock: Clock::default(), state: Rc::new(RefCell::new(state)) }
    }

    pub(super) fn effect(&self, effect: Effect<P>) {
        self.state.borrow_mut().effects.push_back(effect);
    }

    /// Adds a message to the mailbox, and wakes all tasks that wait for a message, in the order in which the futures that
    /// wait were created.
    pub(super) fn deliver(&self, from: PartyId, message: P::Message) {
        let mut state = self.state.borrow_mut();
        state.mailbox.push_back((from, message));
        std::mem::take(&mut state.receivers).into_values().for_each(Waker::wake);
    }

    /// Marks an alarm as expired and wakes its task. This has no effect if no future waits for the alarm any
    /// more.
    pub(super) fn expire(&self, alarm: ProcessTimer) {
        let mut state = self.state.borrow_mut();
        if let Some(ringing) = state.alarms.get_mut(&alarm)
            && let AlarmState::Set(Some(waker)) = std::mem::replace(ringing, AlarmState::Expired)
        {
            waker.wake();
        }
    }

    pub(super) fn switch(&self, online: bool) {
        let mut state = self.state.borrow_mut();
        state.changes += 1;
        state.online = online;
        std::mem::take(&mut state.watchers).into_values().for_each(Waker::wake);
    }
}

impl<P: Protocol> State<P> {
    /// A new number for a future that waits.
    pub(super) fn waiter(&mut self) -> u64 {
        self.next_waiter += 1;
        self.next_waiter
    }
}
