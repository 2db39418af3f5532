//! Contents of files that are read once for all cells of a study.

use serde::Serialize;
use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Largest number of contents that are kept. A few are enough: the cells of a study usually differ in values that do
/// not change how a file is read.
const MOST: usize = 8;

/// The arguments of a function that has read files, as JSON, and what the function returned.
type Entry = (String, Arc<dyn Any + Send + Sync>);

/// The contents of files as objectives read them. While the cells of a study are checked, the contents are kept, so a file
/// that several cells read in the same way is read once. At other times every objective reads its files anew.
#[derive(Clone, Default)]
pub struct KeptFiles(Option<Arc<Mutex<Vec<Entry>>>>);

impl fmt::Debug for KeptFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeptFiles({})", if self.0.is_some() { "kept" } else { "read anew" })
    }
}

impl KeptFiles {
    /// An empty store, which keeps what is read through it until it and its clones are dropped.
    #[must_use]
    pub(crate) fn kept() -> Self {
        Self(Some(Arc::default()))
    }

    /// What an earlier `read` returned for equal `arguments` and the same type `T`, if that is still kept; otherwise what
    /// `read` returns now.
    /// `arguments` must be all that `read` depends on, except for the contents of files. Errors are not kept.
    pub(crate) fn read<T: Any + Send + Sync, E>(
        &self,
        arguments: &impl Serialize,
        read: impl FnOnce() -> Result<T, E>,
    ) -> Result<Arc<T>, E> {
        let Some(kept) = &self.0 else { return read().map(Arc::new) };
        // A path that is not Unicode cannot be written as JSON; such a file is read anew.
        let Ok(arguments) = serde_json::to_string(arguments) else { return read().map(Arc::new) };
        let entries = || kept.lock().unwrap_or_else(PoisonError::into_inner);
        let find = |(known, contents): &Entry| {
            Arc::clone(contents).downcast::<T>().ok().filter(|_| *known == arguments)
        };
        if let Some(known) = entries().iter().find_map(find) {
            return Ok(known);
        }
        let contents = Arc::new(read()?);
        let mut entries = entries();
        if entries.len() == MOST {
            entries.remove(0);
        }
        entries.push((arguments, Arc::<T>::clone(&contents)));
        Ok(contents)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn equal_arguments_read_once_and_only_while_contents_are_kept() {
        let reads = Cell::new(0);
        let read = |files: &KeptFiles, argument: u32| -> u32 {
            let read = || {
                reads.set(reads.get() + 1);
                Ok::<u32, ()>(10 * argument)
            };
            *files.read(&argument, read).unwrap()
        };
        let anew = KeptFiles::default();
        assert_eq!((read(&anew, 1), read(&anew, 1), reads.get()), (10, 10, 2));
        let kept = KeptFiles::kept();
        assert_eq!((read(&kept, 1), read(&kept.clone(), 1), reads.get()), (10, 10, 3));
        assert_eq!((read(&kept, 2), read(&kept, 2), reads.get()), (20, 20, 4));
        // Contents of another type are kept separately, and the oldest contents are dropped if there are more than `MOST`.
        let text: Arc<String> = kept.read(&1, || Ok::<_, ()>("text".to_owned())).unwrap();
        assert_eq!(*text, "text");
        for argument in 3..3 + MOST as u32 {
            assert_eq!(read(&kept, argument), 10 * argument);
        }
        let before = reads.get();
        assert_eq!((read(&kept, 1), reads.get()), (10, before + 1));
    }

    #[test]
    fn a_file_that_cannot_be_read_is_tried_again() {
        let kept = KeptFiles::kept();
        assert_eq!(kept.read(&"file", || Err::<u32, _>("no such file")), Err("no such file"));
        assert_eq!(kept.read(&"file", || Ok::<u32, &str>(1)).map(|number| *number), Ok(1));
    }
}
