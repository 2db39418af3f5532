//! Claims of blocks by workers. A claim is a file that is created atomically, and into which its holder writes heartbeats.
//! If the heartbeats stop, another worker takes over the block; a worker on the holder's machine does so at once if the
//! holder's process has ended.
//!
//! To take over a block, a worker creates the claim with the next number; of several workers that try, one succeeds. The
//! earlier claim is not removed. If its holder was only slow, the holder continues; then the block is computed twice, and
//! the two results are compared.

use crate::study::disk::files::FileError;
use crate::study::disk::folder::RunFolder;
use crate::vocab::process_id;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// A claim on a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Claim {
    pub(super) block: u64,
    /// 0 for the first claim of a block, 1 for the next, and so on.
    pub(super) generation: u64,
}

/// The contents of a claim's file: its holder and the last heartbeat. Every heartbeat has the same length, so that the file
/// can be overwritten in place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Holder {
    pub(super) host: String,
    pub(super) process: u32,
    /// Number of the last heartbeat, as twelve digits.
    pub(super) beat: String,
}

/// This process as the holder of a claim, at the heartbeat with the number `beat`.
pub(super) fn holder(beat: u64) -> Holder {
    Holder { host: host(), process: process_id(), beat: format!("{beat:012}") }
}

fn host() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").ok();
    name.map(|name| name.trim().to_owned())
        .filter(|name| !name.is_empty())
        .or_else(|| std::env::var("HOSTNAME").ok())
        .unwrap_or_else(|| "unknown".to_owned())
}

impl Holder {
    /// Whether the holder was a process of this machine and has ended. A running process of another container with the same
    /// host name may be taken for one that has ended. Its block is then computed twice, and nothing else happens.
    fn has_process_ended(&self) -> bool {
        let processes = std::path::Path::new("/proc/self").exists();
        processes && self.host == host() && !std::path::Path::new(&format!("/proc/{}", self.process)).exists()
    }
}

/// The claims and results of a sweep, as this process last read them.
#[derive(Debug)]
pub(super) struct ClaimTable {
    claims: PathBuf,
    pub(super) results: PathBuf,
    blocks: u64,
    /// The block at which this process begins; workers begin at different blocks, so that they rarely claim the same one.
    start: u64,
    /// Blocks without a claim when the folder was last read.
    free: VecDeque<u64>,
    /// For each claim: the contents of its file, and when this process first read these contents.
    seen: BTreeMap<Claim, (Vec<u8>, Instant)>,
    /// Claims of this process.
    held: BTreeSet<Claim>,
}

/// The next task of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Run the block of this claim.
    Play(Claim),
    /// Every block is finished or claimed; this many blocks are not finished.
    Wait(u64),
    /// All blocks are finished.
    Finished,
}

impl ClaimTable {
    pub(super) fn new(folder: &RunFolder, blocks: u64, start: u64) -> Self {
        let work = folder.file("work");
        Self {
            claims: work.join("claims"),
            results: work.join("results"),
            blocks,
            start,
            free: VecDeque::new(),
            seen: BTreeMap::new(),
            held: BTreeSet::new(),
        }
    }

    fn file(&self, claim: Claim) -> PathBuf {
        self.claims.join(format!("{}.{}", claim.block, claim.generation))
    }

    /// The blocks that have a result.
    pub(super) fn finished(&self) -> Result<BTreeSet<u64>, FileError> {
        let block = |name: &str| name.strip_suffix(".jsonl")?.parse().ok();
        Ok(names(&self.results)?.iter().filter_map(|name| block(name)).collect())
    }

    /// The number of the latest claim of every block that has a claim.
    pub(super) fn latest(&self) -> Result<BTreeMap<u64, u64>, FileError> {
        let mut latest = BTreeMap::new();
        for name in names(&self.claims)? {
            let Some((block, generation)) = name.split_once('.') else { continue };
            let (Ok(block), Ok(generation)) = (block.parse::<u64>(), generation.parse::<u64>()) else {
                continue;
            };
            let known: &mut u64 = latest.entry(block).or_default();
            *known = generation.max(*known);
        }
        Ok(latest)
    }

    /// Number of blocks that are claimed and not finished.
    pub(super) fn claimed(&self) -> Result<u64, FileError> {
        let finished = self.finished()?;
        Ok(self.latest()?.keys().filter(|block| !finished.contains(block)).count() as u64)
    }

    /// The holder of a claim, and the time since its last heartbeat; `None` if the file of the claim cannot be read. This
    /// time is the present time by this machine's clock minus the file's time of modification, or 0 if that is negative.
    pub(super) fn holder(&self, claim: Claim) -> Option<(Holder, Duration)> {
        let path = self.file(claim);
        let holder = serde_json::from_slice(&fs::read(&path).ok()?).ok()?;
        let changed = fs::metadata(&path).ok()?.modified().ok()?;
        Some((holder, changed.elapsed().unwrap_or_default()))
    }

    /// Claims a block, or says why no block can be claimed. A claimed block is taken over if its holder has ended or has
    /// written no heartbeat for `dead_after`.
    pub(super) fn next(&mut self, dead_after: Duration) -> Result<Next, FileError> {
        self.next_at(Instant::now(), dead_after)
    }

    fn next_at(&mut self, now: Instant, dead_after: Duration) -> Result<Next, FileError> {
        while let Some(block) = self.free.pop_front() {
            if let Some(claim) = self.claim(Claim { block, generation: 0 })? {
                return Ok(Next::Play(claim));
            }
        }
        let latest = self.latest()?;
        // Results are read after claims. So a block that is claimed and finished between the two readings counts as
        // finished, not as free.
        let finished = self.finished()?;
        let order = (0..self.blocks).map(|step| (self.start + step) % self.blocks.max(1));
        let open: Vec<u64> = order.filter(|block| !finished.contains(block)).collect();
        self.free = open.iter().copied().filter(|block| !latest.contains_key(block)).collect();
        if !self.free.is_empty() {
            return self.next_at(now, dead_after);
        }
        for &block in &open {
            let Some(&generation) = latest.get(&block) else { continue };
            let claim = Claim { block, generation };
            if !self.held.contains(&claim) && self.is_expired(claim, now, dead_after) {
                let successor = Claim { block, generation: generation + 1 };
                if let Some(claim) = self.claim(successor)? {
                    return Ok(Next::Play(claim));
                }
            }
        }
        Ok(if open.is_empty() { Next::Finished } else { Next::Wait(open.len() as u64) })
    }

    /// Whether the holder of a claim has ended, or has written no heartbeat for `dead_after`. The time is measured by this
    /// process's clock, so the clocks of different machines need not agree.
    fn is_expired(&mut self, claim: Claim, now: Instant, dead_after: Duration) -> bool {
        // The file may be missing because the claim has been released in the meantime.
        let Ok(contents) = fs::read(self.file(claim)) else { return false };
        let gone = serde_json::from_slice(&contents).is_ok_and(|holder: Holder| holder.has_process_ended());
        let (known, since) = self.seen.entry(claim).or_insert_with(|| (contents.clone(), now));
        if *known != contents {
            (*known, *since) = (contents, now);
        }
        gone || now.duration_since(*since) >= dead_after
    }

    fn claim(&mut self, claim: Claim) -> Result<Option<Claim>, FileError> {
        let path = self.file(claim);
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(mut file) => {
                file.write_all(&contents(0)).map_err(|error| FileError { doing: "write", path, error })?;
                self.held.insert(claim);
                Ok(Some(claim))
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(None),
            Err(error) => Err(FileError { doing: "write", path, error }),
        }
    }

    /// Writes a heartbeat for all claims of this process.
    pub(super) fn beat(&self, beat: u64) {
        for &claim in &self.held {
            // An error is ignored: after a missed heartbeat the next one is enough, and a removed file needs no heartbeat.
            if let Ok(mut file) = OpenOptions::new().write(true).open(self.file(claim)) {
                drop(file.write_all(&contents(beat)));
            }
        }
    }

    /// Ends the heartbeats of a claim, because its block is finished.
    pub(super) fn done(&mut self, claim: Claim) {
        self.held.remove(&claim);
    }

    /// Gives up a claim whose block has no result, so that another worker can claim the block.
    pub(super) fn release(&mut self, claim: Claim) {
        self.held.remove(&claim);
        // If the file cannot be removed, the block is taken over later, because the claim's heartbeats stop.
        drop(fs::remove_file(self.file(claim)));
    }
}

fn contents(beat: u64) -> Vec<u8> {
    serde_json::to_vec(&holder(beat)).expect("plain data with text keys")
}

fn names(folder: &std::path::Path) -> Result<Vec<String>, FileError> {
    let fail = |error| FileError { doing: "read", path: folder.to_owned(), error };
    let entries = fs::read_dir(folder).map_err(fail)?;
    entries
        .filter_map(|entry| match entry {
            Ok(entry) => entry.file_name().into_string().ok().map(Ok),
            Err(error) => Some(Err(fail(error))),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claims(place: &std::path::Path, blocks: u64, start: u64) -> ClaimTable {
        let folder = RunFolder::at(place);
        for name in ["claims", "results"] {
            fs::create_dir_all(folder.file("work").join(name)).unwrap();
        }
        ClaimTable::new(&folder, blocks, start)
    }

    #[test]
    fn each_block_is_claimed_by_one_of_two_workers() {
        let place = tempfile::TempDir::new().unwrap();
        let (mut one, mut two) = (claims(place.path(), 5, 0), claims(place.path(), 5, 2));
        let long = Duration::from_secs(1000);
        let mut taken = Vec::new();
        for turn in 0..5 {
            let claims = if turn % 2 == 0 { &mut one } else { &mut two };
            match claims.next(long).unwrap() {
                Next::Play(claim) => taken.push(claim.block),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(taken[1], 2, "the second begins elsewhere");
        taken.sort_unstable();
        assert_eq!(taken, [0, 1, 2, 3, 4]);
        assert_eq!(one.next(long).unwrap(), Next::Wait(5));
        for block in 0..5 {
            fs::write(one.results.join(format!("{block}.jsonl")), "").unwrap();
        }
        assert_eq!(two.next(long).unwrap(), Next::Finished);
    }

    #[test]
    fn only_a_claim_without_heartbeats_is_taken_over_and_only_once() {
        let place = tempfile::TempDir::new().unwrap();
        let mut first = claims(place.path(), 1, 0);
        let (begin, second) = (Instant::now(), Duration::from_secs(1));
        let dead_after = second * 60;
        assert_eq!(first.next(dead_after).unwrap(), Next::Play(Claim { block: 0, generation: 0 }));
        let (mut one, mut two) = (claims(place.path(), 1, 0), claims(place.path(), 1, 0));
        for beat in 1..5 {
            let now = begin + second * 50 * beat;
            assert_eq!(one.next_at(now, dead_after).unwrap(), Next::Wait(1));
            first.beat(u64::from(beat));
        }
        let now = begin + second * 250;
        assert_eq!(one.next_at(now, dead_after).unwrap(), Next::Wait(1), "its last heartbeat is recent");
        assert_eq!(two.next_at(now, dead_after).unwrap(), Next::Wait(1));
        assert_eq!(one.next_at(now + second * 59, dead_after).unwrap(), Next::Wait(1));
        let now = now + second * 60;
        assert_eq!(one.next_at(now, dead_after).unwrap(), Next::Play(Claim { block: 0, generation: 1 }));
        assert_eq!(two.next_at(now, dead_after).unwrap(), Next::Wait(1), "the new claim has just begun");
        one.release(Claim { block: 0, generation: 1 });
        assert_eq!(two.next_at(now, dead_after).unwrap(), Next::Play(Claim { block: 0, generation: 1 }));
    }

    #[test]
    fn the_claim_of_a_process_that_has_ended_expires_at_once() {
        if !std::path::Path::new("/proc/self").exists() {
            return;
        }
        let place = tempfile::TempDir::new().unwrap();
        let mut claims = claims(place.path(), 1, 0);
        // Above the largest process id of Linux.
        let gone = Holder { process: 4_194_305, ..holder(7) };
        fs::write(claims.file(Claim { block: 0, generation: 0 }), serde_json::to_vec(&gone).unwrap())
            .unwrap();
        let next = claims.next(Duration::from_secs(1000)).unwrap();
        assert_eq!(next, Next::Play(Claim { block: 0, generation: 1 }));
    }
}
