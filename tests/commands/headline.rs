//! The three answers of studies of every kind, degenerate ones included.

use std::collections::BTreeMap;
use subrosa::accounting::{AccountantName, EpsilonKind, Loss, LossBasis, StudyPrivacy};
use subrosa::report::{Terminal, headline, text};
use subrosa::study::{
    CellSummary, CurvePoint, Estimate, Metrics, OutcomeRow, PersonLoss, PrivacyRow, SCHEMA, SeriesSummary,
    Summary,
};
use subrosa::vocab::{Neighbours, ProtectedUnit};

fn estimate(mean: f64, n: u64) -> Estimate {
    Estimate { mean, se: if n > 1 { 0.001 } else { 0.0 }, n }
}

/// A series with a curve of three points that ends at this simple regret.
fn series(name: &str, simple: f64, cumulative: f64, n: u64) -> SeriesSummary {
    let at = |t: u64, simple: f64| CurvePoint {
        t,
        simple_regret: estimate(simple, n),
        cumulative_regret: estimate(cumulative, n),
    };
    SeriesSummary {
        name: name.to_owned(),
        replications: n,
        ended_early: 0,
        ended_early_because: None,
        jitter: 0.0,
        budget: None,
        budget_reached: 0,
        budget_failed: false,
        groups: Vec::new(),
        fairness: None,
        metrics: Metrics {
            simple_regret: Some(estimate(simple, n)),
            cumulative_regret: Some(estimate(cumulative, n)),
            virtual_seconds: 30.0,
            messages: 100.0,
            bytes: 8000.0,
            messages_lost: 5.0,
            latency_p50_seconds: None,
            latency_p99_seconds: None,
            bytes_per_round: None,
            seconds_per_round: None,
            counts: BTreeMap::new(),
            questions: None,
            regret_per_question: None,
            errors: subrosa::study::CostErrors::default(),
        },
        curve: vec![at(0, 1.0), at(1, 0.5), at(2, simple)],
        outcomes: Vec::new(),
        by_round: Vec::new(),
        bounds: Vec::new(),
        public: Vec::new(),
        one_arm: 0,
        never_left: None,
        at_random: name == "random",
    }
}

fn loss(epsilon: f64, basis: LossBasis) -> Loss {
    Loss {
        accountant: AccountantName::Tight,
        standing: if epsilon.is_finite() { EpsilonKind::Bound } else { EpsilonKind::NotABound },
        epsilon,
        lower: None,
        upper: None,
        order: None,
        delta: 1e-3,
        basis,
        arithmetic: None,
        times_claim: None,
        note: "the reason".to_owned(),
    }
}

fn claimed(epsilon: f64) -> Loss {
    Loss {
        accountant: AccountantName::AsPublished,
        standing: EpsilonKind::Claim,
        basis: LossBasis::AsPublished,
        ..loss(epsilon, LossBasis::AsPublished)
    }
}

fn learned(series: &str, losses: Vec<Loss>) -> PrivacyRow {
    PrivacyRow {
        series: series.to_owned(),
        protected: "hospital".to_owned(),
        unit: ProtectedUnit::Record,
        observer: "lab".to_owned(),
        neighbours: Neighbours::ReplaceOne,
        released: vec!["inputs".to_owned()],
        releases: 1,
        releases_per_unit: None,
        losses,
        runs_differ: false,
    }
}

fn cell(series: Vec<SeriesSummary>, privacy: Vec<PrivacyRow>) -> CellSummary {
    CellSummary {
        point: serde_json::Map::new(),
        series,
        privacy,
        regret_unit: String::new(),
        privacy_by_round: Vec::new(),
        persons: Vec::new(),
        differences: Vec::new(),
        published: Vec::new(),
        published_losses: Vec::new(),
    }
}

fn at(epsilon: f64, mut cell: CellSummary) -> CellSummary {
    cell.point.insert("epsilon".to_owned(), epsilon.into());
    cell
}

fn summary(cells: Vec<CellSummary>) -> Summary {
    Summary {
        schema: SCHEMA.to_owned(),
        scenario: "test".to_owned(),
        about: String::new(),
        run: String::new(),
        seed: 1,
        digest: String::new(),
        complete: true,
        cells,
        whole_study: Vec::new(),
    }
}

/// The texts of the three cards.
fn code_and_output(cells: Vec<CellSummary>) -> [String; 3] {
    told_of(&summary(cells))
}

fn told_of(summary: &Summary) -> [String; 3] {
    let cards = headline(summary);
    assert_eq!(cards.len(), 3);
    for sentence in cards.iter().flat_map(|card| &card.sentences) {
        let text: String = sentence.iter().map(|span| span.text.as_str()).collect();
        assert!(text.ends_with('.') && !text.contains("  ") && !text.contains(" ,"), "{text}");
    }
    [0, 1, 2].map(|place| cards[place].text())
}

fn private_and_free(simple: f64) -> CellSummary {
    let all = vec![
        series("noisy", simple, 9.0, 20),
        series("open", 0.05, 5.0, 20),
        series("random", 0.4, 12.0, 20),
    ];
    let unprotected = || vec![loss(f64::INFINITY, LossBasis::Unprotected)];
    let rows = vec![
        learned("noisy", vec![loss(2.998, LossBasis::Proven)]),
        learned("open", unprotected()),
        learned("random", unprotected()),
    ];
    cell(all, rows)
}

#[test]
fn a_private_series_is_compared_with_the_best_without_privacy() {
    let [good, cost, learned] = code_and_output(vec![private_and_free(0.062)]);
    assert_eq!(
        good,
        "The best private series, noisy (epsilon at most 3.00 in one run, proven), ends within 0.012 of search without \
         privacy: simple regret 0.0620 ± 0.0010, open 0.0500 ± 0.0010 (n = 20). Random search: \
         0.4000 ± 0.0010."
    );
    assert_eq!(
        cost,
        "noisy has cumulative regret 9.0000 ± 0.0010, open 5.0000 ± 0.0010; noisy is down to a tenth of its first \
         simple regret after 2 rounds, open after 2 rounds. A run takes 30 s of virtual time and 100 messages, 8.0 kB; 5.0 % of \
         the messages are lost."
    );
    assert_eq!(
        learned,
        "noisy: lab learns about a record of hospital in one run at most epsilon 3.00 (proven, delta 1e-3). In open and random what lab \
         gets is unprotected."
    );
    assert!(
        code_and_output(vec![private_and_free(0.05)])[0]
            .contains(", is on average no worse than search without privacy")
    );
    // 0.4 of the first regret is left: never a tenth.
    assert!(
        code_and_output(vec![private_and_free(0.4)])[1]
            .contains("first simple regret in no round, open after 2 rounds")
    );
}

#[test]
fn a_baseline_without_protected_data_is_named_and_whether_it_is_better() {
    let shown = |noisy: f64| {
        let mut shown = private_and_free(noisy);
        shown.series[2].at_random = true;
        shown
    };
    let [good, ..] = code_and_output(vec![shown(0.062)]);
    assert!(good.ends_with("(n = 20). Random search: 0.4000 ± 0.0010."), "{good}");
    let [good, ..] = code_and_output(vec![shown(0.5)]);
    assert!(good.ends_with("(n = 20). That is worse than random search: 0.4000 ± 0.0010."), "{good}");
    // In a sweep also where the best cell is better.
    let mut cells = vec![at(1.0, shown(0.5)), at(3.0, shown(0.062))];
    cells[0].privacy[0].losses[0].epsilon = 1.0;
    let [good, ..] = code_and_output(cells);
    assert!(
        good.contains(
            "In 1 of 2 cells the best private series is worse than random search: noisy at epsilon = 1.0 \
             ends at 0.5000 ± 0.0010, against 0.4000 ± 0.0010."
        ),
        "{good}"
    );
    // Without any other search.
    let mut only = shown(0.5);
    only.series.remove(1);
    only.privacy.remove(1);
    let [good, ..] = code_and_output(vec![only]);
    assert!(good.contains("is worse than random search by 0.10: simple regret 0.5000"), "{good}");
}

#[test]
fn a_refuted_claim_is_said_first_and_its_reason_is_kept() {
    let mut shown = private_and_free(0.06);
    shown.series.push(series("projection", 0.05, 6.0, 20));
    shown.privacy.push(learned("projection", vec![claimed(16.44), loss(f64::INFINITY, LossBasis::Refuted)]));
    let all = summary(vec![shown]);
    let [good, _, learned] = told_of(&all);
    assert!(
        good.starts_with("The best private series, noisy (epsilon"),
        "a refuted claim is not private: {good}"
    );
    assert!(
        learned.starts_with(
            "projection: the claim of epsilon 16 is refuted: no finite bound holds on what lab learns about a record of hospital. \
             noisy: lab learns about a record of hospital in one run at most epsilon 3.00"
        ),
        "{learned}"
    );
    let badge = headline(&all)[2].sentences[0].iter().find(|span| span.text == "refuted").cloned().unwrap();
    assert_eq!(badge.explanation, "the reason");
}

#[test]
fn a_claim_that_is_exceeded_says_by_how_much() {
    let mut tight = loss(17.4, LossBasis::Proven);
    tight.times_claim = Some(2.6);
    let mut row = learned("shared", vec![claimed(6.69), tight]);
    row.observer = "every agent".to_owned();
    row.unit = ProtectedUnit::Agent;
    row.protected = "agents".to_owned();
    let [.., learned] = code_and_output(vec![cell(vec![series("shared", 0.1, 1.0, 9)], vec![row])]);
    assert_eq!(
        learned,
        "shared: every agent learns about any other in one run at most epsilon 17.4 (proven, delta 1e-3), 2.6 times the claim."
    );
}

#[test]
fn studies_without_a_private_series_or_with_one_series_say_so() {
    let open = |name: &str| learned(name, vec![loss(f64::INFINITY, LossBasis::Unprotected)]);
    let two = cell(vec![series("a", 0.1, 1.0, 9), series("b", 0.3, 2.0, 9)], vec![open("a"), open("b")]);
    let [good, cost, learned] = code_and_output(vec![two]);
    assert!(
        good.starts_with("No series is private. The best, a, ends at simple regret 0.1000 ± 0.0010 (n = 9)."),
        "{good}"
    );
    assert!(cost.starts_with("A run takes"), "there is nothing to compare: {cost}");
    assert_eq!(learned, "In every series what lab gets is unprotected.");

    let alone = cell(vec![series("a", 0.1, 1.0, 1)], vec![]);
    let [good, _, learned] = code_and_output(vec![alone]);
    assert_eq!(
        good,
        "The best series, a, ends at simple regret 0.10 (one replication, so no error is known)."
    );
    assert_eq!(
        learned,
        "In the stored replications, nothing that depends on protected data was sent to anyone, apart from what is taken as public."
    );
}

#[test]
fn a_sweep_names_the_cell_and_the_range_of_gaps() {
    let mut cells = vec![at(1.0, private_and_free(0.3)), at(3.0, private_and_free(0.062))];
    cells[0].privacy[0].losses[0].epsilon = 1.0;
    let [good, _, learned] = code_and_output(cells);
    assert!(good.starts_with("The best private series, noisy at epsilon = 3.0 (epsilon at most 3.00 in one run, proven), ends within 0.012"), "{good}");
    assert!(
        good.contains(
            "Over 2 cells the gap between the best private series and the best without privacy goes from \
             0.012 to 0.25 (noisy at epsilon = 1.0)."
        ),
        "{good}"
    );
    assert!(
        learned.starts_with(
            "noisy at epsilon = 3.0: lab learns about a record of hospital in one run at most epsilon 3.00"
        ),
        "{learned}"
    );
}

#[test]
fn a_release_is_judged_by_the_setting_that_is_published() {
    let mut shown = private_and_free(0.0);
    for (series, value) in shown.series.iter_mut().zip([0.2, 0.1, 0.9]) {
        let name = "f(lambda*) - f(lambda~)".to_owned();
        series.outcomes.push(OutcomeRow { name, value: estimate(value, 20), bound: None });
    }
    let [good, ..] = code_and_output(vec![shown]);
    assert!(
        good.contains("ends within 0.10 of search without privacy: regret of the published setting 0.2000"),
        "{good}"
    );
}

#[test]
fn where_simple_regret_tells_nothing_cumulative_regret_does() {
    let mut shown = private_and_free(0.0);
    shown.series.iter_mut().for_each(|series| series.metrics.simple_regret = Some(estimate(0.0, 20)));
    let [good, ..] = code_and_output(vec![shown]);
    assert!(good.contains("ends within 4.0 of search without privacy: cumulative regret 9.0000"), "{good}");
}

#[test]
fn failed_and_early_replications_are_told() {
    let mut all = summary(vec![private_and_free(0.06)]);
    all.complete = false;
    all.cells[0].series[0].ended_early = 3;
    let [good, ..] = told_of(&all);
    assert!(good.contains("Some replications failed"), "{good}");
    assert!(good.ends_with("3 of 60 runs ended early and are left out of final regrets."), "{good}");
    // Nothing reached its end, or finished at all.
    for series in &mut all.cells[0].series {
        series.ended_early = 20;
        (series.metrics.simple_regret, series.metrics.cumulative_regret) = (None, None);
    }
    assert!(told_of(&all)[0].starts_with("No replication reached its last round"));
    let [good, cost, learned] = code_and_output(vec![cell(Vec::new(), Vec::new())]);
    assert_eq!(good, "No replication finished.");
    assert_eq!(cost, "No replication finished, so no cost is known.");
    assert_eq!(
        learned,
        "In the stored replications, nothing that depends on protected data was sent to anyone, apart from what is taken as public."
    );
    let [good, ..] = code_and_output(Vec::new());
    assert_eq!(good, "No replication finished.");
}

#[test]
fn a_protocol_that_optimises_nothing_has_no_regret() {
    let mut echo = series("echo", 0.0, 0.0, 5);
    (echo.metrics.simple_regret, echo.metrics.cumulative_regret) = (None, None);
    echo.curve.clear();
    let [good, ..] = code_and_output(vec![cell(vec![echo], Vec::new())]);
    assert_eq!(good, "This protocol optimises nothing: there is no regret.");
}

/// A trusted server gets everything in every series: series differ in what the others learn.
#[test]
fn what_no_series_protects_is_told_apart() {
    let mut shown = private_and_free(0.062);
    shown.privacy.retain(|row| row.series == "noisy");
    let mut server = learned("noisy", vec![loss(f64::INFINITY, LossBasis::Unprotected)]);
    server.observer = "server".to_owned();
    shown.privacy.push(server);
    let [good, _, told] = code_and_output(vec![shown]);
    assert!(
        good.starts_with(
            "The best private series, noisy (epsilon at most 3.00 in one run, proven), is worse than a series that releases nothing \
             by 0.012: "
        ),
        "{good}"
    );
    assert_eq!(
        told,
        "noisy: lab learns about a record of hospital in one run at most epsilon 3.00 (proven, delta 1e-3). Where anything is \
         sent, what server gets is unprotected."
    );
}

/// Random play is no search, whatever it sends.
#[test]
fn the_reference_without_privacy_is_a_search() {
    let mut shown = private_and_free(0.062);
    // The better of the two without privacy happened to be random.
    shown.series[2].metrics.simple_regret = Some(estimate(0.01, 20));
    let [good, ..] = code_and_output(vec![shown.clone()]);
    assert!(
        good.contains("ends within 0.012 of search without privacy") && good.contains("open 0.0500"),
        "{good}"
    );
    shown.series.remove(1);
    shown.privacy.remove(1);
    let [good, ..] = code_and_output(vec![shown]);
    assert!(good.contains("is worse than random search by 0.052: simple regret"), "{good}");
}

/// A huge, a conditional and a proven bound: the proven and moderate one is taken, though another has less regret.
#[test]
fn a_bound_that_protects_nothing_is_not_the_best_private_series() {
    let with = |epsilon: f64, basis: LossBasis, proven: bool| {
        let mut shown = private_and_free(0.2);
        shown.series.push(series("loose", 0.06, 6.0, 20));
        shown.privacy.push(learned("loose", vec![loss(epsilon, basis)]));
        if !proven {
            shown.series.remove(0);
            shown.privacy.remove(0);
        }
        let [good, ..] = code_and_output(vec![shown]);
        good
    };
    for (epsilon, basis) in [(5000.0, LossBasis::Proven), (1.0, LossBasis::Conditional)] {
        let good = with(epsilon, basis, true);
        assert!(good.starts_with("The best private series, noisy (epsilon at most 3.00"), "{good}");
        let good = with(epsilon, basis, false);
        let words = format!(
            "loose (epsilon at most {} in one run, {basis})",
            if epsilon > 1.0 { "5000" } else { "1.00" }
        );
        assert!(
            good.starts_with("No private series has a proven epsilon of at most 100.")
                && good.contains(&words),
            "{good}"
        );
    }
    assert!(
        with(2.0, LossBasis::Proven, true)
            .starts_with("The best private series, loose (epsilon at most 2.00")
    );
}

/// The larger bound is the worse one, also where the smaller exceeds its claim; the factor is told nevertheless.
#[test]
fn a_larger_epsilon_is_worse_than_an_exceeded_claim() {
    let mut tight = loss(2.0, LossBasis::Proven);
    tight.times_claim = Some(4.0);
    let rows = vec![
        learned("claims", vec![claimed(0.5), tight]),
        learned("loose", vec![loss(9.0, LossBasis::Proven)]),
    ];
    let all = vec![series("claims", 0.3, 1.0, 9), series("loose", 0.2, 1.0, 9)];
    let [_, _, told] = code_and_output(vec![cell(all, rows)]);
    assert!(
        told.starts_with("loose: lab learns about a record of hospital in one run at most epsilon 9.00"),
        "{told}"
    );
    let words = "claims claims less than lab may learn about a record of hospital: epsilon 2.00 is 4.0 times the claim.";
    assert!(told.contains(words), "{told}");
}

fn study(series: &str, runs: u64, epsilon: f64, basis: LossBasis, note: &str) -> StudyPrivacy {
    StudyPrivacy {
        series: series.to_owned(),
        all_series: series == "all series",
        person: false,
        protected: "hospital".to_owned(),
        unit: ProtectedUnit::Record,
        observer: "lab".to_owned(),
        neighbours: Neighbours::ReplaceOne,
        runs,
        releases: runs,
        epsilon_tight: epsilon,
        epsilon_rdp: epsilon,
        epsilon_basic: epsilon,
        delta: 1e-3,
        basis,
        arithmetic: None,
        note: note.to_owned(),
    }
}

#[test]
fn the_cards_know_all_runs_together() {
    let mut all = summary(vec![private_and_free(0.062)]);
    all.whole_study.push(study("noisy", 20, 60.0, LossBasis::Conditional, "holds only if so"));
    let [.., learned] = told_of(&all);
    assert!(
        learned.contains("at most epsilon 3.00 (proven, delta 1e-3; 60.0 over all 20 runs, conditional)."),
        "{learned}"
    );
    all.whole_study[0].epsilon_tight = f64::INFINITY;
    assert!(told_of(&all)[2].contains("delta 1e-3; nothing finite over all 20 runs)"));
}

/// Two, three and more observers; series that send nothing; series that are open in some cells only.
#[test]
fn what_is_unprotected_is_said_of_whom_it_holds() {
    let open = |series: &str, observer: &str| {
        let mut row = learned(series, vec![loss(f64::INFINITY, LossBasis::Unprotected)]);
        observer.clone_into(&mut row.observer);
        row
    };
    let two = || vec![series("a", 0.1, 1.0, 9), series("b", 0.3, 2.0, 9)];
    let said = |rows: Vec<PrivacyRow>| code_and_output(vec![cell(two(), rows)])[2].clone();
    assert_eq!(
        said(vec![open("a", "lab"), open("b", "lab")]),
        "In every series what lab gets is unprotected."
    );
    assert_eq!(
        said(vec![open("a", "lab"), open("a", "press")]),
        "In a what lab and press get is unprotected."
    );
    let three = ["lab", "press", "isp"].map(|observer| open("a", observer)).to_vec();
    assert_eq!(said(three), "In a what lab and 2 others get is unprotected.");
    let cells = vec![
        at(1.0, cell(two(), vec![open("a", "lab"), open("b", "lab")])),
        at(3.0, cell(two(), vec![open("a", "lab")])),
    ];
    assert_eq!(code_and_output(cells)[2], "In a and b (at epsilon = 1.0) what lab gets is unprotected.");
}

/// The text of a terminal in one line.
fn short(summary: &Summary) -> String {
    let text = text(summary, Terminal { width: 150, ..Terminal::default() });
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Conditions begin their notes, are told apart however late they differ, and are whole, or say what is otherwise than in
/// another.
#[test]
fn the_short_report_cuts_no_condition_and_counts_runs() {
    let long =
        format!("holds only with the assumption that {}", "the records are drawn alike and ".repeat(8));
    let mut rows = Vec::new();
    for (name, end) in [("one", "without outliers"), ("two", "without gaps")] {
        let mut found = loss(2.0, LossBasis::Conditional);
        found.note = format!("epsilon holds for mechanisms fixed in advance; {long}{end}");
        rows.push(learned(name, vec![found]));
    }
    let all = vec![series("one", 0.1, 1.0, 9), series("two", 0.2, 1.0, 9)];
    let mut all = summary(vec![cell(all, rows)]);
    all.whole_study.push(study(
        "one",
        9,
        20.0,
        LossBasis::Conditional,
        &format!("{long}without outliers; holds only if so"),
    ));
    all.whole_study.push(study("all series", 18, 40.0, LossBasis::Conditional, "holds only if so"));
    let shown = short(&all);
    for words in [
        &format!("[1] {long}without outliers"),
        "[3] as [1], but with \"and without gaps\"",
        "conditional: 2.00 [1]",
        "(20.0) [1] [",
        "all runs: 9 (one series), 18 (all series)",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    assert!(!shown.contains("(--accountants)") && !shown.contains("all 18 runs"), "{shown}");
    all.whole_study.pop();
    assert!(short(&all).contains("all 9 runs"));
}

/// One delta stands in the title, several in a column.
#[test]
fn the_short_report_says_the_delta_of_each_statement() {
    let rows = vec![
        learned("one", vec![loss(2.0, LossBasis::Proven)]),
        learned("two", vec![loss(3.0, LossBasis::Proven)]),
    ];
    let mut all = summary(vec![cell(vec![series("one", 0.1, 1.0, 9), series("two", 0.2, 1.0, 9)], rows)]);
    assert!(short(&all).contains("about a record of hospital, at delta 1e-3"));
    all.cells[0].privacy[1].losses[0].delta = 1e-6;
    let shown = short(&all);
    assert!(shown.contains("about a record of hospital series proven at delta verdict"), "{shown}");
    assert!(shown.contains("one 2.00 1e-3 proven [1] two 3.00 1e-6 proven [1]"), "{shown}");
}

/// The loss of series "one" to the lab about a person with a row and an outcome.
fn person(basis: LossBasis, note: &str) -> PersonLoss {
    PersonLoss {
        series: "one".to_owned(),
        protected: "hospital".to_owned(),
        observer: "lab".to_owned(),
        epsilon_row: 1.0,
        epsilon_outcome: 2.0,
        epsilon: 3.0,
        delta: 2e-3,
        basis,
        arithmetic: None,
        note: note.to_owned(),
    }
}

/// The sum of a person is told where it is finite, whatever it rests on.
#[test]
fn the_short_report_has_the_conditional_sum_of_a_person() {
    let mut outcome = learned("one", vec![loss(2.0, LossBasis::Conditional)]);
    outcome.unit = ProtectedUnit::Outcome;
    let rows = vec![learned("one", vec![loss(1.0, LossBasis::Conditional)]), outcome];
    let mut shown = cell(vec![series("one", 0.1, 1.0, 9)], rows);
    shown.persons.push(person(LossBasis::Conditional, "the reason"));
    let text = short(&summary(vec![shown]));
    assert!(
        text.contains("record conditional: 1.00 [1], outcome conditional: 2.00 [1], together 3.00"),
        "{text}"
    );
}

/// The sum of a person stands behind the losses to the observer who receives both, not behind those to the next observer.
#[test]
fn the_sum_of_a_person_is_told_of_its_own_observer() {
    let to = |observer: &str, mut row: PrivacyRow| {
        row.observer = observer.to_owned();
        row
    };
    let row = |series: &str, epsilon: f64| learned(series, vec![loss(epsilon, LossBasis::Proven)]);
    let mut outcome = row("one", 2.0);
    outcome.unit = ProtectedUnit::Outcome;
    let rows = vec![
        row("one", 1.0),
        outcome,
        to("press", row("one", 0.5)),
        row("worse", 6.0),
        to("press", row("worse", 6.0)),
    ];
    let mut shown = cell(vec![series("one", 0.1, 1.0, 9), series("worse", 0.3, 3.0, 9)], rows);
    shown.persons.push(person(LossBasis::Proven, ""));
    let text = told_of(&summary(vec![shown])).join(" ");
    let place = |words: &str| text.find(words).unwrap_or_else(|| panic!("{words}: {text}"));
    let (record, person) =
        (place("one: lab"), place("about a person whose row and outcome both change, at most 3.00"));
    assert!(record < person && person < place("; press"), "{text}");
}
