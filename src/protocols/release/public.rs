//! Facts about the owner's records that observers know and that no ledger entry accounts for.

use super::publication::{Search, Task};
use super::recipe::{Release, ReleaseSeries};
use crate::objectives::Instance;
use crate::vocab::{Origin, PublicFact};

/// Name of the observer of a publication. This one observer stands for all parties in `readers` together.
pub(super) const PUBLIC: &str = "anyone who reads the publication";

/// The numbers that describe a tuning task. The scale of the noise is computed from these numbers.
const TASK_FACTS: &str =
    "number of validation records, range and Lipschitz constant of the loss, and regularisation parameters";

/// What is taken as public about the timing of messages if the number of trials is fixed.
const TIMES: &str = "times and number of messages: training and validation are assumed to take the same time for all \
                     records, and the number of trials is fixed";

/// What is taken as public about the timing of messages if the number of trials is random and must stay unknown.
const RANDOM_TIMES: &str = "times and number of messages: training and validation are assumed to take the same time for all \
                            records, and no reader learns the number of trials from them";

/// What is taken as public about the timing of messages if the search stops at the first setting above a threshold. The
/// timing reveals the number of trials, which is accounted for as part of the release.
const PRICED_TIMES: &str = "times and number of messages: training and validation are assumed to take the same time for all \
                            records, and the number of trials is part of the release";

/// What the owner's trusted workers see.
const WORKERS: &str = "which settings are trained, and the models: workers are the owner's own machines";

/// Whether a series' outcomes are the performances of trained models, so that there are training records. This is so if
/// the objective trains models, or if the publication assumes facts about the loss of trained models. If the objective is,
/// for example, a function drawn at random, and nothing is assumed, there are no training records.
pub(super) fn trains(series: &ReleaseSeries, instance: &Instance) -> bool {
    instance.background.tuning.is_some() || series.publication.as_dyn().assumed().is_some()
}

/// Facts about the owner's records that observers know and that no ledger entry accounts for.
pub(super) fn taken_as_public(
    release: &Release,
    series: &ReleaseSeries,
    instance: &Instance,
    task: &Task,
) -> Vec<PublicFact> {
    let publication = series.publication.as_dyn();
    let times = match publication.search(task) {
        Ok(Search::Nothing) => return Vec::new(),
        Ok(Search::Repeated(_)) => RANDOM_TIMES,
        Ok(Search::UntilAbove { .. }) => PRICED_TIMES,
        _ => TIMES,
    };
    let told = |fact: PublicFact| fact.about(&release.owner).for_observer(PUBLIC);
    let mut facts: Vec<PublicFact> = instance.background.public.iter().cloned().map(told).collect();
    let origin = match (publication.assumed(), instance.background.tuning) {
        (Some(_), _) => Some(Origin::Stated),
        (None, tuning) => tuning.map(|_| Origin::Shape),
    };
    facts.extend(origin.map(|origin| told(PublicFact::new(TASK_FACTS, origin))));
    facts.push(told(PublicFact::new(times, Origin::Protocol)));
    if !release.workers.is_empty() {
        let fact = PublicFact::new(WORKERS, Origin::Protocol).about(&release.owner);
        facts.push(fact.for_observer(release.workers.join(", ")));
    }
    facts
}
