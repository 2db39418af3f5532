//! Complex numbers with the operations that characteristic functions need; results are bit-identical on every platform.

use std::ops::{Add, Mul, MulAssign, Sub};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Complex {
    pub(super) re: f64,
    pub(super) im: f64,
}

impl Complex {
    pub(super) const ZERO: Self = Self::new(0.0, 0.0);
    pub(super) const ONE: Self = Self::new(1.0, 0.0);

    pub(super) const fn new(re: f64, im: f64) -> Self {
        Self { re, im }
    }

    /// exp(i angle).
    pub(super) fn turn(angle: f64) -> Self {
        let (sin, cos) = libm::sincos(angle);
        Self::new(cos, sin)
    }

    pub(super) fn conj(self) -> Self {
        Self::new(self.re, -self.im)
    }

    pub(super) fn scale(self, by: f64) -> Self {
        Self::new(self.re * by, self.im * by)
    }

    pub(super) fn norm_squared(self) -> f64 {
        self.re * self.re + self.im * self.im
    }

    pub(super) fn inverse(self) -> Self {
        self.conj().scale(1.0 / self.norm_squared())
    }

    /// The power with a whole exponent, by repeated squaring.
    pub(super) fn power(self, mut exponent: u64) -> Self {
        let (mut base, mut result) = (self, Self::ONE);
        while exponent > 0 {
            if exponent & 1 == 1 {
                result *= base;
            }
            base = base * base;
            exponent >>= 1;
        }
        result
    }
}

impl Add for Complex {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        Self::new(self.re + o.re, self.im + o.im)
    }
}

impl Sub for Complex {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        Self::new(self.re - o.re, self.im - o.im)
    }
}

impl Mul for Complex {
    type Output = Self;
    fn mul(self, o: Self) -> Self {
        Self::new(self.re * o.re - self.im * o.im, self.re * o.im + self.im * o.re)
    }
}

impl MulAssign for Complex {
    fn mul_assign(&mut self, o: Self) {
        *self = *self * o;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_multiplies_the_angle_and_raises_the_modulus() {
        let z = Complex::turn(0.1).scale(1.01).power(1000);
        let expected = Complex::turn(100.0).scale(libm::exp(1000.0 * libm::log(1.01)));
        assert!((z - expected).norm_squared().sqrt() < 1e-8, "{z:?} against {expected:?}");
        let w = Complex::new(3.0, -4.0);
        assert!((w * w.inverse() - Complex::ONE).norm_squared() < 1e-30);
    }
}
