"""Runs: the same as the command line's, as tables, interrupted and resumed, refused with places."""

from __future__ import annotations

import gzip
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT, SMALL, play

import subrosa as sr

# One scenario of each system, small enough to be played in seconds.
SYSTEMS: dict[str, dict[str, Any]] = {
    "hospital.ron": {"protocol.rounds": 5, "replications": 2},
    "federated.ron": {"protocol.rounds": 3, "replications": 1},
    "users.ron": {"protocol.rounds": 60, "replications": 1},
    "release.ron": {"replications": 1},
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_run_is_that_of_the_command_line(name: str, tmp_path: Path, command_line: Path) -> None:
    overrides = SYSTEMS[name]
    scenario = ROOT / "scenarios" / name
    run = sr.run(scenario, out=tmp_path / "python", threads=1, **overrides)
    changes = [word for path, value in overrides.items() for word in ("-o", f"{path}={value}")]
    done = play(
        command_line, "run", scenario, "--out", tmp_path / "rust", "--threads", 1, "--format", "json", *changes
    )
    assert done.returncode == 0, done.stderr
    theirs = json.loads(done.stdout)
    assert run.digest == theirs["digest"] and run.digest
    (folder,) = (tmp_path / "rust").iterdir()
    assert run.folder.name == folder.name
    for table in ("results.csv", "privacy.csv", "network.csv", "iterations.csv", "digest.txt", "records.jsonl"):
        assert (run.folder / table).read_bytes() == (folder / table).read_bytes(), table


def test_large_files_of_a_folder_may_be_packed(small: Path, tmp_path: Path) -> None:
    run = sr.run(small, out=tmp_path, threads=1)
    tables = ("results", "privacy", "network", "iterations", "ledger")
    before = [run.summary, *(getattr(run, name) for name in tables)]
    for name in ("summary.json", "records.jsonl", *(f"{name}.csv" for name in tables)):
        plain = run.folder / name
        (run.folder / f"{name}.gz").write_bytes(gzip.compress(plain.read_bytes()))
        plain.unlink()
    again = sr.Run(run.folder)
    assert again.summary == before[0]
    for name, table in zip(tables, before[1:], strict=True):
        pd.testing.assert_frame_equal(getattr(again, name), table)
    assert again.report == run.report and again.digest == run.digest


def test_tables_are_those_of_the_folder(small: Path, tmp_path: Path) -> None:
    run = sr.run(small, out=tmp_path, sweep={"protocol.rounds": [4, 6]}, threads=1)
    assert len(run.results) == 2 * 3 * 2
    assert run.regret["simple_regret.n"].tolist() == [3] * 4
    assert run.regret["point.protocol.rounds"].tolist() == [4, 4, 6, 6]
    mean = run.results.query("cell == 1 and series == 'GP-UCB'").simple_regret.mean()
    assert run.regret.query("cell == 1 and series == 'GP-UCB'").simple_regret.item() == mean
    assert set(run.iterations["point.protocol.rounds"]) == {4, 6}
    # Digits of the file, to the last.
    header, line = (text.split(",") for text in (run.folder / "iterations.csv").read_text().splitlines()[:2])
    assert float(run.iterations.loc[0, "simple_regret"]).hex() == float(line[header.index("simple_regret")]).hex()
    assert np.isinf(run.privacy.query("series == 'GP-UCB'").epsilon).all()
    assert {"from", "to", "delivered", "lost"} <= set(run.network)


def test_tables_go_to_arrow_and_polars(small: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    polars = pytest.importorskip("polars")
    run = sr.run(small, out=tmp_path, threads=1)
    table = run.results
    assert table.to_arrow().to_pandas().equals(pd.DataFrame(table))
    assert table.to_polars()["simple_regret"].to_list() == table["simple_regret"].tolist()
    assert isinstance(table.to_polars(), polars.DataFrame)
    # With columns of texts in which some are absent, and with what a selection leaves.
    audited = sr.audit(ROOT / "scenarios" / "hospital.ron", trials=300, threads=1).findings
    assert {"claimed", "claimed_by", "proven", "basis", "epsilon_lower", "verdict"} <= set(audited)
    accounts = sr.account([sr.Gaussian(1.0), sr.Unprotected()])
    assert isinstance(accounts, sr.Account)
    tables = [run.regret, run.privacy, run.network, run.iterations, run.ledger, audited, accounts.table]
    for table in [*tables, run.privacy.query("series == 'GP-UCB'")]:
        there = table.to_polars()
        assert there.columns == list(table) and len(there) == len(table) == table.to_arrow().num_rows
        for name in table:
            absent = [value is None for value in there[name].to_list()]
            assert absent == table[name].isna().tolist(), name
    assert np.isinf(run.privacy.to_polars()["epsilon"].to_list()).any()


def test_options_are_overrides(small: Path, tmp_path: Path) -> None:
    run = sr.run(small, out=tmp_path, seed=9, replications=1, threads=1, **{"protocol.rounds": 2, "name": 'a "b"'})
    assert run.summary["scenario"] == 'a "b"' and set(run.results.seed) == {9}
    # An initial point, and the rounds.
    assert len(run.iterations.query("series == 'GP-UCB'")) == 3
    slow = sr.ron("Link", latency="1s", loss=sr.ron("Independent", 0.0))
    with pytest.raises(sr.ScenarioError):  # a latency is no text
        sr.check(small, **{"network.default": slow})
    slow = sr.ron("Link", latency=sr.ron("Constant", "1s"))
    late = sr.run(small, out=tmp_path, threads=1, **{"network.default": slow})
    assert late.results.virtual_seconds.min() >= 16
    both = {("protocol.rounds", "seed"): [(2, 7), (3, 8)]}
    assert sr.check(small, sweep=both).cells == 2


def test_a_text_is_a_scenario(tmp_path: Path) -> None:
    assert sr.run(SMALL, out=tmp_path, replications=1, threads=1).complete


def test_a_run_that_cannot_be_played_says_so(tmp_path: Path) -> None:
    class Fails(sr.Learner):
        def ask(self, pending):
            raise RuntimeError("no model")

    with pytest.raises(sr.RunFailed, match="3 of 3 replications failed.*no model") as caught:
        sr.run(SMALL, out=tmp_path, threads=1, learners={"mine": Fails})
    assert len(caught.value.run.failures) == 3
    with pytest.raises(sr.RunFailed, match="1 of 3 replications failed"):
        sr.run(SMALL, out=tmp_path / "fast", threads=1, learners={"mine": Fails}, fail_fast=True)


def _complete(out: Path) -> bool:
    return sr.run(SMALL, out=out, threads=2).complete


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not fork by default")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_process_that_was_forked_after_a_run_runs_too(tmp_path: Path) -> None:
    assert _complete(tmp_path / "parent")
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply_async(_complete, [tmp_path / "child"]).get(timeout=120)


def test_what_is_wrong_has_its_place_and_cure(tmp_path: Path) -> None:
    bad = tmp_path / "bad.ron"
    bad.write_text(SMALL.replace("rounds: 8", "runds: 8"))
    with pytest.raises(sr.ScenarioError) as caught:
        sr.check(bad)
    lines = bad.read_text().splitlines()
    line = next(number for number, text in enumerate(lines, 1) if "runds" in text)
    problem = next(problem for problem in caught.value.problems if problem.line == line)
    assert problem.column == lines[line - 1].index("runds") + 1
    assert "rounds" in str(problem.cure) + str(problem.expected) and "runds" in str(caught.value)
    with pytest.raises(sr.ScenarioError) as caught:
        sr.run(tmp_path / "none.ron")
    assert caught.value.problems[0].message == "no such file"
    with pytest.raises(sr.ScenarioError) as caught:
        sr.check(SMALL, **{"protocol.rounds": -1})
    assert caught.value.problems[0].override == "protocol.rounds=-1"
    with pytest.raises(TypeError):
        sr.check(SMALL, name=object())
    with pytest.raises(ValueError, match="threads: expected 0"):
        sr.run(SMALL, threads=-1)
    assert sr.ron("Table", file=Path("a") / "b.csv") == 'Table(file: "a/b.csv")'


def test_two_series_are_compared_pair_by_pair(small: Path, tmp_path: Path) -> None:
    run = sr.run(small, out=tmp_path, threads=1)
    row = run.compare("GP-UCB", "random", metric="cumulative_regret").iloc[0]
    pairs = run.results.pivot(index="replication", columns="series", values="cumulative_regret")
    differences = pairs["random"] - pairs["GP-UCB"]
    assert row.paired and row.n == 3
    assert row.difference == pytest.approx(differences.mean()) and row.se == pytest.approx(differences.sem())
    assert row.low < row.difference < row.high
    with pytest.raises(sr.SubrosaError, match="no metric"):
        run.compare("GP-UCB", "random", metric="beauty")
    with pytest.raises(sr.SubrosaError):
        run.compare("GP-UCB", "nobody")


def test_a_run_shows_itself(small: Path, tmp_path: Path) -> None:
    run = sr.run(small, out=tmp_path / "runs", threads=1)
    assert "srcdoc=" in run._repr_html_() and "GP-UCB" in run._repr_html_() and "GP-UCB" in repr(run)
    assert "GP-UCB" in run.report
    figure = run.figure(run.figures[0].id)
    figure.savefig(tmp_path / "figure.svg")
    assert (tmp_path / "figure.svg").read_text().startswith("<svg") and set(figure.data.line) >= {"GP-UCB"}
    with pytest.raises(sr.SubrosaError, match=figure.id):
        run.figure("none")
    pytest.importorskip("matplotlib")
    figure.savefig(tmp_path / "figure.pdf")
    assert (tmp_path / "figure.pdf").read_bytes().startswith(b"%PDF")


def test_a_replay_agrees_and_finds_a_change(small: Path, tmp_path: Path) -> None:
    run = sr.run(small, out=tmp_path, threads=1)
    assert sr.replay(run).agrees and sr.replay(run).compared == 3
    records = run.folder / "records.jsonl"
    records.write_text(records.read_text().replace('"t":3', '"t":4'))
    assert not sr.replay(run).agrees
    with pytest.raises(sr.SubrosaError):
        sr.replay(tmp_path)


def test_an_audit_returns_findings(tmp_path: Path) -> None:
    found = sr.audit("laplace", mechanism=True, trials=2000, threads=1)
    assert len(found.findings) >= 1
    with pytest.raises(sr.SubrosaError):
        sr.audit("no such mechanism", mechanism=True)


def test_other_threads_go_on_while_a_run_plays(tmp_path: Path) -> None:
    turns, ended = [0], threading.Event()

    def count() -> None:
        while not ended.is_set():
            turns[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    begun = time.monotonic()
    sr.run(SMALL, out=tmp_path, threads=1, replications=5, **{"protocol.rounds": 300, "objective.grid": [25, 25]})
    took = time.monotonic() - begun
    ended.set()
    thread.join()
    # A thread that had to wait for the run would have counted a handful of times.
    assert turns[0] > 50 * took


CUT = """
import subrosa as sr, sys
try:
    sr.run(sys.argv[1], out=sys.argv[2], threads=1, replications=50000)
except sr.Interrupted as cut:
    print("cut", cut.finished, cut.total)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of Unix")
def test_ctrl_c_stops_and_the_same_call_goes_on(small: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-c", CUT, str(small), str(tmp_path / "runs")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    # As soon as a record is stored: 50,000 replications take seconds even where one takes a tenth of a millisecond.
    segments = (tmp_path / "runs").glob
    while not any(file.stat().st_size > 0 for file in segments("*/segments/*.jsonl")) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert out.startswith("cut "), err
    finished, total = map(int, out.split()[1:])
    assert 0 < finished < total == 50000
    there = sum(len(file.read_text().splitlines()) for file in (tmp_path / "runs").glob("*/segments/*.jsonl"))
    assert there == finished
    again = sr.run(small, out=tmp_path / "runs", threads=1, replications=finished + 1)
    fresh = sr.run(small, out=tmp_path / "fresh", threads=1, replications=finished + 1)
    assert again.digest == fresh.digest


def test_the_command_comes_along(small: Path) -> None:
    done = subprocess.run([sys.executable, "-m", "subrosa", "check", small], capture_output=True, text=True)
    assert done.returncode == 0 and "valid" in done.stdout
    done = subprocess.run([sys.executable, "-m", "subrosa", "check", "none.ron"], capture_output=True, text=True)
    assert done.returncode == 3


BAR = """
import subrosa as sr, sys
sr.run(sys.argv[1], out=sys.argv[2], threads=1, replications=2000, progress=sys.argv[3] == "yes")
"""


@pytest.mark.skipif(os.name != "posix", reason="terminals of Unix")
def test_a_terminal_shows_progress_where_tqdm_is_installed(small: Path, tmp_path: Path) -> None:
    pytest.importorskip("tqdm")
    import fcntl
    import struct
    import termios

    def shown(wanted: str) -> str:
        """What a run writes to a terminal on its standard error."""
        mine, terminal = os.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
        command = [sys.executable, "-c", BAR, str(small), str(tmp_path / wanted), wanted]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=terminal)
        os.close(terminal)
        parts = []
        while True:
            try:
                part = os.read(mine, 4096)
            except OSError:  # Linux says so that nobody writes any more.
                break
            if not part:
                break
            parts.append(part)
        os.close(mine)
        assert process.wait(timeout=60) == 0
        return b"".join(parts).decode()

    bar = shown("yes")
    assert "/2000" in bar and "replication/s" in bar, bar
    assert shown("no") == ""
