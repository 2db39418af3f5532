//! Scenarios in JSON: the schema that describes them, the way from RON and back, and errors with their places.

use crate::support::{code_and_output, folder, ron_files, root, run, subrosa};
use serde_json::{Map, Value, json};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use subrosa::objectives::Resources;
use subrosa::scenario::Document;
use tempfile::TempDir;

/// Every scenario of the repository, except those of examples that have members of their own.
fn scenarios() -> Vec<PathBuf> {
    ron_files(&["scenarios", "tests/golden", "src/cli/templates"])
}

fn schema() -> Value {
    let (code, stdout, stderr) = code_and_output(&subrosa(&["schema"]));
    assert_eq!((code, stderr.as_str()), (0, ""));
    serde_json::from_str(&stdout).unwrap()
}

fn document(path: &Path) -> Document {
    Document::load(path).unwrap_or_else(|error| panic!("{error}"))
}

/// A validator for the keywords that the schema uses, and only for those: a keyword that it does not know is an error.
struct Validator<'a>(&'a Value);

impl Validator<'_> {
    /// Why a value does not fit; empty if it does.
    fn faults(&self, schema: &Value, value: &Value, path: &str) -> Vec<String> {
        let Value::Object(keywords) = schema else {
            return if schema == false {
                vec![format!("{path}: nothing may stand here")]
            } else {
                Vec::new()
            };
        };
        let mut faults = Vec::new();
        for (keyword, content) in keywords {
            let wrong = |why: String| vec![format!("{path}: {why}")];
            faults.extend(match keyword.as_str() {
                "$schema" | "$defs" | "title" | "description" | "default" | "format" => Vec::new(),
                "$ref" => {
                    let target = content.as_str().unwrap().strip_prefix("#/$defs/").unwrap();
                    let target = self.0["$defs"].get(target).unwrap_or_else(|| panic!("{content}"));
                    self.faults(target, value, path)
                }
                "anyOf" | "oneOf" | "allOf" => {
                    let options = content.as_array().unwrap();
                    let each: Vec<_> = options.iter().map(|one| self.faults(one, value, path)).collect();
                    let fitting = each.iter().filter(|faults| faults.is_empty()).count();
                    let fits = match keyword.as_str() {
                        "anyOf" => fitting > 0,
                        "oneOf" => fitting == 1,
                        _ => fitting == options.len(),
                    };
                    // The longest list of faults is that of the alternative that came furthest.
                    let nearest = each.into_iter().max_by_key(|faults| faults.iter().map(String::len).max());
                    if fits {
                        Vec::new()
                    } else {
                        nearest
                            .filter(|_| fitting == 0)
                            .unwrap_or_else(|| wrong(format!("{fitting} alternatives fit")))
                    }
                }
                "type" => {
                    let is = |kind: &Value| match kind.as_str().unwrap() {
                        "object" => value.is_object(),
                        "array" => value.is_array(),
                        "string" => value.is_string(),
                        "number" => value.is_number(),
                        "integer" => value.is_u64() || value.is_i64(),
                        "boolean" => value.is_boolean(),
                        "null" => value.is_null(),
                        other => panic!("type {other}"),
                    };
                    let fits = content.as_array().map_or_else(|| is(content), |kinds| kinds.iter().any(is));
                    if fits { Vec::new() } else { wrong(format!("{value} is not {content}")) }
                }
                "const" if value != content => wrong(format!("{value} is not {content}")),
                "enum" if !content.as_array().unwrap().contains(value) => {
                    wrong(format!("{value} not in {content}"))
                }
                "const" | "enum" => Vec::new(),
                "minimum" | "maximum" => match (value.as_f64(), content.as_f64().unwrap()) {
                    (Some(number), least) if keyword == "minimum" && number < least => {
                        wrong(format!("below {least}"))
                    }
                    (Some(number), most) if keyword == "maximum" && number > most => {
                        wrong(format!("above {most}"))
                    }
                    _ => Vec::new(),
                },
                "required" => {
                    let missing =
                        |name: &&Value| value.is_object() && value.get(name.as_str().unwrap()).is_none();
                    content
                        .as_array()
                        .unwrap()
                        .iter()
                        .filter(missing)
                        .flat_map(|name| wrong(format!("no {name}")))
                        .collect()
                }
                "properties" => {
                    let there = content
                        .as_object()
                        .unwrap()
                        .iter()
                        .filter_map(|(name, one)| Some((name, one, value.get(name)?)));
                    there
                        .flat_map(|(name, one, value)| self.faults(one, value, &format!("{path}.{name}")))
                        .collect()
                }
                "additionalProperties" => {
                    let known = keywords.get("properties").and_then(Value::as_object);
                    let other = |name: &str| known.is_none_or(|known| !known.contains_key(name));
                    let others = value.as_object().into_iter().flatten().filter(|(name, _)| other(name));
                    others
                        .flat_map(|(name, value)| self.faults(content, value, &format!("{path}.{name}")))
                        .collect()
                }
                "items" | "prefixItems" => {
                    let before = keywords.get("prefixItems").and_then(Value::as_array).map_or(0, Vec::len);
                    let of = |index: usize| match keyword.as_str() {
                        "prefixItems" => content.get(index),
                        _ => (index >= before).then_some(content),
                    };
                    let items = value.as_array().into_iter().flatten().enumerate();
                    let items = items.filter_map(|(index, item)| Some((index, of(index)?, item)));
                    items
                        .flat_map(|(index, one, item)| self.faults(one, item, &format!("{path}[{index}]")))
                        .collect()
                }
                "minItems" | "maxItems" | "uniqueItems" => {
                    match (value.as_array().map(Vec::len), content.as_u64()) {
                        (Some(length), Some(least)) if keyword == "minItems" && (length as u64) < least => {
                            wrong(format!("fewer than {least}"))
                        }
                        (Some(length), Some(most)) if keyword == "maxItems" && (length as u64) > most => {
                            wrong(format!("more than {most}"))
                        }
                        _ => Vec::new(),
                    }
                }
                other => panic!("the schema has the keyword {other}: {path}"),
            });
        }
        faults
    }
}

#[test]
fn every_scenario_in_json_fits_the_schema_and_means_the_same() {
    let schema = schema();
    let validator = Validator(&schema);
    let mut valid = 0;
    for path in scenarios() {
        let shown = path.display();
        let original = document(&path);
        let text = original.json().unwrap_or_else(|error| panic!("{shown}: {error}"));
        let value: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{shown}: {error}"));
        let faults = validator.faults(&schema, &value, "");
        assert!(faults.is_empty(), "{shown}: {}", faults.join("\n"));
        let in_json = Document::from_text(&path, text);
        assert!(in_json.is_json() && !original.is_json());
        let back =
            Document::from_text(&path, in_json.ron().unwrap_or_else(|error| panic!("{shown}: {error}")));
        let base = path.parent().unwrap().to_owned();
        // The axes and the settings of every cell; of a scenario whose data may not be passed on, what `check` says.
        let cells = |document: &Document| {
            let resources = Resources { base: base.clone(), ..Resources::default() };
            let axes =
                |point: Vec<(String, String)>| point.into_iter().map(|(axis, _)| axis).collect::<Vec<_>>();
            match document.cells(&[], &resources) {
                Ok(cells) => {
                    let cells = cells.into_iter();
                    Ok(cells
                        .map(|(point, scenario)| (axes(point), scenario.draft().clone()))
                        .collect::<Vec<_>>())
                }
                Err(found) => {
                    Err(found.list.into_iter().map(|one| (one.path, one.message)).collect::<Vec<_>>())
                }
            }
        };
        let expected = cells(&original);
        valid += usize::from(expected.is_ok());
        for other in [&in_json, &back] {
            assert!(cells(other) == expected, "{shown}: {:?}, expected {expected:?}", cells(other));
        }
    }
    assert!(valid > 40, "{valid} scenarios are valid");
}

/// The schema is refused where it does not describe a scenario.
#[test]
fn the_schema_refuses_what_no_scenario_has() {
    let schema = schema();
    let validator = Validator(&schema);
    let text = document(&root().join("tests/golden/echo.ron")).json().unwrap();
    let echo: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(validator.faults(&schema, &echo, ""), Vec::<String>::new());
    for (path, value) in [
        ("/seed", json!("eleven")),
        ("/seed", json!(-1)),
        ("/network/topology", json!("Star")),
        ("/network/topology", json!({ "Star": { "hub": "caller" }, "Mesh": {} })),
        ("/network/topology", json!({ "Sta": { "hub": "caller" } })),
        ("/network/default", json!({ "latency": { "Exponential": {} } })),
        ("/replications", json!({ "Each": [] })),
        ("/replications", json!({ "Each": ["n", 3] })),
        ("/parties/near/availabilty", json!({ "PerMessage": 0.9 })),
    ] {
        let mut wrong = echo.clone();
        let (owner, field) = path.rsplit_once('/').unwrap();
        wrong.pointer_mut(owner).unwrap()[field] = value.clone();
        assert!(!validator.faults(&schema, &wrong, "").is_empty(), "{path}: {value}");
    }
    let mut each = echo.clone();
    each["replications"] = json!({ "Each": ["n", { "Range": [1, 3] }] });
    each["$schema"] = "scenario.schema.json".into();
    each["parties"]["near"] = json!({ "Each": ["near", [{}, { "group": "here" }]] });
    assert_eq!(validator.faults(&schema, &each, ""), Vec::<String>::new());
}

/// The same by the validator of Python, where there is one.
#[test]
fn another_validator_agrees() {
    let found =
        Command::new("python3").args(["-c", "import jsonschema; jsonschema.Draft202012Validator"]).output();
    if !found.is_ok_and(|found| found.status.success()) {
        eprintln!("SKIPPED: python3 has no jsonschema; the schema was checked by our own validator alone");
        return;
    }
    let place = TempDir::new().unwrap();
    fs::write(place.path().join("schema"), schema().to_string()).unwrap();
    for (index, path) in scenarios().iter().enumerate() {
        fs::write(place.path().join(format!("{index}.json")), document(path).json().unwrap()).unwrap();
    }
    let program = "import glob, json, jsonschema\n\
                   schema = json.load(open('schema'))\n\
                   jsonschema.Draft202012Validator.check_schema(schema)\n\
                   validator = jsonschema.Draft202012Validator(schema)\n\
                   files = glob.glob('*.json')\n\
                   for file in files:\n    validator.validate(json.load(open(file)))\n\
                   wrong = json.load(open('0.json'))\n\
                   wrong['sed'] = 1\n\
                   assert not validator.is_valid(wrong)\n\
                   print(len(files))\n";
    let output = Command::new("python3").args(["-c", program]).current_dir(place.path()).output().unwrap();
    let (code, stdout, stderr) = code_and_output(&output);
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(stdout.trim(), scenarios().len().to_string());
}

fn digests() -> Vec<(String, String)> {
    let text = fs::read_to_string(root().join("tests/golden/digests.txt")).unwrap();
    let pair = |line: &str| line.split_once(' ').map(|(name, digest)| (name.to_owned(), digest.to_owned()));
    text.lines().filter_map(pair).collect()
}

#[test]
fn a_scenario_in_json_is_run_with_the_same_digest() {
    let place = TempDir::new().unwrap();
    let digests = digests();
    assert_eq!(digests.len(), 4);
    for (name, digest) in digests {
        let original = format!("tests/golden/{name}.ron");
        let (code, in_json, stderr) = code_and_output(&subrosa(&["convert", &original]));
        assert!(code == 0 && !stderr.contains("error"), "{stderr}");
        let file = place.path().join(format!("{name}.json"));
        fs::write(&file, &in_json).unwrap();
        let file = file.to_str().unwrap();
        let document = run(file, &place.path().join("json"), &[]);
        assert_eq!(document["digest"], digest, "{name}");
        let folder = folder(&document);
        // The folder keeps the scenario in RON, as that of any run.
        let kept = fs::read_to_string(folder.join("scenario.ron")).unwrap();
        assert!(kept.starts_with("Scenario("), "{kept}");
        let (code, stdout, stderr) = code_and_output(&subrosa(&["replay", folder.to_str().unwrap()]));
        assert!(code == 0 && stdout.contains("replay agrees"), "{stdout}{stderr}");
        let (code, back, _) = code_and_output(&subrosa(&["convert", file]));
        assert_eq!((code, &back), (0, &kept));
        let file = place.path().join(format!("{name}.ron"));
        fs::write(&file, &back).unwrap();
        let document = run(file.to_str().unwrap(), &place.path().join("back"), &[]);
        assert_eq!(document["digest"], digest, "{name}");
        // Once there, the way is the same: nothing is lost the second time.
        let (_, again, _) = code_and_output(&subrosa(&["convert", file.to_str().unwrap()]));
        assert_eq!(again, in_json);
    }
}

/// What is in JSON: the smallest scenario with an `Each`, labels, an optional value, a duration, a unit member, a tuple.
const STUDY: &str = r#"{
  "$schema": "./scenario.schema.json",
  "name": "in JSON",
  "about": "A study.\nIts \"text\" has escapes: \u00e4\ud83d\ude00",
  "seed": 3.0,
  "replications": 2,
  "parties": { "a": {}, "b b": { "count": null, "availability": { "PerMessage": 0.9 } }, "c": {} },
  "network": {
    "topology": { "Edges": [["a", "b b"], ["b b", "c"]] },
    "encryption": "EndToEnd",
    "default": {
      "latency": { "Each": ["delay", { "short": { "Constant": "2ms" }, "long": { "Uniform": { "low": "1s", "high": "2s" } } }] }
    }
  },
  "protocol": { "Echo": { "caller": "a", "rounds": { "Each": [{ "Range": [2, 5] }] } } }
}"#;

#[test]
fn studies_overrides_and_standard_input_work_in_json_too() {
    let place = TempDir::new().unwrap();
    let file = place.path().join("study.json");
    fs::write(&file, STUDY).unwrap();
    let more = ["-o", "network.default.loss=Independent(0.25)", "-o", "parties.c=Party(group: \"g\")"];
    let document = run(file.to_str().unwrap(), place.path(), &more);
    let points: Vec<&Value> =
        document["cells"].as_array().unwrap().iter().map(|cell| &cell["point"]).collect();
    assert_eq!(points.len(), 6);
    let point = |delay: &str, rounds: u64| {
        Value::Object(Map::from_iter([
            ("delay".to_owned(), delay.into()),
            ("protocol.rounds".to_owned(), rounds.into()),
        ]))
    };
    assert_eq!((points[0], points[5]), (&point("short", 2), &point("long", 4)));
    assert_eq!(document["about"], "A study.\nIts \"text\" has escapes: ä😀");
    let resolved = fs::read_to_string(folder(&document).join("resolved.ron")).unwrap();
    assert!(resolved.contains("Independent(0.25)") && resolved.contains("\"g\""), "{resolved}");
    let (code, stdout, stderr) = code_and_output(&subrosa(&["replay", folder(&document).to_str().unwrap()]));
    assert!(code == 0 && stdout.contains("replay agrees"), "{stdout}{stderr}");
    let mut child = Command::new(env!("CARGO_BIN_EXE_subrosa"))
        .args(["check", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(STUDY.as_bytes()).unwrap();
    let (code, stdout, _) = code_and_output(&child.wait_with_output().unwrap());
    assert!(code == 0 && stdout.contains("6 cells"), "{stdout}");
}

/// Path, line and column, and message of every diagnostic of a text in JSON.
fn refused(text: &str) -> Vec<(String, u64, u64, String)> {
    let place = TempDir::new().unwrap();
    let file = place.path().join("wrong.json");
    fs::write(&file, text).unwrap();
    let (code, stdout, _) = code_and_output(&subrosa(&["check", file.to_str().unwrap(), "--format", "json"]));
    assert_eq!(code, 3, "{stdout}");
    let document: Value = serde_json::from_str(&stdout).unwrap();
    let one = |found: &Value| {
        let number = |key: &str| found[key].as_u64().unwrap_or(0);
        let words = |key: &str| found[key].as_str().unwrap_or_default().to_owned();
        (words("path"), number("line"), number("column"), words("message"))
    };
    document["diagnostics"].as_array().unwrap().iter().map(one).collect()
}

#[test]
fn errors_have_their_places_in_the_json() {
    let place = |line: u64, what: &str| {
        let column = STUDY.lines().nth(line as usize - 1).unwrap().find(what).unwrap() as u64 + 1;
        (line, column)
    };
    // Errors of form, all at once.
    let text = STUDY.replace("\"PerMessage\"", "\"PerMesage\"").replace("\"seed\": 3.0", "\"sede\": 3.0");
    let found = refused(&text);
    let places: Vec<(u64, u64)> = found.iter().map(|(_, line, column, _)| (*line, *column)).collect();
    assert!(found.iter().any(|one| one.3 == "unknown field `sede`"), "{found:?}");
    assert!(found.iter().any(|one| one.3 == "unknown name `PerMesage`"), "{found:?}");
    let expected = [place(5, "seed"), place(7, "PerMessage")];
    assert!(expected.iter().all(|place| places.contains(place)), "{found:?}, expected {expected:?}");
    // Errors of meaning.
    let found = refused(&STUDY.replace("\"caller\": \"a\"", "\"caller\": \"d\""));
    let (line, column) = place(15, "\"a\"");
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].1, found[0].2), (line, column), "{found:?}");
    // A value of an `Each`, a label, a duplicate key, and a key that is no name of a field.
    let found = refused(&STUDY.replace("\"Constant\": \"2ms\"", "\"Constant\": \"2 yd\""));
    assert_eq!((found[0].1, found[0].2), place(12, "\"2ms\""), "{found:?}");
    let found = refused(&STUDY.replace("\"c\": {}", "\"a\": {}"));
    assert_eq!((found[0].1, found[0].3.as_str()), (7, "duplicate key `a`"));
    let found = refused(&STUDY.replace("\"about\"", "\"about it\""));
    assert_eq!((found[0].1, found[0].2, found[0].3.as_str()), (4, 3, "unknown field \"about it\""));
    // Two members where one is expected, and none.
    let found = refused(&STUDY.replace("{ \"PerMessage\": 0.9 }", "{ \"PerMessage\": 0.9, \"Always\": {} }"));
    assert!(found[0].1 == 7 && found[0].3.contains("an object with 2 keys"), "{found:?}");
    let found = refused(&STUDY.replace("{ \"PerMessage\": 0.9 }", "{}"));
    assert!(found[0].1 == 7 && found[0].3.contains("an object without a key"), "{found:?}");
    // Syntax.
    let found = refused(&STUDY.replace("\"replications\": 2,", "\"replications\": 2"));
    assert!(found[0].1 == 7 && found[0].3.starts_with("not valid JSON: expected `,` or `}`"), "{found:?}");
    let found = refused(&STUDY.replace("\\ud83d\\ude00", "\\ud83d"));
    assert!(found[0].1 == 4 && found[0].3.starts_with("not valid JSON"), "{found:?}");
    let found = refused("{ \"name\": ");
    assert!(found[0].1 == 1 && found[0].3.starts_with("not valid JSON: EOF"), "{found:?}");
    let found = refused("{}");
    assert!(found[0].3.starts_with("missing field `name`"), "{found:?}");
    // Null is no name, not even where `None` is one.
    let found = refused(&STUDY.replace("\"EndToEnd\"", "null"));
    assert!(found[0].1 == 10 && found[0].3 == "expected a name, found null", "{found:?}");
    // Null where a value is needed, and a text that only looks like a member.
    for (old, new) in
        [("\"seed\": 3.0", "\"seed\": null"), ("\"EndToEnd\"", "\"End to end\""), ("0.9", "\"0.9\"")]
    {
        assert!(!refused(&STUDY.replace(old, new)).is_empty());
    }
    let deep = format!("{{\"a\": {}1{}}}", "[".repeat(500), "]".repeat(500));
    assert!(refused(&deep)[0].3.starts_with("brackets more than 64 deep"));
}

#[test]
fn an_account_is_read_in_json_too() {
    let place = TempDir::new().unwrap();
    let (ron, json) = (place.path().join("a.ron"), place.path().join("a.json"));
    fs::write(&ron, "Account(delta: 1e-5, events: [Gaussian(noise_multiplier: 2, count: 10)])").unwrap();
    let text = r#"{ "delta": 1e-5, "events": [{ "Gaussian": { "noise_multiplier": 2, "count": 10 } }] }"#;
    fs::write(&json, text).unwrap();
    let table = |file: &Path| {
        let (code, stdout, stderr) =
            code_and_output(&subrosa(&["account", file.to_str().unwrap(), "--format", "json"]));
        assert_eq!(code, 0, "{stderr}");
        serde_json::from_str::<Value>(&stdout).unwrap()
    };
    let (one, other) = (table(&ron), table(&json));
    assert_eq!(one["accountants"], other["accountants"]);
    assert!(one.to_string().contains("tight"), "{one}");
}

#[test]
fn comments_cannot_be_written_in_json() {
    let place = TempDir::new().unwrap();
    let file = place.path().join("a.ron");
    fs::write(&file, "// one\nScenario(name: \"a\" /* two */)").unwrap();
    let (code, stdout, stderr) = code_and_output(&subrosa(&["convert", file.to_str().unwrap()]));
    assert_eq!((code, stdout.as_str()), (0, "{ \"name\": \"a\" }\n"));
    assert!(stderr.contains("2 comments left out"), "{stderr}");
    fs::write(&file, "Scenario(name: ").unwrap();
    assert_eq!(code_and_output(&subrosa(&["convert", file.to_str().unwrap()])).0, 3);
}
