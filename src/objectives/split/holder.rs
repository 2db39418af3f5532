//! The rows of a file that an agent holds, as the values in some columns of the file determine them.

use std::collections::BTreeMap;

/// An agent and the numbers, from 0, of the rows that it holds.
#[derive(Clone, Debug)]
pub(in crate::objectives) struct Holder {
    pub(in crate::objectives) name: String,
    pub(in crate::objectives) rows: Vec<usize>,
}

/// The holders of `rows` rows: one holder for each combination of values that occurs in these columns. The holders are in
/// the order in which the rows first name them. The name of a holder consists of its values, joined by `/`. If there are
/// several columns, each `/` within a value is written twice, and a value that is empty, ends with `/`, or begins with `/`
/// or `"` is put in double quotes. Two combinations of values therefore never have the same name.
pub(in crate::objectives) fn by_columns(columns: &[Vec<&str>], rows: usize) -> Vec<Holder> {
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut holders: Vec<Holder> = Vec::new();
    for row in 0..rows {
        let values = columns.iter().map(|column| match columns.len() {
            1 => column[row].to_owned(),
            _ => within_name(column[row]),
        });
        let name = values.collect::<Vec<_>>().join("/");
        let place = *places.entry(name.clone()).or_insert(holders.len());
        if place == holders.len() {
            holders.push(Holder { name, rows: Vec::new() });
        }
        holders[place].rows.push(row);
    }
    holders
}

/// A value of one of several columns, as it is written in a name.
fn within_name(value: &str) -> String {
    let doubled = value.replace('/', "//");
    let unclear = value.is_empty() || value.starts_with(['/', '"']) || value.ends_with('/');
    if unclear { format!("\"{doubled}\"") } else { doubled }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each combination of three values has its own name. A value is a text of at most three characters `/`, `"` or `a`.
    #[test]
    fn no_two_holders_have_one_name() {
        let mut texts = vec![String::new()];
        for length in 0..3 {
            let longer: Vec<String> = texts
                .iter()
                .filter(|text| text.len() == length)
                .flat_map(|text| ['/', '"', 'a'].map(|c| format!("{text}{c}")))
                .collect();
            texts.extend(longer);
        }
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let n = texts.len();
        let column = |each: usize| (0..n * n * n).map(|row| texts[row / each % n]).collect::<Vec<_>>();
        let holders = by_columns(&[column(n * n), column(n), column(1)], n * n * n);
        assert_eq!(holders.len(), n * n * n);
    }

    #[test]
    fn holders_come_in_the_order_of_the_rows() {
        let columns = [vec!["b", "a", "b", "a"], vec!["1", "1", "2", "1"]];
        let found: Vec<(String, Vec<usize>)> =
            by_columns(&columns, 4).into_iter().map(|holder| (holder.name, holder.rows)).collect();
        let named = |name: &str, rows: &[usize]| (name.to_owned(), rows.to_vec());
        assert_eq!(found, [named("b/1", &[0]), named("a/1", &[1, 3]), named("b/2", &[2])]);
        let slashes = by_columns(&[vec!["a/b", "a"], vec!["c", "b/c"]], 2);
        assert_eq!(
            slashes.iter().map(|holder| holder.name.as_str()).collect::<Vec<_>>(),
            ["a//b/c", "a/b//c"]
        );
        assert_eq!(by_columns(&[vec!["n/a"]], 1)[0].name, "n/a");
        assert_eq!(by_columns(&[], 3)[0].rows, [0, 1, 2], "without columns all rows are one agent's");
    }
}
