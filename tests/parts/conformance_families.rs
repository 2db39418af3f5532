//! Conformance functions for what mechanisms and federations state besides a privacy cost: nothing in members of the
//! library, and each broken rule in a member that breaks it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use subrosa::conformance::{self, Violation};
use subrosa::network::throughput::{LineOwner, RateCurve, Throughput, ThroughputModel};
use subrosa::privacy::mechanisms::inputs::{Input, InputRelease, RowsMechanism};
use subrosa::privacy::mechanisms::outcomes::{Outcome, OutcomeMechanism};
use subrosa::privacy::mechanisms::reports::{
    Report, ReportError, RewardFacts, RewardMechanism, RewardReport,
};
use subrosa::privacy::mechanisms::{Mechanism, MechanismError, OutcomeRelease, Pair, Price, Rows};
use subrosa::protocols::federated::{
    Policy, Selection, SelectionHistory, SelectionModel, Staleness, StalenessDiscount, Weights,
};
use subrosa::protocols::local::{Popularity, PopularityModel};
use subrosa::rng::Stream;
use subrosa::vocab::{Neighbours, Positive, Rate, Span};

fn rules(found: &[Violation]) -> Vec<&'static str> {
    found.iter().map(|breach| breach.rule).collect()
}

fn outcomes(text: &str) -> OutcomeRelease {
    subrosa::scenario::part(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn outcomes_are_as_noisy_as_they_state() {
    const RANGE: &str = "range: Range(low: -3, high: 2)";
    for text in [
        "Disclosure()".to_owned(),
        format!("ClippedLaplace(epsilon: 2, {RANGE})"),
        format!("ClippedLaplace(epsilon: 2, {RANGE}, arithmetic: Ideal)"),
        format!("ClippedGaussian(epsilon: 1, delta: 1e-4, {RANGE})"),
    ] {
        assert_eq!(conformance::outcome(outcomes(&text).as_dyn()).unwrap(), [], "{text}");
    }

    /// Another variance and another delta than the mechanism's.
    struct States(OutcomeRelease, fn(f64) -> f64, f64, AtomicU64);
    impl Outcome for States {
        fn mechanism(&self) -> Option<&OutcomeMechanism> {
            self.0.as_dyn().mechanism()
        }
        fn variance(&self) -> Result<f64, MechanismError> {
            let call = self.3.fetch_add(1, Ordering::Relaxed);
            let moody = if self.2 == 0.5 { call as f64 } else { 0.0 };
            Ok((self.1)(self.0.as_dyn().variance()?) + moody)
        }
        fn delta(&self) -> f64 {
            self.2
        }
    }
    let found = |change: fn(f64) -> f64, delta: f64| {
        let of = outcomes(&format!("ClippedLaplace(epsilon: 2, {RANGE}, arithmetic: Ideal)"));
        rules(&conformance::outcome(&States(of, change, delta, AtomicU64::new(0))).unwrap())
    };
    assert_eq!(found(|stated| stated, 0.0), [""; 0]);
    assert_eq!(found(|stated| 0.8 * stated, 0.0), ["no more variance than is stated"]);
    assert_eq!(found(|stated| 1.3 * stated, 0.0), ["as much variance as is stated, at some number"]);
    assert_eq!(found(|stated| stated, 1.0), ["a delta from 0 to below 1"]);
    let moody = found(|stated| stated, 0.5);
    assert_eq!(moody[0], "the same mechanism, variance and delta at every call");
    let bare = States(outcomes("Disclosure()"), |_| 1.0, 0.0, AtomicU64::new(0));
    assert_eq!(rules(&conformance::outcome(&bare).unwrap()), ["no variance without a mechanism"]);
}

const FACTS: RewardFacts<'static> =
    RewardFacts { mean: 0.0, deviation: 2.0, reach: 2.0, noise_bound: Some(1.0), noise_tail: &|_| None };

#[test]
fn reports_keep_to_what_they_state() {
    for text in [
        "Ctl(epsilon: 1)",
        "Ctl(epsilon: 2, bound: Some(5), arithmetic: Ideal)",
        "Ctl(epsilon: 1, clip: false)",
        "Disclosure()",
    ] {
        let report: Report = subrosa::scenario::part(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(conformance::report(report.as_dyn(), &FACTS).unwrap(), [], "{text}");
    }

    /// What is wrong with a mechanism.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Wrong {
        Nothing,
        Epsilon,
        Bound,
        Exceeds,
        Neighbours,
        Clips,
        Variance,
        Scale,
    }
    #[derive(Debug)]
    struct Made(Arc<dyn RewardMechanism>, Wrong);
    impl Mechanism for Made {
        type Input = f64;
        type Output = f64;
        fn price(&self, input: &f64, neighbours: &Neighbours) -> Result<Price, MechanismError> {
            self.0.price(input, neighbours)
        }
        fn privatise(&self, input: &f64, stream: &mut Stream) -> Result<f64, MechanismError> {
            let beyond = if self.1 == Wrong::Clips && input.abs() > 100.0 { 1.0 } else { 0.0 };
            Ok(self.0.privatise(input, stream)? + beyond)
        }
        fn worst_pair(&self, like: &f64) -> Option<Pair<f64>> {
            self.0.worst_pair(like)
        }
    }
    impl RewardMechanism for Made {
        fn neighbours(&self) -> Neighbours {
            if self.1 == Wrong::Neighbours { Neighbours::ReplaceOne } else { self.0.neighbours() }
        }
        fn bound(&self) -> f64 {
            if self.1 == Wrong::Bound { f64::INFINITY } else { self.0.bound() }
        }
        fn clips(&self) -> bool {
            self.0.clips()
        }
        fn exceeds(&self, reward: f64) -> bool {
            if self.1 == Wrong::Exceeds { reward > self.0.bound() } else { self.0.exceeds(reward) }
        }
        fn variance(&self) -> f64 {
            if self.1 == Wrong::Variance { 0.5 * self.0.variance() } else { self.0.variance() }
        }
        fn laplace_scale(&self) -> Option<f64> {
            self.0.laplace_scale().map(|scale| if self.1 == Wrong::Scale { 2.0 * scale } else { scale })
        }
        fn about(&self) -> String {
            self.0.about()
        }
    }
    struct Reports(Wrong);
    impl RewardReport for Reports {
        fn mechanism(
            &self,
            facts: &RewardFacts<'_>,
        ) -> Result<Option<Arc<dyn RewardMechanism>>, ReportError> {
            let report: Report = subrosa::scenario::part("Ctl(epsilon: 2, bound: Some(5))").unwrap();
            let made = report.as_dyn().mechanism(facts)?;
            Ok(made.map(|made| -> Arc<dyn RewardMechanism> { Arc::new(Made(made, self.0)) }))
        }
        fn epsilon(&self) -> Option<f64> {
            (self.0 != Wrong::Epsilon).then_some(2.0)
        }
    }
    let found = |wrong| rules(&conformance::report(&Reports(wrong), &FACTS).unwrap());
    assert_eq!(found(Wrong::Nothing), [""; 0]);
    assert_eq!(found(Wrong::Epsilon), ["an epsilon above 0 if and only if there is a mechanism"]);
    assert_eq!(found(Wrong::Bound)[0], "a bound that is finite and above 0");
    assert_eq!(
        found(Wrong::Exceeds),
        ["that a reward counts as exceeding the bound if and only if its absolute value is larger"]
    );
    assert_eq!(found(Wrong::Neighbours), ["a price for the neighbours that are protected"]);
    assert_eq!(found(Wrong::Clips), ["rewards that are clipped to the bound"]);
    assert_eq!(
        found(Wrong::Variance),
        ["no more variance than is stated", "a Laplace scale with the stated variance"]
    );
    assert_eq!(found(Wrong::Scale), ["a Laplace scale with the stated variance"]);
}

#[test]
fn releases_of_inputs_keep_to_what_they_state() {
    let rows = Rows::new(6, 3, (0..18).map(|place| libm::sin(f64::from(place))).collect()).unwrap();
    let one = Positive::new(1.0).unwrap();
    let release = |text: &str| -> InputRelease {
        subrosa::scenario::part(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    };
    for text in [
        "Withheld",
        "Disclosure()",
        "NoisyRows(epsilon: 3, delta: 1e-3)",
        "NoisyProjection(r: 2, epsilon: 3, delta: 1e-3)",
    ] {
        assert_eq!(conformance::input(release(text).as_dyn(), &rows, one).unwrap(), [], "{text}");
    }

    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Wrong {
        Nothing,
        Delta,
        Words,
        Shows,
        Reason,
        Columns,
        Pair,
        Direction,
        Public,
    }
    #[derive(Debug)]
    struct Made(
        Box<dyn RowsMechanism>,
        Wrong,
        #[expect(dead_code, reason = "a part of the printed form")] u64,
    );
    impl Mechanism for Made {
        type Input = Rows;
        type Output = Rows;
        fn price(&self, input: &Rows, neighbours: &Neighbours) -> Result<Price, MechanismError> {
            self.0.price(input, neighbours)
        }
        fn privatise(&self, input: &Rows, stream: &mut Stream) -> Result<Rows, MechanismError> {
            self.0.privatise(input, stream)
        }
        fn worst_pair(&self, like: &Rows) -> Option<Pair<Rows>> {
            let far = || Pair::new(like.clone(), like.moved(0, &[1.0, 0.0, 0.0], 3.0), "too far");
            if self.1 == Wrong::Pair { Some(far()) } else { self.0.worst_pair(like) }
        }
    }
    impl RowsMechanism for Made {
        fn worst_direction(&self) -> Option<(Vec<f64>, &'static str)> {
            if self.1 == Wrong::Direction {
                Some((vec![1.0, 1.0, 0.0], "long"))
            } else {
                self.0.worst_direction()
            }
        }
    }
    struct Releases(InputRelease, Wrong, AtomicU64);
    impl Input for Releases {
        fn release_name(&self) -> &'static str {
            if self.1 == Wrong::Words { "" } else { "rows" }
        }
        fn shows_inputs(&self) -> bool {
            self.1 != Wrong::Shows
        }
        fn columns(&self, inputs: u64) -> u64 {
            if self.1 == Wrong::Columns { inputs + 1 } else { inputs }
        }
        fn about(&self, rows: &Rows) -> String {
            self.0.as_dyn().about(rows)
        }
        fn unprotected(&self) -> Option<&'static str> {
            (self.1 == Wrong::Reason).then_some("not at all")
        }
        fn delta(&self) -> f64 {
            if self.1 == Wrong::Delta { -1.0 } else { 1e-3 }
        }
        fn mechanism(
            &self,
            d: usize,
            distance: Positive,
            public: &mut Stream,
        ) -> Result<Option<Box<dyn RowsMechanism>>, MechanismError> {
            let call = if self.1 == Wrong::Public { self.2.fetch_add(1, Ordering::Relaxed) } else { 0 };
            let made = self.0.as_dyn().mechanism(d, distance, public)?;
            Ok(made.map(|made| -> Box<dyn RowsMechanism> { Box::new(Made(made, self.1, call)) }))
        }
    }
    let found = |wrong| {
        let release = Releases(release("NoisyRows(epsilon: 3, delta: 1e-3)"), wrong, AtomicU64::new(0));
        rules(&conformance::input(&release, &rows, one).unwrap())
    };
    assert_eq!(found(Wrong::Nothing), [""; 0]);
    assert_eq!(found(Wrong::Delta), ["a delta from 0 to below 1"]);
    assert_eq!(found(Wrong::Words), ["a name for the ledger and a description for an audit"]);
    assert_eq!(found(Wrong::Shows), ["inputs that are shown if and only if there is a mechanism"]);
    assert_eq!(
        found(Wrong::Reason),
        ["a reason for the lack of protection if and only if the price is unprotected"]
    );
    assert_eq!(found(Wrong::Columns), ["the columns that are stated, for every row"]);
    assert_eq!(found(Wrong::Pair), ["worst neighbours with one row moved by at most the distance"]);
    assert_eq!(found(Wrong::Direction), ["a worst direction of length 1"]);
    assert_eq!(found(Wrong::Public), ["the same mechanism for the same public stream"]);
}

#[test]
fn visitors_are_people_and_repeatable() {
    for text in ["Even()", "Zipf(exponent: 1.1)"] {
        let model: PopularityModel =
            subrosa::scenario::part(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(conformance::popularity(model.as_dyn()), [], "{text}");
    }
    struct Visits(fn(u64, u64) -> u64, AtomicU64);
    impl Popularity for Visits {
        fn person(&self, size: u64, _: &mut Stream) -> u64 {
            (self.0)(size, self.1.fetch_add(1, Ordering::Relaxed))
        }
    }
    let found = |visits| rules(&conformance::popularity(&Visits(visits, AtomicU64::new(0))));
    assert_eq!(found(|_, _| 0), [""; 0]);
    assert_eq!(found(|size, _| size), ["visitors who are among the people"]);
    assert_eq!(found(|size, call| call % size), ["the same visitor for the same stream"]);
}

#[test]
fn weights_and_policies_decide_alike_at_every_call() {
    struct Moody(AtomicU64);
    impl Weights for Moody {
        fn at(&self, _: u64, explored: &[usize], regions: usize) -> Vec<Vec<f64>> {
            let heavy = self.0.fetch_add(1, Ordering::Relaxed) as usize % explored.len();
            let weight = |agent| if agent == heavy { 1.0 } else { 0.0 };
            vec![(0..explored.len()).map(weight).collect(); regions]
        }
    }
    assert_eq!(rules(&conformance::weights(&Moody(AtomicU64::new(0)))), ["the same weights at every call"]);

    struct Policies(AtomicU64, bool);
    impl Policy for Policies {
        fn patience(&self) -> Span {
            let more = if self.1 { 0 } else { self.0.fetch_add(1, Ordering::Relaxed) };
            Span::from_millis(1000 + more)
        }
        fn is_enough(&self, fresh: u64, _: u64, agents: u64) -> bool {
            fresh == agents || self.1 && self.0.fetch_add(1, Ordering::Relaxed).is_multiple_of(3)
        }
    }
    let found = |decides| rules(&conformance::policy(&Policies(AtomicU64::new(0), decides)));
    assert_eq!(found(false), ["the same patience at every call"]);
    assert_eq!(found(true)[0], "the same decision at every call");
}

#[test]
fn selections_by_public_values_and_falling_discounts() {
    struct ByLoss;
    impl Selection for ByLoss {
        fn select(&self, known: &SelectionHistory, _: &mut Stream) -> Option<Vec<bool>> {
            let large = |report: &Option<f64>| report.is_none_or(|loss| loss > 0.0);
            Some(known.reported.iter().map(large).collect())
        }
    }
    let broken = "a selection without reporters that does not depend on losses";
    assert!(rules(&conformance::selection(&ByLoss)).contains(&broken));
    let oort = ["Oort(k: 3)", "Oort(k: 3, retires_after: 2)"];
    for name in ["Everyone()", "Fastest(k: 3)", "PowerOfChoice(candidates: 6, k: 3)"].into_iter().chain(oort)
    {
        let member: SelectionModel = subrosa::scenario::part(name).unwrap();
        assert!(conformance::selection(member.as_dyn()).is_empty(), "{name}");
    }

    struct Grows;
    impl Staleness for Grows {
        fn factor(&self, late: u64) -> f64 {
            1.0 + late as f64
        }
    }
    let found = rules(&conformance::staleness(&Grows));
    assert!(
        found.contains(&"a factor from 0 to 1") && found.contains(&"a factor that never grows"),
        "{found:?}"
    );
    for name in ["Polynomial(power: 0.7)", "Hinge(slope: 3, after: 2)"] {
        let member: StalenessDiscount = subrosa::scenario::part(name).unwrap();
        assert!(conformance::staleness(member.as_dyn()).is_empty(), "{name}");
    }
}

#[test]
fn lines_keep_their_curves() {
    let model: ThroughputModel = subrosa::scenario::part(
        "RateSchedule(steps: [RateStep(at: \"0s\", is: \"10Mbit/s\"), RateStep(at: \"18h\", is: \"40kbit/s\")], every: \"24h\")",
    )
    .unwrap();
    assert_eq!(conformance::throughput(model.as_dyn()), []);

    /// A rate that differs from call to call.
    struct Moody(AtomicU64);
    impl Throughput for Moody {
        fn curve(&self, _: LineOwner, _: Stream) -> RateCurve {
            let call = self.0.fetch_add(1, Ordering::Relaxed);
            RateCurve::constant(Rate::from_bits_per_second(1e6 + call as f64).unwrap())
        }
    }
    let found = conformance::throughput(&Moody(AtomicU64::new(0)));
    assert!(rules(&found).contains(&"the same curve for the same stream"), "{found:?}");

    /// A rate below 0 in the second half of every hour.
    struct Negative;
    impl Throughput for Negative {
        fn curve(&self, _: LineOwner, _: Stream) -> RateCurve {
            let steps = vec![(Span::ZERO, 1e6), (Span::from_seconds(1800.0), -1.0)];
            RateCurve::new(Arc::new(steps), Some(Span::from_seconds(3600.0)), Span::ZERO)
        }
    }
    let found = conformance::throughput(&Negative);
    assert!(rules(&found).contains(&"rates that are finite and not below 0"), "{found:?}");
}
