//! The page of a run and the verbs around it: what is on it agrees with the summary, and nothing on it is elsewhere.

use crate::support::{code_and_output, folder, run, subrosa};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use subrosa::accounting::{Accountant, Basic, Composition, EpsilonKind, Tight};
use subrosa::protocols::CountedRelease;
use subrosa::report::{Page, charts};
use subrosa::study::RunFolder;
use subrosa::vocab::{Basis, Claim, Cost, Delta};
use tempfile::TempDir;

/// The template with few replications, after some edits.
pub(super) fn played(
    place: &Path,
    edits: &[(&str, &str)],
    more: &[&str],
) -> (serde_json::Value, PathBuf, String) {
    let file = place.join("first.ron");
    let (code, _, stderr) = code_and_output(&subrosa(&["new", "outsourced", file.to_str().unwrap()]));
    assert_eq!(code, 0, "{stderr}");
    let mut text = fs::read_to_string(&file).unwrap();
    for (from, to) in edits {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    fs::write(&file, text).unwrap();
    let arguments = [&["--replications", "4", "-o", "protocol.rounds=12"], more].concat();
    let document = run(file.to_str().unwrap(), place, &arguments);
    let folder = folder(&document);
    let page = fs::read_to_string(folder.join("report.html")).unwrap();
    (document, folder, page)
}

/// What stands between `start` and `end`, each time.
pub(super) fn between<'a>(text: &'a str, start: &str, end: &str) -> Vec<&'a str> {
    text.split(start).skip(1).map(|rest| rest.split(end).next().unwrap()).collect()
}

#[test]
fn the_page_needs_no_other_file() {
    let place = TempDir::new().unwrap();
    let (_, _, page) = played(place.path(), &[], &[]);
    assert!(page.starts_with("<!DOCTYPE html>"));
    for elsewhere in ["http:", "https:", " src=", "url(", "@import", "fetch("] {
        assert!(!page.contains(elsewhere), "{elsewhere}");
    }
    let targets: BTreeSet<&str> = between(&page, " id=\"", "\"").into_iter().collect();
    assert_eq!(targets.len(), between(&page, " id=\"", "\"").len(), "an id occurs twice");
    for link in between(&page, " href=\"", "\"") {
        match link.strip_prefix('#') {
            Some(target) => assert!(targets.contains(target), "nothing is at #{target}"),
            None => assert_eq!(link, "data:,"),
        }
    }
    assert!(page.contains("<meta name=\"viewport\" content=\"width=device-width"));
    assert!(page.contains("prefers-color-scheme: dark"));
    assert_eq!(
        page.matches("<table").count(),
        page.matches("<caption").count() + page.matches("class=\"figures\"").count()
    );
}

/// The same sections as plain data, for programs and for other ways to show them.
#[test]
fn the_page_is_a_document_of_sections() {
    let place = TempDir::new().unwrap();
    let (_, folder, html) = played(place.path(), &[], &[]);
    let page = Page::read(&RunFolder::at(&folder)).unwrap().unwrap();
    let document = serde_json::to_value(subrosa::report::document(&page)).unwrap();
    let sections = document["sections"].as_array().unwrap();
    let ids: Vec<&str> = sections.iter().map(|section| section["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["answer", "charts", "privacy", "regret", "outcomes", "network", "scenario", "replay"]);
    let mut tables = 0;
    for block in sections.iter().flat_map(|section| section["blocks"].as_array().unwrap()) {
        let Some(table) = block.get("table").filter(|table| table["shown"] != "terminal") else { continue };
        tables += 1;
        assert!(html.contains(table["title"].as_str().unwrap()), "{}", table["title"]);
        let columns = table["columns"].as_array().unwrap().len();
        for row in table["rows"].as_array().unwrap() {
            assert_eq!(row["cells"].as_array().unwrap().len(), columns, "{}", table["title"]);
        }
    }
    assert!(tables >= 3, "regret, who learned what, network: {tables}");
}

#[test]
fn its_numbers_are_those_of_the_summary() {
    let place = TempDir::new().unwrap();
    let published = "published: [Published(series: \"PO-GP-UCB\", at: {\"epsilon\": 3.0}, value: 0.4321, source: \"Nobody 2020\")],\n    protocol:";
    let (document, _, page) = played(place.path(), &[("protocol:", published)], &[]);
    assert!(page.contains(document["digest"].as_str().unwrap()));
    assert!(page.contains("3 cells, 4 replications each, seed 1"));
    assert!(page.contains("<td class=\"number\">0.4321</td>") && page.contains("Nobody 2020"));
    // A value as the curve's table and its tooltip have it: mean and error to two digits of the error.
    for cell in 0..3 {
        let curve = document["cells"][cell]["series"][0]["curve"].as_array().unwrap();
        for step in [&curve[3], curve.last().unwrap()] {
            let (mean, se) = (
                step["cumulative_regret"]["mean"].as_f64().unwrap(),
                step["cumulative_regret"]["se"].as_f64().unwrap(),
            );
            let places = (1.0 - se.log10().floor()).clamp(0.0, 6.0) as usize;
            let words = format!("{mean:.places$} ± {se:.places$}");
            assert!(page.contains(&format!("<td class=\"number\">{words}</td>")), "{words}");
            assert!(
                between(&page, "data-says=\"", "\"").iter().any(|says| says.split('\n').any(|s| s == words))
            );
        }
    }
    // Along epsilon: ours at three places, the published figure at one.
    let figure = between(&page, "<figure id=\"simple-regret-against-epsilon\">", "</figure>")[0];
    let places = between(figure, "data-at=\"", "\"");
    assert_eq!(places[0], "epsilon = 1.0\nepsilon = 3.0\nepsilon = 10.0");
    assert!(["epsilon = 3", "epsilon = 3.0"].contains(&places[1]), "the published figure: {}", places[1]);
    // By observer: the claim beside what holds.
    let learned = between(&page, "<table class=\"findings\">", "</section>")[0];
    assert!(learned.contains("</span></span> 10.0</td>") && learned.contains("what modeler learned"));
    assert!(learned.contains("<span class=\"infinite\">∞</span>") && learned.contains("refuted"));
}

#[test]
fn names_and_scenarios_cannot_break_the_page() {
    let place = TempDir::new().unwrap();
    let edits = [
        ("name: \"random\"", "name: \"<img onerror=x>|\\\"&amp; random\""),
        ("// Baselines: without", "// </code></pre><script>alert(1)</script>"),
    ];
    let (_, _, page) = played(place.path(), &edits, &[]);
    assert_eq!(page.matches("<script>").count(), 1, "only our own");
    assert_eq!(page.matches("<img").count(), 0);
    assert!(page.contains("&lt;img onerror=x&gt;|&quot;&amp;amp; random"));
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
}

#[test]
fn a_study_of_many_cells_splits_its_curves() {
    let place = TempDir::new().unwrap();
    let edits = [
        ("r: 10)", "r: Each(\"r\", [2, 3, 4, 5, 6, 7]))"),
        ("length_scale: 6.25", "length_scale: Each(\"length\", [4.0, 8.0])"),
    ];
    let (document, _, page) = played(place.path(), &edits, &[]);
    assert_eq!(document["cells"].as_array().unwrap().len(), 36);
    for figure in between(&page, "<figure", "</figure>") {
        assert!(figure.matches("<g class=\"line").count() <= 16, "crowded: {}", &figure[..60]);
    }
    let titles = between(&page, "<h3>", "</h3>");
    assert!(titles.iter().any(|title| title.starts_with("Final regret against r")), "{titles:?}");
    assert!(titles.iter().any(|title| title.starts_with("Regret by round, ")), "{titles:?}");
}

/// A run whose first series released something noisy every round.
fn noisy(place: &Path) -> (Page, Cost) {
    let (_, folder, _) = played(place, &[], &[]);
    let mut page = Page::read(&RunFolder::at(&folder)).unwrap().unwrap();
    let cost = Cost::Gaussian { noise_multiplier: 8.0 };
    let row = &mut page.summary.cells[0].privacy[0];
    row.losses.retain(|loss| loss.standing != EpsilonKind::Claim);
    let releases = &mut page.first.as_mut().unwrap().series[0].releases;
    let mut event = releases[0].event.clone();
    assert_eq!((&event.protected, &event.observer.0), (&row.protected, &row.observer));
    event.cost = cost.clone();
    event.basis = Basis::Proven;
    event.claim = Some(Claim { epsilon: 0.3, delta: 1e-6, source: "Nobody 2020".to_owned(), cost: None });
    event.round = 1;
    *releases = vec![CountedRelease {
        event,
        count: 40,
        last_round: 40,
        first_seconds: 0.0,
        last_seconds: 1.0,
        is_uneven: false,
    }];
    (page, cost)
}

#[test]
fn privacy_over_rounds_is_what_the_accountants_say() {
    let place = TempDir::new().unwrap();
    let (page, cost) = noisy(place.path());
    let charts = charts(&page);
    let chart = charts.iter().find(|chart| chart.id.starts_with("privacy")).expect("a chart of privacy");
    assert_eq!(chart.legend, ["as published", "tight", "naive (basic)"]);
    let delta = Delta::new(page.summary.cells[0].privacy[0].losses[0].delta).unwrap();
    let price = |accountant: &dyn Accountant, count: u64| {
        let mut composition = Composition::new();
        composition.add(&cost, count);
        accountant.price(&composition, delta).epsilon
    };
    for (key, line) in chart.lines.iter().enumerate() {
        assert!(
            line.points.len() > 8 && line.points.windows(2).all(|pair| pair[0].y < pair[1].y),
            "it grows"
        );
        for point in &line.points {
            let count = point.x as u64;
            let expected = match key {
                0 => 0.3 * count as f64,
                1 => price(&Tight, count),
                _ => price(&Basic, count),
            };
            assert!((point.y - expected).abs() <= 1e-9 * expected, "{key}: {point:?}, {expected}");
        }
        assert_eq!((line.points[0].x, line.points.last().unwrap().x), (1.0, 40.0));
    }
    let text = subrosa::report::page(&page);
    assert!(text.contains("Privacy loss over rounds"));
}

#[test]
fn report_makes_the_same_page_again_and_figures_as_files() {
    let place = TempDir::new().unwrap();
    let (document, folder, page) = played(place.path(), &[], &[]);
    let run = folder.to_str().unwrap();
    fs::remove_file(folder.join("report.html")).unwrap();
    let (svg, png) = (place.path().join("a.svg"), place.path().join("a.png"));
    let arguments = ["report", run, "--svg", svg.to_str().unwrap(), "--figure", "cumulative-regret"];
    let (code, stdout, stderr) = code_and_output(&subrosa(&arguments));
    assert_eq!(code, 0, "{stderr}");
    assert_eq!((stdout.as_str(), stderr), ("", format!("wrote {}\n", svg.display())));
    assert_eq!(fs::read_to_string(folder.join("report.html")).unwrap(), page);
    let drawn = fs::read_to_string(&svg).unwrap();
    assert!(
        drawn.starts_with("<svg xmlns") && drawn.contains("Cumulative regret") && drawn.contains("n = 4")
    );
    assert_eq!(drawn.matches("<svg").count(), 1);

    let (code, _, stderr) = code_and_output(&subrosa(&["report", run, "--png", png.to_str().unwrap()]));
    // A machine without any font says so.
    if code == 0 {
        let picture = fs::read(&png).unwrap();
        assert_eq!(&picture[..8], b"\x89PNG\r\n\x1a\n");
        assert_eq!(u32::from_be_bytes(picture[16..20].try_into().unwrap()), 1920, "width in pixels");
    } else {
        assert!(stderr.contains("no font is installed"), "{stderr}");
    }
    let (code, _, stderr) =
        code_and_output(&subrosa(&["report", run, "--svg", "x.svg", "--figure", "regret"]));
    assert_eq!(code, 2);
    assert!(stderr.contains("it has simple-regret, cumulative-regret"), "{stderr}");
    let (_, stdout, _) = code_and_output(&subrosa(&["report", run, "--format", "json"]));
    assert_eq!(serde_json::from_str::<serde_json::Value>(&stdout).unwrap()["digest"], document["digest"]);
}

#[test]
fn report_refuses_what_is_no_finished_run() {
    let place = TempDir::new().unwrap();
    let (code, _, stderr) = code_and_output(&subrosa(&["report", place.path().to_str().unwrap()]));
    assert_eq!(code, 2);
    assert!(stderr.contains("is not a run folder"), "{stderr}");
    let (_, folder, _) = played(place.path(), &[], &[]);
    let run = folder.to_str().unwrap();
    let summary = fs::read_to_string(folder.join("summary.json")).unwrap();
    fs::write(folder.join("summary.json"), &summary[..summary.len() / 2]).unwrap();
    let (code, _, stderr) = code_and_output(&subrosa(&["report", run]));
    assert_eq!(code, 1);
    assert!(stderr.contains("summary.json is damaged"), "{stderr}");
    fs::remove_file(folder.join("summary.json")).unwrap();
    let (code, _, stderr) = code_and_output(&subrosa(&["report", run]));
    assert_eq!(code, 2);
    assert!(stderr.contains("the run was interrupted"), "{stderr}");
}

#[test]
fn new_writes_a_scenario_that_runs_and_overwrites_nothing() {
    let place = TempDir::new().unwrap();
    let (_, help, _) = code_and_output(&subrosa(&["new", "--help"]));
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    let names = between(&help, "[possible values: ", "]")[0];
    assert_eq!(names, "outsourced, local, release, federated", "a template for every system");
    for name in names.split(", ") {
        let file = place.path().join("a folder").join(format!("{name}.ron"));
        let path = file.to_str().unwrap();
        assert_eq!(code_and_output(&subrosa(&["new", name, path])).0, 0);
        assert!(fs::read_to_string(&file).unwrap().starts_with("// "), "commented");
        let (code, _, stderr) = code_and_output(&subrosa(&["check", path]));
        assert_eq!(code, 0, "{stderr}");
        run(path, place.path(), &["--replications", "2"]);
        fs::write(&file, "mine").unwrap();
        let (code, _, stderr) = code_and_output(&subrosa(&["new", name, path]));
        assert_eq!(code, 2);
        assert!(stderr.contains("is there already") && stderr.contains("--force"), "{stderr}");
        assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
        assert_eq!(code_and_output(&subrosa(&["new", name, path, "--force"])).0, 0);
        assert_ne!(fs::read_to_string(&file).unwrap(), "mine");
    }
    assert_eq!(code_and_output(&subrosa(&["new", "nonsense"])).0, 2);
}

#[test]
fn completions_and_manual_know_every_verb() {
    let place = TempDir::new().unwrap();
    let verbs = ["check", "run", "replay", "report", "new", "list", "completions", "man"];
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let (code, script, _) = code_and_output(&subrosa(&["completions", shell]));
        assert_eq!(code, 0);
        for verb in verbs {
            assert!(script.contains(verb), "{shell}: {verb}");
        }
    }
    let (code, page, _) = code_and_output(&subrosa(&["man"]));
    assert!(code == 0 && page.contains(".TH subrosa 1"), "{page}");
    let out = place.path().join("man");
    assert_eq!(code_and_output(&subrosa(&["man", "--out", out.to_str().unwrap()])).0, 0);
    for verb in verbs {
        assert!(page.contains(&format!("subrosa\\-{verb}(1)")), "{verb}");
        let text = fs::read_to_string(out.join(format!("subrosa-{verb}.1"))).unwrap();
        assert!(text.contains(&format!(".TH subrosa-{verb} 1")), "{text}");
    }
}

/// Plays a scenario of the repository shortly.
fn short(scenario: &str, place: &Path, more: &[&str]) -> (serde_json::Value, String) {
    let path = crate::support::root().join(scenario);
    let document = run(path.to_str().unwrap(), place, more);
    let page = fs::read_to_string(folder(&document).join("report.html")).unwrap();
    (document, page)
}

/// The page begins with what the scenario's author says of it, and ends with the hyperparameters that were fitted.
#[test]
fn the_author_speaks_and_fitted_values_are_told() {
    let place = TempDir::new().unwrap();
    let more = ["--replications", "1", "-o", "protocol.rounds=5"];
    let (document, page) = short("scenarios/studies/computed-scales.ron", place.path(), &more);
    let about = document["about"].as_str().unwrap();
    assert!(about.contains("442 diabetes patients"));
    assert_eq!(between(&page, "</h1><p>", "</p>"), [about]);
    let files: Vec<_> = fs::read_dir(folder(&document).join("fitted")).unwrap().flatten().collect();
    assert_eq!(files.len(), 1);
    let fitted: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(files[0].path()).unwrap()).unwrap();
    assert!(fitted["slope"].as_f64().unwrap() < 0.5, "{fitted}");
    let cells =
        between(&page[page.find("Fitted hyperparameters").unwrap()..], "<td class=\"number\">", "</td>");
    let number = |name: &str, digits: usize| format!("{:.digits$}", fitted[name].as_f64().unwrap());
    let expected =
        [number("variance", 3), number("noise_variance", 3), number("log_likelihood", 2), number("slope", 2)];
    assert_eq!(cells[..4], expected);
}

/// The lower bound is drawn in grey with a legend entry of its own; upper bounds that exceed whatever can be lost are
/// told in the legend and drawn nowhere. All of them are in the summary, by round.
#[test]
fn theory_stands_beside_the_curves() {
    let place = TempDir::new().unwrap();
    let more = ["--replications", "2", "-o", "protocol.rounds=400"];
    let (document, page) = short("scenarios/users.ron", place.path(), &more);
    let series = |name: &str| {
        let all = document["cells"][0]["series"].as_array().unwrap();
        all.iter().find(|series| series["name"] == name).unwrap()["bounds"]
            .as_array()
            .cloned()
            .unwrap_or_default()
    };
    let of = |name: &str, source: &str| {
        let bound = series(name).into_iter().find(|bound| bound["source"] == source);
        bound.unwrap_or_else(|| panic!("{name} has no bound of {source}"))
    };
    for (name, source) in [
        ("LDP-ATA-GP-UCB", "Zhou and Tan 2021, Theorem 2"),
        ("LDP-TGP-UCB", "Zhou and Tan 2021, Theorem 3"),
        ("LDP-MoMA-GP-UCB", "Zhou and Tan 2021, Corollary 1"),
        ("MoMA-GP-UCB, non-private", "Zhou and Tan 2021, Theorem 4"),
    ] {
        let bound = of(name, source);
        let points = bound["points"].as_array().unwrap();
        assert_eq!(points.last().unwrap()[0], 400, "a bound for a run of that many rounds");
        let value = points.last().unwrap()[1].as_f64().unwrap();
        assert!(value > bound["largest_possible"].as_f64().unwrap(), "{name}: {value}");
    }
    assert_eq!(series("random play").len(), 1, "the lower bound is about every learner");
    let figure = between(&page, "<figure id=\"cumulative-regret\">", "</figure>")[0];
    let grey = between(figure, "<g class=\"line cb\"", "</g>");
    assert_eq!(grey.len(), 1, "one lower bound, and no upper one");
    let beyond = between(&page, "<span class=\"beyond\">", "</span>");
    assert!(
        beyond.iter().any(|text| text.contains("are not drawn") && text.contains("Theorem 3")),
        "{beyond:?}"
    );
    assert!(page.contains("lower bound (Zhou and Tan 2021, Theorem 1)"));
}

/// Outcomes of private release stand beside their theorems; those who were late or missing stand over time; the first
/// messages are drawn.
#[test]
fn outcomes_rounds_and_messages_are_drawn() {
    let place = TempDir::new().unwrap();
    let (document, page) = short("scenarios/release.ron", place.path(), &["--replications", "2"]);
    let names: BTreeSet<&str> = document["cells"][0]["series"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|series| series["outcomes"].as_array().unwrap())
        .filter(|outcome| outcome["bound"].is_object())
        .map(|outcome| outcome["name"].as_str().unwrap())
        .collect();
    assert!(names.len() >= 4, "{names:?}");
    let figures = between(&page, "<figure id=\"outcome-", "\"");
    assert!(figures.len() >= names.len(), "{figures:?}");
    assert!(page.contains(" with probability 0.9"), "what is promised, and how surely");
    let picture = between(&page, "<svg class=\"sequence\"", "</svg>");
    assert_eq!(picture.len(), 1);
    assert!(picture[0].matches("class=\"sent\"").count() > 10 && picture[0].contains("hospital"));

    let (_, page) = short("tests/golden/federated.ron", place.path(), &[]);
    assert!(page.contains("<figure id=\"closings-"), "rounds with late and missing agents");
    assert!(page.contains("<figure id=\"latency\">"));
}

/// A server that reads every vector in clear does so at every point of the study: no row says that it learned nothing.
#[test]
fn nothing_is_said_only_of_who_learned_nothing() {
    let place = TempDir::new().unwrap();
    let file = place.path().join("federated.ron");
    assert_eq!(code_and_output(&subrosa(&["new", "federated", file.to_str().unwrap()])).0, 0);
    let more = ["--replications", "1", "-o", "protocol.features=5"];
    let document = run(file.to_str().unwrap(), place.path(), &more);
    let page = fs::read_to_string(folder(&document).join("report.html")).unwrap();
    let learned = between(&page, "<table class=\"findings\">", "<details>")[0];
    // Two noises of two series, and one series that does not depend on them: five rows, the server in each.
    assert_eq!(learned.matches("<div>sampled weights omega").count(), 5, "{learned}");
    assert_eq!(learned.matches("<div>sums of weights").count(), 5);
    assert!(!learned.contains(">nothing"), "{learned}");
    assert!(
        learned.contains("noise = 1.0") && learned.contains("noise = 2.0") && learned.contains("everywhere")
    );
}
