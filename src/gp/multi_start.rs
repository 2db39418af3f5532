//! The maximum of a function of a few parameters within bounds, by COBYLA from several starting points.

use crate::rng::Stream;
use cobyla::{RhoBeg, StopTols, minimize};

/// How a maximum is searched.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MultiStart<'a> {
    /// Lowest and highest value of each parameter.
    pub(crate) bounds: &'a [(f64, f64)],
    /// Starting points; the first is given, the others are drawn between the bounds.
    pub(crate) starts: usize,
    /// Most evaluations per starting point.
    pub(crate) evaluations: usize,
    /// Relative change of the parameters below which a search ends.
    pub(crate) tolerance: f64,
}

impl MultiStart<'_> {
    /// The best point that any search saw and the function there; nothing if no search found a value. Where the
    /// function has no value, it is taken to be lower than anywhere else.
    pub(crate) fn maximum(
        self,
        first: &[f64],
        stream: &mut Stream,
        function: impl Fn(&[f64]) -> Option<f64>,
    ) -> Option<(Vec<f64>, f64)> {
        let objective = |at: &[f64], (): &mut ()| function(at).map_or(f64::MAX, |value| -value);
        let constraints: [fn(&[f64], &mut ()) -> f64; 0] = [];
        let mut best: Option<(Vec<f64>, f64)> = None;
        for start in 0..self.starts {
            let from: Vec<f64> = if start == 0 {
                first.to_vec()
            } else {
                self.bounds.iter().map(|&(low, high)| stream.uniform_between(low, high)).collect()
            };
            let tolerances = StopTols { ftol_rel: 1e-7, xtol_rel: self.tolerance, ..StopTols::default() };
            let found = minimize(
                objective,
                &from,
                self.bounds,
                &constraints,
                (),
                self.evaluations,
                RhoBeg::All(0.5),
                Some(tolerances),
            );
            // Running out of evaluations or of digits still leaves the best point seen.
            let (at, negative) = match found {
                Ok((_, at, value)) | Err((_, at, value)) => (at, value),
            };
            if negative < f64::MAX && best.as_ref().is_none_or(|(_, most)| -negative > *most) {
                best = Some((at, -negative));
            }
        }
        best
    }
}
