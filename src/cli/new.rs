//! `subrosa new`: writes a commented scenario that can be run unchanged.

use super::exit::Exit;
use super::from_csv::{self, CsvArguments};
use super::options::NewArguments;
use super::output::{eprint_line, print, width};
use super::templates::TEMPLATES;
use crate::report::message;
use crate::study::files::{self, FileError};
use std::path::PathBuf;

/// Writes a template, or a scenario made from a CSV file.
pub(super) fn new(arguments: &NewArguments) -> Exit {
    let Some(template) = TEMPLATES.iter().find(|template| template.name == arguments.system) else {
        // Unreachable: clap accepts only the names of templates.
        eprint_line(format_args!("error: no template is called {:?}", arguments.system));
        return Exit::Usage;
    };
    let file = arguments.file.clone().unwrap_or_else(|| PathBuf::from(format!("{}.ron", template.name)));
    if file.is_dir() {
        eprint_line(format_args!("error: {} is a folder: name a file inside it", file.display()));
        return Exit::Usage;
    }
    if file.exists() && !arguments.force {
        eprint_line(format_args!(
            "error: {} is there already: name another file, or overwrite it with --force",
            file.display()
        ));
        return Exit::Usage;
    }
    if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty())
        && let Err(error) = files::make_folder(folder)
    {
        eprint_line(format_args!("error: {error}"));
        return Exit::Internal;
    }
    let mut left_out = Vec::new();
    let text = match (&arguments.csv, &arguments.output) {
        (Some(csv), Some(output)) => {
            let wanted = CsvArguments { system: template.name, csv, output, file: &file };
            match from_csv::scenario(&wanted) {
                Ok(made) => {
                    left_out = made.left_out;
                    made.text
                }
                Err(error) => {
                    eprint_line(format_args!("error: {error}"));
                    return Exit::InvalidScenario;
                }
            }
        }
        // The comments of a template quote the default file name.
        _ => template.text.replace(&format!(" {}.ron", template.name), &format!(" {}", file.display())),
    };
    if let Err(FileError { error, .. }) = files::put(&file, text.as_bytes()) {
        eprint_line(format_args!(
            "error: cannot write {}: {error} (name a writable file, as in `subrosa new {} DIR/{}.ron`)",
            file.display(),
            template.name,
            template.name
        ));
        return Exit::Internal;
    }
    let mut said = format!("wrote {}\n", file.display());
    if !left_out.is_empty() {
        said.push_str("columns that are not inputs:\n");
        left_out.iter().for_each(|column| said.push_str(&format!("  {column}\n")));
    }
    said.push_str(&format!("run it: subrosa run {}\n", file.display()));
    print(&message(&said, width()));
    Exit::Ok
}
