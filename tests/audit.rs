//! The auditor on mechanisms whose privacy is known, and on what is broken.

use subrosa::privacy::audit::{Effort, Finding, Verdict, measure, suite};
use subrosa::rng::Key;

fn effort(seed: u64, trials: u64, delta: f64) -> Effort {
    Effort { trials, key: Key::root(seed).child("audit"), delta }
}

fn quiet(_: u64) {}

/// Every mechanism of the family gets the verdict that its documentation announces.
#[test]
fn the_whole_suite_gets_the_documented_verdicts() {
    for case in suite() {
        let delta = case.statement.delta;
        let trials = if case.statement.name.contains("40") { 4_000 } else { 10_000 };
        let evidence = measure(&*case.experiment, effort(7, trials, delta), &quiet).unwrap();
        let finding = Finding::new(case.statement, evidence);
        println!(
            "{:30} tested {:?} lower {:.3} ceiling {:.3} gdp {:.3?} {:?} {}",
            finding.statement.name,
            finding.statement.tested(),
            finding.evidence.epsilon_lower,
            finding.evidence.ceiling,
            finding.evidence.gaussian_model,
            finding.verdict,
            finding.evidence.test
        );
        assert_eq!(finding.verdict, case.expected, "{}", finding.statement.name);
    }
}

#[test]
fn consistent_is_not_refuted() {
    assert_ne!(Verdict::Consistent, Verdict::Refuted);
}
