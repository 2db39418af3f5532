//! Personalised privacy against what really happens: each user's and each agent's loss is attacked at her own epsilon, and a
//! claim that is another's falls.

use crate::support::{code_and_output, metric, run, subrosa};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use subrosa::accounting::{Accountant, Composition, Tight};
use subrosa::audit::{
    AuditError, Effort, Evidence, Experiment, Finding, NeighbourSide, Statement, Transcript, Verdict, measure,
};
use subrosa::privacy::mechanisms::reports::Ctl;
use subrosa::privacy::mechanisms::{AgentRates, FederatedSum, Mechanism, Participation, ReceivedVectors};
use subrosa::rng::Key;
use subrosa::vocab::{Cost, Delta, Epsilon, Positive, Probability};
use tempfile::TempDir;

fn written(folder: &TempDir, text: &str) -> PathBuf {
    let place = folder.path().join("personal.ron");
    fs::write(&place, text).unwrap();
    place
}

const USERS: &str = r#"Scenario(
    name: "personal", seed: 3, replications: 1,
    parties: { "service": Party(), "users": Party() },
    network: Network(topology: Mesh()),
    objective: RkhsSum(points: 20, noise: Uniform(bound: 1)),
    privacy: Privacy(delta: 1e-6),
    protocol: Local(service: "service", users: "users", rounds: 50,
        cohorts: [Cohort(name: "careful"), Cohort(name: "open", heterogeneity: 0.5)],
        series: [Series(name: "x", report: Ctl(epsilon: 1), learner: Random(),
            epsilons: ByGroup({"careful": 0.5, "open": 4}))]),
)"#;

const AGENTS: &str = r#"Scenario(
    name: "personal", seed: 3, replications: 1,
    parties: { "server": Party(), "agent": Party(count: 12) },
    network: Network(topology: Mesh()),
    objective: GpSample(grid: [20], max_norm: 1, length_scale: 0.2, noise_variance: 0.01),
    privacy: Privacy(delta: 1e-3),
    protocol: Federated(server: "server", groups: [AgentGroup(members: "agent")], rounds: 8, initial_points: 2, features: 6,
        series: [Series(name: "x", sharing: Aggregate(clip: 1, noise_multiplier: 1, participation: Poisson(0.4),
            weights: Uniform(), PERSONAL))]),
)"#;
const LEVELS: &str = "personal: PersonalSampling(epsilons: Given([0.5, 2, 50]), delta: 1e-3)";

fn findings(text: &str, more: &[&str]) -> Vec<Value> {
    let folder = TempDir::new().unwrap();
    let place = written(&folder, text);
    let mut all = vec!["audit", place.to_str().unwrap(), "--format", "json"];
    all.extend(more);
    let (code, out, errors) = code_and_output(&subrosa(&all));
    assert_eq!(code, 0, "{errors}");
    let document: Value = serde_json::from_str(&out).unwrap();
    document["findings"].as_array().unwrap().clone()
}

/// Every kind of user is attacked at her own epsilon: both claims stand, and what is shown against the user with epsilon 4
/// is more than the user with epsilon 0.5 may lose.
#[test]
fn users_are_attacked_at_their_own_epsilon() {
    let found = findings(USERS, &["--trials", "20000"]);
    let of = |whose: &str| {
        let about = |finding: &&Value| finding["about"].as_str().unwrap().contains(whose);
        let finding = found.iter().find(about).unwrap_or_else(|| panic!("nobody is {whose}: {found:?}"));
        assert_eq!(finding["verdict"], "consistent", "{finding}");
        (finding["proven"][0].as_f64().unwrap(), finding["evidence"]["epsilon_lower"].as_f64().unwrap())
    };
    let (careful, open) = (of("cohort careful, epsilon 0.5"), of("cohort open, epsilon 4"));
    assert!((careful.0 - 0.5).abs() < 1e-6 && (open.0 - 4.0).abs() < 1e-6, "{careful:?} {open:?}");
    assert!(careful.1 > 0.3 && careful.1 <= 0.5 && open.1 > 2.0 && open.1 <= 4.0, "{careful:?} {open:?}");
    // Without clipping the published claim is false for every user.
    let unclipped = USERS.replace("Ctl(epsilon: 1)", "Ctl(epsilon: 1, clip: false, bound: 0.2)");
    let found = findings(&unclipped, &["--trials", "20000"]);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.iter().all(|finding| finding["verdict"] == "refuted"), "{found:?}");
}

/// Two rewards of one user, and her report of each.
struct Report(Ctl);

impl Experiment for Report {
    fn tests(&self) -> Vec<String> {
        vec!["report".to_owned()]
    }

    fn trial(&self, world: NeighbourSide, key: Key) -> Result<Transcript, AuditError> {
        let reward = if world == NeighbourSide::Given { 10.0 } else { -10.0 };
        let report = self.0.privatise(&reward, &mut key.stream()).map_err(AuditError::from)?;
        Ok(Transcript::rounded(vec![report]))
    }
}

/// All sums of a run, on data with and without the vector of one agent; the others' vectors are zero.
struct Sums {
    sum: FederatedSum,
    agent: usize,
    rounds: u64,
}

impl Sums {
    fn inputs(&self, with: bool) -> ReceivedVectors {
        let vector = |agent: usize| vec![if agent == self.agent && with { 1.0 } else { 0.0 }];
        ReceivedVectors {
            population: 4,
            vectors: (0..4).map(|agent| (agent, Arc::new(vector(agent)))).collect(),
            weights: Arc::new(vec![vec![0.25; 4]]),
            late_sampling_draw: Vec::new(),
            length: 1,
            discounts: Vec::new(),
        }
    }
}

impl Experiment for Sums {
    fn tests(&self) -> Vec<String> {
        vec!["likelihood ratio".to_owned()]
    }

    fn trial(&self, world: NeighbourSide, key: Key) -> Result<Transcript, AuditError> {
        let inputs = [self.inputs(true), self.inputs(false)];
        let told = self.sum.distinguisher([&inputs[0], &inputs[1]])?;
        let mut score = 0.0;
        for round in 0..self.rounds {
            let input = &inputs[usize::from(world != NeighbourSide::Given)];
            score += told.log_ratio(&self.sum.privatise(input, &mut key.index(round).stream())?);
        }
        Ok(Transcript::rounded(vec![score]))
    }
}

fn evidence(experiment: &dyn Experiment, delta: f64) -> Evidence {
    let effort = Effort { trials: 40_000, key: Key::root(5).child("audit"), delta, models: false };
    measure(experiment, effort, &|_| {}).unwrap()
}

fn verdict(evidence: &Evidence, epsilon: f64, delta: f64) -> Verdict {
    let statement = Statement {
        name: "x".to_owned(),
        about: String::new(),
        neighbours: String::new(),
        observer: String::new(),
        delta,
        claim: Some((epsilon, "the level of somebody".to_owned())),
        proven: None,
        disjoint: None,
        broken: false,
    };
    Finding::new(statement, evidence.clone()).verdict
}

/// The neighbours of the proof: one user's reward, and nothing else. Her own epsilon stands; a smaller one, which is that of
/// other users, is refuted.
#[test]
fn the_epsilon_of_another_user_is_refuted() {
    let bound = Positive::new(1.0).unwrap();
    let report = |epsilon: f64| Report(Ctl::new(Epsilon::new(epsilon).unwrap(), bound, true).unwrap());
    let (careful, open) = (evidence(&report(0.5), 0.0), evidence(&report(4.0), 0.0));
    assert_eq!(verdict(&careful, 0.5, 0.0), Verdict::Consistent);
    assert_eq!(verdict(&open, 4.0, 0.0), Verdict::Consistent);
    assert_eq!(verdict(&open, 0.5, 0.0), Verdict::Refuted);
}

/// The neighbours of the proof: all vectors, with that of one agent set to zero. Agents at rates 0.05 and 0.4 in the same
/// sums: each one's own cost stands, and the cost of the rare agent is refuted for the other.
#[test]
fn the_rate_of_another_agent_is_refuted() {
    let (rounds, delta) = (8, 1e-3);
    let participation = Participation::Poisson(Probability::new(0.4).unwrap());
    let rates = AgentRates::new(vec![0.05, 0.4, 0.3, 0.4]);
    let planned = FederatedSum::planned(participation, Some(Positive::new(1.0).unwrap()), 1.0);
    let sum = FederatedSum { rates: Some(rates.clone()), ..planned };
    let proven = |agent: usize| {
        let sum = FederatedSum { rates: Some(rates.priced_at(rates.of(agent))), ..sum.clone() };
        let sums = Sums { sum, agent, rounds };
        let cost = sums.sum.cost(&sums.inputs(true));
        assert_eq!(cost, Cost::PoissonGaussian { rate: rates.of(agent), noise_multiplier: 1.0 });
        let mut composition = Composition::new();
        composition.add(&cost, rounds);
        Tight.price(&composition, Delta::new(delta).unwrap()).epsilon
    };
    let found = |agent: usize| evidence(&Sums { sum: sum.clone(), agent, rounds }, delta);
    let (rare, often) = (found(0), found(1));
    assert_eq!(verdict(&rare, proven(0), delta), Verdict::Consistent, "{rare:?}");
    assert_eq!(verdict(&often, proven(1), delta), Verdict::Consistent, "{often:?}");
    assert_eq!(verdict(&often, proven(0), delta), Verdict::Refuted, "{often:?} {}", proven(0));
    assert!(rare.epsilon_lower < 0.5 * often.epsilon_lower, "{rare:?} {often:?}");
    // The cost without a stated level is that of the largest rate.
    assert_eq!(
        sum.cost(&Sums { sum: sum.clone(), agent: 0, rounds }.inputs(true)),
        Cost::PoissonGaussian { rate: 0.4, noise_multiplier: 1.0 }
    );
}

/// A federation's report has one row per level: at most the level's epsilon, nearly all of it unless even full sampling
/// costs less.
#[test]
fn each_agents_loss_is_at_most_its_own_epsilon() {
    let played = |personal: &str| {
        let folder = TempDir::new().unwrap();
        let place = written(&folder, &AGENTS.replace("PERSONAL", personal));
        run(place.to_str().unwrap(), &folder.path().join("out"), &[])
    };
    let document = played(LEVELS);
    let tight = |document: &Value| -> Vec<(String, f64, String)> {
        let rows = document["cells"][0]["privacy"].as_array().unwrap().iter();
        let rows = rows.filter(|row| row["observer"] == "every agent");
        rows.map(|row| {
            let losses = row["losses"].as_array().unwrap();
            let tight = losses.iter().find(|loss| loss["accountant"] == "tight").unwrap();
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            (text(&row["protected"]), tight["epsilon"].as_f64().unwrap(), text(&tight["basis"]))
        })
        .collect()
    };
    let mut found = tight(&document);
    found.sort_by(|a, b| a.0.cmp(&b.0));
    let names: Vec<&str> = found.iter().map(|row| row.0.as_str()).collect();
    assert_eq!(names, ["agents, epsilon 0.5", "agents, epsilon 2", "agents, epsilon 50"]);
    assert!(found.iter().all(|row| row.2 == "proven"), "{found:?}");
    assert!(found[0].1 <= 0.5 * (1.0 + 1e-9) && found[0].1 > 0.49, "{found:?}");
    assert!(found[1].1 <= 2.0 * (1.0 + 1e-9) && found[1].1 > 1.98, "{found:?}");
    let plain = played("late: Discard");
    assert!((found[2].1 - tight(&plain)[0].1).abs() < 1e-9 && found[2].1 < 50.0, "full sampling costs less");
    let public = document["cells"][0]["series"][0]["public"].as_array().unwrap();
    let told = |fact: &Value| fact["what"].as_str().unwrap().starts_with("the epsilon of each agent");
    assert!(public.iter().any(told), "{public:?}");
    // Agents that allow everything are sampled as without epsilons of their own: the same regrets; others are not.
    let generous =
        "personal: PersonalSampling(epsilons: Drawn([Level(epsilon: 50), Level(epsilon: 90)]), delta: 1e-3)";
    let regret = |document: &Value| metric(document, 0, "x", "cumulative_regret");
    assert_eq!(regret(&played(generous)), regret(&plain));
    assert_ne!(regret(&document), regret(&plain));
    // A budget binds by the agents with the largest epsilon.
    let ended = |epsilons: &str| {
        let folder = TempDir::new().unwrap();
        let personal = format!("personal: PersonalSampling(epsilons: Given({epsilons}), delta: 1e-3)");
        let budget = "delta: 1e-3, budget: Budget(epsilon: 1, delta: 1e-3)";
        let text = AGENTS
            .replace("PERSONAL", &personal)
            .replace("delta: 1e-3),\n    protocol", &format!("{budget}),\n    protocol"));
        let place = written(&folder, &text);
        let document = run(place.to_str().unwrap(), &folder.path().join("out"), &[]);
        document["cells"][0]["series"][0]["budget_reached"].as_u64().unwrap_or(0)
    };
    assert_eq!((ended("[0.3, 0.9]"), ended("[0.3, 2]")), (0, 1));
}

/// The auditor attacks an agent of each level, at the cost of that level.
#[test]
fn agents_of_each_level_are_attacked() {
    let found = findings(&AGENTS.replace("PERSONAL", LEVELS), &["--trials", "20000"]);
    let found = &found[0];
    assert_eq!(found["verdict"], "consistent", "{found}");
    let at = |agent: &str, more: &str| {
        let found = findings(&AGENTS.replace("PERSONAL", more), &["--trials", "20000", "--neighbour", agent]);
        (found[0]["proven"][0].as_f64().unwrap(), found[0]["evidence"]["epsilon_lower"].as_f64().unwrap())
    };
    let (rare, often) = (at("0", LEVELS), at("2", LEVELS));
    assert!(rare.0 <= 0.5 + 1e-9 && rare.1 <= 0.5 && often.0 > 3.0 && often.1 > 1.0, "{rare:?} {often:?}");
}

/// What epsilons of agents' own cannot be combined with is refused, with its place.
#[test]
fn what_would_tell_more_is_refused() {
    let told = |personal: &str, text: &str| {
        let folder = TempDir::new().unwrap();
        let place = written(&folder, &text.replace("PERSONAL", personal));
        let (code, _, errors) = code_and_output(&subrosa(&["check", place.to_str().unwrap()]));
        assert_eq!(code, 3, "{errors}");
        errors
    };
    for more in [
        "divisor: Arrived",
        "late: KeepLast",
        "visible_participation: true",
        "server: Masked(planned_dropout: 0)",
        "selection: Fastest(k: 3)",
    ] {
        assert!(told(&format!("{LEVELS}, {more}"), AGENTS).contains("together with `personal`"), "{more}");
    }
    let fixed = AGENTS.replace("Poisson(0.4)", "FixedSize(4)");
    assert!(told(LEVELS, &fixed).contains("together with `personal`"));
    let open = AGENTS.replace("clip: 1, noise_multiplier: 1, ", "");
    assert!(told(LEVELS, &open).contains("together with `personal`"));
    let silent = AGENTS.replace(
        "members: \"agent\"",
        "members: \"agent\", silence: Informative(by: Value, slope: 1, base_rate: 0.3, least: 0.1, most: 0.6)",
    );
    assert!(told(LEVELS, &silent).contains("no silence"));
    let by_group = "personal: PersonalSampling(epsilons: ByGroup({\"phone\": 1}), delta: 1e-3)";
    assert!(told(by_group, AGENTS).contains("phone"));
}
