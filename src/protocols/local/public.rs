//! The facts about users' rewards that are taken as public, besides the releases in the ledger.

use super::recipe::Local;
use crate::objectives::{Instance, Noise};
use crate::protocols::stage::ReplicationSetup;
use crate::vocab::{Origin, PublicFact};

/// Facts about the problem that users and service know before the first user arrives. The learner and the bound at which
/// users clip depend on these facts. Privacy losses hold on condition that the facts that were computed from rewards are
/// public.
pub(super) fn of_the_problem(
    local: &Local,
    stage: &ReplicationSetup,
    instance: &Instance,
) -> Vec<PublicFact> {
    let mut facts = instance.background.public.clone();
    let computed = |what: &str| PublicFact::new(what, Origin::ComputedFromData);
    // B bounds the distance of mean rewards from the prior mean, and R bounds the noise of rewards. For recorded rewards, B
    // and R are computed from data. For other objectives whose data are the same in every replication, such as tables, B is
    // computed from data. The distributions of drawn functions and of drawn noise are in the scenario. B and R are public
    // even if users clip at a bound that does not depend on them, because the service's learner gets both.
    let recorded = stage.prepared.as_ref().is_some_and(|prepared| prepared.source().is_same_in_all());
    facts.push(match &instance.noise {
        Noise::Recorded(_) => {
            computed("B, the largest distance of an arm's mean reward from the prior mean, and R, the largest distance of a reward from its arm's mean")
        }
        Noise::Law(_) if recorded => computed("B, the largest distance of an arm's mean reward from the prior mean"),
        Noise::Law(_) => PublicFact::new("B and R, bounds on the function and on its noise", Origin::Stated),
    });
    facts.extend(stage.inputs_of_records());
    facts.extend(stage.records_of_models());
    facts.into_iter().map(|fact| fact.about(&local.users).for_observer(&local.service)).collect()
}

impl Local {
    /// The conditions of all privacy losses: facts about the problem that were computed from rewards are public.
    pub(crate) fn conditions(&self, stage: &ReplicationSetup, instance: &Instance) -> Vec<String> {
        of_the_problem(self, stage, instance).iter().filter_map(PublicFact::condition).collect()
    }
}

/// All facts about rewards that are taken as public. `personal` says whether users have epsilons of their own; `readers`
/// are the readers of published means.
pub(super) fn taken_as_public(
    local: &Local,
    stage: &ReplicationSetup,
    instance: &Instance,
    personal: bool,
    readers: &[String],
) -> Vec<PublicFact> {
    let mut facts = of_the_problem(local, stage, instance);
    let asked = local.arrivals.as_dyn().patience().is_some();
    let when = if asked { "when a user answers" } else { "when a user comes and answers" };
    let answers = if local.silence_is_informative() { "" } else { ", and whether a user answers" };
    let what = format!("{when}{answers}: assumed not to depend on the reward");
    let about = |what: &str| PublicFact::new(what, Origin::Protocol).about(&local.users);
    facts.push(about(&what).for_observer(&local.service));
    let arms = "the arm that each user is given: computed only from earlier users' reports, so it reveals at most \
                what the ledger states for the service, and it is unprotected where these reports are unprotected";
    facts.push(about(arms).for_observer(&local.users));
    for reader in readers {
        let counts = "the number of rewards in each published mean, and the time of its publication: assumed not to depend on the \
                      rewards";
        facts.push(about(counts).for_observer(reader));
    }
    if !local.cohorts.is_empty() {
        let cohorts = "which cohort each user belongs to, and how likely the users of each cohort are to answer: assumed not to depend on \
                       the user's reward";
        facts.push(about(cohorts).for_observer(&local.service));
    }
    if personal {
        let epsilons = "the epsilon of each user: assumed not to depend on the user's reward (personalised differential \
                        privacy)";
        facts.push(about(epsilons));
    }
    facts
}
