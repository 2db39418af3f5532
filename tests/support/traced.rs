//! The plan of a text, and what happens in its first replication.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use subrosa::objectives::Resources;
use subrosa::protocols::{TraceEvent, Watcher};
use subrosa::scenario::Document;
use subrosa::study::{self, Plan};

/// The plan of a scenario; the errors in words if `check` refuses it.
pub fn plan_of(text: String) -> Result<Plan, String> {
    let document = Document::from_text(Path::new("scenario.ron"), text);
    let resources = Resources::default();
    let cells = document.cells(&[], &resources).map_err(|found| found.render())?;
    Ok(Plan::new(document.text().to_owned(), Vec::new(), &resources, cells))
}

/// Every event of the first replication of a scenario.
pub fn traced(text: String) -> Vec<TraceEvent> {
    let plan = plan_of(text).unwrap_or_else(|found| panic!("{found}"));
    let seen = Rc::new(RefCell::new(Vec::new()));
    let into = Rc::clone(&seen);
    let watcher = Watcher::of_contents(move |_, event| {
        into.borrow_mut().push(event);
        true
    });
    study::trace(&plan, 0, 0, watcher).expect("it can be played");
    seen.take()
}
