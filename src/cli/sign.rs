//! `subrosa sign`: signs a run folder with an OpenSSH key, so that others can check who ran it.

use super::contents::contents;
use super::exit::Exit;
use super::load::plan_of_run;
use super::options::SignArguments;
use super::output::{eprint_line, print};
use crate::study::{self, RunFolder, SignError, files};
use crate::vocab::counted;
use std::io;
use std::path::Path;

/// Runs the command. A folder is signed only if the run is finished and its files equal those made
/// from its records.
pub(super) fn sign(arguments: &SignArguments) -> Exit {
    let folder = RunFolder::at(&arguments.run);
    let (plan, manifest) = match plan_of_run(&folder) {
        Ok(found) => found,
        Err(exit) => return exit,
    };
    if !manifest.complete {
        eprint_line(
            "error: the run is not finished, so there is nothing to sign; finish it with `subrosa run`",
        );
        return Exit::Usage;
    }
    match contents(&plan, &folder, &manifest) {
        Ok((_, inconsistencies)) if inconsistencies.is_empty() => {}
        Ok((_, inconsistencies)) => {
            inconsistencies.iter().for_each(|misfit| eprint_line(format_args!("error: {misfit}")));
            return Exit::ReplayDiffers;
        }
        Err(exit) => return exit,
    }
    let passphrase = || match &arguments.passphrase_file {
        Some(file) => of_file(file),
        None => typed(&arguments.key),
    };
    match study::sign(&folder, &arguments.key, &passphrase) {
        Ok(signed) => {
            print(&format!(
                "signed: {} of {}, by the key {}\nto check: subrosa replay {} --files --signed-by KEY.pub\n",
                counted(signed.files, "file"),
                folder.path().display(),
                signed.fingerprint,
                folder.path().display()
            ));
            Exit::Ok
        }
        Err(error) => failed(&error),
    }
}

/// Prints why there is no signature, or why it is not valid.
pub(super) fn failed(error: &SignError) -> Exit {
    eprint_line(format_args!("error: {error}"));
    match error {
        SignError::File(_) => Exit::Internal,
        error if error.is_about_the_folder() => Exit::ReplayDiffers,
        _ => Exit::Usage,
    }
}

/// The first line of a file.
fn of_file(file: &Path) -> io::Result<String> {
    let text = files::read(file).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(text.lines().next().unwrap_or_default().to_owned())
}

#[cfg(feature = "sign")]
fn typed(key: &Path) -> io::Result<String> {
    rpassword::prompt_password(format!("Passphrase of {}: ", key.display())).map_err(|error| {
        io::Error::other(format!(
            "no terminal to ask for the passphrase: {error} (use --passphrase-file FILE)"
        ))
    })
}

#[cfg(not(feature = "sign"))]
fn typed(_: &Path) -> io::Result<String> {
    Err(io::Error::other("signatures are not built in"))
}
