//! `subrosa audit`: attacks privacy claims and prints the results.

use super::exit::Exit;
use super::load::{load_to, thread_count};
use super::options::{
    AuditArguments, AuditCommand, AuditOptions, Expected, Format, MechanismAuditArguments, ScenarioArguments,
};
use super::output::{eprint_lines, print, width};
use super::programs;
use super::progress::StudyProgressBar;
use crate::audit::systems::{Candidates, NotAudited, Request, Systems, systems};
use crate::audit::{AuditError, Case, Effort, Finding, Verdict, measure, suite};
use crate::programs::ProgramUse;
use crate::report::plots::{PictureError, png, standalone};
use crate::report::{self, AuditDocument, audit_chart, audit_left_out, audit_table, audit_text, message};
use crate::rng::Key;
use crate::study::{file_safe, files};
use crate::vocab::{counted, in_pool};
use std::fmt::Display;
use std::path::{Path, PathBuf};

/// Prints lines on standard error, broken at the width of the terminal.
fn eprint_line(lines: impl Display) {
    eprint_lines(&message(&lines.to_string(), width()));
}

/// Default number of trials for each of the two neighbours.
const TRIALS: u64 = 100_000;
/// Default number of trials for each of the two neighbours if a scenario is audited, because a scenario's trials take
/// longer.
const SYSTEM_TRIALS: u64 = 10_000;
/// The argument that selects every mechanism.
const ALL: &str = "all";

/// Runs the command.
pub(super) fn audit(arguments: &AuditArguments) -> Exit {
    let options = match &arguments.what {
        Some(AuditCommand::Mechanism(mechanism)) => &mechanism.options,
        None => &arguments.options,
    };
    if let Some(complaint) = unusable_option(options, arguments.what.is_some()) {
        eprint_line(format_args!("error: {complaint}"));
        return Exit::Usage;
    }
    match &arguments.what {
        Some(AuditCommand::Mechanism(mechanism)) => of_mechanisms(mechanism),
        None => match &arguments.scenario {
            Some(scenario) => of_scenario(scenario, arguments),
            None => {
                eprint_line("error: expected a scenario file; or write `subrosa audit mechanism all`");
                Exit::Usage
            }
        },
    }
}

const NO_DOCUMENTED_VERDICT: &str =
    "only mechanisms have documented verdicts: expect consistent, refuted or inconclusive";

/// What is wrong with `--expect` or `--plot`; `None` if nothing is wrong. Both are used only after all trials. They are
/// checked before, so that no trials run in vain.
fn unusable_option(options: &AuditOptions, mechanisms: bool) -> Option<String> {
    if options.expect == Some(Expected::Documented) && !mechanisms {
        return Some(NO_DOCUMENTED_VERDICT.to_owned());
    }
    let file = options.plot.as_ref()?;
    if is_png(file) {
        return (!cfg!(feature = "png")).then(|| format!("--plot: {}", PictureError::NotBuilt));
    }
    let svg = file.extension().is_some_and(|ending| ending == "svg");
    (!svg).then(|| format!("--plot: expected a file that ends in .svg or .png, found {}", file.display()))
}

/// Whether a chart is written as PNG; otherwise it is an SVG file.
fn is_png(file: &Path) -> bool {
    file.extension().is_some_and(|ending| ending == "png")
}

/// Audits those releases of a scenario that the arguments select.
fn of_scenario(scenario: &Path, arguments: &AuditArguments) -> Exit {
    let options = &arguments.options;
    let scenario = ScenarioArguments {
        overrides: arguments.overrides.clone(),
        seed: options.seed,
        data: arguments.data.clone(),
        format: options.format,
        ..ScenarioArguments::of(scenario)
    };
    let plan = match load_to(&scenario, ProgramUse::ToAudit, None) {
        Ok(plan) => plan,
        Err(exit) => return exit,
    };
    let request = Request {
        cell: arguments.cell,
        series: arguments.series.clone(),
        observer: arguments.observer.clone(),
        claim: arguments.claim,
        neighbour: arguments.neighbour.clone(),
    };
    programs::announce_to(&plan, ProgramUse::ToAudit);
    let Systems { audited, mut not_audited } = match systems(&plan, &request) {
        Ok(all) => all,
        Err(reason) => {
            eprint_line(format_args!("error: {reason}"));
            return Exit::Usage;
        }
    };
    let trials = options.trials.unwrap_or(SYSTEM_TRIALS);
    let root = Key::root(plan.first_seed()).child("audit");
    let bar = StudyProgressBar::new(format!("audit {}", plan.name));
    bar.length(audited.iter().map(|candidates| crate::audit::systems::effort(candidates, trials)).sum());
    let found: Vec<Result<Finding, NotAudited>> = in_pool(thread_count(options.threads), || {
        let one = |candidates: Candidates| {
            let series = candidates[0].statement.name.clone();
            crate::audit::systems::audit(candidates, trials, root.child(&series), &|done| bar.advance(done))
                .map_err(|why| NotAudited { series, protected: true, why: why.to_string() })
        };
        audited.into_iter().map(one).collect()
    });
    bar.finish();
    let mut findings = Vec::new();
    let mut failed = false;
    for one in found {
        match one {
            Ok(finding) => findings.push(finding),
            Err(left_out) => {
                eprint_line(format_args!("error: {}: {}", left_out.series, left_out.why));
                not_audited.push(left_out);
                failed = true;
            }
        }
    }
    let title = format!(
        "{}: {} for each of D and D', seed {}",
        plan.name,
        counted(trials, "trial"),
        plan.first_seed()
    );
    let exit = conclude(&title, (&findings, &not_audited), options, &[]);
    // The exit code of a failed trial takes precedence over that of an unexpected verdict.
    if failed { Exit::CellsFailed } else { exit }
}

/// The letters and digits of a name in lower case. In this form, a name as scenarios spell it (`NoisyRows`) equals the name
/// in the audit's tables (`noisy-rows`).
fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase()
}

fn of_mechanisms(arguments: &MechanismAuditArguments) -> Exit {
    let mut cases = suite();
    let names: Vec<String> = cases.iter().map(|case| case.statement.name.clone()).collect();
    if arguments.name != ALL {
        cases.retain(|case| plain(&case.statement.name) == plain(&arguments.name));
        if cases.is_empty() {
            eprint_line(format_args!(
                "error: expected {ALL} or one of {}, found \"{}\"",
                names.join(", "),
                arguments.name
            ));
            return Exit::Usage;
        }
    }
    let options = &arguments.options;
    let trials = options.trials.unwrap_or(TRIALS);
    let root = Key::root(options.seed.unwrap_or(0)).child("audit").child("mechanism");
    let bar = StudyProgressBar::new("audit".to_owned());
    bar.length(2 * trials * cases.len() as u64);
    let documented: Vec<Verdict> = cases.iter().map(|case| case.expected).collect();
    let found = in_pool(thread_count(options.threads), || {
        let one = |Case { statement, experiment, .. }: Case| {
            let key = root.child(&statement.name);
            let effort = Effort { trials, key, delta: statement.delta, models: true };
            match measure(&*experiment, effort, &|done| bar.advance(done)) {
                Ok(evidence) => Ok(Finding::new(statement, evidence)),
                Err(error) => Err((statement.name, error)),
            }
        };
        cases.into_iter().map(one).collect::<Result<Vec<Finding>, (String, AuditError)>>()
    });
    bar.finish();
    let findings = match found {
        Ok(findings) => findings,
        Err((name, error)) => {
            eprint_line(format_args!("error: {name}: {error}"));
            return Exit::Internal;
        }
    };
    let title = format!(
        "mechanisms: {} for each of D and D', seed {}",
        counted(trials, "trial"),
        options.seed.unwrap_or(0)
    );
    conclude(&title, (&findings, &[]), options, &documented)
}

/// Prints and draws the findings, and compares their verdicts with the expected verdicts.
fn conclude(
    title: &str,
    (findings, not_audited): (&[Finding], &[NotAudited]),
    options: &AuditOptions,
    documented: &[Verdict],
) -> Exit {
    match options.format {
        Format::Text => {
            if findings.len() == 1 {
                findings.iter().for_each(|finding| print(&audit_text(finding, width())));
            } else {
                print(&audit_table(title, findings, width()));
            }
            print(&audit_left_out(not_audited, width()));
        }
        Format::Json => print(&report::json(&AuditDocument { findings, not_audited })),
    }
    if let Some(file) = &options.plot {
        let names: Vec<&str> = findings.iter().map(|finding| finding.statement.name.as_str()).collect();
        for (finding, path) in findings.iter().zip(files_for(file, &names)) {
            if let Err(exit) = picture(&path, finding) {
                return exit;
            }
        }
    }
    // Only mechanisms have documented verdicts. For scenarios, `unusable_option` has refused `--expect documented`.
    let wanted = |index: usize| match options.expect? {
        Expected::Consistent => Some(Verdict::Consistent),
        Expected::Refuted => Some(Verdict::Refuted),
        Expected::Inconclusive => Some(Verdict::Inconclusive),
        Expected::Documented => documented.get(index).copied(),
    };
    if options.expect.is_none() {
        return Exit::Ok;
    }
    let mut exit = Exit::Ok;
    for NotAudited { series, why, .. } in not_audited.iter().filter(|left_out| left_out.protected) {
        eprint_line(format_args!("error: {series}: expected a verdict, but it was not audited: {why}"));
        exit = Exit::VerdictDiffers;
    }
    for (index, finding) in findings.iter().enumerate() {
        let Some(wanted) = wanted(index) else { continue };
        if finding.verdict != wanted {
            let why = finding.why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
            eprint_line(format_args!(
                "error: {}: expected {wanted}, found {}{why}",
                finding.statement.name, finding.verdict
            ));
            exit = Exit::VerdictDiffers;
        }
    }
    exit
}

/// Writes the chart of one finding, as SVG or PNG according to the ending of the file's name.
fn picture(path: &Path, finding: &Finding) -> Result<(), Exit> {
    let svg = standalone(&audit_chart(finding));
    let bytes = if is_png(path) {
        png(&svg).map_err(|error| {
            eprint_line(format_args!("error: {}: {error}", path.display()));
            Exit::Internal
        })?
    } else {
        svg.into_bytes()
    };
    files::put(path, &bytes).map_err(|error| {
        eprint_line(format_args!("error: {error}"));
        Exit::Internal
    })?;
    eprint_line(format_args!("wrote {}", path.display()));
    Ok(())
}

/// The files for the charts of the findings. A single finding gets the requested file. If there are several findings, each
/// gets a file beside the requested one: `plot-AUDITED.svg` for the requested `plot.svg`, where AUDITED is the finding's
/// name. If such file names would be equal, or differ only in case, the second and all further ones get a number.
fn files_for(file: &Path, audited: &[&str]) -> Vec<PathBuf> {
    if audited.len() == 1 {
        return vec![file.to_owned()];
    }
    let stem = file.file_stem().map_or_else(|| "audit".into(), |stem| stem.to_string_lossy());
    let ending = file.extension().map_or_else(String::new, |ending| format!(".{}", ending.to_string_lossy()));
    let mut names: Vec<String> = Vec::new();
    for audited in audited {
        let name = format!("{stem}-{}", file_safe(audited));
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        // Some file systems do not distinguish capital from small letters.
        let free = |name: &String| !names.iter().any(|taken| taken.eq_ignore_ascii_case(name));
        names.extend(std::iter::once(name.clone()).chain(numbered).find(free));
    }
    names.into_iter().map(|name| file.with_file_name(format!("{name}{ending}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_finding_has_a_chart_of_its_own() {
        let names = |audited: &[&str]| -> Vec<String> {
            let files = files_for(Path::new("to/plot.svg"), audited);
            files.iter().map(|file| file.to_str().unwrap().replace('\\', "/")).collect()
        };
        assert_eq!(names(&["a b"]), ["to/plot.svg"]);
        let files = ["to/plot-a-b.svg", "to/plot-a-b-2.svg", "to/plot-A-B-3.svg", "to/plot-c.svg"];
        assert_eq!(names(&["a b", "a-b", "A-B", "c"]), files);
    }
}
