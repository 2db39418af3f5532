//! Where random numbers come from: the library's own members draw from `Stream`, by samplers whose values are part of the
//! replay format, and never through rand, whose `usize` draws depend on the machine and whose laws on the version.

use std::fs;
use std::path::Path;

/// What a file below `src` may not say outside of its tests, unless it is a door for members of a user's own.
const FORBIDDEN: [&str; 6] = ["rand::", "rand_distr", "random_range", "random::<", "RngExt", "SliceRandom"];

fn doors(file: &str) -> bool {
    file.starts_with("rng/") || file == "prelude.rs"
}

/// The forbidden words of a file's code, with their lines.
fn found(text: &str) -> Vec<(usize, &'static str)> {
    let code = text.lines().enumerate().take_while(|(_, line)| !line.starts_with("#[cfg(test)]"));
    let code = code.filter(|(_, line)| !line.trim_start().starts_with("//"));
    code.flat_map(|(number, line)| {
        FORBIDDEN.iter().filter(move |word| line.contains(**word)).map(move |word| (number + 1, *word))
    })
    .collect()
}

fn look(root: &Path, folder: &Path, offences: &mut Vec<String>, seen: &mut usize) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            look(root, &path, offences, seen);
            continue;
        }
        let file = path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
        if file.ends_with(".rs") && !doors(&file) {
            *seen += 1;
            let text = fs::read_to_string(&path).unwrap();
            offences.extend(found(&text).into_iter().map(|(line, word)| format!("{file}:{line}: {word}")));
        }
    }
}

#[test]
fn members_of_the_library_draw_from_streams_alone() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut offences, mut seen) = (Vec::new(), 0);
    look(&root, &root, &mut offences, &mut seen);
    assert!(seen > 300, "{seen} files");
    assert!(offences.is_empty(), "draw from Stream's own samplers:\n{}", offences.join("\n"));
    // The test sees what it looks for, and not what only tests and comments say.
    let text =
        "// rand::rng()\nlet place = stream.random_range(0..n);\n#[cfg(test)]\nuse rand_distr::Gamma;\n";
    assert_eq!(found(text), [(2, "random_range")]);
}
