"""What a study knows a class or function by: whatever may change its answers changes that, and nothing else does."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import subrosa as sr
from subrosa._callbacks import given_learner, given_mechanism, given_objective

SCALE = 1.0


def version(part: object) -> str:
    """The line of a learner's class or factory, of an objective or of a mechanism."""
    given = {sr.Objective: given_objective, sr.Mechanism: given_mechanism}.get(type(part), given_learner)
    return given("mine", part)["version"]  # type: ignore[operator, no-any-return]


def objective(weight: object) -> sr.Objective:
    @sr.objective(bounds=[(0, 1)])
    def train(x, rng):
        return x[0] * np.sum(weight)

    return train


def learner(weight: object) -> type[sr.Learner]:
    class Mine(sr.Learner):
        def ask(self, pending):
            return int(np.sum(weight))

    return Mine


def attribute(weight: object) -> type[sr.Learner]:
    class Mine(sr.Learner):
        gain = weight

        def ask(self, pending):
            return int(np.sum(self.gain))

    return Mine


def factory(weight: object):
    class Mine(sr.Learner):
        def __init__(self, weight):
            self.weight = weight

    return lambda: Mine(weight)


def partial(weight: object):
    class Mine(sr.Learner):
        def __init__(self, weight):
            self.weight = weight

    return functools.partial(Mine, weight)


def default(weight: object) -> sr.Mechanism:
    @sr.mechanism(cost=sr.PureDp(1.0), variance=1.0)
    def noisy(outcome, rng, weight=weight):
        return outcome + weight

    return noisy


class Callable:
    def __init__(self, weight):
        self.weight = weight

    def __call__(self, x, rng):
        return x[0]


def called(weight: object) -> sr.Objective:
    return sr.objective(bounds=[(0, 1)])(Callable(weight))


def bound(weight: object) -> sr.Objective:
    return sr.objective(bounds=[(0, 1)])(Callable(weight).__call__)


MADE = [objective, learner, attribute, factory, partial, default, called, bound]
PAIRS = [
    (0.1, 10.0),
    ("a", "b"),
    (np.zeros(3), np.ones(3)),
    (np.zeros(3), np.zeros((3, 1))),
    ({"a": [1, 2]}, {"a": [1, 3]}),
    (pd.DataFrame({"a": [1.0, 2.0]}), pd.DataFrame({"a": [1.0, 2.5]})),
    (Callable(1), Callable(2)),
    (abs, round),
    (lambda: 1, lambda: 2),
]


@pytest.mark.parametrize("make", MADE)
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: type(pair[0]).__name__)
def test_another_value_is_another_study(make, pair) -> None:
    one, other = pair
    assert version(make(one)) == version(make(one)) != version(make(other))


def test_a_value_that_changes_later_counts() -> None:
    kind = attribute(1.0)
    before = version(kind)
    kind.gain = 2.0  # type: ignore[attr-defined]
    assert version(kind) != before
    global SCALE

    @sr.objective(bounds=[(0, 1)])
    def scaled(x, rng):
        return SCALE * x[0]

    before, SCALE = version(scaled), 2.0
    assert version(scaled) != before


def test_what_a_helper_does_counts() -> None:
    def with_helper(helper):
        return sr.objective(bounds=[(0, 1)])(lambda x, rng: helper(x[0]))

    one, other = (lambda x: x), (lambda x: -x)
    assert version(with_helper(one)) != version(with_helper(other))


def test_logs_and_caches_do_not_count() -> None:
    asked: list[float] = []

    @sr.objective(bounds=[(0, 1)])
    def train(x, rng):
        asked.append(x[0])
        return x[0]

    class Mine(sr.Learner):
        lives: dict[int, object] = {}

        def ask(self, pending):
            Mine.lives[len(asked)] = self
            return 0

    before = version(train), version(Mine)
    train.function(np.array([0.5]), None)
    Mine.lives[1] = object()
    assert (version(train), version(Mine)) == before and asked == [0.5]
    # A version does.
    Mine.version = "2"
    assert version(Mine) != before[1]


def test_the_same_in_every_process(tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    file.write_text(
        "import enum, numpy as np, pandas as pd, subrosa as sr\nfrom subrosa._callbacks import given_learner\n"
        "class Colour(enum.Enum):\n    RED = 1\n"
        "WORDS, TABLE = {'one', 'two', 'three'}, pd.DataFrame({'a': ['x', None], 'b': [1.0, 2.0]})\n"
        "class Mine(sr.Learner):\n    kinds = frozenset({'a', 'b', 'c'})\n    colour = Colour.RED\n"
        "    def ask(self, pending):\n        return int(TABLE.b.sum()) + len(WORDS) * ('x' in {'p', 'q', 'r'})\n"
        "    @property\n    def slow(self):\n        return np.arange(3)\n"
        "print(given_learner('mine', Mine)['version'])\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    lines = {
        subprocess.run(
            [sys.executable, str(file)],
            env={**environment, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in (1, 2, 3)
    }
    assert len(lines) == 1 and "Mine" in lines.pop()


def test_what_cannot_be_compared_asks_for_a_version(tmp_path: Path) -> None:
    with (tmp_path / "file").open("w") as file:
        with pytest.raises(ValueError, match=r"uses weight \(_io.TextIOWrapper\).* give it a `version`"):
            version(objective(file))

        class Mine(sr.Learner):
            version = "3"
            out = file

        assert version(Mine).endswith(" 3")
    for wrong in ("two\nlines", "x" * 300):
        with pytest.raises(ValueError, match="version: expected one line"):
            version(sr.objective(bounds=[(0, 1)], version=wrong)(lambda x, rng: 0.0))


def test_arguments_of_an_objective_are_checked() -> None:
    with pytest.raises(ValueError, match="values: expected one, or one for each of 1 bounds, found 2"):
        sr.objective(bounds=[(0, 1)], values=[3, 4])
    with pytest.raises(ValueError, match="goal: expected"):
        sr.objective(bounds=[(0, 1)], goal="max")  # type: ignore[arg-type]
