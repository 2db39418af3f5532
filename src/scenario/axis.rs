//! A value that a study varies, found by its path or by the name of its `Each`, and the override that varies it.

use super::diagnostic::{Diagnostic, Diagnostics, Place};
use super::document::Document;
use super::suggest::closest;
use super::sweep::{apply_override, expand};
use super::tree;

/// A value of a scenario that can be varied: one place of the text, or several that change together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariedValue {
    /// Its name: the name of the `Each`, or the path.
    pub name: String,
    /// The path of each place.
    pub paths: Vec<String>,
}

impl VariedValue {
    /// The overrides, one for each place, by which a study takes each of `values` (RON texts) in turn. `labels`, if given,
    /// stand for the values in tables.
    #[must_use]
    pub fn overrides(&self, values: &[String], labels: Option<&[String]>) -> Vec<String> {
        let list = match labels {
            None => format!("[{}]", values.join(", ")),
            Some(labels) => {
                let entries = labels.iter().zip(values).map(|(label, value)| format!("{label:?}: {value}"));
                format!("{{ {} }}", entries.collect::<Vec<_>>().join(", "))
            }
        };
        self.paths.iter().map(|path| format!("{path}=Each({:?}, {list})", self.name)).collect()
    }
}

impl Document {
    /// The value that `wanted` names in the text; `overrides` are applied to the text first. `wanted` is the name of an
    /// `Each`, or a path such as `protocol.rounds`.
    ///
    /// # Errors
    /// Diagnostics if the text or an override is wrong, if `wanted` names nothing, or if several `Each` with the name
    /// `wanted` have different values, so that no single value could replace all of them.
    pub fn varied(&self, overrides: &[String], wanted: &str) -> Result<VariedValue, Diagnostics> {
        let edited = self.overridden(overrides)?;
        let expansion = expand(&edited).map_err(|problems| self.diagnostics(problems))?;
        let named: Vec<_> = expansion.sweeps().iter().filter(|sweep| sweep.name == wanted).collect();
        if let Some(first) = named.first() {
            let shown = |index: usize| named[index].values.iter().map(|value| &value.shown);
            if let Some(other) = (1..named.len()).find(|&index| !shown(index).eq(shown(0))) {
                let listed = |index: usize| shown(index).cloned().collect::<Vec<_>>().join(", ");
                let problem = Diagnostic::new(
                    Place::Whole,
                    format!("several Each are called \"{wanted}\" but have different values, so no single value can replace all of them"),
                )
                .expected(format!("the values {}, as at {}", listed(0), first.path))
                .found(format!("{} at {}", listed(other), named[other].path))
                .cure("name the path of one of them instead, and give the other a fixed value by -o");
                return Err(self.diagnostics(vec![problem]));
            }
            let paths = named.iter().map(|sweep| sweep.path.clone()).collect();
            return Ok(VariedValue { name: wanted.to_owned(), paths });
        }
        let names = expansion.axes();
        let refuse = |problem: Diagnostic| {
            let problem = match closest(wanted, &names) {
                Some(name) => problem.cure(format!("did you mean the Each called `{name}`?")),
                None if names.is_empty() => problem,
                None => problem.cure(format!("name a path, or one of the Each called {}", names.join(", "))),
            };
            self.diagnostics(vec![problem])
        };
        // A path is valid if an override can set a value there. If the text has no value at the path `wanted`, and
        // `wanted` is a single word or is close to the name of an `Each`, then `wanted` is taken as a misspelt name of an
        // `Each`.
        apply_override(&edited, &format!("{wanted}=0")).map_err(refuse)?;
        let root = tree::read(&edited.text).map_err(|problems| self.diagnostics(problems))?;
        let path = tree::path(wanted).unwrap_or_default();
        let absent = tree::follow(&root, &path).1 < path.len();
        if absent && (path.len() == 1 || closest(wanted, &names).is_some()) {
            return Err(refuse(Diagnostic::new(Place::Whole, format!("no Each is called \"{wanted}\""))));
        }
        Ok(VariedValue { name: wanted.to_owned(), paths: vec![wanted.to_owned()] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn document(text: &str) -> Document {
        Document::from_text(Path::new("t.ron"), text.to_owned())
    }

    #[test]
    fn a_value_is_found_by_name_and_by_path() {
        let study =
            document("S(a: Each(\"x\", [1, 2]), b: [T(c: Each(\"x\", [1, 2])), T(c: Each(\"y\", [3]))])");
        let found = study.varied(&[], "x").unwrap();
        assert_eq!(found.paths, ["a", "b[0].c"]);
        let values = ["0.5".to_owned(), "1".to_owned()];
        assert_eq!(
            found.overrides(&values, None),
            ["a=Each(\"x\", [0.5, 1])", "b[0].c=Each(\"x\", [0.5, 1])"]
        );
        let labels = ["0".to_owned(), "1".to_owned()];
        assert_eq!(found.overrides(&values, Some(&labels))[0], "a=Each(\"x\", { \"0\": 0.5, \"1\": 1 })");
        assert_eq!(study.varied(&[], "b[1].c").unwrap().paths, ["b[1].c"]);
        // An override may have replaced an `Each`.
        assert_eq!(study.varied(&["a=4".to_owned()], "x").unwrap().paths, ["b[0].c"]);
    }

    #[test]
    fn a_name_without_a_single_value_is_refused() {
        let told = |text: &str, wanted: &str| document(text).varied(&[], wanted).unwrap_err().render();
        let unlike = told("S(a: Each(\"x\", [1, 2]), b: Each(\"x\", [3, 4]))", "x");
        assert!(unlike.contains("the values 1, 2, as at a") && unlike.contains("3, 4 at b"), "{unlike}");
        let near = told("S(a: Each(\"epsilon\", [1, 2]))", "epsilom");
        assert!(near.contains("did you mean the Each called `epsilon`?"), "{near}");
        let word = told("S(a: T(b: Each(\"absent\", [1, 2])))", "nope");
        assert!(
            word.contains("no Each is called") && word.contains("one of the Each called absent"),
            "{word}"
        );
        let nothing = told("S(a: T(b: Each(\"epsilon\", [1, 2])))", "a.zzz.q");
        assert!(nothing.contains("one of the Each called epsilon"), "{nothing}");
    }
}
