//! Writes a source file with every mutant behind a switch.
//!
//! A mutant is that of `cargo mutants`, except that an operator is exchanged in the syntax tree: `a + b * c` with `+` for
//! `*` is `a + (b + c)`. Operands are computed once, before the switch, so that nested switches do not multiply the code.

use crate::list::Mutant;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{BinOp, Expr};

/// How the mutants of one place are written.
#[derive(Clone, Copy, PartialEq)]
pub enum Form {
    /// Operands are bound to names first.
    Bound,
    /// Operands are repeated in each alternative, where a name for them does not compile.
    Repeated,
}

/// A file with switches.
pub struct Switched {
    pub text: String,
    /// Where each mutant's own text is, by number.
    pub mutants: Vec<(u32, Range<usize>)>,
    /// Where each place with mutants is: its key (bytes in the original) and numbers.
    pub places: Vec<(usize, Vec<u32>, Range<usize>)>,
    /// Mutants that cannot be switched: in constants and `const` functions, and values of functions that return
    /// `impl Trait`.
    pub constant: Vec<u32>,
    /// Mutants that never compile.
    pub never: Vec<u32>,
}

enum Piece {
    Text(String),
    Source(Range<usize>),
    Begin(u32),
    End(u32),
}
use Piece::{Begin, End, Source, Text};

struct Place {
    range: Range<usize>,
    numbers: Vec<u32>,
    pieces: Vec<Piece>,
}

type Key = (usize, usize, &'static str);

struct Finder<'a> {
    source: &'a str,
    /// The mutants that are left of this file, by the line, the column and the kind.
    wanted: BTreeMap<Key, Vec<&'a Mutant>>,
    repeated: &'a BTreeSet<usize>,
    places: Vec<Place>,
    constant: Vec<u32>,
    never: Vec<u32>,
    in_constant: bool,
}

/// The file with the mutants `wanted`, those at `repeated` in that form.
pub fn switched(source: &str, mutants: &[&Mutant], repeated: &BTreeSet<usize>) -> Result<Switched, String> {
    let file = syn::parse_file(source).map_err(|error| error.to_string())?;
    let mut wanted: BTreeMap<Key, Vec<&Mutant>> = BTreeMap::new();
    for mutant in mutants {
        wanted.entry((mutant.line, mutant.column, kind(&mutant.genre)?)).or_default().push(mutant);
    }
    let mut finder = Finder {
        source,
        wanted,
        repeated,
        places: vec![],
        constant: vec![],
        never: vec![],
        in_constant: false,
    };
    finder.visit_file(&file);
    if let Some(mutant) = finder.wanted.values().flatten().next() {
        return Err(format!("no place was found for {}", mutant.name));
    }
    let (mut places, constant, never) = (finder.places, finder.constant, finder.never);
    // Insertions first, and outer places before inner ones. Those of the same bytes stay in the order in which they were
    // found.
    places.sort_by_key(|Place { range, .. }| (range.start, !range.is_empty(), std::cmp::Reverse(range.end)));
    let mut out = Switched { text: String::new(), mutants: vec![], places: vec![], constant, never };
    write(source, &places, 0, 0..source.len(), &mut out);
    Ok(out)
}

fn kind(genre: &str) -> Result<&'static str, String> {
    ["FnValue", "BinaryOperator", "UnaryOperator", "MatchArm", "MatchArmGuard", "StructField"]
        .into_iter()
        .find(|kind| *kind == genre)
        .ok_or_else(|| format!("unknown kind of mutant {genre}"))
}

/// Writes `range` of the source with the places from `first` on that are inside of it.
fn write(source: &str, places: &[Place], first: usize, range: Range<usize>, out: &mut Switched) {
    let mut at = range.start;
    for (index, place) in places.iter().enumerate().skip(first) {
        let inside = place.range.start >= at && place.range.end <= range.end;
        if place.range.start > range.end || !inside {
            continue;
        }
        out.text.push_str(&source[at..place.range.start]);
        let start = out.text.len();
        let mut begun = BTreeMap::new();
        for piece in &place.pieces {
            match piece {
                Text(text) => out.text.push_str(text),
                Source(part) => write(source, places, index + 1, part.clone(), out),
                Begin(number) => drop(begun.insert(*number, out.text.len())),
                End(number) => out.mutants.push((*number, begun[number]..out.text.len())),
            }
        }
        out.places.push((place.range.start, place.numbers.clone(), start..out.text.len()));
        at = place.range.end;
    }
    out.text.push_str(&source[at..range.end]);
}

fn text(text: impl Into<String>) -> Piece {
    Text(text.into())
}

impl Finder<'_> {
    /// The mutants of the kind at a node, which are not asked for again. None in constants.
    fn take(&mut self, node: &impl Spanned, kind: &'static str) -> Vec<(u32, String)> {
        let start = node.span().start();
        let found = self.wanted.remove(&(start.line, start.column + 1, kind)).unwrap_or_default();
        let found: Vec<(u32, String)> =
            found.into_iter().map(|mutant| (mutant.number, mutant.replacement.clone())).collect();
        if self.in_constant {
            self.constant.extend(found.iter().map(|(number, _)| number));
            return vec![];
        }
        found
    }

    fn place(&mut self, range: Range<usize>, numbers: Vec<u32>, pieces: Vec<Piece>) {
        self.places.push(Place { range, numbers, pieces });
    }

    fn form(&self, start: usize) -> Form {
        if self.repeated.contains(&start) { Form::Repeated } else { Form::Bound }
    }

    fn constant(&mut self, visit: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.in_constant, true);
        visit(self);
        self.in_constant = before;
    }

    fn function(&mut self, signature: &syn::Signature, body: &syn::Block, visit: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.in_constant, signature.constness.is_some());
        if let Some(first) = body.stmts.first() {
            let start = range(first).start;
            let mut found = self.take(first, "FnValue");
            // The value of a mutant has another type than the function's.
            if matches!(&signature.output, syn::ReturnType::Type(_, of) if has_impl(of)) {
                self.constant.extend(numbers(&std::mem::take(&mut found)));
            }
            let mut pieces = vec![];
            for (number, value) in &found {
                pieces.push(text(format!("if crate::mutant::is({number}) {{ ")));
                pieces.extend([Begin(*number), text(format!("return {value};")), End(*number), text(" } ")]);
            }
            if !found.is_empty() {
                self.place(start..start, numbers(&found), pieces);
            }
        }
        visit(self);
        self.in_constant = before;
    }

    /// `if one { first } else if other { second } else { ordinary }`.
    fn alternatives(
        &self,
        found: &[(u32, String)],
        expression: impl Fn(&str) -> Vec<Piece>,
        ordinary: &str,
    ) -> Vec<Piece> {
        let mut pieces = vec![];
        for (number, operator) in found {
            pieces.extend([text(format!("if crate::mutant::is({number}) {{ ")), Begin(*number)]);
            pieces.extend(expression(operator));
            pieces.extend([End(*number), text(" } else ")]);
        }
        pieces.push(text("{ "));
        pieces.extend(expression(ordinary));
        pieces.push(text(" }"));
        pieces
    }
}

fn numbers(found: &[(u32, String)]) -> Vec<u32> {
    found.iter().map(|(number, _)| *number).collect()
}

fn range(node: &impl Spanned) -> Range<usize> {
    node.span().byte_range()
}

fn has_let(expression: &Expr) -> bool {
    match expression {
        Expr::Let(_) => true,
        Expr::Binary(binary) if matches!(binary.op, BinOp::And(_)) => {
            has_let(&binary.left) || has_let(&binary.right)
        }
        _ => false,
    }
}

/// Whether `impl Trait` is part of a type.
fn has_impl(of: &syn::Type) -> bool {
    struct Search(bool);
    impl Visit<'_> for Search {
        fn visit_type_impl_trait(&mut self, _: &syn::TypeImplTrait) {
            self.0 = true;
        }
    }
    let mut search = Search(false);
    search.visit_type(of);
    search.0
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test")
            || attribute.path().is_ident("cfg")
                && matches!(&attribute.meta, syn::Meta::List(list) if list.tokens.to_string() == "test")
    })
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !is_test(&item.attrs) {
            self.function(&item.sig, &item.block, |finder| visit::visit_item_fn(finder, item));
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(&item.sig, &item.block, |finder| visit::visit_impl_item_fn(finder, item));
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(body) = &item.default {
            self.function(&item.sig, body, |finder| visit::visit_trait_item_fn(finder, item));
        }
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_const(&mut self, item: &'ast syn::ItemConst) {
        self.constant(|finder| visit::visit_item_const(finder, item));
    }

    fn visit_impl_item_const(&mut self, item: &'ast syn::ImplItemConst) {
        self.constant(|finder| visit::visit_impl_item_const(finder, item));
    }

    fn visit_trait_item_const(&mut self, item: &'ast syn::TraitItemConst) {
        self.constant(|finder| visit::visit_trait_item_const(finder, item));
    }

    fn visit_item_static(&mut self, item: &'ast syn::ItemStatic) {
        self.constant(|finder| visit::visit_item_static(finder, item));
    }

    fn visit_type(&mut self, item: &'ast syn::Type) {
        self.constant(|finder| visit::visit_type(finder, item));
    }

    fn visit_pat(&mut self, item: &'ast syn::Pat) {
        self.constant(|finder| visit::visit_pat(finder, item));
    }

    fn visit_expr_repeat(&mut self, item: &'ast syn::ExprRepeat) {
        self.visit_expr(&item.expr);
        self.constant(|finder| finder.visit_expr(&item.len));
    }

    fn visit_expr_const(&mut self, item: &'ast syn::ExprConst) {
        self.constant(|finder| visit::visit_expr_const(finder, item));
    }

    fn visit_expr_binary(&mut self, item: &'ast syn::ExprBinary) {
        let found = self.take(&item.op, "BinaryOperator");
        if has_let(&item.left) || has_let(&item.right) {
            // Such an operator is part of the syntax of `if let`.
            self.never.extend(numbers(&found));
        } else if !found.is_empty() {
            let whole = range(item);
            let (left, right) = (range(&*item.left), range(&*item.right));
            let ordinary = &self.source[range(&item.op)];
            let form = self.form(whole.start);
            // In parentheses, since both operands may be anything.
            let plain = |operator: &str| {
                let l = [text("("), Source(left.clone()), text(format!(") {operator} ("))];
                l.into_iter().chain([Source(right.clone()), text(")")]).collect::<Vec<_>>()
            };
            let mut pieces = vec![text("(")];
            match item.op {
                BinOp::And(_) | BinOp::Or(_) => {
                    let (number, compared) = (found[0].0, if ordinary == "&&" { "!=" } else { "==" });
                    pieces.extend([text("{ let l: bool = "), Source(left), text("; "), Begin(number)]);
                    pieces.push(text(format!("if l {compared} crate::mutant::is({number})")));
                    pieces.extend([End(number), text(" { "), Source(right), text(" } else { l } }")]);
                }
                BinOp::Eq(_) | BinOp::Ne(_) | BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_)
                    if form == Form::Bound =>
                {
                    let parts = [
                        text("match (&("),
                        Source(left),
                        text("), &("),
                        Source(right),
                        text(")) { (l, r) => "),
                    ];
                    pieces.extend(parts);
                    for (number, operator) in &found {
                        pieces.extend([text(format!("crate::mutant::pick({number}, || ")), Begin(*number)]);
                        pieces.extend([text(format!("*l {operator} *r")), End(*number), text(", ")]);
                    }
                    pieces.push(text(format!("*l {ordinary} *r{} }}", ")".repeat(found.len()))));
                }
                _ if form == Form::Repeated => pieces.extend(self.alternatives(&found, plain, ordinary)),
                _ if ordinary.ends_with('=')
                    && ordinary.len() > 1
                    && !["<=", ">=", "==", "!="].contains(&ordinary) =>
                {
                    pieces.extend([text("match ("), Source(right), text(") { r => ")]);
                    let assign = |operator: &str| vec![Source(left.clone()), text(format!(" {operator} r"))];
                    pieces.extend(self.alternatives(&found, assign, ordinary));
                    pieces.push(text(" }"));
                }
                _ => {
                    pieces.extend([
                        text("match (("),
                        Source(left),
                        text("), ("),
                        Source(right),
                        text(")) { (l, r) => "),
                    ]);
                    let named = |operator: &str| vec![text(format!("l {operator} r"))];
                    pieces.extend(self.alternatives(&found, named, ordinary));
                    pieces.push(text(" }"));
                }
            }
            pieces.push(text(")"));
            self.place(whole, numbers(&found), pieces);
        }
        visit::visit_expr_binary(self, item);
    }

    fn visit_expr_unary(&mut self, item: &'ast syn::ExprUnary) {
        let found = self.take(&item.op, "UnaryOperator");
        if let [(number, _)] = found[..] {
            let (operand, operator) = (range(&*item.expr), &self.source[range(&item.op)]);
            let pieces = match self.form(range(item).start) {
                Form::Bound => vec![
                    text("(match ("),
                    Source(operand),
                    text(format!(") {{ x => if crate::mutant::is({number}) {{ ")),
                    Begin(number),
                    text("x"),
                    End(number),
                    text(format!(" }} else {{ {operator}x }} }})")),
                ],
                Form::Repeated => vec![
                    text(format!("(if crate::mutant::is({number}) {{ ")),
                    Begin(number),
                    Source(operand.clone()),
                    End(number),
                    text(format!(" }} else {{ {operator}")),
                    Source(operand),
                    text(" })"),
                ],
            };
            self.place(range(item), vec![number], pieces);
        }
        visit::visit_expr_unary(self, item);
    }

    fn visit_arm(&mut self, item: &'ast syn::Arm) {
        let deleted = self.take(item, "MatchArm");
        if let [(number, _)] = deleted[..] {
            let end = range(&item.pat).end;
            let pieces =
                vec![text(" if "), Begin(number), text(format!("!crate::mutant::is({number})")), End(number)];
            self.place(end..end, vec![number], pieces);
        }
        if let Some((_, guard)) = &item.guard {
            let found = self.take(guard, "MatchArmGuard");
            if !found.is_empty() {
                let mut pieces = vec![];
                for (number, value) in &found {
                    pieces.extend([text(format!("crate::mutant::pick({number}, || ")), Begin(*number)]);
                    pieces.extend([text(value), End(*number), text(", ")]);
                }
                pieces.extend([Source(range(guard)), text(")".repeat(found.len()))]);
                self.place(range(guard), numbers(&found), pieces);
            }
        }
        visit::visit_arm(self, item);
    }

    fn visit_expr_struct(&mut self, item: &'ast syn::ExprStruct) {
        let found: Vec<(usize, u32)> = (item.fields.iter().enumerate())
            .flat_map(|(place, field)| {
                numbers(&self.take(field, "StructField")).into_iter().map(move |n| (place, n))
            })
            .collect();
        if let (Some(rest), false) = (&item.rest, found.is_empty()) {
            let literal = |without: Option<usize>| {
                let mut pieces = vec![Source(range(&item.path)), text(" { ")];
                for (_, field) in item.fields.iter().enumerate().filter(|(place, _)| Some(*place) != without)
                {
                    pieces.extend([Source(range(field)), text(", ")]);
                }
                pieces.extend([text(".."), Source(range(&**rest)), text(" }")]);
                pieces
            };
            let mut pieces = vec![text("(")];
            for (place, number) in &found {
                pieces.extend([text(format!("if crate::mutant::is({number}) {{ ")), Begin(*number)]);
                pieces.extend(literal(Some(*place)));
                pieces.extend([End(*number), text(" } else ")]);
            }
            pieces.push(text("{ "));
            pieces.extend(literal(None));
            pieces.push(text(" })"));
            self.place(range(item), found.iter().map(|(_, number)| *number).collect(), pieces);
        }
        visit::visit_expr_struct(self, item);
    }
}
