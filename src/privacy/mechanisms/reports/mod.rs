//! Ways to report a reward; each has one or two files here and an entry in the list below.

mod ctl;
mod ctl_report;
mod disclosed;
mod report;

pub use ctl::{Ctl, Rewards};
pub use ctl_report::CtlReport;
pub use report::{NoiseFacts, ReportError, RewardFacts, RewardMechanism, RewardReport};

use super::Disclosed;

crate::family! {
    /// What a user sends to the service about its reward.
    pub struct Report(ReportMember): dyn RewardReport, "report" {
        /// The reward with Laplace noise, clipped to a bound first (unless `clip: false`).
        Ctl(CtlReport),
        /// The reward itself: no privacy.
        Disclosure(Disclosed),
    }
}
