//! Run folders whose large files are packed: everything that reads a folder reads these. Here all files that may be packed
//! are, by another program's gzip, so that a small run shows it.

use crate::support::{code_and_output, folder, run, subrosa};
use flate2::{Compression, write::GzEncoder};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const ECHO: &str = "tests/golden/echo.ron";

/// A finished run of six replications, packed. Of the records, each is a member of its own.
fn packed(place: &Path) -> PathBuf {
    let run = folder(&run(ECHO, place, &["--replications", "6"]));
    for name in ["records.jsonl", "results.jsonl", "summary.json", "digest.txt", "network.csv", "results.csv"]
    {
        let path = run.join(name);
        let text = fs::read_to_string(&path).unwrap();
        let whole = [text.as_str()];
        let parts: Vec<&str> =
            if name == "records.jsonl" { text.split_inclusive('\n').collect() } else { whole.into() };
        let member = |part: &&str| {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::new(4));
            encoder.write_all(part.as_bytes()).unwrap();
            encoder.finish().unwrap()
        };
        fs::write(run.join(format!("{name}.gz")), parts.iter().flat_map(member).collect::<Vec<u8>>())
            .unwrap();
        fs::remove_file(path).unwrap();
    }
    run
}

/// Exit code and both outputs.
fn of(arguments: &[&str]) -> (i32, String) {
    let (code, stdout, stderr) = code_and_output(&subrosa(arguments));
    (code, format!("{stdout}{stderr}"))
}

#[test]
fn a_packed_folder_is_reported_replayed_and_compared() {
    let place = TempDir::new().unwrap();
    let run = packed(place.path());
    let path = run.to_str().unwrap();
    for arguments in
        [&["replay", path, "--files"][..], &["replay", path], &["report", path], &["compare", path, path]]
    {
        let (code, said) = of(arguments);
        assert!(code == 0 && !said.contains("missing") && !said.contains("warning"), "{arguments:?}: {said}");
    }
    // Another program's bytes, the same contents: nothing is written again, and nothing is played.
    let before = fs::read(run.join("records.jsonl.gz")).unwrap();
    let (code, said) = of(&["run", ECHO, "--replications", "6", "--out", place.path().to_str().unwrap()]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(fs::read(run.join("records.jsonl.gz")).unwrap(), before);
    assert!(!run.join("records.jsonl").exists() && !run.join("summary.json").exists());
    // With more replications the files are others, and small ones are plain.
    let (code, said) = of(&["run", ECHO, "--replications", "8", "--out", place.path().to_str().unwrap()]);
    assert_eq!(code, 0, "{said}");
    assert!(run.join("records.jsonl").exists() && !run.join("records.jsonl.gz").exists());
    assert!(run.join("summary.json").exists() && !run.join("summary.json.gz").exists());
    let whole = TempDir::new().unwrap();
    let other = folder(&crate::support::run(ECHO, whole.path(), &["--replications", "8"]));
    for name in ["records.jsonl", "results.csv", "digest.txt"] {
        assert_eq!(fs::read(run.join(name)).unwrap(), fs::read(other.join(name)).unwrap(), "{name}");
    }
}

#[test]
fn a_damaged_member_costs_its_own_record() {
    let place = TempDir::new().unwrap();
    let run = packed(place.path());
    let path = run.to_str().unwrap();
    let records = run.join("records.jsonl.gz");
    let whole = fs::read(&records).unwrap();
    // In the middle of the third record's member.
    let begin = |k: usize| {
        let header = whole[..10].to_vec();
        whole.windows(10).enumerate().filter(|(_, window)| *window == header).nth(k).unwrap().0
    };
    let mut damaged = whole.clone();
    damaged[(begin(2) + begin(3)) / 2] ^= 1;
    fs::write(&records, &damaged).unwrap();
    let (code, said) = of(&["replay", path]);
    assert!(code == 5 && said.contains("1 of 6 replications is missing or damaged"), "{code}: {said}");
    // The end is cut off.
    fs::write(&records, &whole[..begin(4) + 30]).unwrap();
    let (code, said) = of(&["replay", path]);
    assert!(code == 5 && said.contains("2 of 6 replications are missing or damaged"), "{code}: {said}");
    // The cure works.
    let (code, said) = of(&["run", ECHO, "--replications", "6", "--out", place.path().to_str().unwrap()]);
    assert!(code == 0 && said.contains("Damaged records: 1"), "{code}: {said}");
    let (code, said) = of(&["replay", path, "--files"]);
    assert_eq!(code, 0, "{said}");
    // A summary that is no gzip file is named.
    fs::write(run.join("summary.json.gz"), "no gzip").unwrap();
    let (code, said) = of(&["report", path]);
    assert!(
        code != 0 && code != 101 && said.contains("summary.json.gz") && said.contains("damaged"),
        "{code}: {said}"
    );
}
