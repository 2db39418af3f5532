//! The facts about a table that are taken as public.

use super::Table;
use crate::objectives::instance::{ProblemFacts, PublicFacts};
use crate::objectives::{Hyperparameters, split};
use crate::vocab::{Origin, Problem, PublicFact};
use std::collections::BTreeSet;

impl Table {
    /// Facts taken as public, from which the conditions of privacy losses follow.
    pub(super) fn background(&self) -> ProblemFacts {
        let fitted = matches!(self.hyperparameters, Hyperparameters::MaximumLikelihood { .. });
        let (length_scales, model) = if fitted {
            let computed = |what: &str| vec![PublicFact::new(what, Origin::ComputedFromData)];
            (
                computed("length-scales fitted to inputs and outcomes"),
                computed("variance and noise variance fitted to inputs and outcomes"),
            )
        } else {
            let what = "length-scales, variance and noise variance of the model";
            (Vec::new(), vec![PublicFact::new(what, Origin::Stated)])
        };
        let shape = |what: &str| PublicFact::new(what, Origin::Shape);
        let columns = format!("number of the input columns, {}, and their names", self.inputs.len());
        let (without, means) = self.missing.facts();
        let mut facts = PublicFacts {
            shape: vec![
                shape("number of records"),
                shape(&columns),
                shape("that every cell used is a number, and has a logarithm where one is taken"),
            ],
            inputs: vec![self.input_scale.fact()],
            length_scales,
            outcomes: vec![self.output_scale.fact()],
            model,
            outcomes_read_inputs: self.outcomes_read_inputs(),
        };
        if self.is_divided() {
            facts.shape.extend(split::facts(&self.split));
        }
        facts.shape.extend(self.input_columns().facts());
        facts.shape.extend(without);
        facts.inputs.extend(means);
        ProblemFacts { fitted, ..ProblemFacts::public(facts) }
    }

    /// Whether inputs and outcomes are read or computed from a common column of the file.
    fn outcomes_read_inputs(&self) -> bool {
        let (of_inputs, of_output) = self.sources();
        of_inputs.intersection(&of_output).next().is_some()
    }

    /// The problem of an output that reads no column of the file other than those that the inputs read too. If the output
    /// can be computed from the inputs, a query for it is unnecessary, and a release of the inputs releases the outcomes
    /// too.
    pub(super) fn output_among_inputs(&self) -> Option<Problem> {
        let (of_inputs, of_output) = self.sources();
        of_output.is_subset(&of_inputs).then(|| {
            let read = of_output.iter().map(|column| format!("\"{column}\"")).collect::<Vec<_>>().join(", ");
            let (expected, found) =
                ("a number that the inputs do not contain", format!("inputs that read {read}"));
            Problem::wrong(
                "output",
                expected,
                found,
                "leave such columns out of the inputs, or name another output",
            )
        })
    }

    /// The columns of the file from which the inputs are computed, and those from which the output is computed.
    fn sources(&self) -> (BTreeSet<&str>, BTreeSet<&str>) {
        let columns = self.input_columns();
        let of_output = self.output.columns().into_iter().map(|(_, column)| column);
        (columns.read_for(self.inputs.iter().map(String::as_str)), columns.read_for(of_output))
    }
}
