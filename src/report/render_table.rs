//! A table for a paper: as LaTeX, with the rules of booktabs, or as Markdown.

use super::document::{Row, Table};

/// The table as a LaTeX tabular. Its title is a comment above it, for the author to use as the caption.
pub(super) fn latex(table: &Table) -> String {
    let columns: String = table.columns.iter().map(|column| if column.number { 'r' } else { 'l' }).collect();
    let line = |cells: Vec<String>| format!("{} \\\\\n", cells.join(" & "));
    let mut out = format!(
        "% {}\n% \\usepackage{{booktabs}}\n\\begin{{tabular}}{{{columns}}}\n\\toprule\n",
        table.title
    );
    out.push_str(&line(table.columns.iter().map(|column| of_latex(&column.name)).collect()));
    out.push_str("\\midrule\n");
    for row in &table.rows {
        out.push_str(&line(texts(row).map(|text| of_latex(&text)).collect()));
    }
    out.push_str("\\bottomrule\n\\end{tabular}\n");
    out
}

/// The table as Markdown, below its title.
pub(super) fn markdown(table: &Table) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut out = format!("{}\n\n", of_markdown(&table.title));
    out.push_str(&line(table.columns.iter().map(|column| of_markdown(&column.name)).collect()));
    let rule = |number: bool| if number { "---:" } else { "---" };
    out.push_str(&line(table.columns.iter().map(|column| rule(column.number).to_owned()).collect()));
    for row in &table.rows {
        out.push_str(&line(texts(row).map(|text| of_markdown(&text)).collect()));
    }
    out
}

fn texts(row: &Row) -> impl Iterator<Item = String> + '_ {
    row.cells.iter().map(super::document::Cell::text)
}

/// The text with every character escaped that LaTeX would read as a command. Signs such as plus-minus become commands,
/// and the text `inf` becomes the infinity sign.
fn of_latex(text: &str) -> String {
    if text == "inf" {
        return "$\\infty$".to_owned();
    }
    let mut out = String::new();
    for letter in text.chars() {
        match letter {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => {
                out.push('\\');
                out.push(letter);
            }
            '\\' => out.push_str("\\textbackslash{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '±' => out.push_str("$\\pm$"),
            'µ' => out.push_str("$\\mu$"),
            '<' => out.push_str("$<$"),
            '>' => out.push_str("$>$"),
            '|' => out.push_str("$|$"),
            letter => out.push(letter),
        }
    }
    out
}

/// The text with every character escaped that Markdown would read as markup in a table.
fn of_markdown(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        if "\\|`*_<>[]#".contains(letter) {
            out.push('\\');
        }
        out.push(letter);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let header = ["series", "regret_1"].map(str::to_owned).to_vec();
        let rows = vec![
            vec!["a & b | 5 %".to_owned(), "0.1 ± 0.2".to_owned()],
            vec!["x".to_owned(), "inf".to_owned()],
        ];
        Table::new("All_of it", header, rows, 1)
    }

    #[test]
    fn no_letter_becomes_a_command() {
        let text = latex(&table());
        assert!(
            text.contains("\\begin{tabular}{lr}\n\\toprule\nseries & regret\\_1 \\\\\n\\midrule\n"),
            "{text}"
        );
        assert!(
            text.contains("a \\& b $|$ 5 \\% & 0.1 $\\pm$ 0.2 \\\\\nx & $\\infty$ \\\\\n\\bottomrule"),
            "{text}"
        );
        let text = markdown(&table());
        assert_eq!(
            text,
            "All\\_of it\n\n| series | regret\\_1 |\n| --- | ---: |\n| a & b \\| 5 % | 0.1 ± 0.2 |\n| x | inf |\n"
        );
    }
}
