//! Runs some tests of one program in a process with limits.

use crate::build::Binary;
use std::io::{BufRead, BufReader};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// Bytes of address space of a process.
const MEMORY: u64 = 4 << 30;

/// How a process ended.
#[derive(Debug, PartialEq)]
pub enum End {
    Passed,
    /// The test that failed, or the one that ran when the process died.
    Failed(String),
    /// The test that ran when the limit of time was reached.
    Limit(String),
}

/// Runs the tests, one after another, until one fails. Also returns the seconds of processor time.
pub fn run(
    binary: &Binary,
    tests: &[&str],
    variable: (&str, &str),
    limit: f64,
) -> Result<(End, f64), String> {
    let seconds = limit.ceil() as u64;
    let mut command = Command::new(&binary.path);
    command.args(["--exact", "--test-threads=1"]).args(tests).current_dir(&binary.package);
    command
        .env("CARGO_MANIFEST_DIR", &binary.package)
        .env("SUBROSA_EXAMPLES_BUILT", "1")
        .env(variable.0, variable.1);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
    let limits = [(libc::RLIMIT_CPU, seconds), (libc::RLIMIT_AS, MEMORY), (libc::RLIMIT_CORE, 0)];
    // SAFETY: between fork and exec, only setrlimit is called, which allocates nothing.
    unsafe {
        command.pre_exec(move || {
            for (resource, value) in limits {
                let limit = libc::rlimit { rlim_cur: value, rlim_max: value + 1 };
                if libc::setrlimit(resource, &limit) != 0 {
                    return Err(std::io::Error::last_os_error());
                }
            }
            Ok(())
        })
    };
    let mut child = command.spawn().map_err(|error| format!("{}: {error}", binary.path.display()))?;
    let group = -(child.id() as i32);
    // A process that waits for ever uses no processor time.
    let (done, ended) = mpsc::channel::<()>();
    let patience = Duration::from_secs(60 + 15 * seconds);
    let watch = std::thread::spawn(move || {
        let late = ended.recv_timeout(patience) == Err(mpsc::RecvTimeoutError::Timeout);
        if late {
            kill(group);
        }
        late
    });
    let (mut failed, mut finished) = (None, 0);
    for line in BufReader::new(child.stdout.take().ok_or("no output")?).lines() {
        let Ok(line) = line else { continue };
        let Some(result) = line.strip_prefix("test ").and_then(|line| line.rsplit_once(" ... ")) else {
            continue;
        };
        finished += 1;
        if result.1 == "FAILED" {
            failed = Some(result.0.trim_end_matches(" - should panic").to_owned());
            break;
        }
    }
    if failed.is_some() {
        kill(group);
    }
    let (status, used) = wait(child.id())?;
    kill(group);
    drop(done);
    let late = watch.join().unwrap_or(false);
    // libtest runs tests in alphabetical order.
    let mut order = tests.to_vec();
    order.sort_unstable();
    let running = || order.get(finished).or(order.last()).map_or_else(String::new, |name| (*name).to_owned());
    let end = match failed {
        Some(test) => End::Failed(test),
        None if late || [Some(libc::SIGXCPU), Some(libc::SIGKILL)].contains(&status.signal()) => {
            End::Limit(running())
        }
        None if status.success() => End::Passed,
        None => End::Failed(running()),
    };
    Ok((end, used))
}

fn kill(group: i32) {
    // SAFETY: a signal to the group of processes that was started above.
    unsafe { libc::kill(group, libc::SIGKILL) };
}

/// Waits for the process, and returns the processor time of it and of what it waited for.
fn wait(id: u32) -> Result<(ExitStatus, f64), String> {
    let (mut status, mut usage) = (0, unsafe { std::mem::zeroed::<libc::rusage>() });
    // SAFETY: both places are valid; the process is a child of this one and was not waited for.
    while unsafe { libc::wait4(id as i32, &mut status, 0, &mut usage) } < 0 {
        let error = std::io::Error::last_os_error();
        if error.kind() != std::io::ErrorKind::Interrupted {
            return Err(error.to_string());
        }
    }
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 * 1e-6;
    Ok((ExitStatus::from_raw(status), seconds(usage.ru_utime) + seconds(usage.ru_stime)))
}
