//! Lines of text for a terminal of some width.

/// Columns where no terminal says how many it has.
pub const WIDTH: usize = 80;
/// Longest line of prose, however wide the terminal is: longer ones are hard to read.
const MOST_PROSE: usize = 100;
/// Stands for a space at which no line is broken.
pub(super) const FIXED: char = '\u{1}';

/// Text that is being written, no wider than a terminal.
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

    /// Breaks a long line between words; the first line indented by `indent`, later ones by four more.
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
