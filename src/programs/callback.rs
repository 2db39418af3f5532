//! Callbacks: code of this process, such as a Python class, that answers questions in place of an external program.
//!
//! A scenario names a callback by the command `["callback", NAME]`. Answers are stored like those of a program.

use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};
use thiserror::Error;

/// The first word of a command that names a callback.
pub(super) const WORD: &str = "callback";

/// The error of a callback, as the callback's language prints it, such as a traceback.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct CallbackError(pub String);

/// A callback that answers the questions of dialogues.
///
/// A dialogue is a sequence of questions to one program or callback, such as the questions to one learner in one
/// replication. A dialogue with a callback calls [`Self::begin`] before the first question for which no answer is stored. If
/// stored answers follow, the dialogue calls [`Self::begin`] again before the next question for which no answer is stored.
/// The calls of a dialogue are made on the thread that plays the replication. An objective on a finite set of arms is asked
/// before the replications that use it are played, on the thread that prepares the objective. [`Self::version`] is called
/// before each call of [`Self::begin`], and also before the replications are run, on the thread that starts the
/// replications.
pub trait Callback: fmt::Debug + Send + Sync {
    /// The version: one line of 1 to 200 characters, which must change whenever the answers may change.
    fn version(&self) -> String;

    /// Begins a dialogue. The first question is `begin`; `docs/external.md` lists its fields.
    ///
    /// # Errors
    /// [`CallbackError`] if the callback fails.
    fn begin(&self) -> Result<Box<dyn CallbackSession>, CallbackError>;
}

/// The part of a callback that answers the questions of one dialogue.
pub trait CallbackSession: Send {
    /// Answers a question. `ask` is the kind of the question, and `fields` are its fields without `id`, as in
    /// `docs/external.md`.
    ///
    /// # Errors
    /// [`CallbackError`] if the callback fails.
    fn answer(&mut self, ask: &str, fields: &Map<String, Value>)
    -> Result<Map<String, Value>, CallbackError>;
}

/// The error for a name under which this process already offers a callback.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "this process offers another callback `{0}` at this moment: wait for its run to end, or choose another name"
)]
pub struct NameInUse(pub String);

static OFFERED: Mutex<BTreeMap<String, Arc<dyn Callback>>> = Mutex::new(BTreeMap::new());

/// The registration of a callback: scenarios of this process may name the callback until this value is dropped.
#[derive(Debug)]
#[must_use = "the callback is withdrawn when this is dropped"]
pub struct CallbackRegistration {
    name: String,
}

/// Offers a callback to scenarios of this process, as `External(command: ["callback", NAME])`.
///
/// # Errors
/// [`NameInUse`] if this process already offers a callback under that name.
pub fn offer(name: &str, callback: Arc<dyn Callback>) -> Result<CallbackRegistration, NameInUse> {
    let mut offered = lock();
    if offered.contains_key(name) {
        return Err(NameInUse(name.to_owned()));
    }
    offered.insert(name.to_owned(), callback);
    Ok(CallbackRegistration { name: name.to_owned() })
}

impl Drop for CallbackRegistration {
    fn drop(&mut self) {
        // The lock is released before the callback is dropped: dropping the callback may take the lock again.
        let withdrawn = lock().remove(&self.name);
        drop(withdrawn);
    }
}

/// The callback that is offered under a name, if there is one.
pub(super) fn find(name: &str) -> Option<Arc<dyn Callback>> {
    lock().get(name).cloned()
}

/// The names of all callbacks that are offered.
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
        fn begin(&self) -> Result<Box<dyn CallbackSession>, CallbackError> {
            Err(CallbackError("says nothing".to_owned()))
        }
    }

    #[test]
    fn a_callback_is_offered_once_and_until_its_registration_is_dropped() {
        let one = offer("callback test", Arc::new(Silent)).unwrap();
        assert_eq!(
            offer("callback test", Arc::new(Silent)).unwrap_err(),
            NameInUse("callback test".to_owned())
        );
        assert_eq!(find("callback test").map(|found| found.version()), Some("silent 1".to_owned()));
        drop(one);
        assert!(find("callback test").is_none());
        // A callback may own the registration of another callback; that registration ends when the owner is dropped.
        #[derive(Debug)]
        struct Holds(Option<CallbackRegistration>);
        impl Callback for Holds {
            fn version(&self) -> String {
                "holds 1".to_owned()
            }
            fn begin(&self) -> Result<Box<dyn CallbackSession>, CallbackError> {
                Err(CallbackError(format!("{:?}", self.0)))
            }
        }
        let inner = offer("inner callback", Arc::new(Silent)).unwrap();
        drop(offer("outer callback", Arc::new(Holds(Some(inner)))).unwrap());
        assert!(find("inner callback").is_none());
        drop(offer("callback test", Arc::new(Silent)).unwrap());
    }
}
