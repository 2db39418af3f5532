//! The outcomes of the trials, by setting, and the quantities that a run reports about its publication, with their proven
//! bounds.

use super::failure::CannotRelease;
use super::publication::{Guarantee, Measure, Task, Utility};
use crate::gp::{AdaptivePosterior, largest};
use crate::objectives::Instance;
use crate::protocols::stage::SeriesOutcome;

/// Settings tried and their outcomes, in order of arrival.
#[derive(Clone, Debug)]
pub(super) struct Trials {
    settings: Vec<usize>,
    outcomes: Vec<f64>,
    /// Whether the outcome of every trial is known: the scenario has no `silence`.
    complete: bool,
}

impl Trials {
    /// No trials yet; `complete` if the outcome of every trial will be known, that is, the scenario has no `silence`.
    pub(super) fn new(complete: bool) -> Self {
        Self { settings: Vec::new(), outcomes: Vec::new(), complete }
    }

    pub(super) fn add(&mut self, setting: usize, outcome: f64) {
        self.settings.push(setting);
        self.outcomes.push(outcome);
    }

    /// Settings and outcomes, in order of arrival.
    pub(super) fn all(&self) -> Vec<(u64, f64)> {
        self.settings.iter().map(|setting| *setting as u64).zip(self.outcomes.iter().copied()).collect()
    }

    /// The largest outcome.
    pub(super) fn best(&self) -> Option<f64> {
        self.outcomes.iter().copied().reduce(f64::max)
    }

    /// The outcome that arrived last.
    pub(super) fn last(&self) -> Option<f64> {
        self.outcomes.last().copied()
    }

    /// The settings, out of `n`, among which a private choice is made: all of them, or, if outcomes may be missing, those
    /// with a known outcome.
    pub(super) fn candidates(&self, n: usize) -> Vec<usize> {
        (0..n).filter(|&setting| self.complete || self.mean(setting).is_some()).collect()
    }

    /// The mean of the known outcomes of one setting; `None` if no outcome of this setting is known.
    pub(super) fn mean(&self, setting: usize) -> Option<f64> {
        let of = || self.settings.iter().zip(&self.outcomes).filter(|(tried, _)| **tried == setting);
        let count = of().count();
        (count > 0).then(|| of().map(|(_, outcome)| outcome).sum::<f64>() / count as f64)
    }

    /// The posterior mean at every setting, given the known outcomes.
    pub(super) fn posterior_mean(&self, task: &Task) -> Result<Vec<f64>, CannotRelease> {
        let surrogate = &task.surrogate;
        let mut posterior =
            AdaptivePosterior::new(task.covariance(), surrogate.noise_variance, surrogate.mean);
        for (&setting, &outcome) in self.settings.iter().zip(&self.outcomes) {
            posterior.observe(setting, outcome)?;
        }
        Ok(posterior.mean().to_vec())
    }

    /// The utility of each candidate ([`Self::candidates`]) among `n` settings. With [`Utility::PosteriorMean`], where no
    /// outcome can be missing, every setting is a candidate.
    pub(super) fn utilities(
        &self,
        task: &Task,
        n: usize,
        utility: Utility,
    ) -> Result<Vec<f64>, CannotRelease> {
        let untried = || CannotRelease::Untried;
        match utility {
            Utility::PosteriorMean => self.posterior_mean(task),
            Utility::Outcomes => {
                let candidates = self.candidates(n);
                if candidates.is_empty() {
                    return Err(untried());
                }
                candidates.into_iter().map(|s| self.mean(s).ok_or_else(untried)).collect()
            }
            Utility::OutcomesOfTried => {
                let worst = self.outcomes.iter().copied().reduce(f64::min).ok_or_else(untried)?;
                // A setting that was not tried gets a utility below that of every setting that was
                // tried.
                let candidates = self.candidates(n).into_iter();
                Ok(candidates.map(|s| self.mean(s).unwrap_or(worst - 1.0)).collect())
            }
        }
    }
}

/// The published setting and performance, and the noise-free value of the setting that one reader uses: the first reader to
/// receive the publication.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Published {
    pub(super) setting: Option<usize>,
    pub(super) value: Option<f64>,
    /// The noise-free value of the setting that this reader uses: the published setting, or a random setting if none is
    /// published. `None` until a reader has received the publication, or if the value is not known.
    pub(super) chosen: Option<f64>,
}

/// Every quantity of this run that can be reported, each with its bound if there is one. In the names, f is the
/// objective, lambda* its best setting, lambda~ the published setting (a random setting if none is published), v the
/// outcomes, v(lambda~) the mean outcome of lambda~, v~ the published performance, mu_T the posterior mean after all
/// trials, and mu_T' the posterior mean after all trials on the neighbouring data set.
pub(super) fn outcomes(
    instance: &Instance,
    task: &Task,
    (trials, neighbour): (&Trials, Option<&Trials>),
    published: Published,
    guarantees: &[Guarantee],
) -> Result<Vec<SeriesOutcome>, CannotRelease> {
    let mut found: Vec<(Measure, &str, f64)> = Vec::new();
    // Without a published setting, the reader's setting is random. The regret of this random setting is reported if nothing
    // at all is published, and not reported if a performance alone is published.
    let told = published.setting.is_some() || published.value.is_none();
    // If the objective's largest value is not known, nothing is compared with it.
    let known = instance.continuum().is_none_or(|continuum| continuum.best_is_known);
    if let Some(value) = published.chosen.filter(|_| told && known) {
        let regret = instance.best() - value;
        found.push((Measure::SettingRegret, "f(lambda*) - f(lambda~)", regret));
    }
    let asked = |measure| guarantees.iter().any(|guarantee| guarantee.measure == measure);
    if let Some(setting) = published.setting {
        if asked(Measure::PosteriorGap) {
            let mean = trials.posterior_mean(task)?;
            let gap = mean[largest(&mean)] - mean[setting];
            found.push((Measure::PosteriorGap, "max mu_T - mu_T(lambda~)", gap));
        }
        if asked(Measure::OutcomeGap)
            && let (Some(best), Some(here)) = (trials.best(), trials.mean(setting))
        {
            found.push((Measure::OutcomeGap, "max v - v(lambda~)", best - here));
        }
    }
    if let Some(neighbour) = neighbour.filter(|_| asked(Measure::RealisedSensitivity)) {
        let (mean, other) = (trials.posterior_mean(task)?, neighbour.posterior_mean(task)?);
        let apart = mean.iter().zip(other).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        found.push((Measure::RealisedSensitivity, "max |mu_T - mu_T'|", apart));
    }
    if let Some(value) = published.value {
        if known {
            let error = (value - instance.best()).abs();
            found.push((Measure::ErrorAgainstOptimum, "|v~ - f(lambda*)|", error));
        }
        if let Some(best) = trials.best().filter(|_| asked(Measure::ErrorAgainstBest)) {
            found.push((Measure::ErrorAgainstBest, "|v~ - max v|", (value - best).abs()));
        }
        if asked(Measure::ErrorAtSetting)
            && let Some(here) = published.setting.and_then(|setting| trials.mean(setting))
        {
            found.push((Measure::ErrorAtSetting, "|v~ - v(lambda~)|", (value - here).abs()));
        }
    }
    let bound = |measure| {
        guarantees.iter().find(|guarantee| guarantee.measure == measure).map(|found| found.bound.clone())
    };
    let named = |(measure, name, value): (Measure, &str, f64)| SeriesOutcome {
        bound: bound(measure),
        ..SeriesOutcome::new(name, value)
    };
    Ok(found.into_iter().map(named).collect())
}
