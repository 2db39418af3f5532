//! Large files of a run folder. A file that is written with packing (`Staged::packing`) and is larger than 4 MiB is stored
//! in the gzip format (RFC 1952), as `NAME.gz` instead of `NAME`.
//!
//! A packed file is a sequence of gzip members, as the format allows: `zcat`, Python's `gzip`, pandas and R read the members
//! as one text. Each member contains the bytes of whole calls of `write`, so a record can be read without decompressing
//! earlier members.

use crate::vocab::{Pending, at_once};
use flate2::bufread::GzDecoder;
use flate2::{Compression, GzBuilder};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A file that is written with packing is packed if it has more than this number of bytes.
pub(in crate::study) const PACKED_ABOVE: u64 = 4 << 20;

/// A member ends as soon as its contents have at least this number of bytes, counted before compression.
const MEMBER: usize = 256 << 10;

/// While the next member of a file is collected, the contents of its members that are compressed, or wait for it or for
/// being written, have at most this number of bytes per thread.
const PENDING: usize = 2 * MEMBER;
/// Members up to this number of bytes, such as long records, are compressed while the next one is collected.
const LARGE_MEMBER: usize = 4 << 20;

/// Effort of compression, from 0 to 9.
const LEVEL: u32 = 3;

/// The first bytes of every member that is written: the magic number of gzip, DEFLATE, no file name, no time, the
/// compression level, unknown operating system.
///
/// `HEADER[8]`, the byte of the compression level, may have another value in a file, so it is not compared.
const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];

/// A member is read only up to this decompressed size: the first number times its compressed size, plus the second number of
/// bytes. A larger member counts as damaged. The data of a run have about ten times their compressed size. DEFLATE allows a
/// factor of about a thousand, with which a small file could fill the memory.
const RATIO: (u64, u64) = (200, 16 << 20);

/// The path of the packed form of a file.
pub(in crate::study) fn packed_path(path: &Path) -> PathBuf {
    path.with_added_extension("gz")
}

/// Whether a path names a packed file: its extension is `gz`.
pub(in crate::study) fn is_packed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "gz")
}

/// The path at which a file is stored: the packed path if only the packed form exists, and otherwise the plain path.
pub(in crate::study) fn existing(path: &Path) -> PathBuf {
    let packed = packed_path(path);
    if !path.exists() && packed.exists() { packed } else { path.to_owned() }
}

/// The writer of a file, plain or packed.
#[derive(Debug)]
pub(super) enum Sink {
    Plain(BufWriter<File>),
    Packed(Packer),
}

impl Sink {
    pub(super) fn new(file: File) -> Self {
        Self::Plain(BufWriter::with_capacity(1 << 16, file))
    }

    pub(super) fn is_packed(&self) -> bool {
        matches!(self, Self::Packed(_))
    }

    /// Appends bytes.
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Plain(file) => file.write_all(bytes),
            Self::Packed(packer) => packer.write(bytes),
        }
    }

    /// Turns a plain file into a packed one: compresses the bytes written so far, and all that will
    /// be written.
    pub(super) fn pack(self) -> io::Result<Self> {
        let Self::Plain(file) = self else { return Ok(self) };
        let mut file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        let mut before = Vec::new();
        file.rewind()?;
        file.read_to_end(&mut before)?;
        file.rewind()?;
        file.set_len(0)?;
        let file = BufWriter::with_capacity(1 << 16, file);
        let mut packer = Packer::new(file);
        before.split_inclusive(|&byte| byte == b'\n').try_for_each(|line| packer.write(line))?;
        Ok(Self::Packed(packer))
    }

    /// Writes everything to disk.
    pub(super) fn sync(&mut self) -> io::Result<()> {
        let file = match self {
            Self::Plain(file) => file,
            Self::Packed(packer) => packer.end()?,
        };
        file.flush()?;
        file.get_ref().sync_all()
    }
}

/// Writes members one after the other. Other threads compress them while the next members are collected.
#[derive(Debug)]
pub(super) struct Packer {
    file: BufWriter<File>,
    /// Complete members that are not in the file yet, in their order in the file, each with the number of bytes of its
    /// contents.
    complete: VecDeque<(usize, Pending<io::Result<Vec<u8>>>)>,
    /// The contents of the member that is being collected.
    member: Vec<u8>,
}

impl Packer {
    fn new(file: BufWriter<File>) -> Self {
        Self { file, complete: VecDeque::new(), member: Vec::new() }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.member.extend_from_slice(bytes);
        if self.member.len() < MEMBER { Ok(()) } else { self.end_member() }
    }

    /// Has the collected member compressed, and writes the oldest members so that the contents of all others have at most
    /// [`PENDING`] bytes per thread, or [`LARGE_MEMBER`] bytes if this is more.
    fn end_member(&mut self) -> io::Result<()> {
        let member = std::mem::take(&mut self.member);
        self.complete.push_back((member.len(), Pending::of(move || compressed(&member))));
        self.write_down_to(if at_once() > 1 { (PENDING * at_once()).max(LARGE_MEMBER) } else { 0 })
    }

    /// Writes the oldest members to the file until the contents of all others have at most `bytes` bytes.
    fn write_down_to(&mut self, bytes: usize) -> io::Result<()> {
        let mut pending: usize = self.complete.iter().map(|(length, _)| length).sum();
        while pending > bytes
            && let Some((length, member)) = self.complete.pop_front()
        {
            self.file.write_all(&member.wait()?)?;
            pending -= length;
        }
        Ok(())
    }

    /// Ends the last member, and writes all members.
    fn end(&mut self) -> io::Result<&mut BufWriter<File>> {
        if !self.member.is_empty() {
            self.end_member()?;
        }
        self.write_down_to(0)?;
        Ok(&mut self.file)
    }
}

/// A member with these contents.
fn compressed(contents: &[u8]) -> io::Result<Vec<u8>> {
    let into = Vec::with_capacity(contents.len() / 4);
    let mut encoder = GzBuilder::new().operating_system(255).write(into, Compression::new(LEVEL));
    encoder.write_all(contents)?;
    encoder.finish()
}

/// A reader that counts the bytes that were taken from it.
#[derive(Debug)]
struct Counted<R> {
    reader: R,
    taken: u64,
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(into)?;
        self.taken += count as u64;
        Ok(count)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.reader.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.reader.consume(count);
        self.taken += count as u64;
    }
}

/// Whether a decoder returns this error for contents that are damaged; other errors are those of the file.
fn is_damage(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    matches!(error.kind(), InvalidData | InvalidInput | UnexpectedEof)
}

/// Reads the members of a packed file one after the other.
#[derive(Debug)]
pub(super) struct Members {
    reader: Counted<BufReader<File>>,
}

impl Members {
    pub(super) fn of(file: File) -> Self {
        Self { reader: Counted { reader: BufReader::with_capacity(1 << 16, file), taken: 0 } }
    }

    /// Replaces `contents` by the decompressed contents of the next member. Returns the byte at which the member begins, and
    /// whether it is undamaged; `None` at the end of the file. If the member is damaged, `contents` is the part of it that
    /// can be read, and the next call continues at the next header.
    pub(super) fn next(&mut self, contents: &mut Vec<u8>) -> io::Result<Option<(u64, bool)>> {
        contents.clear();
        if self.reader.fill_buf()?.is_empty() {
            return Ok(None);
        }
        let begin = self.reader.taken;
        let whole = self.read(begin, contents)?;
        if !whole {
            self.seek_header(begin + 1)?;
        }
        Ok(Some((begin, whole)))
    }

    /// Reads the member that begins at byte `begin`, the reader's current position. Returns whether
    /// it is undamaged.
    fn read(&mut self, begin: u64, contents: &mut Vec<u8>) -> io::Result<bool> {
        let mut decoder = GzDecoder::new(&mut self.reader);
        let mut buffer = vec![0; 1 << 16];
        loop {
            match decoder.read(&mut buffer) {
                Ok(0) => return Ok(true),
                Ok(count) => contents.extend_from_slice(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if is_damage(&error) => return Ok(false),
                Err(error) => return Err(error),
            }
            let packed = decoder.get_ref().taken - begin;
            if contents.len() as u64 > RATIO.0 * packed + RATIO.1 {
                return Ok(false);
            }
        }
    }

    /// Goes to the first header of a member at or after byte `from`, or to the end of the file.
    fn seek_header(&mut self, from: u64) -> io::Result<()> {
        self.go_to(from)?;
        let (mut at, mut last) = (from, [0; HEADER.len()]);
        loop {
            let buffer = self.reader.fill_buf()?;
            let Some(&byte) = buffer.first() else { return Ok(()) };
            last.rotate_left(1);
            last[HEADER.len() - 1] = byte;
            self.reader.consume(1);
            at += 1;
            // Until `last` is full it begins with zeros, and so cannot equal a header, whose first
            // byte is 0x1f.
            let mut unstated = last;
            unstated[8] = HEADER[8];
            if unstated == HEADER {
                return self.go_to(at - HEADER.len() as u64);
            }
        }
    }

    fn go_to(&mut self, place: u64) -> io::Result<()> {
        self.reader.reader.seek(SeekFrom::Start(place))?;
        self.reader.taken = place;
        Ok(())
    }

    /// Replaces `contents` by the decompressed contents of the member that begins at byte `place`; if it is damaged,
    /// by the part of it that can be read.
    pub(super) fn at(&mut self, place: u64, contents: &mut Vec<u8>) -> io::Result<()> {
        contents.clear();
        self.go_to(place)?;
        self.read(place, contents).map(drop)
    }
}

/// Calls `take` with the decompressed contents of each member of a packed file, in order.
///
/// # Errors
/// If the file cannot be read or is damaged; the error for damage is of the kind [`io::ErrorKind::InvalidData`].
pub(super) fn each(file: File, take: &mut dyn FnMut(&[u8])) -> io::Result<()> {
    let (mut members, mut contents) = (Members::of(file), Vec::new());
    while let Some((_, whole)) = members.next(&mut contents)? {
        if !whole {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "not a gzip file, or a damaged one"));
        }
        take(&contents);
    }
    Ok(())
}

/// The decompressed contents of a packed file.
///
/// # Errors
/// If the file cannot be read or is damaged; the error for damage is of the kind [`io::ErrorKind::InvalidData`].
pub(super) fn unpacked(file: File) -> io::Result<Vec<u8>> {
    let mut all = Vec::new();
    each(file, &mut |contents| all.extend_from_slice(contents))?;
    Ok(all)
}

#[cfg(test)]
mod tests;
