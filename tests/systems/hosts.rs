//! Small scenarios, and where in them a member of each family, or a part, may be written.

use std::fs;
use std::path::Path;
use subrosa::objectives::Resources;
use subrosa::scenario::{Diagnostics, Document};

pub const ECHO: &str = r#"Scenario(
    name: "echo", seed: 1,
    parties: { "server": Party(group: "left"), "client": Party(group: "right"), "relay": Party(group: "left") },
    network: Network(topology: Mesh(), default: Link(latency: Constant("1ms"))),
    protocol: Echo(caller: "client", rounds: 3),
)"#;
pub const OUTSOURCED: &str = r#"Scenario(
    name: "outsourced", seed: 1,
    parties: { "curator": Party(), "modeler": Party() },
    network: Network(topology: Mesh(), default: Link(latency: Constant("1ms"))),
    objective: GpSample(grid: [5, 5], length_scale: 6.25, noise_variance: 0.01),
    protocol: Outsourced(curator: "curator", modeler: "modeler", rounds: 3, series: [
        Series(name: "open", release: Disclosure(), outcomes: Disclosure(), learner: GpUcb()),
    ]),
)"#;
pub const LOCAL: &str = r#"Scenario(
    name: "local", seed: 1,
    parties: { "service": Party(), "users": Party() },
    network: Network(topology: Mesh(), default: Link(latency: Constant("1ms"))),
    objective: RkhsSum(points: 20, noise: Uniform(bound: 1)),
    protocol: Local(service: "service", users: "users", rounds: 20, population: 10, series: [
        Series(name: "open", report: Disclosure(), learner: GpUcb()),
    ]),
)"#;
/// A search of a box.
const LOCAL_BOX: &str = r#"Scenario(
    name: "box", seed: 1,
    parties: { "service": Party(), "users": Party() },
    network: Network(topology: Mesh(), default: Link(latency: Constant("1ms"))),
    objective: TestFunction(function: Branin),
    protocol: Local(service: "service", users: "users", rounds: 20, series: [
        Series(name: "open", report: Disclosure(), learner: Acquisition()),
    ]),
)"#;
/// Users who come once.
const LOCAL_ONCE: &str = r#"Scenario(
    name: "once", seed: 1,
    parties: { "service": Party(), "users": Party() },
    network: Network(topology: Mesh(), default: Link(latency: Constant("1ms"))),
    objective: RkhsSum(points: 20, noise: Uniform(bound: 1)),
    protocol: Local(service: "service", users: "users", rounds: 20, series: [
        Series(name: "open", report: Disclosure(), learner: GpUcb()),
    ]),
)"#;
/// A party that only reads.
const LOCAL_PUBLIC: &str = r#"Scenario(
    name: "public", seed: 1,
    parties: { "service": Party(), "users": Party(), "public": Party() },
    network: Network(topology: Mesh(), default: Link(latency: Constant("1ms"))),
    objective: RkhsSum(points: 20, noise: Uniform(bound: 1)),
    protocol: Local(service: "service", users: "users", rounds: 20, population: 10, series: [
        Series(name: "open", report: Disclosure(), learner: GpUcb()),
    ]),
)"#;
pub const FEDERATED: &str = r#"Scenario(
    name: "federated", seed: 1,
    parties: { "server": Party(), "agent": Party(count: 4) },
    network: Network(topology: Mesh(), default: Link(latency: Constant("1ms"))),
    objective: GpSample(grid: [20], max_norm: 1, length_scale: 0.2, noise_variance: 0.01),
    protocol: Federated(
        server: "server", groups: [AgentGroup(members: "agent")], rounds: 3, initial_points: 2, features: 10,
        series: [Series(name: "open", sharing: Aggregate(weights: Uniform()), policy: Deadline(after: "3s"))],
    ),
)"#;
/// A federation whose agents differ in all that may depend on each other.
const UNLIKE: &str = r#"Scenario(
    name: "unlike", seed: 1,
    parties: { "server": Party(), "agent": Party(count: 4) },
    network: Network(topology: Mesh(), default: Link(latency: Constant("1ms"))),
    objective: GpSample(grid: [20], max_norm: 1, length_scale: 0.2, noise_variance: 0.01),
    protocol: Federated(
        server: "server", groups: [AgentGroup(members: "agent", heterogeneity: 0.3, differences: Differences(noise: LogNormal(0.5)))],
        rounds: 3, initial_points: 2, features: 10,
        series: [Series(name: "open", sharing: Aggregate(weights: Uniform()), policy: Deadline(after: "3s"))],
    ),
)"#;
/// A federation whose agents hold records of their own.
const DIVIDED: &str = r#"Scenario(
    name: "divided", seed: 1,
    parties: { "server": Party(), "agent": Party(count: 20) },
    network: Network(topology: Mesh(), default: Link(latency: Constant("1ms"))),
    objective: FederatedTuning(file: "activity.csv", split: [Split(agents: 20)], label: "side", inputs: ["ax_std", "ay_std"],
        model: RbfSvm(c: Axis(values: 2, low: 0.1, high: 1), gamma: Axis(values: 1, low: 0.1, high: 1)), prior_mean: 0.6,
        prior_sd: 0.2),
    protocol: Federated(
        server: "server", groups: [AgentGroup(members: "agent")], rounds: 3, initial_points: 2, features: 10,
        series: [Series(name: "open", sharing: Aggregate(weights: Uniform()), policy: Deadline(after: "3s"))],
    ),
)"#;
pub const RELEASE: &str = r#"Scenario(
    name: "release", seed: 1,
    parties: { "owner": Party(), "reader": Party() },
    network: Network(topology: Mesh(), default: Link(latency: Constant("1ms"))),
    objective: MultiTaskSample(grid: [16], max_norm: 1, length_scale: 0.3, correlation: 0.99, noise_variance: 0.01),
    protocol: Release(owner: "owner", readers: ["reader"], rounds: 4, series: [
        Series(name: "open", publication: NonPrivate(learner: GpUcb())),
    ]),
)"#;
/// Measured without noise.
const EXACT: &str = r#"Scenario(
    name: "release", seed: 1,
    parties: { "owner": Party(), "reader": Party() },
    network: Network(topology: Mesh()),
    objective: MultiTaskSample(grid: [16], max_norm: 1, length_scale: 0.3, correlation: 0.99, noise_variance: 0),
    protocol: Release(owner: "owner", readers: ["reader"], rounds: 4, series: [
        Series(name: "open", publication: NonPrivate(learner: GpUcb())),
    ]),
)"#;
/// Any scenario at all: the example is one.
const NOTHING: &str = "";
/// The file of `subrosa account`.
pub const ACCOUNT: &str = "account";

const SERIES: &str = "protocol.series[0]";

/// A scenario, a path in it, and what is written there: `{}` stands for the member.
pub type Slot = (&'static str, String, &'static str);

/// Every place in which a member of the family or part `kind` is tried; the last resort of a part's example is the scenario
/// whose system it belongs to.
pub fn slots(kind: &str) -> Vec<Slot> {
    let all = |hosts: &[&'static str], path: &str, wrapped: &'static str| -> Vec<Slot> {
        hosts.iter().map(|&host| (host, path.to_owned(), wrapped)).collect()
    };
    let systems: &[&'static str] = &[OUTSOURCED, LOCAL, FEDERATED, RELEASE];
    let everywhere: &[&'static str] = &[ECHO, OUTSOURCED, LOCAL, FEDERATED, RELEASE, EXACT];
    let aggregate = |wrapped: &'static str| all(&[FEDERATED], &format!("{SERIES}.sharing"), wrapped);
    let link = |wrapped: &'static str| all(everywhere, "network.default", wrapped);
    let objective = |host: &'static str, wrapped: &'static str| all(&[host], "objective", wrapped);
    let learner = |wrapped: &'static str| all(&[OUTSOURCED, LOCAL], &format!("{SERIES}.learner"), wrapped);
    let groups = |wrapped: &'static str| all(&[FEDERATED], "protocol.groups", wrapped);
    let published = |wrapped: &'static str| all(&[RELEASE, EXACT], &format!("{SERIES}.publication"), wrapped);
    match kind {
        "scenario" => all(&[NOTHING], "", "{}"),
        "account" => all(&[ACCOUNT], "", "{}"),
        "event" | "Event" => all(&[ACCOUNT], "", "Account(events: [{}])"),
        "network" => all(&[ECHO], "network", "{}"),
        "party" => all(&[ECHO], "parties.relay", "{}"),
        "link" => link("{}"),
        "bandwidth" => link("Link(bandwidth: {})"),
        "latency" => link("Link(latency: {})"),
        "loss" => link("Link(loss: {})"),
        "Order" => link("Link(order: {})"),
        "throughput" => [
            link("Link(bandwidth: Bandwidth(rate: {}))"),
            all(&[ECHO], "parties.relay", "Party(access: Access(up: {}))"),
        ]
        .concat(),
        "RateStep" => link("Link(bandwidth: Bandwidth(rate: RateSchedule(steps: [{}])))"),
        "LatencyStep" => link("Link(latency: Schedule(steps: [{}]))"),
        "LossStep" => link("Link(loss: Schedule(steps: [{}]))"),
        "EdgeDelay" => link("Link(latency: PathDelays(file: \"sites.graphml\", delay: {}))"),
        "MissingDelays" => {
            link("Link(latency: DelayTrace(file: \"ping.csv\", delay: \"rtt_ms\", missing: {}))")
        }
        "RecordedDevice" => {
            all(&[ECHO], "parties.relay", "Party(availability: FlashTrace(file: \"flash.json\", device: {}))")
        }
        "RecordingOffset" => {
            all(&[ECHO], "parties.relay", "Party(availability: FlashTrace(file: \"flash.json\", offset: {}))")
        }
        "RecordingEnd" => {
            all(&[ECHO], "parties.relay", "Party(availability: FlashTrace(file: \"flash.json\", end: {}))")
        }
        "FlashState" => all(
            &[ECHO],
            "parties.relay",
            "Party(availability: FlashTrace(file: \"flash.json\", needs: [{}]))",
        ),
        "Zone" => {
            all(&[ECHO], "parties.relay", "Party(availability: DayAndNight(from: 22, until: 7, zones: [{}]))")
        }
        "ChargingHours" => all(
            &[ECHO],
            "parties.relay",
            "Party(availability: Battery(charges: {}, least: 0.4, idle: \"30h\", busy: \"4h\", full: \"2h\"))",
        ),
        "access" => all(&[ECHO], "parties.relay", "Party(access: {})"),
        "availability" => all(&[ECHO], "parties.relay", "Party(availability: {})"),
        "compute" => all(&[ECHO], "parties.relay", "Party(compute: {})"),
        "Memory" => all(
            &[ECHO],
            "parties.relay",
            r#"Party(availability: Crashing(up: Exponential(mean: "10min"), down: Constant("5s"), memory: {}))"#,
        ),
        "topology" => all(&[ECHO], "network", "Network(topology: {})"),
        "outage" => all(&[ECHO], "network", "Network(topology: Mesh, outages: [{}])"),
        "LinkRule" => all(&[ECHO], "network", "Network(topology: Mesh, links: [{}])"),
        "Encryption" => all(everywhere, "network", "Network(topology: Mesh, encryption: {})"),
        "Privacy" => all(everywhere, "privacy", "{}"),
        "Budget" => all(systems, "privacy", "Privacy(budget: {})"),
        "ProtectedUnit" => {
            let hosts = [systems, &[LOCAL_ONCE]].concat();
            all(&hosts, "privacy", "Privacy(budget: Budget(epsilon: 9, delta: 1e-5, unit: {}))")
        }
        "BudgetAccountant" => {
            all(systems, "privacy", "Privacy(budget: Budget(epsilon: 9, delta: 1e-5, accountant: {}))")
        }
        "WhenSpent" => {
            all(systems, "privacy", "Privacy(budget: Budget(epsilon: 9, delta: 1e-5, when_spent: {}))")
        }
        "Published" => all(systems, "published", "[{}]"),
        "Metric" => all(
            systems,
            "published",
            r#"[Published(series: "open", metric: {}, value: 1, source: "Table 1")]"#,
        ),
        "PublishedLoss" => all(systems, "published_losses", "[{}]"),
        "Fork" => all(&[OUTSOURCED], "fork", "{}"),
        "ForkPoint" => all(
            &[OUTSOURCED],
            "fork",
            r#"Fork(at: {}, branches: { "lossy": ["network.default.loss=Independent(0.5)"] })"#,
        ),
        "objective" => all(&[systems, &[LOCAL_BOX]].concat(), "objective", "{}"),
        "noise" => objective(LOCAL, "RkhsSum(points: 20, noise: {})"),
        "Kernel" => objective(LOCAL, "RkhsSum(points: 20, kernel: {})"),
        "Part of Mixture" => [
            link("Link(latency: Mixture(parts: [{}]))"),
            objective(LOCAL, "RkhsSum(points: 20, noise: Mixture(parts: [{}]))"),
        ]
        .concat(),
        "Output" => [
            objective(OUTSOURCED, r#"Table(file: "sacramento.csv", inputs: ["sqft"], output: {})"#),
            objective(OUTSOURCED, r#"Table(file: "loans.csv", inputs: ["funded_amnt"], output: {})"#),
        ]
        .concat(),
        "Transform" => objective(
            OUTSOURCED,
            r#"Table(file: "sacramento.csv", inputs: ["sqft"], output: Column("price"), transform: {})"#,
        ),
        "Goal" => objective(
            OUTSOURCED,
            r#"Table(file: "sacramento.csv", inputs: ["sqft"], output: Column("price"), goal: {})"#,
        ),
        "PendingOutcome" => learner("Parallel(learner: GpUcb(), pending: {})"),
        "Missing" => objective(
            OUTSOURCED,
            r#"Table(file: "sacramento.csv", inputs: ["sqft"], output: Column("price"), missing: {})"#,
        ),
        "Formula" => objective(
            OUTSOURCED,
            r#"Table(file: "sacramento.csv", inputs: ["sqft", "x"], derived: { "x": {} }, output: Column("price"))"#,
        ),
        "OutputScale" => objective(
            OUTSOURCED,
            r#"Table(file: "sacramento.csv", inputs: ["sqft"], output: Column("price"), transform: Log, output_scale: {})"#,
        ),
        "InputScale" => objective(
            OUTSOURCED,
            r#"Table(file: "sacramento.csv", inputs: ["latitude", "longitude"], output: Column("price"), input_scale: {})"#,
        ),
        "Hyperparameters" => objective(
            OUTSOURCED,
            r#"Table(file: "sacramento.csv", inputs: ["sqft"], output: Column("price"), hyperparameters: {})"#,
        ),
        "LogNormalPrior" => objective(
            OUTSOURCED,
            r#"Table(file: "sacramento.csv", inputs: ["sqft"], output: Column("price"), hyperparameters: MaximumLikelihood(kernel: Matern32, variance_prior: {}))"#,
        ),
        "Label" => objective(
            RELEASE,
            r#"Tuning(file: "loans.csv", inputs: ["funded_amnt"], label: {}, training: LogisticRegression, loss: Ramp, lambda_min: 0.01, lambda_max: 1, settings: 3)"#,
        ),
        "Training" => objective(
            RELEASE,
            r#"Tuning(file: "loans.csv", inputs: ["funded_amnt"], label: Equals(column: "Class", value: "good"), training: {}, loss: Ramp, lambda_min: 0.01, lambda_max: 1, settings: 3)"#,
        ),
        "ValidationLoss" => objective(
            RELEASE,
            r#"Tuning(file: "loans.csv", inputs: ["funded_amnt"], label: Equals(column: "Class", value: "good"), training: LogisticRegression, loss: {}, lambda_min: 0.01, lambda_max: 1, settings: 3)"#,
        ),
        "HeldOut" => objective(
            FEDERATED,
            r#"FederatedTuning(file: "activity.csv", agent: ["subject", "side"], label: "activity", inputs: ["ax_std", "ay_std"], held_out: {}, model: LogisticRegression(lambda: Axis(values: 2, low: 0.1, high: 1), steps: Axis(values: 1, low: 2, high: 2), intercept: Axis(values: 1, low: 1, high: 1)), prior_mean: 0.6, prior_sd: 0.2)"#,
        ),
        "FederatedModel" => objective(
            FEDERATED,
            r#"FederatedTuning(file: "activity.csv", agent: ["subject"], label: "side", inputs: ["ax_std", "ay_std"], model: {}, prior_mean: 0.6, prior_sd: 0.2)"#,
        ),
        "Axis" => objective(
            FEDERATED,
            r#"FederatedTuning(file: "activity.csv", agent: ["subject"], label: "side", inputs: ["ax_std", "ay_std"], model: RbfSvm(c: {}, gamma: Axis(values: 2, low: 0.1, high: 1)), prior_mean: 0.6, prior_sd: 0.2)"#,
        ),
        "Score" => objective(
            FEDERATED,
            r#"FederatedTuning(file: "activity.csv", agent: ["subject"], label: "side", inputs: ["ax_std", "ay_std"], model: RbfSvm(c: Axis(values: 2, low: 0.1, high: 1), gamma: Axis(values: 2, low: 0.1, high: 1), score: {}), prior_mean: 0.6, prior_sd: 0.2)"#,
        ),
        "SettingAxis" => {
            objective(OUTSOURCED, r#"External(command: ["python3", "objective.py"], axes: [{}])"#)
        }
        "protocol" => all(everywhere, "protocol", "{}"),
        "Backoff" => all(&[OUTSOURCED], "protocol.retry", "Retry(backoff: {})"),
        "Retry" => all(&[OUTSOURCED, RELEASE], "protocol.retry", "{}"),
        "Series of Outsourced" => all(&[OUTSOURCED], "protocol.series", "[{}]"),
        "Series of Local" => all(&[LOCAL], "protocol.series", "[{}]"),
        "Series of Federated" => all(&[FEDERATED], "protocol.series", "[{}]"),
        "Series of Release" => all(&[RELEASE], "protocol.series", "[{}]"),
        "release" => [
            all(&[OUTSOURCED], &format!("{SERIES}.release"), "{}"),
            all(&[OUTSOURCED], "protocol.series", r#"[Series(name: "open", release: {}, learner: Random)]"#),
        ]
        .concat(),
        "outcomes" => all(&[OUTSOURCED], &format!("{SERIES}.outcomes"), "{}"),
        "JlVariant" => all(
            &[OUTSOURCED],
            &format!("{SERIES}.release"),
            "JohnsonLindenstrauss(epsilon: 3, delta: 1e-5, r: 2, variant: {})",
        ),
        "Range" => all(&[OUTSOURCED], &format!("{SERIES}.outcomes"), "ClippedLaplace(epsilon: 3, range: {})"),
        "NoiseArithmetic" => [
            all(
                &[OUTSOURCED],
                &format!("{SERIES}.outcomes"),
                "ClippedLaplace(epsilon: 3, range: Range(low: -3, high: 3), arithmetic: {})",
            ),
            aggregate("Aggregate(clip: 2, noise_multiplier: 1, weights: Uniform, arithmetic: {})"),
        ]
        .concat(),
        "AcquisitionFunction" => learner("Acquisition(function: {})"),
        "Refit" => learner("Acquisition(refit: {})"),
        "Function" => objective(LOCAL, "TestFunction(function: {}, points: Sobol(20))"),
        "Dimension" => objective(
            LOCAL_BOX,
            r#"TestFunction(function: Levy(dimensions: 2), dimensions: [{}, Real(name: "other", low: -10, high: 10)])"#,
        ),
        "DimensionScale" => objective(
            LOCAL_BOX,
            r#"TestFunction(function: Levy(dimensions: 1), dimensions: [Integer(name: "n", low: 1, high: 10, scale: {})])"#,
        ),
        "DomainPoints" => objective(LOCAL_BOX, "TestFunction(function: Branin, points: {})"),
        "learner" => learner("{}"),
        "BetaSchedule" => learner("GpUcb(beta: {})"),
        "Exploration" => learner("GpUcb(exploration: {})"),
        "Sampling" => learner("ThompsonSampling(sampling: {})"),
        "Payoffs" => [
            learner("MomaGpUcb(bound: 2, payoffs: {})"),
            all(
                &[LOCAL],
                "protocol.series",
                r#"[Series(name: "open", report: Ctl(epsilon: 1), learner: MomaGpUcb(payoffs: {}))]"#,
            ),
        ]
        .concat(),
        "Constants of AtaGpUcb" => {
            learner("AtaGpUcb(bound: 2, payoffs: HeavyTailed(central_moment: 2), constants: {})")
        }
        "Middle" => learner("MomaGpUcb(bound: 2, payoffs: HeavyTailed(central_moment: 2), middle: {})"),
        "popularity" => all(&[LOCAL], "protocol.popularity", "{}"),
        "arrivals" => all(&[LOCAL], "protocol.arrivals", "{}"),
        "NeverAnswer" => all(&[LOCAL], "protocol.never_answer", "{}"),
        "Together" => all(
            &[UNLIKE],
            "parties.agent",
            "Party(count: 4, compute: Heterogeneous(time: Constant(\"1s\"), sigma: 0.5), availability: BetaPerMessage(mean: 0.8, \
             concentration: 3), together: {})",
        ),
        "PartyQuantity" => {
            let of = |other: &'static str| all(&[UNLIKE], "parties.agent", other);
            [
                of("Party(count: 4, compute: Heterogeneous(time: Constant(\"1s\"), sigma: 0.5), together: Together(of: [{}, \
                    Heterogeneity], correlation: 0.5))"),
                of("Party(count: 4, availability: BetaPerMessage(mean: 0.8, concentration: 3), together: Together(of: [{}, \
                    Heterogeneity], correlation: 0.5))"),
                of("Party(count: 4, availability: BetaPerMessage(mean: 0.8, concentration: 3), together: Together(of: [{}, \
                    Availability], correlation: 0.5))"),
                all(
                    &[DIVIDED],
                    "parties.agent",
                    "Party(count: 20, availability: BetaPerMessage(mean: 0.8, concentration: 3), together: Together(of: [{}, \
                     Availability], correlation: 0.5))",
                ),
            ]
            .concat()
        }
        "Informative" => all(&[OUTSOURCED], "protocol.silence", "{}"),
        "SilenceBy" => all(
            &[OUTSOURCED],
            "protocol.silence",
            "Informative(by: {}, slope: 1, base_rate: 0.3, least: 0.1, most: 0.6)",
        ),
        "Report" => all(&[LOCAL], &format!("{SERIES}.report"), "{}"),
        "publication" => published("{}"),
        "Part of GpNoisy" => {
            published("GpNoisy(epsilon: 1, delta: 0.05, neighbour_correlation: 0.99, publish: {})")
        }
        "Constants of GpNoisy" => {
            published("GpNoisy(epsilon: 1, delta: 0.05, neighbour_correlation: 0.99, constants: {})")
        }
        "TaskFacts" => published("FixedGrid(epsilon: 1, assume: {})"),
        "Selection" => published(
            "FixedGrid(epsilon: 1, assume: TaskFacts(records: 1000, loss_range: 4, lipschitz: 1, lambda_min: 0.1, lambda_max: 1), selection: {})",
        ),
        "Repetitions" => published(
            "RandomRepetitions(epsilon: 1, assume: TaskFacts(records: 1000, loss_range: 4, lipschitz: 1, lambda_min: 0.1, lambda_max: 1), noise: Gaussian(delta: 1e-6), repetitions: {})",
        ),
        "TrialOrder" => published(
            "AboveThreshold(epsilon: 1, threshold: 0, assume: TaskFacts(records: 1000, loss_range: 4, lipschitz: 1, lambda_min: 0.1, lambda_max: 1), order: {})",
        ),
        "OutcomeNoise" => published(
            "RandomRepetitions(epsilon: 1, assume: TaskFacts(records: 1000, loss_range: 4, lipschitz: 1, lambda_min: 0.1, lambda_max: 1), noise: {})",
        ),
        "Cohort" => all(&[LOCAL], "protocol.cohorts", "[{}]"),
        "PersonalEpsilons" => all(
            &[LOCAL],
            "protocol",
            r#"Local(service: "service", users: "users", rounds: 20, cohorts: [Cohort(name: "phone"), Cohort(name: "tablet")], series: [Series(name: "own", report: Ctl(epsilon: 1), learner: Random(), epsilons: {})])"#,
        ),
        "PersonalSampling" => {
            aggregate("Aggregate(clip: 2, noise_multiplier: 1, weights: Uniform, personal: {})")
        }
        "Level" => all(
            &[LOCAL],
            "protocol.series",
            r#"[Series(name: "own", report: Ctl(epsilon: 1), learner: Random(), epsilons: Drawn([{}]))]"#,
        ),
        "AgentGroup" => all(&[FEDERATED], "protocol.groups", "[{}]"),
        "Differences" => groups(r#"[AgentGroup(members: "agent", differences: {})]"#),
        "Shift" => groups(r#"[AgentGroup(members: "agent", differences: Differences(shift: {}))]"#),
        "Factors" => groups(r#"[AgentGroup(members: "agent", differences: Differences(scale: {}))]"#),
        "Clusters" => groups(r#"[AgentGroup(members: "agent", differences: Differences(clusters: {}))]"#),
        "Drift" => groups(r#"[AgentGroup(members: "agent", differences: Differences(drift: {}))]"#),
        "Domain" => groups(r#"[AgentGroup(members: "agent", differences: Differences(domain: {}))]"#),
        "Split" => objective(
            DIVIDED,
            r#"FederatedTuning(file: "activity.csv", split: [{}], label: "side", inputs: ["ax_std", "ay_std"], model: RbfSvm(c: Axis(values: 2, low: 0.1, high: 1), gamma: Axis(values: 1, low: 0.1, high: 1)), prior_mean: 0.6, prior_sd: 0.2)"#,
        ),
        "Labels" => objective(
            DIVIDED,
            r#"FederatedTuning(file: "activity.csv", split: [Split(agents: 20, labels: {})], label: "side", inputs: ["ax_std", "ay_std"], model: RbfSvm(c: Axis(values: 2, low: 0.1, high: 1), gamma: Axis(values: 1, low: 0.1, high: 1)), prior_mean: 0.6, prior_sd: 0.2)"#,
        ),
        "Sizes" => objective(
            DIVIDED,
            r#"FederatedTuning(file: "activity.csv", split: [Split(agents: 20, sizes: {})], label: "side", inputs: ["ax_std", "ay_std"], model: RbfSvm(c: Axis(values: 2, low: 0.1, high: 1), gamma: Axis(values: 1, low: 0.1, high: 1)), prior_mean: 0.6, prior_sd: 0.2)"#,
        ),
        "FeatureShift" => objective(
            DIVIDED,
            r#"FederatedTuning(file: "activity.csv", split: [Split(agents: 20, features: {})], label: "side", inputs: ["ax_std", "ay_std"], model: RbfSvm(c: Axis(values: 2, low: 0.1, high: 1), gamma: Axis(values: 1, low: 0.1, high: 1)), prior_mean: 0.6, prior_sd: 0.2)"#,
        ),
        "WeightOutcomes" => all(&[FEDERATED], "protocol.weight_outcomes", "{}"),
        "Repeated" => all(&[FEDERATED], "protocol.repeated", "{}"),
        "OwnHyperparameters" => all(&[FEDERATED], "protocol.own_hyperparameters", "{}"),
        "Width" => all(&[FEDERATED], "protocol.width", "{}"),
        "RegretTerms" => all(&[FEDERATED], "protocol.regret_terms", "{}"),
        "Sharing" => aggregate("{}"),
        "InitialPoints" => aggregate("Aggregate(regions: 2, initial: {})"),
        "Participation" => {
            aggregate("Aggregate(clip: 2, noise_multiplier: 1, weights: Uniform, participation: {})")
        }
        "WeightSchedule" => aggregate("Aggregate(regions: 2, weights: {})"),
        "AdaptiveClip" => aggregate("Aggregate(clip: 2, adaptive_clip: {})"),
        "SelectionModel" => aggregate("Aggregate(weights: Uniform, selection: {})"),
        "LossReports" => aggregate(
            "Aggregate(weights: Uniform, selection: PowerOfChoice(candidates: 3, k: 2), loss_reports: {})",
        ),
        "Importance" => aggregate("Aggregate(weights: Uniform, importance: {})"),
        "AnswerChance" => aggregate("Aggregate(weights: Uniform, importance: Importance(answers: {}))"),
        "StalenessDiscount" => aggregate("Aggregate(weights: Uniform, late: KeepLast, staleness: {})"),
        "RunningMean" => all(&[LOCAL_PUBLIC], &format!("{SERIES}.running_mean"), "{}"),
        "SumEstimate" => all(
            &[LOCAL_PUBLIC],
            &format!("{SERIES}.running_mean"),
            r#"RunningMean(readers: ["public"], range: Range(low: -3, high: 3), epsilon: 1, delta: 1e-6, estimate: {})"#,
        ),
        "Overlap" => aggregate("Aggregate(weights: Uniform, overlap: {})"),
        "Divisor" => aggregate("Aggregate(weights: Uniform, divisor: {})"),
        "Late" => aggregate("Aggregate(weights: Uniform, late: {})"),
        "SensitivityRule" => {
            aggregate("Aggregate(regions: 2, clip: 2, noise_multiplier: 1, sensitivity: {})")
        }
        "ServerTrust" => aggregate("Aggregate(clip: 2, noise_multiplier: 1, weights: Uniform, server: {})"),
        "SharedQueries" => all(&[FEDERATED], &format!("{SERIES}.shared_queries"), "{}"),
        "RoundPolicy" => all(&[FEDERATED], &format!("{SERIES}.policy"), "{}"),
        _ => Vec::new(),
    }
}

/// A folder with every file that an example names.
pub fn with_files() -> tempfile::TempDir {
    let place = tempfile::TempDir::new().unwrap();
    let root = crate::support::root();
    for folder in ["scenarios/data", "scenarios/network/data", "scenarios/external"] {
        for entry in fs::read_dir(root.join(folder)).unwrap() {
            let file = entry.unwrap().path();
            fs::copy(&file, place.path().join(file.file_name().unwrap())).unwrap();
        }
    }
    // The first two records of every agent are held out.
    let table = fs::read_to_string(place.path().join("activity.csv")).unwrap();
    let mut agents: Vec<(&str, &str)> = table
        .lines()
        .skip(1)
        .filter_map(|line| Some((line.split(',').next()?, line.split(',').nth(1)?)))
        .collect();
    agents.sort_unstable();
    agents.dedup();
    let rows = agents.iter().flat_map(|(subject, side)| {
        let row = move |row: u32| format!("{subject}/{side},{row},held out\n");
        [row(0), row(1)]
    });
    let split: String = std::iter::once("subject,row,part\n".to_owned()).chain(rows).collect();
    fs::write(place.path().join("split.csv"), split).unwrap();
    place
}

/// Whether the scenario in `place`, changed by `overrides`, passes all checks.
pub fn check(place: &Path, host: &str, overrides: &[String]) -> Result<(), Box<Diagnostics>> {
    let resources = Resources { base: place.to_owned(), ..Resources::default() };
    let document = Document::from_text(Path::new("host.ron"), host.to_owned());
    document.cells(overrides, &resources).map(drop).map_err(Box::new)
}
