//! Turns names, such as those of scenarios, into parts of file names.

/// The first 80 characters of a name as part of a file name. ASCII letters, digits, `-`, `_` and `.` stay, and anything
/// else becomes `-`. Leading dots are removed. If nothing is left, the result is `scenario`. Different names can give
/// the same part.
#[must_use]
pub fn file_safe(name: &str) -> String {
    let safe: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' })
        .take(80)
        .collect();
    let safe = safe.trim_start_matches('.').to_owned();
    if safe.is_empty() { "scenario".to_owned() } else { safe }
}

#[cfg(test)]
mod tests {
    use super::file_safe;

    #[test]
    fn names_become_safe_file_names() {
        assert_eq!(file_safe("hospital"), "hospital");
        assert_eq!(file_safe("../../etc/passwd"), "-..-etc-passwd");
        assert_eq!(file_safe("a b/c"), "a-b-c");
        assert_eq!(file_safe("…"), "-");
        assert_eq!(file_safe(".."), "scenario");
    }
}
