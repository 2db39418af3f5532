//! What is refused before anything is played, with its place and a cure.

use crate::support::{code_and_output, folder, root, run, subrosa};
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

const ECHO: &str = "tests/golden/echo.ron";
/// A scenario with a grid, as the language's page shows it.
const SMALLEST: &str = r#"Scenario(
    name: "smallest",
    seed: 1,
    parties: { "curator": Party(), "modeler": Party() },
    network: Network(topology: Star(hub: "curator"), default: Link(latency: Constant("40ms"))),
    objective: GpSample(grid: [5, 5], length_scale: 6.25),
    protocol: Outsourced(
        curator: "curator",
        modeler: "modeler",
        rounds: 2,
        series: [Series(name: "GP-UCB", release: Disclosure(), learner: GpUcb())],
    ),
)"#;

/// Refused with an exit code, all of `words` on standard error.
#[track_caller]
fn refused(code: i32, arguments: &[&str], words: &[&str]) {
    let (found, stdout, stderr) = code_and_output(&subrosa(arguments));
    // The words of a message may stand on two lines.
    let said = stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(found, code, "{arguments:?}: {stdout}{stderr}");
    for word in words {
        assert!(said.contains(word), "{arguments:?}: no {word:?} in\n{stderr}");
    }
}

#[track_caller]
fn accepted(arguments: &[&str]) {
    let (code, stdout, stderr) = code_and_output(&subrosa(arguments));
    assert_eq!(code, 0, "{arguments:?}: {stdout}{stderr}");
}

fn written(place: &Path, name: &str, text: &str) -> String {
    fs::create_dir_all(place).unwrap();
    fs::write(place.join(name), text).unwrap();
    place.join(name).to_str().unwrap().to_owned()
}

#[test]
fn a_grid_whose_matrices_do_not_fit() {
    let place = TempDir::new().unwrap();
    let path = written(place.path(), "grid.ron", SMALLEST);
    let words = ["grid.ron:6:31", "at most 4096 points along each dimension", "found 4097", "[1000, 1000]"];
    let long = SMALLEST.replace("[5, 5]", "[4097]");
    written(place.path(), "grid.ron", &long);
    for verb in ["check", "run", "trace"] {
        refused(3, &[verb, &path], &words);
    }
    let multi = long.replace("GpSample(", "MultiTaskSample(correlation: 0.9, ");
    written(place.path(), "grid.ron", &multi);
    refused(3, &["check", &path], &words[1..]);
    written(place.path(), "grid.ron", &SMALLEST.replace("[5, 5]", "[4096, 2]"));
    accepted(&["check", &path]);
}

#[test]
fn a_field_of_the_study_is_not_swept() {
    for (field, values) in
        [("replications", "[2, 3]"), ("name", "[\"one\", \"two\"]"), ("about", "[\"one\", \"two\"]")]
    {
        let each = format!("{field}=Each(\"a\", {values})");
        let words = [
            &*format!("field {field}"),
            "one value for the whole study",
            "this field is the same in a whole study",
        ];
        refused(3, &["check", ECHO, "-o", &each], &words);
    }
    // Cells of other seeds are other cells.
    let (code, stdout, stderr) =
        code_and_output(&subrosa(&["check", ECHO, "-o", "seed=Each(\"a\", [2, 3])"]));
    assert!(code == 0 && stdout.contains("2 cells"), "{stdout}{stderr}");
}

#[test]
fn a_table_that_leaves_a_choice_or_cannot_be_reckoned_with() {
    let place = TempDir::new().unwrap();
    let objective = "Table(file: \"t.csv\", inputs: [\"a\"], output: Column(\"y\"), hyperparameters: Given(length_scales: [1], \
         variance: 1, noise_variance: 0.1))";
    let text = SMALLEST.replace("GpSample(grid: [5, 5], length_scale: 6.25)", objective);
    let path = written(place.path(), "table.ron", &text);
    let table = |text: &str| written(place.path(), "t.csv", text);
    table("a,b,y\n1,2,3\n2,3,5\n3,4,4\n");
    accepted(&["check", &path]);
    table("# a comment\na,y,y\n1,2,3\n2,3,5\n3,4,4\n");
    refused(3, &["check", &path], &["t.csv:2: two columns are called \"y\"", "rename one of the two"]);
    // Which of two columns that nobody asks for makes no difference.
    table("a,b,b,y\n1,2,2,3\n2,3,3,5\n3,4,4,4\n");
    accepted(&["check", &path]);
    table("a,y\n1,1e308\n2,-1e308\n3,4\n");
    refused(
        3,
        &["check", &path],
        &["t.csv:2: column \"y\": expected a number from -1e100 to 1e100", "\"1e308\""],
    );
}

#[test]
fn a_level_of_instructions_that_does_not_exist() {
    let mut program = Command::new(env!("CARGO_BIN_EXE_subrosa"));
    let output = program.args(["list"]).env("SUBROSA_SIMD", "axv2").output().unwrap();
    let (code, stdout, stderr) = code_and_output(&output);
    assert_eq!((code, stdout.as_str()), (2, ""), "{stderr}");
    assert!(stderr.contains("SUBROSA_SIMD: expected baseline, avx2 or avx512, found \"axv2\""), "{stderr}");
}

#[test]
fn arguments_that_would_have_no_effect() {
    let place = TempDir::new().unwrap();
    let out = place.path().to_str().unwrap();
    let until = ["run", ECHO, "--out", out, "--until-halfwidth", "1"];
    refused(2, &[&until[..], &["--dry"]].concat(), &["--dry"]);
    refused(2, &[&until[..], &["--fork-at", "3", "-o", "network.outages=[]"]].concat(), &["--fork-at"]);
    refused(2, &["sweep", "work", out, "--slot", "2/2"], &["from 0", "15/16 for the last"]);
    refused(2, &["sweep", "work", out, "--slot", "0/0"], &["from 0"]);
    let trials = ["--trials", "1000000000000"];
    let documented = ["audit", "scenarios/hospital.ron", "--expect", "documented"];
    refused(2, &[&documented[..], &trials].concat(), &["only mechanisms have documented verdicts"]);
    let plot = ["audit", "mechanism", "all", "--plot", "x.txt"];
    refused(2, &[&plot[..], &trials].concat(), &["ends in .svg or .png, found x.txt"]);
    let document = run(ECHO, place.path(), &["--replications", "2"]);
    let played = folder(&document);
    let diff = ["replay", played.to_str().unwrap(), "--diff", ECHO, "--replication", "99"];
    refused(2, &diff, &["expected a replication below 2 of", "found 99"]);
}

#[test]
fn a_merge_takes_only_parts_of_its_study() {
    let place = TempDir::new().unwrap();
    let out = place.path().to_str().unwrap();
    let (code, stdout, stderr) =
        code_and_output(&subrosa(&["sweep", "plan", ECHO, "--out", out, "--replications", "2"]));
    assert_eq!(code, 0, "{stderr}");
    let study = stdout.trim();
    accepted(&["sweep", "work", study]);
    let nowhere = place.path().join("nosuch");
    refused(2, &["sweep", "merge", study, nowhere.to_str().unwrap()], &["is not a run folder"]);
    let foreign = folder(&run(ECHO, &place.path().join("other"), &["--seed", "77"]));
    refused(2, &["sweep", "merge", study, foreign.to_str().unwrap()], &["holds no part of this study"]);
    accepted(&["sweep", "merge", study]);
}

#[test]
fn brackets_without_end() {
    let place = TempDir::new().unwrap();
    for text in ["[".repeat(127), "A(".repeat(5000), "[".repeat(100_000) + &"]".repeat(100_000)] {
        let path = written(place.path(), "deep.ron", &format!("Scenario(\n  name: {text})"));
        let column = if text.starts_with('A') { "2:136" } else { "2:72" };
        for verb in ["check", "account"] {
            refused(3, &[verb, &path], &[&format!("deep.ron:{column}"), "brackets more than 64 deep"]);
        }
    }
    refused(3, &["check", ECHO, "-o", &format!("seed={}", "[".repeat(127))], &["brackets more than 64 deep"]);
}

#[test]
fn numbers_of_another_kind_are_named() {
    let seed = |value: &str| format!("seed={value}");
    for value in ["1.5", "4.0", "1e3"] {
        let words = ["field seed", "expected a whole number", value, "without a point or an exponent"];
        refused(3, &["check", ECHO, "-o", &seed(value)], &words);
    }
    refused(
        3,
        &["check", ECHO, "-o", "protocol.rounds=4.0"],
        &["field protocol.Echo.rounds", "expected a whole number"],
    );
    for override_ in ["replications=0", "parties.far=Party(count: 0)"] {
        let words = ["expected a whole number above 0, found 0", "help write 1 or more"];
        refused(3, &["check", ECHO, "-o", override_], &words);
    }
    let long = "seed=Each(\"a\", Range(1, 1000000001))";
    let words = ["a Range of too many values", "at most 100000 values", "found 1000000000 values"];
    refused(3, &["check", ECHO, "-o", long], &words);
    refused(3, &["check", ECHO, "-o", "seed=Each(\"a\", Range(1, 5, 0))"], &["a step above 0"]);
    let (code, stdout, _) =
        code_and_output(&subrosa(&["check", ECHO, "-o", "seed=Each(\"a\", Range(0, 7, 3))"]));
    assert!(code == 0 && stdout.contains("3 cells"), "{stdout}");
}

#[test]
fn a_byte_order_mark_is_no_error() {
    let place = TempDir::new().unwrap();
    let text = fs::read_to_string(root().join(ECHO)).unwrap();
    let path = written(place.path(), "marked.ron", &format!("\u{feff}{text}"));
    accepted(&["check", &path]);
    let wrong = written(place.path(), "wrong.ron", "\u{feff}Scenario(nam: 1)");
    refused(3, &["check", &wrong], &["wrong.ron:1:10"]);
}

#[test]
fn counts_that_no_machine_plays() {
    let place = TempDir::new().unwrap();
    let out = place.path().to_str().unwrap();
    for verb in [&["check"][..], &["run", "--out", out], &["sweep", "plan", "--out", out]] {
        let words = ["field replications", "at most 1000000", "found 1000000001"];
        refused(3, &[verb, &[ECHO, "--replications", "1000000001"]].concat(), &words);
    }
    for rounds in ["10000001", "18446744073709551615"] {
        let words = ["field protocol.Echo.rounds", "at most 10000000", rounds];
        refused(3, &["check", ECHO, "-o", &format!("protocol.rounds={rounds}")], &words);
    }
    accepted(&["check", ECHO, "--replications", "1000000", "-o", "protocol.rounds=10000000"]);
    // What is left to play takes no memory for each: a plan of 10^9 replications is made at once.
    let cells = "seed=Each(\"s\", Range(0, 1000))";
    let many =
        ["sweep", "plan", ECHO, "--out", out, "--replications", "1000000", "-o", cells, "--blocks", "3"];
    let (code, stdout, stderr) = code_and_output(&subrosa(&many));
    assert!(code == 0 && stderr.contains("1000000000 replications to run in 3 blocks"), "{stdout}{stderr}");
}

#[test]
fn a_metric_that_nothing_has() {
    let place = TempDir::new().unwrap();
    let out = place.path().to_str().unwrap();
    let until = |metric: &[&str], code: i32, words: &[&str]| {
        let arguments = [&["run", ECHO, "--out", out, "--until-halfwidth", "1e9"][..], metric].concat();
        refused(code, &arguments, words);
    };
    until(
        &["--metric", "nosuch"],
        2,
        &["no series has a metric called \"nosuch\": --metric takes", "virtual_seconds"],
    );
    // An echo optimises nothing.
    until(&[], 2, &["no series has a metric called \"simple_regret\""]);
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0, "nothing was played");
    until(&["--metric", "virtual_seconds"], 0, &["The widest half-width is"]);
}

#[test]
fn servers_of_servers_and_none_at_all() {
    let party = |count: u32, each: &str| {
        format!("parties.near=Party(compute: Servers(count: {count}, each: {each}))")
    };
    let one = "Drawn(time: Constant(\"1ms\"))";
    let nested = party(2, &format!("Servers(count: 2, each: {one})"));
    let words = ["compute.each", "a model of one server", "found Servers", "the product of both counts"];
    refused(3, &["check", ECHO, "-o", &nested], &words);
    refused(
        3,
        &["check", ECHO, "-o", &party(0, one)],
        &["Servers.count", "a whole number above 0", "found 0"],
    );
    accepted(&["check", ECHO, "-o", &party(2, one)]);
}

/// Users' reports whose noise has no bound, and learners told of outcomes that they do not get: refused with the place,
/// where a run failed before; and accepted once the cure is taken.
#[test]
fn reports_and_learners_that_do_not_go_with_the_noise() {
    const USERS: &str = "scenarios/users.ron";
    let series = |report: &str, learner: &str| {
        format!("protocol.series=[Series(name: \"one\", report: {report}, learner: {learner})]")
    };
    let with = |noise: &str, report: &str, learner: &str| {
        [format!("objective.noise={noise}"), series(report, learner)]
    };
    let check = |[noise, series]: &[String; 2], words: Option<&[&str]>| {
        let arguments = ["check", USERS, "-o", noise, "-o", series];
        words.map_or_else(|| accepted(&arguments), |words| refused(3, &arguments, words));
    };
    let normal = "Gaussian(sd: 1)";
    let bound = ["report.Ctl.bound", "a bound on rewards, B + R", "found none", "delta: Some(0.001)"];
    check(&with(normal, "Ctl(epsilon: 1)", "TgpUcb()"), Some(&bound));
    check(&with(normal, "Ctl(epsilon: 1, clip: false)", "Random()"), Some(&bound));
    for whole in ["Ctl(epsilon: 1, bound: 6)", "Ctl(epsilon: 1, clip: false, delta: 0.001)"] {
        check(&with(normal, whole, "TgpUcb()"), None);
    }
    check(&with("Uniform(bound: 1)", "Ctl(epsilon: 1)", "TgpUcb()"), None);
    let private = ["learner.TgpUcb.payoffs", "Private(..)", "found SubWeibull", "leave payoffs out"];
    let tail = "TgpUcb(payoffs: SubWeibull(theta: 1))";
    check(&with("Uniform(bound: 1)", "Ctl(epsilon: 1)", tail), Some(&private));
    check(&with("Uniform(bound: 1)", "Disclosure()", tail), None);
    for learner in ["TgpUcb", "AtaGpUcb", "MomaGpUcb"] {
        let heavy = format!("{learner}(payoffs: HeavyTailed(central_moment: 1))");
        let words = ["payoffs", "bounded rewards", "found HeavyTailed"];
        check(&with("Uniform(bound: 1)", "Ctl(epsilon: 1)", &heavy), Some(&words));
        let words = ["payoffs", "because outcomes are not private", "central_moment: 3"];
        check(&with("Uniform(bound: 1)", "Disclosure()", &format!("{learner}()")), Some(&words));
    }
    let stated = "TgpUcb(payoffs: Private(epsilon: 1))";
    check(&with(normal, "Disclosure()", stated), Some(&["payoffs.Private.noise_bound", "is unbounded"]));
    check(&with("Uniform(bound: 1)", "Disclosure()", stated), None);
    // What is accepted is played.
    let out = TempDir::new().unwrap();
    let [noise, one] = with("Uniform(bound: 1)", "Disclosure()", stated);
    run(USERS, out.path(), &["--replications", "1", "-o", "protocol.rounds=20", "-o", &noise, "-o", &one]);
}

/// Publications that an analysis does not cover: refused with the place, where a run failed before.
#[test]
fn publications_that_do_not_go_with_the_objective() {
    let check = |objective: &str, publication: &str, rounds: u64, words: Option<&[&str]>| {
        let series = format!("protocol.series=[Series(name: \"one\", publication: {publication})]");
        let (objective, rounds) = (format!("objective={objective}"), format!("protocol.rounds={rounds}"));
        let arguments = ["check", "scenarios/release.ron", "-o", &objective, "-o", &series, "-o", &rounds];
        words.map_or_else(|| accepted(&arguments), |words| refused(3, &arguments, words));
    };
    let exact = "MultiTaskSample(grid: [20], correlation: 0.9, length_scale: 1, noise_variance: 0)";
    let noisy = exact.replace("noise_variance: 0", "noise_variance: 0.01");
    let gp = |publish: &str| {
        format!("GpNoisy(epsilon: 1, delta: 0.05, neighbour_correlation: 0.9, publish: {publish})")
    };
    for publish in ["Both", "Value"] {
        let words = ["publication.GpNoisy.publish", "needs noisy outcomes", publish, "GpNoiseFree"];
        check(exact, &gp(publish), 5, Some(&words));
        check(&noisy, &gp(publish), 5, None);
    }
    check(exact, &gp("Setting"), 5, None);
    let facts = "TaskFacts(records: 100, loss_range: 1, lipschitz: 1, lambda_min: 0.1, lambda_max: 1)";
    for publication in [
        "Lipschitz(epsilon: 1, learner: GpUcb()#)",
        "FixedGrid(epsilon: 1#)",
        "EverySetting(epsilon: 1, delta: 1e-5#)",
    ] {
        let words = ["assume", "the objective states none", "write assume: TaskFacts(..)"];
        check(&noisy, &publication.replace('#', ""), 5, Some(&words));
        check(&noisy, &publication.replace('#', &format!(", assume: {facts}")), 5, None);
    }
    // With the two ends exchanged, the distance of two settings' losses, and so the noise, would be too small.
    let turned =
        facts.replace("lambda_min: 0.1", "lambda_min: 1").replace("lambda_max: 1)", "lambda_max: 0.999)");
    let words = ["publication.Lipschitz.assume.lambda_max", "at least lambda_min, 1", "found 0.999", "swap"];
    let lipschitz = format!("Lipschitz(epsilon: 1, learner: GpUcb(), assume: {turned})");
    check(&noisy, &lipschitz, 5, Some(&words));
    // Theorem 7 is about lambda only.
    let two = noisy.replace("grid: [20]", "grid: [5, 4]");
    let lipschitz = format!("Lipschitz(epsilon: 1, learner: GpUcb(), assume: {facts})");
    check(&two, &lipschitz, 5, Some(&["publication.Lipschitz", "one input, lambda", "2 inputs"]));
    check(&two, &format!("FixedGrid(epsilon: 1, assume: {facts})"), 5, None);
    let free = "GpNoiseFree(epsilon: 1, delta: 0.05, neighbour_correlation: 0.9, a: 1, tau: 1)";
    check(exact, free, 1, Some(&["at least 2 rounds", "found 1"]));
    check(exact, free, 2, None);
    let uniform = "RkhsSum(noise: Uniform(bound: 1))";
    let words = ["normal noise", "found Uniform noise"];
    check(uniform, "NonPrivate(learner: GpUcb())", 5, Some(&words));
}

#[test]
fn a_number_outside_the_range_of_its_field() {
    let place = TempDir::new().unwrap();
    let path = written(place.path(), "range.ron", SMALLEST);
    let check = |change: &str, words: &[&str]| refused(3, &["check", &path, "-o", change], words);
    check("parties.curator=Party(count: 5000000000)", &["from 0 to 4294967295"]);
    check("seed=-1", &["expected a whole number from 0 to 18446744073709551615", "found -1"]);
    check("seed=99999999999999999999999999999999999999999999", &["from 0 to 18446744073709551615"]);
}

#[test]
fn a_file_or_an_override_that_holds_no_scenario() {
    let place = TempDir::new().unwrap();
    let file = |text: &str| written(place.path(), "file.ron", text);
    refused(3, &["check", &file("5")], &["expected Scenario(..)", "found 5", "subrosa list Scenario"]);
    refused(3, &["check", &file("[1, 2]")], &["expected Scenario(..)"]);
    refused(3, &["check", &file("")], &["an empty file", "subrosa new outsourced"]);
    refused(3, &["check", &file("// nothing else")], &["there is no value", "Scenario(name: .."]);
    let words = ["there is no value", "found nothing", "-o seed=7"];
    refused(3, &["check", ECHO, "-o", "seed="], &words);
    // A long file ends inside of a character where the reading stops.
    let long = format!("//{}", "ä".repeat(9 << 20));
    refused(3, &["check", &file(&long)], &["a file of more than 16 MiB"]);
}

#[test]
fn keys_that_are_no_texts() {
    let place = TempDir::new().unwrap();
    let parties = r#"{ "curator": Party(), "modeler": Party() }"#;
    let file = |keys: &str| written(place.path(), "keys.ron", &SMALLEST.replace(parties, keys));
    let path = file("{ 1: Party(), 2: Party() }");
    refused(3, &["check", &path], &["expected a text in quotation marks", "found 1"]);
    let (_, _, stderr) = code_and_output(&subrosa(&["check", &path]));
    assert!(!stderr.contains("duplicate key"), "{stderr}");
    refused(3, &["check", &file("{ \"a\": Party(), \"a\": Party() }")], &["duplicate key `a`"]);
    refused(3, &["check", ECHO, "-o", "seed=Each(\"seed\", { 1: 1, 2: 2 })"], &["a label that", "found 1"]);
}

/// The outer members decide which `Part` it is.
#[test]
fn a_field_of_one_of_several_types_with_one_name() {
    let place = TempDir::new().unwrap();
    let path = written(place.path(), "part.ron", SMALLEST);
    let check = |change: &str, words: &[&str]| refused(3, &["check", &path, "-o", change], words);
    let noise = "objective=RkhsSum(points: 20, noise: Mixture(parts: [Part(weight: 1, law: 5)]))";
    check(noise, &["`law` of Part takes something else", "expected one of the family noise"]);
    let latency = "network.default.latency=Mixture(parts: [Part(weight: 1, law: 5)])";
    check(latency, &["`law` of Part takes something else", "expected one of the family latency"]);
}

#[test]
fn published_results_for_cells_that_do_not_exist() {
    let place = TempDir::new().unwrap();
    let published = |at: &str| {
        format!(
            "published: [Published(series: \"GP-UCB\", at: {{ \"{at}\": 3 }}, value: 1, source: \"here\")],"
        )
    };
    let file = |seed: &str, at: &str| {
        let text = SMALLEST.replace("seed: 1,", &format!("seed: {seed}, {}", published(at)));
        written(place.path(), "published.ron", &text)
    };
    refused(3, &["check", &file("1", "round")], &["published[0].at", "the study has no Each"]);
    let swept = "Each(\"rounds\", [3, 4])";
    refused(
        3,
        &["check", &file(swept, "round")],
        &["no Each is called \"round\"", "did you mean \"rounds\"?"],
    );
    accepted(&["check", &file(swept, "rounds")]);
    // An override may give one value to what the study varies.
    accepted(&["check", &file(swept, "rounds"), "-o", "seed=3"]);
}

#[test]
fn flags_that_would_have_no_effect_or_no_meaning() {
    let place = TempDir::new().unwrap();
    let run = folder(&run(ECHO, place.path(), &["--replications", "1"]));
    let (path, svg) = (run.to_str().unwrap(), place.path().join("f.svg"));
    let svg = svg.to_str().unwrap();
    refused(
        2,
        &["report", path, "--svg", svg, "--width", "85mmmm"],
        &["a width from 10 to 1000 millimetres"],
    );
    accepted(&["report", path, "--svg", svg, "--width", "85mm"]);
    for flag in ["--rate", "--delta"] {
        let words = ["cannot be used with", flag];
        refused(2, &["calibrate", "--scenario", "scenarios/hospital.ron", flag, "0.1"], &words);
    }
}

#[test]
fn times_of_heartbeats_that_cannot_be() {
    let place = TempDir::new().unwrap();
    let out = place.path().to_str().unwrap();
    let (code, stdout, stderr) =
        code_and_output(&subrosa(&["cluster", "plan", ECHO, "--replications", "2", "--out", out]));
    assert_eq!(code, 0, "{stderr}");
    let study = stdout.trim();
    let words = ["--heartbeat of at least 10ms and --dead-after of at least twice as much"];
    let long = ["--heartbeat", "400000000000y", "--dead-after", "500000000000y"];
    refused(2, &[&["cluster", "work", study], &long[..]].concat(), &words);
    let submit = ["cluster", "submit", study, "--engine", "slurm", "--workers", "2", "--print"];
    refused(2, &[&submit[..], &["--heartbeat", "10s", "--dead-after", "19s"]].concat(), &words);
    accepted(&submit);
}

/// `sbatch` reads a path with spaces, `#`, `%` and quotation marks as one word.
#[test]
fn the_logs_of_workers_may_be_anywhere() {
    let place = TempDir::new().unwrap();
    let out = place.path().join("50% of #1 \"here\"");
    let (code, stdout, stderr) = code_and_output(&subrosa(&[
        "cluster",
        "plan",
        ECHO,
        "--replications",
        "2",
        "--out",
        out.to_str().unwrap(),
    ]));
    assert_eq!(code, 0, "{stderr}");
    let submit = ["cluster", "submit", stdout.trim(), "--engine", "slurm", "--workers", "2", "--dry-run"];
    let (code, script, stderr) = code_and_output(&subrosa(&submit));
    assert_eq!(code, 0, "{stderr}");
    let line = script.lines().find(|line| line.starts_with("#SBATCH --output=")).unwrap();
    assert!(line.starts_with("#SBATCH --output=\"/") && line.ends_with("/work/logs/%A_%a.log\""), "{line}");
    assert!(line.contains(r#"/50%% of #1 \"here\"/"#), "{line}");
}
