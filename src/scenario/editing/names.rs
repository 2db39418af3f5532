//! The names that a scenario defines: parties, groups, series.

use super::context::Context;
use crate::scenario::tokens::{Kind, Token};

/// A name that the scenario defines, with the token that defines it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Defined<'t> {
    pub(super) name: &'t str,
    pub(super) token: Token<'t>,
    pub(super) sort: Sort,
}

/// The kind of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    /// An entry of `parties`.
    Party,
    /// A group of parties.
    Group,
    /// A series of the protocol.
    Series,
}

/// The names that a scenario defines, in order.
pub(super) fn defined<'t>(tokens: &'t [Token<'t>]) -> Vec<Defined<'t>> {
    let texts = tokens.iter().filter(|token| token.is_text());
    texts
        .filter_map(|token| {
            Some(Defined { name: token.unquoted(), token: *token, sort: sort(tokens, token)? })
        })
        .collect()
}

fn sort(tokens: &[Token<'_>], token: &Token<'_>) -> Option<Sort> {
    let context = Context::at(tokens, token.start)?;
    let keys: Vec<&str> = context.frames.iter().filter_map(|frame| frame.key).map(|key| key.text).collect();
    match keys.as_slice() {
        ["parties"] if context.frames.len() == 2 && context.is_key(tokens) => Some(Sort::Party),
        ["parties", _, "group"] => Some(Sort::Group),
        ["protocol", "series", "name"] => Some(Sort::Series),
        _ => None,
    }
}

/// The definition of a name. A name such as `agent-3`, if nothing is called exactly so, is defined by the entry `agent` of
/// `parties`.
pub(super) fn definition_of<'t>(tokens: &'t [Token<'t>], name: &str) -> Option<Defined<'t>> {
    let all = defined(tokens);
    let exact = all.iter().find(|known| known.name == name);
    let counted = name.rsplit_once('-').filter(|(_, number)| number.parse::<u32>().is_ok());
    let group = || {
        all.iter()
            .find(|known| known.sort == Sort::Party && Some(known.name) == counted.map(|(name, _)| name))
    };
    exact.or_else(group).copied()
}

/// The keys directly inside the brackets that the token at position `open` opens.
pub(super) fn keys<'t>(tokens: &'t [Token<'t>], open: usize) -> Vec<&'t str> {
    let (mut depth, mut keys) = (0usize, Vec::new());
    for pair in tokens[open + 1..].windows(2) {
        match pair[0].kind {
            Kind::Open => depth += 1,
            Kind::Close if depth == 0 => break,
            Kind::Close => depth -= 1,
            Kind::Atom if depth == 0 && pair[1].kind == Kind::Colon => keys.push(pair[0].unquoted()),
            _ => {}
        }
    }
    keys
}
