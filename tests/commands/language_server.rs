//! `subrosa lsp`, spoken to over its standard input and output as an editor does.

use crate::support::{code_and_output, root, subrosa};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use tempfile::TempDir;

/// An editor with a server of its own.
struct Editor {
    server: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    asked: i64,
}

impl Editor {
    fn start() -> Self {
        let mut server = Command::new(env!("CARGO_BIN_EXE_subrosa"))
            .args(["lsp", "--stdio"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (to, from) = (server.stdin.take(), BufReader::new(server.stdout.take().unwrap()));
        let mut editor = Self { server, to, from, asked: 0 };
        let answer =
            editor.ask("initialize", json!({ "processId": null, "capabilities": {}, "rootUri": null }));
        assert_eq!(answer["capabilities"]["positionEncoding"], "utf-16");
        editor.say("initialized", json!({}));
        editor
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        let to = self.to.as_mut().unwrap();
        write!(to, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        to.flush().unwrap();
    }

    fn receive(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.from.read_line(&mut line).unwrap() > 0, "the server has ended");
            if line == "\r\n" {
                break;
            }
            if let Some(number) = line.strip_prefix("Content-Length: ") {
                length = number.trim().parse().unwrap();
            }
        }
        let mut bytes = vec![0; length];
        self.from.read_exact(&mut bytes).unwrap();
        serde_json::from_slice(&bytes).unwrap()
    }

    fn say(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// The whole response; what the server says in between is left out.
    fn response(&mut self, method: &str, params: Value) -> Value {
        self.asked += 1;
        let asked = self.asked;
        self.send(&json!({ "jsonrpc": "2.0", "id": asked, "method": method, "params": params }));
        loop {
            let message = self.receive();
            if message["id"] == asked {
                return message;
            }
        }
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let response = self.response(method, params);
        assert!(response.get("error").is_none(), "{response}");
        response["result"].clone()
    }

    /// Shows a text, and returns the server's errors of it.
    fn show(&mut self, address: &str, text: &str) -> Vec<Value> {
        let document = json!({ "uri": address, "languageId": "ron", "version": 1, "text": text });
        self.say("textDocument/didOpen", json!({ "textDocument": document }));
        self.errors(address)
    }

    fn change(&mut self, address: &str, text: &str) {
        let document = json!({ "uri": address, "version": 2 });
        self.say(
            "textDocument/didChange",
            json!({ "textDocument": document, "contentChanges": [{ "text": text }] }),
        );
    }

    fn errors(&mut self, address: &str) -> Vec<Value> {
        loop {
            let message = self.receive();
            if message["method"] == "textDocument/publishDiagnostics" && message["params"]["uri"] == address {
                return message["params"]["diagnostics"].as_array().unwrap().clone();
            }
        }
    }

    /// Asks about the place that `|` marks, in the text without it.
    fn about(&mut self, method: &str, address: &str, marked: &str) -> Value {
        let at = marked.find('|').unwrap();
        let text = marked.replacen('|', "", 1);
        self.change(address, &text);
        let before = &text[..at];
        let line = before.matches('\n').count();
        let column: usize = before.rsplit('\n').next().unwrap().chars().map(char::len_utf16).sum();
        let place = json!({ "line": line, "character": column });
        self.ask(method, json!({ "textDocument": { "uri": address }, "position": place }))
    }

    fn labels(&mut self, address: &str, marked: &str) -> Vec<String> {
        let answer = self.about("textDocument/completion", address, marked);
        let items = answer["items"].as_array().unwrap();
        items.iter().map(|item| item["label"].as_str().unwrap().to_owned()).collect()
    }

    fn end(mut self) {
        assert_eq!(self.ask("shutdown", Value::Null), Value::Null);
        self.say("exit", Value::Null);
        drop(self.to.take());
        let status = self.server.wait().unwrap();
        assert!(status.success(), "{status}");
    }
}

/// A test that fails leaves no server behind.
impl Drop for Editor {
    fn drop(&mut self) {
        drop(self.server.kill());
    }
}

fn address(path: &Path) -> String {
    format!("file://{}", path.display())
}

const TEXT: &str = r#"Scenario(
    name: "é😀", seed: 1,
    parties: { "server": Party(), "client": Party(count: 2), "other": Party(group: "far") },
    network: Network(topology: Star(hub: "server"), default: Link(latency: Constant("40ms"))),
    objective: Table(file: "data.csv", inputs: ["x"], output: Column("y")),
    protocol: Echo(caller: "server", rounds: 3),
)"#;

#[test]
fn errors_are_those_of_check() {
    let place = TempDir::new().unwrap();
    let file = place.path().join("a b.ron");
    let text = TEXT
        .replace("    objective: Table(file: \"data.csv\", inputs: [\"x\"], output: Column(\"y\")),\n", "");
    let wrong = text.replace("seed: 1", "sed: 1").replace("Constant(\"40ms\")", "Constnt(\"40ms\")");
    fs::write(&file, &wrong).unwrap();
    let (code, stdout, _) = code_and_output(&subrosa(&["check", file.to_str().unwrap(), "--format", "json"]));
    assert_eq!(code, 3);
    let check: Value = serde_json::from_str(&stdout).unwrap();
    let check = check["diagnostics"].as_array().unwrap();
    let mut editor = Editor::start();
    let uri = address(&file).replace(' ', "%20");
    let found = editor.show(&uri, &wrong);
    assert_eq!(found.len(), check.len());
    assert!(found.len() >= 2);
    for (found, check) in found.iter().zip(check) {
        let message = found["message"].as_str().unwrap();
        for key in ["message", "expected", "found", "cure"] {
            let said = check[key].as_str().unwrap();
            assert!(message.contains(said), "{message}: {said}");
        }
        assert_eq!(found["range"]["start"]["line"].as_u64(), check["line"].as_u64().map(|line| line - 1));
    }
    // Columns are in UTF-16: `é` is one unit, the letter after it two.
    let sed = found.iter().find(|one| one["message"].as_str().unwrap().contains("`sed`")).unwrap();
    assert_eq!(
        sed["range"],
        json!({ "start": { "line": 1, "character": 17 }, "end": { "line": 1, "character": 20 } })
    );
    // The misspelt names are corrected on request.
    let whole = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 9, "character": 0 } });
    let params = json!({ "textDocument": { "uri": uri }, "range": whole, "context": { "diagnostics": [] } });
    let actions = editor.ask("textDocument/codeAction", params);
    let mut edits: Vec<(Value, String)> = Vec::new();
    for action in actions.as_array().unwrap() {
        let edit = &action["edit"]["changes"][&uri][0];
        edits.push((edit["range"].clone(), edit["newText"].as_str().unwrap().to_owned()));
    }
    assert_eq!(edits[0], (sed["range"].clone(), "seed".to_owned()));
    let lines: Vec<&str> = wrong.lines().collect();
    let column = lines[3].find("Constnt").unwrap();
    let range =
        json!({ "start": { "line": 3, "character": column }, "end": { "line": 3, "character": column + 7 } });
    assert_eq!(edits[1], (range, "Constant".to_owned()));
    assert_eq!(edits.len(), 2);
    // The text of the editor counts, not the file.
    editor.change(&uri, &text);
    assert_eq!(editor.errors(&uri), Vec::<Value>::new());
    editor.change(&uri, &text.replace("caller: \"server\"", "caller: \"sever\""));
    let found = editor.errors(&uri);
    assert!(found[0]["message"].as_str().unwrap().contains("no party is called \"sever\""), "{found:?}");
    editor.say("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    assert_eq!(editor.errors(&uri), Vec::<Value>::new());
    editor.end();
}

#[test]
fn what_stands_at_a_place_is_explained() {
    let mut editor = Editor::start();
    let uri = "untitled:Untitled-1";
    editor.show(uri, TEXT);
    let mut hover = |marked: &str| {
        let found = editor.about("textDocument/hover", uri, marked);
        found["contents"]["value"].as_str().unwrap_or_default().to_owned()
    };
    // A member: what it is, an example, what it takes.
    let text = hover(&TEXT.replace("Constant(", "Con|stant("));
    assert!(text.contains("**Constant** (latency)") && text.contains("a duration with units"), "{text}");
    // A field, with its unit and whether it must be written; its value says the same.
    let text = hover(&TEXT.replace("rounds: 3", "rou|nds: 3"));
    assert!(text.contains("`rounds`: a whole number") && text.contains("required"), "{text}");
    assert_eq!(hover(&TEXT.replace("rounds: 3", "rounds: |3")), text);
    let text = hover(&TEXT.replace("(count: 2)", "(cou|nt: 2)"));
    assert!(text.contains("Default: one"), "{text}");
    // Two types have a field `loss`; the place decides.
    let text = hover(&TEXT.replace("latency: Constant", "loss|: Independent(0.1), latency: Constant"));
    assert!(text.contains("one of the family loss"), "{text}");
    // Inside an `Each`, and in a text that is not finished.
    let text = hover("Scenario(network: Network(default: Link(latency: Each(\"l\", [Uni|form(low: ");
    assert!(text.contains("**Uniform** (latency)"), "{text}");
    let text = hover("Scenario(network: Network(default: Link(latency: Ea|ch(");
    assert!(text.contains("one cell of a study per value"), "{text}");
    // Nothing to say.
    for marked in ["// Con|stant\nScenario()", "|", "Scenario(nonsense: | (", ")))|", "Scenario(a: { \"x|"] {
        assert_eq!(hover(marked), "", "{marked}");
    }
    editor.end();
}

#[test]
fn fields_members_and_names_are_completed() {
    let mut editor = Editor::start();
    let uri = "untitled:Untitled-1";
    editor.show(uri, TEXT);
    let fields = editor.labels(uri, "Scenario(\n    name: \"x\",\n    |\n    seed: 1,\n)");
    assert!(fields.contains(&"parties".to_owned()) && fields.contains(&"protocol".to_owned()), "{fields:?}");
    assert!(!fields.contains(&"name".to_owned()) && !fields.contains(&"seed".to_owned()), "{fields:?}");
    let members = editor.labels(uri, "Scenario(network: Network(default: Link(latency: |");
    assert!(
        members.contains(&"LogNormal".to_owned()) && !members.contains(&"Mesh".to_owned()),
        "{members:?}"
    );
    assert_eq!(
        editor.labels(uri, "Scenario(network: Network(default: Link(latency: Each(\"x\", [Log|"),
        members
    );
    assert_eq!(
        editor.labels(uri, "Scenario(network: Network(default: Link(latency: Each([{\"x\": 1}], |"),
        [""; 0]
    );
    let truths =
        editor.labels(uri, "Scenario(protocol: Outsourced(series: [Series(learner: GpUcb(exclude_played: |");
    assert_eq!(truths, ["true", "false"]);
    // Names of parties where a party is due, of groups too where both fit.
    assert_eq!(
        editor.labels(uri, &TEXT.replace("caller: \"server\"", "caller: |")),
        ["server", "client", "other"]
    );
    assert_eq!(
        editor.labels(uri, &TEXT.replace("caller: \"server\"", "caller: \"se|\"")),
        ["server", "client", "other"]
    );
    let rule = "Star(hub: \"server\"), links: [LinkRule(from: |)]";
    assert_eq!(
        editor.labels(uri, &TEXT.replace("Star(hub: \"server\")", rule)),
        ["server", "client", "other", "far"]
    );
    assert_eq!(editor.labels(uri, &TEXT.replace("name: \"é😀\"", "name: |")), [""; 0]);
    // What is typed already is replaced.
    let answer = editor.about("textDocument/completion", uri, "Scenario(network: Network(topology: Me|");
    let mesh =
        answer["items"].as_array().unwrap().iter().find(|item| item["label"] == "Mesh").unwrap().clone();
    assert_eq!(mesh["detail"], "topology");
    assert_eq!(mesh["textEdit"]["range"]["start"]["character"], 36);
    assert_eq!(mesh["textEdit"]["range"]["end"]["character"], 38);
    assert!(mesh["textEdit"]["newText"].as_str().unwrap().starts_with("Mesh"), "{mesh}");
    // Every completion of a member is a value that may stand there.
    let answer =
        editor.about("textDocument/completion", uri, "Scenario(network: Network(default: Link(latency: |");
    for item in answer["items"].as_array().unwrap() {
        let new = item["textEdit"]["newText"].as_str().unwrap();
        let written = subrosa::scenario::part::<subrosa::network::latency::LatencyModel>(new);
        assert!(written.is_ok() || new.ends_with("()"), "{new}");
    }
    editor.end();
}

#[test]
fn names_lead_to_their_definitions() {
    let place = TempDir::new().unwrap();
    fs::write(place.path().join("data.csv"), "x,y\n1,2\n").unwrap();
    let uri = address(&place.path().join("new.ron"));
    let mut editor = Editor::start();
    editor.show(&uri, TEXT);
    let start = |answer: &Value| {
        (answer["range"]["start"]["line"].as_u64(), answer["range"]["start"]["character"].as_u64())
    };
    let line = TEXT.lines().nth(2).unwrap();
    let column = |what: &str| (Some(2), Some(line.find(what).unwrap() as u64));
    let answer =
        editor.about("textDocument/definition", &uri, &TEXT.replace("hub: \"server", "hub: \"ser|ver"));
    assert_eq!((answer["uri"].as_str(), start(&answer)), (Some(uri.as_str()), column("\"server\"")));
    // The second of two clients.
    let marked = TEXT.replace("caller: \"server\"", "caller: \"client-|2\"");
    assert_eq!(start(&editor.about("textDocument/definition", &uri, &marked)), column("\"client\""));
    // A file beside the scenario, which need not be saved itself.
    let marked = TEXT.replace("\"data.csv\"", "\"da|ta.csv\"");
    let answer = editor.about("textDocument/definition", &uri, &marked);
    assert_eq!(answer["uri"], address(&place.path().canonicalize().unwrap().join("data.csv")));
    for marked in [TEXT.replace("\"data.csv\"", "\"no|ne.csv\""), TEXT.replace("rounds: 3", "rounds: |3")] {
        assert_eq!(editor.about("textDocument/definition", &uri, &marked), Value::Null);
    }
    editor.end();
}

#[test]
fn a_text_is_formatted_with_its_comments() {
    let mut editor = Editor::start();
    let uri = "untitled:Untitled-1";
    editor.show(uri, "Scenario( name:\"é😀\", // why\nseed:1)");
    let params = json!({ "textDocument": { "uri": uri }, "options": { "tabSize": 4, "insertSpaces": true } });
    let edits = editor.ask("textDocument/formatting", params.clone());
    assert_eq!(edits[0]["newText"], "Scenario(name: \"é😀\", // why\n    seed: 1)\n");
    assert_eq!(edits[0]["range"]["end"], json!({ "line": 1, "character": 7 }));
    editor.change(uri, edits[0]["newText"].as_str().unwrap());
    assert_eq!(editor.ask("textDocument/formatting", params.clone()), json!([]));
    // A text that cannot be read stays as it is.
    editor.change(uri, "Scenario(name: ");
    assert_eq!(editor.ask("textDocument/formatting", params), Value::Null);
    editor.end();
}

/// The extension of VS Code starts this server, and all its files are there.
#[test]
fn the_extension_is_whole() {
    let folder = root().join("editors/vscode");
    let read = |name: &str| -> Value {
        let text = fs::read_to_string(folder.join(name)).unwrap();
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
    };
    let package = read("package.json");
    assert_eq!(package["version"], env!("CARGO_PKG_VERSION"));
    let settings = &package["contributes"]["configuration"]["properties"];
    assert_eq!(settings["subrosa.command"]["default"], json!(["subrosa", "lsp"]));
    let language = &package["contributes"]["languages"][0];
    let grammar = &package["contributes"]["grammars"][0];
    assert_eq!(grammar["language"], language["id"]);
    read(language["configuration"].as_str().unwrap());
    assert_eq!(read(grammar["path"].as_str().unwrap())["scopeName"], grammar["scopeName"]);
    let program = fs::read_to_string(folder.join(package["main"].as_str().unwrap())).unwrap();
    for name in settings.as_object().unwrap().keys() {
        let name = name.strip_prefix("subrosa.").unwrap();
        assert!(program.contains(&format!("settings.get(\"{name}\")")), "{name}");
    }
}

/// An editor may ask at any moment, at any place, in any text.
#[test]
fn no_place_of_any_text_ends_the_server() {
    let mut editor = Editor::start();
    let uri = "untitled:Untitled-1";
    let hospital = fs::read_to_string(root().join("scenarios/hospital.ron")).unwrap();
    let end = hospital.char_indices().map(|(byte, _)| byte).filter(|byte| byte % 97 == 0);
    for end in end {
        let marked = format!("{}|", &hospital[..end]);
        for method in ["textDocument/hover", "textDocument/completion", "textDocument/definition"] {
            editor.about(method, uri, &marked);
        }
    }
    for text in
        ["{", "{\"name\": \"a|\"", "\u{feff}Scenario(|", "\"|", "r#\"|", "'|", "/* |", "Scenario(a: '\\u{1|"]
    {
        let marked = if text.contains('|') { text.to_owned() } else { format!("{text}|") };
        for method in ["textDocument/hover", "textDocument/completion", "textDocument/definition"] {
            editor.about(method, uri, &marked);
        }
    }
    let document = json!({ "uri": uri });
    let far = json!({ "line": 1_000_000, "character": 1_000_000_000_000u64 });
    editor.ask("textDocument/hover", json!({ "textDocument": document, "position": far }));
    editor.ask(
        "textDocument/hover",
        json!({ "textDocument": { "uri": "file:///not/open.ron" }, "position": far }),
    );
    editor.ask("textDocument/completion", json!({}));
    let answer = editor.response("textDocument/rename", json!({}));
    assert_eq!(answer["error"]["code"], -32601);
    editor.end();
}
