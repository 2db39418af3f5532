//! Dependence between quantities that differ among the parties of a group: a Gaussian copula.

use crate::rng::Key;
use crate::special::normal_cdf;
use crate::vocab::{Finite, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A quantity that may differ between the parties of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum PartyQuantity {
    /// How fast the party computes: 1 divided by the party's slowness, which its compute model draws (`Heterogeneous`,
    /// `Devices`, `FedScaleDevices`). The slowness is the factor by which the party's jobs take longer; with
    /// `FedScaleDevices`, it is the time that the party's device needs for one inference.
    Speed,
    /// How available the party is, which its availability model draws (`BetaPerMessage`: the probability that a message is
    /// received; `OnOff` with `sigma`: how short its disconnected periods are; `Trace`, `FlashTrace`, `FedScaleTrace`:
    /// the share of time for which the recorded device is available).
    Availability,
    /// How much the agent's objective differs from the other agents' objectives, in `Federated`: the root mean square, over
    /// all points, of the difference between the agent's objective and the mean of all agents' objectives.
    Heterogeneity,
    /// How many records the agent holds, in `Federated` with an objective whose records belong to agents (its field `agent`
    /// or `split`).
    DataSize,
    /// How noisy the agent's outcomes are, in `Federated`: the variance of the noise of the outcomes. The field `noise` of
    /// `differences` makes this variance differ between agents.
    Noise,
}

impl PartyQuantity {
    /// The quantity's name in reports and error messages.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Speed => "speed",
            Self::Availability => "availability",
            Self::Heterogeneity => "heterogeneity",
            Self::DataSize => "data size",
            Self::Noise => "noise",
        }
    }

    /// Whether this is a quantity of an agent's data, and not of its device or network.
    #[must_use]
    pub const fn is_of_data(self) -> bool {
        match self {
            Self::Speed | Self::Availability => false,
            Self::Heterogeneity | Self::DataSize | Self::Noise => true,
        }
    }
}

/// Quantities of the parties of a group that depend on each other, such as slow devices that hold unusual data.
///
/// A Gaussian copula: once per replication, every party draws one standard normal number per quantity, with the stated
/// correlations. If the number is the quantile of the normal distribution at u, the party's value is the quantile of the
/// quantity's own distribution at u. So each quantity keeps its distribution exactly, and only the dependence changes. If
/// the normal numbers of two quantities have correlation r, the rank correlation (Spearman's) of the quantities is
/// (6 / pi) asin(r / 2): -0.58 for r = -0.6. `Heterogeneity`, `DataSize` and `Noise` have no distribution function that
/// could be inverted. Instead, the objectives (and the noises) that the group's agents drew are reassigned among these
/// agents by rank. The agent with the largest normal number for `Heterogeneity` gets the objective that is furthest from the
/// mean of all agents' objectives; for `DataSize`, the objective with the most records; for `Noise`, the largest noise.
/// Quantities that are not named stay independent.
/// Source: Nelsen 2006, "An introduction to copulas", sections 2.3 and 5.1.
///
/// Example: `Together(of: [Speed, Availability], correlation: 0.6)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Together {
    /// The quantities, at least two. Each must differ between the parties of the group.
    pub of: Vec<PartyQuantity>,
    /// Correlation of the normal numbers of every two quantities, from -1 to 1; 0 makes them independent. Default: none, and
    /// `matrix` is required.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation: Option<Finite>,
    /// The correlations of all pairs, row by row, in the order of `of`: 1 on the diagonal, symmetric, and positive
    /// semi-definite. Default: `correlation` for all pairs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matrix: Option<Vec<Vec<Finite>>>,
}

/// Largest pivot of the Cholesky factorisation that counts as 0; the entries below such a pivot may be as large as the
/// square root of this number. So a matrix that is singular except for the rounding errors of floating-point numbers is
/// accepted; a singular matrix whose correlations were rounded to a few digits may be refused.
const ROUNDING: f64 = 1e-9;
/// The largest number below 1.
const BELOW_ONE: f64 = 1.0 - f64::EPSILON / 2.0;

impl Together {
    /// The correlation of two quantities, which are given by their positions in `of`.
    fn between(&self, i: usize, j: usize) -> f64 {
        match (&self.matrix, i == j) {
            (Some(matrix), _) => matrix.get(i).and_then(|row| row.get(j)).map_or(0.0, |r| r.get()),
            (None, true) => 1.0,
            (None, false) => self.correlation.map_or(0.0, Finite::get),
        }
    }

    /// The Cholesky factor L of the correlations R = L L^T, row by row; `None` if R is not positive semi-definite.
    fn root(&self) -> Option<Vec<Vec<f64>>> {
        let n = self.of.len();
        let mut root = vec![vec![0.0; n]; n];
        for j in 0..n {
            let rest = |root: &[Vec<f64>], i: usize| {
                self.between(i, j) - (0..j).map(|k| root[i][k] * root[j][k]).sum::<f64>()
            };
            let pivot = rest(&root, j);
            if pivot < -ROUNDING {
                return None;
            }
            let flat = pivot <= ROUNDING;
            root[j][j] = if flat { 0.0 } else { pivot.sqrt() };
            for i in j + 1..n {
                let left = rest(&root, i);
                if flat && left.abs() > ROUNDING.sqrt() {
                    return None;
                }
                root[i][j] = if flat { 0.0 } else { left / root[j][j] };
            }
        }
        Some(root)
    }

    /// A party's level, in (0, 1), in the distribution of a quantity: the party's value is the quantile at this level. A
    /// higher level means more of the quantity: more speed, availability, heterogeneity, records or noise. `None` if the
    /// quantity is not named, or if the correlations are not positive semi-definite. `network` is the node of the seed tree
    /// for the network.
    #[must_use]
    pub fn level(&self, quantity: PartyQuantity, party: &str, network: Key) -> Option<f64> {
        let place = self.of.iter().position(|of| *of == quantity)?;
        let mut stream = network.child("together").child(party).stream();
        let drawn: Vec<f64> = (0..=place).map(|_| stream.normal()).collect();
        let root = self.root()?;
        let normal = root[place].iter().zip(&drawn).map(|(l, z)| l * z).sum::<f64>();
        Some(normal_cdf(normal).clamp(f64::MIN_POSITIVE, BELOW_ONE))
    }

    /// Whether a quantity is named.
    #[must_use]
    pub fn names(&self, quantity: PartyQuantity) -> bool {
        self.of.contains(&quantity)
    }

    /// The quantities of agents' data whose correlation with speed or availability is stated and not 0. If there are any,
    /// the times of messages reveal something about the agents' data.
    #[must_use]
    pub fn revealed_by_times(&self) -> Vec<PartyQuantity> {
        let tied = |i: usize| {
            let others = (0..self.of.len()).filter(|&j| !self.of[j].is_of_data());
            self.of[i].is_of_data() && others.into_iter().any(|j| self.between(i, j) != 0.0)
        };
        (0..self.of.len()).filter(|&i| tied(i)).map(|i| self.of[i]).collect()
    }

    /// What is wrong with the recipe on its own.
    #[must_use]
    pub fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let n = self.of.len();
        if n < 2 {
            let cure = "name two, as in of: [Speed, Heterogeneity], or leave `together` out";
            problems.push(Problem::wrong("of", "at least two quantities", n.to_string(), cure));
        }
        if let Some(index) = (1..n).find(|&index| self.of[..index].contains(&self.of[index])) {
            let found = format!("{:?} twice", self.of[index]);
            problems.push(Problem::wrong(
                format!("of[{index}]"),
                "each quantity once",
                found,
                "leave one out",
            ));
        }
        if self.names(PartyQuantity::Heterogeneity)
            && let Some(index) = self.of.iter().position(|of| *of == PartyQuantity::DataSize)
        {
            let expected = "Heterogeneity or DataSize, since an agent's records decide both";
            problems.push(Problem::wrong(
                format!("of[{index}]"),
                expected,
                "both",
                "leave one of the two out",
            ));
        }
        match (&self.correlation, &self.matrix) {
            (None, None) => {
                let cure = "write correlation: -0.6, or a matrix";
                problems.push(Problem::wrong("", "`correlation` or `matrix`", "neither", cure));
            }
            (Some(_), Some(_)) => {
                let cure = "leave one of the two out";
                problems.push(Problem::wrong("matrix", "`correlation` or `matrix`", "both", cure));
            }
            (Some(correlation), None) => problems.extend(out_of_range("correlation", *correlation)),
            (None, Some(matrix)) => problems.extend(matrix_problems(matrix, n)),
        }
        if problems.is_empty() && self.root().is_none() {
            let (path, found) = match (&self.correlation, &self.matrix) {
                (Some(correlation), _) => {
                    ("correlation", format!("{correlation} between each two of {n} quantities"))
                }
                (None, _) => ("matrix", "a matrix that is not positive semi-definite".to_owned()),
            };
            let least = -1.0 / (n as f64 - 1.0);
            let cure = if path == "correlation" {
                format!(
                    "write at least {least:.4}: {n} quantities cannot all be less correlated with each other"
                )
            } else {
                "bring the correlations nearer to 0: two quantities that are each strongly correlated with a third one are \
                 also correlated with each other"
                    .to_owned()
            };
            problems.push(Problem::wrong(
                path,
                "a positive semi-definite matrix of correlations",
                found,
                cure,
            ));
        }
        problems
    }
}

fn out_of_range(path: &str, correlation: Finite) -> Option<Problem> {
    let fits = (-1.0..=1.0).contains(&correlation.get());
    let cure = "write -1 for exact opposites, 0 for independence, 1 for equals";
    (!fits).then(|| Problem::wrong(path, "a correlation from -1 to 1", correlation.to_string(), cure))
}

/// What is wrong with the shape and the entries of a matrix for `n` quantities.
fn matrix_problems(matrix: &[Vec<Finite>], n: usize) -> Vec<Problem> {
    if matrix.len() != n || matrix.iter().any(|row| row.len() != n) {
        let rows: Vec<String> = matrix.iter().map(|row| row.len().to_string()).collect();
        let found = format!("{} rows of lengths {}", matrix.len(), rows.join(", "));
        let cure = "write one row per quantity, each with one correlation per quantity";
        return vec![Problem::wrong("matrix", format!("{n} rows of {n} correlations"), found, cure)];
    }
    let mut problems = Vec::new();
    for (i, j) in (0..n).flat_map(|i| (0..=i).map(move |j| (i, j))) {
        let (here, there) = (matrix[i][j].get(), matrix[j][i].get());
        let path = format!("matrix[{i}][{j}]");
        if i == j && here != 1.0 {
            let cure = "write 1: every quantity is equal to itself";
            problems.push(Problem::wrong(path, "1 on the diagonal", here.to_string(), cure));
        } else if here != there {
            let cure = "write the same number in both places";
            let expected = format!("{there}, as in matrix[{j}][{i}]");
            problems.push(Problem::wrong(path, expected, here.to_string(), cure));
        } else {
            problems.extend(out_of_range(&path, matrix[i][j]));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(correlation: f64) -> Together {
        Together {
            of: vec![PartyQuantity::Speed, PartyQuantity::Heterogeneity],
            correlation: Some(Finite::new(correlation).unwrap()),
            matrix: None,
        }
    }

    fn levels(recipe: &Together, parties: u64) -> Vec<[f64; 2]> {
        let of = |party: u64| {
            let level = |what| recipe.level(what, &format!("p-{party}"), Key::root(7)).unwrap();
            [level(PartyQuantity::Speed), level(PartyQuantity::Heterogeneity)]
        };
        (0..parties).map(of).collect()
    }

    /// The levels of n = 4,000 parties are drawn. Kolmogorov's statistic of a uniform sample exceeds 2.23 / sqrt(n) with
    /// probability 1e-4. Kendall's tau of a Gaussian copula is (2 / pi) asin(r) (Nelsen 2006, section 5.1.1). The standard
    /// error of the tau of the sample is at most sqrt(2 (1 - tau^2) / n), and six standard errors are allowed.
    #[test]
    fn levels_are_uniform_and_have_the_copulas_rank_correlation() {
        let n = 4000;
        for correlation in [-1.0, -0.6, 0.0, 0.9] {
            let found = levels(&pair(correlation), n);
            for side in 0..2 {
                let mut sorted: Vec<f64> = found.iter().map(|pair| pair[side]).collect();
                sorted.sort_by(f64::total_cmp);
                let gap = sorted.iter().enumerate().map(|(k, u)| (u - (k as f64 + 0.5) / n as f64).abs());
                assert!(gap.fold(0.0, f64::max) < 2.23 / (n as f64).sqrt(), "{correlation} {side}");
            }
            let mut agree = 0.0;
            for (k, a) in found.iter().enumerate() {
                agree += found[..k].iter().map(|b| ((a[0] - b[0]) * (a[1] - b[1])).signum()).sum::<f64>();
            }
            let tau = agree / (n * (n - 1) / 2) as f64;
            let expected = 2.0 / std::f64::consts::PI * libm::asin(correlation);
            let error = 6.0 * (2.0 * (1.0 - expected * expected) / n as f64).sqrt() + 1e-9;
            assert!((tau - expected).abs() < error, "{correlation}: {tau} for {expected}");
        }
    }

    /// The levels of the first quantity do not depend on the correlation, so that cells of a study stay comparable.
    #[test]
    fn the_first_quantity_does_not_depend_on_the_correlation() {
        let first =
            |correlation| levels(&pair(correlation), 50).iter().map(|pair| pair[0]).collect::<Vec<_>>();
        assert_eq!(first(-0.6), first(0.0));
    }

    #[test]
    fn times_reveal_data_that_they_depend_on() {
        let told = |text: &str| crate::scenario::part::<Together>(text).unwrap().revealed_by_times();
        assert_eq!(told("Together(of: [Speed, Noise], correlation: 0.5)"), [PartyQuantity::Noise]);
        assert_eq!(told("Together(of: [Speed, Noise], correlation: 0)"), []);
        // Noise depends only on heterogeneity, on which no times depend.
        let matrix = "[[1, 0, 0], [0, 1, 0.5], [0, 0.5, 1]]";
        assert_eq!(told(&format!("Together(of: [Speed, Heterogeneity, Noise], matrix: {matrix})")), []);
        let both: Together =
            crate::scenario::part("Together(of: [Heterogeneity, DataSize], correlation: 0)").unwrap();
        assert_eq!(both.problems()[0].path, "of[1]");
    }

    #[test]
    fn impossible_correlations_are_refused_with_their_reason() {
        let told = |text: &str| match crate::scenario::part::<Together>(text) {
            Ok(recipe) => format!("{:?}", recipe.problems()),
            Err(error) => error.to_string(),
        };
        let all = "of: [Speed, Availability, Heterogeneity]";
        assert!(told(&format!("Together({all}, correlation: -0.6)")).contains("at least -0.5000"));
        assert_eq!(told(&format!("Together({all}, correlation: -0.5)")), "[]");
        assert!(told("Together(of: [Speed, Speed], correlation: 0.1)").contains("Speed twice"));
        assert!(told("Together(of: [Speed], correlation: 0.1)").contains("at least two"));
        assert!(told("Together(of: [Speed, Heterogeneity], correlation: 1.5)").contains("from -1 to 1"));
        assert!(told("Together(of: [Speed, Heterogeneity])").contains("neither"));
        assert!(told("Together(of: [Speed, Sped], correlation: 0)").contains("Sped"));
        let matrix = |rows: &str| told(&format!("Together({all}, matrix: {rows})"));
        assert!(
            matrix("[[1, 0.9, 0.9], [0.9, 1, -0.9], [0.9, -0.9, 1]]").contains("not positive semi-definite")
        );
        assert!(matrix("[[1, 0.9, 0.9], [0.9, 1, 0.9], [0.9, 0.8, 1]]").contains("matrix[2][1]"));
        assert!(matrix("[[1, 0.9], [0.9, 1]]").contains("3 rows of 3"));
        assert!(matrix("[[1, 0.9, 0], [0.9, 2, 0], [0, 0, 1]]").contains("on the diagonal"));
        assert_eq!(matrix("[[1, 0.9, 0.9], [0.9, 1, 0.9], [0.9, 0.9, 1]]"), "[]");
    }
}
