//! The search of one learner: a quasi-random design, then the points with the largest acquisition, among arms or in a box.

use super::model::Model;
use super::settings::Acquisition;
use super::surfaces::surface;
use super::trust_region::TrustRegion;
use crate::gp::{Climb, GpError, PointPosterior, Points, largest, maximum_in_box, maximum_in_mixed};
use crate::learners::Learner;
use crate::rng::{Key, Stream, sobol};
use crate::vocab::SearchBox;
use std::sync::Arc;

/// Number of quasi-random candidates of one search for the largest acquisition.
const CANDIDATES: usize = 512;
/// Number of candidates near the best point, which has the largest posterior mean among the points with outcomes. The first
/// candidate is the best point itself; the others are random.
const NEAR: usize = 64;
/// Standard deviations of the random distance from the best point along each input, as shares of the input's range. The
/// candidates use these standard deviations in turn. Small distances are needed too, because the maxima of the acquisition
/// function become narrower as the search comes closer to a maximum of the objective.
const DISTANCES: [f64; 4] = [0.03, 0.003, 0.000_3, 0.000_03];
/// Number of candidates of each kind (quasi-random, nearby) from which a local search starts.
const REFINED: usize = 4;
const CLIMB: Climb = Climb { max_steps: 60, gradient_tolerance: 1e-8, value_tolerance: 1e-10 };

/// What can be queried.
#[derive(Clone, Debug)]
pub(super) enum Domain {
    /// Arms, with their coordinates as the model sees them.
    Arms(Arc<Points>),
    /// The points of a box.
    Box(SearchBox),
}

#[derive(Clone, Debug)]
pub(super) struct Search {
    recipe: Acquisition,
    domain: Domain,
    d: usize,
    model: Model,
    /// In a box: the points suggested or added so far, each as a point of the box and as a point of the
    /// unit cube.
    asked: Vec<(Vec<f64>, Vec<f64>)>,
    /// The random 64-bit number that generates the design: the number drawn for the first suggestion of
    /// the design.
    design: Option<u64>,
    /// Number of suggestions so far.
    suggested: usize,
    /// Number of points of the present design that were suggested.
    designed: usize,
    region: Option<TrustRegion>,
}

impl Search {
    pub(super) fn new(recipe: Acquisition, domain: Domain, d: usize, model: Model) -> Self {
        let region = recipe.trust_region.then(|| TrustRegion::new(d));
        Self { recipe, domain, d, model, asked: Vec::new(), design: None, suggested: 0, designed: 0, region }
    }

    /// The coordinates of an arm, or of a point that was suggested or added, as the model sees them.
    fn coordinates(&self, arm: usize) -> &[f64] {
        match &self.domain {
            Domain::Arms(points) => points.row(arm),
            Domain::Box(_) => &self.asked[arm].1,
        }
    }

    /// Number of points of the design.
    fn initial(&self) -> usize {
        let inputs = match &self.domain {
            Domain::Arms(_) => self.d,
            Domain::Box(domain) => domain.d(),
        };
        self.recipe.initial.map_or(2 * (inputs + 1), |count| count.get())
    }

    /// Whether the next suggestion is a point of the design.
    fn designs(&self) -> bool {
        self.designed < self.initial() || self.model.len() == 0
    }

    /// Counts a suggestion; `word` is the random word that was drawn for it.
    fn count(&mut self, word: u64) {
        self.design.get_or_insert(word);
        self.suggested += 1;
        if self.designed < self.initial() {
            self.designed += 1;
        }
    }

    /// Point `index` of the quasi-random design, in the unit cube. If no design has begun, `word`
    /// generates it.
    fn design_point(&self, word: u64, index: usize) -> Vec<f64> {
        let key = Key::root(self.design.unwrap_or(word)).child("design");
        match &self.domain {
            Domain::Arms(_) => space_filling(index + 1, self.d, key).pop().unwrap_or_default(),
            Domain::Box(domain) => {
                let shares = space_filling(index + 1, domain.d(), key).pop().unwrap_or_default();
                domain.at_shares(&shares)
            }
        }
    }

    /// The trust region around the point with the largest outcome; `None` without a trust region or without outcomes.
    fn trusted(&self) -> Option<SearchBox> {
        let (region, best) = (self.region.as_ref()?, self.model.best()?);
        let region = region.around(self.model.point(best), &self.model.relative_length_scales());
        let Domain::Box(domain) = &self.domain else { return Some(region) };
        // The trust region does not limit inputs with categories.
        let sides = region.sides().iter().zip(domain.ordered());
        Some(SearchBox::new(sides.map(|(side, ordered)| if ordered { *side } else { (0.0, 1.0) }).collect()))
    }

    /// A point as the model sees it. In a box, the coordinate of an input that is a whole number moves to the coordinate of
    /// the whole number to which it is rounded. The coordinates of an input with categories move to those of one category.
    /// Among arms, the point stays as it is.
    fn valid(&self, point: Vec<f64>) -> Vec<f64> {
        match &self.domain {
            Domain::Box(domain) => domain.valid_unit(&point),
            Domain::Arms(_) => point,
        }
    }

    /// Searches for the maximum of a function in `region`, by local searches from the best candidates of each of `groups`.
    /// Returns the best point that the searches find, and the function's value there; `None` if the value is finite at no
    /// candidate. `value` computes the function, and `function` computes it with its gradient. In a box, inputs that are
    /// whole numbers or categories have valid values in all steps.
    fn maximum(
        &self,
        groups: &[Vec<Vec<f64>>],
        region: &SearchBox,
        value: &mut impl FnMut(&[f64]) -> f64,
        function: &mut impl FnMut(&[f64], &mut [f64]) -> f64,
    ) -> Option<(Vec<f64>, f64)> {
        match &self.domain {
            Domain::Box(domain) if !domain.is_continuous() => {
                let discrete = domain.discrete();
                let neighbours = |unit: &[f64]| domain.neighbours(unit, region);
                let place = (region.sides(), &discrete[..]);
                maximum_in_mixed(groups, place, (REFINED, CLIMB), &neighbours, value, function)
            }
            _ => maximum_in_box(groups, region.sides(), (REFINED, CLIMB), value, function),
        }
    }

    /// In a box: the point, in the unit cube, with the largest acquisition that the search finds. The search stays in the
    /// trust region, if there is one, except that a coordinate that is rounded to a whole number may leave it.
    fn best_point(&self, posterior: &PointPosterior, key: Key) -> Vec<f64> {
        let region = self.trusted().unwrap_or_else(|| SearchBox::unit(self.d));
        let mut stream = key.child("candidates").stream();
        let quasi_random = self.candidates(&region, key.child("quasi-random"));
        let known = self.known_means(posterior);
        let near = self.near_the_best(&known, &region, &mut stream);
        let groups = [quasi_random, near];
        let sample: Vec<&[f64]> = groups.iter().flatten().map(Vec::as_slice).collect();
        let best = self.model.best_value(&known);
        let found = surface(self.recipe.function, posterior, best, &sample, key).and_then(|surface| {
            let mut value = |x: &[f64]| surface.at(x);
            let mut function = |x: &[f64], gradient: &mut [f64]| surface.with_gradient(x, gradient);
            self.maximum(&groups, &region, &mut value, &mut function)
        });
        // If the acquisition cannot be computed, or if the acquisition is finite at no candidate, the first
        // quasi-random point is chosen.
        found.map_or_else(|| groups[0][0].clone(), |(point, _)| point)
    }

    /// Valid quasi-random candidates in a region.
    fn candidates(&self, region: &SearchBox, key: Key) -> Vec<Vec<f64>> {
        let Domain::Box(domain) = &self.domain else {
            return space_filling(CANDIDATES, self.d, key)
                .iter()
                .map(|unit| region.from_unit(unit))
                .collect();
        };
        // A share lies between 0 and 1. The share of an input that is a number is the position between the two ends of the
        // region; the share of an input with categories chooses a category.
        let in_region = |shares: &Vec<f64>| {
            let unit = domain.spread(shares);
            let inside = region.from_unit(&unit).into_iter().zip(&unit).zip(domain.ordered());
            domain.valid_unit(
                &inside
                    .map(|((inside, unit), ordered)| if ordered { inside } else { *unit })
                    .collect::<Vec<f64>>(),
            )
        };
        space_filling(CANDIDATES, domain.d(), key).iter().map(in_region).collect()
    }

    /// The posterior means at the points with outcomes.
    fn known_means(&self, posterior: &PointPosterior) -> Vec<f64> {
        (0..self.model.len()).map(|index| posterior.at(self.model.point(index)).0).collect()
    }

    /// The best point and candidates near it. The best point has the largest posterior mean among the points with outcomes;
    /// `known` holds the posterior means at these points. Where inputs are whole numbers or categories, every second
    /// candidate is made from a point that `other_values` returns, not from the best point, since a small step never changes
    /// a category and does not always reach the next whole number.
    fn near_the_best(&self, known: &[f64], region: &SearchBox, stream: &mut Stream) -> Vec<Vec<f64>> {
        if known.is_empty() {
            return Vec::new();
        }
        let centre = self.model.point(largest(known));
        let mixed = match &self.domain {
            Domain::Box(domain) if !domain.is_continuous() => Some((domain, domain.discrete())),
            _ => None,
        };
        let candidate = |place: usize| {
            let moved = mixed.as_ref().filter(|_| place % 2 == 1);
            let from = moved
                .map_or_else(|| centre.to_vec(), |(domain, _)| other_values(domain, centre, region, stream));
            // With discrete inputs, candidates with and without other values both occur at all distances.
            let turn = if mixed.is_some() { place / 2 } else { place };
            let distance = DISTANCES[turn % DISTANCES.len()];
            let mut step = || if place == 0 { 0.0 } else { distance * stream.normal() };
            let near = region.sides().iter().zip(&from).enumerate().map(|(input, ((low, high), x))| {
                let stays = moved.is_some_and(|(_, discrete)| discrete[input]);
                if stays { *x } else { (x + step()).clamp(*low, *high) }
            });
            self.valid(near.collect())
        };
        (0..NEAR).map(candidate).collect()
    }

    /// The arm with the largest acquisition, the first of equal ones. If there is a trust region, the arm is inside it.
    fn best_arm(&self, points: &Points, posterior: &PointPosterior, key: Key) -> usize {
        let rows: Vec<&[f64]> = (0..points.n()).map(|arm| points.row(arm)).collect();
        let best = self.model.best_value(&self.known_means(posterior));
        let surface = surface(self.recipe.function, posterior, best, &rows, key);
        let value = |x: &&[f64]| surface.as_ref().map_or(0.0, |surface| surface.at(x));
        let mut values: Vec<f64> = rows.iter().map(value).collect();
        if let Some(region) = self.trusted() {
            // The arm in the centre of the region is always inside, so at least one arm can be chosen.
            let outside = values.iter_mut().zip(&rows).filter(|(_, x)| !region.contains(x));
            outside.for_each(|(value, _)| *value = f64::NEG_INFINITY);
        }
        largest(&values)
    }
}

/// Points of the unit cube: Sobol' points, or independent uniform points if there are more dimensions than
/// [`sobol::MOST_DIMENSIONS`].
fn space_filling(count: usize, d: usize, key: Key) -> Vec<Vec<f64>> {
    if d <= sobol::MOST_DIMENSIONS {
        return sobol::points(count, d, key);
    }
    let mut stream = key.stream();
    (0..count).map(|_| (0..d).map(|_| stream.uniform()).collect()).collect()
}

/// The point `centre` with another value of one input that is a whole number or has categories. With probability 1/2 a
/// second change follows, which may take back the first one. Whole numbers change by one.
fn other_values(domain: &SearchBox, centre: &[f64], region: &SearchBox, stream: &mut Stream) -> Vec<f64> {
    let mut point = centre.to_vec();
    for _ in 0..=usize::from(stream.uniform() >= 0.5) {
        let others = domain.neighbours(&point, region);
        let chosen = (stream.uniform() * others.len() as f64) as usize;
        point = others.into_iter().nth(chosen).unwrap_or(point);
    }
    point
}

/// The arm nearest to a point, the first of equal ones.
fn nearest(points: &Points, to: &[f64]) -> usize {
    let away = |arm: usize| -points.row(arm).iter().zip(to).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
    largest(&(0..points.n()).map(away).collect::<Vec<f64>>())
}

impl Learner for Search {
    fn arms(&self) -> usize {
        match &self.domain {
            Domain::Arms(points) => points.n(),
            Domain::Box(_) => self.asked.len(),
        }
    }

    fn suggest(&mut self, stream: &mut Stream) -> usize {
        self.suggest_while(&[], stream)
    }

    /// Pending queries are treated as if they had the outcomes that the model expects.
    fn suggest_while(&mut self, pending: &[usize], stream: &mut Stream) -> usize {
        let word = stream.word();
        let designs = self.designs();
        let index = if self.designed < self.initial() { self.designed } else { self.suggested };
        self.count(word);
        let key = Key::root(word).child("acquisition");
        let domain = self.domain.clone();
        let point = if designs {
            self.design_point(word, index)
        } else {
            self.model.update();
            let posterior = self.model.believing(pending.iter().map(|&arm| self.coordinates(arm)));
            match &domain {
                Domain::Arms(points) => return self.best_arm(points, &posterior, key),
                Domain::Box(_) => self.best_point(&posterior, key),
            }
        };
        match domain {
            Domain::Arms(points) => {
                let ranges: Vec<(f64, f64)> = (0..self.d).map(|input| points.range(input)).collect();
                let place = |(u, (low, high)): (&f64, &(f64, f64))| low + (high - low) * u;
                nearest(&points, &point.iter().zip(&ranges).map(place).collect::<Vec<f64>>())
            }
            Domain::Box(domain) => {
                self.asked.push((domain.from_unit(&point), self.valid(point)));
                self.asked.len() - 1
            }
        }
    }

    fn observe(&mut self, arm: usize, outcome: f64) -> Result<(), GpError> {
        let point = self.coordinates(arm).to_vec();
        let begins = self.model.len() < self.initial();
        self.model.observe(&point, outcome)?;
        if let Some(region) = &mut self.region
            && region.observe(outcome, !begins)
        {
            self.region = Some(TrustRegion::new(self.d));
            self.model.forget();
            // The next suggestion begins a new design, generated from that suggestion's random
            // word.
            (self.designed, self.design) = (0, None);
        }
        Ok(())
    }

    fn predicted(&self, arm: usize) -> Option<f64> {
        Some(self.model.predicted(self.coordinates(arm)))
    }

    /// Fits the hyperparameters when a learner with these settings would have fitted them in the replayed history: a fit
    /// starts from the result of the previous fit, so the number of fits matters.
    fn replay_choice(&mut self, _: usize, stream: &mut Stream) {
        let designs = self.designs();
        self.count(stream.word());
        if !designs {
            self.model.update();
        }
    }

    fn point(&self, arm: usize) -> Option<&[f64]> {
        match self.domain {
            Domain::Arms(_) => None,
            Domain::Box(_) => self.asked.get(arm).map(|(point, _)| &point[..]),
        }
    }

    fn add_point(&mut self, point: &[f64]) -> Option<usize> {
        let Domain::Box(domain) = &self.domain else { return None };
        self.asked.push((point.to_vec(), domain.to_unit(point)));
        Some(self.asked.len() - 1)
    }

    fn jitter(&self) -> f64 {
        self.model.posterior().jitter()
    }
}

#[cfg(test)]
mod tests {
    use super::super::settings::Refit;
    use super::*;
    use crate::gp::covariance::{Covariance, Shape};
    use crate::vocab::InputKind;

    /// An input with four categories, a whole number from 0 to 20 and a real number; the best point is (b, 10, 0.5). The
    /// coordinates that are rounded to one whole number are an interval of width 1 / 21. A step with standard deviation 0.03
    /// from the middle of this interval stays within it in about half of all cases.
    #[test]
    fn every_second_nearby_candidate_has_another_whole_number_or_category() {
        let words = ["a", "b", "c", "d"].map(str::to_owned).to_vec();
        let whole = InputKind { whole: true, ..InputKind::default() };
        let names = ["solver", "depth", "rate"].map(str::to_owned).to_vec();
        let mixed = SearchBox::new(vec![(0.0, 3.0), (0.0, 20.0), (0.0, 1.0)])
            .with_kinds(vec![InputKind::default(), whole, InputKind::default()], names)
            .with_categories(vec![words, Vec::new(), Vec::new()]);
        let best = mixed.to_unit(&[1.0, 10.0, 0.5]);
        let near = |domain: &SearchBox, best: &[f64]| {
            let stated = (Covariance::new(Shape::Matern52, 0.3, 1.0), 1e-6, 0.0);
            let mut model = Model::new(Refit::Never, domain.width(), stated);
            model.observe(best, 1.0).unwrap();
            let search =
                Search::new(Acquisition::default(), Domain::Box(domain.clone()), domain.width(), model);
            let region = SearchBox::unit(domain.width());
            search.near_the_best(&[1.0], &region, &mut Key::root(3).stream())
        };
        let found: Vec<Vec<f64>> = near(&mixed, &best).iter().map(|unit| mixed.from_unit(unit)).collect();
        assert!(found.len() == NEAR && found[0] == mixed.from_unit(&best));
        for (place, point) in found.iter().enumerate() {
            assert!((point[2] - 0.5).abs() < 0.2 && (place == 0 || point[2] != 0.5), "{point:?}");
            if place.is_multiple_of(2) {
                assert!(point[0] == 1.0 && (point[1] - 10.0).abs() <= 3.0, "{point:?}");
            } else {
                // A second move may take back the first one.
                assert!((point[1] - 10.0).abs() <= 2.0, "{point:?}");
            }
        }
        let moved = found.iter().skip(1).step_by(2);
        let kept = moved.clone().filter(|point| point[0] == 1.0 && point[1] == 10.0).count();
        assert!(kept <= 6, "{kept} of 32: half have two moves, of which one in five or fewer returns");
        for category in [0.0, 2.0, 3.0] {
            assert!(moved.clone().any(|point| point[0] == category), "{category}");
        }
        assert!(moved.clone().any(|point| point[1] == 9.0) && moved.clone().any(|point| point[1] == 11.0));
        // Without whole numbers and categories all candidates but the first are a small step away from the best point.
        let plain = near(&SearchBox::unit(2), &[0.5, 0.5]);
        assert!(plain.iter().skip(1).all(|point| point.iter().all(|x| *x != 0.5 && (x - 0.5).abs() < 0.2)));
        // For each distance, at least 14 candidates are moved by 0.02 to 5 times this distance, with or without whole
        // numbers and categories.
        for distance in DISTANCES {
            let near = |x: f64| (0.02 * distance..5.0 * distance).contains(&(x - 0.5).abs());
            let count =
                |points: &[Vec<f64>], input: usize| points.iter().filter(|point| near(point[input])).count();
            assert!(count(&plain, 0) >= 14 && count(&found, 2) >= 14, "{distance}");
        }
    }
}
