//! `subrosa threshold`: finds the value of a setting at which one series stops or begins to be better than another.

use super::analysed::{
    failed, named, options, picture, playable, stopped, takes_whole_numbers, varies_beside,
};
use super::budget_exit::budget;
use super::ending::{finish, unreadable};
use super::exit::Exit;
use super::interruption;
use super::load::{Loaded, print_error};
use super::options::{Format, ScenarioArguments, ThresholdArguments};
use super::output::{eprint_line, print, width};
use super::programs;
use super::progress::StudyProgressBar;
use super::run::unknown_series;
use crate::programs::ProgramUse;
use crate::report;
use crate::scenario::{Diagnostics, VariedValue};
use crate::study::{self, BadRange, Grid, Plan, Question, RunFolder, Spacing, Unended, written};

/// Number of replications of a value in its first test, unless `--replications` gives another number.
const FIRST: u64 = 20;

/// If the stored study has at least this many replications, a message says that their tables are being written.
const MANY: u64 = 2_000;

/// A scenario, and the one value of it that is varied.
struct Varied {
    loaded: Loaded,
    value: VariedValue,
    unit: String,
    whole: bool,
}

impl Varied {
    /// The study in which the varied value takes each of `values`, with one cell per value.
    fn plan(&self, values: &[f64]) -> Result<Plan, Diagnostics> {
        let mut texts = written(values, self.whole);
        if !self.unit.is_empty() {
            texts = texts.iter().map(|text| format!("{:?}", format!("{text}{}", self.unit))).collect();
        }
        self.loaded.plan(&self.value.overrides(&texts, None))
    }
}

/// Runs the command.
pub(super) fn threshold(arguments: &ThresholdArguments) -> Exit {
    answer(arguments).unwrap_or_else(|exit| exit)
}

fn answer(arguments: &ThresholdArguments) -> Result<Exit, Exit> {
    let format = arguments.scenario.format;
    if arguments.series == arguments.against {
        eprint_line(format_args!(
            "error: expected two different series, found {:?} for --series and --against",
            arguments.series
        ));
        return Err(Exit::Usage);
    }
    // The range is checked before anything is read.
    let real = if arguments.log { Spacing::Logarithmic } else { Spacing::Linear };
    let grid = |spacing| {
        Grid::new(arguments.from, arguments.to, arguments.max_width, spacing).map_err(|wrong: BadRange| {
            eprint_line(format_args!("error: {wrong}"));
            Exit::Usage
        })
    };
    let mut searched = grid(real)?;
    // The search itself chooses the numbers of replications: --replications states only the number in the first test of a
    // value.
    let scenario = ScenarioArguments { replications: None, ..arguments.scenario.clone() };
    let loaded = Loaded::read(&scenario, ProgramUse::ToPlay, arguments.playing.threads)?;
    let wrong = |diagnostics: Diagnostics| print_error(&diagnostics, format);
    let value = loaded.document.varied(&loaded.overrides, &arguments.over).map_err(wrong)?;
    let mut varied = Varied { loaded, value, unit: arguments.unit.clone(), whole: false };
    let ends = [arguments.from, arguments.to];
    let first = varied.plan(&ends).map_err(wrong)?;
    if let Some(other) = varies_beside(&first, &[&varied.value.name]) {
        eprint_line(format_args!(
            "error: expected a scenario that varies {} only, found the Each called {other:?} too (fix it by -o PATH=VALUE)",
            varied.value.name
        ));
        return Err(Exit::Usage);
    }
    if takes_whole_numbers(arguments.from, arguments.to, |value| varied.plan(&[value]).is_err()) {
        if arguments.log {
            eprint_line(format_args!(
                "error: --log is for real numbers, and {} takes whole numbers only (leave --log out)",
                varied.value.name
            ));
            return Err(Exit::Usage);
        }
        varied.whole = true;
        searched = grid(Spacing::Whole)?;
    }
    for (name, flag) in [(&arguments.series, "--series"), (&arguments.against, "--against")] {
        if let Some((unknown, known)) = study::unknown_series(&first, &[name]) {
            eprint_line(unknown_series(unknown, &known, flag));
            return Err(Exit::Usage);
        }
    }
    let first = programs::ask(first)?;
    let group = arguments.group.as_deref();
    playable(&first, &arguments.metric, group, "threshold")?;
    let known = first.programs();
    let question = Question {
        axis: varied.value.name.clone(),
        series: arguments.series.clone(),
        against: arguments.against.clone(),
        metric: named(&arguments.metric, group),
        larger_is_better: arguments.larger_is_better,
        margin: arguments.margin,
        confidence: arguments.confidence,
        first: arguments.scenario.replications.unwrap_or(FIRST).max(2),
        most: arguments.max_replications,
    };
    let words = format!("{} {}", report::json(&question).trim_end(), searched.width());
    let folder = RunFolder::at(&arguments.playing.out.join(first.folder_name_of("threshold", &words)));
    let bar = StudyProgressBar::new(first.name.clone());
    let mut plan = |values: &[f64]| varied.plan(values).map(|plan| plan.with_programs(&known));
    let options = options(&arguments.playing, interruption::listen());
    let found = study::threshold(&question, &searched, &folder, &mut plan, options, &bar);
    bar.finish();
    let (found, plan) = found.map_err(|why| match why {
        Unended::Plan(diagnostics) => print_error(&diagnostics, format),
        Unended::Folder(error) => unreadable(&error),
        Unended::Interrupted { finished, total, failures } => stopped(finished, total, &failures),
        Unended::Failed(failures) => failed(&failures),
    })?;
    // The answer comes first: the tables of all replications of a long search can take longer than the search.
    study::keep_threshold(&folder, &found).map_err(|error| unreadable(&error))?;
    picture(&report::threshold_chart(&found), &folder, "threshold.svg", &arguments.playing)?;
    match format {
        Format::Text => print(&report::threshold_text(&found, width())),
        Format::Json => print(&report::json(&found)),
    }
    let played = plan.replications.saturating_mul(plan.cells.len() as u64);
    if played >= MANY {
        eprint_line(format_args!("Writing the tables of {played} replications into the run folder."));
    }
    let summary = finish(&plan, &folder, arguments.playing.threads)?;
    Ok(budget(&summary))
}
