//! Hashes the sources, so that results of one build are never taken for those of another of the same version.
//!
//! `SUBROSA_SOURCES` is the FNV-1a hash (128 bits) of `Cargo.toml`, `Cargo.lock` and everything below `src`, in order
//! of their paths: equal sources and dependencies give equal hashes, wherever and whenever they are built.

use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let mut files = vec![root.join("Cargo.toml"), root.join("Cargo.lock")];
    collect(&root.join("src"), &mut files);
    let mut hash = Hash(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d);
    for name in ["build.rs", "Cargo.toml", "Cargo.lock", "src"] {
        println!("cargo::rerun-if-changed={name}");
    }
    let mut named: Vec<(String, PathBuf)> =
        files.into_iter().map(|path| (name(&root, &path), path)).collect();
    named.sort();
    for (name, path) in named {
        // A package may come without its lock file.
        let Ok(contents) = fs::read(&path) else { continue };
        hash.add(name.as_bytes());
        hash.add(&contents);
    }
    println!("cargo::rustc-env=SUBROSA_SOURCES={:032x}", hash.0);
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push(path);
        }
    }
}

/// The path relative to the root, with `/` between its parts on every system.
fn name(root: &Path, path: &Path) -> String {
    let below = path.strip_prefix(root).unwrap_or(path);
    below.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/")
}

struct Hash(u128);

impl Hash {
    /// Adds the number of bytes, then the bytes. Carriage returns are left out of both, so that a checkout with Windows
    /// line ends has the same hash.
    fn add(&mut self, bytes: &[u8]) {
        let bytes: Vec<u8> = bytes.iter().copied().filter(|&byte| byte != b'\r').collect();
        for byte in (bytes.len() as u64).to_le_bytes().into_iter().chain(bytes) {
            self.0 = (self.0 ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        }
    }
}
