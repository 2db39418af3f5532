//! The page in a real browser: no error in its console, legends that hide and show, values under the pointer, a phone's
//! width, dark and light, paper. Skipped with a note where there is no browser.

use crate::support::{folder, root, run};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// The first browser on the machine, or a note that the test did not look.
fn browser() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .find(|program| program.is_file());
    if found.is_none() {
        eprintln!("SKIPPED: none of {} is installed; the page was not looked at", names.join(", "));
    }
    found
}

/// The browser's standard output and standard error after it opened `page`.
fn open(browser: &Path, home: &Path, page: &Path, more: &[&str]) -> (String, String) {
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"])
        .args(["--enable-logging=stderr", "--virtual-time-budget=5000"])
        .arg(format!("--user-data-dir={}", home.join("profile").display()))
        .args(more)
        .arg(format!("file://{}", page.display()))
        .output()
        .expect("the browser starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// What the browser's console said, if anything.
fn console(stderr: &str) -> Vec<&str> {
    stderr.lines().filter(|line| line.contains(":CONSOLE")).collect()
}

/// Puts the page into a frame of a phone's width, uses it, and writes down what happened.
const HARNESS: &str = r##"<!DOCTYPE html><meta charset="utf-8"><link rel="icon" href="data:,">
<iframe width="360" height="740" style="border:0"></iframe><pre id="result"></pre><script>
const frame = document.querySelector("iframe");
frame.addEventListener("load", () => {
  const page = frame.contentDocument;
  const hidden = (plate) => [...plate.querySelectorAll(".line")].filter((l) => frame.contentWindow.getComputedStyle(l).display === "none");
  const plates = [...page.querySelectorAll(".plate")].map((plate) => {
    const button = plate.querySelector(".legend button");
    const before = hidden(plate).length;
    button.click();
    const off = hidden(plate);
    const pressed = button.getAttribute("aria-pressed");
    button.click();
    const lines = [...plate.querySelectorAll(".line")];
    const own = lines.filter((line) => line.dataset.key === button.dataset.key).length;
    return { lines: lines.length, own, before, off: off.length,
      rightOnes: off.every((line) => line.dataset.key === button.dataset.key), pressed, after: hidden(plate).length };
  });
  const canvas = page.querySelector("[id^=cumulative-regret]:not([id*=against]) .canvas");
  const svg = canvas.querySelector("svg"), tip = canvas.querySelector(".tip");
  svg.scrollIntoView();
  const box = svg.getBoundingClientRect();
  const at = { clientX: box.left + box.width * 0.6, clientY: box.top + box.height / 2, bubbles: true };
  svg.dispatchEvent(new frame.contentWindow.PointerEvent("pointermove", at));
  const tipBox = tip.getBoundingClientRect();
  const shown = { hidden: tip.hidden, title: tip.querySelector("b")?.textContent, rows: tip.querySelectorAll(".row").length,
    inside: tipBox.left >= box.left - 1 && tipBox.right <= box.right + 1 };
  svg.dispatchEvent(new frame.contentWindow.PointerEvent("pointerleave"));
  // A word with an explanation opens it when it has the focus, and it is inside the screen.
  const terms = [...page.querySelectorAll(".term")].slice(0, 8).map((term) => {
    term.focus();
    const box = term.querySelector(".told").getBoundingClientRect();
    const open = box.width > 100 && box.left >= 0 && box.right <= 360 && box.top >= 0 && box.bottom <= 740;
    term.blur();
    return open && term.querySelector(".told").getBoundingClientRect().width === 0;
  });
  const cards = Math.max(...[...page.querySelectorAll(".card")].map((card) => card.offsetTop + card.offsetHeight));
  // Letters of a chart that overlap one another, or leave the picture.
  const clashes = [];
  for (const chart of page.querySelectorAll(".canvas > svg")) {
    if (chart.closest("details:not([open])")) continue;
    const edge = chart.getBoundingClientRect();
    const boxes = [...chart.querySelectorAll("text")].map((text) => [text.textContent, text.getBoundingClientRect()]);
    boxes.forEach(([a, p], i) => {
      if (p.left < edge.left - 1 || p.right > edge.right + 1 || p.bottom > edge.bottom + 1) clashes.push(a + " leaves the picture");
      boxes.slice(i + 1).forEach(([b, q]) => {
        if (p.left < q.right && q.left < p.right && p.top < q.bottom - 1 && q.top < p.bottom - 1) clashes.push(a + " over " + b);
      });
    });
  }
  document.getElementById("result").textContent = JSON.stringify({ plates, shown, terms, cards, tipAfter: tip.hidden, clashes,
    width: page.documentElement.scrollWidth, ground: frame.contentWindow.getComputedStyle(page.body).backgroundColor });
});
frame.srcdoc = PAGE;
</script>"##;

fn harness(place: &Path, page: &str) -> PathBuf {
    // A script element ends at the first "</script" in it, even inside a text.
    let text = serde_json::to_string(page).unwrap().replace("</", "<\\/").replace("<!--", "<\\u0021--");
    let file = place.join("harness.html");
    fs::write(&file, HARNESS.replace("PAGE", &text)).unwrap();
    file
}

fn result(dom: &str) -> serde_json::Value {
    let text =
        dom.split("<pre id=\"result\">").nth(1).and_then(|rest| rest.split("</pre>").next()).unwrap_or("");
    serde_json::from_str(&text.replace("&gt;", ">").replace("&lt;", "<").replace("&amp;", "&"))
        .unwrap_or_else(|_| panic!("the page's frame never loaded: {dom:.2000}"))
}

#[test]
fn people_can_use_the_page() {
    let Some(browser) = browser() else { return };
    let place = TempDir::new().unwrap();
    let scenarios =
        ["scenarios/hospital.ron", "scenarios/papers/po-gp-ucb/table1.ron", "scenarios/release.ron"];
    for scenario in scenarios {
        let path = root().join(scenario);
        let document = run(path.to_str().unwrap(), place.path(), &["--replications", "3"]);
        let file = folder(&document).join("report.html");
        let page = fs::read_to_string(&file).unwrap();

        let (dom, stderr) = open(&browser, place.path(), &file, &["--dump-dom"]);
        assert!(dom.contains("</html>"), "{stderr}");
        assert_eq!(console(&stderr), Vec::<&str>::new(), "{scenario}");

        let frame = harness(place.path(), &page);
        let (dom, stderr) = open(&browser, place.path(), &frame, &["--dump-dom"]);
        assert_eq!(console(&stderr), Vec::<&str>::new(), "{scenario}");
        let light = result(&dom);
        let plates = light["plates"].as_array().unwrap();
        assert!(!plates.is_empty());
        for plate in plates {
            let count = |name: &str| plate[name].as_u64().unwrap();
            assert_eq!((count("before"), count("after")), (0, 0), "{plate}");
            assert!(count("off") >= 1 && count("off") == count("own"), "{plate}");
            assert_eq!((&plate["rightOnes"], &plate["pressed"]), (&true.into(), &"false".into()), "{plate}");
        }
        let shown = &light["shown"];
        assert_eq!((&shown["hidden"], &shown["inside"]), (&false.into(), &true.into()), "{shown}");
        assert!(
            shown["rows"].as_u64().unwrap() >= 2 && !shown["title"].as_str().unwrap().is_empty(),
            "{shown}"
        );
        assert_eq!(light["tipAfter"], true, "the values go when the pointer does");
        assert_eq!(light["clashes"], serde_json::json!([]), "{scenario}");
        let terms = light["terms"].as_array().unwrap();
        assert!(!terms.is_empty() && terms.iter().all(|open| *open == true), "{terms:?}");
        assert!(
            light["cards"].as_f64().unwrap() <= 844.0,
            "the answer fits one screen of a phone: {}",
            light["cards"]
        );
        assert_eq!(light["width"], 360, "a phone scrolls tables, not the page");

        let (dom, _) =
            open(&browser, place.path(), &frame, &["--dump-dom", "--blink-settings=preferredColorScheme=0"]);
        assert_eq!(
            (light["ground"].as_str(), result(&dom)["ground"].as_str()),
            (Some("rgb(255, 255, 255)"), Some("rgb(20, 23, 26)"))
        );

        let paper = place.path().join("page.pdf");
        let print = format!("--print-to-pdf={}", paper.display());
        let (_, stderr) = open(&browser, place.path(), &file, &[&print]);
        assert_eq!(console(&stderr), Vec::<&str>::new(), "{scenario}");
        assert!(fs::read(&paper).unwrap().starts_with(b"%PDF"));
    }
}
