//! The protocol `Echo`: it releases nothing, so there is nothing to audit.

use super::audited::{AuditContext, Audited};
use super::request::Request;
use super::system::{Candidates, NotAuditedReason};
use crate::protocols::echo::Echo;

impl Audited for Echo {
    fn candidates(&self, _: &str, _: &AuditContext<'_>) -> Result<Vec<Candidates>, NotAuditedReason> {
        Err(NotAuditedReason::Unprotected("it releases nothing"))
    }

    fn refuses(&self, _: &Request) -> Option<&'static str> {
        Some("Echo releases nothing, so there is nothing to audit")
    }
}
