//! `run --watch`: the page of a run while it goes on, at an address of this machine or as a file.

use crate::support::{code_and_output, contents, folder, root, run, subrosa};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const SCENARIO: &str = "tests/golden/branin.ron";

/// A run that is watched at an address.
struct Watched {
    child: Child,
    err: BufReader<std::process::ChildStderr>,
    port: u16,
    token: String,
}

impl Watched {
    fn start(out: &Path, replications: &str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_subrosa"))
            .args(["run", SCENARIO, "--watch", "--threads", "1", "--format", "json"])
            .args(["--replications", replications, "--out"])
            .arg(out)
            .current_dir(root())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut err = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        err.read_line(&mut line).unwrap();
        let address = line.split_once("http://127.0.0.1:").unwrap_or_else(|| panic!("{line}")).1;
        let (port, rest) = address.split_once('/').unwrap();
        let (token, _) = rest.split_once('/').unwrap();
        Self { child, err, port: port.parse().unwrap(), token: token.to_owned() }
    }

    /// Status, head and body of the answer to a request; `None` if the server is gone.
    fn try_send(&self, request: &str) -> Option<(u16, String, String)> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        stream.write_all(request.as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        let (head, body) = answer.split_once("\r\n\r\n")?;
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Some((status, head.to_owned(), body.to_owned()))
    }

    fn send(&self, request: &str) -> (u16, String, String) {
        self.try_send(request).unwrap_or_else(|| panic!("no answer to {request:?}"))
    }

    fn ask(&self, method: &str, path: &str, host: &str) -> (u16, String, String) {
        self.send(&format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nAccept: */*\r\n\r\n"))
    }

    fn try_get(&self, path: &str) -> Option<(u16, String, String)> {
        let (token, port) = (&self.token, self.port);
        self.try_send(&format!("GET /{token}/{path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n"))
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        drop(self.child.kill());
    }
}

/// How many replications are finished, according to the server.
fn finished(state: &str) -> u64 {
    state.split(' ').next().unwrap().parse().unwrap()
}

/// How far a run is at two times, with the page of the first; `None` if it ends before.
fn growth(watched: &Watched) -> Option<(String, String, String)> {
    let mut first: Option<(String, String)> = None;
    let start = Instant::now();
    // The report is made again at most once a second.
    while start.elapsed() < Duration::from_secs(120) {
        let (status, head, state) = watched.try_get("state")?;
        assert!(status == 200 && head.contains("no-store"), "{head}");
        match &first {
            Some((earlier, page)) if *earlier != state => {
                return Some((earlier.clone(), state, page.clone()));
            }
            None if finished(&state) > 0 => first = Some((state, watched.try_get("")?.2)),
            _ => {}
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("nothing grows: {first:?}");
}

#[test]
fn the_page_grows_and_the_run_is_the_same() {
    let place = TempDir::new().unwrap();
    // On a fast machine, a run may end before it was seen twice.
    let runs = ["500", "2000", "8000", "32000"].into_iter().map(|many| {
        let watched = Watched::start(&place.path().join(many), many);
        let seen = growth(&watched);
        (many, watched, seen)
    });
    let (many, mut watched, seen) =
        { runs }.find(|(_, _, seen)| seen.is_some()).expect("a run is seen twice");
    let (state, last, page) = seen.unwrap();
    assert!(finished(&last) > finished(&state), "{state}, then {last}");
    // Cards, a figure and the line; nothing from elsewhere.
    for part in ["Not final: ", " replications finished", "class=\"card\"", "<svg", "data-state"] {
        assert!(page.contains(part), "{part}: {}", &page[..2000.min(page.len())]);
    }
    // What is missing has not failed.
    assert!(!page.contains("failed"), "{page}");
    assert!(!page.contains("src=\"http") && !page.contains("@import"));
    let mut out = String::new();
    watched.child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    let mut err = String::new();
    watched.err.read_to_string(&mut err).unwrap();
    assert!(watched.child.wait().unwrap().success(), "{err}");
    assert!(!err.contains("error") && !err.contains("warning"), "{err}");
    // The server has ended with the run.
    assert!(TcpStream::connect(("127.0.0.1", watched.port)).is_err());
    let document: serde_json::Value = serde_json::from_str(&out).unwrap();
    let plain = run(SCENARIO, &place.path().join("plain"), &["--replications", many]);
    assert_eq!(document["digest"], plain["digest"]);
    let files = |folder: &Path| {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    let (watched, plain) = (folder(&document), folder(&plain));
    assert_eq!(files(&watched), files(&plain));
    for name in ["records.jsonl", "results.csv", "manifest.json", "scenario.ron", "summary.csv"] {
        assert_eq!(contents(&watched, name), contents(&plain, name), "{name}");
    }
    let (code, stdout, stderr) = code_and_output(&subrosa(&["replay", "--files", watched.to_str().unwrap()]));
    assert_eq!(code, 0, "{stdout}{stderr}");
}

#[test]
fn only_a_reader_on_this_machine_who_knows_the_address_is_answered() {
    let place = TempDir::new().unwrap();
    let watched = Watched::start(place.path(), "100000");
    let (port, token) = (watched.port, watched.token.clone());
    let host = format!("127.0.0.1:{port}");
    assert!(token.len() == 32 && token.bytes().all(|byte| byte.is_ascii_hexdigit()), "{token}");
    let path = format!("/{token}/");
    for good in [host.clone(), format!("localhost:{port}")] {
        assert_eq!(watched.ask("GET", &path, &good).0, 200);
    }
    // No token, a wrong one, a shorter one, another file.
    let wrong = format!("/{}/", token.chars().rev().collect::<String>());
    let short = format!("/{}/", &token[..31]);
    let other = format!("{path}manifest.json");
    let above = format!("{path}../manifest.json");
    let bare = format!("/{token}");
    for path in ["/", "/favicon.ico", &wrong, &short, &other, &above, &bare, "//", "*", ""] {
        let (status, _, body) = watched.ask("GET", path, &host);
        assert_eq!((status, body.as_str()), (404, "404 Not Found\n"), "{path}");
    }
    // Another name of this machine, another port, none.
    for host in
        ["evil.example", &format!("evil.example:{port}"), "127.0.0.1", "127.0.0.1:1", "", "0.0.0.0", "[::1]"]
    {
        let (status, _, body) = watched.ask("GET", &path, host);
        assert_eq!((status, body.as_str()), (403, "403 Forbidden\n"), "{host}");
    }
    assert_eq!(watched.send(&format!("GET {path} HTTP/1.1\r\n\r\n")).0, 403);
    let two = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nHost: evil.example\r\n\r\n");
    assert_eq!(watched.send(&two).0, 403);
    // Reading only.
    let (status, head, body) = watched.ask("HEAD", &path, &host);
    assert!(status == 200 && body.is_empty() && !head.contains("Content-Length: 0"), "{head}");
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "get", "CONNECT"] {
        assert_eq!(watched.ask(method, &path, &host).0, 405, "{method}");
    }
    for request in ["\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/2\r\n\r\n"] {
        assert_eq!(watched.send(request).0, 400, "{request:?}");
    }
    // A request that never ends gets no answer, and does not keep others from theirs.
    let mut idle = TcpStream::connect(("127.0.0.1", port)).unwrap();
    idle.write_all(b"GET / HTTP/1.1\r\n").unwrap();
    let mut long = TcpStream::connect(("127.0.0.1", port)).unwrap();
    drop(long.write_all(&[b'a'; 20_000]));
    let start = Instant::now();
    assert_eq!(watched.ask("GET", &path, &host).0, 200);
    assert!(start.elapsed() < Duration::from_secs(2));
    // Two runs have different tokens.
    let another = Watched::start(&place.path().join("another"), "100000");
    assert_ne!(another.token, token);
    // The other interfaces of the machine do not listen.
    #[cfg(target_os = "linux")]
    {
        let listening = fs::read_to_string("/proc/net/tcp").unwrap();
        let own = format!(":{port:04X} ");
        let addresses: Vec<&str> =
            listening.lines().filter(|line| line.contains(&own) && line.contains(" 0A ")).collect();
        assert!(addresses.len() == 1 && addresses[0].contains("0100007F:"), "{addresses:?}");
    }
}

#[test]
fn a_file_is_written_while_the_run_goes_on_and_at_its_end() {
    let place = TempDir::new().unwrap();
    let file = place.path().join("live.html");
    let watch = format!("--watch={}", file.display());
    let plain = run(SCENARIO, &place.path().join("plain"), &["--replications", "3"]);
    let document = run(SCENARIO, &place.path().join("file"), &["--replications", "3", &watch]);
    assert_eq!(document["digest"], plain["digest"]);
    // The last page is the report, which is not loaded again.
    let last = fs::read_to_string(&file).unwrap();
    assert_eq!(last, fs::read_to_string(folder(&document).join("report.html")).unwrap());
    assert!(!last.contains("http-equiv=\"refresh\""));
    // While a run goes on, the page loads itself again.
    let mut child = Command::new(env!("CARGO_BIN_EXE_subrosa"))
        .args(["run", SCENARIO, &watch, "--threads", "1", "--replications", "100000", "--out"])
        .arg(place.path().join("long"))
        .current_dir(root())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let start = Instant::now();
    let page = loop {
        let page = fs::read_to_string(&file).unwrap();
        if page.contains("Not final: ") || start.elapsed() > Duration::from_secs(120) {
            break page;
        }
        std::thread::sleep(Duration::from_millis(100));
    };
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(page.contains("of 100000 replications finished") && page.contains("http-equiv=\"refresh\""));
    assert!(page.contains("class=\"card\""));
}

#[test]
fn what_cannot_be_watched_is_refused() {
    let place = TempDir::new().unwrap();
    let out = place.path().to_str().unwrap();
    let nowhere = format!("--watch={out}/none");
    fs::create_dir(place.path().join("none")).unwrap();
    let (code, _, stderr) = code_and_output(&subrosa(&["run", SCENARIO, "--out", out, &nowhere]));
    assert!(code == 2 && stderr.contains("--watch"), "{stderr}");
    let scenario = place.path().join("mine.ron");
    fs::copy(root().join(SCENARIO), &scenario).unwrap();
    let over = format!("--watch={}", scenario.display());
    let (code, _, stderr) = code_and_output(&subrosa(&["run", SCENARIO, "--out", out, &over]));
    assert!(code == 2 && stderr.contains("is not an HTML page"), "{stderr}");
    assert_eq!(fs::read(&scenario).unwrap(), fs::read(root().join(SCENARIO)).unwrap());
    let fork = "fork=Some(Fork(at: Round(1), branches: {}))";
    let (code, _, stderr) =
        code_and_output(&subrosa(&["run", SCENARIO, "--out", out, "--watch", "-o", fork]));
    assert!(code == 2 && stderr.contains("--watch is not for a scenario with a fork"), "{stderr}");
    let (code, _, stderr) = code_and_output(&subrosa(&["run", SCENARIO, "--dry", "--watch"]));
    assert!(code == 2 && stderr.contains("--watch"), "{stderr}");
}
