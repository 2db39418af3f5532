//! The worst known pair of neighbouring inputs of a federated sum: one agent has vectors of full norm, and the vectors of
//! all other agents are equal to each other.
//!
//! With Poisson sampling the agent's vector has full norm or is zero, and the vectors of other agents are zero: non-zero
//! vectors of other agents would only add randomness that hides the agent's vector. With a sample of fixed size, the agent's
//! vector is S u or -S u, for a unit vector u and the clipping norm S. If weights are equal and all agents are present, the
//! vectors of other agents are -S u. The sum on the neighbour, where the agent's vector is -S u too, then does not depend on
//! who was drawn, so the sum with noise is normal. On the given data the agent's vector is S u. If the agent is drawn, the
//! sum is then larger by 2 S u times the factor with which vectors enter the sum (weight over sampling rate). If weights are
//! unequal or agents are absent, the vectors of other agents are zero.
//!
//! If the number of vectors within the clipping norm is counted, S / sqrt(P), the norm to which vectors are clipped for
//! each of the P regions, takes the place of S. The agent's vector in the direction u has exactly this norm: it is not
//! shortened, and adds 1/2 to the count. Vectors in the direction -u are twice as long: they exceed the norm, are
//! shortened to it, and add -1/2 to the count.

use super::clipping::clip_norm;
use super::mean_shift::SubsampledShift;
use super::norm_count::NormCount;
use super::pair::Pair;
use super::{Divisor, Participation, ReceivedVectors};
use crate::vocab::Positive;
use std::sync::Arc;

/// The parameters of a sum on which the pair depends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) participation: Participation,
    pub(super) clip: Positive,
    pub(super) divisor: Divisor,
    /// Standard deviation of the noise.
    pub(super) sd: f64,
    /// The count that is released with the sums, if there is one.
    pub(super) count: Option<NormCount>,
}

impl Shape {
    /// The pair for an agent whose vector is added `copies` times. `others` states which other agents have vectors; the
    /// numbers in these vectors are replaced.
    pub(super) fn worst_pair(
        self,
        others: &ReceivedVectors,
        agent: usize,
        copies: usize,
    ) -> Pair<ReceivedVectors> {
        let clip = match self.count {
            None => self.clip.get(),
            Some(_) => self.clip.get() / (others.weights.len() as f64).sqrt(),
        };
        let opposite = if self.count.is_some() { -2.0 * clip } else { -clip };
        let fixed_size = matches!(self.participation, Participation::FixedSize(_));
        let alone = others.vectors.iter().filter(|(other, _)| *other != agent);
        let against =
            if fixed_size && alone.clone().count() + 1 == others.population && others.has_equal_weights() {
                opposite
            } else {
                0.0
            };
        let along = |value: f64| {
            Arc::new((0..others.length).map(|i| if i == 0 { value } else { 0.0 }).collect::<Vec<f64>>())
        };
        let other = along(against);
        let vectors: Vec<(usize, Arc<Vec<f64>>)> = alone.map(|(n, _)| (*n, Arc::clone(&other))).collect();
        let with = |value: f64| {
            let own = along(value);
            let mut vectors = vectors.clone();
            vectors.extend((0..copies).map(|_| (agent, Arc::clone(&own))));
            ReceivedVectors { vectors, discounts: Vec::new(), ..others.clone() }
        };
        let words = if fixed_size {
            let others = if against == 0.0 {
                "those of all other agents are zero"
            } else {
                "those of all other agents have full norm, in the opposite direction"
            };
            format!("the vectors of agent {agent}, of full norm or negated; {others}")
        } else {
            format!(
                "agent {agent} present with vectors of full norm, or absent; the vectors of all other agents are zero"
            )
        };
        Pair::new(with(clip), with(if fixed_size { opposite } else { 0.0 }), words)
    }

    /// How one agent moves the sums on two inputs that differ only in this agent's vectors. The vectors of all other agents
    /// must be zero. In a sample of fixed size where all agents are present and have equal weights, it is enough that the
    /// vectors of the other agents, after clipping, are equal to each other and, if there is a count, add equal amounts to
    /// the count. `None` for inputs of any other kind, and if weights of vectors are multiplied by discounts.
    pub(super) fn moved(self, [given, neighbour]: [&ReceivedVectors; 2]) -> Option<SubsampledShift> {
        let bound = Positive::new(self.clip.get() / (given.weights.len() as f64).sqrt()).ok()?;
        let clipped = |vector: &[f64]| {
            let mut vector = vector.to_vec();
            clip_norm(&mut vector, bound);
            vector
        };
        let differs = given.vectors.iter().zip(&neighbour.vectors).filter(|(a, b)| a != b);
        let agent = differs.clone().next().map(|((agent, _), _)| *agent);
        if given.vectors.len() != neighbour.vectors.len()
            || differs.clone().any(|((a, _), (b, _))| Some(*a) != agent || a != b)
        {
            return None;
        }
        // If the inputs are equal, so are their distributions, whichever agent is chosen here.
        let agent = agent.unwrap_or(0);
        let mut others =
            given.vectors.iter().filter(|(other, _)| *other != agent).map(|(_, vector)| clipped(vector));
        let other = others.next().unwrap_or_else(|| vec![0.0; given.length]);
        let plain = other.iter().all(|value| *value == 0.0);
        let (drawn, rate) = match self.participation {
            Participation::Poisson(rate) => (None, rate.get()),
            Participation::FixedSize(size) => (Some(size), size as f64 / given.population as f64),
        };
        let everybody = given.here().iter().filter(|here| **here).count() == given.population;
        if others.any(|vector| vector != other)
            || (!plain && (drawn.is_none() || !everybody || !given.has_equal_weights()))
            || !(given.discounts.is_empty() && neighbour.discounts.is_empty())
        {
            return None;
        }
        // By region, the factor with which the agent's clipped vector enters the sum.
        let factors: Vec<f64> = given
            .weights
            .iter()
            .map(|region| {
                let total = match self.divisor {
                    Divisor::Planned => 1.0,
                    Divisor::Arrived | Divisor::ArrivedOrGone => given.present(region),
                };
                if total > 0.0 { region[agent] / (rate * total) } else { 0.0 }
            })
            .collect();
        let spread = |value: &[f64]| -> Vec<f64> {
            factors.iter().flat_map(|factor| value.iter().map(move |v| factor * v)).collect()
        };
        // What a vector adds to the count, scaled so that the count's noise has the standard deviation of the sums' noise.
        let counted = |vector: &[f64]| {
            self.count.map(|count| {
                let shortened = clip_norm(&mut vector.to_vec(), bound);
                0.5 * NormCount::halves(vector, shortened) as f64 * self.sd / count.sd.get()
            })
        };
        // Vectors that are equal after clipping may differ in whether they are clipped.
        let mut of_others =
            given.vectors.iter().filter(|(other, _)| *other != agent).map(|(_, vector)| counted(vector));
        let other_counted = of_others.next().unwrap_or_else(|| self.count.map(|_| 0.0));
        if of_others.any(|of| of != other_counted) {
            return None;
        }
        let moved = [given, neighbour].map(|input| {
            let own = input.vectors.iter().filter(|(n, _)| *n == agent).map(|(_, vector)| clipped(vector));
            let sum = own.fold(other.iter().map(|v| -v).collect::<Vec<f64>>(), |mut sum, vector| {
                sum.iter_mut().zip(&vector).for_each(|(sum, v)| *sum += v);
                sum
            });
            let own = input.vectors.iter().filter(|(n, _)| *n == agent);
            let own = own.filter_map(|(_, vector)| counted(vector)).sum::<f64>();
            let mut numbers = spread(&sum);
            numbers.extend(other_counted.map(|other| own - other));
            numbers
        });
        let drawn_others = drawn.unwrap_or(0) as f64;
        let base =
            spread(&other).into_iter().chain(other_counted).map(|value| drawn_others * value).collect();
        // A late vector may have a second sampling draw: it is in the sum with probability 1 - (1 - rate)^2. This holds for
        // Poisson sampling only: a sample of fixed size is one draw for all agents together.
        let again = given.late_sampling_draw.contains(&agent) && drawn.is_none();
        let rate = if again { 1.0 - (1.0 - rate) * (1.0 - rate) } else { rate };
        Some(SubsampledShift { rate, sd: self.sd, base, moved })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With a count, the agent's vector has the clipping norm of one region, S / sqrt(P) = 3 / 2, and opposite vectors are
    /// twice as long.
    #[test]
    fn the_worst_pair_fills_one_region_and_exceeds_the_norm_where_vectors_are_counted() {
        let others = ReceivedVectors {
            population: 3,
            vectors: (0..3).map(|agent| (agent, Arc::new(vec![7.0, 7.0]))).collect(),
            weights: Arc::new(vec![vec![1.0 / 3.0; 3]; 4]),
            late_sampling_draw: Vec::new(),
            length: 2,
            discounts: vec![0.5; 3],
        };
        let shape = |count: bool| Shape {
            participation: Participation::FixedSize(2),
            clip: Positive::new(3.0).unwrap(),
            divisor: Divisor::Planned,
            sd: 1.0,
            count: count.then(|| NormCount { sd: Positive::new(1.0).unwrap() }),
        };
        for (count, full, opposite) in [(false, 3.0, -3.0), (true, 1.5, -3.0)] {
            let pair = shape(count).worst_pair(&others, 1, 2);
            for (input, own) in pair.inputs.iter().zip([full, opposite]) {
                let found: Vec<(usize, &[f64])> =
                    input.vectors.iter().map(|(agent, vector)| (*agent, &vector[..])).collect();
                let (own, other) = ([own, 0.0], [opposite, 0.0]);
                assert_eq!(found, [(0, &other[..]), (2, &other), (1, &own), (1, &own)], "{count}");
                assert!(input.discounts.is_empty());
            }
        }
    }

    /// A sample of fixed size, with a count. On the first input, the vector of agent 0 has exactly the clipping norm and
    /// adds 1/2 to the count. All other vectors exceed the clipping norm, and each adds -1/2.
    #[test]
    fn the_count_moves_by_the_difference_to_another_agent() {
        let vectors = |own: f64| ReceivedVectors {
            population: 3,
            vectors: (0..3).map(|n| (n, Arc::new(vec![if n == 0 { own } else { -4.0 }]))).collect(),
            weights: Arc::new(vec![vec![1.0 / 3.0; 3]]),
            late_sampling_draw: Vec::new(),
            length: 1,
            discounts: Vec::new(),
        };
        let shape = Shape {
            participation: Participation::FixedSize(2),
            clip: Positive::new(2.0).unwrap(),
            divisor: Divisor::Planned,
            sd: 6.0,
            count: Some(NormCount { sd: Positive::new(3.0).unwrap() }),
        };
        let moved = shape.moved([&vectors(2.0), &vectors(-4.0)]).unwrap();
        // Weight 1/3 over rate 2/3 is 1/2. The count is multiplied by 6 / 3 = 2, so that its noise has the standard
        // deviation 6 of the sums' noise.
        let near = |found: &[f64], expected: [f64; 2]| {
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?} {expected:?}");
        };
        near(&moved.moved[0], [2.0, 2.0]);
        near(&moved.moved[1], [0.0, 0.0]);
        near(&moved.base, [-2.0, -2.0]);
        // If the vectors of the other agents differ from each other, the distribution of the sums is not known.
        let mut unequal = [vectors(2.0), vectors(-4.0)];
        unequal.iter_mut().for_each(|input| input.vectors[2].1 = Arc::new(vec![-3.0 * 0.5]));
        assert!(shape.moved([&unequal[0], &unequal[1]]).is_none());
    }
}
