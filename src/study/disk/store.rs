//! Records on disk: lines with checksums, many in one file, which are appended as replications end and found by an index.
//!
//! A line is `{"cell":3,"seal":"<hash>",` and then the record's own fields, which begin with `"identity":`, so a line is
//! plain JSON. The seal is the hash of the record's own fields. The seal does not cover the cell's number, because the
//! identity determines a record's cell.

use crate::study::disk::error::{Conflict, FolderError};
use crate::study::disk::files::FileError;
use crate::study::disk::record::{FailureRecord, ReplicationRecord};
use crate::study::disk::record_lines::{LinePlace, LineReader, PlacedLines};
use crate::vocab::{at_once, both, in_order};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Number of bytes of records that a thread checks or parses at a time, with 2 to 16 threads.
const BYTES_PER_THREAD: u64 = 1 << 19;

/// Records are taken together until they have this number of bytes, whatever the number of threads.
const MOST_TOGETHER: u64 = 8 << 20;

/// Records are taken into memory together until they have at least this number of bytes. With one thread, the number is 1,
/// so that records are taken one at a time.
fn bytes_together() -> u64 {
    if at_once() > 1 { (at_once() as u64 * BYTES_PER_THREAD).min(MOST_TOGETHER) } else { 1 }
}

/// One record as a line. `body` is the record as a JSON object.
pub(in crate::study) fn line(cell: usize, body: &str) -> Vec<u8> {
    let rest = body.strip_prefix('{').unwrap_or(body);
    format!("{{\"cell\":{cell},\"seal\":\"{}\",{rest}\n", blake3::hash(rest.as_bytes()).to_hex()).into_bytes()
}

/// The fields at the head of a line.
#[derive(Clone, Copy, Debug)]
pub(in crate::study) struct Head<'a> {
    pub(in crate::study) cell: usize,
    /// The first half of the seal, which is enough to distinguish two records.
    pub(in crate::study) seal: u128,
    pub(in crate::study) identity: &'a str,
    pub(in crate::study) replication: u64,
    /// Whether this is a replication that failed.
    pub(in crate::study) failed: bool,
    /// The record's JSON without its opening brace.
    rest: &'a str,
}

/// Reads the head of a line, given without its newline, and checks the seal; `None` if the line is damaged.
pub(in crate::study) fn head(line: &[u8]) -> Option<Head<'_>> {
    let text = std::str::from_utf8(line).ok()?;
    let (cell, text) = text.strip_prefix("{\"cell\":")?.split_once(",\"seal\":\"")?;
    let (seal, rest) = text.split_once("\",")?;
    if blake3::hash(rest.as_bytes()).to_hex().as_str() != seal {
        return None;
    }
    let (identity, after) = rest.strip_prefix("\"identity\":\"")?.split_once("\",\"replication\":")?;
    let (replication, after) = after.split_once(',')?;
    // The seal does not cover the cell's number. So a line counts as damaged if its cell's number is not written as the
    // function `line` writes it.
    let number: usize = cell.parse().ok().filter(|number: &usize| number.to_string() == cell)?;
    Some(Head {
        cell: number,
        seal: u128::from_str_radix(seal.get(..32)?, 16).ok()?,
        identity,
        replication: replication.parse().ok()?,
        failed: after.starts_with("\"failure\":"),
        rest,
    })
}

impl Head<'_> {
    /// Whether the line can be parsed as the kind of record that its head states. A correct seal shows only that the
    /// line is unchanged.
    fn is_record(&self) -> bool {
        let body = self.body();
        if self.failed {
            serde_json::from_str::<FailureRecord>(&body).is_ok()
        } else {
            serde_json::from_str::<ReplicationRecord>(&body).is_ok()
        }
    }

    /// The record as JSON.
    pub(in crate::study) fn body(&self) -> String {
        format!("{{{}", self.rest)
    }
}

/// The position of a record (a file, and a range of bytes in it), and the first half of its seal.
#[derive(Clone, Copy, Debug)]
struct Place {
    seal: u128,
    source: u32,
    line: LinePlace,
}

/// What a line of a record file holds.
#[derive(Debug)]
enum Found {
    Damaged,
    /// A record that belongs to no cell of the study.
    Foreign,
    /// The record of the replication `replication` of each of these cells, or, if `failed`, the failure of this replication.
    Record {
        cells: Vec<usize>,
        replication: u64,
        seal: u128,
        failed: bool,
    },
}

impl Found {
    fn of(line: &[u8], cells: &(dyn Fn(usize, &str) -> Vec<usize> + Sync)) -> Self {
        let Some(head) = line.strip_suffix(b"\n").and_then(head) else { return Self::Damaged };
        let cells = cells(head.cell, head.identity);
        if cells.is_empty() {
            Self::Foreign
        } else if head.is_record() {
            let Head { replication, seal, failed, .. } = head;
            Self::Record { cells, replication, seal, failed }
        } else {
            // A correct seal shows that the line is unchanged, but not that its contents are a record.
            Self::Damaged
        }
    }
}

/// All records of a study that are on disk, found by cell and replication.
#[derive(Debug)]
pub struct StoredRecords {
    sources: Vec<PathBuf>,
    /// The file read last: records are requested nearly in the order in which they are stored.
    open: Mutex<Option<(u32, PlacedLines)>>,
    places: BTreeMap<(usize, u64), Place>,
    failed: BTreeMap<(usize, u64), Place>,
    /// Number of damaged lines. A replication is missing if no undamaged line has its record.
    pub damaged: u64,
    /// Replications that have two different records.
    pub conflicts: Vec<Conflict>,
}

impl StoredRecords {
    pub(in crate::study) fn empty() -> Self {
        Self {
            sources: Vec::new(),
            open: Mutex::new(None),
            places: BTreeMap::new(),
            failed: BTreeMap::new(),
            damaged: 0,
            conflicts: Vec::new(),
        }
    }

    /// Adds the records of a file. `cells` returns the cells of the study to which a record with this cell number and
    /// this identity belongs; a record that belongs to no cell is ignored.
    pub(in crate::study) fn add(
        &mut self,
        path: &Path,
        cells: &(dyn Fn(usize, &str) -> Vec<usize> + Sync),
    ) -> Result<(), FileError> {
        let fail = |error| FileError { doing: "read", path: path.to_owned(), error };
        let (mut lines, most) = (LineReader::open(path).map_err(fail)?, bytes_together());
        let mut together = lines.several(most).map_err(fail)?;
        while !together.is_empty() {
            let check = |(line, place): (Vec<u8>, _)| (Found::of(&line, cells), place);
            let (found, next) = both(|| in_order(together, check), || lines.several(most));
            found.into_iter().for_each(|(found, place)| self.insert(path, found, place));
            together = next.map_err(fail)?;
        }
        self.sources.push(path.to_owned());
        Ok(())
    }

    /// Adds a line of the file `path`, which is the file that is being read.
    fn insert(&mut self, path: &Path, found: Found, line: LinePlace) {
        let Found::Record { cells, replication, seal, failed } = found else {
            self.damaged += u64::from(matches!(found, Found::Damaged));
            return;
        };
        let place = Place { seal, source: self.sources.len() as u32, line };
        for cell in cells {
            let key = (cell, replication);
            if failed {
                self.failed.insert(key, place);
            } else if let Some(known) = self.places.get(&key) {
                if known.seal != seal {
                    let other = self.sources.get(known.source as usize).map_or(path, PathBuf::as_path);
                    let files = [other.to_owned(), path.to_owned()];
                    self.conflicts.push(Conflict { cell, replication, files });
                }
            } else {
                self.places.insert(key, place);
            }
        }
    }

    /// The files that were read.
    pub(in crate::study) fn files(&self) -> impl Iterator<Item = &Path> {
        self.sources.iter().map(PathBuf::as_path)
    }

    /// Whether a replication of a cell is stored.
    #[must_use]
    pub fn holds(&self, cell: usize, replication: u64) -> bool {
        self.places.contains_key(&(cell, replication))
    }

    /// The numbers of the stored replications of a cell, in ascending order.
    pub(in crate::study) fn replications(&self, cell: usize) -> impl Iterator<Item = u64> {
        self.places.range((cell, 0)..=(cell, u64::MAX)).map(|(&(_, replication), _)| replication)
    }

    /// Number of bytes of the stored records of a cell, before compression.
    pub(in crate::study) fn bytes(&self, cell: usize) -> u64 {
        self.places.range((cell, 0)..=(cell, u64::MAX)).map(|(_, place)| u64::from(place.line.length)).sum()
    }

    /// Cell and replication of all stored records, in order.
    pub(in crate::study) fn keys(&self) -> impl Iterator<Item = (usize, u64)> {
        self.places.keys().copied()
    }

    /// The number of stored replications of all cells, counting only those whose number is below `replications`.
    #[must_use]
    pub fn finished(&self, replications: u64) -> u64 {
        self.places.keys().filter(|(_, replication)| *replication < replications).count() as u64
    }

    /// The stored replications of a cell, by number.
    ///
    /// # Errors
    /// [`FolderError`] if a file can no longer be read or has been damaged since.
    pub fn cell(&self, cell: usize) -> Result<BTreeMap<u64, ReplicationRecord>, FolderError> {
        self.places
            .range((cell, 0)..=(cell, u64::MAX))
            .map(|(&(_, replication), place)| Ok((replication, self.record(place)?)))
            .collect()
    }

    /// The stored replications of a cell whose number is below `replications`, in order. They are read when they are
    /// requested, a few at a time.
    pub(in crate::study) fn in_order(
        &self,
        cell: usize,
        replications: u64,
    ) -> impl Iterator<Item = Result<ReplicationRecord, FolderError>> {
        let mut places = self.places.range((cell, 0)..(cell, replications)).map(|(_, place)| *place);
        let mut parsed = Vec::new().into_iter();
        std::iter::from_fn(move || {
            if parsed.len() == 0 {
                parsed = self.several(&mut places).into_iter();
            }
            parsed.next()
        })
    }

    /// Calls `take` for each stored replication of a cell whose number is below `replications`, in order. The next records
    /// are parsed by other threads while this thread is in `take`.
    ///
    /// # Errors
    /// As [`StoredRecords::cell`], and those of `take`, which end the reading.
    pub(in crate::study) fn each(
        &self,
        cell: usize,
        replications: u64,
        mut take: impl FnMut(ReplicationRecord) -> Result<(), FolderError> + Send,
    ) -> Result<(), FolderError> {
        let mut places = self.places.range((cell, 0)..(cell, replications)).map(|(_, place)| *place);
        let mut records = self.several(&mut places);
        while !records.is_empty() {
            let (taken, next) = both(
                || records.into_iter().try_for_each(|record| take(record?)),
                || self.several(&mut places),
            );
            taken?;
            records = next;
        }
        Ok(())
    }

    /// The records at the next places: as many as are parsed together.
    fn several(
        &self,
        places: &mut impl Iterator<Item = Place>,
    ) -> Vec<Result<ReplicationRecord, FolderError>> {
        let (mut lines, mut bytes, most) = (Vec::new(), 0, bytes_together());
        while bytes < most
            && let Some(place) = places.next()
        {
            bytes += u64::from(place.line.length);
            lines.push((place, self.line_at(&place)));
        }
        let parse = |(place, line): (Place, Result<Vec<u8>, FolderError>)| self.parsed(&place, &line?);
        in_order(lines, parse)
    }

    /// Of the stored replications of a cell, the record of the one with the lowest number; `None` if no replication of the
    /// cell is stored.
    ///
    /// # Errors
    /// As [`StoredRecords::cell`].
    pub fn first(&self, cell: usize) -> Result<Option<ReplicationRecord>, FolderError> {
        let first = self.places.range((cell, 0)..=(cell, u64::MAX)).next();
        first.map(|(_, place)| self.record(place)).transpose()
    }

    /// The record of a replication; `None` if it is not stored.
    ///
    /// # Errors
    /// As [`StoredRecords::cell`].
    pub fn get(&self, cell: usize, replication: u64) -> Result<Option<ReplicationRecord>, FolderError> {
        self.places.get(&(cell, replication)).map(|place| self.record(place)).transpose()
    }

    /// The replications that failed and that still have no record, each with the reason.
    ///
    /// # Errors
    /// As [`StoredRecords::cell`].
    pub(in crate::study) fn failures(&self) -> Result<Vec<(usize, FailureRecord)>, FolderError> {
        let open = self.failed.iter().filter(|(key, _)| !self.places.contains_key(key));
        open.map(|(&(cell, _), place)| Ok((cell, self.parsed(place, &self.line_at(place)?)?))).collect()
    }

    /// The stored record as one line of a record file; `None` if the replication is not stored. The line states the number
    /// `cell`, even if the stored line states the number of another cell with the same identity.
    pub(in crate::study) fn line(
        &self,
        cell: usize,
        replication: u64,
    ) -> Result<Option<Vec<u8>>, FolderError> {
        let Some(place) = self.places.get(&(cell, replication)) else { return Ok(None) };
        let stored = self.line_at(place)?;
        let head = self.head_of(place, &stored)?;
        Ok(Some(if head.cell == cell { stored } else { line(cell, &head.body()) }))
    }

    fn record(&self, place: &Place) -> Result<ReplicationRecord, FolderError> {
        self.parsed(place, &self.line_at(place)?)
    }

    /// Parses the line at a place.
    fn parsed<T: serde::de::DeserializeOwned>(&self, place: &Place, line: &[u8]) -> Result<T, FolderError> {
        serde_json::from_str(&self.head_of(place, line)?.body()).map_err(|error| FolderError::Damaged {
            path: self.path(place),
            reason: format!("a record cannot be read: {error}"),
        })
    }

    fn path(&self, place: &Place) -> PathBuf {
        self.sources[place.source as usize].clone()
    }

    /// Reads the line at a place.
    fn line_at(&self, place: &Place) -> Result<Vec<u8>, FolderError> {
        let path = &self.sources[place.source as usize];
        let mut open = self.open.lock().expect("no holder of this lock panics");
        let read = (|| {
            let lines = match &mut *open {
                Some((source, lines)) if *source == place.source => lines,
                other => &mut other.insert((place.source, PlacedLines::open(path)?)).1,
            };
            lines.read(place.line)
        })();
        Ok(read.map_err(|error| FileError { doing: "read", path: path.clone(), error })?)
    }

    /// The head of the line at a place. A damaged line is an error.
    fn head_of<'a>(&self, place: &Place, line: &'a [u8]) -> Result<Head<'a>, FolderError> {
        line.strip_suffix(b"\n").and_then(head).ok_or_else(|| FolderError::Damaged {
            path: self.path(place),
            reason: "it changed while it was read; run the same command again".to_owned(),
        })
    }
}

/// An error if one replication has two results.
pub(in crate::study) fn no_conflict(stored: &StoredRecords) -> Result<(), FolderError> {
    stored.conflicts.first().map_or(Ok(()), |first| Err(FolderError::Conflict(Box::new(first.clone()))))
}

#[cfg(test)]
mod tests;
