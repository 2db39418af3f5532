//! Programs as learners, objectives and mechanisms for outcomes: played, kept, repeated without the program, and what
//! becomes of those that fail.
#![cfg(unix)]

use crate::support::{code_and_output, folder, metric, root, run, subrosa};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Answers as learner and as objective, notes every line that it is sent in asked.log, and does wrong what $1 says.
const PROGRAM: &str = r#"
number() {
    rest=${line#*\""$1"\":}
    rest=${rest%%,*}
    printf '%s' "${rest%%\}*}"
}
turn=0
# Waits until somebody says go on.
stops() {
    : > stopped
    until [ -e go ]; do sleep 0.05; done
}
while IFS= read -r line; do
    printf '%s\n' "$line" >> asked.log
    id=$(number id)
    answer=
    case $line in
    *'"ask":"hello"'*) answer='"protocol":1,"version":"test 1"' ;;
    *'"ask":"begin"'*)
        arms=$(number arms)
        answer='"ready":true'
        turn=$(printf '%s' "${line#*\"past\":}" | tr '{' '\n' | grep -v outcome | grep -c '"arm"')
        ;;
    *'"ask":"suggest"'*)
        answer="\"arm\":$((turn * 7 % arms))"
        if [ "$1" = seeded ]; then answer="\"arm\":$(($(number seed) % arms))"; fi
        turn=$((turn + 1))
        if [ $turn -eq 5 ]; then
            case $1 in
            dies | seeded) if [ ! -e died ]; then : > died; echo "no memory left" >&2; exit 3; fi ;;
            hangs) echo "thinking" >&2; sleep 1000 & echo $! > pid; wait ;;
            garbage) printf 'arm seven\n'; continue ;;
            nan) answer='"arm":NaN' ;;
            large) answer="\"arm\":$arms" ;;
            other) id=99 ;;
            silent) exec >&-; sleep 1000 & echo $! > pid; wait ;;
            endless) tr '\0' 'x' < /dev/zero ;;
            leaves) sleep 1000 & echo $! > pid; exit 3 ;;
            both) if [ ! -e died ]; then : > died; exit 3; fi; stops ;;
            stops) stops ;;
            esac
        fi
        ;;
    *'"ask":"answer"'*)
        first=${line#*'"seeds":['}
        answer="\"outcome\":-0.$(( ${first%%,*} % 1000 ))5"
        turn=$((turn + 1))
        if [ $turn -eq 4 ]; then
            case $1 in
            dies) if [ ! -e died ]; then : > died; echo "no entropy left" >&2; exit 3; fi ;;
            nan) answer='"outcome":NaN' ;;
            esac
        fi
        ;;
    *'"ask":"value"'*)
        arm=$(number arm)
        answer="\"value\":0.$((arm * 37 % 101))"
        if [ "$arm" -eq 4 ]; then
            case $1 in
            dies) if [ ! -e died ]; then : > died; echo "no memory left" >&2; exit 3; fi ;;
            stops) stops ;;
            nan) answer='"value":NaN' ;;
            large) answer='"value":1e999' ;;
            esac
        fi
        ;;
    esac
    printf '{"id":%s,%s}\n' "$id" "$answer"
done
"#;

const ROUNDS: usize = 8;

/// A folder with the program and a scenario.
struct Place(TempDir);

impl Place {
    fn new(protocol: &str, objective: &str) -> Self {
        let place = Self(TempDir::new().unwrap());
        fs::write(place.path("program.sh"), PROGRAM).unwrap();
        let text = format!(
            r#"Scenario(
    name: "outside", seed: 5, replications: 3,
    parties: {{ "a": Party(), "b": Party() }},
    network: Network(topology: Mesh(), default: Link(latency: Constant("10ms"))),
    objective: {objective},
    protocol: {protocol},
)"#
        );
        fs::write(place.path("outside.ron"), text).unwrap();
        place
    }

    /// A modeler whose learner is the program.
    fn learner(mode: &str) -> Self {
        Self::new(&outsourced(mode, "Disclosure()", ""), GRID)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn scenario(&self) -> String {
        self.path("outside.ron").to_str().unwrap().to_owned()
    }

    fn edit(&self, from: &str, to: &str) {
        let text = fs::read_to_string(self.scenario()).unwrap();
        assert!(text.contains(from), "{from}");
        fs::write(self.scenario(), text.replace(from, to)).unwrap();
    }

    /// Exit code, standard output and error of `subrosa run`.
    fn run(&self, more: &[&str]) -> (i32, String, String) {
        let (scenario, out) = (self.scenario(), self.path("runs"));
        let mut arguments = vec!["run", &scenario, "--out", out.to_str().unwrap(), "--format", "json"];
        arguments.extend(more);
        code_and_output(&subrosa(&arguments))
    }

    /// A run that ends well.
    fn document(&self, more: &[&str]) -> Value {
        let (code, stdout, stderr) = self.run(more);
        assert_eq!(code, 0, "{stderr}");
        serde_json::from_str(&stdout).unwrap()
    }

    /// The lines that the program was sent and that hold a text.
    fn asked(&self, what: &str) -> Vec<Value> {
        let text = fs::read_to_string(self.path("asked.log")).unwrap_or_default();
        let lines = text.lines().filter(|line| line.contains(&format!("\"ask\":\"{what}\"")));
        lines.map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn forget(&self) {
        fs::remove_file(self.path("asked.log")).unwrap();
    }
}

const GRID: &str = "BraninHoo(grid: [5, 5])";

fn outsourced(mode: &str, release: &str, more: &str) -> String {
    format!(
        r#"Outsourced(curator: "a", modeler: "b", rounds: {ROUNDS}, series: [
        Series(name: "program", release: {release}, learner: External(command: ["sh", "program.sh", "{mode}"], timeout: "20s"{more})),
    ])"#
    )
}

/// The program as an objective of 12 settings.
fn objective(mode: &str) -> String {
    format!(
        r#"External(command: ["sh", "program.sh", "{mode}"], axes: [(low: -1, high: 1, values: 4), (low: 0.01, high: 1, values: 3, logarithmic: true)])"#
    )
}

const WITH_GP: &str = r#"Outsourced(curator: "a", modeler: "b", rounds: 8, series: [
        Series(name: "GP-UCB", release: Disclosure(), learner: GpUcb()),
    ])"#;

fn digest(run: &Path) -> String {
    fs::read_to_string(run.join("digest.txt")).unwrap()
}

fn manifest(run: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(run.join("manifest.json")).unwrap()).unwrap()
}

fn assert_replays(run: &Path, replications: u64) {
    let (code, stdout, stderr) = code_and_output(&subrosa(&["replay", run.to_str().unwrap()]));
    assert_eq!(code, 0, "{stdout}{stderr}");
    assert!(stdout.contains(&format!("replay agrees: {replications} replications")), "{stdout}");
}

#[test]
fn a_learner_plays_and_its_run_is_repeated_without_it() {
    let place = Place::learner("fine");
    let (code, stdout, stderr) = place.run(&["--threads", "1"]);
    assert_eq!(code, 0, "{stderr}");
    let notes: Vec<&str> = stderr.lines().filter(|line| line.contains("with your rights")).collect();
    assert_eq!(notes.len(), 1, "said once: {stderr}");
    assert!(notes[0].contains("`sh program.sh fine`"), "{stderr}");
    let run = folder(&serde_json::from_str(&stdout).unwrap());
    // One process asks for the version, and one plays each replication.
    assert_eq!(place.asked("hello").len(), 4);
    assert_eq!(place.asked("begin").len(), 3);
    assert_eq!(place.asked("suggest").len(), 3 * ROUNDS);
    let first: Vec<Value> = place.asked("suggest").into_iter().take(ROUNDS).collect();
    // The initial point is told before the first choice, and one outcome before each further one.
    assert!(first.iter().all(|line| line["told"].as_array().unwrap().len() == 1), "{first:?}");
    let records = fs::read_to_string(run.join("records.jsonl")).unwrap();
    let record: Value = serde_json::from_str(records.lines().next().unwrap()).unwrap();
    let chosen: Vec<u64> = (0..ROUNDS as u64).map(|turn| turn * 7 % 25).collect();
    assert_eq!(record["series"][0]["programs"][0]["answers"], serde_json::json!(chosen));
    let arms: Vec<u64> = record["series"][0]["iterations"].as_array().unwrap()[1..]
        .iter()
        .map(|iteration| iteration["arm"].as_u64().unwrap())
        .collect();
    assert_eq!(arms, chosen, "what it chose was measured");
    let named = &manifest(&run)["programs"][0];
    assert_eq!(named["command"], serde_json::json!(["sh", "program.sh", "fine"]));
    assert_eq!(named["version"], "test 1");
    assert_eq!(named["files"]["program.sh"], blake3_of(PROGRAM));
    assert!(!run.join("unfinished").exists(), "all answers are in the records");

    fs::remove_file(place.path("program.sh")).unwrap();
    place.forget();
    assert_replays(&run, 3);
    let path = run.to_str().unwrap();
    let (code, stdout, stderr) =
        code_and_output(&subrosa(&["replay", path, "--diff", path, "--replication", "1"]));
    assert_eq!((code, stdout.trim()), (0, "no event differs"), "{stderr}");
    assert!(!place.path("asked.log").exists(), "nothing was asked");
    // To play on it must be there.
    let (code, stdout, _) = place.run(&[]);
    assert_eq!(code, 3);
    assert!(stdout.contains("a file for sh to read") && stdout.contains("program.sh"), "{stdout}");
}

fn blake3_of(text: &str) -> String {
    // As `b3sum` has it; the run's own words are compared with another run's below.
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

#[test]
fn threads_change_nothing_and_every_replication_has_a_process() {
    let (one, two) = (Place::learner("fine"), Place::learner("fine"));
    let runs =
        [(&one, "1"), (&two, "2")].map(|(place, threads)| folder(&place.document(&["--threads", threads])));
    assert_eq!(digest(&runs[0]), digest(&runs[1]));
    let mut lines = [&one, &two]
        .map(|place| place.asked("suggest").iter().map(|line| line["seed"].to_string()).collect::<Vec<_>>());
    lines.iter_mut().for_each(|seeds| seeds.sort());
    assert_eq!(lines[0], lines[1], "the same seeds, in another order at most");
    lines[0].dedup();
    assert_eq!(lines[0].len(), 3 * ROUNDS, "one for each question");
}

#[test]
fn what_was_answered_before_a_death_is_not_asked_again() {
    let place = Place::learner("dies");
    let (code, stdout, stderr) = place.run(&["--threads", "1"]);
    assert_eq!(code, 4, "{stderr}");
    assert!(
        stderr.contains("replication 0: series \"program\": the program `sh program.sh dies` ended"),
        "{stderr}"
    );
    assert!(stderr.contains("exit status: 3") && stderr.contains("question 5 (suggest)"), "{stderr}");
    assert!(stderr.contains("| no memory left"), "{stderr}");
    assert_eq!(stderr.matches("failed: ").count(), 1, "the others are there: {stderr}");
    let document: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(document["cells"][0]["series"][0]["metrics"]["simple_regret"]["n"], 2);
    let run = folder(&document);
    assert_eq!(fs::read_dir(run.join("unfinished")).unwrap().count(), 1);
    assert_eq!(place.asked("suggest").len(), 2 * ROUNDS + 5);

    place.forget();
    // A longer time is the same study.
    place.edit("timeout: \"20s\"", "timeout: \"30s\"");
    let document = place.document(&["--threads", "1"]);
    assert_eq!(folder(&document), run);
    let asked = place.asked("suggest");
    assert_eq!(asked.len(), ROUNDS - 4, "four were answered");
    let begin = &place.asked("begin")[0];
    let past = begin["past"].as_array().unwrap();
    let choices = past.iter().filter(|step| step.get("outcome").is_none()).count();
    // The initial point, three outcomes, and four choices: the outcome of the fourth is news.
    assert_eq!((past.len(), choices, asked[0]["told"].as_array().unwrap().len()), (8, 4, 1), "{begin}");
    assert!(!run.join("unfinished").exists());
    assert_replays(&run, 3);
    let calm = Place::learner("fine");
    assert_eq!(digest(&run), digest(&folder(&calm.document(&[]))), "as if it had never died");
}

#[test]
fn a_torn_line_of_answers_is_asked_again() {
    let place = Place::learner("dies");
    let (code, stdout, _) = place.run(&["--threads", "1"]);
    assert_eq!(code, 4);
    let run = folder(&serde_json::from_str(&stdout).unwrap());
    let kept = fs::read_dir(run.join("unfinished")).unwrap().next().unwrap().unwrap().path();
    let text = fs::read_to_string(&kept).unwrap();
    assert_eq!(text.lines().count(), 4);
    // The second line is changed, and the last is torn as by a kill.
    let changed = text.replacen("\"number\":1", "\"number\":7", 1);
    fs::write(&kept, &changed[..changed.len() - 9]).unwrap();
    place.forget();
    place.document(&["--threads", "1"]);
    // The second is asked again; the third is known; the fourth is not.
    let asked = place.asked("suggest");
    assert_eq!(asked.len(), ROUNDS - 2, "{asked:?}");
    assert_replays(&run, 3);
}

#[test]
fn a_program_that_goes_wrong_ends_its_replication_alone() {
    let cases = [
        ("hangs", "gave no answer to question 5 (suggest) within 400ms"),
        ("garbage", "question 5 (suggest) with arm seven, expected one line of JSON with \"id\":6"),
        (
            "nan",
            "{\"id\":6,\"arm\":NaN}, expected one line of JSON with \"id\":6 and finite numbers (JSON has no NaN",
        ),
        ("large", "{\"id\":6,\"arm\":25}, expected \"arm\": a whole number from 0 to 24"),
        ("other", "expected one line of JSON with \"id\":6"),
        ("silent", "ended (it closed its standard output) before it answered question 5 (suggest)"),
        ("leaves", "ended (exit status: 3) before it answered question 5 (suggest)"),
        ("endless", "with more than 1048576 bytes, expected one line of JSON"),
    ];
    for (mode, expected) in cases {
        let place = Place::learner(mode);
        if mode == "hangs" {
            place.edit("timeout: \"20s\"", "timeout: \"400ms\"");
        }
        let (code, _, stderr) = place.run(&["--replications", "1", "--threads", "1"]);
        assert_eq!(code, 4, "{mode}: {stderr}");
        assert!(stderr.contains(expected), "{mode}: {stderr}");
        assert!(
            stderr.contains("replication 0: series \"program\": the program `sh program.sh "),
            "{stderr}"
        );
        assert_eq!(stderr.contains("| thinking"), mode == "hangs", "{stderr}");
        if let Ok(pid) = fs::read_to_string(place.path("pid")) {
            // What it had started itself is gone too, or a zombie that nobody has collected.
            let state = Command::new("ps").args(["-o", "stat=", "-p", pid.trim()]).output();
            let state = state.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
            assert!(
                state.is_err()
                    || state.as_ref().is_ok_and(|state| state.is_empty() || state.starts_with('Z')),
                "{state:?}"
            );
        }
    }
}

#[test]
fn a_program_of_another_protocol_or_none_is_told_before_the_study() {
    let place = Place::learner("fine");
    fs::write(place.path("program.sh"), PROGRAM.replace("\"protocol\":1", "\"protocol\":2")).unwrap();
    let (code, _, stderr) = place.run(&[]);
    assert_eq!(code, 4, "{stderr}");
    assert!(
        stderr.contains("the greeting (hello) with") && stderr.contains("expected {\"id\":0,\"protocol\":1"),
        "{stderr}"
    );
    assert!(!place.path("runs").exists(), "no study was begun");
    place.edit("\"sh\"", "\"no-such-program\"");
    let (code, stdout, _) = place.run(&[]);
    assert_eq!(code, 3, "{stdout}");
    assert!(stdout.contains("a program that is installed"), "{stdout}");
    place.edit("command: [\"no-such-program\", \"program.sh\", \"fine\"]", "command: []");
    let (code, stdout, _) = place.run(&[]);
    assert_eq!(code, 3, "{stdout}");
    assert!(stdout.contains("a program and its arguments"), "{stdout}");
}

/// A dry run sends messages and an audit attacks releases: neither starts a learner, names it, or needs it.
#[test]
fn what_is_not_started_is_neither_announced_nor_needed() {
    let place = Place::new(
        &outsourced("fine", "Disclosure()", "").replace(
            "learner:",
            "outcomes: ClippedLaplace(epsilon: 1, range: Range(low: -2, high: 2)), learner:",
        ),
        GRID,
    );
    fs::remove_file(place.path("program.sh")).unwrap();
    let scenario = place.scenario();
    let (code, _, stderr) = code_and_output(&subrosa(&["run", &scenario, "--dry", "--threads", "1"]));
    assert_eq!((code, stderr.contains("program")), (0, false), "{stderr}");
    let audit = ["audit", &scenario, "--trials", "400", "--threads", "1"];
    let (code, _, stderr) = code_and_output(&subrosa(&audit));
    assert_eq!((code, stderr.contains("program")), (0, false), "{stderr}");
    let (code, _, stderr) = code_and_output(&subrosa(&["run", &scenario]));
    assert_eq!((code, stderr.contains("a file for sh to read")), (3, true), "{stderr}");
    // An objective is started where messages or releases depend on it.
    let place = Place::new(WITH_GP, &objective("fine"));
    let (code, _, stderr) = code_and_output(&subrosa(&["run", &place.scenario(), "--dry", "--threads", "1"]));
    assert_eq!((code, stderr.contains("`sh program.sh fine`")), (0, true), "{stderr}");
    assert!(!place.asked("value").is_empty());
    fs::remove_file(place.path("program.sh")).unwrap();
    let (code, _, stderr) = code_and_output(&subrosa(&["run", &place.scenario(), "--dry"]));
    assert_eq!((code, stderr.contains("a file for sh to read")), (3, true), "{stderr}");
    // Users' messages do not depend on it.
    let local = r#"Local(service: "a", users: "b", rounds: 8, series: [Series(name: "r", report: Ctl(epsilon: 1, bound: Some(5)), learner: Random())])"#;
    let place = Place::new(local, &objective("fine"));
    fs::remove_file(place.path("program.sh")).unwrap();
    let (code, _, stderr) = code_and_output(&subrosa(&["run", &place.scenario(), "--dry", "--threads", "1"]));
    assert_eq!((code, stderr.contains("program")), (0, false), "{stderr}");
}

/// `calibrate --scenario` needs the inputs, for which it starts the objective's program, and announces this as `run` does.
#[test]
fn a_choice_of_columns_announces_the_program_of_the_objective() {
    let release = "JohnsonLindenstrauss(epsilon: 3, delta: 1e-3, r: 2)";
    let protocol = WITH_GP.replace("Disclosure()", release);
    let place = Place::new(&protocol, &objective("fine"));
    let (code, _, stderr) = code_and_output(&subrosa(&["calibrate", "--scenario", &place.scenario()]));
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.contains("this scenario starts 1 program with your rights"), "{stderr}");
}

/// The auditor searches on neighbouring data, which a program would have to do too: the series is left out, with the reason.
#[test]
fn a_release_after_a_search_by_a_program_is_said_not_to_be_attacked() {
    let release = r#"Release(owner: "a", readers: ["b"], rounds: 4, series: [
        Series(name: "private", publication: Lipschitz(epsilon: 1, learner: External(command: ["sh", "program.sh", "fine"]), ASSUME)),
        Series(name: "bare", publication: NonPrivate(learner: External(command: ["sh", "program.sh", "fine"]))),
        Series(name: "ours", publication: Lipschitz(epsilon: 1, learner: Random(), ASSUME)),
    ])"#;
    let facts =
        "assume: TaskFacts(records: 500, loss_range: 1, lipschitz: 1, lambda_min: 0.01, lambda_max: 1)";
    let place = Place::new(
        &release.replace("ASSUME", facts),
        "MultiTaskSample(grid: [25], length_scale: 5, correlation: 0.9)",
    );
    let (code, stdout, stderr) =
        code_and_output(&subrosa(&["audit", &place.scenario(), "--trials", "400", "--threads", "1"]));
    let said = format!("{stdout}{stderr}").split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("its search asks a program"), "{said}");
    assert!(said.contains("the publication has no noise"), "{said}");
    assert!(!place.path("asked.log").exists());
}

/// What a program has left running ends with it, after a good end too.
#[test]
fn children_end_with_their_program() {
    let place = Place::learner("fine");
    let lingering = PROGRAM.replacen("turn=0", "sleep 1000 > /dev/null 2>&1 &\necho $! >> pids\nturn=0", 1);
    fs::write(place.path("program.sh"), lingering).unwrap();
    place.document(&["--replications", "2", "--threads", "1"]);
    let pids = fs::read_to_string(place.path("pids")).unwrap();
    assert_eq!(pids.lines().count(), 3, "one process says its version, two play");
    for pid in pids.lines() {
        let output = Command::new("ps").args(["-o", "stat=", "-p", pid]).output();
        let Ok(output) = output else { return };
        let state = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        assert!(state.is_empty() || state.starts_with('Z'), "{pid}: {state}");
    }
}

#[test]
fn check_starts_nothing_unless_it_is_to() {
    let place = Place::learner("fine");
    let (code, stdout, _) = code_and_output(&subrosa(&["check", &place.scenario()]));
    assert_eq!((code, place.path("asked.log").exists()), (0, false), "{stdout}");
    let (code, stdout, stderr) = code_and_output(&subrosa(&["check", &place.scenario(), "--probe"]));
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("`sh program.sh fine`: test 1"), "{stdout}");
    assert_eq!((place.asked("hello").len(), place.asked("begin").len()), (1, 0));
    fs::remove_file(place.path("program.sh")).unwrap();
    let (code, _, stderr) = code_and_output(&subrosa(&["check", &place.scenario()]));
    assert_eq!(code, 3);
    assert!(stderr.contains("a file for sh to read"), "{stderr}");
}

#[test]
fn an_edited_program_is_another_study() {
    let place = Place::learner("fine");
    let before = folder(&place.document(&[]));
    let edited = PROGRAM.replace("turn * 7", "turn * 3");
    fs::write(place.path("program.sh"), &edited).unwrap();
    let after = folder(&place.document(&[]));
    assert_ne!(before, after);
    assert_ne!(digest(&before), digest(&after));
    // Another version of what the same file calls.
    fs::write(place.path("program.sh"), PROGRAM).unwrap();
    assert_eq!(folder(&place.document(&[])), before);
    let renamed = PROGRAM.replace("test 1", "test 2");
    fs::write(place.path("program.sh"), renamed).unwrap();
    let other = folder(&place.document(&[]));
    assert!(other != before && other != after);
    assert_eq!(digest(&other), digest(&before), "which chooses as the first does");
}

#[test]
fn a_learner_is_told_what_was_released_and_no_more() {
    let seen = |release: &str, outcomes: &str, more: &str| {
        let place = Place::new(&outsourced("fine", release, more), GRID);
        place.edit("learner: External", &format!("{outcomes} learner: External"));
        let run = folder(&place.document(&["--replications", "1"]));
        (place.asked("begin").remove(0), place.asked("suggest"), (place, run))
    };
    let (open, _, _) = seen("Disclosure()", "", "");
    let inputs = open["inputs"].as_array().unwrap();
    assert_eq!((inputs.len(), inputs[0].as_array().unwrap().len()), (25, 2));
    assert_eq!((open["arms"].as_u64(), open["rounds"].as_u64()), (Some(25), Some(ROUNDS as u64)));
    assert_eq!(open["kernel"]["length_scale"], 6.645);

    let private = "outcomes: ClippedLaplace(epsilon: 1, range: Range(low: -2, high: 2)),";
    let (noisy, told, (_place, run)) = seen("NoisyRows(epsilon: 1, delta: 1e-5)", private, "");
    let rows = noisy["inputs"].as_array().unwrap();
    assert!(rows.iter().zip(inputs).all(|(noisy, row)| noisy != row), "no row is told as it is");
    // Outcomes as they were answered, not as they were measured.
    let mut table = csv::Reader::from_path(run.join("iterations.csv")).unwrap();
    let column = table.headers().unwrap().iter().position(|name| name == "outcome").unwrap();
    let measured: Vec<f64> = table.records().map(|row| row.unwrap()[column].parse().unwrap()).collect();
    let heard: Vec<f64> = told.iter().map(|line| line["told"][0]["outcome"].as_f64().unwrap()).collect();
    assert_eq!((heard.len(), measured.len()), (ROUNDS, ROUNDS + 1));
    assert!(heard.iter().zip(&measured).all(|(heard, measured)| heard != measured), "{heard:?} {measured:?}");

    let (blind, _, _) = seen("Withheld()", "", ", inputs: false");
    let names: Vec<&String> = blind.as_object().unwrap().keys().collect();
    assert_eq!(names, ["id", "ask", "role", "arms", "rounds", "past"]);
    let place = Place::new(&outsourced("fine", "Withheld()", ""), GRID);
    let (code, stdout, _) = place.run(&[]);
    assert_eq!(code, 3, "inputs that are withheld cannot be told: {stdout}");
}

/// A modeler of the library's, whose outcomes the program answers.
fn answered(mode: &str, more: &str) -> Place {
    let outcomes = format!(
        r#"External(command: ["sh", "program.sh", "{mode}"], cost: PureDp(epsilon: 0.5), variance: 2{more})"#
    );
    let protocol = format!(
        r#"Outsourced(curator: "a", modeler: "b", rounds: {ROUNDS}, series: [
        Series(name: "answered", release: NoisyRows(epsilon: 1, delta: 1e-5), outcomes: {outcomes}, learner: Random()),
    ])"#
    );
    Place::new(&protocol, GRID)
}

#[test]
fn outcomes_are_answered_by_a_program_at_the_stated_cost() {
    let place = answered("fine", "");
    let document = place.document(&["--replications", "2", "--threads", "1"]);
    let run = folder(&document);
    let (begins, asked) = (place.asked("begin"), place.asked("answer"));
    assert_eq!(begins.len(), 2, "a process for each replication");
    let names: Vec<&String> = begins[0].as_object().unwrap().keys().collect();
    assert_eq!(names, ["id", "ask", "role"]);
    // Each row is asked for once, with what was measured and 124 fresh bits.
    let mut table = csv::Reader::from_path(run.join("iterations.csv")).unwrap();
    let header = table.headers().unwrap().clone();
    let column = |name: &str| header.iter().position(|found| found == name).unwrap();
    let rows: Vec<csv::StringRecord> = table.records().map(Result::unwrap).collect();
    let mut different: Vec<(String, String)> = Vec::new();
    for row in &rows {
        let arm = (row[column("replication")].to_owned(), row[column("arm")].to_owned());
        if !different.contains(&arm) {
            different.push(arm);
        }
    }
    assert_eq!(asked.len(), different.len());
    assert_eq!(asked[0]["outcome"].as_f64(), rows[0][column("outcome")].parse().ok());
    let seeds: Vec<&Value> = asked.iter().flat_map(|line| line["seeds"].as_array().unwrap()).collect();
    assert_eq!(seeds.len(), 4 * asked.len());
    assert!(seeds.iter().all(|seed| seed.as_u64().unwrap() < 1 << 31));
    // The loss of an outcome is that of one answer, and rests on the statement.
    let losses = fs::read_to_string(run.join("privacy.csv")).unwrap();
    assert!(losses.contains("keeping the cost that is stated"), "{losses}");
    let ledger = fs::read_to_string(run.join("ledger.csv")).unwrap();
    assert!(ledger.contains("a program's mechanism"), "{ledger}");
    // A replay starts nothing, and finds the same; a dry run starts nothing either.
    place.forget();
    let replay = subrosa(&["replay", run.to_str().unwrap()]);
    assert!(replay.status.success(), "{}", String::from_utf8_lossy(&replay.stdout));
    let dry = subrosa(&["run", &place.scenario(), "--dry"]);
    assert!(dry.status.success(), "{}", String::from_utf8_lossy(&dry.stderr));
    assert!(!place.path("asked.log").exists());
    // An audit attacks the rows, starts nothing, and says what it leaves out.
    let audit = subrosa(&["audit", &place.scenario(), "--trials", "400", "--format", "json"]);
    let found: Value = serde_json::from_slice(&audit.stdout).unwrap();
    assert!(!place.path("asked.log").exists());
    assert_eq!(found["findings"].as_array().unwrap().len(), 1, "{found}");
    let left = &found["not_audited"][0];
    assert!(
        left["protected"] == true && left["why"].as_str().unwrap().contains("a program answers its outcomes"),
        "{left}"
    );
}

#[test]
fn a_program_that_answers_no_outcome_ends_its_replication() {
    let place = answered("dies", "");
    let (code, stdout, stderr) = place.run(&["--replications", "2", "--threads", "1"]);
    assert_ne!(code, 0, "{stdout}");
    assert!(stderr.contains("no entropy left"), "{stderr}");
    let before = place.asked("answer").len();
    place.forget();
    // What was answered is kept: the same run asks what is left.
    let document = place.document(&["--replications", "2", "--threads", "1"]);
    let left = place.asked("answer").len();
    assert!(left < before && left > 0, "{left} of {before}");
    let run = folder(&document);
    assert!(subrosa(&["replay", run.to_str().unwrap()]).status.success());

    let (code, _, stderr) = answered("nan", "").run(&["--replications", "1"]);
    assert!(code != 0 && stderr.contains("answered question 4 (answer) with"), "{stderr}");
}

#[test]
fn the_stated_cost_is_that_of_one_answer() {
    for (cost, cure) in [
        ("PureDp(epsilon: 1, count: 3)", "leave count out"),
        ("PoissonGaussian(rate: 0.1, noise_multiplier: 1)", "the cost of the noise alone"),
        ("Unprotected()", "Disclosure()"),
    ] {
        let place = answered("fine", "");
        place.edit("PureDp(epsilon: 0.5)", cost);
        let (code, stdout, stderr) = place.run(&[]);
        assert!(code == 3 && stdout.contains(cure), "{cost}: {stdout} {stderr}");
    }
}

#[test]
fn an_objective_is_asked_once_for_each_setting() {
    let place =
        Place::new(&WITH_GP.replace("rounds: 8", "rounds: Each(\"rounds\", [4, 8])"), &objective("fine"));
    let document = place.document(&["--threads", "2"]);
    let run = folder(&document);
    let asked = place.asked("value");
    assert_eq!(asked.len(), 12, "for two cells of three replications");
    let fifth = [0, 1].map(|column| asked[5]["inputs"][column].as_f64().unwrap());
    assert!((fifth[0] + 1.0 / 3.0).abs() < 1e-12 && fifth[1] == 1.0, "{fifth:?}");
    assert_eq!(asked[1]["inputs"][0], -1.0);
    let middle = asked[1]["inputs"][1].as_f64().unwrap();
    assert!((middle - 0.1).abs() < 1e-12, "evenly spaced in the logarithm: {middle}");
    // The values are those of the program: 0.37 for arm 1.
    let mut table = csv::Reader::from_path(run.join("iterations.csv")).unwrap();
    let header = table.headers().unwrap().clone();
    let column = |name: &str| header.iter().position(|known| known == name).unwrap();
    let mut rows = 0;
    for row in table.records().map(Result::unwrap) {
        let (arm, value): (u64, f64) =
            (row[column("arm")].parse().unwrap(), row[column("value")].parse().unwrap());
        let expected: f64 = format!("0.{}", arm * 37 % 101).parse().unwrap();
        assert_eq!(value, expected, "arm {arm}");
        rows += 1;
    }
    assert_eq!(rows, 3 * (5 + 9));
    // More replications ask nothing.
    place.document(&["--replications", "5"]);
    assert_eq!(place.asked("value").len(), 12);
    fs::remove_file(place.path("program.sh")).unwrap();
    assert_replays(&run, 10);
    // Outcomes are computed from the settings: a loss about rows is not stated too small.
    assert!(fs::read_to_string(run.join("privacy.csv")).unwrap().contains(",Record,"));

    fs::remove_dir_all(run.join("answers")).unwrap();
    let (code, _, stderr) = code_and_output(&subrosa(&["replay", run.to_str().unwrap()]));
    assert_eq!(code, 4, "{stderr}");
    assert!(
        stderr.contains("question 1 (value)") && stderr.contains("has no answer in the run folder"),
        "{stderr}"
    );
}

#[test]
fn an_objective_that_fails_goes_on_from_what_it_answered() {
    let place = Place::new(WITH_GP, &objective("dies"));
    let (code, _, stderr) = place.run(&["--threads", "1"]);
    assert_eq!(code, 4, "{stderr}");
    assert!(stderr.contains("question 5 (value)") && stderr.contains("| no memory left"), "{stderr}");
    assert_eq!(place.asked("value").len(), 5);
    let run = folder(&place.document(&["--threads", "1"]));
    assert_eq!(place.asked("value").len(), 5 + 12 - 4);
    assert_replays(&run, 3);
    for (mode, expected) in
        [("nan", "{\"id\":6,\"value\":NaN}, expected one line"), ("large", "1e999}, expected one line")]
    {
        let (code, _, stderr) = Place::new(WITH_GP, &objective(mode)).run(&["--threads", "1"]);
        assert_eq!(code, 4, "{stderr}");
        assert!(stderr.contains(expected), "{stderr}");
    }
}

#[test]
fn a_program_learns_in_every_protocol_that_has_a_learner() {
    let learner = r#"External(command: ["sh", "program.sh", "fine"])"#;
    let local = format!(
        r#"Local(service: "a", users: "b", rounds: 8, series: [Series(name: "program", report: Ctl(epsilon: 1, bound: Some(5)), learner: {learner})])"#
    );
    let release = format!(
        r#"Release(owner: "a", readers: ["b"], rounds: 8, series: [Series(name: "program", publication: NonPrivate(learner: {learner}))])"#
    );
    for protocol in [local, release] {
        let place = Place::new(&protocol, GRID);
        let run = folder(&place.document(&[]));
        assert!(place.asked("suggest").len() >= 3 * ROUNDS, "{protocol}");
        fs::remove_file(place.path("program.sh")).unwrap();
        assert_replays(&run, 3);
    }
}

#[test]
fn branches_of_a_fork_tell_a_new_process_what_went_before() {
    let place = Place::learner("fine");
    place.edit("rounds: 8,", "rounds: 8, retry: Retry(attempts: 9),");
    let (code, stdout, stderr) =
        place.run(&["--fork-at", "5", "--branch", "patient: protocol.retry.attempts=7", "--threads", "1"]);
    assert_eq!(code, 0, "{stderr}");
    let document: Value = serde_json::from_str(&stdout).unwrap();
    let rows = document["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    assert!(rows.iter().all(|row| row["unchanged"] == 3), "nothing is lost, so nothing differs: {stdout}");
    // The branch comes to the questions of the unchanged run, and to no others.
    assert_eq!((place.asked("begin").len(), place.asked("suggest").len()), (3, 3 * ROUNDS));
    // Where reports get lost it comes to others: a new process is told what the learner knew and chose until then.
    let local = format!(
        r#"Local(service: "a", users: "b", rounds: {ROUNDS}, series: [Series(name: "program", report: Ctl(epsilon: 1, bound: Some(5)), learner: External(command: ["sh", "program.sh", "fine"]))])"#
    );
    let place = Place::new(&local, GRID);
    let lossy = "lossy: network.default.loss=Independent(0.6)";
    let (code, _, stderr) = place.run(&["--fork-at", "3", "--branch", lossy, "--threads", "1"]);
    assert_eq!(code, 0, "{stderr}");
    let begins = place.asked("begin");
    let mut choices: Vec<usize> = begins
        .iter()
        .map(|line| line["past"].as_array().unwrap())
        .map(|past| past.iter().filter(|step| step.get("outcome").is_none()).count())
        .collect();
    choices.sort_unstable();
    // A report that is lost has a probability above 0.99 in the eight rounds of a replication.
    assert_eq!((choices.len(), &choices[..3]), (6, &[0, 0, 0][..]), "one process for each branch");
    assert!(choices[3] >= 3, "those before the fork are known: {choices:?}");
    // A learner that takes over is told all of it at once, and it is said that a branch starts a program.
    let place = Place::new(WITH_GP, GRID);
    let branch = r#"other: protocol.series[0].learner=External(command: ["sh", "program.sh", "fine"])"#;
    let (code, _, stderr) = place.run(&["--fork-at", "5", "--branch", branch, "--threads", "1"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.contains("`sh program.sh fine` (run only what you trust"), "{stderr}");
    let first = &place.asked("suggest")[0];
    assert_eq!((first["told"].as_array().unwrap().len(), place.asked("begin").len()), (9, 3), "{first}");
}

/// The folder below `runs`; there is one.
fn only_run(place: &Place) -> PathBuf {
    let mut runs = fs::read_dir(place.path("runs")).unwrap().flatten().map(|entry| entry.path());
    let run = runs.next().unwrap();
    assert_eq!(runs.next(), None);
    run
}

/// A branch whose program dies costs that branch of that replication, and no answer: the same command asks what is missing.
#[test]
fn a_fork_keeps_what_its_programs_answered() {
    let branch = r#"other: protocol.series[0].learner=External(command: ["sh", "program.sh", "seeded"])"#;
    let fork = ["--fork-at", "2", "--branch", branch, "--threads", "1"];
    let place = Place::learner("fine");
    let (code, stdout, stderr) = place.run(&fork);
    assert_eq!(code, 4, "{stderr}");
    let failed = "cell 1, branch = \"other\", replication 0: series \"program\": the program `sh program.sh seeded` ended";
    assert!(stderr.contains(failed) && stderr.matches("failed: ").count() == 1, "{stderr}");
    let rows: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(rows["rows"].as_array().unwrap().len(), 2, "the other replications are compared: {stdout}");
    let run = only_run(&place);
    let segment = fs::read_dir(run.join("segments")).unwrap().flatten().next().unwrap().path();
    assert_eq!(fs::read_to_string(segment).unwrap().lines().count(), 5, "all branches but one");
    assert_eq!(fs::read_dir(run.join("unfinished")).unwrap().count(), 1);
    // At the fork one choice is made; the branch makes the others, and its fifth question was not answered.
    let later = ROUNDS - 1;
    assert_eq!(place.asked("suggest").len(), 3 * ROUNDS + 5 + 2 * later);

    place.forget();
    let (code, _, stderr) = place.run(&fork);
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(place.asked("suggest").len(), later - 4, "the others were answered");
    assert!(!run.join("unfinished").exists(), "all answers are in the records");
    let calm = Place::learner("fine");
    fs::write(calm.path("died"), "").unwrap();
    let (code, _, stderr) = calm.run(&fork);
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(digest(&run), digest(&only_run(&calm)), "as if it had never died");

    // All branches are repeated without the program.
    fs::remove_file(place.path("program.sh")).unwrap();
    place.forget();
    assert_replays(&run, 6);
    assert!(!place.path("asked.log").exists(), "nothing was asked");
    // A record that was changed after the run does not agree.
    let records = run.join("records.jsonl");
    let text = fs::read_to_string(&records).unwrap();
    let last = text.lines().last().unwrap();
    let (head, rest) = last.split_once("\",\"identity\"").unwrap();
    let rest = format!("\"identity\"{rest}").replacen("\"answers\":[0,", "\"answers\":[1,", 1);
    let seal = blake3_of(&rest);
    let changed = format!("{}{seal}\",{rest}", &head[..head.len() - seal.len()]);
    fs::write(&records, text.replace(last, &changed)).unwrap();
    let (code, stdout, stderr) = told_of(&["replay", run.to_str().unwrap()]);
    assert_eq!(code, 5, "{stdout}{stderr}");
}

fn told_of(arguments: &[&str]) -> (i32, String, String) {
    code_and_output(&subrosa(arguments))
}

/// Runs the scenario until its program waits for a file, interrupts the run, and lets the program go on. Exit code and
/// standard error.
fn interrupted(place: &Place) -> (i32, String) {
    use std::io::{BufRead, BufReader};
    let mut run = Command::new(env!("CARGO_BIN_EXE_subrosa"))
        .args(["run", &place.scenario(), "--threads", "1", "--out", place.path("runs").to_str().unwrap()])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    while !place.path("stopped").exists() {
        assert!(run.try_wait().unwrap().is_none(), "it ended before it was interrupted");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let number = nix::unistd::Pid::from_raw(run.id() as i32);
    nix::sys::signal::kill(number, nix::sys::signal::Signal::SIGINT).unwrap();
    let mut said = String::new();
    for line in BufReader::new(run.stderr.take().unwrap()).lines() {
        let line = line.unwrap();
        // The signal has arrived: the program may answer.
        if line.starts_with("Interrupted: ") {
            fs::write(place.path("go"), "").unwrap();
        }
        said.push_str(&line);
        said.push('\n');
    }
    (run.wait().unwrap().code().unwrap(), said)
}

/// An interruption is not put off until a replication, or all values of an objective, are there.
#[test]
fn an_interrupted_run_asks_no_further_question() {
    let learner = Place::learner("stops");
    let (code, stderr) = interrupted(&learner);
    assert_eq!(code, 130, "{stderr}");
    assert!(stderr.contains("Interrupted after 0 of 3 replications"), "{stderr}");
    assert!(!stderr.contains("failed"), "{stderr}");
    assert_eq!(learner.asked("suggest").len(), 5);
    learner.forget();
    learner.document(&["--threads", "1"]);
    assert_eq!(learner.asked("suggest").len(), 3 * ROUNDS - 5, "what was answered is kept");

    let place = Place::new(WITH_GP, &objective("stops"));
    let (code, stderr) = interrupted(&place);
    assert_eq!(code, 130, "{stderr}");
    assert!(
        stderr.contains("Interrupted after 0 of 3 replications") && !stderr.contains("failed"),
        "{stderr}"
    );
    assert_eq!(place.asked("value").len(), 5);
    place.forget();
    place.document(&["--threads", "1"]);
    assert_eq!(place.asked("value").len(), 7, "what was answered is kept");
}

/// Both are said, and the exit code is that of the interruption: the same command goes on.
#[test]
fn an_interrupted_run_with_a_failure_is_an_interrupted_run() {
    let place = Place::learner("both");
    let (code, stderr) = interrupted(&place);
    assert_eq!(code, 130, "{stderr}");
    assert!(
        stderr.contains("error: 1 of the replications failed; the first: cell 0, replication 0"),
        "{stderr}"
    );
    assert!(stderr.contains("Interrupted after 0 of 3 replications"), "{stderr}");
}

#[test]
fn the_file_of_an_interpreter_is_looked_for_behind_its_options() {
    let place = Place::learner("fine");
    let check = |command: &str| {
        let change = format!("protocol.series[0].learner=External(command: {command})");
        let (code, _, stderr) = told_of(&["check", &place.scenario(), "-o", &change]);
        (code, stderr.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    for command in
        [r#"["sh", "-e", "nothere.sh"]"#, r#"["python3", "-u", "-Wignore", "-X", "dev", "nothere.sh"]"#]
    {
        let (code, stderr) = check(command);
        assert!(code == 3 && stderr.contains("\"nothere.sh\", which is not there"), "{command}: {stderr}");
    }
    for command in [r#"["sh", "-eu", "program.sh"]"#, r#"["sh", "-c", "cat nothere.sh"]"#] {
        assert_eq!(check(command), (0, String::new()), "{command}");
    }
    if !python("0") {
        return;
    }
    let (code, stderr) = check(r#"["python3", "-um", "my_learner"]"#);
    assert!(
        code == 0 && stderr.contains("warning: `python3 -um my_learner` runs the module my_learner"),
        "{stderr}"
    );
    let named = format!("{}, files: [\"program.sh\"]", r#"["python3", "-um", "my_learner"]"#);
    assert_eq!(check(&named), (0, String::new()), "its files are named");
}

#[test]
fn two_workers_leave_one_run() {
    let place = Place::learner("fine");
    let out = place.path("runs");
    let (code, stdout, stderr) = code_and_output(&subrosa(&[
        "sweep",
        "plan",
        &place.scenario(),
        "--out",
        out.to_str().unwrap(),
        "--blocks",
        "3",
    ]));
    assert_eq!(code, 0, "{stderr}");
    let run = PathBuf::from(stdout.trim());
    let path = run.to_str().unwrap();
    let workers = ["0/2", "1/2"].map(|slot| {
        Command::new(env!("CARGO_BIN_EXE_subrosa"))
            .args(["sweep", "work", path, "--slot", slot, "--threads", "1"])
            .spawn()
            .unwrap()
    });
    for mut worker in workers {
        assert!(worker.wait().unwrap().success());
    }
    let (code, _, stderr) = code_and_output(&subrosa(&["sweep", "merge", path]));
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(digest(&run), digest(&folder(&Place::learner("fine").document(&[]))));
    assert_replays(&run, 3);
    // Planned with one program, worked with another: refused.
    let place = Place::learner("fine");
    let out = place.path("runs");
    let (_, stdout, _) =
        code_and_output(&subrosa(&["sweep", "plan", &place.scenario(), "--out", out.to_str().unwrap()]));
    fs::write(place.path("program.sh"), format!("{PROGRAM}\n")).unwrap();
    let (code, _, stderr) = code_and_output(&subrosa(&["sweep", "work", stdout.trim()]));
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains("has changed since the study was planned"), "{stderr}");
}

/// Plays an example and repeats it.
fn plays(scenario: &str) -> Value {
    let out = TempDir::new().unwrap();
    let document = run(scenario, out.path(), &["--threads", "1"]);
    let (code, stdout, stderr) = code_and_output(&subrosa(&["replay", folder(&document).to_str().unwrap()]));
    assert_eq!(code, 0, "{stdout}{stderr}");
    document
}

/// Whether `python3` runs a line; says so where it does not.
fn python(line: &str) -> bool {
    let runs =
        Command::new("python3").args(["-c", line]).output().is_ok_and(|output| output.status.success());
    if !runs {
        eprintln!("skipped: `python3 -c '{line}'` fails on this machine (pip install scikit-learn)");
    }
    runs
}

#[test]
fn the_shell_script_plays() {
    let document = plays("scenarios/external/shell.ron");
    let (regret, _) = metric(&document, 0, "shell script", "simple_regret");
    assert!((0.0..3.0).contains(&regret), "12 of 36 settings were tried: {regret}");
}

#[test]
fn the_scikit_learn_learner_plays() {
    if !python("import sklearn") {
        return;
    }
    let document = plays("scenarios/external/scikit_learn.ron");
    let (theirs, _) = metric(&document, 0, "scikit-learn", "simple_regret");
    // Values have variance 1; the best of 21 arms of 144 chosen at random would be some 0.5 below the largest.
    assert!(theirs < 0.3, "{theirs}");
}

/// The cost that the scenario states is recorded, conditional on the program, and the run is repeated without it.
#[test]
fn the_mechanism_plays_at_its_stated_cost() {
    if !python("import json") {
        return;
    }
    let document = plays("scenarios/external/mechanism.ron");
    let rows = document["cells"][0]["privacy"].as_array().expect("a list of what was learned");
    let own: Vec<String> =
        rows.iter().filter(|row| row["series"] == "own mechanism").map(ToString::to_string).collect();
    assert!(own.iter().any(|row| row.contains("conditional")), "the stated cost is a condition: {rows:?}");
}

#[test]
fn the_objective_that_trains_a_model_plays() {
    if !python("import json") {
        return;
    }
    let document = plays("scenarios/external/training.ron");
    let (regret, _) = metric(&document, 0, "as they are", "simple_regret");
    assert!((0.0..0.05).contains(&regret), "accuracies are within half of each other: {regret}");
    assert!(root().join("scenarios/external/objective.py").is_file());
}
