"""Learners, objectives and mechanisms in Python, which answer a scenario's `External(command: ["callback", NAME])`."""

from __future__ import annotations

import inspect
import json
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from . import _native
from ._identity import first_seen, identity
from ._ron import Ron, ron

if TYPE_CHECKING:
    from ._accounting import Release

Factory = Callable[[], "Learner"]


Point = dict[str, float | int | str]
"""A point of a box: a number, or the word of a category, for each input by name."""


@dataclass(frozen=True)
class Real:
    """An input of a box: every number between two ends."""

    low: float
    high: float
    log: bool = False
    """Whether the model sees the logarithm; `low` is then above 0."""

    def _ron(self, name: str) -> str:
        scale = "Log" if self.log else "Linear"
        return f"Real(name: {json.dumps(name)}, low: {float(self.low)!r}, high: {float(self.high)!r}, scale: {scale})"


@dataclass(frozen=True)
class Integer:
    """An input of a box: every whole number from one end to the other."""

    low: int
    high: int
    log: bool = False
    """Whether the model sees the logarithm; `low` is then at least 1."""

    def _ron(self, name: str) -> str:
        scale = "Log" if self.log else "Linear"
        return f"Integer(name: {json.dumps(name)}, low: {int(self.low)}, high: {int(self.high)}, scale: {scale})"


@dataclass(frozen=True)
class Categorical:
    """An input of a box: one of several words without an order."""

    values: Sequence[str]

    def _ron(self, name: str) -> str:
        return f"Categorical(name: {json.dumps(name)}, values: {json.dumps(list(self.values))})"


@dataclass(frozen=True)
class Problem:
    """What a learner receives before its first choice: what its party has received, and nothing else."""

    arms: int
    """Number of arms; arms are 0 to `arms` - 1. 0 on a box."""
    rounds: int | None = None
    """Number of choices that will be requested; None where the protocol does not know it."""
    inputs: NDArray[np.float64] | None = None
    """Inputs of the arms as they were released, `arms` rows; None where they are withheld."""
    kernel: dict[str, Any] | None = None
    """Covariance of the model that the objective suggests: `shape`, `length_scale`, `variance`."""
    covariance: NDArray[np.float64] | None = None
    """Covariance matrix of the arms, `arms` rows and columns, if the model has it instead of inputs and kernel."""
    noise_variance: float | None = None
    """Variance of an outcome's noise, known privacy noise included, in squared units of the outcomes."""
    mean: float | None = None
    """Prior mean, in units of the outcomes."""
    bound: float | None = None
    """Largest absolute value of the objective, where the protocol states it."""
    noise_bound: float | None = None
    """Bound of the noise's moments, where the protocol states it."""
    laplace_scale: float | None = None
    """Scale of the privacy noise, where it is Laplace noise and the protocol states it."""
    box: list[dict[str, Any]] | None = None
    """The inputs of a box, where queries are its points: `name` with `low`, `high`, `whole` and `logarithmic`, or with
    `values`. The kernel is then in coordinates of the unit cube."""


class Learner:
    """A learner of your own: `sr.run(.., learners={"mine": Mine})`. It maximises.

    It receives what its party has received, never noise-free values or protected data. Its choices are stored in the run
    folder, with checksums: a replay needs neither the class nor Python. An exception ends its replication, and no other.

    One object plays one replication. After an interruption a new object receives all earlier outcomes and choices, and is
    asked for the remaining choices. These are the same as without the interruption if they depend only on what the object
    received and on :attr:`rng`.
    """

    version: str = ""
    """A part of the class's identity. Change it when answers change for a reason that is neither in the class nor in the
    values that it uses, such as a file that it reads: results of two versions are never mixed."""

    inputs: bool = True
    """Whether the learner receives inputs and model. If False, nothing is released for it."""

    problem: Problem
    """What the learner receives first; set before :meth:`start`."""

    points: list[Point]
    """On a box: the points chosen so far. The index of a point takes the place of an arm in :meth:`ask` and :meth:`tell`."""

    rng: np.random.Generator
    """A generator that is seeded for each question from the run's seed; draw from it in :meth:`ask`."""

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        first_seen(cls)

    def start(self, inputs: NDArray[np.float64] | None, noise: float | None, seed: int) -> None:
        """Called once, before the first choice of this object.

        Args:
            inputs: released inputs of the arms, one row each; None where they are withheld.
            noise: variance of an outcome's noise, in squared units of the outcomes.
            seed: a whole number below 2**31, that of the first question to this object.
        """

    def ask(self, pending: list[int]) -> int | Point:
        """The next arm, 0 to `self.problem.arms` - 1; on a box, the next point: a value for each input, by name.

        Args:
            pending: the chosen arms whose outcomes have not arrived, in order (if messages are lost, some may never arrive).
        """
        raise NotImplementedError

    def tell(self, arm: int, outcome: float, at: int) -> None:
        """An outcome arrived, possibly of an arm that the learner did not choose, such as an initial point.

        Args:
            arm: the arm.
            outcome: its outcome, as it was released.
            at: how many arms had been chosen when it arrived.
        """


class _LearnerSession:
    def __init__(self, factory: Factory) -> None:
        self.factory = factory
        self.learner: Learner | None = None
        self.opening: dict[str, Any] = {}
        self.pending: list[int] = []
        self.chosen = 0

    def __call__(self, ask: str, text: str) -> str:
        fields = json.loads(text)
        if ask == "begin":
            self.opening = fields
            return "{}"
        return json.dumps(self.suggest(fields["seed"], fields["told"]))

    def suggest(self, seed: int, told: list[dict[str, Any]]) -> dict[str, Any]:
        learner = self.learner
        steps = told
        if learner is None:
            learner = self.learner = self.factory()
            learner.problem = _problem(self.opening)
            learner.points = []
            learner.rng = np.random.default_rng(seed)
            learner.start(learner.problem.inputs, learner.problem.noise_variance, seed)
            steps = self.opening.get("past", []) + told
        for step in steps:
            self.take(learner, step)
        learner.rng = np.random.default_rng(seed)
        asked = learner.ask(list(self.pending))
        if learner.problem.box is not None:
            point = _plain(asked)
            self.choose(len(learner.points))
            learner.points.append(point)
            return {"point": point}
        arm = operator.index(asked)  # type: ignore[arg-type]
        if not 0 <= arm < learner.problem.arms:
            raise ValueError(f"{type(learner).__name__}.ask returned {arm}, expected 0 to {learner.problem.arms - 1}")
        self.choose(arm)
        return {"arm": arm}

    def choose(self, arm: int) -> None:
        self.pending.append(arm)
        self.chosen += 1

    def take(self, learner: Learner, step: dict[str, Any]) -> None:
        arm = step["arm"]
        # A point of an earlier object, or of a learner that this one replaces.
        if "point" in step and arm == len(learner.points):
            learner.points.append(step["point"])
        if "outcome" not in step:
            self.choose(arm)
            return
        if arm in self.pending:
            self.pending.remove(arm)
        learner.tell(arm, step["outcome"], self.chosen)


def _problem(opening: dict[str, Any]) -> Problem:
    names = ("arms", "rounds", "kernel", "noise_variance", "mean", "bound", "noise_bound", "laplace_scale", "box")
    fields: dict[str, Any] = {name: opening.get(name) for name in names}
    fields["arms"] = opening.get("arms", 0)
    for name in ("inputs", "covariance"):
        if name in opening:
            fields[name] = np.array(opening[name], dtype=float)
    return Problem(**fields)


def _plain(asked: Any) -> Point:
    """A point with plain numbers, which JSON can hold."""
    if not isinstance(asked, dict):
        raise TypeError(f"expected a point as a dict with a value for each input, found {asked!r}")
    # Scalars of NumPy have a method `item`.
    return {str(name): value.item() if hasattr(value, "item") else value for name, value in asked.items()}


class Objective:
    """An objective of your own, made by :func:`objective` or :func:`objective_on_box`."""

    def __init__(self, function: Callable[..., float], name: str, recipe: str, version: str) -> None:
        self.function, self.name, self.recipe, self.version = function, name, recipe, version
        self.takes_party = _takes(function, "x, party, rng", "x, rng")
        self.__doc__ = function.__doc__

    def __call__(self, x: NDArray[np.float64] | Point, party: int, rng: np.random.Generator) -> float:
        """The value of a setting, or of a point of a box, for a party."""
        return float(self.function(x, party, rng) if self.takes_party else self.function(x, rng))

    def ron(self, name: str | None = None) -> Ron:
        """The objective as a scenario writes it: `objective: External(command: ["callback", NAME], axes: [..])`."""
        return _external(name or self.name, self.recipe)

    def _answer(self, ask: str, text: str) -> str:
        if ask == "begin":
            return "{}"
        fields = json.loads(text)
        rng = np.random.default_rng(fields["seed"])
        x = fields["point"] if "point" in fields else np.array(fields["inputs"], dtype=float)
        return json.dumps({"value": self(x, fields.get("agent", 0), rng)})


def objective(
    bounds: Sequence[tuple[float, float]],
    *,
    noise: float = 0.1,
    values: int | Sequence[int] = 20,
    logarithmic: bool | Sequence[bool] = False,
    goal: Literal["maximise", "minimise"] = "maximise",
    parties: int | None = None,
    length_scale: float = 0.2,
    variance: float = 1.0,
    mean: float = 0.0,
    version: str = "",
) -> Callable[[Callable[..., float]], Objective]:
    """Makes an objective from a function of a setting: `sr.run(.., objective=train)`.

    Regret is measured against the best setting, so every point of the grid is evaluated once, before the first
    replication of a study; noise is added in each replication. The values are stored: a replay evaluates nothing.

    The function is called as `train(x, party, rng)`, or as `train(x, rng)` if it takes no party: `x` a vector in the units
    of the bounds, `party` the number of the agent whose value it is (0 where all have the same objective), `rng` a NumPy
    generator that is seeded for this point and party from the run's seed. It returns a finite number.

    Args:
        bounds: smallest and largest value along each axis.
        noise: standard deviation of the noise of an outcome, in units of the values.
        values: number of points along each axis, at least 2.
        logarithmic: whether points are spaced evenly in their logarithm.
        goal: whether large or small values are sought.
        parties: number of agents of a federation that have an objective of their own; the function is evaluated at every
            point for each of them, and the common objective is their mean. None: all agents have the same objective.
        length_scale: length-scale that a learner assumes (squared exponential), in units of an axis.
        variance: prior variance that a learner assumes, in squared units of the values.
        mean: prior mean that a learner assumes.
        version: change it when values change for a reason that is neither in the function nor in the values that it uses,
            such as a file that it reads.
    """
    counts = [values] * len(bounds) if isinstance(values, int) else list(values)
    logs = [logarithmic] * len(bounds) if isinstance(logarithmic, bool) else list(logarithmic)
    for argument, given in (("values", counts), ("logarithmic", logs)):
        if len(given) != len(bounds):
            raise ValueError(f"{argument}: expected one, or one for each of {len(bounds)} bounds, found {len(given)}")
    axes = [
        ron("", low=float(low), high=float(high), values=count, logarithmic=log)
        for (low, high), count, log in zip(bounds, counts, logs, strict=True)
    ]
    goals = {"maximise": "Maximise", "minimise": "Minimise"}
    if goal not in goals:
        raise ValueError(f'goal: expected "maximise" or "minimise", found {goal!r}')
    recipe = (
        f"axes: [{', '.join(axes)}], goal: {goals[goal]}, noise_variance: {float(noise) ** 2!r}, "
        f"length_scale: {float(length_scale)!r}, variance: {float(variance)!r}, mean: {float(mean)!r}"
    )
    if parties is not None:
        recipe += f", agents: Some({int(parties)})"

    def make(function: Callable[..., float]) -> Objective:
        first_seen(function)
        return Objective(function, getattr(function, "__name__", "objective"), recipe, version)

    return make


def objective_on_box(
    inputs: dict[str, Real | Integer | Categorical],
    *,
    noise: float = 0.1,
    best: float | None = None,
    goal: Literal["maximise", "minimise"] = "maximise",
    length_scale: float = 0.2,
    variance: float = 1.0,
    mean: float = 0.0,
    version: str = "",
) -> Callable[[Callable[..., float]], Objective]:
    """Makes an objective on a box from a function of a point: `sr.run(.., objective=train)`.

    >>> @sr.objective_on_box({"rate": sr.Real(1e-3, 1, log=True), "solver": sr.Categorical(["sgd", "adam"])})
    ... def train(x, rng):                                          # doctest: +SKIP
    ...     return accuracy(x["rate"], x["solver"])

    The function is called as `train(x, rng)` when a point is queried: `x` a dict with a value for each input, by name, `rng` a
    NumPy generator that is seeded for this question from the run's seed. It returns a finite number, which is stored: a
    replay evaluates nothing. Only for the protocols `Local` and `Release`.

    Args:
        inputs: the inputs, by name, in order.
        noise: standard deviation of the noise of an outcome, in units of the values.
        best: the best value possible, which regret is measured against; a better value ends its replication as failed. None:
            it is not known, and regret is against the best value that any series of the replication has found.
        goal: whether large or small values are sought.
        length_scale: length-scale that a learner without a fit assumes (squared exponential), in units of the unit cube.
        variance: prior variance that such a learner assumes, in squared units of the values.
        mean: prior mean that such a learner assumes.
        version: change it when values change for a reason that is neither in the function nor in the values that it uses.
    """
    goals = {"maximise": "Maximise", "minimise": "Minimise"}
    if goal not in goals:
        raise ValueError(f'goal: expected "maximise" or "minimise", found {goal!r}')
    recipe = (
        f"dimensions: [{', '.join(one._ron(name) for name, one in inputs.items())}], goal: {goals[goal]}, "
        f"noise_variance: {float(noise) ** 2!r}, length_scale: {float(length_scale)!r}, variance: {float(variance)!r}, "
        f"mean: {float(mean)!r}"
    )
    if best is not None:
        recipe += f", best: Some({float(best)!r})"

    def make(function: Callable[..., float]) -> Objective:
        first_seen(function)
        return Objective(function, getattr(function, "__name__", "objective"), recipe, version)

    return make


class Mechanism:
    """A mechanism of your own for outcomes, made by :func:`mechanism`."""

    def __init__(self, function: Callable[..., float], recipe: str, version: str) -> None:
        self.function, self.recipe, self.version = function, recipe, version
        self.__doc__ = function.__doc__

    def __call__(self, outcome: float, rng: np.random.Generator) -> float:
        """The answer that is released instead of an outcome."""
        return float(self.function(outcome, rng))

    def ron(self, name: str) -> Ron:
        """The mechanism as a scenario writes it: `outcomes: External(command: ["callback", NAME], cost: .., variance: ..)`."""
        return _external(name, self.recipe)

    def _answer(self, ask: str, text: str) -> str:
        if ask == "begin":
            return "{}"
        fields = json.loads(text)
        rng = np.random.default_rng(fields["seeds"])
        return json.dumps({"outcome": self(fields["outcome"], rng)})


def mechanism(
    cost: Release, *, variance: float, version: str = ""
) -> Callable[[Callable[..., float]], Mechanism]:
    """Makes a mechanism from a function of an outcome: `sr.run(.., mechanisms={"GP-UCB": noisy})`.

    >>> @sr.mechanism(cost=sr.PureDp(1.0), variance=2 * 6.0**2)    # doctest: +SKIP
    ... def noisy(outcome, rng):
    ...     return float(np.clip(outcome, -3, 3)) + rng.laplace(0, 6.0)

    The function is called as `noisy(outcome, rng)` when an outcome is queried for the first time: `outcome` as it was
    measured, `rng` a NumPy generator seeded by 124 bits of the run's seed tree for this answer. It returns a finite
    number. Its answers are stored in the run folder, with checksums: a replay needs neither the function nor Python.

    **The cost is yours to prove**: it must hold if the outcome is replaced by any other, with answers that depend on the
    outcome and `rng` alone (keep nothing from one answer to the next). The ledger has this cost for every answer, conditional
    on this, for real-valued noise. An audit does not attack it.

    Args:
        cost: privacy cost of one answer, such as `sr.PureDp(1.0)` or `sr.Gaussian(2.0)`; without a count and a rate.
        variance: variance of the noise on an answer, public, in squared units of an outcome; the learner's model adds it.
        version: change it when answers change for a reason that is neither in the function nor in the values that it uses.
    """
    recipe = f"cost: {cost._ron(cost.count)}, variance: {float(variance)!r}"

    def make(function: Callable[..., float]) -> Mechanism:
        first_seen(function)
        return Mechanism(function, recipe, version)

    return make


def _external(name: str, more: str) -> Ron:
    """A function of this process as a scenario names it, followed by further fields."""
    return Ron(f'External(command: ["callback", {json.dumps(name)}]{more and ", " + more})')


def _takes(function: Callable[..., float], more: str, fewer: str) -> bool:
    """Whether a function takes the longer of two lists of arguments."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return False  # Not written in Python: it is called with the shorter list.
    for arguments, longer in ((more, True), (fewer, False)):
        try:
            signature.bind(*arguments.split(", "))
        except TypeError:
            continue
        return longer
    raise TypeError(f"{getattr(function, '__name__', function)}{signature}: expected ({more}) or ({fewer})")


def given_learner(name: str, factory: Factory) -> _native.Given:
    """A learner in the form that the native library expects."""
    version = identity(factory, str(getattr(factory, "version", "")))
    return {"name": name, "version": version, "begin": lambda: _LearnerSession(factory)}


def learner_recipe(name: str, factory: Factory) -> Ron:
    """A learner as a scenario names it."""
    return _external(name, "" if getattr(factory, "inputs", True) else "inputs: false")


def given_mechanism(name: str, one: Mechanism) -> _native.Given:
    """A mechanism in the form that the library expects."""
    return {"name": name, "version": identity(one.function, one.version), "begin": lambda: one._answer}


def given_objective(name: str, one: Objective) -> _native.Given:
    """An objective in the form that the library expects."""
    return {"name": name, "version": identity(one.function, one.version), "begin": lambda: one._answer}
