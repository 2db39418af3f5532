//! What the command line requests of an audit.

use crate::audit::error::AuditError;

/// What is to be audited.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Cell of the study.
    pub cell: usize,
    /// Only this series, if present.
    pub series: Option<String>,
    /// Only what this party sees, if present.
    pub observer: Option<String>,
    /// The neighbour, instead of a search: "ROW:D1,D2,.." (a record and by how much it moves), "A,B" (two rewards), or
    /// the number of an agent.
    pub neighbour: Option<String>,
    /// (epsilon, delta) to test instead of the claim.
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
