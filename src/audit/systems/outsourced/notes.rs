//! Notes for the reader of an audit of outsourced optimisation.

use crate::audit::systems::system::Candidates;
use crate::objectives::Instance;
use crate::protocols::outsourced::SeriesRecipe;

/// If the modeler also receives hyperparameters that were fitted to the data, adds a note that says so. These
/// hyperparameters reveal something about the data, and the audited release does not contain them.
pub(super) fn note_model(instance: &Instance, series: &SeriesRecipe, candidates: &mut Candidates) {
    if instance.background.fitted && series.learner.as_dyn().needs_inputs() {
        let note =
            "the modeler also receives hyperparameters that were fitted to the data, without protection";
        candidates.iter_mut().for_each(|system| system.notes.push(note.to_owned()));
    }
}
