//! Rewards reported without protection.

use super::report::{ReportError, RewardFacts, RewardMechanism, RewardReport};
use crate::privacy::mechanisms::Disclosed;
use std::sync::Arc;

impl RewardReport for Disclosed {
    fn mechanism(&self, _: &RewardFacts<'_>) -> Result<Option<Arc<dyn RewardMechanism>>, ReportError> {
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocab::Epsilon;

    #[test]
    fn rewards_without_protection_have_no_epsilon_and_get_none() {
        let epsilon = Epsilon::new(1.0).unwrap();
        let report = Disclosed {};
        assert!(report.epsilon().is_none() && report.at_epsilon(epsilon).is_none());
    }
}
