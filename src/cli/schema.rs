//! `subrosa schema`: the JSON Schema of scenarios.

use super::exit::Exit;
use super::output::print;
use crate::scenario;

/// Prints the schema.
pub(super) fn schema() -> Exit {
    print(&format!("{:#}\n", scenario::schema()));
    Exit::Ok
}
