//! Losses in bursts.

use super::{Loss, LossProcess};
use crate::vocab::{Probability, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A link with a good and a bad state, each with its own probability of a loss. Between two messages the state may change
/// (Gilbert 1960, Elliott 1963).
///
/// At the first message, the link is in each state with that state's long-run probability.
///
/// Example: `GilbertElliott(worsens: 0.01, recovers: 0.3, loss_bad: 0.5)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GilbertElliott {
    /// Probability, per message, of a change from the good to the bad state; above 0.
    pub worsens: Probability,
    /// Probability, per message, of a change from the bad to the good state; a bad period lasts 1 / `recovers` messages on
    /// average.
    pub recovers: Probability,
    /// Probability that a message is lost in the good state. Default: 0.
    #[serde(default = "never")]
    pub loss_good: Probability,
    /// Probability that a message is lost in the bad state. Default: 1.
    #[serde(default = "surely")]
    pub loss_bad: Probability,
}

fn never() -> Probability {
    Probability::new(0.0).expect("0 is a probability")
}

fn surely() -> Probability {
    Probability::new(1.0).expect("1 is a probability")
}

impl GilbertElliott {
    /// The long-run share of messages for which the link is in its bad state.
    fn share_bad(&self) -> f64 {
        let (worsens, recovers) = (self.worsens.get(), self.recovers.get());
        if worsens + recovers > 0.0 { worsens / (worsens + recovers) } else { 0.0 }
    }
}

impl Loss for GilbertElliott {
    fn start(&self) -> Box<dyn LossProcess> {
        Box::new(Chain { recipe: *self, bad: None })
    }

    fn mean(&self) -> f64 {
        let bad = self.share_bad();
        (1.0 - bad) * self.loss_good.get() + bad * self.loss_bad.get()
    }

    fn problems(&self) -> Vec<Problem> {
        if self.worsens.get() > 0.0 {
            return Vec::new();
        }
        let cure = "raise it, or write Independent(..) for losses without bursts";
        vec![Problem::wrong(
            "worsens",
            "a probability above 0",
            "0: the link never enters the bad state",
            cure,
        )]
    }
}

#[derive(Clone, Debug)]
struct Chain {
    recipe: GilbertElliott,
    /// Whether the link is in the bad state for the next message; `None` before the first message.
    bad: Option<bool>,
}

/// Makes two results of one uniform draw `u`: whether it is below `p`, and a second draw, uniform on [0, 1) and independent
/// of the first result.
fn split(u: f64, p: f64) -> (bool, f64) {
    if u < p { (true, u / p) } else { (false, (u - p) / (1.0 - p)) }
}

impl LossProcess for Chain {
    /// The initial state, the loss and the change of state all come from one draw, since every loss model uses one random
    /// word per message.
    fn drops(&mut self, mut u: f64) -> bool {
        let bad = self.bad.unwrap_or_else(|| {
            let (bad, rest) = split(u, self.recipe.share_bad());
            u = rest;
            bad
        });
        let loss = if bad { self.recipe.loss_bad } else { self.recipe.loss_good };
        let (lost, rest) = split(u, loss.get());
        let change = if bad { self.recipe.recovers } else { self.recipe.worsens };
        let (changes, _) = split(rest, change.get());
        self.bad = Some(bad != changes);
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Key;

    fn recipe(worsens: f64, recovers: f64, good: f64, bad: f64) -> GilbertElliott {
        let p = |value| Probability::new(value).unwrap();
        GilbertElliott { worsens: p(worsens), recovers: p(recovers), loss_good: p(good), loss_bad: p(bad) }
    }

    #[test]
    fn losses_come_at_the_stated_rate_and_in_bursts() {
        let recipe = recipe(0.05, 0.25, 0.0, 1.0);
        let mut process = recipe.start();
        let mut stream = Key::root(8).stream();
        let (mut lost, mut bursts, mut last) = (0u32, 0u32, false);
        let n = 200_000;
        for _ in 0..n {
            let now = process.drops(stream.uniform());
            lost += u32::from(now);
            bursts += u32::from(now && !last);
            last = now;
        }
        let share = f64::from(lost) / f64::from(n);
        // The expected share is 1/6. The correlation of successive losses is 1 - 0.05 - 0.25 = 0.7, so the variance of the
        // share is that for independent losses times (1 + 0.7) / (1 - 0.7) = 5.67. The standard error of the share is
        // sqrt(5/36 * 5.67 / 200,000) = 0.00198.
        assert!((share - recipe.mean()).abs() < 6.0 * 0.00198, "{share}");
        assert!((recipe.mean() - 1.0 / 6.0).abs() < 1e-12);
        // The lengths of bursts are geometric with mean 4 and standard deviation sqrt(12). There are roughly 8,300 bursts,
        // so the mean length has a standard error of 0.038.
        let length = f64::from(lost) / f64::from(bursts);
        assert!((length - 4.0).abs() < 6.0 * 0.038, "{length}");
    }

    #[test]
    fn a_link_that_never_recovers_has_a_loss_of_one() {
        assert_eq!(recipe(0.1, 0.0, 0.0, 1.0).mean(), 1.0);
        assert_eq!(recipe(0.0, 0.5, 0.1, 1.0).mean(), 0.1);
        assert_eq!(recipe(0.0, 0.5, 0.1, 1.0).problems().len(), 1);
    }
}
