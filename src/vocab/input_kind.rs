//! How the values of one input of a box, the domain of a search, are mapped to the unit interval.

/// The values that an input can take between the ends of its interval, and how they are spread over the unit interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InputKind {
    /// Whether only whole numbers are valid. Both ends of the input's interval are then whole.
    pub whole: bool,
    /// Whether the scale is logarithmic: equal ratios of values, not equal differences, are mapped to equal lengths in the
    /// unit interval. The lower end of the input's interval is then above 0.
    pub logarithmic: bool,
}

impl InputKind {
    /// The interval of values (or of their logarithms) that is mapped to the unit interval. If only whole numbers are valid,
    /// it extends half a unit beyond each end of the input's interval, so that each whole number has a part of it.
    fn stretch(self, (low, high): (f64, f64)) -> (f64, f64) {
        let (low, high) = if self.whole { (low - 0.5, high + 0.5) } else { (low, high) };
        if self.logarithmic { (libm::log(low), libm::log(high)) } else { (low, high) }
    }

    /// The valid value that the point `u` of the unit interval stands for.
    pub(super) fn value_at(self, u: f64, (low, high): (f64, f64)) -> f64 {
        let (start, end) = self.stretch((low, high));
        let x = start + (end - start) * u;
        let x = if self.logarithmic { libm::exp(x) } else { x };
        (if self.whole { x.round() } else { x }).clamp(low, high)
    }

    /// The point of the unit interval to which a value is mapped.
    pub(super) fn place_of(self, x: f64, side: (f64, f64)) -> f64 {
        let (start, end) = self.stretch(side);
        ((if self.logarithmic { libm::log(x) } else { x }) - start) / (end - start)
    }
}
