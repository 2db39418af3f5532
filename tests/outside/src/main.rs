//! The command line of subrosa with one member more in every family, none of which the library knows.

mod accountant;
mod federation;
mod mechanisms;
mod network;
mod problem;
mod protocol;
mod publication;

use std::process::ExitCode;
use subrosa::Catalogue;

fn main() -> ExitCode {
    Catalogue::standard()
        .topology::<network::Chain>("Chain")
        .latency::<network::Weibull>("Weibull")
        .loss::<network::EveryNth>("EveryNth")
        .availability::<network::Nightly>("Nightly")
        .compute::<network::PerMessage>("FixedTime")
        .outage::<network::Maintenance>("Maintenance")
        .objective::<problem::Forrester>("Forrester")
        .noise::<problem::Triangular>("Triangular")
        .learner::<problem::Explorer>("Explorer")
        .input_mechanism::<mechanisms::LaplaceRows>("LaplaceRows")
        .outcome_mechanism::<mechanisms::OneBit>("OneBit")
        .report_mechanism::<mechanisms::OneBitReport>("OneBitReport")
        .publication::<publication::ClippedBest>("ClippedBest")
        .weights::<federation::Explorers>("Explorers")
        .policy::<federation::HalfOf>("HalfOf")
        .accountant::<accountant::Pure>("Pure")
        .audited_protocol::<protocol::Remote>("Remote")
        .main()
}
