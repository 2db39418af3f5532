//! Words of a command line that a user can paste into a POSIX shell.

/// `text` as one word for a POSIX shell. The word is in single quotes if `text` is empty or has a character that a shell
/// might interpret: any character other than ASCII letters, digits and a few signs.
pub(crate) fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:@".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_shell_reads_the_word_back() {
        assert_eq!(shell_word("runs/a-1.ron"), "runs/a-1.ron");
        for text in ["", "a b", "it's", "$HOME;`id`", "*", "line\nbreak", "\\", "'", "~/x", "ü"] {
            let script = format!("printf %s {}", shell_word(text));
            let read = Command::new("sh").args(["-c", &script]).output().expect("sh runs");
            assert_eq!(String::from_utf8_lossy(&read.stdout), text);
        }
    }
}
