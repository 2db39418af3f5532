//! The page's first screen, and what a paper takes from a run: figures with a width, captions, tables.

use super::html::{between, played};
use crate::support::{code_and_output, subrosa};
use std::fs;
use tempfile::TempDir;

/// Files for a paper: a width on paper, no title, a caption of its own, and one table.
#[test]
fn figures_and_tables_for_a_paper() {
    let place = TempDir::new().unwrap();
    let (document, folder, _) = played(place.path(), &[], &[]);
    let run = folder.to_str().unwrap();
    let path = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
    let (svg, png, pdf, words) = (path("a.svg"), path("a.png"), path("a.pdf"), path("a.txt"));
    let figure = ["report", run, "--figure", "cumulative-regret", "--width", "85", "--plain"];
    let (code, _, stderr) =
        code_and_output(&subrosa(&[&figure[..], &["--svg", &svg, "--caption", &words]].concat()));
    assert_eq!(code, 0, "{stderr}");
    let drawn = fs::read_to_string(&svg).unwrap();
    assert!(
        drawn.contains("width=\"85.00mm\"") && !drawn.contains(">Cumulative regret</text>"),
        "{drawn:.300}"
    );
    assert!(!between(&drawn, "<text", "</text>").iter().any(|text| text.contains("standard error")));
    let caption = fs::read_to_string(&words).unwrap();
    assert!(
        caption.starts_with("Cumulative regret.\nLine: mean over replications.") && caption.contains("n = 4")
    );

    let (code, _, stderr) =
        code_and_output(&subrosa(&[&figure[..], &["--png", &png, "--pdf", &pdf]].concat()));
    if code == 0 {
        let picture = fs::read(&png).unwrap();
        // 85 mm at 300 dots an inch.
        let width = u32::from_be_bytes(picture[16..20].try_into().unwrap());
        assert!(width.abs_diff(1004) <= 4, "{width}");
        let page = fs::read(&pdf).unwrap();
        let text = String::from_utf8_lossy(&page);
        assert!(page.starts_with(b"%PDF-") && text.trim_end().ends_with("%%EOF"));
        // 85 mm are 240.9 points.
        let size: Vec<f64> =
            between(&text, "/MediaBox [", "]")[0].split_whitespace().map(|n| n.parse().unwrap()).collect();
        assert!((size[2] - 240.9).abs() < 1.0 && size[3] > 100.0, "{size:?}");
        assert!(text.matches(" l\n").count() > 50 && text.matches(" c\n").count() > 50, "lines and letters");
    } else {
        assert!(stderr.contains("no font is installed"), "{stderr}");
    }
    for wrong in ["5", "x", "2000"] {
        let (code, _, stderr) = code_and_output(&subrosa(&["report", run, "--svg", &svg, "--width", wrong]));
        assert!(code == 2 && stderr.contains("from 10 to 1000 millimetres"), "{stderr}");
    }

    let (code, latex, stderr) = code_and_output(&subrosa(&["report", run, "--table", "latex"]));
    assert_eq!(code, 0, "{stderr}");
    assert!(
        latex.contains("\\begin{tabular}{llrrrrrr}\n\\toprule\nseries & epsilon & simple regret"),
        "{latex}"
    );
    let found = &document["cells"][1]["series"][0]["metrics"]["cumulative_regret"];
    let (mean, se) = (found["mean"].as_f64().unwrap(), found["se"].as_f64().unwrap());
    let places = (1.0 - se.log10().floor()).clamp(0.0, 6.0) as usize;
    assert!(latex.contains(&format!("{mean:.places$} $\\pm$ {se:.places$} & 3.0000")), "{mean}: {latex}");
    assert!(latex.contains("3.0000 & $\\infty$"), "claimed, and what holds: {latex}");
    let (_, markdown, _) = code_and_output(&subrosa(&["report", run, "--table", "markdown"]));
    assert!(markdown.contains("\n| --- | --- | ---: |"), "{markdown}");
    assert_eq!(
        markdown.lines().filter(|line| line.starts_with('|')).count(),
        latex.matches(r"\\").count() + 1
    );
}

/// The pictures that show one replication say which, and another can be chosen.
#[test]
fn another_cell_and_replication_can_be_shown() {
    let place = TempDir::new().unwrap();
    let (_, folder, page) = played(place.path(), &[], &[]);
    let run = folder.to_str().unwrap();
    assert!(page.contains("Rounds over virtual time, cell 0 (epsilon = 1.0), replication 0"));
    assert!(page.contains("The first messages of PO-GP-UCB, cell 0 (epsilon = 1.0), replication 0"));
    let (code, _, stderr) = code_and_output(&subrosa(&["report", run, "--cell", "2", "--replication", "3"]));
    assert_eq!(code, 0, "{stderr}");
    let other = fs::read_to_string(folder.join("report-cell2-replication3.html")).unwrap();
    assert!(other.contains("Rounds over virtual time, cell 2 (epsilon = 10.0), replication 3"));
    assert!(!other.contains("The first messages of"), "only the first replication's are kept");
    for (wrong, said) in
        [(["--cell", "3"], "its cells are 0 to 2"), (["--replication", "4"], "replications 0 to 3")]
    {
        let (code, _, stderr) = code_and_output(&subrosa(&[&["report", run], &wrong[..]].concat()));
        assert!(code == 2 && stderr.contains(said), "{stderr}");
    }
}

/// The answer stands first, then charts, then privacy; words explain themselves where they stand.
#[test]
fn the_page_answers_first() {
    let place = TempDir::new().unwrap();
    let (_, _, page) = played(place.path(), &[], &[]);
    let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("no {text}"));
    let order = [
        "<section class=\"card\" id=\"good\">",
        "id=\"cost\"",
        "id=\"learned\"",
        "<nav",
        "id=\"charts\"",
        "id=\"privacy\"",
        "id=\"regret\"",
    ];
    assert!(order.windows(2).all(|pair| at(pair[0]) < at(pair[1])), "{order:?}");
    let card = between(&page, "id=\"learned\">", "</section>")[0];
    let refuted = between(card, "refuted</span><span class=\"told\" role=\"note\">", "</span>");
    assert!(refuted[0].len() > 40, "the reason opens at the badge: {card}");
    assert!(card.contains("<span class=\"term\" tabindex=\"0\">"), "by keyboard and touch too");
}
