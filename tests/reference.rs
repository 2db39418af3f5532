//! docs/reference.md is what `subrosa list` says. Regenerate with SUBROSA_BLESS=1 cargo test --test reference.

mod support;

use serde_json::Value;
use std::fmt::Write;
use std::fs;
use support::{root, subrosa, told};

#[test]
fn the_reference_is_up_to_date() {
    let (code, stdout, _) = told(&subrosa(&["list", "--format", "json"]));
    assert_eq!(code, 0);
    let catalogue: Value = serde_json::from_str(&stdout).unwrap();
    let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let mut page = String::from(
        "# Reference\n\nEvery name that a scenario may use. Made from the code by `tests/reference.rs`; do not edit.\n",
    );
    for family in catalogue["families"].as_array().unwrap() {
        let _ = write!(page, "\n## {}\n\n{}\n", text(family, "name"), text(family, "about"));
        for member in family["members"].as_array().unwrap() {
            let _ = write!(page, "\n### {}\n\n", text(member, "name"));
            if !text(member, "about").is_empty() {
                let _ = writeln!(page, "{}\n", text(member, "about"));
            }
            let fields = member["fields"].as_array().unwrap();
            if !fields.is_empty() {
                page.push_str("| field | takes | |\n|---|---|---|\n");
            }
            for field in fields {
                let about = text(field, "about").replace('|', "\\|").replace('\n', " ");
                let required = if field["required"] == true { "**required** " } else { "" };
                let _ = writeln!(
                    page,
                    "| `{}` | {} | {required}{about} |",
                    text(field, "name"),
                    text(field, "takes")
                );
            }
        }
    }
    let path = root().join("docs/reference.md");
    if std::env::var_os("SUBROSA_BLESS").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == page, "docs/reference.md is out of date: SUBROSA_BLESS=1 cargo test --test reference");
}
