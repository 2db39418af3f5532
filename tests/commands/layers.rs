//! The architecture as a test: layers, no circle of files, no protocol that imports a sibling, typed errors, and files
//! that stay readable.
//!
//! Imports are read by a parser of Rust and followed to the file that defines the name, through every re-export. What
//! counts as an arrow from one file to another: a `use`, a `pub use`, and a path of several names, in code or among the
//! tokens of a macro. What does not: `mod`; `pub use` where re-exports are the purpose of a file (`lib.rs`, `prelude.rs`,
//! and a `mod.rs` that says what its folder holds); a name alone, which is imported or the file's own, such as a member of
//! a `family!`; and tests, inside a file or in a `tests.rs` of their own.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
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

/// Most lines of a file of `tests` and `benches`.
const MAX_TEST_LINES: usize = 1_000;

/// Names whose second type is that of an error.
const FALLIBLE: &[&str] = &["Result", "Ok", "Err"];

/// Path of a module from the crate's root: `["network", "latency"]`.
type ModulePath = Vec<String>;

/// A path from the crate's root. A module whose own path is at least `least` names long defines the name that follows, by a
/// macro if no item does; in a shorter one, the name may be that of another crate.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Target {
    path: ModulePath,
    least: usize,
}

/// One module: where it is written and what its names mean.
#[derive(Default)]
struct Module {
    file: String,
    /// Names that are imported, handed on or not, with where they come from; `*` for everything of a module.
    imported: Vec<(String, Target)>,
    defined: BTreeSet<String>,
}

type Modules = BTreeMap<ModulePath, Module>;

/// All modules of the crate.
struct Sources {
    modules: Modules,
    /// Arrows from file to file, with the names taken.
    arrows: BTreeMap<(String, String), BTreeSet<String>>,
    /// Places that return an error as text.
    text_errors: Vec<String>,
}

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn root() -> PathBuf {
    repository().join("src")
}

/// The files below a folder whose names end in one of these ways, without what cargo builds.
fn files(folder: &Path, endings: &[&str], found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            if !path.ends_with("target") {
                files(&path, endings, found);
            }
        } else if path.extension().is_some_and(|ending| endings.iter().any(|known| ending == *known)) {
            found.push(path);
        }
    }
}

/// Every source file: its name below `src`, and its text.
fn texts() -> Vec<(String, String)> {
    let mut found = Vec::new();
    files(&root(), &["rs"], &mut found);
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
    /// What the items of a module define and import, and the same of the modules that are written inside it.
    fn read(modules: &mut Modules, file: &str, here: &ModulePath, items: &[syn::Item]) {
        let mut defined = BTreeSet::new();
        for item in items {
            let name = match item {
                syn::Item::Mod(item) if is_test(&item.attrs) => continue,
                syn::Item::Mod(syn::ItemMod { ident, content: Some((_, inside)), .. }) => {
                    Self::read(modules, file, &joined(here, &[ident.to_string()]), inside);
                    continue;
                }
                syn::Item::Const(item) => &item.ident,
                syn::Item::Enum(item) => &item.ident,
                syn::Item::Fn(item) => &item.sig.ident,
                syn::Item::Static(item) => &item.ident,
                syn::Item::Struct(item) => &item.ident,
                syn::Item::Trait(item) => &item.ident,
                syn::Item::Type(item) => &item.ident,
                syn::Item::Union(item) => &item.ident,
                syn::Item::Macro(syn::ItemMacro { ident: Some(ident), attrs, .. }) => {
                    if attrs.iter().any(|attribute| attribute.path().is_ident("macro_export")) {
                        // Such a macro has the path of a name in `lib.rs`.
                        let target = Target { path: joined(here, &[ident.to_string()]), least: 0 };
                        let crate_root = modules.entry(ModulePath::new()).or_default();
                        crate_root.imported.push((ident.to_string(), target));
                    }
                    ident
                }
                _ => continue,
            };
            defined.insert(name.to_string());
        }
        let module = modules.entry(here.clone()).or_default();
        file.clone_into(&mut module.file);
        module.imported.append(&mut imports(here, items));
        module.defined = defined;
    }
}

/// Every `use` of a module, also inside its functions.
fn imports(here: &ModulePath, items: &[syn::Item]) -> Vec<(String, Target)> {
    struct Uses(Vec<(String, ModulePath)>);
    impl<'ast> Visit<'ast> for Uses {
        fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
            if !is_test(&item.attrs) {
                leaves(&item.tree, &ModulePath::new(), &mut self.0);
            }
        }
        fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
            if !is_test(&function.attrs) {
                visit::visit_item_fn(self, function);
            }
        }
        // Read on its own.
        fn visit_item_mod(&mut self, _: &'ast syn::ItemMod) {}
    }
    let mut uses = Uses(Vec::new());
    items.iter().for_each(|item| uses.visit_item(item));
    uses.0.into_iter().map(|(name, path)| (name, absolute(here, &path))).collect()
}

fn joined(before: &[String], after: &[String]) -> ModulePath {
    [before, after].concat()
}

/// A path as written in a module, from the crate's root.
fn absolute(here: &ModulePath, written: &[String]) -> Target {
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
    // Without such a beginning: a child of this module, a name that it imports, or another crate. `resolve` finds out.
    Target { path: joined(&place, rest), least: if relative { 0 } else { here.len() + 1 } }
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
        let mut modules = Modules::new();
        for (file, source) in parsed.iter().filter(|(file, _)| file != "main.rs") {
            Module::read(&mut modules, file, &module_of(file), &source.items);
        }
        let mut sources = Self { modules, arrows: BTreeMap::new(), text_errors: Vec::new() };
        for (file, source) in &parsed {
            let mut reader =
                Reader { file, here: module_of(file), paths: BTreeSet::new(), text_errors: Vec::new() };
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

    /// The file that defines what a path names, and the name; none for other crates' names.
    fn resolve(&self, target: &Target, depth: u32) -> Option<(String, String)> {
        let Target { path, least } = target;
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
        if let Some((_, import)) = module.imported.iter().find(|(known, _)| known == name) {
            // `use rand;` and `use serde_json::{self}` import another crate by its own name.
            let itself = import.path[..] == path[..=length] && import.least > length;
            let further = Target { path: joined(&import.path, &path[length + 1..]), ..*import };
            return if itself { None } else { self.resolve(&further, depth + 1) };
        }
        let all = module
            .imported
            .iter()
            .filter(|(known, from)| known == "*" && self.modules.contains_key(&from.path));
        all.map(|(_, from)| Target { path: joined(&from.path, &path[length..]), least: usize::MAX })
            .find_map(|further| self.resolve(&further, depth + 1))
            .or_else(|| (length >= *least).then(|| (module.file.clone(), name.clone())))
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
    paths: BTreeSet<Target>,
    text_errors: Vec<String>,
}

impl Reader<'_> {
    /// A path that code names.
    fn path(&mut self, written: &[String]) {
        if written.len() > 1 {
            self.paths.insert(absolute(&self.here, written));
        }
    }

    /// The paths among the tokens of a macro, whatever the macro makes of them, and the types of errors.
    fn tokens(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut written = ModulePath::new();
        for (place, token) in tokens.iter().enumerate() {
            let before = |distance: usize| place.checked_sub(distance).map(|earlier| &tokens[earlier]);
            let is_mark = |distance, mark| matches!(before(distance), Some(TokenTree::Punct(found)) if found.as_char() == mark);
            let continues = is_mark(1, ':') && is_mark(2, ':');
            match token {
                TokenTree::Punct(mark) if mark.as_char() == ':' => {}
                TokenTree::Ident(name) if continues => {
                    // After `>::`, the beginning of the path is not a name.
                    if !written.is_empty() {
                        written.push(name.to_string());
                    }
                }
                TokenTree::Ident(name) => {
                    self.path(&std::mem::take(&mut written));
                    // A name after `$` is a macro's own, except `$crate`.
                    if !is_mark(1, '$') || name == "crate" {
                        written.push(name.to_string());
                    }
                    if FALLIBLE.iter().any(|known| name == known)
                        && let Ok(path) = syn::parse2::<syn::Path>(generic(&tokens[place..]))
                    {
                        self.visit_path(&path);
                    }
                }
                TokenTree::Group(group) if continues && group.delimiter() == Delimiter::Brace => {
                    // `use crate::network::{Link, Network}`.
                    let (before, mut found) = (std::mem::take(&mut written), Vec::new());
                    match syn::parse2::<syn::UseTree>(token.clone().into()) {
                        Ok(tree) => leaves(&tree, &before, &mut found),
                        Err(_) => self.tokens(group.stream()),
                    }
                    found.iter().for_each(|(_, path)| self.path(path));
                }
                TokenTree::Group(group) => {
                    self.path(&std::mem::take(&mut written));
                    let is_visibility = matches!(before(1), Some(TokenTree::Ident(name)) if name == "pub")
                        && matches!(group.stream().into_iter().next(), Some(TokenTree::Ident(name)) if name == "in");
                    if !is_visibility {
                        self.tokens(group.stream());
                    }
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => self.path(&std::mem::take(&mut written)),
            }
        }
        self.path(&written);
    }
}

/// The tokens of a type with its arguments, up to the last `>`; those of its name if it has none.
fn generic(tokens: &[TokenTree]) -> TokenStream {
    let (mut open, mut end, mut is_arrow) = (0, 1, false);
    for (place, token) in tokens.iter().enumerate().skip(1) {
        let mark = if let TokenTree::Punct(mark) = token { mark.as_char() } else { ' ' };
        match mark {
            '<' => open += 1,
            '>' if !is_arrow => open -= 1,
            ':' => continue,
            _ => {}
        }
        if open <= 0 {
            end = if mark == '>' { place + 1 } else { 1 };
            break;
        }
        is_arrow = matches!(mark, '-' | '=');
    }
    let is_dollar = |token: &&TokenTree| matches!(token, TokenTree::Punct(mark) if mark.as_char() == '$');
    tokens[..end].iter().filter(|token| !is_dollar(token)).cloned().collect()
}

/// Whether a type is a text or holds one: `String`, `&str`, `Box<str>`.
fn is_text(kind: &syn::Type) -> bool {
    match kind {
        syn::Type::Reference(to) => is_text(&to.elem),
        syn::Type::Paren(inner) => is_text(&inner.elem),
        syn::Type::Path(path) => path.path.segments.last().is_some_and(|last| {
            let holds = ["Box", "Rc", "Arc", "Cow"].iter().any(|known| last.ident == known);
            last.ident == "String" || last.ident == "str" || holds && types(&last.arguments).any(is_text)
        }),
        _ => false,
    }
}

/// The types among the arguments of a name.
fn types(arguments: &syn::PathArguments) -> impl Iterator<Item = &syn::Type> {
    let listed = match arguments {
        syn::PathArguments::AngleBracketed(arguments) => Some(arguments.args.iter()),
        _ => None,
    };
    listed.into_iter().flatten().filter_map(|argument| match argument {
        syn::GenericArgument::Type(kind) => Some(kind),
        _ => None,
    })
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
        if is_test(&item.attrs) {
            return;
        }
        let mut found = Vec::new();
        leaves(&item.tree, &ModulePath::new(), &mut found);
        let is_handed_on = !matches!(item.vis, syn::Visibility::Inherited);
        let folder = module_of(self.file);
        let is_content = |target: &Target| match self.file {
            "lib.rs" | "prelude.rs" => true,
            file => file.ends_with("mod.rs") && target.path.starts_with(&folder),
        };
        let found = found.iter().map(|(_, path)| absolute(&self.here, path));
        self.paths.extend(found.filter(|target| !(is_handed_on && is_content(target))));
    }

    fn visit_impl_item_type(&mut self, item: &'ast syn::ImplItemType) {
        if (item.ident == "Err" || item.ident == "Error") && is_text(&item.ty) {
            self.text_errors.push(self.file.to_owned());
        }
        visit::visit_impl_item_type(self, item);
    }

    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}

    fn visit_macro(&mut self, called: &'ast syn::Macro) {
        visit::visit_macro(self, called);
        self.tokens(called.tokens.clone());
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let written: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if path.leading_colon.is_none() {
            self.path(&written);
        }
        for segment in &path.segments {
            let is_fallible = FALLIBLE.iter().any(|known| segment.ident == known);
            if is_fallible && types(&segment.arguments).nth(1).is_some_and(is_text) {
                self.text_errors.push(self.file.to_owned());
            }
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
    assert!(found.is_empty(), "{} times an error that is a text:\n{}", found.len(), found.join("\n"));
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
fn the_documentation_lists_the_same_layers() {
    let text = fs::read_to_string(repository().join("docs/architecture.md")).unwrap();
    let listed: Vec<(&str, u32)> = text
        .lines()
        .filter_map(|line| {
            let mut cells = line.strip_prefix('|')?.split('|').map(str::trim);
            let layer = cells.next()?.parse().ok()?;
            Some((cells.next()?.trim_matches('`'), layer))
        })
        .collect();
    assert!(listed.is_sorted_by_key(|(_, layer)| layer), "the table is out of order: {listed:?}");
    let mut sorted = listed;
    sorted.sort_unstable();
    assert_eq!(sorted, layer_of().into_iter().collect::<Vec<_>>(), "the table, and LAYERS of this test");
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
    let mut others = Vec::new();
    for folder in ["tests", "benches"] {
        files(&repository().join(folder), &["rs", "py", "sh"], &mut others);
    }
    for path in others {
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        if lines > MAX_TEST_LINES {
            offences.push(format!("{} has {lines} lines: look for the second idea in it", path.display()));
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
    large(repository(), &mut found);
    assert!(found.is_empty(), "files above {LARGEST_FILE} bytes:\n{}", found.join("\n"));
}
