//! `subrosa man`: prints the manual page, or writes it and one page per command into a folder.

use super::exit::Exit;
use super::options::{ManArguments, command};
use super::output::{eprint_line, print};
use crate::study::files;
use clap::Command;
use std::path::Path;

/// Prints or writes manual pages.
pub(super) fn man(arguments: &ManArguments) -> Exit {
    let Some(folder) = &arguments.out else {
        return match rendered(command()) {
            Ok(page) => {
                print(&String::from_utf8_lossy(&page));
                Exit::Ok
            }
            Err(exit) => exit,
        };
    };
    if let Err(error) = files::make_folder(folder) {
        eprint_line(format_args!("error: {error}"));
        return Exit::Internal;
    }
    let mut whole = command().disable_help_subcommand(true);
    // After `build`, every command has its full name and usage.
    whole.build();
    let mut pages = vec![("subrosa.1".to_owned(), command())];
    pages
        .extend(whole.get_subcommands().map(|verb| (format!("subrosa-{}.1", verb.get_name()), verb.clone())));
    for (name, verb) in pages {
        let written = rendered(verb).and_then(|page| write(folder, &name, &page));
        if let Err(exit) = written {
            return exit;
        }
    }
    Exit::Ok
}

fn rendered(command: Command) -> Result<Vec<u8>, Exit> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page).map_err(|error| {
        eprint_line(format_args!("error: cannot make the manual page: {error}"));
        Exit::Internal
    })?;
    Ok(page)
}

fn write(folder: &Path, name: &str, page: &[u8]) -> Result<(), Exit> {
    let file = folder.join(name);
    files::write(&file, page).map_err(|error| {
        eprint_line(format_args!("error: {error}"));
        Exit::Internal
    })?;
    print(&format!("wrote {}\n", file.display()));
    Ok(())
}
