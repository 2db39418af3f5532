//! Learners and searches that are not the library's: series by name, bounds, arms that there are not, programs in forks.

use std::error::Error;
use std::sync::Arc;
use subrosa::gp::covariance::Covariance;
use subrosa::gp::{GpError, Points};
use subrosa::kernel::{Process, ProcessContext};
use subrosa::learners::{
    Arms, BetaSchedule, BuildError, GpUcb, Learner, LearnerModel, LearnerRecipe, Random, Theorem,
};
use subrosa::network::latency::Constant;
use subrosa::network::topology::Mesh;
use subrosa::network::{Link, Network};
use subrosa::objectives::{Instance, Noise, ProblemFacts, Surrogate};
use subrosa::privacy::Released;
use subrosa::privacy::mechanisms::{Disclosed, InputRelease, OutcomeRelease};
use subrosa::protocols::outsourced::{Outsourced, SeriesRecipe};
use subrosa::protocols::{
    ActiveParties, Parts, Protocol, ReplicationSetup, Retry, RunOptions, Search, SearchProtocol,
    SearchSeries, SearchSettings, SeriesRecord, end_refused,
};
use subrosa::rng::{Key, Stream};
use subrosa::vocab::Span;

subrosa::messages! {
    /// The messages.
    enum Message {
        Measure { round: u64, arm: u64 } = 0,
        Outcome { round: u64, outcome: Released<f64> } = 1,
    }
}

type Lab = SearchProtocol<Message>;

/// A service has a device measure arms; it asks for `shift` arms further than the learner says.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
struct Remote {
    rounds: u64,
    shift: u64,
    series: Vec<SearchSeries>,
}

impl Search for Remote {
    type World = Lab;

    fn settings(&self) -> SearchSettings<'_> {
        let settings = SearchSettings::new(("service", "a"), ("device", "b"), self.rounds, &self.series);
        settings.retrying(Retry::default())
    }

    fn active_parties(
        &self,
        Parts { searcher, searcher_id, measurer, measurer_id, key }: Parts,
    ) -> ActiveParties<Lab> {
        let shift = self.shift;
        let service = Process::new(key, async move |ctx: ProcessContext<Lab>| {
            let ask = async |round, arm: u64| {
                let question = Message::Measure { round, arm: arm + shift };
                let answer = move |message: &Message| match message {
                    Message::Outcome { round: answered, outcome } if *answered == round => {
                        Some(*outcome.get())
                    }
                    _ => None,
                };
                Retry::default().ask(&ctx, measurer_id, question, answer).await
            };
            searcher.clone().search(ctx.clone(), ask).await;
        });
        let device = Process::new(key, async move |mut ctx: ProcessContext<Lab>| {
            let mut measurer = measurer.clone();
            while let (from, Message::Measure { round, arm }) = ctx.receive().await {
                match measurer.answer(&mut ctx, round, arm) {
                    Ok(outcome) => ctx.send(from, Message::Outcome { round, outcome }),
                    Err(error) => return end_refused(&mut ctx, "the device releases nothing", &error),
                }
            }
        });
        vec![(searcher_id, Box::new(service.forkable())), (measurer_id, Box::new(device.forkable()))]
    }
}

fn remote(learners: impl IntoIterator<Item = LearnerModel>) -> Remote {
    Remote { rounds: 8, shift: 0, series: learners.into_iter().map(SearchSeries::from).collect() }
}

/// Twenty arms of different values, without noise.
fn instance() -> Instance {
    let inputs: Vec<f64> = (0..20).map(|arm| f64::from(arm) / 19.0).collect();
    Instance {
        values: Arc::new(inputs.iter().map(|x| libm::sin(5.0 * x) + 0.01 * x).collect()),
        inputs: Arc::new(Points::new(20, 1, inputs)),
        noise: Noise::gaussian(0.0),
        surrogate: Surrogate {
            covariance: Covariance::squared_exponential(0.2, 1.0),
            noise_variance: 0.01,
            mean: 0.0,
        },
        background: ProblemFacts::default(),
    }
}

fn stage(options: RunOptions) -> ReplicationSetup {
    let link = Link { latency: Constant(Span::from_millis(10)).into(), ..Link::default() };
    let network = Network::new(Mesh {}.into(), link);
    ReplicationSetup { instance: Some(instance()), options, ..ReplicationSetup::new(["a", "b"], network) }
}

fn play(recipe: &dyn Protocol, options: RunOptions) -> Result<Vec<SeriesRecord>, Box<dyn Error>> {
    Ok(recipe.play(&stage(options), Key::root(3))?)
}

#[test]
fn series_of_one_kind_have_names_of_their_own() {
    let mut two = remote([GpUcb::default().into(), GpUcb::default().into()]);
    let problems = two.problems(&stage(RunOptions::default()));
    let said = format!("{problems:?}");
    assert!(problems.len() == 1 && problems[0].path == "series[1].name", "{said}");
    assert!(said.contains("a name that no earlier series has") && said.contains("name: "), "{said}");
    two.series[1].name = Some("wide".to_owned());
    assert_eq!(two.problems(&stage(RunOptions::default())), []);
    assert_eq!(two.series(), ["GpUcb", "wide"]);
    let records = play(&two, RunOptions::default()).unwrap();
    assert_eq!(records.iter().map(|record| record.name.as_str()).collect::<Vec<_>>(), ["GpUcb", "wide"]);
    assert_eq!(records[0].digest, records[1].digest, "one learner on the same draws");
}

/// GP-UCB under another name, and with the capability left out.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
struct Own(GpUcb, bool);

impl LearnerRecipe for Own {
    fn theorem(&self, arms: &Arms) -> Option<Theorem> {
        self.0.theorem(arms)
    }
    fn upper_confidence(&self) -> Option<BetaSchedule> {
        self.1.then_some(self.0.beta)
    }
    fn build(&self, arms: &Arms) -> Result<Box<dyn Learner>, BuildError> {
        self.0.build(arms)
    }
}

#[test]
fn a_learner_of_ones_own_that_states_its_widths_has_bounds() {
    let bounds = |learner: LearnerModel| {
        let series = SeriesRecipe {
            name: "series".to_owned(),
            release: InputRelease::from(Disclosed {}),
            outcomes: OutcomeRelease::default(),
            learner,
        };
        let outsourced = Outsourced {
            curator: "a".to_owned(),
            modeler: "b".to_owned(),
            rounds: 8,
            initial_points: 1,
            queries_at_once: std::num::NonZeroU64::MIN,
            retry: Retry::default(),
            silence: None,
            series: vec![series],
        };
        play(&outsourced, RunOptions::default()).unwrap().remove(0).bounds
    };
    let theirs = bounds(GpUcb::default().into());
    assert_eq!(theirs.len(), 1);
    let own = bounds(Own(GpUcb::default(), true).into());
    assert_eq!((own.len(), &own[0].points), (1, &theirs[0].points));
    assert!(bounds(Own(GpUcb::default(), false).into()).is_empty());
    assert!(bounds(Random {}.into()).is_empty());
}

/// Chooses arm 3 and then, in its fifth round, the first arm that there is not.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
struct Beyond;

#[derive(Clone, Debug)]
struct Counting(usize, u32);

impl LearnerRecipe for Beyond {
    fn build(&self, arms: &Arms) -> Result<Box<dyn Learner>, BuildError> {
        Ok(Box::new(Counting(arms.n, 0)))
    }
}

impl Learner for Counting {
    fn arms(&self) -> usize {
        self.0
    }
    fn suggest(&mut self, _: &mut Stream) -> usize {
        self.1 += 1;
        if self.1 == 5 { self.0 } else { 3 }
    }
    fn observe(&mut self, _: usize, _: f64) -> Result<(), GpError> {
        Ok(())
    }
}

#[test]
fn an_arm_that_there_is_not_fails_the_replication_with_a_reason() {
    let error = play(&remote([Beyond.into()]), RunOptions::default()).unwrap_err().to_string();
    assert_eq!(
        error,
        "series \"Beyond\": the learner Beyond chose arm 20, and the last arm is 19: its `suggest` must return a number below the \
         number of arms"
    );
    // A party that asks for it by itself ends its series.
    let shifted = Remote { shift: 20, ..remote([Random {}.into()]) };
    let record = play(&shifted, RunOptions::default()).unwrap().remove(0);
    let reason = record.ended_early.unwrap();
    assert!(reason.contains("an arm from 0 to 19, found arm "), "{reason}");
    assert!(record.iterations.is_empty());
}

/// Programs in forks of co-routines.
#[cfg(unix)]
mod forks {
    use super::*;
    use serde_json::Value;
    use std::fs;
    use std::path::Path;
    use subrosa::learners::External;
    use subrosa::network::loss::Independent;
    use subrosa::programs::{Program, Programs};
    use subrosa::protocols::{Fork, ForkPoint, ForkStates};
    use subrosa::vocab::Probability;

    /// Chooses at random, and no seed is asked; notes what it is sent.
    const AT_RANDOM: &str = r#"
while IFS= read -r line; do
    printf '%s\n' "$line" >> asked.log
    id=${line#*\"id\":}; id=${id%%,*}; id=${id%%\}*}
    case $line in
    *'"hello"'*) printf '{"id":%s,"protocol":1,"version":"at random"}\n' "$id" ;;
    *'"begin"'*) printf '{"id":%s}\n' "$id" ;;
    *) printf '{"id":%s,"arm":%s}\n' "$id" "$(($(od -An -N2 -tu2 /dev/urandom) % 20))" ;;
    esac
done
"#;

    fn asked(place: &Path, what: &str) -> Vec<Value> {
        let text = fs::read_to_string(place.join("asked.log")).unwrap();
        let lines = text.lines().filter(|line| line.contains(&format!("\"ask\":\"{what}\"")));
        lines.map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The copy of a co-routine goes through all that it heard once more, and asks its questions again.
    #[test]
    fn a_copy_has_the_answers_that_were_given() {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("program.sh"), AT_RANDOM).unwrap();
        let program = External {
            command: vec!["sh".to_owned(), "program.sh".to_owned()],
            timeout: Program::default_timeout(),
            files: Vec::new(),
            inputs: false,
        };
        let recipe = remote([program.into()]);
        let (worlds, programs) = (ForkStates::default(), Programs::started(place.path(), &[], None));
        let directed =
            |fork| RunOptions { fork: Some(fork), programs: programs.clone(), ..RunOptions::default() };
        let trunk = Fork::Trunk(ForkPoint::Round(4), worlds.clone());
        let trunk = play(&recipe, directed(trunk)).unwrap().remove(0);
        assert_eq!((asked(place.path(), "suggest").len(), asked(place.path(), "begin").len()), (8, 1));
        // A branch that changes nothing comes to the same questions, and has the same answers.
        let same = play(&recipe, directed(Fork::Branch(worlds.clone(), Arc::default()))).unwrap().remove(0);
        assert_eq!(same.digest, trunk.digest);
        assert_eq!(asked(place.path(), "suggest").len(), 8, "nothing was asked twice");
        // On another network too: no answer is lost for good, so each round has the outcome of the arm that was chosen for
        // it.
        let mut lossy = stage(directed(Fork::Branch(worlds, Arc::default())));
        lossy.network.default.loss = Independent(Probability::new(0.5).unwrap()).into();
        let lossy = recipe.play(&lossy, Key::root(3)).unwrap().remove(0);
        let arms = |record: &SeriesRecord| record.iterations.iter().map(|i| i.arm).collect::<Vec<_>>();
        assert_eq!((arms(&lossy), lossy.iterations.len()), (arms(&trunk), 9));
        assert!(lossy.messages_lost > 0 && lossy.digest != trunk.digest);
        assert_eq!(asked(place.path(), "suggest").len(), 8);
        let told = asked(place.path(), "suggest")
            .into_iter()
            .flat_map(|line| line["told"].as_array().unwrap().clone());
        let values = instance().values;
        let mut outcomes = 0;
        for step in told {
            let value = values[step["arm"].as_u64().unwrap() as usize];
            assert!(
                (step["outcome"].as_f64().unwrap() - value).abs() < 1e-12,
                "{step}, where {value} is its value"
            );
            outcomes += 1;
        }
        assert_eq!(outcomes, 8, "the initial point's, and all but the last choice's");
    }
}

/// A learner that needs a bound on the function, with a protocol that states none: `check` refuses it, so that no run
/// begins and fails.
#[test]
fn a_search_refuses_a_learner_without_its_quantities() {
    let learner = |text: &str| subrosa::scenario::part::<LearnerModel>(text).unwrap();
    let problems = |text: &str| remote([learner(text)]).problems(&stage(RunOptions::default()));
    let lacking = "TgpUcb(payoffs: HeavyTailed(central_moment: 2))";
    let found = problems(lacking);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].path.starts_with("series[0].learner.TgpUcb"), "{found:?}");
    assert!(play(&remote([learner(lacking)]), RunOptions::default()).is_err());
    assert_eq!(problems(&lacking.replace("(payoffs", "(bound: 2, payoffs")), []);
}
