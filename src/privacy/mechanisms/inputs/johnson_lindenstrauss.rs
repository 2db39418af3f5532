//! PO-GP-UCB's private projection of a curator's inputs (Algorithm 1 of the paper), as published.

use super::column_space::{ColumnSpace, INSIDE};
use super::input::{Input, RowsMechanism};
use super::lift_branch::{JlVariant, branch_delta};
use crate::gp::combine;
use crate::privacy::mechanisms::pair::{Distinguisher, Pair};
use crate::privacy::mechanisms::{Mechanism, MechanismError, Price, Rows, all_finite};
use crate::rng::Stream;
use crate::vocab::{Arithmetic, Basis, Claim, Cost, Delta, Epsilon, Neighbours, Positive, Sampler};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Projects centred inputs X (n x d) to Z = X M / sqrt(r), where M is a d x r matrix of N(0, 1) numbers. If the smallest
/// singular value of X is below the threshold omega, all singular values are raised ("lifted") first.
///
/// * Precondition of the claim: neighbouring data sets differ in one row, by a Euclidean distance of at most 1.
/// * Postcondition as published: (epsilon, delta)-DP. **It does not hold for n - 1 > d**: Z lies in the column space of
///   X with probability 1, and X has neighbours with another column space. The output distributions on X and on such a
///   neighbour are mutually singular, so delta is 1 for every epsilon. **Nor does it hold for n - 1 = d**, unless
///   epsilon is large enough for this r and delta: where the smallest singular value is close to omega, the singular
///   values of one data set may be lifted and those of its neighbour not, which the output reveals. In both cases the
///   ledger entry has the claim, the cost "unprotected" and the basis "refuted". In all other cases the claim is reported
///   as published: for n - 1 = d with such a large epsilon, and for n <= d, where the singular values are always lifted.
///
/// Source: Kharkovskii, Dai and Low 2020, "Private outsourced Bayesian optimization", Algorithm 1 and Theorem 1 (in
/// omega the square root includes ln(2 / delta), as it must to reproduce the paper's tables). Refutation: see
/// `docs/accounting.md`.
///
/// Example: `JohnsonLindenstrauss(epsilon: 3, delta: 1e-5, r: 6)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JohnsonLindenstrauss {
    /// Claimed epsilon, above 0.
    pub epsilon: Epsilon,
    /// Claimed delta, in (0, 1).
    pub delta: Delta,
    /// Columns of the projection, r, at least 1.
    pub r: NonZeroUsize,
    /// How singular values are lifted. Default: `Paper`.
    #[serde(default)]
    pub variant: JlVariant,
}

/// Intermediate results of Algorithm 1, for reports and tests. As sensitive as X: only Z is released.
#[derive(Clone, Debug, PartialEq)]
pub struct JlTrace {
    /// Singular values of the centred X, in descending order.
    pub singular_values: Vec<f64>,
    /// The threshold with which the smallest singular value is compared.
    pub omega: f64,
    /// Whether the singular values were lifted (the algorithm's else branch).
    pub lifted: bool,
    /// The projection, n x r.
    pub z: Rows,
}

const NAME: &str = "Johnson-Lindenstrauss projection";

impl JohnsonLindenstrauss {
    /// The threshold omega = 16 sqrt(r ln(2 / delta)) / epsilon * ln(16 r / delta). Public: it depends on no data.
    #[must_use]
    pub fn omega(&self) -> f64 {
        let (r, delta) = (self.r.get() as f64, self.delta.get());
        16.0 * (r * libm::log(2.0 / delta)).sqrt() / self.epsilon.get() * libm::log(16.0 * r / delta)
    }

    /// Why the claim is false for data of this shape, if that is known.
    fn refutation(&self, x: &Rows) -> Option<String> {
        let (rank, d) = (x.n() - 1, x.d());
        if rank > d {
            return Some(format!(
                "Z lies in the column space of X, which differs between neighbours when n - 1 > d ({rank} > {d}): the \
                 output laws are mutually singular"
            ));
        }
        let needed = branch_delta(self.epsilon.get(), self.r.get(), self.variant);
        // With n - 1 < d the smallest singular value is 0, so all singular values are always lifted.
        (rank == d && needed > self.delta.get()).then(|| {
            format!(
                "Z reveals whether singular values are lifted: where the smallest is at the threshold omega, delta is at least \
                 {needed:.3} at this epsilon for r = {}",
                self.r
            )
        })
    }

    /// Algorithm 1 with a given matrix `m` (d x r, row-major) instead of a drawn one.
    ///
    /// Cost: one thin singular value decomposition of X, and n d r multiplications.
    ///
    /// # Errors
    /// If `m` is not d x r, if X is not finite, or if the decomposition does not converge.
    pub fn trace(&self, x: &Rows, m: &[f64]) -> Result<JlTrace, MechanismError> {
        let r = self.r.get();
        all_finite(x.values())?;
        if m.len() != x.d() * r {
            return Err(MechanismError::Shape {
                expected: format!("a projection matrix of {} x {r} numbers", x.d()),
                found: format!("{} numbers", m.len()),
            });
        }
        let centred = x.centred();
        let svd = centred.singular()?;
        let singular_values = svd.values().to_vec();
        let smallest = singular_values.last().copied().unwrap_or(0.0);
        let omega = self.omega();
        // With n < d only n singular values are computed. X then has no full column rank, so its smallest singular value
        // counts as 0.
        let lifted = smallest < omega || x.n() < x.d();
        let mut values = vec![0.0; x.n() * r];
        if lifted {
            // The sum of lifted(s) u (v^T M) over the singular values s, with left vectors u and right vectors v.
            let mut turned = vec![0.0; singular_values.len() * r];
            for (i, (row, &s)) in turned.chunks_exact_mut(r).zip(&singular_values).enumerate() {
                combine(m, svd.right(i), row);
                row.iter_mut().for_each(|v| *v *= self.variant.lifted(s, omega));
            }
            for (i, row) in values.chunks_exact_mut(r).enumerate() {
                let left: Vec<f64> = (0..singular_values.len()).map(|k| svd.left(k)[i]).collect();
                combine(&turned, &left, row);
            }
        } else {
            for (i, row) in values.chunks_exact_mut(r).enumerate() {
                combine(m, centred.row(i), row);
            }
        }
        let scale = 1.0 / (r as f64).sqrt();
        values.iter_mut().for_each(|v| *v *= scale);
        Ok(JlTrace { singular_values, omega, lifted, z: Rows::new(x.n(), r, values)? })
    }
}

impl Mechanism for JohnsonLindenstrauss {
    type Input = Rows;
    type Output = Rows;

    fn price(&self, x: &Rows, neighbours: &Neighbours) -> Result<Price, MechanismError> {
        let covered = matches!(neighbours, Neighbours::RowMoved { distance } if *distance <= 1.0);
        if !covered {
            return Err(MechanismError::NeighboursNotCovered {
                mechanism: NAME,
                neighbours: neighbours.clone(),
                covered: "one row moved by a distance of at most 1",
            });
        }
        let (epsilon, delta) = (self.epsilon.get(), self.delta.get());
        let (cost, basis) = match self.refutation(x) {
            Some(why) => (Cost::Unprotected, Basis::Refuted { why }),
            None => (Cost::ApproximateDp { epsilon, delta }, Basis::AsPublished),
        };
        Ok(Price {
            mechanism: NAME,
            sampler: Sampler::Full,
            sensitivity: Some(1.0),
            cost,
            claim: Some(Claim {
                epsilon,
                delta,
                source: "Kharkovskii, Dai and Low 2020, Theorem 1".into(),
                cost: None,
            }),
            basis,
            arithmetic: Arithmetic::Ideal,
        })
    }

    fn privatise(&self, x: &Rows, stream: &mut Stream) -> Result<Rows, MechanismError> {
        all_finite(x.values())?;
        let mut m = vec![0.0; x.d() * self.r.get()];
        stream.fill_normal(&mut m);
        Ok(self.trace(x, &m)?.z)
    }

    /// The first record moved by 1 along the first column. For n - 1 > d and data in general position, a moved record
    /// changes the column space, so no other pair is easier to distinguish.
    fn worst_pair(&self, like: &Rows) -> Option<Pair<Rows>> {
        let direction: Vec<f64> = (0..like.d()).map(|column| if column == 0 { 1.0 } else { 0.0 }).collect();
        Some(Pair::new(like.clone(), like.moved(0, &direction, 1.0), "one record moved by 1"))
    }

    /// Distinguishes by the column space that Z lies in. If both inputs have the same left singular vectors, a second test
    /// uses the lengths of Z along these vectors; the lift changes these lengths. If the column spaces do not distinguish
    /// the inputs and the left singular vectors differ, a statistic of the squared lengths of the rows of Z is trained.
    fn distinguisher(&self, inputs: [&Rows; 2]) -> Result<Distinguisher<Rows>, MechanismError> {
        let spaces = [ColumnSpace::of(inputs[0])?, ColumnSpace::of(inputs[1])?];
        // Let the column spaces of the two inputs differ and have the same dimension. The columns of a projection of one
        // input lie in the column space of this input with probability 1, and in that of the other input with
        // probability 0. This holds even if the projection has fewer columns than the rank of its input.
        let apart = spaces[0].distance(&inputs[1].centred());
        let disjoint = (apart > INSIDE && spaces[0].dimension() == spaces[1].dimension()).then(|| {
            format!(
                "Z lies in the column space of X, and the neighbour's columns lie outside this space by {apart:.1e} of their length"
            )
        });
        let lifted = |x: &Rows| -> Result<Vec<f64>, MechanismError> {
            let trace = self.trace(x, &vec![0.0; x.d() * self.r.get()])?;
            let lift = |s: &f64| if trace.lifted { self.variant.lifted(*s, trace.omega) } else { *s };
            Ok(trace.singular_values.iter().map(lift).collect())
        };
        let common = spaces[0].same_directions(&spaces[1]);
        let sizes = match &common {
            Some(order) => {
                let (given, neighbour) = (lifted(inputs[0])?, lifted(inputs[1])?);
                Some([given, order.iter().map(|&place| neighbour[place]).collect::<Vec<f64>>()])
            }
            None => None,
        };
        let mut found = Distinguisher::unknown();
        if sizes.is_none() && disjoint.is_none() {
            // The likelihood ratio is unknown: a statistic is trained on the squared lengths of the rows.
            found.features = Some(Box::new(|z: &Rows| {
                (0..z.n()).map(|row| z.row(row).iter().map(|v| v * v).sum()).collect()
            }));
        }
        let spaces = Arc::new(spaces);
        let support = Arc::clone(&spaces);
        let inside = |space: &ColumnSpace, z: &Rows| f64::from(u8::from(space.distance(z) < INSIDE));
        found.tests.push((
            "support (column space)",
            Box::new(move |z: &Rows| inside(&support[0], z) - inside(&support[1], z)),
        ));
        if let Some([given, neighbour]) = sizes {
            found.tests.push((
                "likelihood ratio of the branch",
                Box::new(move |z: &Rows| {
                    spaces[0].log_density(&given, z) - spaces[0].log_density(&neighbour, z)
                }),
            ));
        }
        found.disjoint = disjoint;
        Ok(found)
    }
}

impl RowsMechanism for JohnsonLindenstrauss {
    fn is_affine(&self) -> bool {
        true
    }
}

impl Input for JohnsonLindenstrauss {
    fn columns(&self, _: u64) -> u64 {
        self.r.get() as u64
    }

    fn release_name(&self) -> &'static str {
        "projected inputs Z"
    }

    fn about(&self, rows: &Rows) -> String {
        let (n, d) = (rows.n(), rows.d());
        format!("{NAME} of {n} records of {d} numbers, r = {}", self.r)
    }

    fn delta(&self) -> f64 {
        self.delta.get()
    }

    fn mechanism(
        &self,
        _: usize,
        _: Positive,
        _: &mut Stream,
    ) -> Result<Option<Box<dyn RowsMechanism>>, MechanismError> {
        Ok(Some(Box::new(self.clone())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Key;
    use faer::MatRef;
    use serde_json::Value;

    fn oracle() -> Value {
        serde_json::from_str(include_str!("../../../../tests/oracles/outsourced_release_units.json")).unwrap()
    }

    fn recipe(epsilon: f64, delta: f64, r: usize) -> JohnsonLindenstrauss {
        JohnsonLindenstrauss {
            epsilon: Epsilon::new(epsilon).unwrap(),
            delta: Delta::new(delta).unwrap(),
            r: NonZeroUsize::new(r).unwrap(),
            variant: JlVariant::Paper,
        }
    }

    fn numbers(value: &Value) -> Vec<f64> {
        match value {
            Value::Array(items) => items.iter().flat_map(numbers).collect(),
            number => vec![number.as_f64().unwrap()],
        }
    }

    /// With n - 1 = d all centred inputs of rank d span the same space. The left singular vectors of the two inputs of this
    /// test differ, so a statistic is trained on the squared lengths of rows.
    #[test]
    fn inputs_that_span_one_space_are_distinguished_by_lengths_of_rows() {
        let given = Rows::new(3, 2, vec![0.1, 0.9, 0.4, 0.3, 0.8, 0.5]).unwrap();
        let neighbour = given.moved(0, &[0.6, 0.8], 1.0);
        let found = recipe(1.0, 1e-3, 2).distinguisher([&given, &neighbour]).unwrap();
        assert!(found.disjoint.is_none());
        let z = Rows::new(3, 2, vec![3.0, 4.0, 1.0, 0.0, 0.0, -2.0]).unwrap();
        assert_eq!(found.features.unwrap()(&z), [25.0, 1.0, 4.0]);
    }

    fn close(found: f64, expected: f64, relative: f64) {
        assert!((found - expected).abs() <= relative * expected.abs(), "found {found}, expected {expected}");
    }

    /// The 100 x 100 grid of the synthetic experiment, centred, its corners at norm 25.
    fn grid() -> Rows {
        let spacing = 50.0 / 2f64.sqrt() / 99.0;
        let at = |i: usize| spacing * (i as f64 - 49.5);
        let values = (0..10_000).flat_map(|k| [at(k / 100), at(k % 100)]).collect();
        Rows::new(10_000, 2, values).unwrap()
    }

    #[test]
    fn omega_agrees_with_the_papers_tables() {
        for case in oracle()["po_omega"].as_array().unwrap() {
            let r = case["r"].as_u64().unwrap() as usize;
            let (epsilon, delta) = (case["eps"].as_f64().unwrap(), case["delta"].as_f64().unwrap());
            close(recipe(epsilon, delta, r).omega(), case["omega"].as_f64().unwrap(), 1e-12);
        }
    }

    #[test]
    fn the_grid_lies_between_the_thresholds_that_the_paper_names() {
        let oracle = oracle();
        let sigma_min = oracle["po_grid"]["sigma_min"].as_f64().unwrap();
        for (log_epsilon, largest) in [(1.1, 11), (1.3, 15), (1.5, 22)] {
            let lifted = |r: usize| {
                let trace =
                    recipe(libm::exp(log_epsilon), 1e-5, r).trace(&grid(), &vec![1.0; 2 * r]).unwrap();
                close(*trace.singular_values.last().unwrap(), sigma_min, 1e-11);
                trace.lifted
            };
            assert!(!lifted(largest), "epsilon e^{log_epsilon}: r = {largest} needs no lift");
            assert!(lifted(largest + 1), "epsilon e^{log_epsilon}: r = {} needs one", largest + 1);
        }
    }

    #[test]
    fn the_lift_scales_the_grid_by_c_prime() {
        // The grid's two singular values are equal. Let sigma be their value. Lifting multiplies Z by
        // sqrt(1 + omega^2 / sigma^2), and squared distances by C' = 1 + omega^2 / sigma^2.
        for case in oracle()["po_Cprime_and_scale"].as_array().unwrap() {
            let r = case["r"].as_u64().unwrap() as usize;
            let recipe = recipe(libm::exp(case["eps_log"].as_f64().unwrap()), 1e-5, r);
            let mut m = vec![0.0; 2 * r];
            Key::root(5).stream().fill_normal(&mut m);
            let (lifted, plain) = (
                recipe.trace(&grid(), &m).unwrap(),
                (grid().as_faer() * MatRef::from_row_major_slice(&m, 2, r)),
            );
            assert_eq!(lifted.lifted, case["branch"] == "else");
            let ratio = lifted.z.row(7)[1] * (r as f64).sqrt() / plain[(7, 1)];
            close(ratio * ratio, case["Cprime"].as_f64().unwrap(), 1e-9);
        }
    }

    #[test]
    fn the_curators_tiny_case_is_reproduced_in_both_branches() {
        let tiny = &oracle()["po_curator_tiny"];
        let x = Rows::new(5, 2, numbers(&tiny["X"])).unwrap();
        for case in tiny["cases"].as_array().unwrap() {
            let trace =
                recipe(case["eps"].as_f64().unwrap(), 0.01, 3).trace(&x, &numbers(&tiny["M"])).unwrap();
            close(trace.omega, case["omega"].as_f64().unwrap(), 1e-12);
            assert_eq!(trace.lifted, case["branch"] == "else");
            for (found, expected) in trace.singular_values.iter().zip(numbers(&case["singular_values"])) {
                close(*found, expected, 1e-12);
            }
            for (found, expected) in trace.z.values().iter().zip(numbers(&case["Z"])) {
                close(*found, expected, 1e-11);
            }
        }
    }

    #[test]
    fn the_public_code_adds_omega_to_singular_values() {
        let x = Rows::new(4, 1, vec![3.0, -3.0, 3.0, -3.0]).unwrap();
        let recipe = JohnsonLindenstrauss { variant: JlVariant::PublicCode, ..recipe(1.0, 0.01, 1) };
        let trace = recipe.trace(&x, &[2.0]).unwrap();
        // The only singular value is 6, so a row of 3 becomes 3 (6 + omega) / 6, times M = 2.
        close(trace.z.row(0)[0], 6.0 + recipe.omega(), 1e-12);
    }

    #[test]
    fn the_claim_is_refuted_exactly_when_the_data_are_tall() {
        let price = |n: usize| {
            let x = Rows::new(n, 3, vec![0.5; 3 * n]).unwrap();
            recipe(1.0, 1e-5, 4).price(&x, &Neighbours::RowMoved { distance: 1.0 }).unwrap()
        };
        assert_eq!(price(3).cost, Cost::ApproximateDp { epsilon: 1.0, delta: 1e-5 });
        assert_eq!(price(3).basis, Basis::AsPublished);
        // If n is 4, neighbours have equal column spaces, and only the decision to lift shows. If n is 5, the column spaces
        // of neighbours may differ.
        for (n, why) in [(4, "whether singular values are lifted"), (5, "n - 1 > d (4 > 3)")] {
            assert_eq!(price(n).cost, Cost::Unprotected);
            assert!(matches!(price(n).basis, Basis::Refuted { why: found } if found.contains(why)));
            assert_eq!(price(n).claim.unwrap().epsilon, 1.0);
        }
    }

    #[test]
    fn other_neighbouring_relations_are_refused() {
        let x = Rows::new(5, 1, vec![0.0; 5]).unwrap();
        for neighbours in [Neighbours::RowMoved { distance: 1.5 }, Neighbours::ReplaceOne] {
            assert!(matches!(
                recipe(1.0, 1e-5, 4).price(&x, &neighbours),
                Err(MechanismError::NeighboursNotCovered { .. })
            ));
        }
    }

    #[test]
    fn releases_are_replayed_by_the_seed() {
        let x = Rows::new(6, 2, (0..12).map(f64::from).collect()).unwrap();
        let draw = |seed| recipe(1.0, 1e-5, 3).privatise(&x, &mut Key::root(seed).stream()).unwrap();
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
        assert!(
            recipe(1.0, 1e-5, 3)
                .privatise(&Rows::new(1, 1, vec![f64::NAN]).unwrap(), &mut Key::root(1).stream())
                .is_err()
        );
    }
}
