//! Serves the report of a running study to browsers on this machine. The server listens on 127.0.0.1 only and answers
//! GET and HEAD. Its address has a token that nobody can guess, so no other user of the machine can read the report. A
//! page of another site does not know the token, so it cannot read the report either. Against DNS rebinding, the server
//! also refuses every request except those with exactly one header Host, which must be 127.0.0.1:PORT or localhost:PORT.
//! Here PORT is the server's port.

use super::live::{Live, NAP, lock};
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The server stops reading a request when more than this many bytes have arrived without the end of the request's head.
const LONGEST: usize = 8 << 10;
/// Longest time in which the head of a request must arrive, and longest time of each write of an answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// Largest number of connections at the same time.
const CONNECTIONS: usize = 16;

/// A server that listens.
pub(super) struct Server {
    listener: TcpListener,
    port: u16,
    token: String,
}

/// An answer to an HTTP request.
struct Answer {
    status: &'static str,
    kind: &'static str,
    body: String,
}

impl Answer {
    fn refusal(status: &'static str) -> Self {
        Self { status, kind: "text/plain; charset=utf-8", body: format!("{status}\n") }
    }
}

/// Two hashes of 64 bits under a random key, in hexadecimal digits. The standard library takes the key from the operating
/// system, and nobody without the key can tell the hashes from random numbers. The hashes are not derived from the seed
/// tree, because everybody can compute the seed tree.
fn token() -> String {
    let keyed = RandomState::new();
    format!("{:016x}{:016x}", keyed.hash_one(1), keyed.hash_one(2))
}

/// Whether two texts are equal, in a time that does not depend on where they differ.
fn equal(one: &str, other: &str) -> bool {
    one.len() == other.len() && one.bytes().zip(other.bytes()).fold(0, |all, (a, b)| all | (a ^ b)) == 0
}

impl Server {
    /// Listens on a free port.
    pub(super) fn start() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        Ok(Self { listener, port, token: token() })
    }

    /// The address of the page.
    pub(super) fn address(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.port, self.token)
    }

    /// Answers requests until `ended` is true.
    pub(super) fn serve(&self, live: &Mutex<Live>, ended: &AtomicBool) {
        let open = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            while !ended.load(Ordering::Relaxed) {
                let Ok((stream, _)) = self.listener.accept() else {
                    std::thread::sleep(NAP);
                    continue;
                };
                if open.fetch_add(1, Ordering::Relaxed) >= CONNECTIONS {
                    open.fetch_sub(1, Ordering::Relaxed);
                    continue;
                }
                let talk = || {
                    let mut stream = stream;
                    // A reader that has gone away is no error.
                    drop(self.talk(&mut stream, live, ended));
                    open.fetch_sub(1, Ordering::Relaxed);
                };
                if std::thread::Builder::new().spawn_scoped(scope, talk).is_err() {
                    open.fetch_sub(1, Ordering::Relaxed);
                }
            }
        });
    }

    fn talk(&self, stream: &mut TcpStream, live: &Mutex<Live>, ended: &AtomicBool) -> io::Result<()> {
        stream.set_nonblocking(false)?;
        stream.set_read_timeout(Some(NAP * 5))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let Some(head) = head(stream, ended)? else { return Ok(()) };
        let answer = self.answer(&head, live);
        let is_head = head.starts_with("HEAD ");
        let body = if is_head { "" } else { answer.body.as_str() };
        let text = format!(
            "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\nCache-Control: no-store\r\n\
             Referrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\n\
             Cross-Origin-Resource-Policy: same-origin\r\nAllow: GET, HEAD\r\n\r\n{body}",
            answer.status,
            answer.kind,
            answer.body.len()
        );
        stream.write_all(text.as_bytes())?;
        stream.flush()
    }

    /// The answer to the head of a request.
    fn answer(&self, head: &str, live: &Mutex<Live>) -> Answer {
        let mut lines = head.split("\r\n");
        let mut request = lines.next().unwrap_or_default().split(' ');
        let (Some(method), Some(path), Some(version)) = (request.next(), request.next(), request.next())
        else {
            return Answer::refusal("400 Bad Request");
        };
        if !version.starts_with("HTTP/1.") {
            return Answer::refusal("400 Bad Request");
        }
        if !["GET", "HEAD"].contains(&method) {
            return Answer::refusal("405 Method Not Allowed");
        }
        let headers = lines.filter_map(|line| line.split_once(':'));
        let hosts: Vec<&str> = headers
            .filter(|(name, _)| name.eq_ignore_ascii_case("host"))
            .map(|(_, value)| value.trim())
            .collect();
        let own = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{}", self.port));
        if !matches!(hosts.as_slice(), [host] if own.iter().any(|known| known.eq_ignore_ascii_case(host))) {
            return Answer::refusal("403 Forbidden");
        }
        let path = path.split('?').next().unwrap_or_default();
        let Some((token, rest)) = path.strip_prefix('/').and_then(|path| path.split_once('/')) else {
            return Answer::refusal("404 Not Found");
        };
        if !equal(token, &self.token) {
            return Answer::refusal("404 Not Found");
        }
        match rest {
            "" => {
                let mut live = lock(live);
                live.renew();
                Answer { status: "200 OK", kind: "text/html; charset=utf-8", body: live.page_of_server() }
            }
            "state" => {
                let mut live = lock(live);
                live.renew();
                Answer { status: "200 OK", kind: "text/plain; charset=utf-8", body: live.state().clone() }
            }
            _ => Answer::refusal("404 Not Found"),
        }
    }
}

/// The head of a request; `None` if the head is too long, arrives too slowly, is not UTF-8 or is incomplete, or if the
/// run has ended.
fn head(stream: &mut TcpStream, ended: &AtomicBool) -> io::Result<Option<String>> {
    let start = Instant::now();
    let (mut bytes, mut part) = (Vec::new(), [0; 1024]);
    while start.elapsed() < PATIENCE && bytes.len() <= LONGEST && !ended.load(Ordering::Relaxed) {
        match stream.read(&mut part) {
            Ok(0) => return Ok(None),
            Ok(length) => bytes.extend_from_slice(&part[..length]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => continue,
            Err(error) => return Err(error),
        }
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            bytes.truncate(end);
            return Ok(String::from_utf8(bytes).ok());
        }
    }
    Ok(None)
}
