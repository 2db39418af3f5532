//! `subrosa lsp`: answers an editor on standard input and output (language server protocol).

mod answers;
mod open_files;
mod position;

use super::exit::Exit;
use super::output::eprint_line;
use lsp_server::{Connection, ErrorCode, Message, Notification, ProtocolError, Response};
use open_files::OpenFiles;
use serde_json::{Value, json};
use std::time::Duration;

/// Changed texts are checked once no message of the editor has arrived for this long.
const REST: Duration = Duration::from_millis(150);

/// Answers requests until the editor ends the session.
pub(super) fn serve() -> Exit {
    let (connection, threads) = Connection::stdio();
    let talked = talk(&connection);
    // The threads end when the connection, which sends them messages, is dropped.
    drop(connection);
    match talked {
        Err(error) if !error.channel_is_disconnected() => {
            eprint_line(format_args!(
                "error: {error} (an editor starts `subrosa lsp`; docs/editor.md says how)"
            ));
            Exit::Internal
        }
        _ => {
            drop(threads.join());
            Exit::Ok
        }
    }
}

/// What the server can do.
fn capabilities() -> Value {
    json!({
        "positionEncoding": "utf-16",
        // 1: the editor sends the whole text at each change.
        "textDocumentSync": { "openClose": true, "change": 1 },
        "hoverProvider": true,
        "completionProvider": { "triggerCharacters": ["(", "[", "{", ",", ":", " ", "\""] },
        "definitionProvider": true,
        "documentFormattingProvider": true,
        "codeActionProvider": { "codeActionKinds": ["quickfix"] },
    })
}

fn talk(connection: &Connection) -> Result<(), ProtocolError> {
    let (id, _) = connection.initialize_start()?;
    let version = env!("CARGO_PKG_VERSION");
    connection.initialize_finish(
        id,
        json!({ "capabilities": capabilities(), "serverInfo": { "name": "subrosa", "version": version } }),
    )?;
    let mut files = OpenFiles::default();
    loop {
        let message = if files.are_checked() {
            let Ok(message) = connection.receiver.recv() else { return Ok(()) };
            message
        } else {
            match connection.receiver.recv_timeout(REST) {
                Ok(message) => message,
                Err(error) if error.is_timeout() => {
                    for (address, diagnostics) in files.check() {
                        publish(connection, &address, diagnostics);
                    }
                    continue;
                }
                Err(_) => return Ok(()),
            }
        };
        match message {
            Message::Request(request) => {
                if connection.handle_shutdown(&request)? {
                    return Ok(());
                }
                let response = match answers::answer(&mut files, &request.method, &request.params) {
                    Some(answer) => Response::new_ok(request.id, answer),
                    None => {
                        let words = format!("no method {}", request.method);
                        Response::new_err(request.id, ErrorCode::MethodNotFound as i32, words)
                    }
                };
                // If the editor has closed the connection, this loop ends when no received message is left.
                drop(connection.sender.send(response.into()));
            }
            Message::Notification(notification) => {
                if let Some(closed) = files.follow(&notification.method, &notification.params) {
                    publish(connection, &closed, Vec::new());
                }
            }
            Message::Response(_) => {}
        }
    }
}

/// Sends the errors of a text to the editor; they replace the errors that were sent before for this text.
fn publish(connection: &Connection, address: &str, diagnostics: Vec<Value>) {
    let params = json!({ "uri": address, "diagnostics": diagnostics });
    let method = "textDocument/publishDiagnostics".to_owned();
    drop(connection.sender.send(Notification { method, params }.into()));
}
