//! An allocator that counts: bytes in use, most bytes in use, and allocations by thread.

#![allow(dead_code, reason = "no target asks for every count")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// Bytes in use.
pub fn now() -> usize {
    NOW.load(Ordering::Relaxed)
}

/// Most bytes in use at any time since the last call of [`forget_most`].
pub fn most() -> usize {
    MOST.load(Ordering::Relaxed)
}

/// Lets [`most`] begin anew.
pub fn forget_most() {
    MOST.store(now(), Ordering::Relaxed);
}

/// Allocations of this thread so far, those that make a piece larger among them.
pub fn allocations() -> u64 {
    ALLOCATIONS.get()
}

fn grow(bytes: usize) {
    let now = NOW.fetch_add(bytes, Ordering::Relaxed) + bytes;
    MOST.fetch_max(now, Ordering::Relaxed);
    ALLOCATIONS.set(ALLOCATIONS.get() + 1);
}

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Old and new may stand side by side.
        grow(size);
        // SAFETY: the caller's promise is passed on.
        let moved = unsafe { System.realloc(pointer, layout, size) };
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        moved
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;
