//! The tasks of one process. A task is resumed when an event that it waits for has happened; tasks are resumed in the order
//! of these events.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Wake, Waker};

/// The future of one task.
pub(super) type Work = Pin<Box<dyn Future<Output = ()>>>;

/// The numbers of the tasks that are ready, each once, in the order in which they became ready. The mutex is needed because
/// a `Waker` must be `Send` and `Sync`; there is only one thread.
type Ready = Arc<Mutex<VecDeque<u64>>>;

struct TaskWaker {
    task: u64,
    queued: AtomicBool,
    ready: Ready,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.queued.swap(true, Ordering::Relaxed) {
            self.ready.lock().unwrap_or_else(PoisonError::into_inner).push_back(self.task);
        }
    }
}

struct Task {
    work: Work,
    notice: Arc<TaskWaker>,
    waker: Waker,
}

/// The unfinished tasks, and which of them are ready.
#[derive(Default)]
pub(super) struct Tasks {
    tasks: BTreeMap<u64, Task>,
    next: u64,
    ready: Ready,
}

impl fmt::Debug for Tasks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tasks").field("unfinished", &self.tasks.len()).finish_non_exhaustive()
    }
}

impl Tasks {
    /// Adds a task, which begins after the tasks that are ready already.
    pub(super) fn add(&mut self, work: Work) {
        let ready = Arc::clone(&self.ready);
        let notice = Arc::new(TaskWaker { task: self.next, queued: AtomicBool::new(false), ready });
        notice.wake_by_ref();
        self.tasks.insert(self.next, Task { work, waker: Arc::clone(&notice).into(), notice });
        self.next += 1;
    }

    /// Polls the first ready task; false if none is ready.
    pub(super) fn poll_next(&mut self) -> bool {
        let first = self.ready.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let Some(id) = first else { return false };
        // The task may have ended since it was woken.
        if let Some(task) = self.tasks.get_mut(&id) {
            task.notice.queued.store(false, Ordering::Relaxed);
            if task.work.as_mut().poll(&mut Context::from_waker(&task.waker)).is_ready() {
                self.tasks.remove(&id);
            }
        }
        true
    }
}
