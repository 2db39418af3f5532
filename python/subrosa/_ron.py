"""Python values as a scenario writes them (RON)."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import Any

_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


class Ron(str):
    """A part of a scenario in RON, which is used without change."""


def ron(name: str, /, *values: Any, **fields: Any) -> Ron:
    """A part of a scenario: `ron("Independent(0.3)")`, or the same from values, `ron("Independent", 0.3)`.

    >>> ron("LogNormal", median="40ms", sigma=0.5)
    'LogNormal(median: "40ms", sigma: 0.5)'
    """
    if not values and not fields:
        return Ron(name)
    inside = [written(value) for value in values]
    inside += [f"{field}: {written(value)}" for field, value in fields.items()]
    return Ron(f"{name}({', '.join(inside)})")


def written(value: Any) -> str:
    """A value as a scenario writes it. Strings, such as durations, get quotation marks; members of families, such as
    `Random()`, are written with :func:`ron`.

    Raises:
        TypeError: a scenario cannot have a value of this type.
        ValueError: a number that is not finite.
    """
    if isinstance(value, Ron):
        return str(value)
    if hasattr(value, "tolist") and not isinstance(value, (str, bytes)):
        value = value.tolist()  # of NumPy
    if value is None:
        return "None"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, str):
        return '"' + "".join(_ESCAPES.get(letter, letter) for letter in value) + '"'
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"a scenario has finite numbers only, not {value}")
        return repr(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{written(key)}: {written(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(written, value)) + ")"
    if isinstance(value, list):
        return "[" + ", ".join(map(written, value)) + "]"
    raise TypeError(f"a scenario has no value like {value!r}: write it as ron(\"...\")")


def each(sweep: Mapping[Any, Any]) -> list[str]:
    """The overrides of a sweep. Keys are paths; a tuple of paths changes together."""
    overrides = []
    for path, values in sweep.items():
        values = list(values)
        if isinstance(path, str):
            overrides.append(f"{path}=Each([{', '.join(map(written, values))}])")
            continue
        name = written(" ".join(path))
        for index, one in enumerate(path):
            shown = ", ".join(written(value[index]) for value in values)
            overrides.append(f"{one}=Each({name}, [{shown}])")
    return overrides
