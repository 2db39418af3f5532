//! A protocol of a search: a device answers a service privately, and says by its price what an answer costs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use subrosa::audit::systems::{AuditContext, Audited, Candidates, NotAuditedReason, search_candidates};
use subrosa::kernel::{Process, ProcessContext};
use subrosa::prelude::*;
use subrosa::privacy::mechanisms::OutcomeRelease;
use subrosa::protocols::{
    ActiveParties, Parts, Search, SearchProtocol, SearchSeries, SearchSettings, end_refused,
};

subrosa::messages! {
    /// The messages.
    pub enum Talk {
        /// Measure this arm.
        Ask { round: u64, arm: u64 } = 0,
        /// The answer.
        Tell { round: u64, outcome: Released<f64> } = 1,
    }
}

/// A service searches, and a device answers privately.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Guarded {
    /// The party that asks.
    service: String,
    /// The party that measures.
    device: String,
    /// Number of measurements.
    rounds: u64,
    /// How queries are answered.
    outcomes: OutcomeRelease,
    /// The series.
    series: Vec<SearchSeries>,
}

impl Search for Guarded {
    type World = SearchProtocol<Talk>;

    fn settings(&self) -> SearchSettings<'_> {
        let roles = [("service", &*self.service), ("device", &*self.device)];
        let settings = SearchSettings::new(roles[0], roles[1], self.rounds, &self.series);
        SearchSettings { outcomes: self.outcomes.clone(), ..settings }
    }

    fn active_parties(
        &self,
        Parts { searcher, searcher_id, measurer, measurer_id, key }: Parts,
    ) -> ActiveParties<Self::World> {
        let service = Process::new(key, async move |ctx: ProcessContext<Self::World>| {
            let ask = async |round, arm| {
                let answer = move |message: &Talk| match message {
                    Talk::Tell { round: of, outcome } if *of == round => Some(*outcome.get()),
                    _ => None,
                };
                Retry::default().ask(&ctx, measurer_id, Talk::Ask { round, arm }, answer).await
            };
            searcher.clone().search(ctx.clone(), ask).await;
        });
        let device = Process::new(key, async move |mut ctx: ProcessContext<Self::World>| {
            let mut measurer = measurer.clone();
            while let (from, Talk::Ask { round, arm }) = ctx.receive().await {
                match measurer.answer(&mut ctx, round, arm) {
                    Ok(outcome) => ctx.send(from, Talk::Tell { round, outcome }),
                    Err(error) => return end_refused(&mut ctx, "the device releases nothing", &error),
                }
            }
        });
        vec![(searcher_id, Box::new(service)), (measurer_id, Box::new(device))]
    }
}

impl Audited for Guarded {
    fn candidates(
        &self,
        series: &str,
        context: &AuditContext<'_>,
    ) -> Result<Vec<Candidates>, NotAuditedReason> {
        search_candidates(&self.settings(), series, context)
    }
}
