//! How a run is played and shown again, and the scenario as it was written.

use super::fitted;
use crate::objectives::Fitted;
use crate::report::document::{Block, List, Section, Span};
use crate::study::Manifest;

/// The scenario as written, with the changes by the command line and the fitted hyperparameters.
pub(super) fn scenario(text: &str, manifest: &Manifest, all_fitted: &[Fitted]) -> Section {
    let mut blocks = Vec::new();
    if !manifest.overrides.is_empty() {
        blocks.push(Block::List(List {
            id: String::new(),
            title: "Overridden on the command line".to_owned(),
            items: manifest.overrides.iter().map(|change| vec![Span::code(change)]).collect(),
        }));
    }
    blocks.push(Block::Listing { label: "Scenario".to_owned(), text: text.to_owned() });
    blocks.extend(fitted::blocks(all_fitted));
    Section::new("scenario", "Scenario", "The scenario as written", blocks)
}

/// The commands that play the run and make its report again.
pub(super) fn replay(run: &str) -> Section {
    let run = quoted(run);
    let blocks = vec![
        Block::Listing {
            label: "Commands".to_owned(),
            text: format!("subrosa replay {run}\nsubrosa report {run}"),
        },
        Block::remark(
            "The first plays every replication again and compares digests; the second makes this page again. \
             The same version, scenario and seed give the digest above for any number of threads.",
        ),
    ];
    Section::new("replay", "Replay", "How to repeat this run", blocks)
}

/// A path quoted for a shell.
fn quoted(path: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:@".contains(c);
    if !path.is_empty() && path.chars().all(plain) {
        path.to_owned()
    } else {
        format!("'{}'", path.replace('\'', "'\\''"))
    }
}
