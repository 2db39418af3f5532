//! Switches of mutants: this file is added to the library that is mutated.
//!
//! `SUBROSA_MUTANT=N` switches mutant N on. `SUBROSA_MUTANT_REACH=FILE` switches none on and notes in byte N of FILE, which
//! is shared by all processes of a test, that the code of mutant N was run (1) and that its value can differ there (2).

#![allow(missing_docs, unsafe_code)]

use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicPtr, AtomicU8, AtomicU32, Ordering::Relaxed};

/// No mutant has this number or a greater one.
const LAST: u32 = u32::MAX - 2;
const RECORD: u32 = u32::MAX - 1;
const UNREAD: u32 = u32::MAX;

static ACTIVE: AtomicU32 = AtomicU32::new(UNREAD);
static NOTES: AtomicPtr<AtomicU8> = AtomicPtr::new(std::ptr::null_mut());

/// Whether mutant `n` is switched on.
#[inline(always)]
pub fn is(n: u32) -> bool {
    let active = ACTIVE.load(Relaxed);
    active == n || (active >= LAST && note(n, 3))
}

/// The value of mutant `n` if it is switched on, and `ordinary` otherwise. Neither computation has an effect.
#[inline(always)]
pub fn pick(n: u32, mutated: impl FnOnce() -> bool, ordinary: bool) -> bool {
    let active = ACTIVE.load(Relaxed);
    if active < LAST {
        return if active == n { mutated() } else { ordinary };
    }
    let mutated = mutated();
    if note(n, if mutated == ordinary { 1 } else { 3 }) { mutated } else { ordinary }
}

#[cold]
#[inline(never)]
fn note(n: u32, bits: u8) -> bool {
    if ACTIVE.load(Relaxed) == UNREAD {
        read();
    }
    if ACTIVE.load(Relaxed) == RECORD {
        // SAFETY: `read` has mapped as many bytes as the file has, one per mutant and one more.
        unsafe { &*NOTES.load(Relaxed).add(n as usize) }.fetch_or(bits, Relaxed);
    }
    ACTIVE.load(Relaxed) == n
}

unsafe extern "C" {
    fn mmap(at: *mut u8, length: usize, protection: i32, flags: i32, file: i32, offset: i64) -> *mut u8;
}

fn read() {
    if let Some(number) = std::env::var("SUBROSA_MUTANT").ok().and_then(|text| text.parse().ok()) {
        return ACTIVE.store(number, Relaxed);
    }
    let path = std::env::var_os("SUBROSA_MUTANT_REACH");
    let file = path.and_then(|path| std::fs::File::options().read(true).write(true).open(path).ok());
    let Some(file) = file else { return ACTIVE.store(0, Relaxed) };
    let length = file.metadata().map_or(0, |data| data.len() as usize);
    // SAFETY: a new shared mapping (flag 1) to read and write (1 | 2) aliases nothing.
    let notes = unsafe { mmap(std::ptr::null_mut(), length, 3, 1, file.as_raw_fd(), 0) };
    assert!(notes.addr() != usize::MAX, "the notes cannot be mapped");
    NOTES.store(notes.cast(), Relaxed);
    ACTIVE.store(RECORD, Relaxed);
}
