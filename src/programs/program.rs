//! What a scenario says of a program, and what tells it from others.

use super::callback;
use crate::vocab::{Problem, Span};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A program, as a scenario names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// Program and arguments, as typed into a shell, word by word.
    pub command: Vec<String>,
    /// How long one answer may take, in wall time.
    #[serde(default = "Program::default_timeout")]
    pub timeout: Span,
    /// Further files that its answers depend on.
    #[serde(default)]
    pub files: Vec<PathBuf>,
}

/// What somebody means to do with a scenario, as far as it decides which of its programs are started and have to be there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Starts {
    /// Play it: all programs.
    #[default]
    ToPlay,
    /// Send its messages alone: nothing is learned, and the objective is needed only where messages depend on it.
    ToSend,
    /// Attack its releases: the objective is, and nothing is learned by a program.
    ToAudit,
}

/// A program as far as it can be told from others: what a run folder says of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramIdentity {
    /// Program and arguments.
    pub command: Vec<String>,
    /// What it says that it is; empty before it was asked.
    pub version: String,
    /// Hash of each file that the command or the scenario names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
}

/// Programs that take a file with what they are to do as their first argument.
const INTERPRETERS: &[&str] =
    &["python", "python3", "sh", "bash", "dash", "zsh", "Rscript", "julia", "node", "perl", "ruby", "lua"];

impl Program {
    /// One minute.
    #[must_use]
    pub fn default_timeout() -> Span {
        Span::from_millis(60_000)
    }

    /// The command as one text, for people.
    #[must_use]
    pub fn words(&self) -> String {
        words(&self.command)
    }

    /// The name of the callback that it is, if it is one: `["callback", NAME]`.
    #[must_use]
    pub fn callback(&self) -> Option<&str> {
        match self.command.as_slice() {
            [word, name] if word == callback::WORD => Some(name),
            _ => None,
        }
    }

    /// What is wrong with it as it is written.
    #[must_use]
    pub fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        if self.command.first().is_none_or(|word| word.trim().is_empty()) {
            problems.push(Problem::wrong(
                "command",
                "a program and its arguments",
                "none",
                r#"write command: ["python3", "my_learner.py"]"#,
            ));
        }
        if self.timeout == Span::ZERO {
            problems.push(Problem::wrong(
                "timeout",
                "a duration above 0",
                self.timeout.to_string(),
                "write how long one answer may take, as in \"1min\"",
            ));
        }
        problems
    }

    /// What of it is not there, seen from the folder `base`: the program itself, the file that an interpreter is to read,
    /// a file that its answers depend on. Nothing is started.
    #[must_use]
    pub fn absent(&self, base: &Path) -> Vec<Problem> {
        let mut problems = Vec::new();
        let Some(program) = self.command.first() else { return problems };
        if let Some(name) = self.callback() {
            let offered = callback::names();
            if !offered.iter().any(|known| known == name) {
                let expected = match offered.as_slice() {
                    [] => "a callback that this program offers, which offers none".to_owned(),
                    names => format!("a callback that this program offers: {}", names.join(", ")),
                };
                problems.push(Problem::wrong(
                    "command[1]",
                    expected,
                    format!("{name:?}"),
                    "play it from Python, with the class or function of that name (docs/python.md)",
                ));
            }
            return problems;
        }
        let looked_for = if is_path(program) {
            vec![base.join(program)]
        } else {
            let path = std::env::var_os("PATH").unwrap_or_default();
            std::env::split_paths(&path).map(|folder| folder.join(program)).collect()
        };
        let there = |path: &PathBuf| {
            let named = std::env::consts::EXE_SUFFIX.trim_start_matches('.');
            path.is_file() || !named.is_empty() && path.with_added_extension(named).is_file()
        };
        if !looked_for.iter().any(there) {
            let place = if is_path(program) { base.display().to_string() } else { "PATH".to_owned() };
            problems.push(Problem::wrong(
                "command[0]",
                "a program that is installed",
                format!("{program:?}, which is not in {place}"),
                "install it, or write where it is, from the scenario's folder on",
            ));
        }
        let stem = Path::new(program).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let script =
            self.command.get(1).filter(|word| INTERPRETERS.contains(&stem) && !word.starts_with('-'));
        if let Some(script) = script.filter(|script| !base.join(script).is_file()) {
            problems.push(Problem::wrong(
                "command[1]",
                format!("a file for {program} to read, in {}", base.display()),
                format!("{script:?}, which is not there"),
                "write where it is, from the scenario's folder on",
            ));
        }
        for (index, file) in self.files.iter().enumerate().filter(|(_, file)| !base.join(file).is_file()) {
            problems.push(Problem::wrong(
                format!("files[{index}]"),
                format!("a file in {}", base.display()),
                format!("{}, which is not there", file.display()),
                "write where it is, from the scenario's folder on, or leave it out",
            ));
        }
        problems
    }

    /// What tells it from others, but for its version: its files are read, and nothing is started.
    #[must_use]
    pub fn identity(&self, base: &Path) -> ProgramIdentity {
        let listed = self.files.iter().map(|file| file.to_string_lossy().into_owned());
        let words = self.command.iter().filter(|word| base.join(word).is_file()).cloned();
        let hash = |file: &String| {
            std::fs::read(base.join(file))
                .map_or_else(|_| "unreadable".to_owned(), |bytes| blake3::hash(&bytes).to_hex().to_string())
        };
        let words = words.filter(|_| self.callback().is_none());
        let files = words.chain(listed).map(|file| (file.clone(), hash(&file))).collect();
        ProgramIdentity { command: self.command.clone(), version: String::new(), files }
    }

    /// What the operating system is asked to start.
    pub(super) fn executable(&self, base: &Path) -> PathBuf {
        let program = self.command.first().map_or("", String::as_str);
        if is_path(program) { base.join(program) } else { program.into() }
    }
}

impl ProgramIdentity {
    /// The command as one text, for people.
    #[must_use]
    pub fn words(&self) -> String {
        words(&self.command)
    }
}

fn words(command: &[String]) -> String {
    let plain =
        |word: &String| !word.is_empty() && !word.contains(|c: char| c.is_whitespace() || "\"'`".contains(c));
    let quoted = |word: &String| if plain(word) { word.clone() } else { format!("{word:?}") };
    command.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// Whether a program is named by its place; others are looked for in PATH.
fn is_path(program: &str) -> bool {
    Path::new(program).components().count() > 1 || program.contains(std::path::is_separator)
}
