//! A protocol of one's own, which scenarios name: a service asks a device for one measurement at a time, and
//! repeats lost requests. This program is `subrosa` with this protocol:
//! `cargo run --example own_protocol -- run examples/own_protocol.ron` plays it, and `replay`, `trace`,
//! `cluster`, `compare`, `report` and `audit` work as for the library's protocols.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use subrosa::audit::systems::{AuditContext, Audited, Candidates, NotAuditedReason, search_candidates};
use subrosa::kernel::{Process, ProcessContext};
use subrosa::prelude::*;
use subrosa::privacy::mechanisms::OutcomeRelease;
use subrosa::protocols::{ActiveParties, Parts, Search, SearchSeries, SearchSettings, end_refused};

subrosa::messages! {
    /// The messages.
    pub enum Message {
        /// To the device: measure this arm.
        Measure { round: u64, arm: u64 } = 0,
        /// Back to the service.
        Outcome { round: u64, outcome: Released<f64> } = 1,
    }
}

type Lab = subrosa::protocols::SearchProtocol<Message>;

/// A service has a device measure what its learner chooses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Remote {
    /// Name of the party that searches.
    pub service: String,
    /// Name of the party that measures.
    pub device: String,
    /// Rounds of each learner.
    pub rounds: u64,
    /// When the service asks again. Default: after 1 s, then after waits that double up to 32 s, minus a random part of up
    /// to one half; a request is sent at most 100 times in all.
    #[serde(default)]
    pub retry: Retry,
    /// How the device answers. Default: with what it measured, without protection.
    #[serde(default)]
    pub outcomes: OutcomeRelease,
    /// The series that are compared.
    pub series: Vec<SearchSeries>,
}

impl Search for Remote {
    type World = Lab;

    fn settings(&self) -> SearchSettings<'_> {
        let (searcher, measurer) = (("service", &*self.service), ("device", &*self.device));
        let settings = SearchSettings::new(searcher, measurer, self.rounds, &self.series);
        SearchSettings { outcomes: self.outcomes.clone(), ..settings.retrying(self.retry) }
    }

    fn active_parties(&self, parts: Parts) -> ActiveParties<Lab> {
        let Parts { searcher, searcher_id, measurer, measurer_id, key } = parts;
        let retry = self.retry;
        let service = Process::new(key, async move |ctx: ProcessContext<Lab>| {
            let ask = async |round, arm| {
                let answer = move |message: &Message| match message {
                    Message::Outcome { round: of, outcome } if *of == round => Some(*outcome.get()),
                    _ => None,
                };
                retry.ask(&ctx, measurer_id, Message::Measure { round, arm }, answer).await
            };
            searcher.clone().search(ctx.clone(), ask).await;
        });
        let device = Process::new(key, async move |mut ctx: ProcessContext<Lab>| {
            let mut measurer = measurer.clone();
            while let (from, Message::Measure { round, arm }) = ctx.receive().await {
                match measurer.answer(&mut ctx, round, arm) {
                    Ok(outcome) => ctx.send(from, Message::Outcome { round, outcome }),
                    Err(error) => return end_refused(&mut ctx, "the device releases nothing", &error),
                }
            }
        });
        vec![(searcher_id, Box::new(service.forkable())), (measurer_id, Box::new(device.forkable()))]
    }
}

/// `audit` attacks the device's answers, on the worst pair of their mechanism.
impl Audited for Remote {
    fn candidates(&self, series: &str, of: &AuditContext<'_>) -> Result<Vec<Candidates>, NotAuditedReason> {
        search_candidates(&self.settings(), series, of)
    }
}

fn main() -> std::process::ExitCode {
    subrosa::Catalogue::standard().audited_protocol::<Remote>("Remote").main()
}
