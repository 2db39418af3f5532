//! `subrosa audit`: attacks privacy claims and prints the results.

use super::exit::Exit;
use super::load::load_to;
use super::options::{
    AuditArguments, AuditOptions, AuditWhat, Expected, Format, MechanismAuditArguments, ScenarioArguments,
};
use super::output::{print, say_lines, width};
use super::programs;
use super::progress::Bar;
use crate::audit::systems::{Candidates, NotAudited, Request, Systems, systems};
use crate::audit::{Case, Effort, Finding, Verdict, measure, suite};
use crate::programs::Starts;
use crate::report::plots::{NoPicture, png, standalone};
use crate::report::{
    self, AuditDocument, audit_chart, audit_left_out, audit_message, audit_table, audit_text,
};
use crate::rng::Key;
use crate::study::files;
use crate::vocab::Memory;
use crate::vocab::counted;
use std::fmt::Display;
use std::path::{Path, PathBuf};

/// Prints lines on standard error, broken at the width of the terminal.
fn say(lines: impl Display) {
    say_lines(&audit_message(&lines.to_string(), width()));
}

/// Default number of trials for each of the two neighbours.
const TRIALS: u64 = 100_000;
/// Default number of trials for each neighbour if a scenario is audited: its trials take longer.
const SYSTEM_TRIALS: u64 = 10_000;
/// The argument that selects every mechanism.
const ALL: &str = "all";

/// Runs the verb.
pub(super) fn audit(arguments: &AuditArguments) -> Exit {
    let options = match &arguments.what {
        Some(AuditWhat::Mechanism(mechanism)) => &mechanism.options,
        None => &arguments.options,
    };
    if let Some(complaint) = vain(options, arguments.what.is_some()) {
        say(format_args!("error: {complaint}"));
        return Exit::Usage;
    }
    match &arguments.what {
        Some(AuditWhat::Mechanism(mechanism)) => of_mechanisms(mechanism),
        None => match &arguments.scenario {
            Some(scenario) => of_scenario(scenario, arguments),
            None => {
                say("error: expected a scenario file; or write `subrosa audit mechanism all`");
                Exit::Usage
            }
        },
    }
}

const NO_DOCUMENTED_VERDICT: &str =
    "only mechanisms have documented verdicts: expect consistent, refuted or inconclusive";

/// The error of an option that is first used after all trials, so that it is reported before they run; `None` if there is none.
fn vain(options: &AuditOptions, mechanisms: bool) -> Option<String> {
    if options.expect == Some(Expected::Documented) && !mechanisms {
        return Some(NO_DOCUMENTED_VERDICT.to_owned());
    }
    let file = options.plot.as_ref()?;
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("svg") => None,
        Some("png") => (!cfg!(feature = "png")).then(|| format!("--plot: {}", NoPicture::NotBuilt)),
        _ => Some(format!("--plot: expected a file that ends in .svg or .png, found {}", file.display())),
    }
}

/// Audits everything that a scenario releases.
fn of_scenario(scenario: &Path, arguments: &AuditArguments) -> Exit {
    let options = &arguments.options;
    let scenario = ScenarioArguments {
        scenario: scenario.to_owned(),
        overrides: arguments.overrides.clone(),
        seed: options.seed,
        data: arguments.data.clone(),
        replications: None,
        format: options.format,
        memory: Some(Memory(u64::MAX)),
    };
    let plan = match load_to(&scenario, Starts::ToAudit, None) {
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
    programs::announce_to(&plan, Starts::ToAudit);
    let Systems { audited, mut not_audited } = match systems(&plan, &request) {
        Ok(all) => all,
        Err(reason) => {
            say(format_args!("error: {reason}"));
            return Exit::Usage;
        }
    };
    let trials = options.trials.unwrap_or(SYSTEM_TRIALS);
    let root = Key::root(plan.first_seed()).child("audit");
    let bar = Bar::new(format!("audit {}", plan.name));
    bar.length(audited.iter().map(|candidates| crate::audit::systems::effort(candidates, trials)).sum());
    let found: Vec<Result<Finding, NotAudited>> = in_pool(options, || {
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
                say(format_args!("error: {}: {}", left_out.series, left_out.why));
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
    let exit = conclude(&title, (&findings, &not_audited), options, None);
    // The exit code of a failed trial takes precedence over that of an unexpected verdict.
    if failed { Exit::CellsFailed } else { exit }
}

/// Runs on the requested number of threads; results do not depend on it.
fn in_pool<T: Send>(options: &AuditOptions, run: impl FnOnce() -> T + Send) -> T {
    let threads = options.threads.map_or(0, |threads| threads as usize);
    match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
        Ok(pool) => pool.install(run),
        Err(_) => run(),
    }
}

/// The letters and digits of a name in lower case, so that the spelling of a scenario (`NoisyRows`) equals that of the audit's
/// tables (`noisy-rows`).
fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase()
}

fn of_mechanisms(arguments: &MechanismAuditArguments) -> Exit {
    let mut cases = suite();
    let names: Vec<String> = cases.iter().map(|case| case.statement.name.clone()).collect();
    if arguments.name != ALL {
        cases.retain(|case| plain(&case.statement.name) == plain(&arguments.name));
        if cases.is_empty() {
            say(format_args!(
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
    let bar = Bar::new("audit".to_owned());
    bar.length(2 * trials * cases.len() as u64);
    let documented: Vec<Verdict> = cases.iter().map(|case| case.expected).collect();
    let found = in_pool(options, || {
        let one = |Case { statement, experiment, .. }: Case| {
            let key = root.child(&statement.name);
            let effort = Effort { trials, key, delta: statement.delta, models: true };
            match measure(&*experiment, effort, &|done| bar.advance(done)) {
                Ok(evidence) => Ok(Finding::new(statement, evidence)),
                Err(reason) => Err(format!("{}: {reason}", statement.name)),
            }
        };
        cases.into_iter().map(one).collect::<Result<Vec<Finding>, _>>()
    });
    bar.finish();
    let findings = match found {
        Ok(findings) => findings,
        Err(reason) => {
            say(format_args!("error: {reason}"));
            return Exit::Internal;
        }
    };
    let title = format!(
        "mechanisms: {} for each of D and D', seed {}",
        counted(trials, "trial"),
        options.seed.unwrap_or(0)
    );
    conclude(&title, (&findings, &[]), options, Some(&documented))
}

/// Prints and draws the results, and compares them with the expected ones.
fn conclude(
    title: &str,
    (findings, not_audited): (&[Finding], &[NotAudited]),
    options: &AuditOptions,
    documented: Option<&[Verdict]>,
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
        for finding in findings {
            let several = findings.len() > 1;
            let path = if several { beside(file, &finding.statement.name) } else { file.clone() };
            if let Err(exit) = picture(&path, finding) {
                return exit;
            }
        }
    }
    let Some(expected) = options.expect else { return Exit::Ok };
    let mut exit = Exit::Ok;
    for NotAudited { series, why, .. } in not_audited.iter().filter(|left_out| left_out.protected) {
        say(format_args!("error: {series}: expected a verdict, but it was not audited: {why}"));
        exit = Exit::VerdictDiffers;
    }
    for (index, finding) in findings.iter().enumerate() {
        let wanted = match (expected, documented) {
            (Expected::Consistent, _) => Verdict::Consistent,
            (Expected::Refuted, _) => Verdict::Refuted,
            (Expected::Inconclusive, _) => Verdict::Inconclusive,
            (Expected::Documented, Some(documented)) => documented[index],
            (Expected::Documented, None) => {
                say(format_args!("error: {NO_DOCUMENTED_VERDICT}"));
                return Exit::Usage;
            }
        };
        if finding.verdict != wanted {
            let why = finding.why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
            say(format_args!(
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
    let bytes = match path.extension().and_then(|extension| extension.to_str()) {
        Some("svg") => svg.into_bytes(),
        Some("png") => png(&svg).map_err(|error| {
            say(format_args!("error: {}: {error}", path.display()));
            Exit::Internal
        })?,
        _ => {
            say(format_args!(
                "error: --plot: expected a file that ends in .svg or .png, found {}",
                path.display()
            ));
            return Err(Exit::Usage);
        }
    };
    files::put(path, &bytes).map_err(|error| {
        say(format_args!("error: {error}"));
        Exit::Internal
    })?;
    say(format_args!("wrote {}", path.display()));
    Ok(())
}

/// The file for one of several findings: `plot-AUDITED.svg`, beside the requested `plot.svg`.
fn beside(file: &Path, audited: &str) -> PathBuf {
    let stem = file.file_stem().map_or_else(|| "audit".into(), |stem| stem.to_string_lossy());
    let safe: String =
        audited.chars().map(|c| if c.is_alphanumeric() || c == '-' { c } else { '-' }).collect();
    let name = match file.extension() {
        Some(extension) => format!("{stem}-{safe}.{}", extension.to_string_lossy()),
        None => format!("{stem}-{safe}"),
    };
    file.with_file_name(name)
}
