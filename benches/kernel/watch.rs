//! Time on the processor.

use cpu_time::ThreadTime;

/// Measures time on the processor of this thread, to the nanosecond, so that other programs do not count.
#[derive(Debug)]
pub struct Watch {
    begin: ThreadTime,
}

impl Watch {
    pub fn start() -> Self {
        Self { begin: ThreadTime::now() }
    }

    pub fn seconds(&self) -> f64 {
        self.begin.elapsed().as_secs_f64()
    }
}
