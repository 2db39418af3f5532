//! Tests of packed files: their bytes, the places of lines, and damage.

use super::*;
use crate::study::disk::files::{DifferingFiles, Staged, read_packed_if_there};
use crate::study::disk::record_lines::{LineReader, PlacedLines, first_line};
use crate::vocab::in_pool;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use std::collections::BTreeSet;
use std::fs;

fn line(index: usize) -> String {
    // The lines have various lengths, and no two of them are equal.
    let hash = blake3::hash(&index.to_le_bytes()).to_hex();
    format!("{index} {}\n", &hash.as_str()[..1 + index % 60].repeat(1 + index % 7))
}

fn staged(path: &Path, lines: usize) -> Staged {
    let mut staged = Staged::new(path).unwrap().packing();
    (0..lines).for_each(|index| staged.write(line(index).as_bytes()).unwrap());
    staged
}

/// A file with more lines than one member holds. It is packed although it is smaller than [`PACKED_ABOVE`].
fn packed(place: &Path) -> (PathBuf, Vec<String>) {
    let path = place.join("records.jsonl.gz");
    let mut sink = Sink::new(File::create_new(&path).unwrap()).pack().unwrap();
    let lines: Vec<String> = (0..12_000).map(line).collect();
    lines.iter().for_each(|line| sink.write(line.as_bytes()).unwrap());
    sink.sync().unwrap();
    (path, lines)
}

#[test]
fn a_large_file_is_packed_and_a_small_one_takes_its_place_again() {
    let place = tempfile::TempDir::new().unwrap();
    let path = place.path().join("table.csv");
    let many = 60_000;
    let text: String = (0..many).map(line).collect();
    assert!(text.len() as u64 > PACKED_ABOVE);
    staged(&path, many).commit().unwrap();
    let there = || {
        let mut names: Vec<_> =
            fs::read_dir(place.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(there(), ["table.csv.gz"]);
    let mut found = String::new();
    MultiGzDecoder::new(File::open(packed_path(&path)).unwrap()).read_to_string(&mut found).unwrap();
    assert!(found == text, "any program that reads gzip reads it");
    assert!(read_packed_if_there(&path).unwrap().unwrap() == text);
    assert!(fs::metadata(packed_path(&path)).unwrap().len() < text.len() as u64 / 2);
    // A file that already has the contents to be written is left as it is, whether it is plain or packed.
    let unlike = DifferingFiles::default();
    let compared = |lines: usize| {
        let mut staged = Staged::compared(&path, unlike.clone()).packing();
        (0..lines).for_each(|index| staged.write(line(index).as_bytes()).unwrap());
        staged.commit().unwrap();
        std::mem::take(&mut *unlike.lock().unwrap())
    };
    assert!(compared(many).is_empty());
    assert_eq!(compared(many - 1), [packed_path(&path)]);
    fs::remove_file(packed_path(&path)).unwrap();
    fs::write(&path, &text).unwrap();
    staged(&path, many).commit().unwrap();
    assert_eq!(
        there(),
        ["table.csv"],
        "a plain file with the same contents, as older versions wrote it, stays"
    );
    staged(&path, many + 1).commit().unwrap();
    assert_eq!(there(), ["table.csv.gz"]);
    staged(&path, 3).commit().unwrap();
    assert_eq!(there(), ["table.csv"]);
}

#[test]
fn the_bytes_do_not_depend_on_the_number_of_threads() {
    let bytes = |threads: usize| {
        let place = tempfile::TempDir::new().unwrap();
        in_pool(threads, || fs::read(packed(place.path()).0).unwrap())
    };
    // Lines that are members of their own, some of them longer than all that may wait.
    let text: String = (0..100_000).map(line).collect();
    let long = |threads: usize| {
        let place = tempfile::TempDir::new().unwrap();
        let path = place.path().join("long.gz");
        in_pool(threads, || {
            let mut sink = Sink::new(File::create_new(&path).unwrap()).pack().unwrap();
            for length in [300_000, 6_000_000, 20, 700_000, 5_000_000] {
                sink.write(&text.as_bytes()[..length]).unwrap();
            }
            sink.sync().unwrap();
        });
        fs::read(&path).unwrap()
    };
    assert!(long(1) == long(2));
    assert!(bytes(1) == bytes(2));
    // Outside of a pool.
    let alone = tempfile::TempDir::new().unwrap();
    assert!(bytes(1) == fs::read(packed(alone.path()).0).unwrap());
}

#[test]
fn lines_are_found_by_their_places() {
    let place = tempfile::TempDir::new().unwrap();
    let (path, lines) = packed(place.path());
    let (mut reader, mut buffer, mut places) = (LineReader::open(&path).unwrap(), Vec::new(), Vec::new());
    while let Some(place) = reader.next(&mut buffer).unwrap() {
        assert_eq!(buffer, lines[places.len()].as_bytes());
        places.push(place);
    }
    assert_eq!(places.len(), lines.len());
    assert!(reader.next(&mut buffer).unwrap().is_none(), "the end stays the end");
    let mut reader = LineReader::open(&path).unwrap();
    let several: Vec<Vec<u8>> =
        std::iter::from_fn(|| Some(reader.several(100_000).unwrap()).filter(|some| !some.is_empty()))
            .flatten()
            .map(|(line, _)| line)
            .collect();
    assert!(several.iter().map(Vec::as_slice).eq(lines.iter().map(String::as_bytes)));
    assert!(reader.several(1).unwrap().is_empty());
    let mut placed = PlacedLines::open(&path).unwrap();
    for index in (0..lines.len()).rev().step_by(977) {
        assert_eq!(placed.read(places[index]).unwrap(), lines[index].as_bytes());
    }
    assert_eq!(first_line(&path).unwrap(), lines[0].trim_end().as_bytes());
}

/// A flipped bit damages only its own member, and a truncated file lacks its last lines. Either
/// damage is reported as an empty line.
#[test]
fn damage_does_not_spread_to_other_members() {
    let place = tempfile::TempDir::new().unwrap();
    let (path, lines) = packed(place.path());
    let whole = fs::read(&path).unwrap();
    let members = whole.windows(8).filter(|window| *window == &HEADER[..8]).count();
    assert!(members > 4, "{members} members");
    let read = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        let (mut reader, mut buffer, mut found) = (LineReader::open(&path).unwrap(), Vec::new(), Vec::new());
        while reader.next(&mut buffer).unwrap().is_some() {
            found.push(String::from_utf8_lossy(&buffer).into_owned());
        }
        found
    };
    let known: BTreeSet<&str> = lines.iter().map(String::as_str).collect();
    for place in (11..whole.len()).step_by(whole.len() / 23) {
        let mut damaged = whole.clone();
        damaged[place] ^= 4;
        let found = read(&damaged);
        let kept = found.iter().filter(|line| known.contains(line.as_str())).count();
        assert!(kept + 1 + lines.len() / (members - 2) > lines.len(), "{kept} lines kept, damage at {place}");
        assert!(found.iter().any(String::is_empty), "damage at {place} is told");
        let cut = read(&whole[..place]);
        assert_eq!(cut.last().map(String::as_str), Some(""), "cut at {place}");
    }
    assert!(unpacked(File::open(&path).unwrap()).is_err(), "the last cut");
}

#[test]
fn a_small_file_does_not_fill_the_memory() {
    let place = tempfile::TempDir::new().unwrap();
    let path = place.path().join("summary.json.gz");
    let mut encoder = GzEncoder::new(File::create(&path).unwrap(), Compression::best());
    let zeros = vec![0; 1 << 20];
    (0..256).for_each(|_| encoder.write_all(&zeros).unwrap());
    encoder.finish().unwrap();
    assert!(fs::metadata(&path).unwrap().len() < 1 << 20);
    assert!(unpacked(File::open(&path).unwrap()).is_err());
}
