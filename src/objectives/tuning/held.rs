//! The records that each agent of a federation holds, and the performance of the agent's models.

use super::data::RawRecords;
use super::{Tuning, models, performance};
use crate::objectives::ObjectiveError;
use crate::objectives::split::{self, Held, Holder, Holdings, Share};
use crate::objectives::table::Missing;
use crate::rng::Key;
use crate::vocab::Problem;

/// For each agent, the performance of the agent's own models on the agent's own validation records, by setting, and the
/// records that the agent holds.
pub(super) struct AgentPerformances {
    pub(super) values: Vec<Vec<f64>>,
    pub(super) holdings: Holdings,
    /// Number of records of each agent.
    pub(super) records: Vec<u64>,
}

impl Tuning {
    /// Whether records belong to agents.
    pub(super) fn is_divided(&self) -> bool {
        !self.agent.is_empty() || !self.split.is_empty()
    }

    /// The records of every agent: the columns `agent` name their holders, or `split` divides them at random.
    fn shares(&self, records: &RawRecords, key: &Key) -> Vec<Share> {
        if self.split.is_empty() {
            let share = |holder: &Holder| Share {
                features: records.features_of(&holder.rows),
                holder: holder.clone(),
            };
            return records.holders.iter().map(share).collect();
        }
        let classes = records.classes();
        let all = Held { name: "", classes: &classes, d: records.d, features: &records.features };
        split::divided(&all, 2, (&self.split, &records.names), key)
    }

    /// Trains and validates the models of all agents, the models of each agent on this agent's own records.
    pub(super) fn agent_performances(
        &self,
        records: &RawRecords,
        lambdas: &[f64],
        key: &Key,
    ) -> Result<AgentPerformances, ObjectiveError> {
        let shares = self.shares(records, &key.child("split"));
        let classes = records.classes();
        let values = |share: &Share| {
            let own = RawRecords::of_share(records, share);
            let mut stream = key.child("training records of agents").child(&share.holder.name).stream();
            let split = own.split(self.train_share.get(), &mut stream);
            let models = models(&split.training, self.training, lambdas)?;
            Ok(models.iter().map(|weights| performance(weights, &split.validation, self.loss)).collect())
        };
        let values = shares.iter().map(values).collect::<Result<_, ObjectiveError>>()?;
        let own = |share: &Share| share.holder.rows.iter().map(|&row| classes[row]).collect::<Vec<_>>();
        let classes: Vec<Vec<usize>> = shares.iter().map(own).collect();
        let held: Vec<Held<'_>> = shares
            .iter()
            .zip(&classes)
            .map(|(share, classes)| Held {
                name: &share.holder.name,
                classes,
                d: records.d,
                features: &share.features,
            })
            .collect();
        let names = ["other class", "predicted class"].map(str::to_owned);
        let records = split::records_of(&held);
        Ok(AgentPerformances { values, holdings: Holdings::of(&held, &names), records })
    }

    /// What is wrong with `agent` and `split`, and with `missing` where records belong to agents; `records` are those of the
    /// file, if it can be read.
    pub(super) fn holder_problems(&self, records: Option<&RawRecords>) -> Vec<Problem> {
        let mut problems = split::problems(&self.agent, &self.split, &self.input_columns().of_numbers());
        if self.is_divided() && self.missing == Missing::Mean {
            let (expected, cure) =
                ("`Refuse` or `Drop`, where records belong to agents", "write missing: Drop");
            problems.push(Problem::wrong("missing", expected, "Mean", cure));
        }
        let Some(records) = records else { return problems };
        problems.extend(split::too_few(&self.split, records.labels.len()));
        let poor = records.holders.iter().find(|holder| holder.rows.len() < 2);
        problems.extend(poor.map(|holder| {
            let expected = "two records or more of every agent, one for training and one for validation";
            let found = format!("one of agent {}", holder.name);
            Problem::wrong("agent", expected, found, "name other columns, or drop the agent's record")
        }));
        problems
    }
}
