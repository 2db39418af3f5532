"""Runs: from a scenario to the tables of its run folder."""

from __future__ import annotations

import gzip
import html
import json
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from . import _native
from ._callbacks import (
    Factory,
    Mechanism,
    Objective,
    given_learner,
    given_mechanism,
    given_objective,
    learner_recipe,
)
from ._errors import FailedReplications, Failure, Interrupted, RunFailed, SubrosaError, refuse
from ._figures import Figure
from ._ron import each, written

if TYPE_CHECKING:
    import polars
    import pyarrow

Scenario = str | os.PathLike[str]
# Reads numbers without rounding errors, which is the default from pandas 3 on.
_EXACT: dict[str, Any] = {"float_precision": "round_trip"} if pd.__version__ < "3" else {}
# Name of the callback that answers the outcomes of a series.
_ANSWERS = "outcomes of {}"
Learners = Mapping[str, Factory]


class Frame(pd.DataFrame):
    """A table of a run folder: a DataFrame of pandas that also goes to Arrow and Polars."""

    @property
    def _constructor(self) -> Callable[..., Frame]:
        return Frame

    def __repr__(self) -> str:
        # Shows all columns; by default some are left out in a narrow terminal.
        with pd.option_context("display.max_columns", None):
            return super().__repr__()

    def to_arrow(self) -> pyarrow.Table:
        """The table as one of Arrow.

        Raises:
            ImportError: pyarrow is not installed (`pip install subrosa-sim[arrow]`).
        """
        import pyarrow

        return pyarrow.Table.from_pandas(pd.DataFrame(self), preserve_index=False)

    def to_polars(self) -> polars.DataFrame:
        """The table as one of Polars.

        Raises:
            ImportError: polars is not installed (`pip install subrosa-sim[polars]`).
        """
        import polars

        # Polars has null for an absent value, where pandas has NaN in a column of numbers.
        present = self.astype(object).where(self.notna(), None)
        return polars.DataFrame({str(name): present[name].tolist() for name in self.columns}, strict=False)


class Run:
    """A run folder. In a notebook it shows itself as the page of its report.

    Its tables are those of the folder, read when they are asked for; `docs/studies.md` has their columns. Every row has
    the `cell` that it belongs to, and where there are several cells, their axes as `point.NAME`.
    """

    failures: list[Failure]
    """Replications that could not be played when this object was made."""

    def __init__(self, folder: Scenario, failures: list[Failure] | None = None) -> None:
        """The run in a folder that `subrosa run` or :func:`run` left.

        Raises:
            SubrosaError: the folder is not one of a run that has results.
        """
        self.folder = Path(folder)
        self.failures = failures or []
        if not self._file("summary.json").is_file():
            raise SubrosaError(f"{self.folder} is not a run folder with results: it has no summary.json")

    @property
    def summary(self) -> dict[str, Any]:
        """`summary.json`: all that the report says, as plain data."""
        path = self._file("summary.json")
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
            loaded: dict[str, Any] = json.load(file)
        return loaded

    def _file(self, name: str) -> Path:
        """The path of a file of the folder; a large file may be packed, with the ending .gz."""
        plain, packed = self.folder / name, self.folder / f"{name}.gz"
        return packed if packed.is_file() and not plain.is_file() else plain

    @property
    def digest(self) -> str:
        """The digest of all events of all replications: that of the command line for the same scenario and seed."""
        return str(self.summary["digest"])

    @property
    def complete(self) -> bool:
        """Whether all replications are there."""
        return bool(self.summary["complete"])

    @property
    def results(self) -> Frame:
        """One row per cell, replication and series: regret, time, messages, outcomes and counts (`more.NAME`), digest."""
        return self._table("results.csv")

    @property
    def regret(self) -> Frame:
        """Mean regret of each series, one row per cell and series: columns `simple_regret` and `cumulative_regret`, each
        with its standard error (`.se`) and number of replications (`.n`), in units of the objective."""
        results = self.results
        keys = ["cell", *[name for name in map(str, results) if name.startswith("point.")], "series"]
        groups = results.groupby(keys, sort=False)
        columns = {}
        for metric in ("simple_regret", "cumulative_regret"):
            columns[metric] = groups[metric].mean()
            columns[f"{metric}.se"] = groups[metric].sem()
            columns[f"{metric}.n"] = groups[metric].count()
        return Frame(pd.DataFrame(columns).reset_index())

    @property
    def privacy(self) -> Frame:
        """One row per cell, series, observer, protected unit and accountant: `epsilon` at `delta` with its bounds, its
        `basis`, and the arithmetic for which it holds. `inf` where no finite epsilon is known."""
        return self._table("privacy.csv")

    @property
    def network(self) -> Frame:
        """One row per cell, replication, series and link: messages delivered and lost, latencies in seconds."""
        return self._table("network.csv")

    @property
    def iterations(self) -> Frame:
        """One row per evaluation: round `t`, `arm`, `outcome`, noise-free `value`, regrets, virtual `seconds`."""
        return self._table("iterations.csv")

    @property
    def ledger(self) -> Frame:
        """One row per release, consecutive equal ones together: what was released, by which mechanism, who saw it."""
        return self._table("ledger.csv")

    def _table(self, name: str) -> Frame:
        # Only an empty cell is an absent value: a series may be called "NA".
        table = pd.read_csv(
            self._file(name),
            keep_default_na=False,
            na_values=[""],
            dtype={"series": str, "observer": str, "protected": str, "from": str, "to": str},
            **_EXACT,
        )
        return Frame(table)

    def compare(self, a: str, b: str, metric: str | None = None, other: Run | None = None) -> Frame:
        """Two series side by side, pair by pair on common random numbers: means `a` and `b`, `difference` (b minus a) with
        its standard error `se`, and an interval from `low` to `high` that covers the true difference with probability
        0.95 (each interval on its own). One row per point of the sweep and metric.

        Args:
            a: a series of this run.
            b: a series of this run, or of the other.
            metric: such as `simple_regret`; None for all.
            other: a further run; None for this one.

        Raises:
            SubrosaError: a series or a metric that is not there.
        """
        there = (other or self).folder
        arguments = ["compare", str(self.folder), str(there), "--series-a", a, "--series-b", b]
        document = printed([*arguments, "--format", "json"])
        rows = [
            {
                **{f"point.{axis}": value for axis, value in row["point"].items()},
                **{name: row[name] for name in ("series_a", "series_b", "metric", "a", "b")},
                "difference": row["difference"]["mean"],
                "se": row["difference"]["se"],
                "n": row["difference"]["n"],
                **{name: row[name] for name in ("low", "high", "paired", "correlation")},
            }
            for row in document["rows"]
            if metric in (None, row["metric"])
        ]
        if not rows:
            known = sorted({row["metric"] for row in document["rows"]})
            raise SubrosaError(f"no metric {metric!r} to compare: there are {', '.join(known)}")
        return Frame(rows)

    @property
    def figures(self) -> list[Figure]:
        """All figures of the report, the most important first."""
        return [Figure(str(self.folder), chart) for chart in json.loads(_native.charts(str(self.folder)))]

    def figure(self, name: str) -> Figure:
        """A figure of the report by its id.

        Raises:
            SubrosaError: the run has no such figure.
        """
        figures = self.figures
        for figure in figures:
            if figure.id == name:
                return figure
        known = ", ".join(figure.id for figure in figures) or "none"
        raise SubrosaError(f"the run has no figure {name!r}: it has {known}")

    @property
    def page(self) -> str:
        """The page of the report, as HTML."""
        return (self.folder / "report.html").read_text(encoding="utf-8")

    @property
    def report(self) -> str:
        """The report as text, as wide as the environment variable COLUMNS or the terminal says; else 80 columns."""
        code, out, err = _native.printed(["subrosa", "report", str(self.folder)])
        if code != 0:
            raise SubrosaError(err.strip())
        return out

    def _repr_html_(self) -> str:
        page = html.escape(self.page, quote=True)
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 40em; border: 1px solid #ccc"></iframe>'

    def __repr__(self) -> str:
        summary = self.summary
        cells = summary["cells"]
        series = ", ".join(one["name"] for one in cells[0]["series"]) if cells else "none"
        return f"<Run of {summary['scenario']!r} in {self.folder}: {len(cells)} cells; series {series}>"


@dataclass(frozen=True)
class Checked:
    """A scenario without errors."""

    name: str
    cells: int
    replications: int
    """Of each cell."""
    seed: int
    scenario: dict[str, Any]
    """The first cell with all defaults, as plain data."""


def check(
    scenario: Scenario,
    *,
    data: Scenario | None = None,
    seed: int | None = None,
    replications: int | None = None,
    sweep: Mapping[Any, Any] | None = None,
    learners: Learners | None = None,
    objective: Objective | None = None,
    objectives: Mapping[str, Objective] | None = None,
    mechanisms: Mapping[str, Mechanism] | None = None,
    **overrides: Any,
) -> Checked:
    """Checks a scenario; runs nothing. The arguments are those of :func:`run`, without those on how to run.

    Raises:
        ScenarioError: all that is wrong, with line, column and correction.
    """
    parts = _Parts(learners or {}, objective, objectives or {}, mechanisms or {})
    source, given = _prepared(scenario, data, seed, replications, sweep, parts, overrides)
    found = json.loads(_native.check(source, given))
    refuse(found)
    return Checked(**{name: found[name] for name in ("name", "cells", "replications", "seed", "scenario")})


def run(
    scenario: Scenario,
    *,
    replications: int | None = None,
    threads: int = 0,
    seed: int | None = None,
    data: Scenario | None = None,
    out: Scenario = "runs",
    sweep: Mapping[Any, Any] | None = None,
    learners: Learners | None = None,
    objective: Objective | None = None,
    objectives: Mapping[str, Objective] | None = None,
    mechanisms: Mapping[str, Mechanism] | None = None,
    fail_fast: bool = False,
    progress: bool = True,
    **overrides: Any,
) -> Run:
    """Plays a scenario into its run folder, the same as `subrosa run` writes, with the same digest. Replications that are in
    the folder already are not played again. Other threads of Python keep running; Ctrl-C lets the replications in progress end.

    Args:
        scenario: a file, or a scenario's text (paths in it begin at the current folder).
        replications: of every cell.
        threads: replications that are played at a time; 0 for one per core. No result depends on it.
        seed: of the study.
        data: a folder for files that are not beside the scenario.
        out: the folder in which the run folder is made.
        sweep: values by path, `{"protocol.rounds": [10, 20]}`: all combinations. A tuple of paths changes together,
            `{("a", "b"): [(1, 2), (3, 4)]}`.
        learners: learners in Python by name. If the scenario has `External(command: ["callback", NAME])`, the learner NAME
            is used there. Otherwise it becomes the learner of the series NAME; if there is no such series, one is added as
            a copy of the first series that has a learner.
        objective: the scenario's objective, in Python.
        objectives: objectives that the scenario names by `External(command: ["callback", NAME], ..)`.
        mechanisms: mechanisms for outcomes in Python, by name. If the scenario has `outcomes: External(command:
            ["callback", NAME], ..)`, the mechanism NAME is used there. Otherwise it answers the outcomes of the series NAME.
        fail_fast: whether to stop at the first replication that fails.
        progress: whether to show a progress bar, where tqdm is installed.
        overrides: values by path, as with `-o`: `**{"protocol.rounds": 100}`. Strings get quotation marks; members of
            families are written with :func:`ron`.

    Raises:
        ScenarioError: all that is wrong with the scenario.
        RunFailed: no replication could be played. Where some could, there is a warning and :attr:`Run.failures`.
        Interrupted: Ctrl-C; the same call continues the run.
    """
    if threads < 0:
        raise ValueError(f"threads: expected 0 (one per core) or more, found {threads}")
    parts = _Parts(learners or {}, objective, objectives or {}, mechanisms or {})
    source, given = _prepared(scenario, data, seed, replications, sweep, parts, overrides)
    with _bar(progress) as show:
        how: _native.How = {
            "out": os.fspath(out),
            "threads": threads,
            "fail_fast": fail_fast,
            "progress": show,
            "announce": _announce,
        }
        try:
            ended = json.loads(_native.run(source, how, given))
        except (OSError, RuntimeError, ValueError) as error:
            raise SubrosaError(str(error)) from error
    refuse(ended)
    if ended.get("interrupted"):
        raise Interrupted(ended["folder"], ended["finished"], ended["total"])
    failures = [Failure(**failure) for failure in ended["failures"]]
    played = Run(ended["folder"], failures)
    if failures:
        first = failures[0]
        text = (
            f"{len(failures)} of {ended['total']} replications failed; the first: cell {first.cell}, "
            f"replication {first.replication}: {first.reason}"
        )
        if ended["finished"] <= 0:
            raise RunFailed(text, played)
        warnings.warn(text, FailedReplications, stacklevel=2)
    for spent in ended.get("budget_spent", []):
        warnings.warn(f"privacy budget exhausted in series {spent['series']!r}: {spent['reason']}", stacklevel=2)
    return played


def load(folder: Scenario) -> Run:
    """The run in a folder."""
    return Run(folder)


@dataclass(frozen=True)
class Replay:
    """What a replay found."""

    agrees: bool
    """Whether every record and every file is what the run left."""
    compared: int
    """Replications that were played again."""
    differences: list[str]
    failures: list[str]
    problems: list[str]


def replay(run: Run | Scenario, *, replication: int | None = None, threads: int | None = None) -> Replay:
    """Plays a run again from its folder and compares every field, in a separate process. Answers of learners and
    objectives in Python are read from the folder: neither their classes nor their packages are needed.

    Raises:
        SubrosaError: the folder is not one of a run.
    """
    arguments = ["replay", _folder(run)]
    arguments += ["--replication", str(replication)] if replication is not None else []
    arguments += ["--threads", str(threads)] if threads else []
    found = _apart(arguments)
    lists = {name: list(found.get(name, [])) for name in ("differences", "failures", "problems")}
    return Replay(agrees=found["agrees"], compared=found["compared"], **lists)


@dataclass(frozen=True)
class Audit:
    """What attacks on a scenario's or a mechanism's claims found."""

    document: dict[str, Any]
    """All that `subrosa audit --format json` prints."""

    @property
    def findings(self) -> Frame:
        """One row per attacked part: the epsilon that was claimed (and `claimed_by` whom), the one that is `proven` (and on
        what `basis`), the lower bound that was measured (`epsilon_lower`, with this `confidence`), and the verdict."""
        return Frame([_finding(one) for one in self.document["findings"]], columns=list(_finding({})))

    @property
    def not_audited(self) -> list[dict[str, Any]]:
        """Parts that were left out, and why."""
        return list(self.document.get("not_audited", []))

    def __repr__(self) -> str:
        return f"<Audit: {len(self.document['findings'])} findings, {len(self.not_audited)} parts not audited>"


def _finding(finding: dict[str, Any]) -> dict[str, Any]:
    """A row of a table of findings."""
    evidence = finding.get("evidence") or {}
    claimed, claimed_by = finding.get("claim") or (None, None)
    proven, basis = finding.get("proven") or (None, None)
    return {
        **{name: finding.get(name) for name in ("name", "about", "neighbours", "observer", "delta")},
        "claimed": claimed,
        "claimed_by": claimed_by,
        "proven": proven,
        "basis": basis,
        **{name: evidence.get(name) for name in ("epsilon_lower", "confidence", "trials", "counted", "test")},
        "verdict": finding.get("verdict"),
        "notes": "; ".join(finding.get("notes", [])),
    }


def audit(
    scenario: Scenario,
    *,
    trials: int | None = None,
    seed: int | None = None,
    threads: int | None = None,
    data: Scenario | None = None,
    cell: int = 0,
    series: str | None = None,
    observer: str | None = None,
    mechanism: bool = False,
    **overrides: Any,
) -> Audit:
    """Attacks what a scenario releases, or a mechanism, and compares measured lower bounds with the claims.

    It runs in a separate process, which Ctrl-C ends, so learners and objectives in Python are not available.

    Args:
        scenario: a file; with `mechanism=True` the name of a mechanism's case, or `all`.
        trials: number of trials on each of the two neighbouring inputs.
        seed: seed of the trials.
        series: the only series that is attacked; None for all.
        observer: the party whose view is attacked.
        overrides: values by path, as for :func:`run`.

    Raises:
        SubrosaError: there is nothing to audit, or the scenario is wrong.
    """
    arguments = ["audit", "mechanism", os.fspath(scenario)] if mechanism else ["audit", os.fspath(scenario)]
    options = {"trials": trials, "seed": seed, "threads": threads}
    if not mechanism:
        options |= {"data": data, "cell": cell, "series": series, "observer": observer}  # type: ignore[dict-item]
    for name, value in options.items():
        arguments += [f"--{name}", str(value)] if value is not None else []
    for path, value in overrides.items():
        arguments += ["-o", f"{path}={written(value)}"]
    return Audit(_apart(arguments))


def printed(arguments: list[str]) -> Any:
    """What the command line prints as JSON."""
    _, out, err = _native.printed(["subrosa", *arguments])
    return _read(out, err)


def _apart(arguments: list[str]) -> Any:
    """What the command line prints as JSON in a separate process, which Ctrl-C can end."""
    command = [sys.executable, "-m", "subrosa", *arguments, "--format", "json"]
    ended = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    return _read(ended.stdout, ended.stderr)


def _read(out: str, err: str) -> Any:
    if not out.strip():
        raise SubrosaError(err.strip())
    found = json.loads(out)
    if isinstance(found, dict) and "diagnostics" in found:
        refuse({"problems": found["diagnostics"], "text": "\n".join(map(_told, found["diagnostics"]))})
    return found


def _told(problem: dict[str, Any]) -> str:
    place = problem.get("override") or f"{problem['file']}:{problem['line']}:{problem['column']}"
    return f"{place}: {problem['message']} ({problem['cure']})"


def _folder(run: Run | Scenario) -> str:
    return str(run.folder) if isinstance(run, Run) else os.fspath(run)


def _announce(commands: list[str]) -> None:
    shown = ", ".join(f"`{command}`" for command in commands)
    print(f"note: this scenario starts {shown} with your rights (run only what you trust)", file=sys.stderr)


@contextmanager
def _bar(wanted: bool) -> Iterator[Callable[[int, int], None] | None]:
    """A progress bar: a function that takes the number of played replications and the number of all; None without a bar."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        wanted = False
    if not wanted or not (sys.stderr.isatty() or "ipykernel" in sys.modules):
        yield None
        return
    with tqdm(unit="replication", delay=0.5, leave=False) as bar:

        def show(played: int, there: int) -> None:
            bar.total = there
            bar.update(played - bar.n)

        yield show


@dataclass(frozen=True)
class _Parts:
    """Parts of a scenario in Python."""

    learners: Learners
    objective: Objective | None
    objectives: Mapping[str, Objective]
    mechanisms: Mapping[str, Mechanism]


def _prepared(
    scenario: Scenario,
    data: Scenario | None,
    seed: int | None,
    replications: int | None,
    sweep: Mapping[Any, Any] | None,
    parts: _Parts,
    overrides: Mapping[str, Any],
) -> tuple[_native.Source, list[_native.Given]]:
    """A scenario with its overrides, in the command line's order, and the callbacks that it may name."""
    source = _source(scenario, data)
    given = [given_objective(name, one) for name, one in parts.objectives.items()]
    if parts.objective is not None:
        source["overrides"].append(f"objective={parts.objective.ron()}")
        given.append(given_objective(parts.objective.name, parts.objective))
    last = [f"{path}={written(value)}" for path, value in overrides.items()]
    last += each(sweep or {})
    last += [f"seed={seed}"] if seed is not None else []
    last += [f"replications={replications}"] if replications is not None else []
    texts = [source["text"], *source["overrides"], *last]
    answering = {name: one for name, one in parts.mechanisms.items() if not _named(name, texts)}
    for name, one in parts.mechanisms.items():
        # A learner of the same series may have the same name, so the callback gets another one.
        given.append(given_mechanism(_ANSWERS.format(name) if name in answering else name, one))
    unnamed = {name: factory for name, factory in parts.learners.items() if not _named(name, texts)}
    # The scenario cannot be read without the learners that it names itself.
    given += [given_learner(name, factory) for name, factory in parts.learners.items()]
    if unnamed:
        source["overrides"] += _learning(source, given, unnamed)
    if answering:
        source["overrides"] += _answering(source, given, answering)
    source["overrides"] += last
    return source, given


def _named(callback: str, texts: list[str]) -> bool:
    """Whether a scenario names a callback itself."""
    named = re.compile(r'"callback"\s*,\s*' + re.escape(json.dumps(callback)))
    return any(named.search(text) for text in texts)


def _source(scenario: Scenario, data: Scenario | None) -> _native.Source:
    given = data if data is not None else os.environ.get("SUBROSA_DATA")
    further = None if given is None else os.path.realpath(given)
    if isinstance(scenario, str) and ("\n" in scenario or "(" in scenario and not os.path.exists(scenario)):
        return {"file": None, "text": scenario, "base": os.getcwd(), "data": further, "overrides": []}
    file = Path(scenario)
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        text = ""  # The library reports the error.
    base = os.path.realpath(file.parent)
    return {"file": str(file), "text": text, "base": base, "data": further, "overrides": []}


def _learning(source: _native.Source, given: list[_native.Given], learners: Learners) -> list[str]:
    """Overrides that give learners in Python to the series of their names, or to new series."""
    scenario, series = _series(source, given)
    learning = [place for place, one in enumerate(series) if isinstance(one, dict) and "learner" in one]
    if not learning:
        raise SubrosaError(f"learners: the protocol of {scenario!r} has no series with a learner to choose")
    names = [series[place].get("name") for place in range(len(series))]
    new = [name for name in learners if name not in names]
    overrides = []
    if new:
        places = [*range(len(series)), *[learning[0]] * len(new)]
        texts = [_native.value(source, f"protocol.series[{place}]") for place in places]
        if None in texts:
            raise SubrosaError("learners: name the series to replace: an Each stands in place of the list of series")
        overrides.append(f"protocol.series=[{', '.join(text for text in texts if text is not None)}]")
        for name in new:
            names.append(name)
            overrides.append(f"protocol.series[{len(names) - 1}].name={written(name)}")
    for name, factory in learners.items():
        place = names.index(name)
        if place < len(series) and place not in learning:
            raise SubrosaError(f"learners: the series {name!r} has no learner to choose")
        overrides.append(f"protocol.series[{place}].learner={learner_recipe(name, factory)}")
    return overrides


def _answering(
    source: _native.Source, given: list[_native.Given], mechanisms: Mapping[str, Mechanism]
) -> list[str]:
    """Overrides that let mechanisms in Python answer the outcomes of the series of their names."""
    scenario, series = _series(source, given)
    names = [one.get("name") if isinstance(one, dict) and "outcomes" in one else None for one in series]
    overrides = []
    for name, one in mechanisms.items():
        if name not in names:
            known = ", ".join(repr(known) for known in names if known is not None) or "none"
            raise SubrosaError(
                f"mechanisms: {scenario!r} has no series {name!r} whose outcomes are answered, and names no such "
                f"callback; series with outcomes: {known}"
            )
        overrides.append(f"protocol.series[{names.index(name)}].outcomes={one.ron(_ANSWERS.format(name))}")
    return overrides


def _series(source: _native.Source, given: list[_native.Given]) -> tuple[str, list[Any]]:
    """The name of a scenario, and its protocol's series as plain data."""
    found = json.loads(_native.check(source, given))
    refuse(found)
    protocol = next(iter(found["scenario"]["protocol"].values()))
    return found["name"], protocol.get("series", []) if isinstance(protocol, dict) else []
