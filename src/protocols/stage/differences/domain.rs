//! The points that each agent can measure, if the agents' domains overlap only in part.

use crate::gp::Points;
use crate::rng::Stream;
use crate::vocab::{Probability, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The points that each agent of a group can measure: the points of the agent's own part of the domain. The server's sums of
/// weights of random features predict a value at every point of the domain, since all agents have the same features. An
/// agent that follows a sum measures, among its own points, the point with the largest predicted value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub enum Domain {
    /// A random subset of the points, drawn for each agent, with this share (above 0) of the points, but at least one point.
    ///
    /// Example: `Random(0.7)`.
    Random(Probability),
    /// The points in a box, drawn for each agent: along each input an interval at a random place, whose length is this share
    /// (above 0) of the domain's side. If the box has no point, the agent has the point nearest to the box's centre.
    ///
    /// Example: `Box(0.7)`.
    Box(Probability),
}

impl Domain {
    fn share(self) -> f64 {
        match self {
            Self::Random(share) | Self::Box(share) => share.get(),
        }
    }

    /// Whether agents may lack points.
    pub(in crate::protocols) fn is_partial(self) -> bool {
        self.share() < 1.0
    }

    /// What is wrong with the value.
    pub(in crate::protocols) fn problem(self) -> Option<Problem> {
        let name = match self {
            Self::Random(_) => "Random",
            Self::Box(_) => "Box",
        };
        (self.share() <= 0.0).then(|| {
            Problem::wrong(
                name,
                "a share above 0",
                "0",
                "write 0.7, for example, or leave it out for all points",
            )
        })
    }

    /// For every point, whether an agent can measure it. The agent can measure at least one point.
    pub(in crate::protocols) fn of(self, points: &Points, stream: &mut Stream) -> Vec<bool> {
        let (n, share) = (points.n(), self.share());
        let mut has = vec![false; n];
        match self {
            Self::Random(_) => {
                let count = (libm::round(share * n as f64) as usize).clamp(1, n);
                stream.distinct(n, count).into_iter().for_each(|point| has[point] = true);
            }
            Self::Box(_) => {
                let sides: Vec<(f64, f64)> = (0..points.d())
                    .map(|input| {
                        let (low, high) = points.range(input);
                        let length = share * (high - low);
                        let start = low + stream.uniform() * (high - low - length);
                        (start, start + length)
                    })
                    .collect();
                let inside = |point: &[f64]| {
                    point.iter().zip(&sides).all(|(x, (start, end))| (*start..=*end).contains(x))
                };
                has.iter_mut().enumerate().for_each(|(point, has)| *has = inside(points.row(point)));
                if !has.contains(&true) {
                    let distance = |point: usize| -> f64 {
                        let apart = points.row(point).iter().zip(&sides).map(|(x, (a, b))| x - 0.5 * (a + b));
                        -apart.map(|x| x * x).sum::<f64>()
                    };
                    let distances: Vec<f64> = (0..n).map(distance).collect();
                    has[crate::gp::largest(&distances)] = true;
                }
            }
        }
        has
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Key;

    /// 21 x 21 points, 500 agents. A random half has 221 points, and each of three points that are checked is in half of the
    /// subsets (to within six standard errors of 0.5 / sqrt(500)). A box with half of each side has 10 points along each
    /// input (11 if both ends of the interval are points), 100 to 121 in all, and contains every point between its outermost
    /// points.
    #[test]
    fn parts_have_their_sizes() {
        let axis = |k: usize| k as f64 / 20.0;
        let rows = (0..441).flat_map(|k| [axis(k / 21), 5.0 * axis(k % 21)]).collect();
        let points = Points::new(441, 2, rows);
        let domains = |text: &str| -> Vec<Vec<bool>> {
            let domain: Domain = crate::scenario::part(text).unwrap();
            (0..500).map(|k| domain.of(&points, &mut Key::root(6).index(k).stream())).collect()
        };
        let count = |has: &Vec<bool>| has.iter().filter(|has| **has).count();
        let random = domains("Random(0.5)");
        assert!(random.iter().all(|has| count(has) == 221));
        for point in [0, 200, 440] {
            let share = random.iter().filter(|has| has[point]).count() as f64 / 500.0;
            assert!((share - 221.0 / 441.0).abs() < 6.0 * 0.5 / 500f64.sqrt(), "{point}: {share}");
        }
        let boxes = domains("Box(0.5)");
        let mean = boxes.iter().map(count).sum::<usize>() as f64 / 500.0;
        assert!((100.0..121.1).contains(&mean), "{mean}");
        for has in &boxes {
            let rows = (0..21).filter(|row| (0..21).any(|column| has[row * 21 + column])).count();
            let columns = (0..21).filter(|column| (0..21).any(|row| has[row * 21 + column])).count();
            assert_eq!(count(has), rows * columns, "no holes");
        }
        assert!(domains("Box(0.001)").iter().all(|has| (1..=4).contains(&count(has))));
        assert!(domains("Random(0.001)").iter().all(|has| count(has) == 1));
        assert!(domains("Box(1)").iter().all(|has| count(has) == 441));
    }
}
