//! Draws which agent holds which records, and the noise that is added to the features of these records.
//!
//! A [`Split`] is a group of agents with the rules by which records are divided among them.

use super::holder::Holder;
use super::holdings::Held;
use super::recipe::{FeatureShift, Labels, MIN_RECORDS, Sizes, Split};
use crate::objectives::scaling::spread;
use crate::rng::{Key, Stream};
use crate::special::gamma_quantile;
use crate::vocab::Positive;

impl Split {
    /// The agents' expected shares of the split's records, which add up to 1.
    fn sizes(&self, stream: &mut Stream) -> Vec<f64> {
        let n = self.count();
        match self.sizes {
            Sizes::Alike => vec![1.0 / n as f64; n],
            Sizes::Dirichlet(alpha) => dirichlet(&vec![alpha.get(); n], stream),
            Sizes::LogNormal(sigma) => {
                normalised((0..n).map(|_| libm::exp(sigma.get() * stream.normal())).collect())
            }
        }
    }

    /// The agents' shares of one class, given `sizes`, their expected shares of all records.
    fn shares(&self, sizes: &[f64], stream: &mut Stream) -> Vec<f64> {
        match self.labels {
            Labels::Alike => sizes.to_vec(),
            Labels::Dirichlet(alpha) => dirichlet_with_means(sizes, alpha, stream),
        }
    }

    /// The range of every record, and the agents' shares of each range; without a feature shift, one range contains all
    /// records.
    fn ranges(&self, all: &Held<'_>, inputs: &[String], sizes: &[f64], key: &Key) -> Ranges {
        let of = |shift: &FeatureShift| {
            let column = inputs.iter().position(|input| *input == shift.column)?;
            let values: Vec<f64> = all.features[column..].iter().step_by(all.d).copied().collect();
            let count = shift.ranges.get() as usize;
            let shares = (0..count)
                .map(|range| dirichlet_with_means(sizes, shift.alpha, &mut key.index(range as u64).stream()));
            Some(Ranges { of_rows: ranges_of(&values, count), shares: shares.collect() })
        };
        let whole = || Ranges { of_rows: vec![0; all.classes.len()], shares: vec![sizes.to_vec()] };
        self.features.as_ref().and_then(of).unwrap_or_else(whole)
    }
}

/// Ranges of a feature.
struct Ranges {
    /// The range of every record of the file.
    of_rows: Vec<usize>,
    /// The agents' shares of each range.
    shares: Vec<Vec<f64>>,
}

/// The range of every value, from 0 to `count` - 1; ranges have equal numbers of values, up to ties.
fn ranges_of(values: &[f64], count: usize) -> Vec<usize> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let edges: Vec<f64> = (1..count).map(|range| sorted[range * sorted.len() / count]).collect();
    values.iter().map(|value| edges.iter().filter(|edge| *edge <= value).count()).collect()
}

/// Classes for records that have a number instead of a class: the numbers are cut at their quartiles into four ranges,
/// and the class of a record is the range of its number. The ranges have equal numbers of records, up to ties.
pub(in crate::objectives) fn quarters(values: &[f64]) -> (Vec<usize>, [&'static str; 4]) {
    (ranges_of(values, 4), ["lowest quarter", "second quarter", "third quarter", "highest quarter"])
}

/// The records of one agent.
#[derive(Clone, Debug)]
pub(in crate::objectives) struct Share {
    /// The agent, and the rows that it holds.
    pub(in crate::objectives) holder: Holder,
    /// The features of these rows, with the noise of the split, row-major.
    pub(in crate::objectives) features: Vec<f64>,
}

/// A draw from a Dirichlet distribution with the means `sizes`; an agent of mean size has the
/// concentration `alpha`.
fn dirichlet_with_means(sizes: &[f64], alpha: Positive, stream: &mut Stream) -> Vec<f64> {
    let n = sizes.len() as f64;
    dirichlet(&sizes.iter().map(|size| alpha.get() * n * size).collect::<Vec<_>>(), stream)
}

/// Shares in proportion to a b / s for each agent, where a and b are its shares in `one` and `other`, and s is its entry in
/// `sizes`: the expected value of a, and also of b.
fn product(one: &[f64], other: &[f64], sizes: &[f64]) -> Vec<f64> {
    let of = |((a, b), size): ((&f64, &f64), &f64)| if *size > 0.0 { a * b / size } else { 0.0 };
    normalised(one.iter().zip(other).zip(sizes).map(of).collect())
}

/// The weights divided by their sum. If all weights are 0 in floating point, the first becomes 1.
fn normalised(mut weights: Vec<f64>) -> Vec<f64> {
    let sum: f64 = weights.iter().sum();
    if sum > 0.0 {
        weights.iter_mut().for_each(|weight| *weight /= sum);
    } else if let Some(first) = weights.first_mut() {
        *first = 1.0;
    }
    weights
}

/// A draw from a Dirichlet distribution: gamma draws by inversion, divided by their sum. It takes one word of `stream`
/// for each share.
fn dirichlet(concentrations: &[f64], stream: &mut Stream) -> Vec<f64> {
    let gamma = |&alpha: &f64| {
        let u = stream.open_uniform();
        if alpha > 0.0 { gamma_quantile(alpha, u) } else { 0.0 }
    };
    normalised(concentrations.iter().map(gamma).collect())
}

/// How many of `all` records go to each of these shares, by systematic sampling with a random start. The mean of each
/// number is its share times `all`, and no number differs from this mean by more than 1.
fn systematic_counts(shares: &[f64], all: usize, stream: &mut Stream) -> Vec<usize> {
    let start = stream.uniform();
    let (mut sum, mut before) = (0.0, 0);
    let place = |(index, share): (usize, &f64)| {
        sum += share;
        let end = if index + 1 == shares.len() { all } else { (sum * all as f64 + start).floor() as usize };
        let end = end.clamp(before, all);
        end - std::mem::replace(&mut before, end)
    };
    shares.iter().enumerate().map(place).collect()
}

/// `all`, the records of a file, divided among the agents of the splits. The agents are in the order of the splits, and
/// every agent's records are in the order of the file. The file must have at least twice as many records as there are
/// agents; each agent then gets at least two records.
pub(in crate::objectives) fn divided(
    all: &Held<'_>,
    classes: usize,
    (splits, inputs): (&[Split], &[String]),
    key: &Key,
) -> Vec<Share> {
    let places = rows_of_agents(all, classes, (splits, inputs), key);
    let deviation = |feature: usize| {
        let column = all.features[feature..].iter().step_by(all.d).copied();
        spread(column).map_or(0.0, |(_, sd)| sd)
    };
    let deviations: Vec<f64> = (0..all.d).map(deviation).collect();
    let of_splits = splits.iter().flat_map(|split| (1..=split.count()).map(move |k| (split, k)));
    let agents = places.into_iter().zip(of_splits).enumerate();
    agents
        .map(|(n, (places, (split, k)))| {
            let mut noise = key.child("feature noise").index(n as u64).stream();
            let sd = split.feature_noise.get() * k as f64 / split.count() as f64;
            let mut features: Vec<f64> = places.iter().flat_map(|&row| all.row(row)).copied().collect();
            if sd > 0.0 {
                for row in features.chunks_mut(all.d.max(1)) {
                    row.iter_mut()
                        .zip(&deviations)
                        .for_each(|(cell, unit)| *cell += unit * sd * noise.normal());
                }
            }
            Share { holder: Holder { name: format!("agent {}", n + 1), rows: places }, features }
        })
        .collect()
}

/// The rows of each agent, ascending.
fn rows_of_agents(
    all: &Held<'_>,
    classes: usize,
    (splits, inputs): (&[Split], &[String]),
    key: &Key,
) -> Vec<Vec<usize>> {
    let agents: usize = splits.iter().map(Split::count).sum();
    let of_splits: Vec<f64> = splits.iter().map(|split| split.count() as f64 / agents as f64).collect();
    let begun: Vec<(Vec<f64>, Ranges)> = splits
        .iter()
        .enumerate()
        .map(|(index, split)| {
            let sizes = split.sizes(&mut key.child("sizes").index(index as u64).stream());
            let ranges = split.ranges(all, inputs, &sizes, &key.child("ranges").index(index as u64));
            (sizes, ranges)
        })
        .collect();
    let mut held: Vec<Vec<usize>> = vec![Vec::new(); agents];
    for class in 0..classes {
        let rows: Vec<usize> = (0..all.classes.len()).filter(|&row| all.classes[row] == class).collect();
        let key = key.child("class").index(class as u64);
        let order = key.child("order").stream().distinct(rows.len(), rows.len());
        let mut drawn = order.into_iter().map(|place| rows[place]);
        let among = systematic_counts(&of_splits, rows.len(), &mut key.child("splits").stream());
        let mut first = 0;
        for (index, (split, count)) in splits.iter().zip(among).enumerate() {
            let mut stream = key.child("shares").index(index as u64).stream();
            let (sizes, ranges) = &begun[index];
            let of_class = split.shares(sizes, &mut stream);
            let mine: Vec<usize> = drawn.by_ref().take(count).collect();
            for (range, of_range) in ranges.shares.iter().enumerate() {
                let rows: Vec<usize> =
                    mine.iter().copied().filter(|&row| ranges.of_rows[row] == range).collect();
                let shares = match split.features {
                    None => of_class.clone(),
                    Some(_) => product(&of_class, of_range, sizes),
                };
                let mut rows = rows.into_iter();
                for (k, number) in systematic_counts(&shares, rows.len(), &mut stream).into_iter().enumerate()
                {
                    held[first + k].extend(rows.by_ref().take(number));
                }
            }
            first += split.count();
        }
    }
    fill_up(&mut held, &mut key.child("fewer than two").stream());
    held.iter_mut().for_each(|rows| rows.sort_unstable());
    held
}

/// Moves random records of the agent with the most records to agents with fewer than two.
fn fill_up(held: &mut [Vec<usize>], stream: &mut Stream) {
    for poor in 0..held.len() {
        while held[poor].len() < MIN_RECORDS {
            let most = held.iter().map(Vec::len).max().unwrap_or(0);
            let Some(rich) = held.iter().position(|rows| rows.len() == most).filter(|_| most > MIN_RECORDS)
            else {
                return;
            };
            let place = stream.below(most as u64) as usize;
            let row = held[rich].swap_remove(place);
            held[poor].push(row);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::recipe::too_few;
    use super::*;

    fn splits(text: &str) -> Vec<Split> {
        crate::scenario::part(text).unwrap()
    }

    /// Divides two classes, of 600 and 400 records, 2,000 times. Returns for each division and each agent the agent's number
    /// of records of each class.
    fn counts(text: &str) -> Vec<Vec<[f64; 2]>> {
        let features: Vec<f64> = (0..1000u32).map(f64::from).collect();
        let classes: Vec<usize> = (0..1000).map(|row| usize::from(row % 5 < 2)).collect();
        let all = Held { name: "", d: 1, features: &features, classes: &classes };
        let splits = splits(text);
        let of = |k: u64| {
            let held = rows_of_agents(&all, 2, (&splits, &[]), &Key::root(4).index(k));
            let mut all: Vec<usize> = held.iter().flatten().copied().collect();
            all.sort_unstable();
            assert_eq!(all, (0..1000).collect::<Vec<_>>(), "every record has one holder");
            let count = |rows: &Vec<usize>| {
                let ones = rows.iter().filter(|&&row| row % 5 < 2).count() as f64;
                [rows.len() as f64 - ones, ones]
            };
            held.iter().map(count).collect()
        };
        (0..2000).map(of).collect()
    }

    /// An agent's share of a class, one of ten shares from Dirichlet(alpha, .., alpha), has mean 1/10 and
    /// variance 0.09 / (10 alpha + 1); rounding adds at most 1/4 record^2 to the variance of a count. Over
    /// 2,000 divisions, the standard error of the mean is sqrt(variance / 2,000). The standard error of the
    /// estimated variance is at most variance sqrt(11 / 2,000) if the kurtosis is at most 12; the kurtosis of
    /// Beta(0.3, 2.7) is 7.7. The test allows six standard errors.
    #[test]
    fn class_counts_have_the_moments_of_their_dirichlet_law() {
        let found = counts("[Split(agents: 10, labels: Dirichlet(0.3))]");
        for (class, size) in [(0, 600.0), (1, 400.0)] {
            let variance = 0.09 / 4.0;
            for agent in [0, 4, 9] {
                let shares: Vec<f64> = found.iter().map(|held| held[agent][class] / size).collect();
                let mean = shares.iter().sum::<f64>() / 2000.0;
                let square = shares.iter().map(|share| (share - 0.1).powi(2)).sum::<f64>() / 2000.0;
                assert!((mean - 0.1).abs() < 6.0 * (variance / 2000.0f64).sqrt(), "{agent}, {class}: {mean}");
                let error = 6.0 * variance * (11.0f64 / 2000.0).sqrt();
                assert!((square - variance).abs() < error, "{agent}, {class}: {square} for {variance}");
            }
        }
        // The two classes are divided independently.
        let product = |held: &Vec<[f64; 2]>| (held[3][0] / 600.0 - 0.1) * (held[3][1] / 400.0 - 0.1);
        let correlation = found.iter().map(product).sum::<f64>() / 2000.0 / (0.09 / 4.0);
        assert!(correlation.abs() < 6.0 / 2000f64.sqrt(), "{correlation}");
    }

    #[test]
    fn sizes_follow_their_laws_and_alike_divides_evenly() {
        for held in counts("[Split(agents: 10)]") {
            assert!(held.iter().all(|[a, b]| (a - 60.0).abs() <= 1.0 && (b - 40.0).abs() <= 1.0), "{held:?}");
        }
        // Shares by Dirichlet(1, .., 1): mean 0.1, variance 0.09 / 11. An agent has the classes in the file's proportions.
        let found = counts("[Split(agents: 10, sizes: Dirichlet(1))]");
        let square =
            found.iter().map(|held| ((held[2][0] + held[2][1]) / 1000.0 - 0.1).powi(2)).sum::<f64>() / 2000.0;
        // The test allows six standard errors for a kurtosis of 8; the kurtosis of Beta(1, 9) is 5.5.
        let variance = 0.09 / 11.0;
        assert!((square - variance).abs() < 6.0 * variance * (7.0f64 / 2000.0).sqrt(), "{square}");
        let large = found.iter().flatten().filter(|[a, b]| a + b >= 50.0);
        assert!(large.into_iter().all(|[a, b]| (a / (a + b) - 0.6).abs() < 0.05));
        // With LogNormal(1), the ratio of the largest of ten sizes to their median has a logarithm whose mean is about 1.54.
        let found = counts("[Split(agents: 10, sizes: LogNormal(1))]");
        let spread = |held: &Vec<[f64; 2]>| {
            let mut sizes: Vec<f64> = held.iter().map(|[a, b]| a + b).collect();
            sizes.sort_by(f64::total_cmp);
            libm::log(sizes[9] / (0.5 * (sizes[4] + sizes[5])))
        };
        let mean = found.iter().map(spread).sum::<f64>() / 2000.0;
        assert!((1.3..1.8).contains(&mean), "{mean}");
    }

    #[test]
    fn splits_have_their_own_laws_and_every_agent_has_two_records() {
        let found = counts("[Split(agents: 4, labels: Dirichlet(0.05)), Split(agents: 6)]");
        for held in &found {
            // The first split has 40 % of each class, up to one record and the records that are moved to agents
            // with fewer than two.
            let first: f64 = held[..4].iter().map(|[a, _]| a).sum();
            assert!((first - 240.0).abs() <= 1.0 + 8.0, "{first}");
            assert!(held[4..].iter().all(|[a, b]| (a - 60.0).abs() <= 9.0 && (b - 40.0).abs() <= 9.0));
            assert!(held.iter().all(|[a, b]| a + b >= 2.0), "{held:?}");
        }
        let alone = found.iter().filter(|held| held[..4].iter().any(|[a, b]| *a == 0.0 || *b == 0.0)).count();
        assert!(alone > 1000, "a small alpha leaves some agents without a class: {alone}");
        assert!(too_few(&splits("[Split(agents: 500)]"), 1000).is_none());
        assert_eq!(too_few(&splits("[Split(agents: 501)]"), 1000).unwrap().path, "split[0].agents");
    }

    /// Records 0 to 999 are in ten ranges of a hundred. The share of a range that one of ten agents holds has
    /// mean 1/10 and, for alpha = 0.5, variance 0.09 / 6. The shares of one agent in ten ranges and 200 divisions are
    /// independent. The test allows six standard errors for a kurtosis of 8.1 (the kurtosis of Beta(0.5, 4.5) is 6.8), and
    /// rounding of at most one record in each of two classes.
    #[test]
    fn agents_hold_ranges_of_a_feature() {
        let features: Vec<f64> = (0..1000u32).flat_map(|row| [0.0, f64::from(row)]).collect();
        let classes: Vec<usize> = (0..1000).map(|row| row % 2).collect();
        let all = Held { name: "", d: 2, features: &features, classes: &classes };
        let names = ["x".to_owned(), "y".to_owned()];
        let splits =
            splits("[Split(agents: 10, features: FeatureShift(column: \"y\", alpha: 0.5, ranges: 10))]");
        let (mut sum, mut square, mut alike) = (0.0, 0.0, 0.0);
        for k in 0..200 {
            let held = rows_of_agents(&all, 2, (&splits, &names), &Key::root(9).index(k));
            for range in 0..10 {
                let count = held[3].iter().filter(|row| **row / 100 == range).count() as f64;
                let odd = held[3].iter().filter(|row| **row / 100 == range && **row % 2 == 1).count() as f64;
                (sum, square) = (sum + count / 100.0, square + (count / 100.0 - 0.1).powi(2));
                // The records of both classes in a range are divided in the same proportions.
                alike = f64::max(alike, (odd - 0.5 * count).abs());
            }
        }
        let variance = 0.09 / 6.0;
        assert!((sum / 2000.0 - 0.1).abs() < 6.0 * (variance / 2000.0f64).sqrt(), "{sum}");
        assert!(
            (square / 2000.0 - variance).abs() < 6.0 * variance * (7.1f64 / 2000.0).sqrt() + 2e-4,
            "{square}"
        );
        // In each range, the agent's number of records of a class differs by at most one from the agent's share of the 50
        // records of this class. So `alike`, half the difference between the two classes, is at most 1. It can be larger if
        // records are moved to an agent with fewer than two.
        assert!(alike <= 2.0, "{alike}");
        let path = |text: &str| {
            let found = super::tests::splits(text)[0].problems(&names);
            found.first().map(|problem| problem.path.clone())
        };
        assert_eq!(path("[Split(agents: 2, features: FeatureShift(column: \"y\", alpha: 0.5))]"), None);
        for (shift, place) in [
            ("column: \"z\", alpha: 0.5", "features.column"),
            ("column: \"y\", alpha: 1e-9", "features.alpha"),
            ("column: \"y\", alpha: 1, ranges: 1", "features.ranges"),
        ] {
            let text = format!("[Split(agents: 2, features: FeatureShift({shift}))]");
            assert_eq!(path(&text).as_deref(), Some(place), "{shift}");
        }
    }

    /// The standard deviation of the noise is proportional to the feature's standard deviation and to the number of the
    /// agent. A constant feature gets no noise.
    #[test]
    fn feature_noise_grows_with_the_number_of_the_agent() {
        let n = 4000;
        let features: Vec<f64> = (0..n).flat_map(|row| [f64::from(row % 2) * 4.0, 7.0]).collect();
        let classes: Vec<usize> = (0..n as usize).map(|row| row % 2).collect();
        let all = Held { name: "", d: 2, features: &features, classes: &classes };
        // The first feature is 0 for class 0 and 4 for class 1, so its standard deviation is 2.
        let splits = splits("[Split(agents: 4, feature_noise: 0.5)]");
        let agents = divided(&all, 2, (&splits, &[]), &Key::root(8));
        for (k, agent) in agents.iter().enumerate() {
            assert!(agent.features[1] == 7.0);
            let count = agent.holder.rows.len();
            let noise = |row: usize| agent.features[2 * row] - 4.0 * classes[agent.holder.rows[row]] as f64;
            let square = (0..count).map(|row| noise(row).powi(2)).sum::<f64>() / count as f64;
            let expected = (0.25 * (k + 1) as f64).powi(2);
            assert!((square / expected - 1.0).abs() < 6.0 * (2.0 / count as f64).sqrt(), "{k}: {square}");
        }
    }
}
