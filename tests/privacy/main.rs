//! What is said about privacy: accountants, audits, and the report of who learned what.

#[path = "../support/mod.rs"]
mod support;
#[path = "../support/traced.rs"]
mod traced;

mod account;
mod accountants;
mod accounting_grid;
mod accounting_oracle;
mod audit;
mod audited_sums;
mod common_sums;
mod federated_privacy;
mod personal;
mod privacy_report;
mod relations;
mod relays;
mod remedies;
mod truth;
