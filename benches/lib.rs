//! The benchmarks are the targets of this package; it has no library of its own.
