//! A number whose transcendental functions are computed by `libm`, so that generic code over `num_traits::Float` gives
//! the same bits on every CPU.

use super::stream::{open_unit, unit};
use crate::special::normal_quantile;
use rand::distr::{Distribution, Open01, OpenClosed01, StandardUniform};
use rand::{Rng, RngExt};
use rand_distr::num_traits::{Float, FloatConst, Num, NumCast, One, ToPrimitive, Zero};
use rand_distr::{Exp1, StandardNormal};
use std::fmt;
use std::num::FpCategory;
use std::ops::{Add, Div, Mul, Neg, Rem, Sub};

/// An `f64` whose transcendental functions come from `libm` and not from the standard library.
///
/// `num_traits` takes the functions of `f64` from the standard library as soon as any crate enables the feature `std` of
/// `num_traits`. The standard library's functions use fused multiply-add if the CPU has it, so samples of `rand_distr` over
/// `f64` may differ between CPUs. Samples over `Portable`, such as those of
/// `rand_distr::Gamma::new(Portable(2.0), Portable(1.0))`, are the same on every CPU.
/// A standard normal or exponential number is computed from one word by inversion, as in [`super::Stream`].
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Portable(
    /// The number.
    pub f64,
);

impl From<f64> for Portable {
    fn from(number: f64) -> Self {
        Self(number)
    }
}

impl From<Portable> for f64 {
    fn from(number: Portable) -> Self {
        number.0
    }
}

impl fmt::Display for Portable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Implements distributions of [`Portable`] numbers, each number computed from one word of the generator.
macro_rules! by_one_word {
    ($($law:ty: |$word:ident| $number:expr;)+) => {
        $(impl Distribution<Portable> for $law {
            fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> Portable {
                let $word = rng.next_u64();
                Portable($number)
            }
        })+
    };
}

by_one_word! {
    StandardUniform: |word| unit(word);
    Open01: |word| open_unit(word);
    OpenClosed01: |word| 1.0 - unit(word);
    StandardNormal: |word| normal_quantile(open_unit(word));
    Exp1: |word| -libm::log(open_unit(word));
}

macro_rules! operators {
    ($($operator:ident::$name:ident),+) => {
        $(impl $operator for Portable {
            type Output = Self;
            fn $name(self, other: Self) -> Self {
                Self(self.0.$name(other.0))
            }
        })+
    };
}

operators!(Add::add, Sub::sub, Mul::mul, Div::div, Rem::rem);

impl Neg for Portable {
    type Output = Self;
    fn neg(self) -> Self {
        Self(-self.0)
    }
}

impl Zero for Portable {
    fn zero() -> Self {
        Self(0.0)
    }
    fn is_zero(&self) -> bool {
        self.0 == 0.0
    }
}

impl One for Portable {
    fn one() -> Self {
        Self(1.0)
    }
}

impl Num for Portable {
    type FromStrRadixErr = <f64 as Num>::FromStrRadixErr;
    fn from_str_radix(text: &str, radix: u32) -> Result<Self, Self::FromStrRadixErr> {
        f64::from_str_radix(text, radix).map(Self)
    }
}

impl ToPrimitive for Portable {
    fn to_i64(&self) -> Option<i64> {
        self.0.to_i64()
    }
    fn to_u64(&self) -> Option<u64> {
        self.0.to_u64()
    }
    fn to_f64(&self) -> Option<f64> {
        Some(self.0)
    }
}

impl NumCast for Portable {
    fn from<T: ToPrimitive>(number: T) -> Option<Self> {
        number.to_f64().map(Self)
    }
}

/// Functions of one number: the name in num-traits, and the function that computes it.
macro_rules! functions {
    ($($name:ident => $function:expr;)+) => {
        $(fn $name(self) -> Self {
            Self($function(self.0))
        })+
    };
}

impl Float for Portable {
    // IEEE 754 fixes every bit of the results of the following functions, so the standard library computes them.
    functions! {
        floor => f64::floor;
        ceil => f64::ceil;
        round => f64::round;
        trunc => f64::trunc;
        fract => f64::fract;
        abs => f64::abs;
        signum => f64::signum;
        recip => f64::recip;
        sqrt => f64::sqrt;
    }
    functions! {
        exp => libm::exp;
        exp2 => libm::exp2;
        exp_m1 => libm::expm1;
        ln => libm::log;
        ln_1p => libm::log1p;
        log2 => libm::log2;
        log10 => libm::log10;
        cbrt => libm::cbrt;
        sin => libm::sin;
        cos => libm::cos;
        tan => libm::tan;
        asin => libm::asin;
        acos => libm::acos;
        atan => libm::atan;
        sinh => libm::sinh;
        cosh => libm::cosh;
        tanh => libm::tanh;
        asinh => libm::asinh;
        acosh => libm::acosh;
        atanh => libm::atanh;
    }

    fn nan() -> Self {
        Self(f64::NAN)
    }
    fn infinity() -> Self {
        Self(f64::INFINITY)
    }
    fn neg_infinity() -> Self {
        Self(f64::NEG_INFINITY)
    }
    fn neg_zero() -> Self {
        Self(-0.0)
    }
    fn min_value() -> Self {
        Self(f64::MIN)
    }
    fn min_positive_value() -> Self {
        Self(f64::MIN_POSITIVE)
    }
    fn epsilon() -> Self {
        Self(f64::EPSILON)
    }
    fn max_value() -> Self {
        Self(f64::MAX)
    }
    fn is_nan(self) -> bool {
        self.0.is_nan()
    }
    fn is_infinite(self) -> bool {
        self.0.is_infinite()
    }
    fn is_finite(self) -> bool {
        self.0.is_finite()
    }
    fn is_normal(self) -> bool {
        self.0.is_normal()
    }
    fn classify(self) -> FpCategory {
        self.0.classify()
    }
    fn is_sign_positive(self) -> bool {
        self.0.is_sign_positive()
    }
    fn is_sign_negative(self) -> bool {
        self.0.is_sign_negative()
    }
    fn max(self, other: Self) -> Self {
        Self(self.0.max(other.0))
    }
    fn min(self, other: Self) -> Self {
        Self(self.0.min(other.0))
    }
    fn abs_sub(self, other: Self) -> Self {
        Self(libm::fdim(self.0, other.0))
    }
    /// The result is rounded once, on CPUs with a fused multiply-add and on CPUs without.
    fn mul_add(self, a: Self, b: Self) -> Self {
        Self(libm::fma(self.0, a.0, b.0))
    }
    fn powi(self, exponent: i32) -> Self {
        Self(libm::pow(self.0, exponent.into()))
    }
    fn powf(self, exponent: Self) -> Self {
        Self(libm::pow(self.0, exponent.0))
    }
    fn log(self, base: Self) -> Self {
        Self(libm::log(self.0) / libm::log(base.0))
    }
    fn hypot(self, other: Self) -> Self {
        Self(libm::hypot(self.0, other.0))
    }
    fn atan2(self, other: Self) -> Self {
        Self(libm::atan2(self.0, other.0))
    }
    fn sin_cos(self) -> (Self, Self) {
        (Self(libm::sin(self.0)), Self(libm::cos(self.0)))
    }
    fn integer_decode(self) -> (u64, i16, i8) {
        self.0.integer_decode()
    }
}

macro_rules! constants {
    ($($name:ident),+) => {
        #[allow(non_snake_case, reason = "num-traits names them so")]
        impl FloatConst for Portable {
            $(fn $name() -> Self {
                Self(std::f64::consts::$name)
            })+
        }
    };
}

constants!(
    E,
    FRAC_1_PI,
    FRAC_1_SQRT_2,
    FRAC_2_PI,
    FRAC_2_SQRT_PI,
    FRAC_PI_2,
    FRAC_PI_3,
    FRAC_PI_4,
    FRAC_PI_6,
    FRAC_PI_8,
    LN_10,
    LN_2,
    LOG10_E,
    LOG2_E,
    PI,
    SQRT_2
);

impl rand::distr::uniform::SampleUniform for Portable {
    type Sampler = UniformPortable;
}

/// Uniform portable numbers between two ends: low + (high - low) U, where U is uniform on the multiples of 2^-53 in
/// [0, 1). If `high` is excluded and rounding moves a result to `high`, another number is drawn instead.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UniformPortable {
    low: f64,
    high: f64,
    inclusive: bool,
}

impl UniformPortable {
    fn checked(low: f64, high: f64, inclusive: bool) -> Result<Self, rand::distr::uniform::Error> {
        if !(low.is_finite() && high.is_finite() && (high - low).is_finite()) {
            return Err(rand::distr::uniform::Error::NonFinite);
        }
        if low > high || (low == high && !inclusive) {
            return Err(rand::distr::uniform::Error::EmptyRange);
        }
        Ok(Self { low, high, inclusive })
    }
}

impl rand::distr::uniform::UniformSampler for UniformPortable {
    type X = Portable;

    fn new<A, B>(low: A, high: B) -> Result<Self, rand::distr::uniform::Error>
    where
        A: rand::distr::uniform::SampleBorrow<Portable>,
        B: rand::distr::uniform::SampleBorrow<Portable>,
    {
        Self::checked(low.borrow().0, high.borrow().0, false)
    }

    fn new_inclusive<A, B>(low: A, high: B) -> Result<Self, rand::distr::uniform::Error>
    where
        A: rand::distr::uniform::SampleBorrow<Portable>,
        B: rand::distr::uniform::SampleBorrow<Portable>,
    {
        Self::checked(low.borrow().0, high.borrow().0, true)
    }

    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> Portable {
        loop {
            let number = self.low + (self.high - self.low) * rng.random::<Portable>().0;
            if number < self.high || self.inclusive {
                return Portable(number.min(self.high));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Key, Stream};

    #[test]
    fn functions_are_those_of_libm() {
        let x = Portable(0.7);
        let bits = |found: Portable, expected: f64| assert_eq!(found.0.to_bits(), expected.to_bits());
        bits(x.ln(), libm::log(0.7));
        bits(x.exp(), libm::exp(0.7));
        bits(x.powf(Portable(2.3)), libm::pow(0.7, 2.3));
        bits(x.powi(5), libm::pow(0.7, 5.0));
        bits(x.sin_cos().1, libm::cos(0.7));
        bits(x.atan2(Portable(-2.0)), libm::atan2(0.7, -2.0));
        bits(x.hypot(Portable(2.0)), libm::hypot(0.7, 2.0));
        bits(x.mul_add(Portable(3.0), Portable(-2.1)), libm::fma(0.7, 3.0, -2.1));
        bits(Portable::PI(), std::f64::consts::PI);
        bits(NumCast::from(7u8).unwrap(), 7.0);
        assert_eq!(Portable(2.9).to_u64(), Some(2));
    }

    #[test]
    fn standard_laws_are_the_streams_own() {
        let (mut a, mut b): (Stream, Stream) = (Key::root(3).stream(), Key::root(3).stream());
        for _ in 0..1000 {
            let normal: Portable = StandardNormal.sample(&mut a);
            let exponential: Portable = Exp1.sample(&mut a);
            let uniform: Portable = StandardUniform.sample(&mut a);
            assert_eq!([normal.0, exponential.0, uniform.0], [b.normal(), b.exponential(), b.uniform()]);
        }
        assert_eq!(a.word(), b.word());
    }

    #[test]
    fn ranges_keep_their_ends() {
        let mut stream = Key::root(4).stream();
        for _ in 0..1000 {
            let drawn = stream.random_range(Portable(-2.0)..Portable(3.0)).0;
            assert!((-2.0..3.0).contains(&drawn));
        }
        assert!(rand::distr::Uniform::new(Portable(1.0), Portable(1.0)).is_err());
        assert!(rand::distr::Uniform::new(Portable(0.0), Portable(f64::NAN)).is_err());
        let one = rand::distr::Uniform::new_inclusive(Portable(1.0), Portable(1.0)).unwrap();
        assert_eq!(one.sample(&mut stream).0, 1.0);
    }
}
