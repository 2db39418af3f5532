//! Lines of at most 80 columns.

/// Columns of the terminal that reports are made for.
pub(super) const WIDTH: u16 = 80;
/// Stands for a space at which no line is broken.
pub(super) const FIXED: char = '\u{1}';

pub(super) fn line(out: &mut String, text: &str) {
    out.push_str(text.trim_end());
    out.push('\n');
}

/// Breaks a long line between words; the first line indented by `indent`, later ones by four more.
pub(super) fn wrapped(out: &mut String, indent: usize, text: &str) {
    let mut current = " ".repeat(indent);
    let mut empty = true;
    for word in text.split_whitespace() {
        if !empty && current.chars().count() + 1 + word.chars().count() > WIDTH as usize {
            line(out, &current.replace(FIXED, " "));
            current = " ".repeat(indent + 4);
            empty = true;
        }
        if !empty {
            current.push(' ');
        }
        current.push_str(word);
        empty = false;
    }
    line(out, &current.replace(FIXED, " "));
}
