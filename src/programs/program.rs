//! The description of a program in a scenario, and its identity.

use super::callback;
use super::interpreter::{Runs, runs};
use crate::vocab::{Problem, Span};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A program or a callback, as a scenario describes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// The program and its arguments, one word each; no shell interprets them.
    pub command: Vec<String>,
    /// How long one answer may take, in wall time.
    #[serde(default = "Program::default_timeout")]
    pub timeout: Span,
    /// Further files that the program's answers depend on.
    #[serde(default)]
    pub files: Vec<PathBuf>,
}

/// What a scenario is used for. The use decides which programs of the scenario are started. Only these programs must
/// exist.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProgramUse {
    /// Playing replications: all programs are started.
    #[default]
    ToPlay,
    /// A dry run: only the objective's programs are started, and only if messages depend on the objective.
    ToSend,
    /// An audit, or `calibrate --scenario`: only the objective's programs are started.
    ToAudit,
}

/// The identity of a program, as a run folder stores it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramIdentity {
    /// Program and arguments.
    pub command: Vec<String>,
    /// The version that the program reports; empty before the program is asked.
    pub version: String,
    /// Hash of each file that [`Program::command`] or [`Program::files`] names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
}

impl Program {
    /// The default timeout: one minute.
    #[must_use]
    pub fn default_timeout() -> Span {
        Span::from_millis(60_000)
    }

    /// The command as one text, for people.
    #[must_use]
    pub fn words(&self) -> String {
        words(&self.command)
    }

    /// The name of the callback, if the command is `["callback", NAME]`.
    #[must_use]
    pub fn callback(&self) -> Option<&str> {
        match self.command.as_slice() {
            [word, name] if word == callback::WORD => Some(name),
            _ => None,
        }
    }

    /// Problems of the command and the timeout that can be seen without looking for any file.
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

    /// A problem for each thing that is needed and does not exist. For a callback, the callback and the further files are
    /// looked for. For any other command, the program, the file that an interpreter is to run, and the further files are
    /// looked for. On WASI, every command that is not a callback is a problem. Relative paths begin at the folder `base`.
    /// Nothing is started.
    #[must_use]
    pub fn absent(&self, base: &Path) -> Vec<Problem> {
        let mut problems = Vec::new();
        let Some(program) = self.command.first() else { return problems };
        if let Some(name) = self.callback() {
            let offered = callback::names();
            if !offered.iter().any(|known| known == name) {
                let expected = match offered.as_slice() {
                    [] => "a callback that this program offers; it offers none".to_owned(),
                    names => format!("a callback that this program offers: {}", names.join(", ")),
                };
                problems.push(Problem::wrong(
                    "command[1]",
                    expected,
                    format!("{name:?}"),
                    "play it from Python, with the class or function of that name (docs/python.md)",
                ));
            }
            problems.extend(self.absent_files(base));
            return problems;
        }
        // WASI starts no programs, and has no PATH to look in.
        if cfg!(target_os = "wasi") {
            problems.push(Problem::wrong(
                "command",
                "members of the library, since a program in WebAssembly cannot start other programs",
                words(&self.command),
                "play it with the command `subrosa run`, on a machine that has the program",
            ));
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
                "install it, or write its path, relative to the scenario's folder",
            ));
        }
        if let Runs::File(index, script) = runs(&self.command)
            && !base.join(script).is_file()
        {
            problems.push(Problem::wrong(
                format!("command[{index}]"),
                format!("a file for {program} to read, in {}", base.display()),
                format!("{script:?}, which is not there"),
                "write its path, relative to the scenario's folder",
            ));
        }
        problems.extend(self.absent_files(base));
        problems
    }

    /// A problem for each further file that does not exist.
    fn absent_files(&self, base: &Path) -> impl Iterator<Item = Problem> {
        let absent = self.files.iter().enumerate().filter(move |(_, file)| !base.join(file).is_file());
        absent.map(move |(index, file)| {
            Problem::wrong(
                format!("files[{index}]"),
                format!("a file in {}", base.display()),
                format!("{}, which is not there", file.display()),
                "write its path, relative to the scenario's folder, or leave it out",
            )
        })
    }

    /// The identity without the version: files are read and hashed, and nothing is started.
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

    /// The path of the program; a mere name is looked for in `PATH` by the operating system.
    pub(super) fn executable(&self, base: &Path) -> PathBuf {
        let program = self.command.first().map_or("", String::as_str);
        if is_path(program) { base.join(program) } else { program.into() }
    }
}

impl ProgramIdentity {
    /// The name of the module that the command tells an interpreter to run, such as `NAME` in `python -m NAME`. `None`
    /// if the command runs no module, or if a file is a part of the identity. Without such a file, a change of the
    /// module changes the identity only if the program reports another version.
    #[must_use]
    pub fn unseen_module(&self) -> Option<&str> {
        match runs(&self.command) {
            Runs::Module(module) if self.files.is_empty() => Some(module),
            _ => None,
        }
    }

    /// The command as one text, for people.
    #[must_use]
    pub fn words(&self) -> String {
        words(&self.command)
    }
}

/// The largest number of characters of a version. Error messages show at most as many characters of an invalid answer.
pub(super) const SHOWN: usize = 200;

/// The version that a program or a callback states, without spaces around it, if it is one line of 1 to [`SHOWN`]
/// characters.
pub(super) fn valid_version(stated: &str) -> Option<String> {
    let version = stated.trim();
    let fits = !version.is_empty() && version.chars().count() <= SHOWN && !version.contains(char::is_control);
    fits.then(|| version.to_owned())
}

fn words(command: &[String]) -> String {
    let plain =
        |word: &String| !word.is_empty() && !word.contains(|c: char| c.is_whitespace() || "\"'`".contains(c));
    let quoted = |word: &String| if plain(word) { word.clone() } else { format!("{word:?}") };
    command.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// Whether a program is stated as a path; a mere name is looked for in `PATH`.
fn is_path(program: &str) -> bool {
    Path::new(program).components().count() > 1 || program.contains(std::path::is_separator)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The further files of a callback are checked like those of a command, since both are hashed.
    #[test]
    fn missing_files_of_a_callback_are_problems() {
        let place = tempfile::TempDir::new().unwrap();
        std::fs::write(place.path().join("here.csv"), "1").unwrap();
        let command = [callback::WORD, "nobody"].map(str::to_owned).to_vec();
        let files = ["here.csv", "gone.csv"].map(PathBuf::from).to_vec();
        let program = Program { command, files, timeout: Program::default_timeout() };
        let places: Vec<String> =
            program.absent(place.path()).into_iter().map(|problem| problem.path).collect();
        assert_eq!(places, ["command[1]", "files[1]"]);
    }
}
