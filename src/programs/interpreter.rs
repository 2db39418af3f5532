//! Finds out, from the words of a command, what its interpreter runs: a file, a module, or something else.

use std::path::Path;

/// What an interpreter runs, according to the words after its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Runs<'a> {
    /// A file, at this position in the command.
    File(usize, &'a str),
    /// A module, for which the interpreter searches its module path.
    Module(&'a str),
    /// Something else or nothing; or the program is not a known interpreter, or the command has an unknown option.
    Other,
}

/// The options of an interpreter that may come before the file to run. Letters may be joined (`-uB`), and a value may
/// follow its letter without a space (`-Wignore`).
struct Interpreter {
    names: &'static [&'static str],
    /// Letters of options without a value.
    plain: &'static str,
    /// Letters of options with a value.
    valued: &'static str,
    /// The letter of the option whose value is the module to run.
    module: Option<char>,
    /// Long options without a value. Long options with a value are recognised if the value follows an equals sign.
    long: &'static [&'static str],
}

const INTERPRETERS: &[Interpreter] = &[
    Interpreter {
        names: &["python", "python3"],
        plain: "bBdEiIOPqsSuvx",
        valued: "WX",
        module: Some('m'),
        long: &[],
    },
    Interpreter {
        names: &["sh", "bash", "dash", "zsh"],
        plain: "aefhnpuvxC",
        valued: "oO",
        module: None,
        long: &["--norc", "--noprofile", "--posix"],
    },
    Interpreter {
        names: &["Rscript"],
        plain: "",
        valued: "",
        module: None,
        long: &[
            "--vanilla",
            "--verbose",
            "--slave",
            "--no-save",
            "--no-restore",
            "--no-environ",
            "--no-site-file",
            "--no-init-file",
        ],
    },
    Interpreter {
        names: &["julia"],
        plain: "q",
        valued: "tpCJLO",
        module: None,
        long: &["--project", "--quiet"],
    },
    Interpreter {
        names: &["node"],
        plain: "",
        valued: "r",
        module: None,
        long: &["--no-warnings", "--trace-warnings"],
    },
    Interpreter { names: &["perl"], plain: "wWtTX", valued: "IM", module: None, long: &[] },
    Interpreter { names: &["ruby"], plain: "wvd", valued: "rIE", module: None, long: &["--yjit"] },
    Interpreter { names: &["lua"], plain: "vE", valued: "l", module: None, long: &[] },
];

/// What a command makes its interpreter run.
pub(super) fn runs(command: &[String]) -> Runs<'_> {
    let Some(program) = command.first() else { return Runs::Other };
    let stem = Path::new(program).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let Some(known) = INTERPRETERS.iter().find(|known| known.names.contains(&stem)) else {
        return Runs::Other;
    };
    let mut words = command.iter().map(String::as_str).enumerate().skip(1);
    while let Some((index, word)) = words.next() {
        if word == "--" {
            return words.next().map_or(Runs::Other, |(index, file)| Runs::File(index, file));
        }
        if word.starts_with("--") {
            if word.contains('=') || known.long.contains(&word) {
                continue;
            }
            return Runs::Other;
        }
        let Some(letters) = word.strip_prefix('-') else { return Runs::File(index, word) };
        if letters.is_empty() {
            return Runs::Other;
        }
        for (place, letter) in letters.char_indices() {
            if known.plain.contains(letter) {
                continue;
            }
            let joined = &letters[place + letter.len_utf8()..];
            let value = if joined.is_empty() { words.next().map(|(_, word)| word) } else { Some(joined) };
            if known.module == Some(letter) {
                return value.map_or(Runs::Other, Runs::Module);
            }
            if !known.valued.contains(letter) {
                return Runs::Other;
            }
            break;
        }
    }
    Runs::Other
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_found_behind_options() {
        let read = |command: &str| {
            let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
            format!("{:?}", runs(&words))
        };
        for (command, expected) in [
            ("python3 a.py --fast", "File(1, \"a.py\")"),
            ("/usr/bin/python3.12 -uB -Wignore -X dev a.py", "File(5, \"a.py\")"),
            ("python3 -um a.b", "Module(\"a.b\")"),
            ("python3 -ma.b", "Module(\"a.b\")"),
            ("python3 -c pass", "Other"),
            ("python3 -", "Other"),
            ("python3 -u", "Other"),
            ("python3 --unknown a.py", "Other"),
            ("sh -eu -o pipefail a.sh", "File(4, \"a.sh\")"),
            ("bash --norc -- -a.sh", "File(3, \"-a.sh\")"),
            ("sh -c ./a.sh", "Other"),
            ("Rscript --vanilla a.R", "File(2, \"a.R\")"),
            ("julia --project=. -t 4 a.jl", "File(4, \"a.jl\")"),
            ("my_program a.py", "Other"),
        ] {
            assert_eq!(read(command), expected, "{command}");
        }
    }
}
