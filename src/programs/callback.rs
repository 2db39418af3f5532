//! Programs within this process: what a host of the library, such as the Python module, answers by callback. A scenario
//! names one by the command `["callback", NAME]`; all else is as with a program of the user's own, kept answers included.

use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};
use thiserror::Error;

/// The first word of a command that names a callback.
pub(super) const WORD: &str = "callback";

/// Why a callback gave no answer: what its language says, such as a traceback.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct Raised(pub String);

/// A callback: begun once for each dialogue, on the thread that plays the replication.
pub trait Callback: fmt::Debug + Send + Sync {
    /// What it is, in one line of at most 200 letters that changes whenever its answers may.
    fn version(&self) -> String;

    /// Begins a dialogue. The first question is `begin`, as `docs/external.md` has it.
    ///
    /// # Errors
    /// [`Raised`].
    fn begin(&self) -> Result<Box<dyn Respondent>, Raised>;
}

/// A callback in a dialogue.
pub trait Respondent: Send {
    /// Answers a question: its kind and fields as in `docs/external.md`, without `id`.
    ///
    /// # Errors
    /// [`Raised`].
    fn answer(&mut self, ask: &str, fields: &Map<String, Value>) -> Result<Map<String, Value>, Raised>;
}

/// A name that another callback of this process has.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "this process offers another callback `{0}` at this moment: wait for its run to end, or choose another name"
)]
pub struct NameInUse(pub String);

static OFFERED: Mutex<BTreeMap<String, Arc<dyn Callback>>> = Mutex::new(BTreeMap::new());

/// A callback that scenarios of this process may name for as long as this lives.
#[derive(Debug)]
#[must_use = "the callback is withdrawn when this is dropped"]
pub struct Offered {
    name: String,
}

/// Offers a callback to scenarios of this process, as `External(command: ["callback", NAME])`.
///
/// # Errors
/// [`NameInUse`].
pub fn offer(name: &str, callback: Arc<dyn Callback>) -> Result<Offered, NameInUse> {
    let mut offered = lock();
    if offered.contains_key(name) {
        return Err(NameInUse(name.to_owned()));
    }
    offered.insert(name.to_owned(), callback);
    Ok(Offered { name: name.to_owned() })
}

impl Drop for Offered {
    fn drop(&mut self) {
        drop(lock().remove(&self.name));
    }
}

/// The callback of a name, if it is offered.
pub(super) fn find(name: &str) -> Option<Arc<dyn Callback>> {
    lock().get(name).cloned()
}

/// The names that are offered.
pub(super) fn names() -> Vec<String> {
    lock().keys().cloned().collect()
}

fn lock() -> MutexGuard<'static, BTreeMap<String, Arc<dyn Callback>>> {
    OFFERED.lock().expect("no holder of this lock panics")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Silent;
    impl Callback for Silent {
        fn version(&self) -> String {
            "silent 1".to_owned()
        }
        fn begin(&self) -> Result<Box<dyn Respondent>, Raised> {
            Err(Raised("says nothing".to_owned()))
        }
    }

    #[test]
    fn a_callback_is_offered_once_and_for_as_long_as_its_run() {
        let one = offer("callback test", Arc::new(Silent)).unwrap();
        assert_eq!(
            offer("callback test", Arc::new(Silent)).unwrap_err(),
            NameInUse("callback test".to_owned())
        );
        assert_eq!(find("callback test").map(|found| found.version()), Some("silent 1".to_owned()));
        drop(one);
        assert!(find("callback test").is_none());
        drop(offer("callback test", Arc::new(Silent)).unwrap());
    }
}
