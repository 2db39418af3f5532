//! A running external program: questions and answers are lines of JSON, and each answer has a timeout.

use super::PROTOCOL;
use super::failure::{ProgramFailure, StderrTail};
use super::program::{Program, SHOWN, valid_version};
use crate::vocab::Interruption;
use serde_json::{Map, Value, json};
use std::collections::VecDeque;
use std::fmt;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Largest number of bytes of one answer.
const MAX_BYTES: u64 = 1 << 20;
/// Number of last lines of standard error that are kept.
const MAX_LINES: usize = 10;
/// Largest number of characters that are kept of a line of standard error.
const MAX_LETTERS: usize = 300;
/// Longest wait for a program to end after its input or its output is closed. The end of its standard error is awaited for
/// a quarter of this time.
const SHUTDOWN_WAIT: Duration = Duration::from_secs(2);
/// Number of lines that are read ahead: a program that writes more than it is asked for has to wait.
const READ_AHEAD: usize = 4;
/// While an answer is awaited: longest time between two checks whether the program has ended, or whether a stop was
/// requested a second time.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Longest wait for the last line of a program that has ended.
const LAST_LINE_WAIT: Duration = Duration::from_millis(200);

/// What a program wrote to its standard output: a line, or more than [`MAX_BYTES`] without the end of a line.
enum Output {
    Line(Vec<u8>),
    TooLong,
}

/// A running program.
pub(super) struct Process {
    program: Program,
    child: Child,
    /// Sends lines to the program's standard input, which is closed when this sender is dropped.
    to: Option<Sender<Vec<u8>>>,
    /// Receives the program's answers. A program that goes on writing after this receiver is dropped fails with a broken
    /// pipe.
    from: Option<Receiver<Output>>,
    said: Arc<Mutex<VecDeque<String>>>,
    stderr_thread: Option<JoinHandle<()>>,
    next: u64,
    version: String,
    /// Whether [`Self::stop`] was called: the program was killed, and its exit status was taken.
    stopped: bool,
    interruption: Interruption,
}

/// Why no output arrived.
enum Missing {
    /// The program has ended, or has closed its standard output.
    Ended,
    /// The program did not answer within the timeout.
    Late,
    /// A stop was requested a second time, so the answer is not awaited.
    Interrupted,
}

/// Starts a program in the folder `base`, asks for its version, and ends it.
///
/// # Errors
/// [`ProgramFailure`] if the program does not start, does not answer in time, or states no valid version.
pub(super) fn version(program: &Program, base: &Path) -> Result<String, ProgramFailure> {
    Process::start(program, base, &Interruption::default()).map(|process| process.version().to_owned())
}

impl fmt::Debug for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Process").field("program", &self.program).finish_non_exhaustive()
    }
}

impl Process {
    /// Starts a program in the folder `base`, and asks for the version of its protocol and for its own version.
    pub(super) fn start(
        program: &Program,
        base: &Path,
        interruption: &Interruption,
    ) -> Result<Self, ProgramFailure> {
        let cannot = |error: std::io::Error| ProgramFailure::Start {
            program: program.words(),
            reason: error.to_string(),
        };
        // An empty path means the current folder, but no process can be started in an empty path.
        let base = if base.as_os_str().is_empty() { Path::new(".") } else { base };
        let mut command = Command::new(program.executable(base));
        command
            .args(program.command.iter().skip(1))
            .current_dir(base)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // These variables switch off two defaults of Python: it buffers its output to a pipe, and it salts the
            // hashes of texts anew in each process.
            .env("PYTHONUNBUFFERED", "1")
            .env("PYTHONHASHSEED", "0");
        // In a process group of its own, the program does not receive an interruption from the keyboard: subrosa alone
        // handles it, and finishes the replications that are being played.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn().map_err(cannot)?;
        let (mut stdin, stdout, stderr) = match (child.stdin.take(), child.stdout.take(), child.stderr.take())
        {
            (Some(stdin), Some(stdout), Some(stderr)) => (stdin, stdout, stderr),
            _ => return Err(cannot(std::io::Error::other("its standard streams are not there"))),
        };
        let (to, lines) = channel::<Vec<u8>>();
        let (answers, from) = sync_channel(READ_AHEAD);
        let said = Arc::new(Mutex::new(VecDeque::new()));
        let sink = Arc::clone(&said);
        // One thread for each stream: subrosa must not wait for a program that does not read, and the program must not wait
        // because nobody reads its standard error.
        let spawn =
            |work: Box<dyn FnOnce() + Send>| thread::Builder::new().name("program".to_owned()).spawn(work);
        let threads = spawn(Box::new(move || {
            while let Ok(line) = lines.recv() {
                if stdin.write_all(&line).and_then(|()| stdin.flush()).is_err() {
                    break;
                }
            }
        }))
        .and_then(|_| spawn(Box::new(move || read_stdout(stdout, &answers))))
        .and_then(|_| spawn(Box::new(move || read_stderr(stderr, &sink))));
        let mut process = Self {
            program: program.clone(),
            child,
            to: Some(to),
            from: Some(from),
            said,
            stderr_thread: None,
            next: 0,
            version: String::new(),
            stopped: false,
            interruption: interruption.clone(),
        };
        process.stderr_thread = Some(threads.map_err(cannot)?);
        process.handshake()?;
        Ok(process)
    }

    /// The version that the program reported.
    pub(super) fn version(&self) -> &str {
        &self.version
    }

    fn handshake(&mut self) -> Result<(), ProgramFailure> {
        let asked = "the greeting (hello)";
        let fields = Map::from_iter([("protocol".to_owned(), json!(PROTOCOL))]);
        let reply = self.ask("hello", fields, asked)?;
        match reply.get("version").and_then(Value::as_str).and_then(valid_version) {
            Some(version) if reply.get("protocol").and_then(Value::as_u64) == Some(PROTOCOL) => {
                self.version = version;
                Ok(())
            }
            _ => {
                let expected = format!(
                    "{{\"id\":0,\"protocol\":{PROTOCOL},\"version\":\"..\"}}: the protocol's version, and one line of at \
                     most {SHOWN} characters that says which program this is"
                );
                Err(self.unusable(asked, &Value::Object(reply).to_string(), &expected))
            }
        }
    }

    /// Asks a question and returns the fields of the answer; `asked` is the question in words, for error messages.
    pub(super) fn ask(
        &mut self,
        ask: &str,
        fields: Map<String, Value>,
        asked: &str,
    ) -> Result<Map<String, Value>, ProgramFailure> {
        let id = self.next;
        self.next += 1;
        let mut line = Map::from_iter([("id".to_owned(), json!(id)), ("ask".to_owned(), json!(ask))]);
        line.extend(fields);
        let mut line = serde_json::to_vec(&line).expect("plain data with text keys");
        line.push(b'\n');
        // An error is ignored here: if the program no longer reads, no answer arrives, and that is reported below.
        let sent = self.to.as_ref().map(|to| to.send(line));
        drop(sent);
        let output = match self.receive() {
            Ok(output) => output,
            Err(missing) => return Err(self.unanswered(&missing, asked)),
        };
        let mut expected = format!("one line of JSON with \"id\":{id}");
        let line = match output {
            Output::Line(line) => line,
            Output::TooLong => {
                return Err(self.unusable(asked, &format!("more than {MAX_BYTES} bytes"), &expected));
            }
        };
        let reply = serde_json::from_slice::<Map<String, Value>>(&line).ok();
        match reply.filter(|reply| reply.get("id").and_then(Value::as_u64) == Some(id)) {
            Some(reply) => Ok(reply),
            None => {
                let found = String::from_utf8_lossy(&line).trim_end().to_owned();
                // Python's module `json` writes these words for numbers that are not finite.
                if found.contains("NaN") || found.contains("Infinity") {
                    expected.push_str(" and finite numbers (JSON has no NaN and no Infinity)");
                }
                Err(self.unusable(asked, &found, &expected))
            }
        }
    }

    /// Waits for the next output.
    fn receive(&mut self) -> Result<Output, Missing> {
        let Some(from) = &self.from else { return Err(Missing::Ended) };
        let timeout = Duration::from_nanos(self.program.timeout.nanos());
        let begun = Instant::now();
        let mut pause = Duration::from_millis(5);
        loop {
            let left = timeout.saturating_sub(begun.elapsed());
            match from.recv_timeout(left.min(pause)) {
                Ok(output) => return Ok(output),
                Err(RecvTimeoutError::Disconnected) => return Err(Missing::Ended),
                Err(RecvTimeoutError::Timeout) if left.is_zero() => return Err(Missing::Late),
                Err(RecvTimeoutError::Timeout) if self.interruption.is_urgent() => {
                    return Err(Missing::Interrupted);
                }
                // The program has ended, but a process that it has left running may hold standard output open.
                Err(RecvTimeoutError::Timeout) if has_ended(&mut self.child) => {
                    return from.recv_timeout(LAST_LINE_WAIT).map_err(|_| Missing::Ended);
                }
                Err(RecvTimeoutError::Timeout) => pause = (pause * 2).min(LOOK_EVERY),
            }
        }
    }

    /// Stops the program and returns the failure for a missing answer.
    fn unanswered(&mut self, missing: &Missing, asked: &str) -> ProgramFailure {
        let (program, asked) = (self.program.words(), asked.to_owned());
        match missing {
            Missing::Ended => {
                let ended = self.wait();
                let how = match self.stop().filter(|_| ended) {
                    Some(status) => status.to_string(),
                    None => "it closed its standard output".to_owned(),
                };
                ProgramFailure::Ended { program, how, asked, said: self.stderr_tail() }
            }
            Missing::Late => {
                self.stop();
                let timeout = self.program.timeout;
                ProgramFailure::Silent { program, asked, timeout, said: self.stderr_tail() }
            }
            Missing::Interrupted => {
                self.stop();
                ProgramFailure::Interrupted { program, asked }
            }
        }
    }

    /// Stops the program and returns the failure for an invalid answer.
    pub(super) fn unusable(&mut self, asked: &str, found: &str, expected: &str) -> ProgramFailure {
        self.stop();
        ProgramFailure::Unusable {
            program: self.program.words(),
            asked: asked.to_owned(),
            found: if found.is_empty() { "an empty line".to_owned() } else { cut(found, SHOWN) },
            expected: expected.to_owned(),
            said: self.stderr_tail(),
        }
    }

    /// The last lines of standard error.
    fn stderr_tail(&mut self) -> StderrTail {
        if let Some(stderr_thread) = self.stderr_thread.take() {
            // A process that the program started may still hold standard error open.
            wait_until(SHUTDOWN_WAIT / 4, || stderr_thread.is_finished());
        }
        StderrTail(self.said.lock().expect("no holder of this lock panics").iter().cloned().collect())
    }

    /// Whether the program ends within [`SHUTDOWN_WAIT`].
    fn wait(&mut self) -> bool {
        let mut ended = false;
        wait_until(SHUTDOWN_WAIT, || {
            ended = has_ended(&mut self.child);
            ended
        });
        ended
    }

    /// Kills the program and, on Unix, its whole process group; returns the exit status. Does nothing the second time,
    /// since another process may have the program's process id by then.
    fn stop(&mut self) -> Option<ExitStatus> {
        self.to = None;
        self.from = None;
        if std::mem::replace(&mut self.stopped, true) {
            return None;
        }
        #[cfg(unix)]
        if let Ok(group) = i32::try_from(self.child.id()) {
            // If the process group has ended already, this fails, and the error is ignored.
            let group = nix::unistd::Pid::from_raw(group);
            nix::sys::signal::killpg(group, nix::sys::signal::Signal::SIGKILL).unwrap_or_default();
        }
        drop(self.child.kill());
        self.child.wait().ok()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The program should end at the end of its input; if it still runs after a wait, it is killed. On Unix, processes
        // that it has left running are killed too. A program that is blocked by a full output pipe does not read the end of
        // its input, but fails to write once the pipe is closed.
        self.to = None;
        self.from = None;
        self.wait();
        self.stop();
    }
}

/// Whether a child process has ended. The exit status is not taken here: until it is taken, no other process and no other
/// process group can get the id of the child.
#[cfg(target_os = "linux")]
fn has_ended(child: &mut Child) -> bool {
    use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
    let Ok(number) = i32::try_from(child.id()) else { return false };
    let look = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
    waitid(Id::Pid(nix::unistd::Pid::from_raw(number)), look) != Ok(WaitStatus::StillAlive)
}

/// Whether a child process has ended.
#[cfg(not(target_os = "linux"))]
fn has_ended(child: &mut Child) -> bool {
    child.try_wait().is_ok_and(|status| status.is_some())
}

/// Polls a condition, with growing pauses, until it holds or the time is over.
fn wait_until(time: Duration, mut so: impl FnMut() -> bool) {
    let begun = Instant::now();
    let mut pause = Duration::from_micros(100);
    while !so() && begun.elapsed() < time {
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

fn read_stdout(stdout: impl Read, answers: &SyncSender<Output>) {
    let mut reader = BufReader::new(stdout);
    loop {
        let mut line = Vec::new();
        let output = match reader.by_ref().take(MAX_BYTES + 1).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            // A last line without a newline was cut off, and is ignored.
            Ok(_) if line.last() == Some(&b'\n') => Output::Line(line),
            Ok(read) if read as u64 > MAX_BYTES => Output::TooLong,
            Ok(_) => return,
        };
        let over = matches!(output, Output::TooLong);
        if answers.send(output).is_err() || over {
            return;
        }
    }
}

fn read_stderr(stderr: impl Read, said: &Mutex<VecDeque<String>>) {
    let mut reader = BufReader::new(stderr);
    loop {
        let mut line = Vec::new();
        match reader.by_ref().take(MAX_BYTES).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {
                let mut said = said.lock().expect("no holder of this lock panics");
                said.push_back(cut(String::from_utf8_lossy(&line).trim_end(), MAX_LETTERS));
                if said.len() > MAX_LINES {
                    said.pop_front();
                }
            }
        }
    }
}

fn cut(text: &str, letters: usize) -> String {
    match text.char_indices().nth(letters) {
        Some((end, _)) => format!("{}..", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::vocab::Span;
    use std::fs;

    /// Of the lines that the program writes without being asked, a few are read ahead. The next lines stay in the
    /// operating system's pipe, which has room for only a few lines of this length (roughly 16 on Linux); then the
    /// program has to wait. So its lines do not fill the memory of subrosa.
    #[test]
    fn a_program_that_writes_without_end_has_to_wait() {
        const FLOOD: &str = r#"
IFS= read -r line
printf '{"id":0,"protocol":1,"version":"flood"}\n'
written=0
while :; do
    printf '%4096s\n' "$written"
    written=$((written + 1))
    echo "$written" > written
done
"#;
        let place = tempfile::TempDir::new().unwrap();
        fs::write(place.path().join("flood.sh"), FLOOD).unwrap();
        let command = ["sh", "flood.sh"].map(str::to_owned).to_vec();
        let program = Program { command, timeout: Span::from_millis(60_000), files: Vec::new() };
        let process = Process::start(&program, place.path(), &Interruption::default()).unwrap();
        let written = || fs::read_to_string(place.path().join("written")).ok()?.trim().parse::<u64>().ok();
        let mut before = None;
        loop {
            thread::sleep(Duration::from_millis(500));
            let now = written();
            assert!(now.is_none_or(|lines| lines < 1000), "{now:?} lines are read that nobody asked for");
            if now.is_some() && now == before {
                break;
            }
            before = now;
        }
        drop(process);
    }
}
