//! The problem of each agent (or cohort) of one replication: its function, its noise, its points, and the factors of
//! its own model.

use super::axes::{Differences, Drift};
use super::continuation::Continuation;
use super::factors::Factors;
use super::failure::DrawError;
use super::function::{OwnFunction, moved};
use crate::gp::Cholesky;
use crate::objectives::{Instance, Noise, ObjectiveError, Prepared};
use crate::protocols::stage::ReplicationSetup;
use crate::rng::Key;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The problem of one agent (or cohort).
#[derive(Clone, Debug)]
pub(in crate::protocols) struct OwnProblem {
    pub(in crate::protocols) function: Arc<OwnFunction>,
    pub(in crate::protocols) noise: Noise,
    pub(in crate::protocols) factors: ModelFactors,
    /// For each point, whether the agent can measure it; `None` if the agent can measure all points.
    pub(in crate::protocols) points: Option<Arc<Vec<bool>>>,
}

/// Factors on the hyperparameters of an agent's own model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::protocols) struct ModelFactors {
    /// Factor on every length-scale.
    pub(in crate::protocols) length_scale: f64,
    /// Factor on the standard deviation of the noise.
    pub(in crate::protocols) noise_sd: f64,
}

impl ModelFactors {
    /// Both factors are 1: the hyperparameters of the objective's surrogate are used as they are.
    pub(in crate::protocols) const NONE: Self = Self { length_scale: 1.0, noise_sd: 1.0 };
}

/// One agent (or cohort) whose problem is drawn.
pub(in crate::protocols) struct Drawn<'a> {
    /// Its number among all agents (or cohorts), from 0.
    n: usize,
    /// Its number in its group, from 0.
    k: usize,
    differences: &'a Differences,
    /// Its heterogeneity.
    h: f64,
    /// Node of the seed tree for its objective. The node is addressed by the name of the party (or cohort), so that no draw
    /// depends on which other agents take part.
    key: Key,
    /// Its shift along each input, in units of the domain's side; empty if it has no shift.
    shift: Vec<f64>,
    /// The number of its cluster and the share of the variance that is the cluster's own.
    cluster: Option<(u64, f64)>,
}

impl<'a> Drawn<'a> {
    /// Member `k` of its group, number `n` of all, with the heterogeneity `h`; `inputs` is the dimension of the domain, and
    /// `key` the node of the seed tree for the member's objective.
    pub(in crate::protocols) fn new(
        (n, k): (usize, usize),
        (h, differences): (f64, &'a Differences),
        inputs: usize,
        key: Key,
    ) -> Self {
        let moving = differences.shift.as_ref().filter(|shift| shift.moves());
        let shift = moving.map(|shift| shift.of(k, inputs, &mut key.child("shift").stream()));
        let cluster = differences.split_up().map(|clusters| {
            let number = key.child("cluster").stream().below(u64::from(clusters.count.get()));
            (number, clusters.apart.get())
        });
        Drawn { n, k, differences, h, key, shift: shift.unwrap_or_default(), cluster }
    }
}

/// What the draws of one replication have in common.
#[derive(Clone, Copy)]
pub(in crate::protocols) struct Replicated<'a> {
    pub(in crate::protocols) stage: &'a ReplicationSetup,
    pub(in crate::protocols) instance: &'a Instance,
    /// Node of the replication in the seed tree.
    pub(in crate::protocols) key: Key,
    /// Number of rounds after round 0 for which drifting functions are drawn.
    pub(in crate::protocols) rounds: u64,
    /// The largest shift along an input that the scenario allows, in units of the domain's side.
    pub(in crate::protocols) reach: f64,
    /// Standard deviation of a normal random number that is added to each function at every point.
    pub(in crate::protocols) perturbation: f64,
    /// Cholesky factor of the surrogate's covariance at the arms. If every draw of the objective gives the same values,
    /// further functions are drawn with this factor. If the factor is `None`, to draw a further function of such an
    /// objective is an error.
    pub(in crate::protocols) prior: Option<&'a Cholesky>,
}

/// The draws that the agents of one replication share.
pub(in crate::protocols) struct Draws<'a> {
    of: Replicated<'a>,
    /// For each agent with a shift, by number: the objective's values for this agent, before any other difference, shifted.
    shifted: BTreeMap<usize, Vec<f64>>,
    /// For each agent with a cluster, by number: the cluster's own draw, shifted if the agent has a shift.
    clusters: BTreeMap<usize, Arc<Vec<f64>>>,
    /// The draws in rounds 1, 2, .. that the drifts of all agents have in common; empty if no drift needs them.
    drifts: Vec<Arc<Vec<f64>>>,
}

impl<'a> Draws<'a> {
    /// The problems of all agents; in a dry run all have the objective as it is.
    ///
    /// # Errors
    /// If the objective cannot be drawn as the differences require.
    pub(in crate::protocols) fn of(
        of: Replicated<'a>,
        drawn: &[Drawn<'_>],
    ) -> Result<Vec<OwnProblem>, DrawError> {
        if of.stage.options.dry {
            let function = Arc::new(OwnFunction::constant(Arc::clone(&of.instance.values)));
            let (noise, factors) = (of.instance.noise.clone(), ModelFactors::NONE);
            return Ok(vec![OwnProblem { function, noise, factors, points: None }; drawn.len()]);
        }
        let (shifted, clusters, drifts) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        let mut draws = Self { of, shifted, clusters, drifts };
        let mut whole = None;
        if of.instance.continuum().is_none() {
            draws.draw_shifted(drawn, &mut whole)?;
        }
        draws.draw_clusters(drawn, &mut whole)?;
        draws.draw_drifts(drawn)?;
        drawn.iter().map(|agent| draws.problem(agent)).collect()
    }

    fn prepared(&self) -> Result<&'a Arc<dyn Prepared>, DrawError> {
        self.of.stage.prepared.as_ref().ok_or(DrawError::DrawnOnce)
    }

    /// A further draw of the objective or, if every draw of the objective gives the same values, a draw from the Gaussian
    /// process that is the objective's surrogate.
    fn further(&self, key: Key) -> Result<Arc<Vec<f64>>, DrawError> {
        self.drawn_anew(key)?.map_or_else(|| self.of_surrogate(key), Ok)
    }

    /// A further draw of the objective; `None` if the draw gives the values that the objective already has, because every
    /// draw gives the same values.
    fn drawn_anew(&self, key: Key) -> Result<Option<Arc<Vec<f64>>>, DrawError> {
        let values = self.prepared()?.realise(key)?.values;
        Ok((values != self.of.instance.values).then_some(values))
    }

    /// A draw from the Gaussian process that is the objective's surrogate.
    fn of_surrogate(&self, key: Key) -> Result<Arc<Vec<f64>>, DrawError> {
        let prior = self.of.prior.ok_or(DrawError::AlwaysTheSame)?;
        let mut z = vec![0.0; prior.n()];
        key.child("function of the surrogate").stream().fill_normal(&mut z);
        let mean = self.of.instance.surrogate.mean;
        Ok(Arc::new(prior.times(&z).into_iter().map(|g| mean + g).collect()))
    }

    /// mu + sqrt(1 - share) (c - mu) + sqrt(share) (g - mu) at every point, with c from `common`, g from `own` and the prior
    /// mean mu: the variance around mu is kept.
    fn mixed(&self, common: &[f64], own: &[f64], share: f64) -> Vec<f64> {
        let (mean, kept, new) = (self.of.instance.surrogate.mean, (1.0 - share).sqrt(), share.sqrt());
        common.iter().zip(own).map(|(c, g)| mean + (kept * (c - mean) + new * (g - mean))).collect()
    }

    /// The function that is drawn from `key`, shifted for each of these agents; `None` if the objective cannot compute
    /// shifted functions. The function is also computed with the largest shifts that the scenario allows, so that its values
    /// beyond the domain do not depend on which agents take part.
    fn shifted_by(&self, key: Key, agents: &[&Drawn<'_>]) -> Result<Option<Vec<Vec<f64>>>, DrawError> {
        let reach = self.of.reach;
        let mut shifts: Vec<Vec<f64>> = agents.iter().map(|agent| agent.shift.clone()).collect();
        shifts.extend([reach, -reach].map(|end| vec![end; self.of.instance.inputs.d()]));
        let found = self.prepared()?.shifted(key, &shifts).transpose()?;
        Ok(found.map(|mut found| {
            found.truncate(agents.len());
            found
        }))
    }

    /// The agent's own values of the objective, continued by the surrogate (between and beyond the points) and shifted. If
    /// the agent has points of its own, its function is known at these points only, and is continued from them.
    fn own_shifted(
        &self,
        agent: &Drawn<'_>,
        whole: &mut Option<Continuation>,
    ) -> Result<Vec<f64>, DrawError> {
        let (instance, values) = (self.of.instance, self.shared(agent)?);
        if let Some(own) = instance.background.points.as_ref().and_then(|all| all.get(agent.n)) {
            let own = Continuation::new(instance, Some(own)).map_err(ObjectiveError::from)?;
            return Ok(own.continued(values).shifted(&agent.shift));
        }
        self.continued_and_shifted(values, agent, whole)
    }

    /// A function with these values at all points, continued by the surrogate and shifted for an agent. `whole` is the
    /// continuation that all such functions share; the first call computes it.
    fn continued_and_shifted(
        &self,
        values: &[f64],
        agent: &Drawn<'_>,
        whole: &mut Option<Continuation>,
    ) -> Result<Vec<f64>, DrawError> {
        let whole = match whole {
            Some(whole) => whole,
            None => whole.insert(Continuation::new(self.of.instance, None).map_err(ObjectiveError::from)?),
        };
        Ok(whole.continued(values).shifted(&agent.shift))
    }

    fn draw_shifted(
        &mut self,
        agents: &[Drawn<'_>],
        whole: &mut Option<Continuation>,
    ) -> Result<(), DrawError> {
        let moving: Vec<&Drawn<'_>> = agents.iter().filter(|agent| !agent.shift.is_empty()).collect();
        if moving.is_empty() {
            return Ok(());
        }
        let found = match self.shifted_by(self.of.key.child("objective"), &moving)? {
            Some(found) => found,
            None => {
                let one = |agent: &&Drawn<'_>| self.own_shifted(agent, whole);
                moving.iter().map(one).collect::<Result<_, _>>()?
            }
        };
        self.shifted = moving.iter().map(|agent| agent.n).zip(found).collect();
        Ok(())
    }

    fn draw_clusters(
        &mut self,
        agents: &[Drawn<'_>],
        whole: &mut Option<Continuation>,
    ) -> Result<(), DrawError> {
        let mut members: BTreeMap<u64, Vec<&Drawn<'_>>> = BTreeMap::new();
        for agent in agents {
            if let Some((number, _)) = agent.cluster {
                members.entry(number).or_default().push(agent);
            }
        }
        for (number, members) in members {
            let key = self.of.key.child("clusters of agents").index(number);
            let anew = self.drawn_anew(key)?;
            // `shifted_by` shifts draws of the objective; a draw from the surrogate is continued and shifted below.
            let is_drawn = anew.is_some();
            let own = anew.map_or_else(|| self.of_surrogate(key), Ok)?;
            let (moving, still): (Vec<_>, Vec<_>) =
                members.into_iter().partition(|agent| !agent.shift.is_empty());
            self.clusters.extend(still.iter().map(|agent| (agent.n, Arc::clone(&own))));
            let shifted = match is_drawn && !moving.is_empty() {
                true => self.shifted_by(key, &moving)?,
                false => None,
            };
            let found = match shifted {
                Some(found) => found,
                None => {
                    let one = |agent: &&Drawn<'_>| self.continued_and_shifted(&own, agent, whole);
                    moving.iter().map(one).collect::<Result<_, _>>()?
                }
            };
            self.clusters.extend(moving.iter().map(|agent| agent.n).zip(found.into_iter().map(Arc::new)));
        }
        Ok(())
    }

    fn draw_drifts(&mut self, agents: &[Drawn<'_>]) -> Result<(), DrawError> {
        let drifts =
            |agent: &Drawn<'_>| agent.differences.drifting().is_some_and(|drift| drift.own.get() < 1.0);
        if agents.iter().any(drifts) {
            let key = self.of.key.child("drift of all agents");
            self.drifts =
                (1..=self.of.rounds).map(|round| self.further(key.index(round))).collect::<Result<_, _>>()?;
        }
        Ok(())
    }

    fn problem(&self, agent: &Drawn<'_>) -> Result<OwnProblem, DrawError> {
        let factor = |factors: &Option<Factors>, of: &str| {
            factors.as_ref().map_or(1.0, |factors| factors.of(agent.k, &mut agent.key.child(of).stream()))
        };
        let differences = agent.differences;
        let scale = factor(&differences.scale, "scale");
        let facts = &self.of.instance.background;
        let given = facts.points.as_ref().and_then(|all| all.get(agent.n)).map(Arc::clone);
        let points = given.or_else(|| {
            let stream = || agent.key.child("points").stream();
            differences.part().map(|domain| Arc::new(domain.of(&self.of.instance.inputs, &mut stream())))
        });
        let noise =
            facts.agent_noise.as_ref().and_then(|all| all.get(agent.n)).unwrap_or(&self.of.instance.noise);
        Ok(OwnProblem {
            function: Arc::new(self.function(
                agent,
                scale,
                points.as_ref().map(|points| points.as_slice()),
            )?),
            points,
            noise: noise.scaled(factor(&differences.noise, "noise level")),
            factors: ModelFactors {
                length_scale: factor(&differences.model_length_scale, "length-scale of its model"),
                noise_sd: factor(&differences.model_noise, "noise of its model"),
            },
        })
    }

    /// The function of one agent with this scale: on a box one function for all rounds, otherwise the values by round. The
    /// values of round 0 come from [`Self::start`], those of later rounds from the drift, if there is one. The
    /// perturbation that is added at a point is the same in every round.
    fn function(
        &self,
        agent: &Drawn<'_>,
        scale: f64,
        points: Option<&[bool]>,
    ) -> Result<OwnFunction, DrawError> {
        if let Some(continuum) = self.of.instance.continuum() {
            let own = moved(continuum, &agent.shift, scale, self.of.instance.surrogate.mean);
            let rows = self.of.instance.inputs.row_major().chunks(self.of.instance.inputs.d().max(1));
            let sample = rows.map(|unit| own.function.at(&own.domain.from_unit(unit))).collect();
            return Ok(OwnFunction::on_box(own, Arc::new(sample)));
        }
        let start = self.start(agent, scale)?;
        let by_round = match agent.differences.drifting() {
            None => vec![start],
            Some(drift) => self.drifting(agent, drift, scale, start)?,
        };
        let perturbation = self.of.perturbation;
        if perturbation <= 0.0 {
            return Ok(OwnFunction::new(by_round, points));
        }
        let mut z = vec![0.0; self.of.instance.values.len()];
        agent.key.child("perturbation").stream().fill_normal(&mut z);
        let perturbed = |values: Arc<Vec<f64>>| {
            Arc::new(values.iter().zip(&z).map(|(value, z)| value + perturbation * z).collect())
        };
        Ok(OwnFunction::new(by_round.into_iter().map(perturbed).collect(), points))
    }

    /// The objective's values for this agent, before any difference.
    fn shared(&self, agent: &Drawn<'_>) -> Result<&'a Arc<Vec<f64>>, DrawError> {
        match &self.of.instance.background.agents {
            None => Ok(&self.of.instance.values),
            Some(all) => all.get(agent.n).ok_or(DrawError::TooManyAgents { found: all.len() }),
        }
    }

    /// The function of round 0: mu + a (sqrt(1 - h) (c - mu) + sqrt(h) (g - mu)) at every point. Here mu is the prior
    /// mean, a is `scale`, h the agent's heterogeneity, and g a further draw ([`Self::further`]), which is not shifted. c is
    /// the common function, mixed with the draw of the agent's cluster if the agent has a cluster. If the agent has a shift,
    /// the common function and the cluster's draw are shifted.
    fn start(&self, agent: &Drawn<'_>, scale: f64) -> Result<Arc<Vec<f64>>, DrawError> {
        let shared = self.shared(agent)?;
        let common: &[f64] = self.shifted.get(&agent.n).unwrap_or(shared);
        let mut values: Option<Vec<f64>> = self.shifted.get(&agent.n).cloned();
        if let (Some((_, apart)), Some(own)) = (agent.cluster, self.clusters.get(&agent.n)) {
            values = Some(self.mixed(common, own, apart));
        }
        let h = agent.h;
        if h > 0.0 {
            let own = self.further(agent.key.child("own"))?;
            values = Some(self.mixed(values.as_deref().unwrap_or(common), &own, h));
        }
        if scale != 1.0 {
            let (mean, before) = (self.of.instance.surrogate.mean, values.as_deref().unwrap_or(common));
            values = Some(before.iter().map(|value| mean + scale * (value - mean)).collect());
        }
        Ok(values.map_or_else(|| Arc::clone(shared), Arc::new))
    }

    /// The functions of all rounds, beginning with `start` in round 0. Each later function is computed from that of the
    /// round before.
    fn drifting(
        &self,
        agent: &Drawn<'_>,
        drift: Drift,
        scale: f64,
        start: Arc<Vec<f64>>,
    ) -> Result<Vec<Arc<Vec<f64>>>, DrawError> {
        let (rate, own, mean) = (drift.rate.get(), drift.own.get(), self.of.instance.surrogate.mean);
        let (kept, new) = ((1.0 - rate).sqrt(), rate.sqrt() * scale);
        let key = agent.key.child("drift");
        let mut by_round = vec![start];
        for round in 1..=self.of.rounds {
            let mut next: Vec<f64> = by_round
                .last()
                .map(|before| before.iter().map(|value| mean + kept * (value - mean)).collect())
                .unwrap_or_default();
            let mut add = |share: f64, drawn: &[f64]| {
                let step = new * share.sqrt();
                next.iter_mut().zip(drawn).for_each(|(value, g)| *value += step * (g - mean));
            };
            if let Some(common) = self.drifts.get(round as usize - 1).filter(|_| own < 1.0) {
                add(1.0 - own, common);
            }
            if own > 0.0 {
                add(own, &self.further(key.index(round))?);
            }
            by_round.push(Arc::new(next));
        }
        Ok(by_round)
    }
}
