//! Informative silence: an answer is missing with a probability that depends on its value or its regret.

use super::pair::{Distinguisher, KnownLaws, Pair};
use super::real_deviates::coin;
use super::{Mechanism, MechanismError, Price};
use crate::rng::Stream;
use crate::vocab::{Arithmetic, Basis, Cost, Finite, Neighbours, Positive, Probability, Problem, Sampler};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What silence depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum SilenceBy {
    /// The value that would be answered.
    Value,
    /// The regret: the largest possible value, minus the value that would be answered.
    Regret,
}

/// An answer that is missing because of its value or its regret.
///
/// For a value or regret x, the probability p(x) that the answer is missing is logistic in the standardised x, and
/// clipped to the range from `least` to `most`. Before clipping it is 1 / (1 + exp(-(ln(b / (1 - b)) + slope
/// (x - centre) / scale))), with b = `base_rate`. Whether an answer is missing is drawn anew for each answer.
///
/// * Precondition: none (a value that is NaN has the base rate).
/// * Postcondition: an observer who sees whether there is an answer learns one bit, whose distributions for two values
///   x and x' are Bernoulli(p(x)) and Bernoulli(p(x')). Both probabilities lie between `least` and `most`, so the
///   likelihood ratio is at most max(most / least, (1 - least) / (1 - most)). The logarithm of this maximum is the epsilon
///   of the bit. With `least: 0` or `most: 1` there is no bound, and the loss is infinite (unless the slope is 0).
///
/// Source: Rubin 1976, "Inference and missing data" (data that are missing not at random); Warner 1965 for a random bit
/// whose probability depends on the value.
///
/// Example: `Informative(by: Value, slope: -1, base_rate: 0.3, least: 0.1, most: 0.6)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Informative {
    /// What silence depends on: `Value` or `Regret`.
    pub by: SilenceBy,
    /// Change of the logit of the probability per `scale`: above 0 if large values (or regrets) are missing more often,
    /// below 0 if small values (or regrets) are.
    pub slope: Finite,
    /// Probability that an answer at the centre is missing, above 0 and below 1.
    pub base_rate: Probability,
    /// The value (or regret) at which the probability is `base_rate`. Default: 0.
    #[serde(default = "zero")]
    pub centre: Finite,
    /// The change of the value (or regret) that changes the logit by `slope`. Default: 1.
    #[serde(default = "one")]
    pub scale: Positive,
    /// Smallest probability that an answer is missing. Default: 0, with which silence has no finite epsilon.
    #[serde(default = "never")]
    pub least: Probability,
    /// Largest probability that an answer is missing. Default: 1, with which silence has no finite epsilon.
    #[serde(default = "always")]
    pub most: Probability,
}

fn zero() -> Finite {
    Finite::new(0.0).expect("0 is finite")
}

fn one() -> Positive {
    Positive::new(1.0).expect("1 is above 0")
}

fn never() -> Probability {
    Probability::new(0.0).expect("0 is a probability")
}

fn always() -> Probability {
    Probability::new(1.0).expect("1 is a probability")
}

/// Bound on the relative error of a quotient, and of a logarithm.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

impl Informative {
    /// The probability that an answer with this value (or regret) is missing.
    #[must_use]
    pub fn chance(&self, of: f64) -> f64 {
        let base = self.base_rate.get();
        let logit = libm::log(base) - libm::log1p(-base);
        let far = (of - self.centre.get()) / self.scale.get();
        // An overflow of the product below makes the probability 0 or 1 before it is clipped.
        let steep = self.slope.get() * far;
        let chance = if steep.is_nan() { base } else { 1.0 / (1.0 + libm::exp(-(logit + steep))) };
        chance.clamp(self.least.get(), self.most.get())
    }

    /// The quantity that silence depends on, for an answer of this value where `best` is the largest possible value.
    #[must_use]
    pub fn of(&self, value: f64, best: f64) -> f64 {
        match self.by {
            SilenceBy::Value => value,
            SilenceBy::Regret => best - value,
        }
    }

    /// Whether silence depends on the value at all.
    #[must_use]
    pub fn depends(&self) -> bool {
        self.slope.get() != 0.0 && self.least.get() < self.most.get()
    }

    /// The epsilon of one answer or silence; infinite without bounds on the probability.
    #[must_use]
    pub fn epsilon(&self) -> f64 {
        let (least, most) = (self.least.get(), self.most.get());
        if !self.depends() {
            return 0.0;
        }
        let ratio = (most / least).max((1.0 - least) / (1.0 - most));
        libm::log(ratio * (1.0 + ROUNDING)) * (1.0 + ROUNDING)
    }

    /// The warning of the command `check` about informative silence: `who` ("a user") is silent, and `whom` ("the service")
    /// learns something from the silence. `path` is the place of the recipe in the scenario. `None` if silence does not
    /// depend on the value.
    #[must_use]
    pub fn warning(&self, path: &str, who: &str, whom: &str) -> Option<String> {
        let by = match self.by {
            SilenceBy::Value => "value",
            SilenceBy::Regret => "regret",
        };
        let missing = format!(
            "{path}: whether {who} is silent depends on its {by}, so the answers heard are not a representative sample"
        );
        let revealed = match self.epsilon() {
            epsilon if epsilon.is_finite() => {
                format!(
                    "whether there is an answer reveals something about its {by} to {whom}, at epsilon {epsilon:.3} each time (in the ledger)"
                )
            }
            _ => format!(
                "whether there is an answer reveals its {by} to {whom} without a bound: the privacy loss is infinite, unless `least` \
                 is above 0 and `most` below 1"
            ),
        };
        self.depends().then(|| format!("{missing}; {revealed}"))
    }

    /// What is wrong with the recipe.
    #[must_use]
    pub fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let base = self.base_rate;
        if !(base.get() > 0.0 && base.get() < 1.0) {
            let cure = "write a rate such as 0.2; silence that depends on nothing has a separate setting";
            problems.push(Problem::wrong("base_rate", "a rate above 0 and below 1", base.to_string(), cure));
        }
        if self.least > self.most {
            let found = format!("{}, above `most`, {}", self.least, self.most);
            problems.push(Problem::wrong(
                "least",
                "a probability up to `most`",
                found,
                "swap the two values",
            ));
        } else if !(self.least..=self.most).contains(&base) {
            let expected = format!("a rate from `least` to `most`, {} to {}", self.least, self.most);
            let cure = "move the bounds apart, or the rate between them";
            problems.push(Problem::wrong("base_rate", expected, base.to_string(), cure));
        }
        problems
    }
}

const NAME: &str = "logistic silence";

impl Mechanism for Informative {
    /// The value (or regret) of the answer.
    type Input = f64;
    /// Whether the answer is missing.
    type Output = bool;

    fn price(&self, _: &f64, _: &Neighbours) -> Result<Price, MechanismError> {
        let epsilon = self.epsilon();
        let bounded = epsilon.is_finite();
        Ok(Price {
            mechanism: NAME,
            sampler: Sampler::Full,
            sensitivity: None,
            cost: if bounded { Cost::PureDp { epsilon } } else { Cost::Unprotected },
            claim: None,
            basis: if bounded { Basis::Proven } else { Basis::Unprotected },
            arithmetic: if bounded { Arithmetic::Exact } else { Arithmetic::Noiseless },
        })
    }

    fn privatise(&self, input: &f64, stream: &mut Stream) -> Result<bool, MechanismError> {
        Ok(coin(self.chance(*input), stream))
    }

    fn worst_pair(&self, _: &f64) -> Option<Pair<f64>> {
        self.depends().then(|| Pair::new(f64::MAX, f64::MIN, "the value"))
    }

    fn distinguisher(&self, [a, b]: [&f64; 2]) -> Result<Distinguisher<bool>, MechanismError> {
        let [p, q] = [self.chance(*a), self.chance(*b)];
        let silent = libm::log(p / q);
        let heard = libm::log1p(-p) - libm::log1p(-q);
        let log_ratio = move |missing: &bool| if *missing { silent } else { heard };
        Ok(Distinguisher::by_ratio(log_ratio, KnownLaws::largest_of([silent, heard])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Key;

    fn recipe(text: &str) -> Informative {
        crate::scenario::part(&format!("Informative({text})")).unwrap()
    }

    #[test]
    fn the_probability_is_logistic_between_its_bounds() {
        let silence =
            recipe("by: Value, slope: 2, base_rate: 0.2, centre: 1, scale: 4, least: 0.1, most: 0.7");
        assert!((silence.chance(1.0) - 0.2).abs() < 1e-15);
        // One scale above the centre: logit(0.2) + 2 = 0.6137, whose logistic is 0.6488.
        assert!((silence.chance(5.0) - 0.648_786).abs() < 1e-6);
        assert_eq!((silence.chance(1e9), silence.chance(-1e9)), (0.7, 0.1));
        assert_eq!(
            (silence.chance(f64::MAX), silence.chance(f64::INFINITY), silence.chance(f64::NAN)),
            (0.7, 0.7, 0.2)
        );
        let by_regret = Informative { by: SilenceBy::Regret, ..silence };
        assert_eq!((silence.of(2.0, 5.0), by_regret.of(2.0, 5.0)), (2.0, 3.0));
    }

    /// Two neighbouring values: a large one, which is missing with probability `most`, and a small one, which is missing
    /// with probability `least`. Silence is drawn 200,000 times for each. For each value, the share of missing answers
    /// differs from the probability by less than six standard errors. The logarithm of the ratio of the two shares differs
    /// from epsilon by less than the sum, over the two values, of six standard errors divided by the probability.
    #[test]
    fn the_loss_is_that_of_the_two_laws() {
        let silence = recipe("by: Value, slope: 3, base_rate: 0.3, least: 0.05, most: 0.6");
        // ln max(0.6 / 0.05, 0.95 / 0.4) = ln 12.
        assert!((silence.epsilon() - 12f64.ln()).abs() < 1e-12);
        let n = 200_000;
        let share = |value: f64, key: u64| {
            let mut stream = Key::root(key).stream();
            (0..n).filter(|_| silence.privatise(&value, &mut stream).unwrap()).count() as f64 / f64::from(n)
        };
        let (large, small) = (share(9.0, 1), share(-9.0, 2));
        let error = |p: f64| 6.0 * (p * (1.0 - p) / f64::from(n)).sqrt();
        assert!((large - 0.6).abs() < error(0.6) && (small - 0.05).abs() < error(0.05), "{large} {small}");
        let ratio = (large / small).ln();
        let error = error(0.6) / 0.6 + error(0.05) / 0.05;
        assert!((ratio - silence.epsilon()).abs() < error, "{ratio}");
    }

    #[test]
    fn without_bounds_nothing_is_protected() {
        let free = Neighbours::AnyValue;
        for text in ["by: Value, slope: 1, base_rate: 0.2", "by: Value, slope: 1, base_rate: 0.2, most: 0.9"]
        {
            assert_eq!(recipe(text).price(&0.0, &free).unwrap().cost, Cost::Unprotected, "{text}");
        }
        let same = recipe("by: Value, slope: 0, base_rate: 0.2");
        assert!(!same.depends() && same.epsilon() == 0.0);
    }

    #[test]
    fn both_answers_have_the_log_ratio_of_their_probabilities() {
        let silence =
            recipe("by: Value, slope: -1.5, base_rate: 0.3, centre: 2, scale: 0.5, least: 0.2, most: 0.9");
        // ln max(0.9 / 0.2, 0.8 / 0.1), with a margin of a few units in the last place.
        let epsilon = silence.epsilon();
        assert!(epsilon > 8f64.ln() && epsilon < 8f64.ln() * (1.0 + 1e-14), "{epsilon}");
        let [p, q] = [1.8, 2.3].map(|value| silence.chance(value));
        assert!((p - 1.0 / (1.0 + (7.0 / 3.0) * libm::exp(-0.6))).abs() < 1e-14, "{p}");
        let found = silence.distinguisher([&1.8, &2.3]).unwrap();
        let (silent, heard) = (libm::log(p / q), libm::log((1.0 - p) / (1.0 - q)));
        assert!((found.log_ratio(&true) - silent).abs() < 1e-14 && silent > 0.1);
        assert!((found.log_ratio(&false) - heard).abs() < 1e-14 && heard < -0.1);
        let Some(KnownLaws { laws: crate::privacy::mechanisms::pair::Laws::Largest(largest), .. }) =
            found.laws
        else {
            panic!("a bound");
        };
        assert!((largest[0] - silent).abs() < 1e-14 && (largest[1] + heard).abs() < 1e-14);
        let pair = silence.worst_pair(&0.0).unwrap();
        let [low, high] = pair.inputs.map(|value| silence.chance(value));
        assert_eq!((low, high), (0.2, 0.9));
        assert!(
            recipe("by: Value, slope: 1, base_rate: 0.3, least: 0.3, most: 0.3").worst_pair(&0.0).is_none()
        );
    }

    #[test]
    fn rates_that_the_bounds_exclude_are_refused() {
        let problems = |text: &str| format!("{:?}", recipe(text).problems());
        assert_eq!(problems("by: Value, slope: 1, base_rate: 0.2, least: 0.2, most: 0.2"), "[]");
        for text in ["base_rate: 0, most: 0.5", "base_rate: 1, least: 0.5"] {
            let found = problems(&format!("by: Value, slope: 1, {text}"));
            assert!(found.contains("above 0 and below 1"), "{found}");
        }
        let swapped = problems("by: Value, slope: 1, base_rate: 0.5, least: 0.6, most: 0.4");
        assert!(swapped.contains("swap the two values") && !swapped.contains("move the bounds"), "{swapped}");
        for base in ["0.3", "0.7"] {
            let found = problems(&format!("by: Value, slope: 1, base_rate: {base}, least: 0.4, most: 0.6"));
            assert!(found.contains("move the bounds apart"), "{found}");
        }
        let warned = |text: &str| recipe(text).warning("p", "a user", "the service");
        let bounded = warned("by: Value, slope: 1, base_rate: 0.3, least: 0.1, most: 0.5").unwrap();
        assert!(
            bounded.contains("depends on its value") && bounded.contains("at epsilon 1.609"),
            "{bounded}"
        );
        let free = warned("by: Regret, slope: 1, base_rate: 0.3").unwrap();
        assert!(free.contains("depends on its regret") && free.contains("without a bound"), "{free}");
        assert_eq!(warned("by: Value, slope: 0, base_rate: 0.3"), None);
    }

    /// The stated loss covers rounding: it is above the logarithm of the largest likelihood ratio, max(most / least,
    /// (1 - least) / (1 - most)), by no more than 1e-9 of this logarithm.
    #[test]
    fn the_stated_loss_is_above_the_ratio_of_the_bounds() {
        for (least, most, ratio) in
            [(0.5, 0.6, 1.25), (0.25, 0.5, 2.0), (0.5, 0.75, 2.0), (0.5, 0.5625, 1.142_857_142_857_142_8)]
        {
            let own = recipe(&format!("by: Value, slope: 1, base_rate: 0.55, least: {least}, most: {most}"));
            let over = own.epsilon() / libm::log(ratio) - 1.0;
            assert!(over > 0.0 && over < 1e-9, "{least} {most}: {over:e}");
        }
    }
}
