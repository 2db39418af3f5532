//! What conformance functions find: nothing in members of the library, and what is broken in members that are.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use subrosa::accounting::{self, Accountant, AccountedEpsilon, Basic, Composition, EpsilonKind};
use subrosa::conformance::{self, Violation};
use subrosa::gp::covariance::Covariance;
use subrosa::gp::{GpError, Points};
use subrosa::kernel::Switch;
use subrosa::learners::{Arms, BuildError, GpUcb, Learner, LearnerModel, LearnerRecipe, ProblemConstants};
use subrosa::network::availability::AvailabilityProcess;
use subrosa::network::latency::{Exponential, Latency, LatencyModel, LogLogistic, Pareto};
use subrosa::network::outage::{Outage, OutageModel};
use subrosa::network::topology::{Mesh, Pairs, Ring, Shape, Star, Topology};
use subrosa::network::{Link, Network, PartyTraits, Population};
use subrosa::objectives::{
    Fitted, Instance, Noise, Objective, ObjectiveError, Prepared, ProblemFacts, Resources, Surrogate,
};
use subrosa::privacy::mechanisms::{Gaussian, Laplace, Mechanism, MechanismError, Price};
use subrosa::protocols::echo::Echo;
use subrosa::protocols::outsourced::Outsourced;
use subrosa::protocols::release::{
    CannotRelease, Plan, Publication, PublicationModel, Search, Task, ValueOf, ValueRelease,
};
use subrosa::protocols::{Protocol, ReplicationError, ReplicationSetup, Retry, SeriesRecord};
use subrosa::rng::{Key, Stream};
use subrosa::vocab::{Delta, Epsilon, Neighbours, Positive, Problem, Span, Time};

fn promises(found: &[Violation]) -> Vec<&'static str> {
    found.iter().map(|breach| breach.rule).collect()
}

fn positive(number: f64) -> Positive {
    Positive::new(number).unwrap()
}

/// Laws whose variance or mean is infinite keep what they promise; the midpoint rule over 20,000 cells would miss 4 % of the
/// first one's mean and 19 % of the second's.
#[test]
fn heavy_tails_are_no_breach() {
    let ms = Span::from_millis;
    for shape in [1.5, 1.25, 1.15, 2.0, 4.0] {
        let pareto = Pareto { shortest: ms(40), shape: positive(shape) };
        assert_eq!(conformance::latency(&pareto), [], "shape {shape}");
        let logistic = LogLogistic { median: ms(40), shape: positive(shape) };
        assert_eq!(conformance::latency(&logistic), [], "shape {shape}");
    }

    /// t^-shape beyond 40 ms, with a mean that is stated.
    struct Tail(f64, f64);
    impl Latency for Tail {
        fn quantile(&self, u: f64) -> Span {
            Span::from_seconds(0.04 * libm::pow(1.0 - u, -1.0 / self.0))
        }
        fn mean_seconds(&self) -> f64 {
            self.1
        }
    }
    // shape / (shape - 1) times the shortest.
    assert_eq!(conformance::latency(&Tail(1.5, 0.12)), []);
    for wrong in [0.11, 0.13, f64::INFINITY] {
        let found = conformance::latency(&Tail(1.5, wrong));
        assert_eq!(promises(&found), ["a mean that is the integral of the quantiles"], "{wrong}");
    }
    // No mean at all.
    assert_eq!(conformance::latency(&Tail(0.9, f64::INFINITY)), []);
}

#[test]
fn a_distribution_function_of_another_law_is_found() {
    struct Doubled(Exponential);
    impl Latency for Doubled {
        fn quantile(&self, u: f64) -> Span {
            self.0.quantile(u)
        }
        fn mean_seconds(&self) -> f64 {
            self.0.mean_seconds()
        }
        fn probability_within(&self, delay: Span) -> f64 {
            -libm::expm1(-delay.seconds() / (2.0 * self.0.mean_seconds()))
        }
    }
    let found = conformance::latency(&Doubled(Exponential { mean: Span::from_millis(40) }));
    assert_eq!(promises(&found), ["a distribution function that is the inverse of the quantiles"]);
}

#[test]
fn topologies_with_wrong_links_are_found() {
    let names: Vec<String> = (0..6).map(|party| format!("party-{party}")).collect();
    let traits = vec![PartyTraits::default(); 6];
    let population = Population { names: &names, traits: &traits };
    assert_eq!(conformance::topology(&Mesh {}, &population), []);
    assert_eq!(conformance::topology(&Ring { order: Vec::new() }, &population), []);
    assert_eq!(conformance::topology(&Star { hub: "party-2".to_owned() }, &population), []);

    struct Links(Pairs, Shape);
    impl Topology for Links {
        fn pairs(&self, _: &Population<'_>) -> Pairs {
            self.0.clone()
        }
        fn shape(&self, _: &Population<'_>) -> Shape {
            self.1
        }
    }
    let found = |pairs: &[(usize, usize)], shape| {
        promises(&conformance::topology(&Links(pairs.to_vec(), shape), &population))
    };
    assert_eq!(found(&[(0, 1), (1, 2)], Shape::Graph), [""; 0]);
    assert_eq!(found(&[(0, 6)], Shape::Graph), ["links between existing parties"]);
    assert_eq!(found(&[(3, 3)], Shape::Graph), ["links of two parties"]);
    assert_eq!(found(&[(0, 1), (1, 0)], Shape::Graph), ["one link for a pair"]);
    assert_eq!(found(&[(0, 1), (1, 2)], Shape::Star(1)), ["the shape that the links have"]);
    assert_eq!(found(&[(0, 1), (1, 2)], Shape::Complete), ["the shape that the links have"]);

    struct Moody(AtomicU64);
    impl Topology for Moody {
        fn pairs(&self, _: &Population<'_>) -> Pairs {
            vec![(0, 1 + self.0.fetch_add(1, Ordering::Relaxed) as usize % 5)]
        }
    }
    let moody = conformance::topology(&Moody(AtomicU64::new(0)), &population);
    assert_eq!(promises(&moody), ["the same links at every call"]);
}

#[test]
fn outages_that_meet_others_are_found() {
    for text in [
        r#"Partition(groups: ["a", "b"], from: "1min", until: "2min")"#,
        r#"Blackout(group: "a", from: "1min", until: "2min")"#,
        r#"Regional(group: "a", up: Exponential(mean: "1h"), down: Exponential(mean: "1min"))"#,
    ] {
        let model: OutageModel =
            subrosa::scenario::part(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(conformance::outage(model.as_dyn()), [], "{text}");
    }

    /// Back and off every minute; from an earlier time on, where that is so.
    #[derive(Clone, Debug)]
    struct Minutes(u64, bool);
    impl AvailabilityProcess for Minutes {
        fn starts_online(&mut self) -> bool {
            true
        }
        fn next_switch(&mut self) -> Option<Switch> {
            if !self.1 {
                self.0 += 1;
            }
            Some(Switch::connection(
                Time::ZERO + Span::from_millis(60_000 * self.0),
                self.0.is_multiple_of(2),
            ))
        }
    }

    struct Everybody;
    impl Outage for Everybody {
        fn groups(&self) -> Vec<(String, &str)> {
            vec![("group".to_owned(), "a")]
        }
        fn connection(&self, _: &str, _: Stream) -> Option<Box<dyn AvailabilityProcess>> {
            Some(Box::new(Minutes(0, false)))
        }
        fn cuts(&self, _: Option<&str>, _: Option<&str>, at: Time) -> bool {
            at > Time::ZERO
        }
    }
    assert_eq!(
        promises(&conformance::outage(&Everybody)),
        [
            "no change for groups that the outage does not name",
            "no cut between parties that the outage does not name",
            "no cut inside of a group"
        ]
    );
    struct Stuck;
    impl Outage for Stuck {
        fn groups(&self) -> Vec<(String, &str)> {
            vec![("group".to_owned(), "a")]
        }
        fn connection(&self, group: &str, _: Stream) -> Option<Box<dyn AvailabilityProcess>> {
            (group == "a").then(|| -> Box<dyn AvailabilityProcess> { Box::new(Minutes(1, true)) })
        }
    }
    assert_eq!(promises(&conformance::outage(&Stuck)), ["changes at increasing times"]);
    struct Nobody;
    impl Outage for Nobody {
        fn groups(&self) -> Vec<(String, &str)> {
            Vec::new()
        }
    }
    assert_eq!(promises(&conformance::outage(&Nobody)), ["groups that the outage affects"]);

    /// Names a group, and cuts it off from an hour on, for some seconds.
    struct Cuts(u64);
    impl Outage for Cuts {
        fn groups(&self) -> Vec<(String, &str)> {
            vec![("group".to_owned(), "a")]
        }
        fn cuts(&self, from: Option<&str>, to: Option<&str>, at: Time) -> bool {
            let begin = Time::ZERO + Span::from_millis(3_600_500);
            from != to
                && [from, to].contains(&Some("a"))
                && begin <= at
                && at < begin + Span::from_millis(1000 * self.0)
        }
    }
    assert_eq!(promises(&conformance::outage(&Cuts(0))), ["groups that the outage affects"]);
    assert_eq!(conformance::outage(&Cuts(2)), []);
}

/// A learner that refuses outcomes, and an objective that draws other inputs each time.
#[test]
fn learners_and_objectives_that_break_a_rule_are_found() {
    #[derive(Clone, Debug)]
    struct Tired(u32);
    impl Learner for Tired {
        fn arms(&self) -> usize {
            3
        }
        fn suggest(&mut self, _: &mut Stream) -> usize {
            0
        }
        fn observe(&mut self, _: usize, _: f64) -> Result<(), GpError> {
            self.0 += 1;
            if self.0 < 30 { Ok(()) } else { Err(GpError::OutcomeNotFinite { outcome: 0.0 }) }
        }
    }
    struct Recipe;
    impl LearnerRecipe for Recipe {
        fn build(&self, _: &Arms) -> Result<Box<dyn Learner>, BuildError> {
            Ok(Box::new(Tired(0)))
        }
    }
    let arms =
        Arms { n: 3, covariance: None, noise_variance: 0.1, mean: 0.0, facts: ProblemConstants::default() };
    assert_eq!(
        promises(&conformance::learner(&Recipe, &arms).unwrap()),
        ["no error for a finite outcome of the suggested arm"]
    );

    /// Inputs that another draw moves.
    struct Moving(AtomicU64);
    #[derive(Debug)]
    struct Moved(f64);
    impl Prepared for Moved {
        fn realise(&self, _: Key) -> Result<Instance, ObjectiveError> {
            let mut drawn = instance();
            let inputs = (0..10).map(|k| f64::from(k) + self.0).collect();
            drawn.inputs = Arc::new(Points::new(10, 1, inputs));
            Ok(drawn)
        }
    }
    impl Objective for Moving {
        fn problems(&self, _: &Resources) -> Vec<Problem> {
            Vec::new()
        }
        fn prepare(
            &self,
            _: &Resources,
            _: Option<&Fitted>,
            _: Key,
        ) -> Result<Box<dyn Prepared>, ObjectiveError> {
            Ok(Box::new(Moved(self.0.fetch_add(1, Ordering::Relaxed) as f64)))
        }
    }
    let found = conformance::objective(&Moving(AtomicU64::new(0)), &Resources::default()).unwrap();
    assert_eq!(promises(&found), ["the same problem for the same key"]);
}

#[test]
fn accountants_that_forget_something_are_found() {
    for accountant in accounting::all() {
        assert_eq!(conformance::accountant(accountant), [], "{}", accountant.name());
    }

    /// Basic composition with a mistake.
    #[derive(Debug)]
    struct Wrong(&'static str, fn(f64, &Composition, Delta) -> f64);
    impl Accountant for Wrong {
        fn name(&self) -> &'static str {
            self.0
        }
        fn about(&self) -> &'static str {
            "a mistake"
        }
        fn price(&self, composition: &Composition, delta: Delta) -> AccountedEpsilon {
            let priced = Basic.price(composition, delta);
            AccountedEpsilon { epsilon: (self.1)(priced.epsilon, composition, delta), ..priced }
        }
    }
    let found = |name, mistake| promises(&conformance::accountant(&Wrong(name, mistake)));
    assert_eq!(found("right", |epsilon, _, _| epsilon), [""; 0]);
    assert_eq!(found("Two words", |epsilon, _, _| epsilon), ["a name of lower-case letters and digits"]);
    assert!(
        found("offset", |epsilon, _, _| epsilon + 1.0).contains(&"a loss of 0 where nothing was released")
    );
    assert!(
        found("blind", |epsilon, _, _| if epsilon.is_infinite() { 3.0 } else { epsilon })
            .contains(&"an infinite loss, and a note, for what is not protected")
    );
    assert!(
        found("kinder", |epsilon, _, delta| epsilon * (1.0 + 1e3 * delta.get()))
            .contains(&"a loss that does not decrease if delta does")
    );
    let average = |epsilon: f64, all: &Composition, _: Delta| epsilon / (all.count().max(1) as f64).powf(1.5);
    assert!(found("average", average).contains(&"no less loss for all releases than for one of them"));
    assert!(
        found("half", |epsilon, _, _| 0.5 * epsilon)
            .contains(&"a bound no smaller than the proven lower bound")
    );
    assert!(found("negative", |epsilon, _, _| epsilon - 30.0).contains(&"a loss of 0 or more"));
    // What is not meant as a bound may lie below.
    #[derive(Debug)]
    struct Half;
    impl Accountant for Half {
        fn name(&self) -> &'static str {
            "half"
        }
        fn about(&self) -> &'static str {
            "half of it"
        }
        fn is_approximation(&self) -> bool {
            true
        }
        fn price(&self, composition: &Composition, delta: Delta) -> AccountedEpsilon {
            let priced = Basic.price(composition, delta);
            AccountedEpsilon { epsilon: 0.5 * priced.epsilon, standing: EpsilonKind::NotABound, ..priced }
        }
    }
    assert_eq!(conformance::accountant(&Half), []);
}

/// Ten settings on a line, with facts of a trained model's loss.
fn instance() -> Instance {
    let inputs: Vec<f64> = (0..10).map(|k| f64::from(k) / 9.0).collect();
    Instance {
        values: Arc::new(inputs.iter().map(|x| libm::sin(7.0 * x)).collect()),
        inputs: Arc::new(Points::new(10, 1, inputs)),
        noise: Noise::gaussian(0.1),
        surrogate: Surrogate {
            covariance: Covariance::squared_exponential(0.2, 1.0),
            noise_variance: 0.01,
            mean: 0.0,
        },
        background: ProblemFacts::default(),
    }
}

/// The best outcome with noise for a range of 2: what it states, and what it does.
#[derive(Clone, Debug)]
struct Noisy {
    stated: f64,
    done: f64,
    by_value: bool,
}

/// A mechanism that states the price of one, and does what another does; by value, its price depends on the data.
#[derive(Clone, Debug)]
struct Pretends<M> {
    stated: M,
    done: M,
    by_value: bool,
}

impl<M: Mechanism<Input = Vec<f64>, Output = Vec<f64>>> Mechanism for Pretends<M> {
    type Input = Vec<f64>;
    type Output = Vec<f64>;

    fn price(&self, input: &Vec<f64>, neighbours: &Neighbours) -> Result<Price, MechanismError> {
        let mut price = self.stated.price(input, neighbours)?;
        if self.by_value && input[0] > 0.3 {
            price.mechanism = "of a large value";
        }
        Ok(price)
    }

    fn privatise(&self, input: &Vec<f64>, stream: &mut Stream) -> Result<Vec<f64>, MechanismError> {
        self.done.privatise(input, stream)
    }

    fn worst_pair(&self, like: &Vec<f64>) -> Option<subrosa::privacy::mechanisms::Pair<Vec<f64>>> {
        self.done.worst_pair(like)
    }

    fn distinguisher(
        &self,
        inputs: [&Vec<f64>; 2],
    ) -> Result<subrosa::privacy::mechanisms::Distinguisher<Vec<f64>>, MechanismError> {
        self.done.distinguisher(inputs)
    }
}

impl Publication for Noisy {
    fn search(&self, _: &Task) -> Result<Search, CannotRelease> {
        Ok(Search::Learner(LearnerModel::from(GpUcb::default())))
    }

    fn plan(&self, _: &Task) -> Result<Plan, CannotRelease> {
        let laplace = |epsilon| Laplace::calibrated(Epsilon::new(epsilon).unwrap(), positive(2.0));
        let pretends =
            Pretends { stated: laplace(self.stated)?, done: laplace(self.done)?, by_value: self.by_value };
        let value = Some(ValueRelease { mechanism: Box::new(pretends), of: ValueOf::Best });
        Ok(Plan { value, ..Plan::default() })
    }
}

/// Gaussian noise has no pure epsilon: such a publication is attacked at a delta above 0.
#[test]
fn publications_with_gaussian_noise_keep_what_they_say() {
    struct Gauss(f64);
    impl Publication for Gauss {
        fn search(&self, _: &Task) -> Result<Search, CannotRelease> {
            Ok(Search::Learner(LearnerModel::from(GpUcb::default())))
        }
        fn plan(&self, _: &Task) -> Result<Plan, CannotRelease> {
            let gaussian = |multiplier: f64| Gaussian::new(positive(2.0 * multiplier), positive(2.0));
            let mechanism =
                Box::new(Pretends { stated: gaussian(2.0), done: gaussian(self.0), by_value: false });
            Ok(Plan { value: Some(ValueRelease { mechanism, of: ValueOf::Best }), ..Plan::default() })
        }
    }
    let task = Task::of(&instance(), 20);
    let found = |done| promises(&conformance::publication(&Gauss(done), &task, 20_000).unwrap());
    assert_eq!(found(2.0), [""; 0]);
    assert!(found(0.3).contains(&"known distributions with no more loss than the stated cost"));
}

#[test]
fn publications_that_cost_more_than_they_say_are_found() {
    let task = Task::of(&instance(), 20);
    let found = |stated, done, by_value| {
        promises(&conformance::publication(&Noisy { stated, done, by_value }, &task, 20_000).unwrap())
    };
    assert_eq!(found(1.0, 1.0, false), [""; 0]);
    assert!(found(1.0, 1.0, true).contains(&"a cost that does not depend on values"));
    assert!(found(0.5, 2.0, false).contains(&"no more loss than the stated cost"));
    for text in [
        "NonPrivate(learner: Random())",
        "FixedGrid(epsilon: 1, assume: TaskFacts(records: 500, loss_range: 1, lipschitz: 1, lambda_min: 0.01, lambda_max: 1))",
        "AboveThreshold(epsilon: 2, threshold: 0.1, assume: TaskFacts(records: 500, loss_range: 1, lipschitz: 1, lambda_min: 0.01, lambda_max: 1))",
        "AboveThreshold(epsilon: 2, performance: Some(1), threshold: 0.1, assume: TaskFacts(records: 500, loss_range: 1, lipschitz: 1, lambda_min: 0.01, lambda_max: 1))",
    ] {
        let model: PublicationModel =
            subrosa::scenario::part(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(conformance::publication(model.as_dyn(), &task, 4000).unwrap(), [], "{text}");
    }
}

fn stage() -> ReplicationSetup {
    let latency: LatencyModel = Exponential { mean: Span::from_millis(20) }.into();
    let link = Link { latency, ..Link::default() };
    ReplicationSetup {
        instance: Some(instance()),
        ..ReplicationSetup::new(["a", "b"], Network::new(Mesh {}.into(), link))
    }
}

#[test]
fn protocols_that_play_otherwise_each_time_are_found() {
    let echo = || Echo { caller: "a".to_owned(), rounds: 20, retry: Retry::default() };
    assert_eq!(conformance::protocol(&echo(), &stage).unwrap(), []);
    let outsourced: Outsourced = subrosa::scenario::part(
        r#"(curator: "a", modeler: "b", rounds: 6, series: [
                (name: "one", release: Disclosure(), learner: GpUcb()),
                (name: "two", release: Withheld(), learner: Random()),
            ])"#,
    )
    .unwrap();
    assert_eq!(conformance::protocol(&outsourced, &stage).unwrap(), []);
    let three = Outsourced { queries_at_once: std::num::NonZeroU64::new(3).unwrap(), ..outsourced.clone() };
    assert_eq!(conformance::protocol(&three, &stage).unwrap(), []);

    /// Calls with a mistake in what becomes of the record.
    struct Wrong<F>(Echo, Vec<String>, F);
    impl<F: Fn(&mut SeriesRecord, u64) + Send + Sync> Protocol for Wrong<F> {
        fn problems(&self, stage: &ReplicationSetup) -> Vec<Problem> {
            self.0.problems(stage)
        }
        fn series(&self) -> Vec<String> {
            self.1.clone()
        }
        fn play(&self, stage: &ReplicationSetup, key: Key) -> Result<Vec<SeriesRecord>, ReplicationError> {
            static PLAYED: AtomicU64 = AtomicU64::new(0);
            let mut records = self.0.play(stage, key)?;
            records.iter_mut().for_each(|record| self.2(record, PLAYED.fetch_add(1, Ordering::Relaxed)));
            Ok(records)
        }
    }
    fn found(names: &[&str], mistake: impl Fn(&mut SeriesRecord, u64) + Send + Sync) -> Vec<&'static str> {
        let echo = Echo { caller: "a".to_owned(), rounds: 20, retry: Retry::default() };
        let names = names.iter().map(|&name| name.to_owned()).collect();
        promises(&conformance::protocol(&Wrong(echo, names, mistake), &stage).unwrap())
    }
    let name = echo().series().remove(0);
    assert_eq!(found(&[&name], |_, _| {}), [""; 0]);
    assert_eq!(found(&["other"], |_, _| {}), ["a record for each series, in order"]);
    assert_eq!(
        found(&[&name], |record, played| record.bytes += played),
        ["the same records for the same key", "the same records on two threads at once"]
    );
    assert_eq!(
        found(&[&name], |record, _| *record =
            SeriesRecord { messages: 1, ..SeriesRecord::empty(&record.name) }),
        ["other draws for another key"]
    );
    let played = outsourced.play(&stage(), Key::root(1)).unwrap();
    assert_eq!(
        found(&[&name], |record, _| record.releases.clone_from(&played[0].releases)),
        ["releases about units that the protocol names"]
    );
    assert_eq!(
        found(&[&name], |record, _| {
            record.iterations.clone_from(&played[0].iterations);
            record.iterations[3].cumulative_regret = -1.0;
            record.iterations[4].simple_regret = 9.0;
        }),
        ["cumulative regrets that do not fall", "simple regrets of 0 or more that do not rise"]
    );
}
