//! Outsourced optimisation: one record moved by the allowed distance, or one outcome replaced, seen by the modeler.
//!
//! A record is changed as it is in the file, before anything is computed from the data: a scale that is computed moves
//! all rows, or all answers, and the audit shows it.

mod answers;
mod inputs;
mod moves;

use super::audited::{Audited, Ground, named};
use super::system::{Candidates, LeftOut, NotAudited};
use crate::audit::error::AuditError;
use crate::objectives::Instance;
use crate::protocols::outsourced::{Outsourced, SeriesRecipe};

impl Audited for Outsourced {
    fn candidates(&self, series: &str, ground: &Ground<'_>) -> Result<Vec<Candidates>, LeftOut> {
        let series = named(&self.series, series, |series| &series.name)?;
        let instance = instance(ground)?;
        let conditions = instance.background.facts.input_conditions();
        let mut groups = vec![inputs::candidates(self, series, instance, ground)?];
        if ground.neighbour.is_none() {
            note_model(instance, series, &mut groups[0]);
            note_conditions(&conditions, &mut groups[0]);
            groups.push(answers::candidates(self, series, instance, ground)?);
        }
        if groups.iter().all(Vec::is_empty) {
            return Err(LeftOut::Unprotected("inputs and outcomes are shown as they are, or not at all"));
        }
        Ok(groups)
    }

    fn shown_as_it_is(&self, series: &str) -> Option<NotAudited> {
        let series = self.series.iter().find(|one| one.name == series)?;
        let (half, why) = if series.outcomes.as_dyn().mechanism().is_none() {
            ("outcomes", "answered as they are: nothing is claimed")
        } else {
            ("inputs", series.release.as_dyn().unprotected()?)
        };
        Some(NotAudited { series: format!("{}, {half}", series.name), protected: false, why: why.to_owned() })
    }
}

fn instance<'a>(ground: &Ground<'a>) -> Result<&'a Instance, AuditError> {
    ground.stage.instance.as_ref().ok_or_else(|| AuditError::scenario("the scenario has no objective"))
}

/// A modeler that is handed fitted hyperparameters knows more than the audited release tells it.
fn note_model(instance: &Instance, series: &SeriesRecipe, candidates: &mut Candidates) {
    if instance.background.fitted && series.learner.as_dyn().needs_inputs() {
        let note =
            "the modeler is also handed hyperparameters that were fitted to the data: nothing protects them";
        candidates.iter_mut().for_each(|system| system.notes.push(note.to_owned()));
    }
}

/// What is proven may rest on more than the mechanism.
fn note_conditions(conditions: &[String], candidates: &mut Candidates) {
    if !conditions.is_empty() {
        let note = format!("what is proven rests on {}", conditions.join(", and "));
        candidates.iter_mut().for_each(|system| system.notes.push(note.clone()));
    }
}
