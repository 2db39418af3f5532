//! A cache of the scores of trained models, so that a second run trains nothing. Each file is named by a hash of
//! everything on which the file's scores depend.

use super::data::AgentRecords;
use crate::rng::Key;
use crate::vocab::process_id;
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};

/// The libraries by which models are trained, with their versions. They are part of the hash, because other versions may
/// give other scores.
const LIBRARIES: [&str; 4] = ["argmin 0.11.0", "argmin-math 0.5.1", "libm 0.2.16", "linfa-svm 0.8.1"];

/// The project's own code that trains and scores models. The code is part of the hash, because changed code may give
/// other scores. The texts of the source files are hashed, so that every change counts: models are trained again even
/// after a change of a comment.
const SOURCES: [&str; 14] = [
    include_str!("axis.rs"),
    include_str!("logistic.rs"),
    include_str!("model.rs"),
    include_str!("platt.rs"),
    include_str!("support_vectors.rs"),
    include_str!("trained_svm.rs"),
    include_str!("../scaling.rs"),
    include_str!("../tuning/loss.rs"),
    include_str!("../tuning/records.rs"),
    include_str!("../tuning/training.rs"),
    include_str!("../../gp/cholesky.rs"),
    include_str!("../../gp/scores.rs"),
    include_str!("../../gp/vectors.rs"),
    include_str!("../../rng/stream.rs"),
];

/// A folder of files with scores; without a folder, no scores are kept. Any file may be deleted at any time.
#[derive(Clone, Debug)]
pub(super) struct Trained<'a> {
    folder: Option<&'a Path>,
}

impl<'a> Trained<'a> {
    pub(super) fn at(folder: Option<&'a Path>) -> Self {
        Self { folder }
    }

    /// The scores of one agent's models, read from the file or found by training; `key` is the node of the seed tree for
    /// training.
    pub(super) fn scores<E>(
        &self,
        model: &impl Serialize,
        records: &AgentRecords,
        (classes, key): (usize, &Key),
        train: impl FnOnce() -> Result<Vec<Vec<f64>>, E>,
    ) -> Result<Vec<Vec<f64>>, E> {
        let Some(folder) = self.folder else { return train() };
        let name = identity(model, records, classes, key);
        let file = folder.join(format!("{}.txt", &name[..24]));
        if let Some(known) = fs::read_to_string(&file).ok().and_then(|text| read(&text, &name)) {
            return Ok(known);
        }
        let scores = train()?;
        // If the file cannot be written, the run continues: the file only saves time.
        drop(write_atomically(&file, &written(&scores, &name)));
        Ok(scores)
    }
}

/// The hash of everything on which the scores depend: the training code and its libraries' versions, the model, the
/// records, the number of classes and the key.
fn identity(model: &impl Serialize, records: &AgentRecords, classes: usize, key: &Key) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut part = |bytes: &[u8]| {
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    LIBRARIES.iter().chain(&SOURCES).for_each(|text| part(text.as_bytes()));
    part(serde_json::to_string(model).unwrap_or_default().as_bytes());
    part(&(classes as u64).to_le_bytes());
    part(&(records.d as u64).to_le_bytes());
    let features: Vec<u8> = records.features.iter().flat_map(|value| value.to_bits().to_le_bytes()).collect();
    part(&features);
    let places: Vec<u8> = records.classes.iter().flat_map(|class| (*class as u64).to_le_bytes()).collect();
    part(&places);
    let sides: Vec<u8> = records.training.iter().map(|training| u8::from(*training)).collect();
    part(&sides);
    // Two words of the key's stream identify the key.
    let mut stream = key.stream();
    part(&stream.word().to_le_bytes());
    part(&stream.word().to_le_bytes());
    hasher.finalize().to_hex().to_string()
}

/// The text of a file: a line with the identity, for each setting a line with the bits of its scores, and a hash of all
/// these lines.
fn written(scores: &[Vec<f64>], identity: &str) -> String {
    let mut text = format!("{identity}\n");
    for setting in scores {
        let words: Vec<String> = setting.iter().map(|score| format!("{:016x}", score.to_bits())).collect();
        text.push_str(&words.join(" "));
        text.push('\n');
    }
    let seal = blake3::hash(text.as_bytes()).to_hex().to_string();
    text.push_str(&seal);
    text.push('\n');
    text
}

/// The scores in a file that is complete and has this identity; `None` otherwise.
fn read(text: &str, identity: &str) -> Option<Vec<Vec<f64>>> {
    let body = text.strip_suffix('\n')?;
    let (lines, seal) = body.rsplit_once('\n')?;
    let sealed = format!("{lines}\n");
    if blake3::hash(sealed.as_bytes()).to_hex().as_str() != seal {
        return None;
    }
    let mut lines = lines.lines();
    if lines.next()? != identity {
        return None;
    }
    let score = |word: &str| Some(f64::from_bits(u64::from_str_radix(word, 16).ok()?));
    lines.map(|line| line.split(' ').map(score).collect::<Option<Vec<f64>>>()).collect()
}

/// Writes a file under a temporary name and renames it, so that other processes never read an incomplete file.
fn write_atomically(file: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut unfinished = PathBuf::from(file);
    unfinished.set_extension(format!("{}.part", process_id()));
    fs::write(&unfinished, text)?;
    fs::rename(&unfinished, file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_come_back_bit_by_bit_and_only_from_whole_files() {
        let scores = vec![vec![0.1, 1.0 / 3.0], vec![f64::MIN_POSITIVE, 0.7]];
        let text = written(&scores, "abc");
        assert_eq!(read(&text, "abc"), Some(scores));
        assert_eq!(read(&text, "abd"), None, "of other models");
        assert_eq!(read(&text.replace("3fe", "3ff"), "abc"), None, "a changed digit");
        assert_eq!(read(&text[..text.len() - 70], "abc"), None, "cut off");
    }

    /// A new version of a library has to change the hash, so `LIBRARIES` must state the versions of the lock file.
    #[test]
    fn libraries_have_the_versions_of_the_lock_file() {
        let lock = include_str!("../../../Cargo.lock").replace("\r\n", "\n");
        for library in LIBRARIES {
            let (name, version) = library.split_once(' ').unwrap_or_default();
            assert!(lock.contains(&format!("name = \"{name}\"\nversion = \"{version}\"")), "{library}");
        }
    }
}
