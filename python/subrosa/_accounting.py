"""Privacy losses by every accountant: of lists of releases, of runs, and of events and histories of other libraries."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any

from . import _native
from ._errors import SubrosaError, refuse
from ._ron import ron, written
from ._runs import Frame, Run, printed

if TYPE_CHECKING:
    from dp_accounting import DpEvent


# Largest number of randomised responses that are converted to separate events.
_MOST_RESPONSES = 100_000


class UnsupportedEvent(SubrosaError, ValueError):
    """An event of another library that no cost of subrosa describes."""


class Release:
    """A release of a value with sensitivity 1, `count` times. Base class of all releases."""

    count: int

    def _ron(self, count: int) -> str:
        fields = {name: value for name, value in vars(self).items() if name != "count"}
        return ron(type(self).__name__, **fields, count=count) if fields else f"{type(self).__name__}(count: {count})"


@dataclass(frozen=True)
class Gaussian(Release):
    """Gaussian noise; with a rate below 1, on a sum over a Poisson sample whose members are not revealed."""

    z: float
    """Noise multiplier: standard deviation over L2 sensitivity; on a sample, over one unit's largest norm in the sum."""
    rate: float = 1.0
    """Probability with which each unit is in the sample."""
    count: int = 1

    def _ron(self, count: int) -> str:
        if self.rate == 1.0:
            return ron("Gaussian", noise_multiplier=float(self.z), count=count)
        return ron("PoissonGaussian", rate=float(self.rate), noise_multiplier=float(self.z), count=count)


@dataclass(frozen=True)
class FixedSizeGaussian(Release):
    """Gaussian noise on a sum over a sample of fixed size, drawn without replacement."""

    population: int
    """Number of units that could be in the sample."""
    size: int
    """Number of units in the sample."""
    z: float
    """Standard deviation over one unit's largest L2 norm in the sum; replacing a unit moves the sum by up to twice this."""
    count: int = 1

    def _ron(self, count: int) -> str:
        fields = {"population": self.population, "size": self.size, "noise_multiplier": float(self.z)}
        return ron("FixedSizeGaussian", **fields, count=count)


@dataclass(frozen=True)
class Laplace(Release):
    """Laplace noise."""

    scale: float
    """Scale of the noise over the L1 sensitivity."""
    count: int = 1


@dataclass(frozen=True)
class ExponentialMechanism(Release):
    """An exponential mechanism that is epsilon-bounded-range, and so epsilon-DP."""

    epsilon: float
    count: int = 1


@dataclass(frozen=True)
class RandomizedResponse(Release):
    """Randomised response with two answers, which is epsilon-DP."""

    epsilon: float
    count: int = 1


@dataclass(frozen=True)
class PureDp(Release):
    """Any mechanism known only to be epsilon-DP."""

    epsilon: float
    count: int = 1


@dataclass(frozen=True)
class ApproximateDp(Release):
    """Any mechanism known only to be (epsilon, delta)-DP."""

    epsilon: float
    delta: float
    count: int = 1


@dataclass(frozen=True)
class ZeroConcentratedDp(Release):
    """Any mechanism known only to be rho-zero-concentrated DP."""

    rho: float
    count: int = 1


@dataclass(frozen=True)
class RepeatedGaussian(Release):
    """The best of a random number of results with Gaussian noise, for instance of private hyperparameter tuning.

    The number has a truncated negative binomial distribution (geometric for shape 1, logarithmic for shape 0), or with an
    infinite shape a Poisson distribution, and is not released (Papernot and Steinke 2022).
    """

    z: float
    """Noise multiplier: standard deviation over L2 sensitivity."""
    mean: float
    """Mean number of repetitions."""
    shape: float = 1.0
    count: int = 1

    def _ron(self, count: int) -> str:
        fields: dict[str, float] = {"noise_multiplier": float(self.z), "mean": float(self.mean)}
        if self.shape == math.inf:
            return ron("PoissonRepeatedGaussian", **fields, count=count)
        return ron("RepeatedGaussian", **fields, shape=float(self.shape), count=count)


@dataclass(frozen=True)
class SparseVector(Release):
    """The sparse vector technique: compares values with a threshold, and ends after `cutoff` values that were not below it.

    Source: Lyu, Su and Li 2017, Algorithm 7 and section 4.
    """

    threshold_scale: float
    """Scale of the Laplace noise on the threshold, which is drawn once, over the sensitivity of a value."""
    number_scale: float
    """Scale of the fresh Laplace noise on each value that is compared, over the sensitivity."""
    cutoff: int = 1
    """Number of values not below the threshold after which the comparisons end."""
    monotonic: bool = False
    """Whether all values differ in the same direction between neighbours."""
    value_scale: float | None = None
    """Scale of the fresh Laplace noise on each value that is released, over the sensitivity; None if none is released."""
    count: int = 1

    @property
    def epsilon(self) -> float:
        """The epsilon at delta 0 of one release."""
        sides = 1 if self.monotonic else 2
        of_values = 0.0 if self.value_scale is None else self.cutoff / self.value_scale
        return 1 / self.threshold_scale + sides * self.cutoff / self.number_scale + of_values

    def _ron(self, count: int) -> str:
        scales = {"threshold_scale": float(self.threshold_scale), "number_scale": float(self.number_scale)}
        values = {} if self.value_scale is None else {"value_scale": ron("Some", float(self.value_scale))}
        return ron("SparseVector", **scales, cutoff=self.cutoff, monotonic=self.monotonic, **values, count=count)


@dataclass(frozen=True)
class AboveThreshold(Release):
    """Above threshold: compares values with a threshold until one is not below it (Dwork and Roth 2014, Algorithm 1).

    The noise has scale 2 / epsilon on the threshold and 4 / epsilon on a value, both over the sensitivity of a value.
    """

    epsilon: float
    count: int = 1

    def _ron(self, count: int) -> str:
        # An epsilon that is not above 0 gives a scale that is not above 0, which the check of the list refuses.
        scale = 2 / self.epsilon if self.epsilon else 0.0
        return SparseVector(scale, 2 * scale)._ron(count)


@dataclass(frozen=True)
class TreeAggregation(Release):
    """The sums of all values so far, after each of `steps` steps, from partial sums in a binary tree with Gaussian noise.

    All sums together cost as much as one Gaussian release with the noise multiplier z / S. S^2 is the sum, over the partial
    sums, of the squared number of values of one unit in it, for the worst unit.
    """

    steps: int
    z: float
    """Standard deviation of the noise on a partial sum, over the largest L2 norm of the change of one value."""
    contributions: int = 1
    """Number of steps at which one unit may contribute."""
    restart: int | None = None
    """Number of steps after which a new tree begins; None for one tree."""
    count: int = 1

    def _ron(self, count: int) -> str:
        fields = {"steps": self.steps, "noise_multiplier": float(self.z), "contributions": self.contributions}
        trees = {} if self.restart is None else {"restart": ron("Some", self.restart)}
        return ron("TreeAggregation", **fields, **trees, count=count)


@dataclass(frozen=True)
class Unprotected(Release):
    """The value as it is: no finite epsilon holds."""

    count: int = 1


@dataclass(frozen=True)
class Account:
    """The results of all accountants for a list of releases."""

    delta: float
    releases: int
    """Number of releases."""
    table: Frame
    """One row per accountant: `epsilon`; the bounds `lower` and `upper` of the exact value, where they are known; the
    `order` of the divergence that gave it; `standing` (whether it is a bound); `basis`, `arithmetic`, `about` and `notes`.
    Quote the first row, which is that of the tight accountant."""
    document: dict[str, Any] = field(repr=False)
    """All that `subrosa account --format json` prints."""

    @property
    def epsilon(self) -> float:
        """Epsilon at delta by the tight accountant: an upper bound, for equal exponential mechanisms only if they were fixed
        in advance. `table` has its `standing`, and bounds of the exact value, nearly always within 0.1 % of each other."""
        return float(self.document["accountants"]["tight"]["epsilon"])

    def _repr_html_(self) -> str:
        return self.table.to_html()


def account(
    releases: Any,
    delta: float | None = None,
) -> Account | Frame:
    """The privacy loss of all releases together, by every accountant.

    Args:
        releases: a list of releases (`[sr.Gaussian(z=1.0, rate=0.25)] * 40`); a `DpEvent` of dp_accounting; an accountant
            of Opacus, its `state_dict()` or its history; or a run, or its folder.
        delta: the delta in (0, 1) at which every accountant states its epsilon. Default: 1e-5; for a run, the run's delta.

    Returns:
        An :class:`Account`; for a run, a table with one row per cell, series, observer, protected unit and accountant, for
        the releases of the replication with the largest loss.

    Raises:
        ScenarioError: a number is out of its range.
        UnsupportedEvent: an event of another library that no cost describes.
    """
    if isinstance(releases, (Run, str, os.PathLike)):
        return _of_run(releases, delta)
    return _of_list(_listed(releases), 1e-5 if delta is None else delta)


def _of_list(releases: Sequence[Release], delta: float) -> Account:
    events = []
    for release, equal in groupby(releases):
        events.append(release._ron(sum(one.count for one in equal)))
    document = json.loads(_native.account(f"Account(delta: {written(float(delta))}, events: [{', '.join(events)}])"))
    refuse(document)
    return Account(document["delta"], document["releases"], Frame(_rows(document)), document)


def _of_run(run: Any, delta: float | None) -> Frame:
    folder = str(run.folder) if isinstance(run, Run) else os.fspath(run)
    further = ["--delta", repr(delta)] if delta is not None else []
    document = printed(["account", folder, *further, "--format", "json"])
    rows = []
    for group in document["groups"]:
        about = {"group": group["group"], "replication": group["replication"], "delta": group["delta"]}
        rows += [{**about, "releases": group["releases"], **row} for row in _rows(group)]
    return Frame(rows)


def _rows(document: dict[str, Any]) -> list[dict[str, Any]]:
    rows = []
    for name, figures in document["accountants"].items():
        numbers = {key: _number(figures.get(key)) for key in ("epsilon", "lower", "upper", "order")}
        words = {key: figures.get(key) for key in ("standing", "basis", "arithmetic", "about")}
        rows.append({"accountant": name, **numbers, **words, "notes": "; ".join(figures["notes"])})
    return rows


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


@dataclass(frozen=True)
class Calibrated:
    """The smallest noise, or the largest number of rounds, within a target."""

    noise_multiplier: float | None
    rounds: int | None
    epsilon_reached: float
    epsilon: float
    delta: float
    rate: float
    search_ended: bool
    """Whether the search ended at its own limit, so that less noise or more rounds may be possible."""


def calibrate(
    *,
    epsilon: float,
    delta: float = 1e-5,
    rounds: int | None = None,
    noise: float | None = None,
    rate: float = 1.0,
) -> Calibrated:
    """The smallest noise multiplier with which `rounds` Gaussian releases are (epsilon, delta)-DP by the tight accountant,
    or the largest number of such releases with the multiplier `noise`. Each is on a Poisson sample of the given rate.

    Raises:
        SubrosaError: a number is out of its range, no noise is within the target, or not exactly one of `rounds` and `noise`
            is given.
    """
    arguments = ["calibrate", "--epsilon", repr(float(epsilon)), "--delta", repr(float(delta))]
    arguments += ["--rate", repr(float(rate)), "--format", "json"]
    arguments += ["--rounds", str(rounds)] if rounds is not None else []
    arguments += ["--noise", repr(float(noise))] if noise is not None else []
    found = printed(arguments)
    most = found.get("rounds")
    numbers = {name: found[name] for name in ("epsilon_reached", "epsilon", "delta", "rate", "search_ended")}
    return Calibrated(found.get("noise_multiplier"), None if most is None else int(most), **numbers)


def _listed(releases: Any) -> list[Release]:
    if isinstance(releases, Release):
        return [releases]
    if type(releases).__name__.endswith("DpEvent"):
        return from_dp_event(releases)
    if isinstance(releases, dict) or hasattr(releases, "history"):
        return from_opacus(releases)
    if not isinstance(releases, Iterable):
        raise TypeError(f"account: expected a list of releases such as sr.Gaussian(z=1.0), found {releases!r}")
    found = list(releases)
    if found and all(isinstance(one, tuple) for one in found):
        return from_opacus(found)
    for one in found:
        if not isinstance(one, Release):
            raise TypeError(f"account: expected releases such as sr.Gaussian(z=1.0), found {one!r}")
    return found


def from_dp_event(event: DpEvent) -> list[Release]:
    """The releases of an event of dp_accounting, a tree of any depth. Noise multipliers there and here mean the same.

    Poisson samples are for neighbours that differ by one unit added or removed. On such a sample, Gaussian releases become
    :class:`Gaussian` with its rate. Epsilon-DP releases become :class:`PureDp` with epsilon ln(1 + q (e^epsilon - 1)), where q
    is the probability that a unit is in the sample (Balle, Barthe and Gaboardi 2018, Theorem 8); this is an upper bound. A
    sample with releases of both kinds is refused. Discrete Laplace noise, and randomised response over more than two answers,
    become :class:`PureDp` with their pure epsilon. The trees of one epoch become the longest, as :class:`TreeAggregation`;
    neighbours then differ in that one has zeros for a unit's values.

    Raises:
        UnsupportedEvent: an event that no cost describes. Samples without replacement are among them: dp_accounting's
            multiplier is relative to the sensitivity of replacing a unit, and does not say how large that is in the sum.
    """
    return _merged(_events(event, 1))


def _events(event: Any, count: int) -> list[Release]:
    kind = type(event).__name__
    match kind:
        case "NoOpDpEvent":
            return []
        case "NonPrivateDpEvent":
            return [Unprotected(count)]
        case "GaussianDpEvent":
            return [Gaussian(float(event.noise_multiplier), 1.0, count) if event.noise_multiplier > 0 else Unprotected(count)]
        case "LaplaceDpEvent":
            return [Laplace(float(event.noise_multiplier), count) if event.noise_multiplier > 0 else Unprotected(count)]
        case "ZCDpEvent" if getattr(event, "xi", 0) == 0:
            return [ZeroConcentratedDp(float(event.rho), count)]
        case "SingleEpochTreeAggregationDpEvent":
            return [_tree(event, count)]
        case "RepeatAndSelectDpEvent" if type(event.event).__name__ == "GaussianDpEvent" and event.mean > 1:
            noise = float(event.event.noise_multiplier)
            repeated = RepeatedGaussian(noise, float(event.mean), float(event.shape), count)
            return [repeated if noise > 0 else Unprotected(count)]
        case "DiscreteLaplaceDpEvent":
            return [PureDp(float(event.noise_parameter) * float(event.sensitivity), count)]
        case "RandomizedResponseDpEvent":
            return [_response(float(event.noise_parameter), int(event.num_buckets), count)]
        case "SelfComposedDpEvent":
            return _events(event.event, count * int(event.count)) if event.count else []
        case "ComposedDpEvent":
            inner = [release for one in event.events for release in _events(one, 1)]
            return inner if count == 1 else _merged(inner, count)
        case "PoissonSampledDpEvent":
            return _sampled(event, float(event.sampling_probability), count)
    raise UnsupportedEvent(f"no cost describes the event {event!r} of dp_accounting")


def _tree(event: Any, count: int) -> Release:
    """Sums by one tree after the other. Each unit contributes to one tree only, so the longest tree has the largest loss."""
    steps = event.step_counts
    longest = int(steps) if isinstance(steps, int) else max(map(int, steps))
    z = float(event.noise_multiplier)
    return TreeAggregation(longest, z, count=count) if z > 0 else Unprotected(count)


def _response(p: float, buckets: int, count: int) -> Release:
    """Randomised response that answers at random with probability p."""
    if p == 0:
        return Unprotected(count)
    epsilon = math.log1p((1 - p) * buckets / p)
    return RandomizedResponse(epsilon, count) if buckets == 2 else PureDp(epsilon, count)


def _sampled(event: Any, rate: float, count: int) -> list[Release]:
    if rate == 0:
        return []
    parts = _events(event.event, 1)
    pure = [_pure_epsilon(part) for part in parts]
    known = [epsilon * part.count for epsilon, part in zip(pure, parts, strict=True) if epsilon is not None]
    if known and len(known) == len(parts):
        # The epsilons of releases on one sample are added first, then amplified: ln(1 + q (e^epsilon - 1)) without overflow.
        epsilon = sum(known)
        return [PureDp(max(epsilon + math.log(rate + (1 - rate) * math.exp(-epsilon)), 0.0), count)]
    inner = [part for part in parts if isinstance(part, Gaussian)]
    if len(inner) < len(parts) or len({one.rate for one in inner}) > 1:
        raise UnsupportedEvent(
            f"a Poisson sample needs Gaussian releases only, or epsilon-DP releases only, found {event!r}"
        )
    if not inner:
        return []
    if inner[0].rate != 1.0:
        if len(inner) > 1 or inner[0].count > 1:
            raise UnsupportedEvent(f"no cost is known for several samples of one sample: {event!r}")
        # A Poisson sample of a Poisson sample is a Poisson sample.
        return [Gaussian(inner[0].z, rate * inner[0].rate, count)]
    if rate == 1.0:
        return _merged(inner, count)
    # Several Gaussian releases on one sample are one release, with the sum of their inverse variances.
    precision = sum(one.count / one.z**2 for one in inner)
    z = inner[0].z if len(inner) == 1 and inner[0].count == 1 else float(precision**-0.5)
    return [Gaussian(z, rate, count)]


def _pure_epsilon(release: Release) -> float | None:
    """The epsilon at delta 0 of one release; None if no such epsilon is known."""
    match release:
        case Laplace(scale=scale):
            return 1 / scale
        case PureDp(epsilon=epsilon) | RandomizedResponse(epsilon=epsilon) | ExponentialMechanism(epsilon=epsilon):
            return epsilon
    return None


def _merged(releases: Iterable[Release], times: int = 1) -> list[Release]:
    """Equal releases merged; no accountant depends on the order of releases."""
    found: dict[tuple[Any, ...], tuple[Release, int]] = {}
    for one in releases:
        fields = {name: value for name, value in vars(one).items() if name != "count"}
        key = (type(one), *fields.values())
        known = found.get(key, (one, 0))
        found[key] = (known[0], known[1] + one.count)
    merged: list[Release] = []
    for one, count in found.values():
        fields = {name: value for name, value in vars(one).items() if name != "count"}
        again: Any = type(one)
        merged.append(again(**fields, count=count * times))
    return merged


def to_dp_event(releases: Iterable[Release]) -> DpEvent:
    """The same releases as an event of dp_accounting. Any epsilon-DP mechanism, an exponential mechanism and the sparse
    vector technique become binary randomised response with their epsilon, whose loss is at least theirs (Kairouz, Oh and
    Viswanath 2015, Theorem 3.3), for `NeighboringRelation.REPLACE_ONE`. The sums of a tree to which a unit contributes once
    become the Gaussian release that costs as much.

    Raises:
        ImportError: dp_accounting is not installed (`pip install subrosa-sim[dp-accounting]`).
        UnsupportedEvent: dp_accounting has no event for one of the releases.
    """
    import dp_accounting as dp

    def one(release: Any) -> DpEvent:
        match release:
            case Gaussian(z=z, rate=rate):
                noise = dp.GaussianDpEvent(z)
                return noise if rate == 1.0 else dp.PoissonSampledDpEvent(rate, noise)
            case Laplace(scale=scale):
                return dp.LaplaceDpEvent(scale)
            case RepeatedGaussian(z=z, mean=mean, shape=shape):
                return dp.dp_event.RepeatAndSelectDpEvent(dp.GaussianDpEvent(z), mean, shape)
            case ZeroConcentratedDp(rho=rho):
                return dp.ZCDpEvent(rho)
            case TreeAggregation(steps=steps, z=z, contributions=1, restart=restart):
                # A value is in at most one partial sum of each size: at most floor(log2 of a tree's steps) + 1 of them.
                levels = min(steps, steps if restart is None else restart).bit_length()
                return dp.GaussianDpEvent(z / math.sqrt(levels))
            case (
                RandomizedResponse(epsilon=epsilon)
                | PureDp(epsilon=epsilon)
                | ExponentialMechanism(epsilon=epsilon)
                | AboveThreshold(epsilon=epsilon)
                | SparseVector(epsilon=epsilon)
            ):
                return dp.RandomizedResponseDpEvent(2 / (1 + math.exp(epsilon)), 2)
            case Unprotected():
                return dp.NonPrivateDpEvent()
        raise UnsupportedEvent(f"dp_accounting has no event for {release!r}")

    def many(release: Release) -> list[DpEvent]:
        event = one(release)
        # dp_accounting 0.6 prices randomised response that is composed with itself as one response (PLDAccountant).
        if isinstance(event, dp.RandomizedResponseDpEvent) and release.count > 1:
            if release.count > _MOST_RESPONSES:
                raise UnsupportedEvent(f"{release!r}: at most {_MOST_RESPONSES} are written for dp_accounting, one by one")
            return [event] * release.count
        return [dp.SelfComposedDpEvent(event, release.count)]

    events = [event for release in _merged(releases) for event in many(release)]
    return events[0] if len(events) == 1 else dp.ComposedDpEvent(events)


def from_opacus(history: Any) -> list[Release]:
    """The releases of Opacus' accountants: an accountant, its `state_dict()`, or its history of (noise multiplier, sample
    rate, steps). Samples are Poisson samples; neighbours differ by one example added or removed.

    Raises:
        UnsupportedEvent: the argument is none of these.
    """
    if isinstance(history, dict) and "history" not in history:
        raise UnsupportedEvent(f"expected an accountant's state, found one with no history: {sorted(map(str, history))}")
    steps = history["history"] if isinstance(history, dict) else getattr(history, "history", history)
    found: list[Release] = []
    for step in steps:
        if len(step) != 3:
            raise UnsupportedEvent(f"expected (noise multiplier, sample rate, steps), found {step!r}")
        z, rate, count = float(step[0]), float(step[1]), int(step[2])
        if count and rate:
            found.append(Gaussian(z, rate, count) if z > 0 else Unprotected(count))
    return _merged(found)


def to_opacus(releases: Iterable[Release]) -> list[tuple[float, float, int]]:
    """The same releases as a history of Opacus' accountants: `accountant.history = to_opacus(releases)`.

    Raises:
        UnsupportedEvent: one of them is not Gaussian.
    """
    history = []
    for release in _merged(releases):
        if not isinstance(release, Gaussian):
            raise UnsupportedEvent(f"Opacus knows Gaussian releases only, not {release!r}")
        history.append((release.z, release.rate, release.count))
    return history
