//! Tests of all latency models.

use super::*;
use crate::vocab::Positive;

fn empirical() -> LatencyModel {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("delays.csv"), "s\n0.03\n0.01\n0.08\n0.04\n").unwrap();
    let mut law = Empirical::new("delays.csv".into(), "s".to_owned(), Span::from_millis(1000));
    assert_eq!(law.load(&folder.path().into()), []);
    LatencyModel::from(law)
}

fn examples() -> Vec<LatencyModel> {
    let ms = Span::from_millis;
    vec![
        LatencyModel::from(Constant(ms(40))),
        LatencyModel::from(Uniform { low: ms(10), high: ms(70) }),
        LatencyModel::from(Exponential { mean: ms(40) }),
        LatencyModel::from(LogNormal { median: ms(40), sigma: crate::vocab::NonNegative::new(0.5).unwrap() }),
        LatencyModel::from(Normal { mean: ms(40), sd: ms(30) }),
        LatencyModel::from(Pareto { shortest: ms(40), shape: crate::vocab::Positive::new(4.0).unwrap() }),
        empirical(),
        LatencyModel::from(Jittered {
            base: ms(30),
            jitter: Box::new(LatencyModel::from(Exponential { mean: ms(10) })),
        }),
        Weibull { scale: ms(40), shape: positive(0.8) }.into(),
        Triangular { low: ms(10), mode: ms(20), high: ms(70) }.into(),
        Gumbel { location: ms(20), scale: ms(15) }.into(),
        LogLogistic { median: ms(40), shape: positive(4.0) }.into(),
        Gamma { shape: positive(2.5), scale: ms(16) }.into(),
        Erlang { stages: std::num::NonZeroU32::new(3).unwrap(), mean: ms(40) }.into(),
        Beta { a: positive(2.0), b: positive(5.0), low: ms(10), high: ms(90) }.into(),
        Mixture {
            parts: vec![
                Part { weight: positive(9.0), law: Exponential { mean: ms(20) }.into() },
                Part { weight: positive(1.0), law: Uniform { low: ms(200), high: ms(300) }.into() },
            ],
        }
        .into(),
        Shifted { law: boxed(Exponential { mean: ms(40) }), later: Span::ZERO, earlier: ms(15) }.into(),
        Scaled { law: boxed(Exponential { mean: ms(40) }), factor: positive(1.7) }.into(),
        Truncated { law: boxed(Exponential { mean: ms(40) }), from: ms(10), to: Some(ms(120)) }.into(),
        Schedule {
            steps: vec![
                LatencyStep { at: Span::ZERO, is: Exponential { mean: ms(20) }.into() },
                LatencyStep { at: ms(3000), is: Uniform { low: ms(10), high: ms(300) }.into() },
            ],
            every: Some(ms(4000)),
        }
        .into(),
        from_file("RoundTrips(file: \"data\")", ",a,b,c\na,0,20,30\nb,22,,40\nc,31,,0\n"),
        from_file(
            "PathDelays(file: \"data\", delay: Attribute(name: \"w\", unit: \"1ms\"))",
            "<graphml><key id=\"k\" for=\"edge\" attr.name=\"w\"/><graph><node id=\"a\"/><node id=\"b\"/><node id=\"c\"/>\
             <edge source=\"a\" target=\"b\"><data key=\"k\">5</data></edge>\
             <edge source=\"b\" target=\"c\"><data key=\"k\">7</data></edge></graph></graphml>",
        ),
        from_file("DelayTrace(file: \"data\", delay: \"ms\", time: \"s\")", "s,ms\n0,30\n2,10\n5,80\n6,40\n"),
    ]
}

/// A model whose file has this text.
fn from_file(model: &str, text: &str) -> LatencyModel {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("data"), text).unwrap();
    let mut law: LatencyModel = crate::scenario::part(model).unwrap();
    assert_eq!(law.as_dyn_mut().load(&folder.path().into()), []);
    law
}

fn end(name: &str) -> LinkEnd<'_> {
    LinkEnd { name, group: Some("all"), number: 1 }
}

/// The delay is half of the round trip measured from the sender, or else from the addressee. A party's site is stated in
/// the party's own entry of `sites` or in the entry of its group. A party without an entry is at the site that has the
/// party's name. With `PathDelays`, the delay from a to c is that of the path through b.
#[test]
fn delays_between_sites_are_those_of_the_file() {
    let told = |law: &LatencyModel, from: &str, to: &str| {
        law.as_dyn().between(end(from), end(to)).unwrap().as_dyn().mean_seconds() * 1000.0
    };
    let text = ",a,b,c\na,0,20,30\nb,22,,40\nc,31,,0\n";
    let law = from_file("RoundTrips(file: \"data\")", text);
    let pairs = [("a", "b"), ("b", "a"), ("c", "b"), ("a", "c")];
    assert_eq!(pairs.map(|(from, to)| told(&law, from, to)), [10.0, 11.0, 20.0, 15.0]);
    let law = from_file("RoundTrips(file: \"data\", sites: {\"x\": [\"c\"], \"all\": [\"b\", \"a\"]})", text);
    assert_eq!(told(&law, "x", "member"), 15.5);
    assert_eq!(law.as_dyn().problems_between(&[end("x"), end("member")]), []);
    let other = LinkEnd { group: None, ..end("nowhere") };
    let problems = law.as_dyn().problems_between(&[end("x"), other]);
    assert!(format!("{problems:?}").contains("none for \\\"nowhere\\\""), "{problems:?}");
    assert!((told(&examples()[examples().len() - 2], "a", "c") - 12.0).abs() < 1e-9);
}

/// Each delay holds from its time until the time of the next delay. The last delay holds for `spacing`. A delay is half of a
/// round trip. At the beginning of the run, the first 2 min of the recording have passed.
#[test]
fn a_recorded_delay_is_that_of_its_time() {
    let model =
        "DelayTrace(file: \"data\", delay: \"rtt\", round_trips: true, time: \"min\", time_unit: \"1min\",
         spacing: \"2min\", offset: \"2min\")";
    let law = from_file(model, "min,rtt\n10,30\n11,10\n14,80\n");
    let at = |seconds: u64| law.as_dyn().quantile_at(Time::ZERO + Span::from_millis(1000 * seconds), 0.5);
    assert_eq!(
        [0, 119, 120, 239, 240, 299, 300, 360].map(at),
        [5, 5, 40, 40, 15, 15, 5, 5].map(Span::from_millis)
    );
    assert!((law.as_dyn().mean_seconds() - (15.0 + 3.0 * 5.0 + 2.0 * 40.0) / 6000.0).abs() < 1e-12);
    assert_eq!(law.as_dyn().quantile(0.49), Span::from_millis(5));
    assert_eq!(law.as_dyn().quantile(0.51), Span::from_millis(15));
    assert!(law.outside_of_links().is_some());
}

#[test]
fn a_schedule_has_the_delay_of_its_time_and_only_on_links() {
    let text = "steps: [LatencyStep(at: \"0s\", is: Constant(\"5ms\")), LatencyStep(at: \"10s\", is: Constant(\"50ms\"))]";
    let law: LatencyModel =
        crate::scenario::part(&format!("Shifted(law: Schedule({text}, every: \"1min\"), later: \"1ms\")"))
            .unwrap();
    let at = |seconds: u64| law.as_dyn().quantile_at(Time::ZERO + Span::from_millis(1000 * seconds), 0.5);
    assert_eq!([0, 9, 10, 59, 60].map(at), [6, 6, 51, 51, 6].map(Span::from_millis));
    assert!((law.as_dyn().mean_seconds() - (10.0 * 0.005 + 50.0 * 0.05) / 60.0 - 0.001).abs() < 1e-9);
    assert!(law.outside_of_links().is_some());
    let inside = Truncated { law: Box::new(law), from: Span::ZERO, to: None };
    assert_eq!(inside.problems()[0].path, "law");
}

fn positive(number: f64) -> Positive {
    Positive::new(number).unwrap()
}

fn boxed(law: impl Into<LatencyModel>) -> Box<LatencyModel> {
    Box::new(law.into())
}

/// The distribution function at the quantile of u is u. For all examples with a density, rounding the quantile to a
/// nanosecond changes the function's value by less than 1e-6. Where the function has steps, its value may exceed u by the
/// height of one step.
#[test]
fn distribution_functions_invert_the_quantiles() {
    for model in examples() {
        let law = model.as_dyn();
        for k in 1..200 {
            let u = f64::from(k) / 200.0;
            let delay = law.quantile(u);
            let found = law.probability_within(delay);
            let steps = model.get::<Constant>().is_some() || model.get::<Empirical>().is_some();
            let steps = steps || model.get::<RoundTrips>().is_some() || model.get::<PathDelays>().is_some();
            let steps = steps || model.get::<DelayTrace>().is_some();
            let floor = delay == Span::ZERO;
            assert!(found >= u - 1e-6, "{}: {found} at {u}", model.name());
            assert!(steps || floor || found <= u + 1e-6, "{}: {found} at {u}", model.name());
        }
        assert!(law.probability_within(Span::MAX) > 1.0 - 1e-9, "{}", model.name());
    }
}

/// The default distribution function agrees with the closed form of the same model.
#[test]
fn the_default_distribution_function_is_found_from_the_quantiles() {
    struct Plain(Exponential);
    impl Latency for Plain {
        fn quantile(&self, u: f64) -> Span {
            self.0.quantile(u)
        }
        fn mean_seconds(&self) -> f64 {
            self.0.mean_seconds()
        }
    }
    let stated = Exponential { mean: Span::from_millis(10) };
    let plain = Plain(stated.clone());
    for ms in [0, 1, 5, 20, 100] {
        let delay = Span::from_millis(ms);
        let (a, b) = (plain.probability_within(delay), stated.probability_within(delay));
        assert!((a - b).abs() < 1e-6, "{ms}: {a} for {b}");
    }
}

#[test]
fn extreme_parameters_are_refused() {
    let ms = Span::from_millis;
    let path = |law: LatencyModel| law.as_dyn().problems().first().map(|problem| problem.path.clone());
    assert_eq!(path(Gamma { shape: positive(1e-9), scale: ms(1) }.into()).as_deref(), Some("shape"));
    assert_eq!(path(Weibull { scale: ms(1), shape: positive(0.001) }.into()).as_deref(), Some("shape"));
    let beta = Beta { a: positive(1.0), b: positive(1e9), low: ms(2), high: ms(3) };
    assert_eq!(path(beta.into()).as_deref(), Some("b"));
    let stages = std::num::NonZeroU32::new(2_000_000).unwrap();
    assert_eq!(path(Erlang { stages, mean: ms(1) }.into()).as_deref(), Some("stages"));
    assert_eq!(path(Gumbel { location: ms(1), scale: Span::ZERO }.into()).as_deref(), Some("scale"));
    let spread =
        |sigma| LogNormal { median: ms(1000), sigma: crate::vocab::NonNegative::new(sigma).unwrap() };
    assert_eq!(path(spread(40.0).into()).as_deref(), Some("sigma"));
    assert_eq!(path(spread(6.0).into()), None);
    let far = Scaled { law: boxed(Constant(ms(1))), factor: positive(1e300) };
    assert_eq!(path(far.into()).as_deref(), Some("factor"));
    // A problem of a model inside another model is reported with a path that begins at the outer model.
    let inside = Scaled { law: boxed(Gamma { shape: positive(1e-9), scale: ms(1) }), factor: positive(2.0) };
    let mixture = Mixture { parts: vec![Part { weight: positive(1.0), law: inside.into() }] };
    assert_eq!(path(mixture.into()).as_deref(), Some("parts[0].law.law.shape"));
}

/// `problems` reports nothing that only follows from an unread file, because `load` reports that the file could not be read.
#[test]
fn a_model_of_an_unread_file_is_unread() {
    let measured = || boxed(Empirical::new("none.csv".into(), "s".to_owned(), Span::from_millis(1000)));
    let one = |law: Box<LatencyModel>| Part { weight: positive(1.0), law: *law };
    for model in [
        *measured(),
        Jittered { base: Span::from_millis(1), jitter: measured() }.into(),
        Mixture { parts: vec![one(boxed(Constant(Span::from_millis(1)))), one(measured())] }.into(),
        Shifted { law: measured(), later: Span::from_millis(1), earlier: Span::ZERO }.into(),
        Scaled { law: measured(), factor: positive(2.0) }.into(),
        Truncated { law: measured(), from: Span::from_millis(10), to: None }.into(),
    ] {
        assert!(model.as_dyn().is_unread(), "{}", model.name());
        assert_eq!(model.as_dyn().problems(), [], "{}", model.name());
    }
    assert!(examples().iter().all(|model| !model.as_dyn().is_unread()));
}

#[test]
fn every_member_has_an_example() {
    assert_eq!(examples().len(), LatencyModel::names().len());
}

#[test]
fn means_are_the_integrals_of_the_quantiles() {
    // The midpoint rule over 200,000 cells has a relative error below 1e-4 for these distributions. The error is largest,
    // roughly 1e-5, for the log-logistic and the Pareto distribution with shape 4, whose quantiles grow fastest near u = 1.
    for model in examples() {
        let model = model.as_dyn();
        let cells = 200_000;
        let sum: f64 =
            (0..cells).map(|i| model.quantile((f64::from(i) + 0.5) / f64::from(cells)).seconds()).sum();
        let mean = sum / f64::from(cells);
        assert!((mean / model.mean_seconds() - 1.0).abs() < 1e-4, "{mean} {}", model.mean_seconds());
    }
}

#[test]
fn jitter_is_added_to_the_fixed_delay() {
    let jitter = Exponential { mean: Span::from_millis(10) };
    let law = Jittered { base: Span::from_millis(30), jitter: Box::new(jitter.clone().into()) };
    assert_eq!(law.quantile(0.5), Span::from_millis(30) + jitter.quantile(0.5));
    // The median is 30 ms + 10 ms ln 2.
    assert!((law.quantile(0.5).seconds() - 0.036_931_472).abs() < 1e-9);
    assert_eq!(law.mean_seconds(), 0.04);
}

#[test]
fn quantiles_are_monotone() {
    for model in examples() {
        let model = model.as_dyn();
        let mut last = Span::ZERO;
        for i in 1..1000 {
            let delay = model.quantile(f64::from(i) / 1000.0);
            assert!(last <= delay);
            last = delay;
        }
    }
}
