//! The command line of subrosa with one additional member in every family, none of which is in the library.

mod accountant;
mod federation;
mod guarded;
mod mechanisms;
mod network;
mod problem;
mod protocol;
mod publication;
mod users;

use std::process::ExitCode;
use subrosa::Catalogue;

fn main() -> ExitCode {
    Catalogue::standard()
        .topology::<network::Chain>("Chain")
        .latency::<network::Frechet>("Frechet")
        .loss::<network::EveryNth>("EveryNth")
        .throughput::<network::Blinking>("Blinking")
        .availability::<network::Nightly>("Nightly")
        .compute::<network::PerMessage>("FixedTime")
        .outage::<network::Maintenance>("Maintenance")
        .objective::<problem::Forrester>("Forrester")
        .noise::<problem::TwoDice>("TwoDice")
        .learner::<problem::Explorer>("Explorer")
        .learner::<users::Scripted>("Scripted")
        .arrivals::<users::Bursts>("Bursts")
        .popularity::<users::Regular>("Regular")
        .input_mechanism::<mechanisms::LaplaceRows>("LaplaceRows")
        .outcome_mechanism::<mechanisms::OneBit>("OneBit")
        .report_mechanism::<mechanisms::OneBitReport>("OneBitReport")
        .publication::<publication::ClippedBest>("ClippedBest")
        .weights::<federation::Explorers>("Explorers")
        .policy::<federation::HalfOf>("HalfOf")
        .selection::<federation::Alternating>("Alternating")
        .staleness::<federation::HalfEachRound>("HalfEachRound")
        .accountant::<accountant::Pure>("Pure")
        .outcome_mechanism::<mechanisms::Understated>("Understated")
        .audited_protocol::<protocol::Remote>("Remote")
        .audited_protocol::<guarded::Guarded>("Guarded")
        .main()
}
