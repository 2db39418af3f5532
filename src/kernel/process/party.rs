//! A process as a party: at each input it resumes its tasks, and passes on to the kernel the effects that the tasks request.

use super::context::ProcessContext;
use super::state::{Effect, ProcessTimer, Processes, Shared};
use super::tasks::{Tasks, Work};
use crate::kernel::{BoxedClone, CannotCopy, Connection, Context, Input, Party, TimerTicket};
use crate::rng::Key;
use crate::vocab::{PartyId, Time};
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

/// Creates the main task of a process.
type Body<P> = Rc<dyn Fn(ProcessContext<P>) -> Work>;

/// An input with its time, the party that handles it, and that party's connection.
type TimedInput<P> = (Time, PartyId, Connection, Input<P>);

/// A party written as a co-routine, `async` code over virtual time, instead of a state machine with [`Party::handle`].
///
/// ```
/// use subrosa::prelude::*;
/// use subrosa::kernel::{Limits, PerfectMedium, Process, ProcessContext, ProcessTimer, Simulation};
///
/// #[derive(Clone, Debug)]
/// struct Talk;
/// impl Protocol for Talk {
///     type Message = f64;
///     type Timer = ProcessTimer;
///     type Fact = f64;
/// }
///
/// let key = Key::root(1);
/// let asks = Process::<Talk>::new(key.child("asks"), async |ctx: ProcessContext<Talk>| {
///     for question in 1..=3 {
///         ctx.send(PartyId(1), f64::from(question));
///         let answer = ctx.receive_within(Span::from_millis(500)).await;
///         ctx.record(answer.map_or(0.0, |(_, answer)| answer));
///     }
/// });
/// let answers = Process::new(key.child("answers"), async |ctx: ProcessContext<Talk>| loop {
///     let (from, question) = ctx.receive().await;
///     ctx.sleep(Span::from_millis(200) ).await;
///     ctx.send(from, 10.0 * question);
/// });
/// let mut simulation = Simulation::new(vec![Box::new(asks), Box::new(answers)], PerfectMedium);
/// simulation.run(Limits::default(), &mut |_, _| {})?;
/// assert_eq!(simulation.now().seconds(), 0.6);
/// # Ok::<(), subrosa::kernel::KernelError>(())
/// ```
///
/// A process uses neither the system's clock nor a thread: it is resumed when the kernel passes it an input. So order,
/// digest and replay have the same guarantees as for every other party. After a crash that lost the party's memory, a
/// process starts again.
///
/// A process that has started can be copied only if it was made with [`Self::forkable`]. Otherwise the simulation cannot be
/// forked after the start of the process, even if its body has ended.
pub struct Process<P: Processes> {
    body: Body<P>,
    key: Key,
    /// Number of restarts so far, each after a crash that lost the party's memory.
    crashes: u64,
    running: Option<Running<P>>,
    /// All inputs since the process started or restarted, if it is forkable.
    inputs: Option<Vec<TimedInput<P>>>,
}

/// For each alarm (a timer that a future of the process waits for), the ticket of the kernel's timer.
type Tickets = BTreeMap<ProcessTimer, TimerTicket>;

struct Running<P: Processes> {
    shared: Shared<P>,
    tasks: Tasks,
    tickets: Tickets,
}

impl<P: Processes> fmt::Debug for Process<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tasks = self.running.as_ref().map(|running| &running.tasks);
        f.debug_struct("Process").field("running", &tasks).finish_non_exhaustive()
    }
}

impl<P: Processes> Process<P> {
    /// A process that runs `body`, with random numbers from the subtree of `key`. After a crash that lost the party's
    /// memory, `body` is called again, with other random numbers.
    pub fn new(key: Key, body: impl AsyncFn(ProcessContext<P>) + 'static) -> Self {
        let body = Rc::new(body);
        let body = move |context| -> Work {
            let body = Rc::clone(&body);
            Box::pin(async move { body(context).await })
        };
        Self { body: Rc::new(body), key, crashes: 0, running: None, inputs: None }
    }

    /// The same process with its inputs stored, so that it can be copied. To make a copy, `body` is called again and
    /// receives all stored inputs; the effects that it requests meanwhile are dropped. `body` must not change state outside
    /// itself.
    #[must_use]
    pub fn forkable(self) -> Self {
        Self { inputs: Some(Vec::new()), ..self }
    }

    /// A copy of the process as it was just before its last `Input::Start`: the process runs no task and has stored no
    /// input.
    fn afresh(&self) -> Self {
        let inputs = self.inputs.as_ref().map(|_| Vec::new());
        Self { body: Rc::clone(&self.body), key: self.key, crashes: self.crashes, running: None, inputs }
    }

    fn begin(&mut self, me: PartyId) {
        let shared = Shared::new(me);
        let mut tasks = Tasks::default();
        let key = if self.crashes == 0 { self.key } else { self.key.index(self.crashes) };
        tasks.add((self.body)(ProcessContext::new(shared.clone(), key)));
        self.running = Some(Running { shared, tasks, tickets: Tickets::new() });
    }

    /// Handles one input: wakes the tasks that wait for it, and polls tasks until none is ready.
    fn handle_input(
        &mut self,
        (now, me, connection, input): TimedInput<P>,
        carry_out: &mut dyn FnMut(Effect<P>, &mut Tickets),
    ) {
        if matches!(input, Input::Start) {
            self.begin(me);
        }
        let Some(Running { shared, tasks, tickets }) = &mut self.running else { return };
        shared.clock.set(now);
        shared.state.borrow_mut().connection = connection;
        match input {
            Input::Start => {}
            Input::Message { from, message } => shared.deliver(from, message),
            Input::Timer(timer) => {
                if let Ok(alarm) = timer.try_into() {
                    tickets.remove(&alarm);
                    shared.expire(alarm);
                }
            }
            Input::WentOffline => shared.switch(false),
            Input::CameBack => shared.switch(true),
        }
        while tasks.poll_next() {
            let (begun, mut effects) = {
                let mut state = shared.state.borrow_mut();
                (std::mem::take(&mut state.begun), std::mem::take(&mut state.effects))
            };
            begun.into_iter().for_each(|task| tasks.add(task));
            effects.drain(..).for_each(|effect| carry_out(effect, tickets));
        }
    }
}

impl<P: Processes> Party<P> for Process<P> {
    fn handle(&mut self, input: Input<P>, ctx: &mut Context<'_, P>) {
        let input = (ctx.now(), ctx.me(), ctx.connection(), input);
        if let Some(all) = &mut self.inputs {
            all.push(input.clone());
        }
        self.handle_input(input, &mut |effect, tickets| match effect {
            Effect::Send(to, message) => ctx.send(to, message),
            Effect::Record(fact) => ctx.record(fact),
            Effect::Wait(alarm, span) => {
                tickets.insert(alarm, ctx.after(span, alarm.into()));
            }
            Effect::Cancel(alarm) => {
                if let Some(ticket) = tickets.remove(&alarm) {
                    ctx.cancel(ticket);
                }
            }
            Effect::Stop => ctx.stop(),
        });
    }

    fn restarted(&self) -> Option<Box<dyn Party<P>>> {
        Some(Box::new(Self { crashes: self.crashes + 1, ..self.afresh() }))
    }
}

impl<P: Processes> BoxedClone<P> for Process<P> {
    fn boxed_clone(&self) -> Result<Box<dyn Party<P>>, CannotCopy> {
        let mut copy = self.afresh();
        let Some(running) = &self.running else { return Ok(Box::new(copy)) };
        let Some(inputs) = &self.inputs else { return Err(CannotCopy::RunningProcess) };
        for input in inputs {
            copy.handle_input(input.clone(), &mut |_, _| {});
        }
        copy.inputs.clone_from(&self.inputs);
        if let Some(again) = &mut copy.running {
            again.tickets.clone_from(&running.tickets);
        }
        Ok(Box::new(copy))
    }
}
