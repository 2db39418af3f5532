//! Lines of text for a terminal of a given width.

/// Columns that are assumed if the width of the terminal is unknown.
pub const WIDTH: usize = 80;
/// Largest number of columns of a line of prose; on a wider terminal, longer lines would be hard to read.
const MAX_PROSE: usize = 100;
/// Placeholder for a space at which no line is broken.
pub(super) const FIXED: char = '\u{1}';

/// Text that is being written line by line for a terminal.
#[derive(Debug)]
pub(super) struct Lines {
    pub(super) text: String,
    /// Columns of the terminal.
    pub(super) width: usize,
}

impl Lines {
    pub(super) fn new(width: usize) -> Self {
        Self { text: String::new(), width }
    }

    pub(super) fn line(&mut self, text: &str) {
        self.text.push_str(text.trim_end());
        self.text.push('\n');
    }

    /// Adds a paragraph, broken between words. Its first line is indented by `indent` columns, further lines by four more.
    pub(super) fn wrapped(&mut self, indent: usize, text: &str) {
        let words: Vec<&str> = text.split_whitespace().collect();
        let line = format!("{}{}", " ".repeat(indent), words.join(" "));
        self.text.push_str(&folded(&line, indent + 4, self.width.min(MAX_PROSE)));
    }
}

/// A line broken between words at `width` columns, each part with a newline character at its end; further lines are
/// indented by `indent` columns. A word that is longer than a line is broken after its commas.
pub(in crate::report) fn folded(line: &str, indent: usize, width: usize) -> String {
    let lead = line.len() - line.trim_start().len();
    let mut out = line[..lead].to_owned();
    let mut column = line[..lead].rsplit('\n').next().map_or(0, str::len);
    let mut empty = true;
    for word in line[lead..].trim_end().split(' ') {
        let long = word.chars().count() > width.saturating_sub(indent);
        let parts: Vec<&str> = if long { word.split_inclusive(',').collect() } else { vec![word] };
        for (index, part) in parts.into_iter().enumerate() {
            let (gap, wide) = (usize::from(!empty && index == 0), part.chars().count());
            if !empty && column + gap + wide > width {
                out.truncate(out.trim_end_matches(' ').len());
                out.push('\n');
                out.push_str(&" ".repeat(indent));
                column = indent;
            } else {
                out.push_str(&" ".repeat(gap));
                column += gap;
            }
            out.push_str(part);
            column += wide;
            empty = false;
        }
    }
    out.push('\n');
    out.replace(FIXED, " ")
}

#[cfg(test)]
mod tests {
    use super::folded;

    #[test]
    fn a_line_is_broken_at_spaces_and_a_long_word_at_commas() {
        assert_eq!(folded("  ab  cd efg", 4, 9), "  ab  cd\n    efg\n");
        assert_eq!(folded("\nab cd", 2, 5), "\nab cd\n");
        assert_eq!(folded("x aaaa,bbbb,cccc", 2, 10), "x aaaa,\n  bbbb,\n  cccc\n");
        assert_eq!(folded("", 2, 5), "\n");
    }
}
