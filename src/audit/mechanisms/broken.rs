//! Mechanisms that are wrong on purpose, to test the auditor. No scenario can name them.

use crate::privacy::mechanisms::{
    Compared, Distinguisher, Laplace, Mechanism, MechanismError, NoiseArithmetic, Pair, Price, RATIO,
    SparseVector,
};
use crate::rng::Stream;
use crate::vocab::{Cost, Neighbours, Positive};

/// Wrong: states the cost of the given Laplace mechanism but draws half of its noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HalfNoise(
    /// The mechanism whose cost is stated.
    pub Laplace,
);

impl Mechanism for HalfNoise {
    type Input = Vec<f64>;
    type Output = Vec<f64>;

    fn price(&self, input: &Vec<f64>, neighbours: &Neighbours) -> Result<Price, MechanismError> {
        self.0.price(input, neighbours)
    }

    fn privatise(&self, input: &Vec<f64>, stream: &mut Stream) -> Result<Vec<f64>, MechanismError> {
        let scale = 0.5 * self.0.scale();
        Ok(input.iter().map(|value| value + scale * stream.laplace()).collect())
    }

    fn worst_pair(&self, like: &Vec<f64>) -> Option<Pair<Vec<f64>>> {
        self.0.worst_pair(like)
    }

    fn distinguisher(&self, inputs: [&Vec<f64>; 2]) -> Result<Distinguisher<Vec<f64>>, MechanismError> {
        let half = Positive::new(0.5 * self.0.scale()).expect("half of a number above 0");
        Laplace::new(half, half).distinguisher(inputs)
    }
}

/// Wrong: scales Laplace noise to the largest absolute value in the data instead of a public bound, but states
/// `epsilon` as its cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DataScaledNoise {
    /// The stated epsilon.
    pub epsilon: Positive,
}

impl Mechanism for DataScaledNoise {
    type Input = Vec<f64>;
    type Output = Vec<f64>;

    fn price(&self, input: &Vec<f64>, neighbours: &Neighbours) -> Result<Price, MechanismError> {
        let one = Positive::new(1.0).expect("1 is above 0");
        let honest = Laplace::new(one, one).with(NoiseArithmetic::Ideal).price(input, neighbours)?;
        Ok(Price { cost: Cost::PureDp { epsilon: self.epsilon.get() }, ..honest })
    }

    fn privatise(&self, input: &Vec<f64>, stream: &mut Stream) -> Result<Vec<f64>, MechanismError> {
        let scale = input.iter().fold(0.0f64, |most, value| most.max(value.abs())) / self.epsilon.get();
        Ok(input.iter().map(|value| value + scale * stream.laplace()).collect())
    }

    fn distinguisher(&self, [a, b]: [&Vec<f64>; 2]) -> Result<Distinguisher<Vec<f64>>, MechanismError> {
        let own = |input: &[f64]| input.iter().fold(0.0f64, |most, value| most.max(value.abs()));
        let density = |input: &[f64], scale: f64| {
            let input = input.to_vec();
            move |y: &[f64]| -> f64 {
                let each = y.iter().zip(&input).map(|(y, x)| -libm::log(scale) - (y - x).abs() / scale);
                each.sum()
            }
        };
        let (given, neighbour) =
            (density(a, own(a) / self.epsilon.get()), density(b, own(b) / self.epsilon.get()));
        let log_ratio = move |y: &Vec<f64>| given(y) - neighbour(y);
        Ok(Distinguisher { tests: vec![(RATIO, Box::new(log_ratio))], ..Distinguisher::unknown() })
    }
}

/// Wrong: states the cost of the given sparse vector technique, but adds noise to the threshold only, and compares all
/// numbers instead of stopping after the stated number of answers "above". (Stoddard, Chen and Machanavajjhala 2014;
/// Algorithm 5 of Lyu, Su and Li 2017, who show that it is private at no epsilon.)
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoNoiseOnNumbers {
    /// The mechanism whose cost is stated, with sensitivity 1 and threshold 0.
    pub stated: SparseVector,
    /// Scale of the noise on the threshold.
    pub scale: Positive,
}

impl Mechanism for NoNoiseOnNumbers {
    type Input = Vec<f64>;
    type Output = Vec<Compared>;

    fn price(&self, input: &Vec<f64>, neighbours: &Neighbours) -> Result<Price, MechanismError> {
        self.stated.price(input, neighbours)
    }

    fn privatise(&self, numbers: &Vec<f64>, stream: &mut Stream) -> Result<Vec<Compared>, MechanismError> {
        let threshold = self.scale.get() * stream.laplace();
        let answer = |x: &f64| if *x >= threshold { Compared::Above(None) } else { Compared::Below };
        Ok(numbers.iter().map(answer).collect())
    }

    fn worst_pair(&self, like: &Vec<f64>) -> Option<Pair<Vec<f64>>> {
        self.stated.worst_pair(like)
    }

    /// Tests the support: answers are possible on an input if the largest number with the answer "below" is smaller
    /// than the smallest number with the answer "above", so that a threshold fits between the two.
    fn distinguisher(&self, inputs: [&Vec<f64>; 2]) -> Result<Distinguisher<Vec<Compared>>, MechanismError> {
        let inputs = inputs.map(Clone::clone);
        let possible = |numbers: &[f64], answers: &[Compared]| {
            let of = |below: bool| {
                let found = numbers.iter().zip(answers);
                found.filter(move |(_, answer)| (**answer == Compared::Below) == below).map(|(x, _)| *x)
            };
            let [below, above] =
                [of(true).fold(f64::NEG_INFINITY, f64::max), of(false).fold(f64::INFINITY, f64::min)];
            f64::from(u8::from(below < above))
        };
        let score =
            move |answers: &Vec<Compared>| possible(&inputs[0], answers) - possible(&inputs[1], answers);
        Ok(Distinguisher::unknown().with_support(score))
    }
}
