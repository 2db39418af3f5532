//! A count in digits with its noun in singular or plural: 1 replication, 2 replications.

/// `count` in digits, and `noun` in the singular if `count` is 1, otherwise in the plural. `noun` is a regular noun in the
/// singular.
#[must_use]
pub fn counted(count: u64, noun: &str) -> String {
    let plural = match noun.as_bytes() {
        _ if count == 1 => noun.to_owned(),
        [.., b's' | b'x'] | [.., b'c' | b's', b'h'] => format!("{noun}es"),
        [.., before, b'y'] if !b"aeiou".contains(before) => format!("{}ies", &noun[..noun.len() - 1]),
        _ => format!("{noun}s"),
    };
    format!("{count} {plural}")
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn one_is_singular_and_all_else_plural() {
        let found = ["release", "branch", "party", "day"].map(|noun| [1, 2].map(|n| counted(n, noun)));
        let expected = [
            ["1 release", "2 releases"],
            ["1 branch", "2 branches"],
            ["1 party", "2 parties"],
            ["1 day", "2 days"],
        ];
        assert_eq!(found, expected);
        assert_eq!(counted(0, "cell"), "0 cells");
    }
}
