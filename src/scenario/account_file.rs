//! Reads and checks account files.

use super::account::Account;
use super::diagnostic::{Diagnostic, Diagnostics};
use super::document::Document;
use super::parse::parse;
use super::tree;
use crate::accounting::MAX_RELEASES;
use crate::vocab::CountedCost;

impl Document {
    /// The document, read and checked as an account file.
    ///
    /// # Errors
    /// The first syntax error, or else every duplicate key and every number that is not finite, or else up to 20 type
    /// errors, or else every sample larger than its population and every count of more than `MAX_RELEASES` releases.
    pub fn account(&self) -> Result<Account, Diagnostics> {
        let fail = |list| self.diagnostics(list);
        let edited = self.edited_account().map_err(fail)?;
        tree::read(&edited.text).map_err(|list| fail(edited.placed(list)))?;
        let account: Account = parse(&edited).map_err(fail)?;
        let root = tree::read(&edited.text).map_err(|list| fail(edited.placed(list)))?;
        let too_large = |(index, event): (usize, &CountedCost)| match *event {
            CountedCost::FixedSizeGaussian { population, size, .. } if size > population => {
                let path = format!("events[{index}]");
                let (node, _) = tree::follow(&root, &tree::path(&path).unwrap_or_default());
                let found = format!("size {size}, population {population}");
                Some(
                    Diagnostic::new(
                        edited.place(&node.span),
                        "a sample larger than its population".to_owned(),
                    )
                    .path(path)
                    .expected(format!("a size of at most {population}"))
                    .found(found)
                    .cure("lower size, or raise population"),
                )
            }
            _ => None,
        };
        let too_many = |(index, event): (usize, &CountedCost)| {
            let (_, count) = event.cost();
            let path = format!("events[{index}].count");
            let (node, _) = tree::follow(&root, &tree::path(&path).unwrap_or_default());
            (count > MAX_RELEASES).then(|| {
                let words = "more releases than an accountant can add up".to_owned();
                Diagnostic::new(edited.place(&node.span), words)
                    .path(path)
                    .expected(format!("a count of at most {MAX_RELEASES}"))
                    .found(count.to_string())
                    .cure("lower count: this is the program's limit, whatever the releases cost")
            })
        };
        let events = || account.events.iter().enumerate();
        let problems: Vec<Diagnostic> =
            events().filter_map(too_large).chain(events().filter_map(too_many)).collect();
        if problems.is_empty() { Ok(account) } else { Err(fail(problems)) }
    }
}
