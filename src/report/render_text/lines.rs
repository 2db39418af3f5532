//! Lines of text for a terminal of a given width.

/// Columns that are assumed if the width of the terminal is unknown.
pub const WIDTH: usize = 80;
/// Largest number of columns of a line of prose; on a wider terminal, longer lines would be hard to read.
const MOST_PROSE: usize = 100;
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
        let width = self.width.min(MOST_PROSE);
        let mut current = " ".repeat(indent);
        let mut empty = true;
        for word in text.split_whitespace() {
            if !empty && current.chars().count() + 1 + word.chars().count() > width {
                self.line(&current.replace(FIXED, " "));
                current = " ".repeat(indent + 4);
                empty = true;
            }
            if !empty {
                current.push(' ');
            }
            current.push_str(word);
            empty = false;
        }
        self.line(&current.replace(FIXED, " "));
    }
}
