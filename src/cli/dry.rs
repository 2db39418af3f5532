//! `subrosa run --dry`: simulates only the messages, and prints how long rounds take and which parties answer late.

use super::exit::Exit;
use super::load::thread_count;
use super::options::{Format, RunArguments};
use super::output::{eprint_line, print, width};
use crate::report;
use crate::study::{self, DrySeries, Plan};
use crate::vocab::in_pool;
use serde::Serialize;

/// The JSON document of a dry run.
#[derive(Serialize)]
struct DryRun<'a> {
    schema: &'static str,
    scenario: &'a str,
    seed: u64,
    series: &'a [DrySeries],
}

/// Makes a dry run and prints it.
pub(super) fn dry(plan: &Plan, arguments: &RunArguments) -> Exit {
    match in_pool(thread_count(arguments.threads), || study::dry_run(plan)) {
        Ok(series) => {
            print(&match arguments.scenario.format {
                Format::Text => report::dry_text(plan, &series, width()),
                Format::Json => report::json(&DryRun {
                    schema: "subrosa.dry/1",
                    scenario: &plan.name,
                    seed: plan.first_seed(),
                    series: &series,
                }),
            });
            Exit::Ok
        }
        Err(failure) => {
            eprint_line(format_args!("error: {failure}"));
            Exit::CellsFailed
        }
    }
}
