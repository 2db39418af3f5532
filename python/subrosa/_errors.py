"""Exceptions, with the places and corrections that the command line prints."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._runs import Run


class SubrosaError(Exception):
    """A run, a replay or another call of the library failed; the text says why and what to do."""


@dataclass(frozen=True)
class Diagnostic:
    """One thing that is wrong with a scenario."""

    message: str
    """What is wrong."""
    file: str | None = None
    """The file as it was named."""
    line: int | None = None
    """Line in the file, from 1; None for an override."""
    column: int | None = None
    """Column in the file, from 1, in characters."""
    override: str | None = None
    """The override, `path=RON`, that is wrong."""
    path: str | None = None
    """Path of the field, such as `protocol.series[0].learner`."""
    expected: str | None = None
    """What was expected there."""
    found: str | None = None
    """What was found."""
    cure: str | None = None
    """How to correct it."""


class ScenarioError(SubrosaError, ValueError):
    """A scenario, or a list of releases, that is wrong. The text quotes the places in it."""

    problems: list[Diagnostic]
    """Everything that is wrong, in order of place."""

    def __init__(self, text: str, problems: list[Diagnostic]) -> None:
        super().__init__(text)
        self.problems = problems

    def __str__(self) -> str:
        return "\n" + str(self.args[0]).rstrip()


class Interrupted(KeyboardInterrupt):
    """Ctrl-C stopped a run. Finished replications are kept: the same call continues the run."""

    def __init__(self, folder: str, finished: int, total: int) -> None:
        super().__init__(f"interrupted after {finished} of {total} replications; the same call goes on from there")
        self.folder, self.finished, self.total = folder, finished, total


@dataclass(frozen=True)
class Failure:
    """A replication that could not be played."""

    cell: int
    """Position of its cell in the study, from 0."""
    replication: int | None
    """Its number, from 0; None where the whole cell could not be prepared."""
    reason: str
    """Why it failed; for an exception in a callback, with the traceback."""
    point: dict[str, str] = field(default_factory=dict)
    """The cell's point in the study: the value of each axis as it is written."""


class FailedReplications(UserWarning):
    """Some replications failed: `Run.failures` has the reasons. Unless `fail_fast` was set, all others were played."""


class RunFailed(SubrosaError):
    """No replication of a run could be played."""

    def __init__(self, text: str, run: Run) -> None:
        super().__init__(text)
        self.run = run


def refuse(answer: Any) -> None:
    """Raises the error that an answer of the library describes; returns if there is none."""
    if isinstance(answer, dict) and "problems" in answer and "text" in answer:
        raise ScenarioError(answer["text"], [Diagnostic(**problem) for problem in answer["problems"]])
