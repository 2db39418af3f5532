//! Paths that lead to a device or a pipe.

use std::path::Path;

/// Whether a path leads to a device or a pipe: to something that exists and is neither a regular file nor a folder. Reading
/// it may never end, it cannot be read twice, and a file must not be put in its place.
#[must_use]
pub fn is_device_or_pipe(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir())
}
