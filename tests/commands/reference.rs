//! docs/reference.md and docs/reference-parts.md are what `subrosa list` says. Regenerate them with
//! SUBROSA_BLESS=1 cargo test --test commands reference.

use crate::support::{code_and_output, root, subrosa};
use serde_json::Value;
use std::fmt::Write;
use std::fs;

/// The pages: file, key of the list in the output of `list`, first lines.
const PAGES: [(&str, &str, &str); 2] = [
    (
        "reference.md",
        "families",
        "# Reference\n\nEvery name that a scenario may use. Generated from the source code by `tests/commands/reference.rs`; do \
         not edit. The types of fields, such as `AgentGroup(..)`, are in [Reference: parts](reference-parts.md).\n",
    ),
    (
        "reference-parts.md",
        "parts",
        "# Reference: parts\n\nThe types of the fields in the [reference](reference.md). Generated from the source code by \
         `tests/commands/reference.rs`; do not edit.\n",
    ),
];

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}

fn write_member(page: &mut String, family: &str, member: &Value) {
    let (name, about) = (text(member, "name"), text(member, "about"));
    if !family.starts_with(&name) {
        let _ = write!(page, "\n### {name}\n");
    }
    if !about.is_empty() {
        let _ = write!(page, "\n{about}\n");
    }
    if let Some(example) = member["example"].as_str() {
        let _ = write!(page, "\nExample: `{example}`\n");
    }
    let fields = member["fields"].as_array().unwrap();
    if !fields.is_empty() {
        page.push_str("\n| field | takes | |\n|---|---|---|\n");
    }
    for field in fields {
        let about = text(field, "about").replace('|', "\\|").replace('\n', " ");
        let required = if field["required"] == true { "**required** " } else { "" };
        let name = match text(field, "name").as_str() {
            "" => "(its value)".to_owned(),
            name => format!("`{name}`"),
        };
        let line = format!("| {name} | {} | {required}{about}", text(field, "takes"));
        let _ = writeln!(page, "{} |", line.trim_end());
    }
}

#[test]
fn the_reference_is_up_to_date() {
    let (code, stdout, _) = code_and_output(&subrosa(&["list", "--format", "json"]));
    assert_eq!(code, 0);
    let catalogue: Value = serde_json::from_str(&stdout).unwrap();
    for (file, key, opening) in PAGES {
        let mut page = String::from(opening);
        for family in catalogue[key].as_array().unwrap() {
            let _ = write!(page, "\n## {}\n\n{}\n", text(family, "name"), text(family, "about"));
            for member in family["members"].as_array().unwrap() {
                write_member(&mut page, &text(family, "name"), member);
            }
        }
        let path = root().join("docs").join(file);
        if std::env::var_os("SUBROSA_BLESS").is_some() {
            fs::write(&path, &page).unwrap();
        }
        let kept = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            kept == page,
            "docs/{file} is out of date: SUBROSA_BLESS=1 cargo test --test commands reference"
        );
    }
}

/// Whoever reads the list has nothing else: no member without a sentence, no optional field without its default.
#[test]
fn every_member_and_field_is_explained() {
    let (_, stdout, _) = code_and_output(&subrosa(&["list", "--format", "json"]));
    let catalogue: Value = serde_json::from_str(&stdout).unwrap();
    let mut gaps = Vec::new();
    for key in ["families", "parts"] {
        for family in catalogue[key].as_array().unwrap() {
            let members = family["members"].as_array().unwrap();
            assert!(!members.is_empty(), "{family}");
            let place = text(family, "name");
            if text(family, "about").is_empty() {
                gaps.push(place.clone());
            }
            for member in members {
                let place = format!("{place}: {}", text(member, "name"));
                if members.len() > 1 && text(member, "about").is_empty() {
                    gaps.push(place.clone());
                }
                for field in member["fields"].as_array().unwrap() {
                    let about = text(field, "about");
                    let named = field["name"].is_string();
                    let default = field["required"] == true || about.contains("Default: ");
                    if named && (about.is_empty() || !default) {
                        gaps.push(format!("{place}.{}: {about}", text(field, "name")));
                    }
                }
            }
        }
    }
    assert!(gaps.is_empty(), "not explained:\n{}", gaps.join("\n"));
}
