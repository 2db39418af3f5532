//! Caller and listeners of the test protocol.

use crate::kernel::{Context, Digest, Digestible, Input, Party, Payload, Protocol};
use crate::protocols::stage::message_macros::vocabulary;
use crate::protocols::stage::{AfterTimeout, Requester, Retry, RetryTimer, Rounds};
use crate::rng::Key;
use crate::vocab::PartyId;
use std::any::Any;

/// The messages, timers and facts of the test protocol.
#[derive(Clone, Copy, Debug)]
pub struct EchoProtocol;

/// One call to one listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Who is called.
    pub listener: PartyId,
    /// The number of the round, from 0; in each round every listener is called once.
    pub round: u64,
}

vocabulary! {
    /// The messages.
    #[derive(Copy, PartialEq, Eq)]
    pub enum Message {
        /// From the caller to a listener.
        Call(call: Call) = 0,
        /// From the listener: the call repeated.
        Echo(call: Call) = 1,
    }
}

vocabulary! {
    /// The facts that are recorded.
    #[derive(Copy, PartialEq, Eq)]
    pub enum Fact {
        /// The call was answered.
        Answered(call: Call) = 0,
        /// The caller gave up before an answer arrived.
        GaveUp(call: Call) = 1,
    }
}

impl Protocol for EchoProtocol {
    type Message = Message;
    type Timer = RetryTimer;
    type Fact = Fact;
}

impl Rounds for EchoProtocol {
    fn round(message: &Message) -> Option<u64> {
        let (Message::Call(call) | Message::Echo(call)) = message;
        Some(call.round)
    }

    /// The end of a call in a round shows that the round before is over.
    fn closes(fact: &Fact) -> Option<u64> {
        let (Fact::Answered(call) | Fact::GaveUp(call)) = fact;
        call.round.checked_sub(1)
    }
}

impl Payload for Message {
    fn wire_bytes(&self) -> u64 {
        // 28 bytes of headers (IPv4 and UDP; the other protocols count 40, IPv4 and TCP), the listener and the round.
        28 + 4 + 8
    }

    fn label(&self) -> &'static str {
        self.label()
    }
}

impl Digestible for Call {
    fn digest(&self, digest: &mut Digest) {
        digest.word(u64::from(self.listener.0));
        digest.word(self.round);
    }
}

/// All parties of a simulation with `population` parties, in order of ids; `key` is the node of the seed tree from
/// which the random parts of the waits before repeated calls are drawn.
#[must_use]
pub fn parties(
    population: usize,
    caller: PartyId,
    rounds: u64,
    (retry, key): (Retry, Key),
) -> Vec<Box<dyn Party<EchoProtocol>>> {
    (0..population)
        .map(|index| -> Box<dyn Party<EchoProtocol>> {
            if index == caller.index() {
                Box::new(Caller {
                    population,
                    rounds,
                    asker: Requester::new(retry, key),
                    calls: 0,
                    open: None,
                })
            } else {
                Box::new(Listener)
            }
        })
        .collect()
}

#[derive(Clone, Debug)]
struct Caller {
    population: usize,
    rounds: u64,
    asker: Requester<EchoProtocol>,
    /// Calls made so far; they determine the next listener and round.
    calls: u64,
    open: Option<Call>,
}

impl Caller {
    fn next(&mut self, ctx: &mut Context<'_, EchoProtocol>) {
        let listeners = self.population as u64 - 1;
        if listeners == 0 || self.calls == listeners * self.rounds {
            ctx.stop();
            return;
        }
        let nth = (self.calls % listeners) as u32;
        let listener = PartyId(if nth < ctx.me().0 { nth } else { nth + 1 });
        let call = Call { listener, round: self.calls / listeners };
        self.calls += 1;
        self.open = Some(call);
        self.asker.ask(ctx, listener, Message::Call(call));
    }
}

impl Party<EchoProtocol> for Caller {
    fn handle(&mut self, input: Input<EchoProtocol>, ctx: &mut Context<'_, EchoProtocol>) {
        match input {
            Input::Start => self.next(ctx),
            Input::Message { message: Message::Echo(call), .. } => {
                // The echo of a call that is no longer open is ignored.
                if self.open == Some(call) {
                    self.asker.close(ctx);
                    ctx.record(Fact::Answered(call));
                    self.next(ctx);
                }
            }
            Input::Timer(timer) => match (self.asker.timeout(ctx, timer), self.open) {
                (AfterTimeout::GaveUp, Some(call)) => {
                    ctx.record(Fact::GaveUp(call));
                    self.next(ctx);
                }
                (
                    AfterTimeout::AskedAgain
                    | AfterTimeout::Offline
                    | AfterTimeout::Stale
                    | AfterTimeout::GaveUp,
                    _,
                ) => {}
            },
            Input::CameBack => self.asker.reconnected(ctx),
            Input::Message { message: Message::Call(_), .. } | Input::WentOffline => {}
        }
    }

    fn adopt(&mut self, fresh: &dyn Any) {
        if let Some(fresh) = fresh.downcast_ref::<Self>() {
            self.asker.set_retry(fresh.asker.retry());
        }
    }

    /// The number of closed calls is in stable storage and survives a crash; the open call is made again.
    fn restarted(&self) -> Option<Box<dyn Party<EchoProtocol>>> {
        Some(Box::new(Self {
            population: self.population,
            rounds: self.rounds,
            asker: self.asker.afresh(),
            calls: self.calls - u64::from(self.open.is_some()),
            open: None,
        }))
    }
}

#[derive(Clone, Debug)]
struct Listener;

impl Party<EchoProtocol> for Listener {
    fn handle(&mut self, input: Input<EchoProtocol>, ctx: &mut Context<'_, EchoProtocol>) {
        match input {
            Input::Message { from, message: Message::Call(call) } => ctx.send(from, Message::Echo(call)),
            Input::Start
            | Input::Message { message: Message::Echo(_), .. }
            | Input::Timer(_)
            | Input::WentOffline
            | Input::CameBack => {}
        }
    }
}
