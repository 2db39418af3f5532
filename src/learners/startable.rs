//! Checks before a run whether a learner lacks a quantity: builds the learner over two arms.

use super::{Arms, BuildError, External, LearnerModel, ProblemConstants};
use crate::gp::covariance::Covariance;
use crate::gp::{ArmCovariance, Points};
use crate::vocab::Problem;
use std::sync::Arc;

impl LearnerModel {
    /// A problem if the learner needs a quantity, and neither the learner's recipe nor the protocol's `facts` state this
    /// quantity. `None` if the learner lacks no quantity, or if the learner cannot be built for another reason. The path of
    /// the problem is relative to the field that names the learner. External programs are not checked.
    #[must_use]
    pub fn missing_quantity(&self, facts: ProblemConstants) -> Option<Problem> {
        if self.get::<External>().is_some() {
            return None;
        }
        let covariance = Covariance::squared_exponential(1.0, 1.0);
        let points = Arc::new(Points::new(2, 1, vec![0.0, 1.0]));
        let covariance = Some(ArmCovariance::of_inputs(points, covariance));
        let arms = Arms { n: 2, covariance, noise_variance: 0.01, mean: 0.0, facts };
        match self.as_dyn().build(&arms) {
            Err(BuildError::Unknown { learner, field, what }) => Some(Problem::wrong(
                self.name(),
                format!("{what}: {learner} needs it, and this protocol does not state it"),
                format!("no `{field}`"),
                format!("write {} in the brackets of {}", written(field), self.name()),
            )),
            Ok(_) | Err(_) => None,
        }
    }
}

/// How a scenario states a field; a path of three parts, such as `payoffs.Private.epsilon`, is a field of an enum variant.
fn written(field: &str) -> String {
    match field.split('.').collect::<Vec<_>>()[..] {
        [outer, member, inner] => format!("`{outer}: {member}({inner}: ..)`"),
        _ => format!("`{field}: ..`"),
    }
}
