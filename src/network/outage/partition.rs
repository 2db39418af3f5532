//! A partition: links between groups lose all messages for some time.

use super::Outage;
use crate::vocab::{Problem, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Between two times, every message that enters a link between parties of two different listed groups is lost. A message
/// that entered the link before the partition is not affected; routes do not change.
///
/// Example: `Partition(groups: ["left", "right"], from: "1s", until: "2s")`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Partition {
    /// The groups that are separated from each other, two or more. A party that is in none of these groups keeps all its
    /// links.
    #[schemars(with = "Vec<crate::vocab::GroupName>")]
    pub groups: Vec<String>,
    /// When the partition begins, from the start of the run.
    pub from: Span,
    /// When the partition ends, from the start of the run.
    pub until: Span,
}

impl Outage for Partition {
    fn groups(&self) -> Vec<(String, &str)> {
        let places = self.groups.iter().enumerate();
        places.map(|(index, group)| (format!("groups[{index}]"), group.as_str())).collect()
    }

    fn cuts(&self, from: Option<&str>, to: Option<&str>, at: Time) -> bool {
        let (Some(from), Some(to)) = (from, to) else { return false };
        let listed = |group: &str| self.groups.iter().any(|known| known == group);
        let during = Time::ZERO + self.from <= at && at < Time::ZERO + self.until;
        during && from != to && listed(from) && listed(to)
    }

    fn problems(&self) -> Vec<Problem> {
        let mut problems = super::interval(self.from, self.until);
        if self.groups.len() < 2 {
            let found = format!("{}", self.groups.len());
            problems.push(Problem::wrong(
                "groups",
                "two groups or more",
                found,
                "name the groups that are separated",
            ));
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_different_listed_groups_are_cut_and_only_meanwhile() {
        let recipe = Partition {
            groups: vec!["north".to_owned(), "south".to_owned()],
            from: Span::from_nanos(10),
            until: Span::from_nanos(20),
        };
        let cuts = |from, to, at| recipe.cuts(from, to, Time::from_nanos(at));
        assert!(cuts(Some("north"), Some("south"), 10));
        assert!(!cuts(Some("north"), Some("south"), 9));
        assert!(!cuts(Some("north"), Some("south"), 20));
        assert!(!cuts(Some("north"), Some("north"), 15));
        assert!(!cuts(Some("north"), Some("west"), 15));
        assert!(!cuts(None, Some("south"), 15));
    }
}
