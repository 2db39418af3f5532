//! The scenario as it was written, and two commands: one repeats a run (or compares the branches of a forked run), the
//! other makes its report again.

use super::fitted;
use crate::objectives::Fitted;
use crate::report::document::{Block, List, Section, Span};
use crate::study::{ForkBranch, Manifest};
use crate::vocab::shell_word;

/// The scenario as written, with the overrides of the command line, the branches of a fork and the fitted hyperparameters.
pub(super) fn scenario(text: &str, manifest: &Manifest, all_fitted: &[Fitted]) -> Section {
    let mut blocks = Vec::new();
    if !manifest.overrides.is_empty() {
        blocks.push(Block::List(List {
            id: String::new(),
            title: "Overridden on the command line".to_owned(),
            items: manifest.overrides.iter().map(|change| vec![Span::code(change)]).collect(),
        }));
    }
    if let Some(fork) = &manifest.fork {
        let own = |branch: &ForkBranch| {
            let changes = branch.overrides.iter().filter(|change| !manifest.overrides.contains(change));
            let mut words = vec![Span::strong(&branch.name)];
            words.extend(changes.flat_map(|change| [Span::plain(" "), Span::code(change)]));
            words
        };
        blocks.push(Block::List(List {
            id: String::new(),
            title: format!(
                "Branches: the scenario is forked {}, and each branch continues with its own changes",
                fork.at
            ),
            items: fork.branches.iter().map(own).collect(),
        }));
    }
    blocks.push(Block::Listing { label: "Scenario".to_owned(), text: text.to_owned() });
    blocks.extend(fitted::blocks(all_fitted));
    Section::new("scenario", "Scenario", "The scenario as written", blocks)
}

/// What was run (`facts` and `jitter`), and two commands: one repeats the run (or compares the branches of a forked run),
/// the other makes its report again.
pub(super) fn replay(run: &str, manifest: &Manifest, facts: Vec<Block>, jitter: Option<String>) -> Section {
    let run = shell_word(run);
    let mut blocks = facts;
    blocks.extend(jitter.map(Block::remark));
    let (first, what) = match manifest.fork {
        None => (format!("subrosa replay {run}"), "runs every replication again and compares digests"),
        Some(_) => (format!("subrosa compare {run}"), "compares each branch with the unchanged one"),
    };
    blocks.extend([
        Block::Listing { label: "Commands".to_owned(), text: format!("{first}\nsubrosa report {run}") },
        Block::remark(format!(
            "The first {what}; the second makes report.html again. The same version, scenario and seed give the digest \
             above for any number of threads."
        )),
    ]);
    Section::new("replay", "Replay", "What was run, and commands for it", blocks)
}
