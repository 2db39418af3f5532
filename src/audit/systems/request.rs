//! What the command line requests of an audit.

use crate::audit::error::AuditError;

/// What is to be audited.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Cell of the study.
    pub cell: usize,
    /// The only series to audit; `None` for all series.
    pub series: Option<String>,
    /// The only observer whose releases are audited, written as the audit prints it; `None` for all observers.
    pub observer: Option<String>,
    /// The neighbour, instead of a search for one: "ROW:D1,D2,.." (a record and by how much each of its numbers moves),
    /// "A,B" (the two rewards that one user has on D and on D'), or the number of the agent in which D and D' differ.
    pub neighbour: Option<String>,
    /// (epsilon, delta) to test instead of the scenario's claim.
    pub claim: Option<(f64, f64)>,
}

/// Numbers separated by commas.
pub(super) fn numbers(text: &str) -> Result<Vec<f64>, AuditError> {
    let number = |part: &str| {
        let value = part.trim().parse::<f64>().ok().filter(|value| value.is_finite());
        value.ok_or_else(|| AuditError::Asked {
            expected: "finite numbers separated by commas".to_owned(),
            found: format!("\"{text}\""),
        })
    };
    text.split(',').map(number).collect()
}
