//! Reads the lines of a file of records, plain or packed: one after the other, or by their places.
//!
//! A packed file is a sequence of gzip members, each of which is decompressed on its own ([`super::packed`]).

use crate::study::disk::files::regular;
use crate::study::disk::packed::{Members, is_packed};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

/// The position of a line in a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinePlace {
    /// Byte at which the line begins in a plain file; in a packed file, byte at which the member that contains the line
    /// begins.
    offset: u64,
    /// Byte at which the line begins in the decompressed contents of its member; 0 in a plain file.
    within: u32,
    /// Number of bytes of the line, with the newline if the line has one.
    pub(super) length: u32,
}

/// Reads the lines of a file one after the other.
#[derive(Debug)]
pub(super) enum LineReader {
    Plain {
        reader: BufReader<File>,
        offset: u64,
    },
    /// `member` has the decompressed contents of the current member, which begins at byte `begin` of the file; the next
    /// line begins at byte `at` of these contents. `whole` is false if the member is damaged.
    Packed {
        members: Members,
        member: Vec<u8>,
        begin: u64,
        at: usize,
        whole: bool,
    },
}

impl LineReader {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = regular(path).and_then(|()| File::open(path))?;
        Ok(if is_packed(path) {
            Self::Packed { members: Members::of(file), member: Vec::new(), begin: 0, at: 0, whole: true }
        } else {
            Self::Plain { reader: BufReader::with_capacity(1 << 16, file), offset: 0 }
        })
    }

    /// Replaces `line` by the next line, with its newline if it has one, and returns its place; `None` at the end. In a
    /// packed file, the whole lines that can be read of a damaged member are followed by one empty line without a newline.
    pub(super) fn next(&mut self, line: &mut Vec<u8>) -> io::Result<Option<LinePlace>> {
        line.clear();
        match self {
            Self::Plain { reader, offset } => {
                let length = reader.read_until(b'\n', line)?;
                let place = LinePlace { offset: *offset, within: 0, length: length as u32 };
                *offset += length as u64;
                Ok((length > 0).then_some(place))
            }
            Self::Packed { members, member, begin, at, whole } => loop {
                let rest = &member[*at..];
                let end = rest.iter().position(|&byte| byte == b'\n').map(|end| end + 1);
                if let Some(length) = end.or((*whole && !rest.is_empty()).then_some(rest.len())) {
                    line.extend_from_slice(&rest[..length]);
                    let place = LinePlace { offset: *begin, within: *at as u32, length: length as u32 };
                    *at += length;
                    return Ok(Some(place));
                }
                if !std::mem::replace(whole, true) {
                    member.clear();
                    *at = 0;
                    return Ok(Some(LinePlace { offset: *begin, within: 0, length: 0 }));
                }
                *at = 0;
                let Some(next) = members.next(member)? else { return Ok(None) };
                (*begin, *whole) = next;
            },
        }
    }

    /// The next lines, as [`LineReader::next`] returns them. Lines are read until they have at least `bytes` bytes
    /// together, or until the file ends. Each line counts one byte more than its length.
    pub(super) fn several(&mut self, bytes: u64) -> io::Result<Vec<(Vec<u8>, LinePlace)>> {
        let (mut lines, mut read) = (Vec::new(), 0);
        while read < bytes {
            let mut line = Vec::new();
            let Some(place) = self.next(&mut line)? else { break };
            // An empty line, which stands for the rest of a damaged member, takes memory too.
            read += 1 + line.len() as u64;
            lines.push((line, place));
        }
        Ok(lines)
    }
}

/// Reads lines by their places.
#[derive(Debug)]
pub(super) enum PlacedLines {
    Plain(File),
    /// Keeps the contents of the member that was read last, since lines are requested nearly in
    /// their order.
    Packed {
        members: Members,
        last: Option<u64>,
        member: Vec<u8>,
    },
}

impl PlacedLines {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = regular(path).and_then(|()| File::open(path))?;
        Ok(if is_packed(path) {
            Self::Packed { members: Members::of(file), last: None, member: Vec::new() }
        } else {
            Self::Plain(file)
        })
    }

    pub(super) fn read(&mut self, place: LinePlace) -> io::Result<Vec<u8>> {
        let mut line = vec![0; place.length as usize];
        match self {
            Self::Plain(file) => {
                file.seek(SeekFrom::Start(place.offset))?;
                file.read_exact(&mut line)?;
            }
            Self::Packed { members, last, member } => {
                if *last != Some(place.offset) {
                    *last = None;
                    members.at(place.offset, member)?;
                    *last = Some(place.offset);
                }
                let begin = place.within as usize;
                let there = member.get(begin..begin + line.len());
                line.copy_from_slice(there.ok_or(io::ErrorKind::UnexpectedEof)?);
            }
        }
        Ok(line)
    }
}

/// The first line of a file, without its newline; `None` if the file cannot be read or has no line, or if the line does not
/// end with a newline.
pub(super) fn first_line(path: &Path) -> Option<Vec<u8>> {
    let mut line = Vec::new();
    LineReader::open(path).ok()?.next(&mut line).ok()??;
    (line.pop() == Some(b'\n')).then_some(line)
}
