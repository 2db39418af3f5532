//! The program of the playground: checks, plays or packs files that the page holds in memory, and prints lines of JSON.
//!
//! The page starts it once for each task, as WebAssembly with a WASI of its own (`page/wasi.js`). So no task finds anything in
//! memory from an earlier one, and the program reads and writes files as it does on any other system.

mod check;
mod pack;
mod play;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["check", file] => check::check(Path::new(file)),
        ["run", file, out] => play::run(Path::new(file), Path::new(out)),
        ["pack", folder, archive] => pack::pack(Path::new(folder), Path::new(archive)),
        _ => Err("usage: check FILE | run FILE OUT | pack FOLDER ARCHIVE".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
