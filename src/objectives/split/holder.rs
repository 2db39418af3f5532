//! The rows of a file that an agent holds, by the values of columns.

use std::collections::BTreeMap;

/// An agent and the rows that it holds, from 0.
#[derive(Clone, Debug)]
pub(in crate::objectives) struct Holder {
    pub(in crate::objectives) name: String,
    pub(in crate::objectives) rows: Vec<usize>,
}

/// The holders of `rows` rows: one for each combination of values of these columns, in the order in which the rows first
/// name them. The name of a holder is its values, joined by `/`. If there are several columns, each `/` within a value is
/// written twice, so that (a/b, c) and (a, b/c) have different names. Values that begin or end with `/` can still give the
/// same name, as (a/, b) and (a, /b) do; such rows then have the same holder.
pub(in crate::objectives) fn by_columns(columns: &[Vec<&str>], rows: usize) -> Vec<Holder> {
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut holders: Vec<Holder> = Vec::new();
    for row in 0..rows {
        let values = columns.iter().map(|column| match columns.len() {
            1 => column[row].to_owned(),
            _ => column[row].replace('/', "//"),
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

#[cfg(test)]
mod tests {
    use super::*;

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
