//! Time on the processor.

use std::time::Instant;

/// Measures time on the processor where the system tells it (Linux), so that other programs do not count; else time.
#[derive(Debug)]
pub struct Watch {
    cpu: Option<u64>,
    clock: Instant,
}

impl Watch {
    pub fn start() -> Self {
        Self { cpu: Self::cpu(), clock: Instant::now() }
    }

    /// Nanoseconds that this thread has run.
    fn cpu() -> Option<u64> {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        text.split_whitespace().next()?.parse().ok()
    }

    pub fn seconds(&self) -> f64 {
        match (self.cpu, Self::cpu()) {
            (Some(begin), Some(end)) if end > begin => (end - begin) as f64 / 1e9,
            _ => self.clock.elapsed().as_secs_f64(),
        }
    }
}
