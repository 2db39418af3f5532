//! The book is true: its links lead somewhere, its scenarios are valid, its command lines parse, its programs are those
//! of examples/. SUBROSA_BLESS=1 cargo test --test commands book copies the examples into it anew.

use crate::support::{code_and_output, root, subrosa};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A page and its text.
#[derive(Debug)]
struct Page {
    path: PathBuf,
    text: String,
}

/// Every page of the book, and the README.
fn pages() -> Vec<Page> {
    let mut paths: Vec<PathBuf> = fs::read_dir(root().join("docs"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    paths.sort();
    paths.push(root().join("README.md"));
    paths.into_iter().map(|path| Page { text: fs::read_to_string(&path).unwrap(), path }).collect()
}

/// The fenced blocks of a page: language, contents.
fn blocks(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open: Option<(String, String)> = None;
    for line in text.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(language)) => open = Some((language.to_owned(), String::new())),
            (Some(_), Some(_)) => found.extend(open.take()),
            (Some((_, contents)), None) => {
                contents.push_str(line);
                contents.push('\n');
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block is not closed");
    found
}

/// A page without its fenced blocks.
fn prose(text: &str) -> String {
    let mut inside = false;
    let lines = text.lines().filter(|line| {
        let fence = line.starts_with("```");
        inside ^= fence;
        !inside && !fence
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// What stands between single backquotes.
fn spans(prose: &str) -> Vec<String> {
    prose.split('`').skip(1).step_by(2).map(|span| span.replace('\n', " ")).collect()
}

/// The targets of `[text](target)`.
fn links(prose: &str) -> Vec<String> {
    let plain: String = prose.split('`').step_by(2).collect();
    plain.split("](").skip(1).map(|rest| rest.split(')').next().unwrap_or_default().to_owned()).collect()
}

/// The anchors of a page, as GitHub and mdBook make them.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings =
        text.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    headings
        .map(|heading| {
            let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
            kept.collect::<String>().to_lowercase().replace(' ', "-")
        })
        .collect()
}

#[test]
fn the_summary_lists_every_page_once() {
    let text = fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    let listed = links(&text);
    let distinct: BTreeSet<&String> = listed.iter().collect();
    assert_eq!(distinct.len(), listed.len(), "a page is listed twice");
    for page in pages().iter().filter(|page| page.path.parent() == Some(&root().join("docs"))) {
        let name = page.path.file_name().unwrap().to_str().unwrap().to_owned();
        assert!(name == "SUMMARY.md" || listed.contains(&name), "docs/SUMMARY.md does not list {name}");
        assert!(page.text.starts_with("# "), "{name} does not begin with its title");
    }
    // mdBook: titles of parts, and list items that are links.
    for line in text.lines().filter(|line| !line.is_empty()) {
        assert!(line.starts_with("# ") || line.starts_with("- [") || line.starts_with('['), "{line}");
    }
}

#[test]
fn every_link_leads_somewhere() {
    let mut broken = Vec::new();
    for page in pages() {
        for link in links(&prose(&page.text)) {
            if link.starts_with("https://") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target =
                if file.is_empty() { page.path.clone() } else { page.path.parent().unwrap().join(file) };
            let there = target.exists()
                && (anchor.is_empty() || anchors(&fs::read_to_string(&target).unwrap()).contains(anchor));
            if !there {
                broken.push(format!("{}: {link}", page.path.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// Every scenario file that a text names.
fn scenarios(text: &str) -> Vec<&str> {
    let word = |c: char| c.is_alphanumeric() || matches!(c, '/' | '-' | '.' | '_');
    text.split(|c| !word(c)).filter(|word| word.starts_with("scenarios/") && word.ends_with(".ron")).collect()
}

/// Whether a scenario is valid, or lacks nothing but data that may not be passed on.
fn assert_valid(file: &Path, place: &str) {
    let (code, _, stderr) = code_and_output(&subrosa(&["check", file.to_str().unwrap()]));
    let says_so = fs::read_to_string(file).unwrap().contains("The data may not be passed on");
    let withheld = says_so && stderr.contains("no such file") && stderr.contains("--data");
    // Examples that call Python are for machines that have it.
    let python = ["scikit_learn.ron", "training.ron", "mechanism.ron"];
    let absent = stderr.contains("a program that is installed")
        && python.iter().any(|name| file.ends_with(format!("external/{name}")));
    assert!(code == 0 || (code == 3 && (withheld || absent)), "{place}: {stderr}");
}

#[test]
fn scenarios_that_are_named_or_shown_are_valid() {
    let place = tempfile::tempdir().unwrap();
    let mut named = BTreeSet::new();
    for page in pages() {
        named.extend(scenarios(&page.text).into_iter().map(str::to_owned));
        for (index, (language, contents)) in blocks(&page.text).into_iter().enumerate() {
            if language == "ron" && contents.contains("Scenario(") {
                let file = place.path().join(format!("{index}.ron"));
                fs::write(&file, contents).unwrap();
                assert_valid(&file, &page.path.display().to_string());
            }
        }
    }
    assert!(named.len() >= 20, "{named:?}");
    for file in &named {
        assert_valid(&root().join(file), file);
    }
}

/// The words of a command line, up to a comment, a pipe or the next command.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for c in line.chars() {
        match c {
            '\'' | '"' if quote == Some(c) => quote = None,
            '\'' | '"' if quote.is_none() => quote = Some(c),
            '#' | '|' | '>' | '&' | ';' if quote.is_none() => break,
            ' ' if quote.is_none() => words.push(String::new()),
            c => words.last_mut().unwrap().push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Every command line of a page that calls the program, from its name on.
fn commands(page: &Page) -> Vec<Vec<String>> {
    let shown = blocks(&page.text).into_iter().filter(|(language, _)| language == "sh");
    let lines: Vec<String> =
        shown.flat_map(|(_, text)| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect();
    let calls = lines.into_iter().chain(spans(&prose(&page.text))).filter_map(|line| {
        let words = words(&line);
        match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
            ["subrosa", _, ..] => Some(words),
            ["cargo", "run", "--release", "--", ..] => {
                Some(std::iter::once("subrosa".to_owned()).chain(words.into_iter().skip(4)).collect())
            }
            _ => None,
        }
    });
    calls.collect()
}

#[test]
fn command_lines_parse() {
    let mut wrong = Vec::new();
    let mut verbs = BTreeSet::new();
    for page in pages() {
        for command in commands(&page) {
            verbs.insert(command[1].clone());
            // A verb alone, in a sentence, is only mentioned.
            if command.len() == 2 && subrosa::cli::command().find_subcommand(&command[1]).is_some() {
                continue;
            }
            if let Err(error) = subrosa::cli::command().try_get_matches_from(&command) {
                // Asking for help is no error.
                if error.use_stderr() {
                    wrong.push(format!("{}: {}\n{error}", page.path.display(), command.join(" ")));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // The book shows every verb.
    for verb in subrosa::cli::command().get_subcommands() {
        assert!(verbs.contains(verb.get_name()), "no page shows `subrosa {}`", verb.get_name());
    }
}

/// A file of the sources that a page names, from the crate's root or from `src`; names in capitals stand for any.
fn source_files(text: &str) -> Vec<String> {
    let place = |span: &String| {
        let known = |c: char| c.is_ascii_alphanumeric() || "_/.-".contains(c);
        span.ends_with(".rs") && span.contains('/') && span.chars().all(known)
    };
    spans(&prose(text)).into_iter().filter(place).collect()
}

#[test]
fn source_files_that_are_named_exist() {
    // Examples of what a reader would write.
    let invented = ["src/network/latency/frechet.rs", "src/objectives/forrester.rs"];
    let mut named = 0;
    for page in pages() {
        for file in source_files(&page.text) {
            if file.contains("NAME") || invented.contains(&file.as_str()) {
                continue;
            }
            named += 1;
            let there = [root().join(&file), root().join("src").join(&file)].iter().any(|path| path.exists());
            assert!(there, "{}: {file} is not there", page.path.display());
        }
    }
    assert!(named > 30, "{named} files are named");
}

#[test]
fn programs_shown_are_those_of_the_examples() {
    let path = root().join("docs/extending.md");
    let text = fs::read_to_string(&path).unwrap();
    let mut fresh = String::new();
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once("<!-- examples/") {
        let (name, after) = after.split_once(" -->\n```rust\n").expect("a marker stands before its block");
        let (_, after) = after.split_once("```\n").expect("the block is closed");
        let program = fs::read_to_string(root().join("examples").join(name)).unwrap();
        fresh.push_str(&format!("{before}<!-- examples/{name} -->\n```rust\n{program}```\n"));
        rest = after;
    }
    fresh.push_str(rest);
    if std::env::var_os("SUBROSA_BLESS").is_some() {
        fs::write(&path, &fresh).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap();
    assert!(
        kept == fresh,
        "docs/extending.md shows old programs: SUBROSA_BLESS=1 cargo test --test commands book"
    );
    for entry in fs::read_dir(root().join("examples")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        // A scenario is no program.
        if name.ends_with(".ron") {
            continue;
        }
        assert!(
            kept.contains(&format!("<!-- examples/{name} -->")),
            "docs/extending.md does not show {name}"
        );
    }
}

/// CONTRIBUTING.md names every recipe of the justfile but the list, and no other.
#[test]
fn contributing_and_the_justfile_name_the_same_recipes() {
    let read = |name: &str| fs::read_to_string(root().join(name)).unwrap();
    let head = |line: &str| {
        let name: String = line.chars().take_while(|c| c.is_ascii_lowercase()).collect();
        (line.contains(':') && !name.is_empty() && name != "default").then_some(name)
    };
    let recipes: BTreeSet<String> = read("justfile").lines().filter_map(head).collect();
    let contributing = read("CONTRIBUTING.md");
    let named = contributing.split("`just ").skip(1).filter_map(|rest| {
        let name: String = rest.chars().take_while(|c| c.is_ascii_lowercase()).collect();
        (!name.is_empty()).then_some(name)
    });
    assert_eq!(named.collect::<BTreeSet<String>>(), recipes);
}

/// The table of the tour, from the commands above it.
#[test]
fn the_tour_shows_what_is_printed() {
    let page = fs::read_to_string(root().join("docs/tour.md")).unwrap();
    let (_, rest) = page.split_once("```text\nRegret at the end").expect("the tour has the table");
    let (table, _) = rest.split_once("\n```").expect("the block is closed");
    let place = tempfile::tempdir().unwrap();
    let typed = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_subrosa"));
        let output = command.args(words).current_dir(place.path()).env_remove("COLUMNS").output().unwrap();
        assert!(output.status.success(), "{words:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    typed(&["new", "outsourced"]);
    let printed = typed(&["run", "outsourced.ron", "--replications", "5"]);
    assert!(printed.contains(&format!("Regret at the end{table}\n")), "{printed}");
}
