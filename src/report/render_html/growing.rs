//! The page of a run that is not finished: the report so far, a line on its progress, and the code by which it reloads
//! itself.

use maud::{DOCTYPE, Markup, PreEscaped, html};

const SCRIPT: &str = include_str!("growing.js");

/// How a page reloads itself.
#[derive(Clone, Copy, Debug)]
pub enum Refresh<'a> {
    /// The browser loads the page again after this many seconds.
    After(u64),
    /// The page asks its server for the state of the run, and reloads as soon as the answer differs from `state`. If
    /// there is no answer, the text of the progress line is replaced by `ended`.
    Asking {
        /// What the server answers as long as it has no later page than this.
        state: &'a str,
        /// The text of the progress line once the server no longer answers.
        ended: &'a str,
    },
    /// The page does not reload itself.
    Never,
}

/// The element of the page's head by which the browser reloads the page, if there is one; and the elements before the
/// page's main part: the progress line, and a script if the page asks its server.
fn parts(line: &str, refresh: Refresh<'_>) -> (Markup, Markup) {
    let head = match refresh {
        Refresh::After(seconds) => html! { meta http-equiv="refresh" content=(seconds); },
        Refresh::Asking { .. } | Refresh::Never => html! {},
    };
    let line = match refresh {
        Refresh::Asking { state, ended } => html! {
            p.note id="growing" role="status" data-state=(state) data-ended=(ended) { (line) }
            script { (PreEscaped(SCRIPT)) }
        },
        Refresh::After(_) | Refresh::Never => html! { p.note id="growing" role="status" { (line) } },
    };
    (head, line)
}

/// The page of an unfinished run: `page`, which is the report so far, with the progress line before its main part.
pub(in crate::report) fn growing(page: &str, line: &str, refresh: Refresh<'_>) -> String {
    let (head, line) = parts(line, refresh);
    let page = page.replacen("<head>", &format!("<head>{}", head.into_string()), 1);
    page.replacen("<main>", &format!("{}<main>", line.into_string()), 1)
}

/// The page before there is any report.
pub(in crate::report) fn waiting(line: &str, refresh: Refresh<'_>) -> String {
    let (head, line) = parts(line, refresh);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                (head)
                meta charset="utf-8";
                title { "subrosa" }
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                link rel="icon" href="data:,";
                style { (PreEscaped(super::STYLE)) }
            }
            body { (line) main {} }
        }
    };
    page.into_string()
}
