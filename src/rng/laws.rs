//! Twenty probability distributions, with the names and parameters that they have in `rand_distr`. Their samples have the
//! same bits on every CPU.

use super::{Portable, Stream};
use rand::distr::{Bernoulli, Distribution, Uniform};

/// A probability distribution that [`Stream::draw`] samples from. Its samples depend only on the stream and have the
/// same bits on every CPU.
///
/// The trait is implemented for all distributions of this module, and for the same distributions of `rand_distr` over
/// [`Portable`] numbers. It is also implemented for `rand`'s `Bernoulli`, and for `rand`'s `Uniform` over integers of 32
/// and 64 bits and over `f64`. Further implementations should use only additions, multiplications, divisions and the
/// functions of `libm`.
#[diagnostic::on_unimplemented(
    message = "samples of `{Self}` may have different bits on different CPUs",
    note = "use the distribution of the same name in `subrosa::rng::laws`, or give its parameters as `Portable(..)`; if the bits \
            do not matter, `stream.sample(..)` of rand draws from it"
)]
pub trait Law {
    /// The type of the samples.
    type Value;

    /// Draws one sample.
    fn draw_from(&self, stream: &mut Stream) -> Self::Value;
}

impl Stream {
    /// Draws one sample of a distribution, with the same bits on every CPU. The draw uses as many words of the stream as the
    /// distribution's sampler takes.
    ///
    /// ```
    /// use subrosa::rng::{Key, laws::Gamma};
    ///
    /// let mut stream = Key::root(1).child("my party").stream();
    /// let service_time = stream.draw(&Gamma::new(2.0, 1.0)?);
    /// assert!(service_time > 0.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn draw<L: Law + ?Sized>(&mut self, law: &L) -> L::Value {
        law.draw_from(self)
    }
}

macro_rules! laws {
    ($($(#[$doc:meta])* $name:ident($($field:ident),+) or $error:ident;)+) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug)]
            pub struct $name(rand_distr::$name<Portable>);

            impl $name {
                /// The distribution with these parameters.
                ///
                /// # Errors
                /// The error of `rand_distr`, if the parameters are invalid.
                pub fn new($($field: f64),+) -> Result<Self, rand_distr::$error> {
                    rand_distr::$name::new($(Portable($field)),+).map(Self)
                }
            }

            impl Law for $name {
                type Value = f64;
                fn draw_from(&self, stream: &mut Stream) -> f64 {
                    self.0.sample(stream).0
                }
            }

            impl Law for rand_distr::$name<Portable> {
                type Value = f64;
                fn draw_from(&self, stream: &mut Stream) -> f64 {
                    self.sample(stream).0
                }
            }
        )+
    };
}

laws! {
    /// The beta distribution on (0, 1). Parameters: alpha and beta, above 0.
    Beta(alpha, beta) or BetaError;
    /// The Cauchy distribution. Parameters: median; scale, above 0.
    Cauchy(median, scale) or CauchyError;
    /// The chi-squared distribution. Parameter: degrees of freedom, above 0.
    ChiSquared(degrees) or ChiSquaredError;
    /// The exponential distribution. Parameter: the rate, one over the mean.
    Exp(rate) or ExpError;
    /// Fisher's F distribution. Parameters: degrees of freedom of numerator and denominator, above 0.
    FisherF(numerator, denominator) or FisherFError;
    /// The Frechet distribution. Parameters: location; scale and shape, above 0.
    Frechet(location, scale, shape) or FrechetError;
    /// The gamma distribution. Parameters: shape and scale, above 0; its mean is their product.
    Gamma(shape, scale) or GammaError;
    /// The Gumbel distribution. Parameters: location; scale, above 0.
    Gumbel(location, scale) or GumbelError;
    /// The inverse Gaussian distribution. Parameters: mean and shape, above 0.
    InverseGaussian(mean, shape) or InverseGaussianError;
    /// The lognormal distribution. Parameters: mean and standard deviation of the logarithm.
    LogNormal(mu, sigma) or NormalError;
    /// The normal distribution. Parameters: mean and standard deviation.
    Normal(mean, standard_deviation) or NormalError;
    /// The normal-inverse Gaussian distribution. Parameters: alpha, above 0; beta, with absolute value below alpha.
    NormalInverseGaussian(alpha, beta) or NormalInverseGaussianError;
    /// The Pareto distribution. Parameters: smallest value and shape, above 0.
    Pareto(smallest, shape) or ParetoError;
    /// The Poisson distribution, whose integer samples are given as `f64`. Parameter: its mean, above 0.
    Poisson(mean) or PoissonError;
    /// The skew normal distribution. Parameters: location; scale, above 0; shape.
    SkewNormal(location, scale, shape) or SkewNormalError;
    /// Student's t distribution. Parameter: degrees of freedom, above 0.
    StudentT(degrees) or ChiSquaredError;
    /// The triangular distribution. Parameters: the smallest, the largest and the likeliest value.
    Triangular(smallest, largest, mode) or TriangularError;
    /// The Weibull distribution. Parameters: scale and shape, above 0.
    Weibull(scale, shape) or WeibullError;
    /// The zeta distribution on 1, 2, 3, .., whose samples are given as `f64`. Parameter: the exponent, above 1.
    Zeta(exponent) or ZetaError;
    /// Zipf's distribution on 1, 2, .., n, whose samples are given as `f64`. Parameters: n; the exponent, 0 or above.
    Zipf(n, exponent) or ZipfError;
}

/// Implements [`Law`] for distributions whose samplers only compare, multiply and add, so that the bits of their samples are
/// the same on every CPU.
macro_rules! plain {
    ($($law:ty => $value:ty),+) => {
        $(impl Law for $law {
            type Value = $value;
            fn draw_from(&self, stream: &mut Stream) -> $value {
                self.sample(stream)
            }
        })+
    };
}

plain!(
    Bernoulli => bool,
    Uniform<u32> => u32,
    Uniform<u64> => u64,
    Uniform<i32> => i32,
    Uniform<i64> => i64,
    Uniform<f64> => f64
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Key;

    /// Draws the next number of one distribution.
    type Draw = Box<dyn FnMut(&mut Stream) -> f64>;

    fn all() -> Vec<(&'static str, Draw)> {
        fn of<E: std::fmt::Debug>(law: Result<impl Law<Value = f64> + 'static, E>) -> Draw {
            let law = law.unwrap();
            Box::new(move |stream| stream.draw(&law))
        }
        vec![
            ("Beta", of(Beta::new(2.0, 0.7))),
            ("Cauchy", of(Cauchy::new(1.0, 2.0))),
            ("ChiSquared", of(ChiSquared::new(3.0))),
            ("Exp", of(Exp::new(2.0))),
            ("FisherF", of(FisherF::new(3.0, 7.0))),
            ("Frechet", of(Frechet::new(0.0, 1.0, 3.0))),
            ("Gamma", of(Gamma::new(2.0, 1.0))),
            ("Gumbel", of(Gumbel::new(0.0, 1.0))),
            ("InverseGaussian", of(InverseGaussian::new(1.0, 2.0))),
            ("LogNormal", of(LogNormal::new(0.0, 0.5))),
            ("Normal", of(Normal::new(1.0, 2.0))),
            ("NormalInverseGaussian", of(NormalInverseGaussian::new(2.0, 1.0))),
            ("Pareto", of(Pareto::new(1.0, 3.0))),
            ("Poisson", of(Poisson::new(14.0))),
            ("SkewNormal", of(SkewNormal::new(0.0, 1.0, 2.0))),
            ("StudentT", of(StudentT::new(5.0))),
            ("Triangular", of(Triangular::new(0.0, 1.0, 0.3))),
            ("Weibull", of(Weibull::new(1.0, 0.7))),
            ("Zeta", of(Zeta::new(2.5))),
            ("Zipf", of(Zipf::new(1000.0, 1.1))),
        ]
    }

    /// For each distribution, the hash of 2,000 samples never changes.
    #[test]
    fn bits_are_frozen() {
        let found: Vec<String> = all()
            .into_iter()
            .map(|(name, mut draw)| {
                let mut stream = Key::root(11).child(name).stream();
                let mut hasher = blake3::Hasher::new();
                (0..2000).for_each(|_| {
                    hasher.update(&draw(&mut stream).to_bits().to_le_bytes());
                });
                format!("{name} {}", &hasher.finalize().to_hex()[..12])
            })
            .collect();
        let expected: Vec<&str> = include_str!("laws.txt").lines().collect();
        assert_eq!(
            found,
            expected,
            "the samples of a distribution of rand_distr have changed: state this in the changelog\n{}",
            found.join("\n")
        );
    }

    #[test]
    fn invalid_parameters_are_refused() {
        assert!(Gamma::new(-1.0, 1.0).is_err());
        assert!(Zipf::new(0.0, 1.0).is_err());
        assert!(Triangular::new(0.0, 1.0, 2.0).is_err());
    }

    #[test]
    fn uniform_integers_and_bernoulli() {
        let mut stream = Key::root(12).stream();
        let dice = Uniform::new_inclusive(1u64, 6).unwrap();
        assert!((0..100).all(|_| (1..=6).contains(&stream.draw(&dice))));
        let coin = Bernoulli::new(0.5).unwrap();
        let heads = (0..10_000).filter(|_| stream.draw(&coin)).count();
        // The number of heads has a standard deviation of 50; six standard deviations are permitted.
        assert!(heads.abs_diff(5_000) < 300, "{heads}");
    }
}
