//! `subrosa list`: everything that a scenario may contain.

use super::exit::Exit;
use super::options::{Format, ListArguments};
use super::output::{eprint_lines, print, width};
use crate::report;
use crate::scenario::{Family, closest, families, parts};
use serde::Serialize;

/// Largest number of columns of a line, because longer lines are hard to read.
const MAX_PROSE: usize = 80;
/// Smallest width, in columns, at which descriptions are printed beside names; below it, they are printed under the names.
const BESIDE: usize = 64;

/// The JSON document: families and parts.
#[derive(Serialize)]
struct Language<'a> {
    families: &'a [Family],
    parts: &'a [Family],
}

/// The explanation of `Each`, which may take the place of any value and so belongs to no family.
const EACH: &str = "
Each(\"name\", [value, value, ..]): stands in place of any value
    Makes one cell of a study per value. Lists of the same name change together;
    lists of different names give all combinations. See docs/language.md.
    Example: Each(\"epsilon\", [0.1, 1, 10])
    Example: Each(\"rounds\", Range(50, 300, 50))
";

/// Runs the command.
pub(super) fn list(arguments: &ListArguments) -> Exit {
    let (mut families, mut parts) = (families(), parts());
    if let (Some(family), Some(member)) = (&arguments.what, &arguments.member) {
        let known = families.iter().chain(&parts).find(|known| has_name(known, family));
        let names =
            known.map(|known| known.members.iter().map(|member| member.name.clone()).collect::<Vec<_>>());
        let said = match names {
            None => {
                Some(format!("nothing is called \"{family}\"; `subrosa list` names the families and parts"))
            }
            Some(names) if names.iter().any(|name| name.eq_ignore_ascii_case(member)) => None,
            Some(names) => Some(match closest(member, &names) {
                Some(near) => format!("{family} has no \"{member}\"; did you mean {near}?"),
                None => format!("{family} has no \"{member}\"; it has {}", names.join(", ")),
            }),
        };
        if let Some(said) = said {
            eprint_lines(&fold(&format!("error: {said}"), 2));
            return Exit::Usage;
        }
        let only = |mut known: Family| {
            known.members.retain(|found| found.name.eq_ignore_ascii_case(member));
            known
        };
        families = families.into_iter().filter(|known| has_name(known, family)).map(only).collect();
        parts = parts.into_iter().filter(|known| has_name(known, family)).map(only).collect();
    } else if let Some(wanted) = &arguments.what {
        let known: Vec<String> = families.iter().map(|family| family.name.clone()).collect();
        let near = nearest(wanted, families.iter().chain(&parts));
        families = families.into_iter().filter_map(|family| narrow(family, wanted)).collect();
        parts = parts.into_iter().filter_map(|part| narrow(part, wanted)).collect();
        if families.is_empty() && parts.is_empty() {
            if wanted.eq_ignore_ascii_case("Each") {
                print(&report::message(EACH, width()));
                return Exit::Ok;
            }
            let cure = match near {
                Some(near) => format!("did you mean {near}?"),
                None => format!("the families are {}", known.join(", ")),
            };
            eprint_lines(&fold(&format!("error: nothing is called \"{wanted}\"; {cure}"), 2));
            return Exit::Usage;
        }
    }
    match (arguments.format, &arguments.what) {
        (Format::Text, Some(_)) => families.iter().chain(&parts).for_each(|family| print(&explained(family))),
        (Format::Text, None) => {
            families.iter().for_each(|family| print(&named(family)));
            print(&fold("\nparts: types used inside the members of families", 2));
            parts.iter().for_each(|part| print(&line(&part.name, &part.about)));
            print(&fold(
                "\n`subrosa list NAME` explains a family, a member or a part with all its fields.",
                2,
            ));
        }
        (Format::Json, _) => {
            print(&report::json(&Language { families: &families, parts: &parts }));
        }
    }
    Exit::Ok
}

/// The name of a family, member or part that is most similar to the requested name; `None` if no name is similar.
fn nearest<'a>(wanted: &str, families: impl Iterator<Item = &'a Family>) -> Option<String> {
    let names = families.flat_map(|family| {
        let members = family.members.iter().map(|member| member.name.clone());
        members.chain([family.name.clone()])
    });
    let names: Vec<String> = names.collect();
    closest(wanted, &names).map(str::to_owned)
}

/// Whether `wanted` is the name of this family or part, in upper or lower case. If several parts have the same name, each
/// has a suffix, as in "Series of Local"; `wanted` may leave out the suffix.
fn has_name(family: &Family, wanted: &str) -> bool {
    let name = family.name.split(" of ").next().unwrap_or_default();
    family.name.eq_ignore_ascii_case(wanted) || name.eq_ignore_ascii_case(wanted)
}

/// The whole family if it has the requested name, or the family with only the member of that name; `None` if neither the
/// family nor a member has the name.
fn narrow(mut family: Family, wanted: &str) -> Option<Family> {
    if has_name(&family, wanted) {
        return Some(family);
    }
    family.members.retain(|member| member.name.eq_ignore_ascii_case(wanted));
    (!family.members.is_empty()).then_some(family)
}

/// The family and those of its members that have a description, each with the first paragraph of its description.
fn named(family: &Family) -> String {
    let mut out = fold(&format!("\n{}: {}", family.name, first_line(&family.about)), 2);
    for member in family.members.iter().filter(|member| !member.about.is_empty()) {
        out.push_str(&line(&member.name, &member.about));
    }
    out
}

/// A name and the first paragraph of its description.
fn line(name: &str, about: &str) -> String {
    if width() < BESIDE {
        return format!("  {name}\n{}", fold(&format!("    {}", first_line(about)), 4));
    }
    fold(&format!("  {name:<22} {}", first_line(about)), 25)
}

/// The family and its members with all their fields.
fn explained(family: &Family) -> String {
    let mut out = fold(&format!("\n{}: {}", family.name, first_line(&family.about)), 2);
    for member in &family.members {
        out.push_str(&format!("\n  {}\n", member.name));
        for paragraph in member.about.split("\n\n").filter(|paragraph| !paragraph.trim().is_empty()) {
            for (text, indent) in items(paragraph) {
                out.push_str(&fold(&format!("    {text}"), indent));
            }
        }
        if let Some(example) = &member.example {
            out.push_str(&fold(&format!("    Example: {example}"), 6));
        }
        for field in &member.fields {
            let name = field.name.as_deref().unwrap_or("value");
            let need = if field.required { "" } else { ", optional" };
            out.push_str(&fold(&format!("      {name}: {}{need}", field.takes), 8));
            if !field.about.is_empty() {
                out.push_str(&fold(&format!("          {}", field.about.replace('\n', " ")), 10));
            }
        }
    }
    out
}

/// A paragraph as one line, or a list as one line per item. Each line comes with the indent that its continuation lines get
/// when the line is broken.
fn items(paragraph: &str) -> Vec<(String, usize)> {
    let mut found: Vec<(String, usize)> = Vec::new();
    for line in paragraph.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let item = line.starts_with("* ");
        match found.last_mut() {
            Some((text, _)) if !item => {
                text.push(' ');
                text.push_str(line);
            }
            _ => found.push((line.to_owned(), if item { 6 } else { 4 })),
        }
    }
    for (text, _) in &mut found {
        *text = text.replace("**", "");
    }
    found
}

fn first_line(text: &str) -> String {
    text.split("\n\n").next().unwrap_or_default().replace('\n', " ")
}

/// Breaks a line between words at the width of the terminal, or at [`MAX_PROSE`] columns if the terminal is wider, and
/// indents the continuation lines.
fn fold(line: &str, indent: usize) -> String {
    report::folded(line, indent, width().min(MAX_PROSE))
}
