//! Rewards reported without protection.

use super::report::{ReportError, RewardFacts, RewardMechanism, RewardReport};
use crate::privacy::mechanisms::Disclosed;
use std::sync::Arc;

impl RewardReport for Disclosed {
    fn mechanism(&self, _: &RewardFacts<'_>) -> Result<Option<Arc<dyn RewardMechanism>>, ReportError> {
        Ok(None)
    }
}
