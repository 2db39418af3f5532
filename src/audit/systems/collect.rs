//! Collects everything that a scenario releases, series by series: what can be audited, and why the rest cannot.

use super::audited::{AuditContext, Audited};
use super::request::Request;
use super::system::{Candidates, NotAuditedReason, Systems};
use crate::audit::error::AuditError;
use crate::protocols::ProtocolModel;
use crate::protocols::echo::Echo;
use crate::protocols::federated::Federated;
use crate::protocols::local::Local;
use crate::protocols::outsourced::Outsourced;
use crate::protocols::release::Release;
use crate::study::{CellRunner, Plan};
use crate::vocab::Delta;
use std::sync::OnceLock;

/// Returns the audit interface of a protocol, if the protocol is of the type that the function was made for.
pub type AuditProvider = fn(&ProtocolModel) -> Option<&dyn Audited>;

/// The [`AuditProvider`] for protocols of type `T`.
#[must_use]
pub fn offer<T: Audited + 'static>() -> AuditProvider {
    |protocol| protocol.get::<T>().map(|recipe| -> &dyn Audited { recipe })
}

/// The [`AuditProvider`]s of the library's protocols.
fn standard() -> Vec<AuditProvider> {
    vec![offer::<Echo>(), offer::<Outsourced>(), offer::<Release>(), offer::<Local>(), offer::<Federated>()]
}

static PROVIDERS: OnceLock<Vec<AuditProvider>> = OnceLock::new();

/// Adds the [`AuditProvider`]s of a program's own protocols. Call it once and before the first audit; later calls change
/// nothing.
pub fn add_providers(own: &[AuditProvider]) {
    PROVIDERS.get_or_init(|| [standard(), own.to_vec()].concat());
}

/// The audit interface of a protocol; `None` if there is no [`AuditProvider`] for its type.
fn audited(protocol: &ProtocolModel) -> Option<&dyn Audited> {
    PROVIDERS.get_or_init(standard).iter().find_map(|offer| offer(protocol))
}

/// Number of the replication whose data are audited.
const REPLICATION: u64 = 0;

/// Everything that a scenario releases, series by series: what can be audited, and why the rest cannot.
///
/// # Errors
/// [`AuditError`] if the data cannot be prepared; if the requested neighbour does not fit; if the cell or the series does
/// not exist; if the requested observer sees none of the releases that can be audited; if the protocol has no attacks or
/// refuses the request; or if no requested series can be audited.
pub fn systems(plan: &Plan, request: &Request) -> Result<Systems, AuditError> {
    let cell = plan.cells.get(request.cell).ok_or_else(|| AuditError::Asked {
        expected: format!("a cell number below {}", plan.cells.len()),
        found: request.cell.to_string(),
    })?;
    let runner = CellRunner::without_folder(request.cell, cell, plan);
    let setup = runner.replication_setup(REPLICATION).map_err(AuditError::scenario)?;
    let protocol = &cell.scenario.draft().protocol;
    let known = protocol.as_dyn().series();
    if let Some(series) = request.series.as_ref().filter(|series| !known.contains(series)) {
        let expected = format!("a series out of {}", known.join(", "));
        return Err(AuditError::Asked { expected, found: format!("\"{series}\"") });
    }
    let audited = audited(protocol).ok_or_else(|| {
        let name = protocol.name();
        AuditError::scenario(format!(
            "there is no attack for the protocol {name}: implement subrosa::audit::systems::Audited for its type (by \
             calling `search_candidates`, if the type implements Search), and add it to the catalogue with `audited_protocol`"
        ))
    })?;
    if let Some(why) = audited.refuses(request) {
        return Err(AuditError::scenario(why));
    }
    let study_delta = cell.scenario.draft().privacy.delta.map(Delta::get);
    let context = AuditContext {
        runner: &runner,
        stage: &setup.0,
        key: setup.1,
        delta: request.claim.map(|(_, delta)| delta),
        study_delta,
        neighbour: request.neighbour.as_deref(),
    };
    let mut found = Systems::default();
    for name in known.iter().filter(|name| request.series.as_ref().is_none_or(|only| only == *name)) {
        match audited.candidates(name, &context) {
            Ok(groups) if groups.iter().all(Vec::is_empty) => {
                let left_out = NotAuditedReason::Unprotected("no release of this series is protected");
                found.not_audited.push(left_out.of(name));
            }
            Ok(groups) => {
                found.audited.extend(groups.into_iter().filter(|candidates| !candidates.is_empty()));
                found.not_audited.extend(audited.unprotected_part(name));
            }
            // That a requested neighbour does not fit is an error of the request, not a property of the
            // series.
            Err(NotAuditedReason::Failed(error)) if request.neighbour.is_some() => return Err(error),
            Err(left_out) => found.not_audited.push(left_out.of(name)),
        }
    }
    if let Some(observer) = &request.observer {
        let sees = |candidates: &Candidates| candidates.iter().any(|s| s.statement.observer == *observer);
        let mut names: Vec<String> =
            found.audited.iter().flatten().map(|system| system.statement.observer.clone()).collect();
        found.audited.retain(sees);
        if found.audited.is_empty() && !names.is_empty() {
            names.sort();
            names.dedup();
            let expected = format!("an observer out of {}", names.join(", "));
            return Err(AuditError::Asked { expected, found: format!("\"{observer}\"") });
        }
    }
    if found.audited.is_empty() {
        let reasons: Vec<String> =
            found.not_audited.iter().map(|left| format!("{}: {}", left.series, left.why)).collect();
        let reasons = reasons.join("\n  ");
        return Err(AuditError::scenario(format!("nothing of this scenario is audited\n  {reasons}")));
    }
    if let Some((epsilon, delta)) = request.claim {
        for system in found.audited.iter_mut().flatten() {
            if system.statement.delta != delta {
                // The proven epsilon was computed for another delta.
                system.statement.proven = None;
            }
            system.statement.delta = delta;
            system.statement.claim = Some((epsilon, "given by --claim".to_owned()));
        }
    }
    Ok(found)
}
