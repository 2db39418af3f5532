//! The architecture as a test: layers, no circle of files, no protocol that imports a sibling, typed errors, and files
//! that stay readable.
//!
//! Imports are read by a parser of Rust and followed to the file that defines the name, through every re-export. What
//! counts as an arrow from one file to another: a `use` and a path in code. What does not: `mod`, `pub use` (they say
//! what a folder holds), macros' insides (the members of a `family!`), and tests, inside a file or in a `tests.rs` of
//! their own.

use proc_macro2::TokenStream;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use syn::visit::{self, Visit};

/// The layers of `docs/architecture.md`, lowest first. Modules of one layer do not import each other.
const LAYERS: &[(u32, &[&str])] = &[
    (1, &["vocab", "special", "rng"]),
    (2, &["kernel", "gp", "accounting", "programs"]),
    (3, &["privacy", "network", "objectives", "learners"]),
    (4, &["protocols"]),
    (5, &["scenario"]),
    (6, &["study"]),
    (7, &["audit"]),
    (8, &["conformance", "report"]),
    (9, &["cli", "prelude"]),
    (10, &["catalogue"]),
];

/// What one layer may import of itself: the plainer of two.
const SAME_LAYER: &[(&str, &str)] = &[("rng", "vocab"), ("rng", "special")];

/// Most lines of a file of `src`.
const MAX_LINES: usize = 450;

/// Path of a module from the crate's root: `["network", "latency"]`.
type ModulePath = Vec<String>;

/// One module: where it is written and what its names mean.
#[derive(Default)]
struct Module {
    file: String,
    children: BTreeSet<String>,
    /// Names that are handed on, with where they come from; `*` for everything of a module.
    handed_on: Vec<(String, ModulePath)>,
    defined: BTreeSet<String>,
}

/// All modules of the crate.
struct Sources {
    modules: BTreeMap<ModulePath, Module>,
    /// Arrows from file to file, with the names taken.
    arrows: BTreeMap<(String, String), BTreeSet<String>>,
    /// Places that return an error as text.
    text_errors: Vec<String>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Every source file: its name below `src`, and its text.
fn texts() -> Vec<(String, String)> {
    let mut found = Vec::new();
    files(&root(), &mut found);
    let named = |path: &PathBuf| path.strip_prefix(root()).unwrap().to_str().unwrap().replace('\\', "/");
    found.iter().map(|path| (named(path), fs::read_to_string(path).unwrap())).collect()
}

fn module_of(file: &str) -> ModulePath {
    let stem = file.strip_suffix(".rs").unwrap();
    let mut path: ModulePath = stem.split('/').map(str::to_owned).collect();
    if matches!(path.last().map(String::as_str), Some("mod" | "lib" | "main")) {
        path.pop();
    }
    path
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test")
            || attribute.path().is_ident("cfg")
                && attribute.parse_args::<TokenStream>().is_ok_and(|tokens| tokens.to_string() == "test")
    })
}

/// The paths that a `use` names, each with the name it gets here.
fn leaves(tree: &syn::UseTree, before: &ModulePath, found: &mut Vec<(String, ModulePath)>) {
    let longer = |name: &syn::Ident| before.iter().cloned().chain([name.to_string()]).collect::<ModulePath>();
    match tree {
        syn::UseTree::Path(path) => leaves(&path.tree, &longer(&path.ident), found),
        syn::UseTree::Name(name) if name.ident == "self" => {
            found.push((before.last().cloned().unwrap_or_default(), before.clone()));
        }
        syn::UseTree::Name(name) => found.push((name.ident.to_string(), longer(&name.ident))),
        syn::UseTree::Rename(rename) => found.push((rename.rename.to_string(), longer(&rename.ident))),
        syn::UseTree::Glob(_) => found.push(("*".to_owned(), before.clone())),
        syn::UseTree::Group(group) => group.items.iter().for_each(|item| leaves(item, before, found)),
    }
}

impl Module {
    /// What the items of a file define, declare and hand on.
    fn read(&mut self, here: &ModulePath, items: &[syn::Item]) {
        for item in items {
            let name = match item {
                syn::Item::Use(item) if !matches!(item.vis, syn::Visibility::Inherited) => {
                    let mut found = Vec::new();
                    leaves(&item.tree, &ModulePath::new(), &mut found);
                    self.handed_on
                        .extend(found.into_iter().map(|(name, path)| (name, absolute(here, &path))));
                    continue;
                }
                syn::Item::Mod(item) if is_test(&item.attrs) => continue,
                syn::Item::Mod(item) if item.content.is_none() => {
                    self.children.insert(item.ident.to_string());
                    continue;
                }
                syn::Item::Mod(item) => &item.ident,
                syn::Item::Const(item) => &item.ident,
                syn::Item::Enum(item) => &item.ident,
                syn::Item::Fn(item) => &item.sig.ident,
                syn::Item::Static(item) => &item.ident,
                syn::Item::Struct(item) => &item.ident,
                syn::Item::Trait(item) => &item.ident,
                syn::Item::Type(item) => &item.ident,
                syn::Item::Union(item) => &item.ident,
                syn::Item::Macro(syn::ItemMacro { ident: Some(ident), .. }) => ident,
                _ => continue,
            };
            self.defined.insert(name.to_string());
        }
    }
}

/// A path as written in a module, from the crate's root; what begins with another crate's name is kept as it is.
fn absolute(here: &ModulePath, written: &[String]) -> ModulePath {
    let mut place = here.clone();
    let mut rest = written;
    let mut relative = false;
    while let Some((first, more)) = rest.split_first() {
        match first.as_str() {
            "crate" => place.clear(),
            "self" => {}
            "super" => drop(place.pop()),
            _ => break,
        }
        relative = true;
        rest = more;
    }
    if !relative {
        // Either a child of this module or another crate: `resolve` finds out.
        return here.iter().chain(written).cloned().collect();
    }
    place.into_iter().chain(rest.iter().cloned()).collect()
}

impl Sources {
    /// Read once for all tests.
    fn get() -> &'static Self {
        static SOURCES: OnceLock<Sources> = OnceLock::new();
        SOURCES.get_or_init(Self::read)
    }

    fn read() -> Self {
        let texts = texts();
        let parsed: Vec<(String, syn::File)> = texts
            .iter()
            .filter(|(file, _)| !file.ends_with("/tests.rs"))
            .map(|(file, text)| {
                (file.clone(), syn::parse_file(text).unwrap_or_else(|error| panic!("{file}: {error}")))
            })
            .collect();
        let mut modules = BTreeMap::new();
        for (file, source) in &parsed {
            if file == "main.rs" {
                continue;
            }
            let here = module_of(file);
            let mut module = Module { file: file.clone(), ..Module::default() };
            module.read(&here, &source.items);
            modules.insert(here, module);
        }
        let mut sources = Self { modules, arrows: BTreeMap::new(), text_errors: Vec::new() };
        for (file, source) in &parsed {
            let mut reader =
                Reader { file, here: module_of(file), paths: Vec::new(), text_errors: Vec::new() };
            reader.visit_file(source);
            sources.text_errors.append(&mut reader.text_errors);
            for path in reader.paths {
                if let Some((to, name)) = sources.resolve(&path, 0)
                    && to != *file
                {
                    sources.arrows.entry((file.clone(), to)).or_default().insert(name);
                }
            }
        }
        sources
    }

    /// The file that defines what a path from the crate's root names, and the name; none for other crates' names.
    fn resolve(&self, path: &[String], depth: u32) -> Option<(String, String)> {
        assert!(depth < 32, "re-exports go in a circle at {path:?}");
        // The longest beginning that is a module.
        let length = (0..=path.len()).rev().find(|&length| self.modules.contains_key(&path[..length]))?;
        let module = &self.modules[&path[..length]];
        let Some(name) = path.get(length) else {
            return Some((module.file.clone(), "the module".to_owned()));
        };
        if module.defined.contains(name) {
            return Some((module.file.clone(), name.clone()));
        }
        let more = &path[length + 1..];
        if let Some((_, target)) = module.handed_on.iter().find(|(known, _)| known == name) {
            let target: ModulePath = target.iter().chain(more).cloned().collect();
            return self.resolve(&target, depth + 1);
        }
        module
            .handed_on
            .iter()
            .filter(|(known, _)| known == "*")
            .find_map(|(_, target)| self.resolve(&[target.as_slice(), &path[length..]].concat(), depth + 1))
    }

    /// Groups of files that import each other in a loop, with the arrows that tie each.
    fn circles(&self) -> Vec<String> {
        let reach: BTreeMap<&str, BTreeSet<&str>> =
            self.arrows.keys().map(|(from, _)| (from.as_str(), self.reachable(from))).collect();
        let mut told = BTreeSet::new();
        let mut found = Vec::new();
        for (&file, reached) in &reach {
            if !reached.contains(file) || told.contains(file) {
                continue;
            }
            let circle: Vec<&str> = reached
                .iter()
                .copied()
                .filter(|other| reach.get(other).is_some_and(|back| back.contains(file)))
                .collect();
            told.extend(circle.iter().copied());
            let ties = self
                .arrows
                .iter()
                .filter(|((from, to), _)| circle.contains(&from.as_str()) && circle.contains(&to.as_str()))
                .map(|((from, to), names)| {
                    let names: Vec<&str> = names.iter().map(String::as_str).collect();
                    format!("  {from} -> {to}: {}", names.join(", "))
                });
            found.push(format!("{}\n{}", circle.join(", "), ties.collect::<Vec<_>>().join("\n")));
        }
        found
    }

    fn reachable<'a>(&'a self, from: &'a str) -> BTreeSet<&'a str> {
        let mut seen = BTreeSet::new();
        let mut open = vec![from];
        while let Some(file) = open.pop() {
            let first = (file.to_owned(), String::new());
            for (_, to) in
                self.arrows.range(first..).map(|(arrow, _)| arrow).take_while(|(start, _)| start == file)
            {
                if seen.insert(to.as_str()) {
                    open.push(to);
                }
            }
        }
        seen
    }
}

/// Collects what one file names.
struct Reader<'a> {
    file: &'a str,
    here: ModulePath,
    paths: Vec<ModulePath>,
    text_errors: Vec<String>,
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        match item {
            syn::Item::Mod(module) if is_test(&module.attrs) => {}
            syn::Item::Mod(module) if module.content.is_some() => {
                // `super` inside is this file.
                self.here.push(module.ident.to_string());
                visit::visit_item(self, item);
                self.here.pop();
            }
            syn::Item::Fn(function) if is_test(&function.attrs) => {}
            _ => visit::visit_item(self, item),
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        if !is_test(&function.attrs) {
            visit::visit_impl_item_fn(self, function);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if is_test(&item.attrs) || !matches!(item.vis, syn::Visibility::Inherited) {
            return;
        }
        let mut found = Vec::new();
        leaves(&item.tree, &ModulePath::new(), &mut found);
        for (_, path) in found {
            self.paths.push(absolute(&self.here, &path));
        }
    }

    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let written: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if matches!(written[0].as_str(), "crate" | "super" | "self") && written.len() > 1 {
            self.paths.push(absolute(&self.here, &written));
        }
        if let Some(last) = path.segments.last()
            && last.ident == "Result"
            && let syn::PathArguments::AngleBracketed(arguments) = &last.arguments
            && let Some(syn::GenericArgument::Type(syn::Type::Path(error))) = arguments.args.iter().nth(1)
            && error.path.is_ident("String")
        {
            self.text_errors.push(self.file.to_owned());
        }
        visit::visit_path(self, path);
    }
}

fn layer_of() -> BTreeMap<&'static str, u32> {
    LAYERS.iter().flat_map(|(layer, modules)| modules.iter().map(move |module| (*module, *layer))).collect()
}

/// Top-level module of a file.
fn top(file: &str) -> &str {
    file.split(['/', '.']).next().unwrap()
}

#[test]
fn modules_import_only_from_layers_below() {
    let layers = layer_of();
    let mut offences = Vec::new();
    for ((from, to), names) in &Sources::get().arrows {
        let (importer, imported) = (top(from), top(to));
        let (Some(layer), Some(other)) = (layers.get(importer), layers.get(imported)) else { continue };
        if importer != imported && other >= layer && !SAME_LAYER.contains(&(importer, imported)) {
            offences.push(format!("{from} -> {to}: {names:?}"));
        }
    }
    assert!(offences.is_empty(), "imports against the layers:\n{}", offences.join("\n"));
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    let circles = Sources::get().circles();
    assert!(circles.is_empty(), "{} circles of files:\n{}", circles.len(), circles.join("\n"));
}

#[test]
fn no_protocol_imports_a_sibling() {
    let protocol = |file: &str| {
        let mut folders = file.split('/');
        (folders.next() == Some("protocols")).then(|| folders.next().unwrap().to_owned())
    };
    let mut offences = Vec::new();
    for ((from, to), names) in &Sources::get().arrows {
        let (Some(importer), Some(imported)) = (protocol(from), protocol(to)) else { continue };
        if importer != imported && imported != "stage" && importer != "mod.rs" {
            offences.push(format!("{from} -> {to}: {names:?}"));
        }
    }
    assert!(offences.is_empty(), "protocols that import a sibling:\n{}", offences.join("\n"));
}

#[test]
fn errors_have_types() {
    let found = &Sources::get().text_errors;
    assert!(found.is_empty(), "{} times Result<_, String>:\n{}", found.len(), found.join("\n"));
}

#[test]
fn every_module_has_a_layer_and_lib_lists_them_in_order() {
    let text = fs::read_to_string(root().join("lib.rs")).unwrap();
    let layers = layer_of();
    let listed: Vec<u32> = text
        .lines()
        .filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'))
        .map(|module| *layers.get(module).unwrap_or_else(|| panic!("{module} has no layer in this test")))
        .collect();
    assert!(listed.len() >= layers.len(), "lib.rs lists {} of {} modules", listed.len(), layers.len());
    assert!(listed.is_sorted(), "lib.rs lists modules out of order: {listed:?}");
}

#[test]
fn files_stay_readable() {
    let mut offences = Vec::new();
    for (file, text) in texts() {
        let lines = text.lines().count();
        if lines > MAX_LINES {
            offences.push(format!("{file} has {lines} lines: look for the second idea in it"));
        }
        let opening: Vec<&str> = text.lines().map_while(|line| line.strip_prefix("//!")).collect();
        if opening.first().is_none_or(|first| first.len() <= 10)
            || !opening.join(" ").contains(['.', '?', ':'])
        {
            offences.push(format!("{file} does not open with a sentence on what it is for"));
        }
    }
    assert!(offences.is_empty(), "{}", offences.join("\n"));
}

/// Largest file of the repository: data that a test or a scenario reads stays below it too.
const LARGEST_FILE: u64 = 256 * 1024;

#[test]
fn no_file_of_the_repository_is_large() {
    fn large(folder: &Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            // What .gitignore names (the built Python module too), git's own folder, and what editors keep.
            if ["target", "runs", "node_modules", "_native.abi3.so"].contains(&name) || name.starts_with('.')
            {
                continue;
            }
            let about = fs::symlink_metadata(&path).unwrap();
            if about.is_dir() {
                large(&path, found);
            } else if about.len() > LARGEST_FILE {
                found.push(format!("{}: {} bytes", path.display(), about.len()));
            }
        }
    }
    let mut found = Vec::new();
    large(Path::new(env!("CARGO_MANIFEST_DIR")), &mut found);
    assert!(found.is_empty(), "files above {LARGEST_FILE} bytes:\n{}", found.join("\n"));
}
