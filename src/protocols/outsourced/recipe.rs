//! What a scenario says about outsourced optimisation, and how it becomes parties.

use super::curator::Curator;
use super::messages::{Fact, World};
use super::modeler::Modeler;
use crate::gp::Points;
use crate::kernel::{Event, Input, Party};
use crate::learners::{Arms, Learner, LearnerRecipe};
use crate::objectives::{Instance, Surrogate};
use crate::privacy::Sensitive;
use crate::privacy::mechanisms::{JohnsonLindenstrauss, Rows};
use crate::protocols::{Iteration, PlayError, Protocol, Retry, SeriesRecord, Stage, World as _};
use crate::rng::Key;
use crate::vocab::{Observer, PartyId, PrivacyEvent, Problem, Time};
