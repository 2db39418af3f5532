//! `subrosa fmt`: only white space changes, and a formatted file stays as it is.

use crate::support::{code_and_output, ron_files, subrosa};
use std::fs;
use std::path::{Path, PathBuf};
use subrosa::scenario::Document;
use tempfile::TempDir;

fn scenarios() -> Vec<PathBuf> {
    ron_files(&["scenarios", "tests/golden", "src/cli/templates", "examples"])
}

/// A text without white space outside of quotation marks. Comments keep their words.
fn without_space(text: &str) -> String {
    let (mut out, mut letters, mut in_text, mut in_comment) =
        (String::new(), text.chars().peekable(), false, false);
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if in_text => {
                out.push(letter);
                out.extend(letters.next());
                continue;
            }
            '"' if !in_comment => in_text = !in_text,
            '/' if !in_text && letters.peek() == Some(&'/') => in_comment = true,
            '\n' if in_comment => {
                in_comment = false;
                out = out.trim_end().to_owned();
                // The end of a comment must stay.
                out.push('\n');
            }
            _ => {}
        }
        if in_text || in_comment || !letter.is_whitespace() {
            out.push(letter);
        }
    }
    out
}

fn formatted(path: &Path, text: &str) -> String {
    let document = Document::from_text(path, text.to_owned());
    document.formatted().unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn only_white_space_of_scenarios_changes() {
    let files = scenarios();
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        let once = formatted(&path, &text);
        assert_eq!(without_space(&once), without_space(&text), "{}", path.display());
        assert_eq!(formatted(&path, &once), once, "{}: a second time", path.display());
        // Also of a text whose line breaks are all gone.
        let crowded = text.lines().filter(|line| !line.contains("//")).collect::<Vec<_>>().join(" ");
        let flat = formatted(&path, &crowded);
        assert_eq!(without_space(&flat), without_space(&crowded), "{}", path.display());
        assert_eq!(formatted(&path, &flat), flat, "{}: flat, a second time", path.display());
    }
}

/// The scenarios of the repository are formatted.
#[test]
fn the_repository_is_formatted() {
    let files = scenarios();
    let files: Vec<&str> = files.iter().map(|path| path.to_str().unwrap()).collect();
    let (code, stdout, stderr) = code_and_output(&subrosa(&[&["fmt", "--check"], &files[..]].concat()));
    assert_eq!((code, stdout.as_str(), stderr.as_str()), (0, "", ""));
}

#[test]
fn a_file_is_changed_unless_it_is_only_checked() {
    let place = TempDir::new().unwrap();
    let (file, wrong) = (place.path().join("a.ron"), place.path().join("b.ron"));
    fs::write(&file, "Scenario ( name:\"a\", // why\n seed :1 )").unwrap();
    fs::write(&wrong, "Scenario(name: ").unwrap();
    let (file, wrong) = (file.to_str().unwrap(), wrong.to_str().unwrap());
    let (code, stdout, stderr) = code_and_output(&subrosa(&["fmt", "--check", file]));
    assert_eq!((code, stdout.as_str()), (3, ""));
    assert!(stderr.contains("is not formatted (`subrosa fmt"), "{stderr}");
    // A file with an error is told and left alone, and the next one is formatted.
    let (code, stdout, stderr) = code_and_output(&subrosa(&["fmt", wrong, file]));
    assert_eq!((code, stdout), (3, format!("formatted {file}\n")));
    assert!(stderr.contains("not valid RON"), "{stderr}");
    assert_eq!(fs::read_to_string(file).unwrap(), "Scenario(name: \"a\", // why\n    seed: 1)\n");
    assert_eq!(fs::read_to_string(wrong).unwrap(), "Scenario(name: ");
    assert_eq!(code_and_output(&subrosa(&["fmt", "--check", file])), (0, String::new(), String::new()));
    assert_eq!(code_and_output(&subrosa(&["fmt", file])), (0, String::new(), String::new()));
}
