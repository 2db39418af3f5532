//! Run folders that a lab signs: what the signature covers, and what each way to tamper with it ends in. The keys are those
//! of `tests/keys`.

use crate::support::{code_and_output, folder, root, run, subrosa};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

fn key(name: &str) -> String {
    root().join("tests/keys").join(name).to_str().unwrap().to_owned()
}

fn play(place: &Path, replications: &str) -> PathBuf {
    folder(&run("tests/golden/echo.ron", place, &["--replications", replications]))
}

/// The verb's exit code, and both outputs on one line.
fn of(verb: &str, run: &Path, more: &[&str]) -> (i32, String) {
    let (code, stdout, stderr) = code_and_output(&subrosa(&[&[verb, run.to_str().unwrap()], more].concat()));
    (code, format!("{stdout}{stderr}").split_whitespace().collect::<Vec<_>>().join(" "))
}

#[track_caller]
fn checked(run: &Path, by: &str, code: i32, said: &str) {
    let (found, all) = of("replay", run, &["--files", "--signed-by", by]);
    assert!(found == code && all.contains(said), "{found}: {all}");
}

fn signed(place: &Path) -> PathBuf {
    let run = play(place, "2");
    let (code, said) = of("sign", &run, &["--key", &key("open")]);
    assert!(code == 0 && said.contains("signed: ") && said.contains("--signed-by KEY.pub"), "{said}");
    run
}

#[test]
fn a_signed_folder_is_its_authors_and_unchanged() {
    let place = TempDir::new().unwrap();
    let run = signed(place.path());
    checked(&run, &key("open.pub"), 0, "files agree");
    let (code, said) = of("replay", &run, &["--signed-by", &key("open.pub"), "--format", "json"]);
    let document: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!((code, &document["agrees"], &document["compared"]), (0, &true.into(), &2.into()));
    assert!(document["signed"]["fingerprint"].as_str().unwrap().starts_with("SHA256:"), "{said}");
    // Moved, or reported again from elsewhere, it is the same folder.
    let moved = place.path().join("moved here");
    fs::rename(&run, &moved).unwrap();
    assert_eq!(of("report", &moved.join(""), &[]).0, 0);
    checked(&moved, &key("open.pub"), 0, "lab@example.org");

    // The lists that a lab may publish its keys in.
    let public = fs::read_to_string(key("open.pub")).unwrap();
    let list = place.path().join("allowed_signers");
    fs::write(
        &list,
        format!("# keys\nother ssh-rsa AAAA\nlab@example.org namespaces=\"subrosa-run\" {public}"),
    )
    .unwrap();
    checked(&moved, list.to_str().unwrap(), 0, "files agree");
}

#[test]
fn tampering_with_a_signed_folder_is_found() {
    let place = TempDir::new().unwrap();
    let run = signed(place.path());
    let by = key("open.pub");
    let edit = |name: &str, code: i32, said: &str, edit: &dyn Fn(Vec<u8>) -> Option<Vec<u8>>| {
        let path = run.join(name);
        let before = fs::read(&path).unwrap_or_default();
        match edit(before.clone()) {
            Some(text) => fs::write(&path, text).unwrap(),
            None => fs::remove_file(&path).unwrap(),
        }
        checked(&run, &by, code, said);
        fs::write(&path, before).unwrap();
    };
    let longer = |mut text: Vec<u8>| {
        text.push(b'\n');
        Some(text)
    };
    edit("results.csv", 5, "results.csv was changed after the folder was signed", &longer);
    edit("summary.csv", 5, "summary.csv was removed after the folder was signed", &|_| None);
    edit("SHA256SUMS", 5, "SHA256SUMS: this is not the text that was signed", &longer);
    edit("SHA256SUMS", 5, "there is no", &|_| None);
    edit("SHA256SUMS.sig", 5, "not a signature of OpenSSH", &|_| Some(b"hello".to_vec()));
    edit("SHA256SUMS.sig", 5, "the folder is not signed", &|_| None);
    checked(&run, &key("locked.pub"), 5, "the folder is signed by the key SHA256:");
    fs::write(run.join("note.txt"), "mine").unwrap();
    checked(&run, &by, 5, "note.txt was added after the folder was signed");
    fs::remove_file(run.join("note.txt")).unwrap();
    checked(&run, &by, 0, "files agree");
    // More replications are another run.
    play(place.path(), "3");
    let more = fs::read_dir(place.path()).unwrap().map(|entry| entry.unwrap().path());
    let more: Vec<PathBuf> = more.filter(|path| path.join("manifest.json").is_file()).collect();
    assert_eq!(more.len(), 1, "the same folder");
    checked(&more[0], &by, 5, "records.jsonl was changed after the folder was signed");
}

#[test]
fn what_cannot_be_signed_is_said() {
    let place = TempDir::new().unwrap();
    let run = play(place.path(), "2");
    let sign = |more: &[&str], code: i32, said: &str| {
        let (found, all) = of("sign", &run, more);
        assert!(found == code && all.contains(said), "{found}: {all}");
    };
    sign(&["--key", &key("open.pub")], 2, "this is the public key");
    sign(&["--key", &key("ecdsa")], 2, "ssh-keygen -t ed25519");
    sign(&["--key", &key("README.md")], 2, "no private key of OpenSSH");
    sign(&["--key", &key("absent")], 1, "cannot read");
    let words = place.path().join("passphrase");
    fs::write(&words, "wrong\n").unwrap();
    let locked = key("locked");
    let with = ["--key", &locked, "--passphrase-file", words.to_str().unwrap()];
    sign(&with, 2, "the passphrase is wrong");
    checked(&run, &key("open.pub"), 5, "the folder is not signed");
    fs::write(&words, "open sesame\n").unwrap();
    sign(&with, 0, "signed: ");
    checked(&run, &key("locked.pub"), 0, "files agree");
    checked(&run, &key("locked"), 2, "this is a private key");
    checked(&run, words.to_str().unwrap(), 2, "no public key");
    // A folder whose files are not what the records make.
    fs::write(run.join("results.csv"), "better\n").unwrap();
    sign(&["--key", &key("open")], 5, "results.csv is not what the records");
}

/// Strangers need no program of this project to check a signature.
#[cfg(unix)]
#[test]
fn openssh_and_sha256sum_accept_a_signed_folder() {
    let has = |program: &str| Command::new(program).arg("--help").output().is_ok();
    if !has("ssh-keygen") || !has("sha256sum") {
        eprintln!("ssh-keygen or sha256sum is missing: skipped");
        return;
    }
    let place = TempDir::new().unwrap();
    let run = signed(place.path());
    let sums = Command::new("sha256sum").args(["--quiet", "-c", "SHA256SUMS"]).current_dir(&run).status();
    assert!(sums.unwrap().success());
    let public = fs::read_to_string(key("open.pub")).unwrap();
    let signers = place.path().join("allowed_signers");
    fs::write(&signers, format!("lab {public}")).unwrap();
    let verified = |namespace: &str| {
        let mut command = Command::new("ssh-keygen");
        command
            .args(["-Y", "verify", "-I", "lab", "-n", namespace, "-s", "SHA256SUMS.sig", "-f"])
            .arg(&signers);
        let input = fs::File::open(run.join("SHA256SUMS")).unwrap();
        command.current_dir(&run).stdin(input).output().unwrap().status.success()
    };
    assert!(verified("subrosa-run") && !verified("file"));
}
