//! `run --watch`: shows the report of a run in progress, at an address of this machine or as a file.

mod live;
mod server;

use super::exit::Exit;
use super::output::eprint_line;
use crate::report::{self, Page, Refresh};
use crate::study::{RunFolder, files};
use live::{Live, NAP};
use server::Server;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Time between two writes of the page to a file.
const EVERY: Duration = Duration::from_secs(3);

/// The first bytes of every page.
const PAGE: &[u8] = b"<!DOCTYPE html>";

/// A run that is watched.
pub(super) struct Watch {
    place: Place,
    folder: RunFolder,
    live: Mutex<Live>,
}

/// Where the page is shown.
enum Place {
    Server(Server),
    File(PathBuf),
}

/// Whether `file` exists and is neither empty nor an HTML page. Such a file, for example a scenario, must not be
/// overwritten. False if the file cannot be read.
fn is_not_a_page(file: &Path) -> bool {
    let mut start = Vec::new();
    let read =
        std::fs::File::open(file).and_then(|file| file.take(PAGE.len() as u64).read_to_end(&mut start));
    file.is_file() && read.is_ok() && !start.is_empty() && start != PAGE
}

/// Sets a flag when it is dropped, even if a panic drops it.
struct Ending<'a>(&'a AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Watch {
    /// Prepares to show the run in `folder`; [`Self::during`] then shows the run. If `file` names a file, a first page is
    /// written to the file. If `file` is `None`, a server begins to listen, and the address of the page is printed. If the
    /// function fails, it has printed the error.
    pub(super) fn begin(file: Option<&Path>, folder: &RunFolder) -> Result<Self, Exit> {
        let live = Mutex::new(Live::new(folder.clone()));
        let place = match file {
            Some(file) => Place::File(file.to_owned()),
            None => {
                let server = Server::start().map_err(|error| {
                    eprint_line(format_args!(
                        "error: --watch: cannot listen on 127.0.0.1: {error} (--watch=FILE writes a page)"
                    ));
                    Exit::Internal
                })?;
                eprint_line(format_args!(
                    "Watch the run at {} (from this machine, until it ends).",
                    server.address()
                ));
                Place::Server(server)
            }
        };
        let watch = Self { place, folder: folder.clone(), live };
        if let Place::File(file) = &watch.place {
            if is_not_a_page(file) {
                eprint_line(format_args!(
                    "error: --watch: {} exists already and is not an HTML page (name another file, or remove it)",
                    file.display()
                ));
                return Err(Exit::Usage);
            }
            let first = report::growing_page(None, live::NONE_YET, Refresh::After(EVERY.as_secs()));
            files::put(file, first.as_bytes()).map_err(|error| {
                eprint_line(format_args!("error: --watch: {error}"));
                Exit::Usage
            })?;
        }
        Ok(watch)
    }

    /// Calls `play`, which executes the run, and shows the run's report until `play` returns.
    pub(super) fn during<T>(&self, play: impl FnOnce() -> T) -> T {
        let ended = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let show = || match &self.place {
                Place::Server(server) => server.serve(&self.live, &ended),
                Place::File(file) => self.keep_writing(file, &ended),
            };
            if let Err(error) = std::thread::Builder::new().spawn_scoped(scope, show) {
                eprint_line(format_args!("warning: --watch: {error}; the run is not shown"));
            }
            let _ending = Ending(&ended);
            play()
        })
    }

    fn keep_writing(&self, file: &Path, ended: &AtomicBool) {
        let mut written = Instant::now();
        let mut state = String::new();
        while !ended.load(Ordering::Relaxed) {
            std::thread::sleep(NAP);
            if written.elapsed() < EVERY {
                continue;
            }
            let mut live = live::lock(&self.live);
            live.renew();
            if *live.state() != state {
                // If the file cannot be written, a later turn of the loop tries again. Only `end` prints a warning.
                if files::put(file, live.page(Refresh::After(EVERY.as_secs())).as_bytes()).is_ok() {
                    live.state().clone_into(&mut state);
                }
            }
            written = Instant::now();
        }
    }

    /// Writes the last page to the file: the final report if the run is complete, otherwise the report so far. Does nothing
    /// if the page is shown by a server.
    pub(super) fn end(&self) {
        let Place::File(file) = &self.place else { return };
        let page = match Page::read(&self.folder) {
            Ok(Some(page)) if page.manifest.complete => report::page(&page),
            _ => {
                let mut live = live::lock(&self.live);
                live.renew_now();
                live.page(Refresh::Never)
            }
        };
        if let Err(error) = files::put(file, page.as_bytes()) {
            eprint_line(format_args!("warning: --watch: {error}"));
        }
    }
}
