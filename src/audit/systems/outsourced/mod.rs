//! Audits of outsourced optimisation, as the modeler sees it. The neighbours differ in one record, which is moved by
//! at most the allowed distance, or in one outcome, which is replaced by another.
//!
//! If the objective can compute its problem from changed data
//! ([`Prepared::changed`](crate::objectives::Prepared::changed)), the record is changed among the records as they were
//! read from the file, before anything is computed from the data. If the scale of inputs or outcomes is computed from
//! the data, the change of one record changes the scale, and so all released rows or all answers; the audit measures
//! this too.

mod inputs;
mod record_changes;
mod notes;

use super::answers::{self, ASKS_A_PROGRAM, Answering};
use super::audited::{AuditContext, Audited, named};
use super::system::{Candidates, NotAudited, NotAuditedReason};
use crate::audit::error::AuditError;
use crate::protocols::outsourced::{Outsourced, SeriesRecipe};

impl Audited for Outsourced {
    fn candidates(
        &self,
        series: &str,
        context: &AuditContext<'_>,
    ) -> Result<Vec<Candidates>, NotAuditedReason> {
        let series = named(&self.series, series, |series| &series.name)?;
        let instance = context.stage.objective(&series.name).map_err(AuditError::from)?;
        let conditions = instance.background.facts.input_conditions();
        let mut groups = vec![inputs::candidates(self, series, instance, context)?];
        notes::note_model(instance, series, &mut groups[0]);
        answers::note_conditions(&conditions, &mut groups[0]);
        if context.neighbour.is_none() {
            let answering = Answering {
                series: &series.name,
                release: &series.outcomes,
                observer: &self.modeler,
                queries: self.initial_points + self.rounds,
                shows_inputs: series.release.shows_inputs(),
                may_be_missing: self.silence.is_some_and(|silence| silence.depends()),
            };
            groups.push(answers::candidates(&answering, instance, context)?);
        }
        if groups.iter().all(Vec::is_empty) {
            if asks_a_program(series) {
                return Err(NotAuditedReason::NoAttack(ASKS_A_PROGRAM));
            }
            return Err(NotAuditedReason::Unprotected(
                "inputs and outcomes are shown as they are, or not at all",
            ));
        }
        Ok(groups)
    }

    fn unprotected_part(&self, series: &str) -> Option<NotAudited> {
        let series = self.series.iter().find(|one| one.name == series)?;
        if asks_a_program(series) {
            return Some(NotAudited {
                series: format!("{}, outcomes", series.name),
                protected: true,
                why: ASKS_A_PROGRAM.to_owned(),
            });
        }
        let (half, why) = if series.outcomes.as_dyn().mechanism().is_none() {
            ("outcomes", "sent without protection: nothing is claimed")
        } else {
            ("inputs", series.release.as_dyn().unprotected()?)
        };
        Some(NotAudited { series: format!("{}, {half}", series.name), protected: false, why: why.to_owned() })
    }
}

fn asks_a_program(series: &SeriesRecipe) -> bool {
    !series.outcomes.as_dyn().programs().is_empty()
}
