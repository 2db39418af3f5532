//! The layout of a scenario's text: only white space changes, so comments, values and their order stay as they are.
//!
//! A line inside of brackets is indented by 4 columns more than the line on which the innermost of these brackets opens. The
//! author's line breaks between entries stay. In a text that a program has written on one line, brackets that do not
//! fit the width are broken, one entry per line. Laying out a text for a second time changes nothing.

use super::tokens::{Kind, Token, tokens};

/// Brackets that would make a line longer than this number of columns are broken, in a text that a program has written.
const WIDTH: usize = 120;
/// Number of columns by which each level of brackets is indented.
const INDENT: usize = 4;

/// The text of a scenario in RON or JSON, formatted, with the author's line breaks. The text must be free of
/// syntax errors.
pub(super) fn laid_out(text: &str) -> String {
    Layout::new(text, usize::MAX).write()
}

/// The formatted text of a scenario, for a text without line breaks: brackets that
/// do not fit the width are broken, one entry per line. The text must be free of syntax errors.
pub(super) fn broken(text: &str) -> String {
    Layout::new(text, WIDTH).write()
}

/// The tokens of a text, and the line breaks that it gets.
struct Layout<'a> {
    tokens: Vec<Token<'a>>,
    /// How many lines end between each token and the token before it: 0, 1, or 2 for a blank line.
    breaks: Vec<usize>,
    /// For each opening bracket, the position of the closing one; otherwise the token's own position.
    close: Vec<usize>,
    /// Brackets that would make a line longer than this number of columns are broken.
    width: usize,
    out: String,
    column: usize,
}

impl<'a> Layout<'a> {
    fn new(text: &'a str, width: usize) -> Self {
        let tokens = tokens(text);
        let mut close: Vec<usize> = (0..tokens.len()).collect();
        let mut open = Vec::new();
        for (at, token) in tokens.iter().enumerate() {
            match token.kind {
                Kind::Open => open.push(at),
                Kind::Close => close[open.pop().unwrap_or(at)] = at,
                _ => {}
            }
        }
        let breaks = vec![0; tokens.len()];
        let mut layout = Self { tokens, breaks, close, width, out: String::new(), column: 0 };
        layout.keep_breaks();
        layout
    }

    /// Keeps the author's line breaks, except those between tokens that belong together.
    fn keep_breaks(&mut self) {
        for at in 1..self.tokens.len() {
            let (before, token) = (self.tokens[at - 1], self.tokens[at]);
            let lines = token.newlines.min(2);
            self.breaks[at] = match (before.kind, token.kind) {
                // What follows a line comment cannot stand on the line of the comment.
                (Kind::LineComment, _) => lines.max(1),
                (Kind::BlockComment, _) | (_, Kind::LineComment | Kind::BlockComment) => lines,
                (Kind::Colon, _) | (_, Kind::Comma | Kind::Colon) => 0,
                (Kind::Atom, Kind::Open) if token.text == "(" => 0,
                (Kind::Open, Kind::Close) => 0,
                _ => lines,
            };
            // No blank line at the edge of brackets.
            if before.kind == Kind::Open || token.kind == Kind::Close {
                self.breaks[at] = self.breaks[at].min(1);
            }
        }
        for at in 0..self.tokens.len() {
            // If the content of brackets begins on a new line, the closing bracket begins a new line too.
            if self.tokens[at].kind == Kind::Open && self.close[at] > at + 1 && self.breaks[at + 1] > 0 {
                let close = self.close[at];
                self.breaks[close] = self.breaks[close].max(1);
            }
        }
    }

    /// Whether a space stands before a token, if no line ends there.
    fn is_apart(&self, at: usize) -> bool {
        let (before, token) = (self.tokens[at - 1], self.tokens[at]);
        match (before.kind, token.kind) {
            (Kind::BlockComment, Kind::Comma | Kind::Close) => token.text == "}",
            (Kind::LineComment | Kind::BlockComment, _) => true,
            (_, Kind::LineComment | Kind::BlockComment) => true,
            (Kind::Open, Kind::Close) | (_, Kind::Comma | Kind::Colon) => false,
            (Kind::Comma | Kind::Colon, Kind::Close) => token.text == "}",
            (Kind::Comma | Kind::Colon, _) => true,
            (Kind::Open, _) => before.text == "{",
            (_, Kind::Close) => token.text == "}",
            (Kind::Atom, Kind::Open) if token.text == "(" => false,
            // Between tokens that no scenario needs, such as those of RON's attributes, a space stands if the author has put
            // white space there.
            _ => token.apart,
        }
    }

    /// How many columns the tokens after `from`, up to and including `to`, take on one line.
    fn columns(&self, from: usize, to: usize) -> usize {
        (from + 1..=to).map(|at| self.tokens[at].text.chars().count() + usize::from(self.is_apart(at))).sum()
    }

    /// Breaks the brackets that open at the token `open`, one entry per line, if they contain no line break and do not fit
    /// the rest of the line.
    fn fit(&mut self, open: usize) {
        let close = self.close[open];
        let has_lines = |at: usize| self.breaks[at] > 0 || self.tokens[at].text.contains('\n');
        if close <= open + 1 || (open + 1..=close).any(has_lines) {
            return;
        }
        let hangs =
            |&at: &usize| self.breaks[at] == 0 && matches!(self.tokens[at].kind, Kind::Close | Kind::Comma);
        let end = (close + 1..self.tokens.len()).take_while(hangs).last().unwrap_or(close);
        if self.column + self.columns(open, end) <= self.width {
            return;
        }
        let mut at = open + 1;
        self.breaks[at] = 1;
        while at < close {
            if self.tokens[at].kind == Kind::Open {
                at = self.close[at];
            } else if self.tokens[at].kind == Kind::Comma {
                self.breaks[at + 1] = 1;
            }
            at += 1;
        }
        self.breaks[close] = 1;
    }

    fn write(mut self) -> String {
        // The indent of the line on which each open bracket stands.
        let mut open: Vec<usize> = Vec::new();
        let mut line = 0;
        for at in 0..self.tokens.len() {
            let token = self.tokens[at];
            if at > 0 && self.breaks[at] > 0 {
                let last = open.last().copied();
                line = match token.kind {
                    Kind::Close => last.unwrap_or(0),
                    _ => last.map_or(0, |indent| indent + INDENT),
                };
                self.out.push_str(&"\n".repeat(self.breaks[at]));
                self.out.push_str(&" ".repeat(line));
                self.column = line;
            } else if at > 0 && self.is_apart(at) {
                self.out.push(' ');
                self.column += 1;
            }
            self.out.push_str(token.text);
            self.column = match token.text.rsplit_once('\n') {
                Some((_, last)) => last.chars().count(),
                None => self.column + token.text.chars().count(),
            };
            match token.kind {
                Kind::Open => {
                    self.fit(at);
                    open.push(line);
                }
                Kind::Close => drop(open.pop()),
                _ => {}
            }
        }
        self.out.push('\n');
        self.out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_white_space_changes() {
        for (text, expected) in [
            ("Scenario ( a : 1 , b:[ 1,2 ] )", "Scenario(a: 1, b: [1, 2])\n"),
            (
                "A(\n  b: {\"x\":1},  // why\n\n\n  c: C(\nd: 2))",
                "A(\n    b: { \"x\": 1 }, // why\n\n    c: C(\n        d: 2\n    )\n)\n",
            ),
            ("// first\nA(\n\n// only\n)\n\n", "// first\nA(\n    // only\n)\n"),
            ("A(b:\n  B\n  (),)", "A(b: B(),)\n"),
            ("A(b: C(d: [\n1,\n2]))", "A(b: C(d: [\n    1,\n    2\n]))\n"),
            (
                "(\"a  ( b\", r#\" \"x\" \"#, ' ' /* c  d */)",
                "(\"a  ( b\", r#\" \"x\" \"#, ' ' /* c  d */)\n",
            ),
            ("{}", "{}\n"),
            ("#![enable(x)]\nA()", "#![enable(x)]\nA()\n"),
        ] {
            assert_eq!(laid_out(text), expected, "{text}");
            assert_eq!(laid_out(expected), expected, "{text}");
        }
    }

    #[test]
    fn brackets_that_do_not_fit_have_one_line_per_entry() {
        let long = "x".repeat(70);
        let text = format!("A(b: [\"{long}\", \"{long}\"], c: C(d: 1, e: 2))");
        let expected = format!(
            "A(\n    b: [\n        \"{long}\",\n        \"{long}\"\n    ],\n    c: C(d: 1, e: 2)\n)\n"
        );
        assert_eq!(broken(&text), expected);
        assert_eq!(broken(&expected), expected);
        // A line that the author wrote is not broken.
        assert_eq!(laid_out(&text), format!("{text}\n"));
    }
}
