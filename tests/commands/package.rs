//! The package that `cargo publish` would upload: its size, its files and its keywords.

use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;

/// Largest size of the package, compressed, in bytes.
const MOST_BYTES: usize = 2_000_000;

/// The files of the package, as cargo lists them; nothing is built or downloaded.
fn files() -> Vec<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let out = Command::new(cargo)
        .args(["package", "--list", "--allow-dirty", "--offline", "--package", "subrosa"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo is there: it runs this test");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn the_package_is_small_and_complete() {
    let files = files();
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    for file in &files {
        // Files that cargo writes itself, such as Cargo.toml.orig, are not in the repository.
        if let Ok(content) = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)) {
            packed.write_all(&content).unwrap();
        }
    }
    let bytes = packed.finish().unwrap().len();
    assert!(
        bytes < MOST_BYTES,
        "the package has {bytes} bytes compressed; `exclude` in Cargo.toml leaves files out"
    );
    let has = |file: &str| files.iter().any(|known| known == file);
    for needed in [
        "build.rs",
        "Cargo.lock",
        "LICENSE",
        "README.md",
        "src/main.rs",
        "scenarios/hospital.ron",
        "scenarios/data/diabetes.csv",
    ] {
        assert!(has(needed), "{needed} is missing in the package");
    }
    // Unit tests include these at compile time.
    assert!(has("tests/oracles/ldp_federated_units.json"));
    for other in ["docs/", ".github/", ".ci/", "benches/", "fuzz/", "python/", "playground/"] {
        assert!(!files.iter().any(|file| file.starts_with(other)), "{other} is in the package");
    }
}

/// crates.io refuses more than five keywords, and keywords of more than 20 characters.
#[test]
fn keywords_are_those_that_crates_io_accepts() {
    let manifest = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")).unwrap();
    let line =
        manifest.lines().find_map(|line| line.strip_prefix("keywords = ")).expect("a line of keywords");
    let keywords: Vec<String> = serde_json::from_str(line).expect("a list of texts");
    assert!((1..=5).contains(&keywords.len()), "{keywords:?}");
    for keyword in &keywords {
        let letters = keyword.chars().all(|c| c.is_ascii_alphanumeric() || "-_+".contains(c));
        assert!(letters && keyword.len() <= 20, "{keyword}");
    }
}
