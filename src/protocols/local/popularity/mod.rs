//! Distributions from which the person who makes a visit is drawn. Each file has one distribution.

mod even;
mod zipf;

pub use even::Even;
pub use zipf::Zipf;

use crate::rng::Stream;
use crate::vocab::Problem;

/// A distribution of visits over the people of a population.
pub trait Popularity {
    /// Draws the person who makes a visit, from 0 to `size` - 1. Each visit has a stream of its own.
    fn person(&self, size: u64, stream: &mut Stream) -> u64;

    /// What is wrong with the recipe as a whole.
    fn problems(&self) -> Vec<Problem> {
        Vec::new()
    }
}

crate::family! {
    /// How often each person visits.
    pub struct PopularityModel(PopularityMember): dyn Popularity, "popularity" {
        Even(Even),
        Zipf(Zipf),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Key;
    use crate::vocab::NonNegative;

    fn examples() -> Vec<PopularityModel> {
        vec![Even {}.into(), Zipf { exponent: NonNegative::new(1.1).unwrap() }.into()]
    }

    #[test]
    fn every_person_of_the_population_makes_visits() {
        assert_eq!(examples().len(), PopularityModel::names().len());
        for model in examples() {
            for size in [1, 2, 50] {
                let mut seen = vec![0u64; size];
                for visit in 0..20_000 {
                    seen[model.as_dyn().person(size as u64, &mut Key::root(2).index(visit).stream())
                        as usize] += 1;
                }
                assert!(seen.iter().all(|times| *times > 0), "{} {seen:?}", model.name());
            }
        }
    }

    /// Compares two samples of 20,000 ranks: rand_distr samples by rejection, this crate by inversion. Smirnov's
    /// statistic exceeds 1.95 sqrt(2 / n) with probability 0.001 for continuous distributions, and less often for
    /// discrete ones.
    #[test]
    fn frequencies_of_visits_agree_with_an_independent_library() {
        let law = Zipf { exponent: NonNegative::new(1.1).unwrap() };
        let theirs = rand_distr::Zipf::new(1000.0, 1.1).unwrap();
        let n = 20_000;
        let mut stream = Key::root(3).stream();
        let mut counts = vec![[0i64; 2]; 1001];
        for visit in 0..n {
            counts[law.person(1000, &mut Key::root(4).index(visit).stream()) as usize + 1][0] += 1;
            let other: f64 = rand_distr::Distribution::sample(&theirs, &mut stream);
            counts[other as usize][1] += 1;
        }
        let (mut gap, mut sums) = (0, [0, 0]);
        for [ours, other] in counts {
            sums = [sums[0] + ours, sums[1] + other];
            gap = gap.max((sums[0] - sums[1]).abs());
        }
        let threshold = 1.95 * (2.0 / n as f64).sqrt();
        assert!((gap as f64 / n as f64) < threshold, "{gap}");
    }
}
