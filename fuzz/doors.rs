//! The functions that read untrusted files: each takes any text and must accept or refuse it without a panic. The fuzz
//! targets call them, and so does a test of the main package with a fixed seed.

use std::fs;
use std::path::{Path, PathBuf};
use subrosa::accounting::Statement;
use subrosa::objectives::Resources;
use subrosa::report::{self, Page};
use subrosa::scenario::Document;
use subrosa::study::{self, RunFolder};

/// What became of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It was accepted.
    Accepted,
    /// It was refused with an error.
    Refused,
}

impl From<bool> for Answer {
    fn from(accepted: bool) -> Self {
        if accepted { Self::Accepted } else { Self::Refused }
    }
}

/// Reads a scenario whose files are below `base`, and checks it as `subrosa check` does.
pub fn scenario(base: &Path, text: &str) -> Answer {
    let resources = Resources { base: base.to_owned(), ..Resources::default() };
    let document = Document::from_text(&base.join("fuzzed.ron"), text.to_owned());
    match document.cells(&[], &resources) {
        Ok(cells) => {
            assert!(!cells.is_empty(), "a scenario without a cell");
            Answer::Accepted
        }
        Err(diagnostics) => {
            assert!(!diagnostics.to_string().is_empty(), "a refusal says why");
            Answer::Refused
        }
    }
}

/// Reads a CSV file as a table of settings with one input, `x`, and an output, `y`.
pub fn table(place: &Path, text: &str) -> Answer {
    fs::write(place.join("table.csv"), text).expect("a folder to write into");
    scenario(
        place,
        "Scenario(name: \"t\", about: \"t\", seed: 1, parties: {\"a\": Party(), \"b\": Party()},
            network: Network(topology: Star(hub: \"a\"), default: Link(latency: Constant(\"1ms\"))),
            objective: Table(file: \"table.csv\", inputs: [\"x\"], output: Column(\"y\"), goal: Maximise, max_norm: 25,
                hyperparameters: Given(length_scales: [1], variance: 1, noise_variance: 0.1)),
            protocol: Outsourced(curator: \"a\", modeler: \"b\", rounds: 1, initial_points: 1,
                series: [Series(name: \"s\", release: Disclosure(), learner: GpUcb())]))",
    )
}

/// Reads a file of recorded connections.
pub fn trace(place: &Path, text: &str) -> Answer {
    fs::write(place.join("trace.csv"), text).expect("a folder to write into");
    scenario(
        place,
        "Scenario(name: \"t\", about: \"t\", seed: 1,
            parties: {\"a\": Party(), \"b\": Party(availability: Trace(file: \"trace.csv\"))},
            network: Network(topology: Star(hub: \"a\"), default: Link(latency: Constant(\"1ms\"))),
            protocol: Echo(caller: \"a\", rounds: 1))",
    )
}

/// Reads a list of releases and computes what `subrosa account` prints.
pub fn account(text: &str) -> Answer {
    let document = Document::from_text(Path::new("fuzzed.ron"), text.to_owned());
    let Ok(account) = document.account() else { return Answer::Refused };
    let statement =
        Statement::of_costs(account.events.iter().map(|event| event.cost()).collect(), account.delta);
    assert!(!report::account_text("fuzzed", &statement, report::WIDTH).is_empty());
    assert!(!report::json(&report::account_document(&statement)).is_empty());
    Answer::Accepted
}

/// Reads a run's folder, of which one file may have been changed, and makes its report again.
pub fn run(folder: &Path) -> Answer {
    let folder = RunFolder::at(folder);
    let records = folder.records();
    let page = Page::read(&folder);
    if let Ok(Some(page)) = &page {
        assert!(!report::text(&page.summary, report::Terminal::default()).is_empty());
        assert!(!report::page(page).is_empty());
        for chart in report::charts(page) {
            assert!(!report::plots::standalone(&chart).is_empty());
        }
        drop(study::summary_inconsistencies(&folder, &page.summary));
    }
    Answer::from(records.is_ok_and(|found| found.is_some()) && page.is_ok_and(|found| found.is_some()))
}

/// Makes a copy of a run's folder in which one file has another text. Subfolders are not copied.
pub fn changed_copy(run: &Path, place: &Path, file: &str, text: &str) -> PathBuf {
    let copy = place.join("run");
    drop(fs::remove_dir_all(&copy));
    fs::create_dir_all(&copy).expect("a folder to write into");
    for entry in fs::read_dir(run).expect("the folder of a run") {
        let path = entry.expect("an entry").path();
        if path.is_file() {
            fs::copy(&path, copy.join(path.file_name().expect("a file has a name"))).expect("a copy");
        }
    }
    fs::write(copy.join(file), text).expect("a file to write");
    copy
}

/// Records with their seals computed again: a line is `{"cell":3,"seal":"HASH",`, followed by the text that is hashed.
pub fn sealed(records: &str) -> String {
    let line = |line: &str| match line
        .split_once("\"seal\":\"")
        .and_then(|(head, rest)| Some((head, rest.split_once("\",")?.1)))
    {
        Some((head, rest)) => format!("{head}\"seal\":\"{}\",{rest}", blake3::hash(rest.as_bytes()).to_hex()),
        None => line.to_owned(),
    };
    records.split('\n').map(line).collect::<Vec<_>>().join("\n")
}
