//! The nearest known name, for "Did you mean ...?".

/// The known name with the highest Jaro-Winkler similarity to `found`, regardless of case; `None` if this similarity is at
/// most 0.75.
#[must_use]
pub(crate) fn closest<'a>(found: &str, known: &'a [String]) -> Option<&'a str> {
    let lower = found.to_lowercase();
    let score = |name: &str| strsim::jaro_winkler(&lower, &name.to_lowercase());
    let best = known.iter().map(|name| (score(name), name)).max_by(|a, b| a.0.total_cmp(&b.0))?;
    (best.0 > 0.75).then_some(best.1.as_str())
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn similar_names_are_found_and_others_are_not() {
        let known = ["latency", "loss", "availability"].map(str::to_owned);
        assert_eq!(closest("latencyy", &known), Some("latency"));
        assert_eq!(closest("Loss", &known), Some("loss"));
        assert_eq!(closest("zzz", &known), None);
    }
}
