"""What the tests share: the repository's scenarios, a small one, and a command line to compare with."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

import subrosa as sr

ROOT = Path(__file__).parents[2]

SMALL = """
Scenario(
    name: "small",
    seed: 5,
    replications: 3,
    parties: { "curator": Party(), "modeler": Party() },
    network: Network(topology: Mesh(), default: Link(latency: Constant("20ms"), loss: Independent(0.1))),
    objective: BraninHoo(grid: [6, 6]),
    protocol: Outsourced(
        curator: "curator",
        modeler: "modeler",
        rounds: 8,
        retry: Retry(timeout: "200ms", attempts: 100),
        series: [
            Series(name: "GP-UCB", release: Disclosure(), learner: GpUcb()),
            Series(name: "random", release: Withheld(), learner: Random()),
        ],
    ),
)
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    file = tmp_path / "small.ron"
    file.write_text(SMALL)
    return file


@pytest.fixture
def command_line() -> Path:
    """The program that cargo built, to compare with: SUBROSA_PROGRAM says where it is."""
    program = Path(os.environ.get("SUBROSA_PROGRAM", ROOT / "target" / "debug" / "subrosa"))
    if not program.is_file():
        pytest.skip(f"{program} is not built (cargo build)")
    return program


def play(program: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(program), *map(str, arguments)], capture_output=True, text=True, encoding="utf-8", check=False
    )


def assert_replays_without_python(
    run: sr.Run, command_line: Path, *, program: str, source: str, other_answer: str
) -> None:
    """A run of three replications is replayed by the command line; its manifest names the program, and the class or
    function behind it; an answer that was changed in its records is found."""
    done = play(command_line, "replay", run.folder, "--format", "json", "--threads", 1)
    assert done.returncode == 0, done.stderr + done.stdout
    assert json.loads(done.stdout)["agrees"] and json.loads(done.stdout)["compared"] == 3
    found = sr.replay(run)
    assert found.agrees and found.compared == 3
    manifest = json.loads((run.folder / "manifest.json").read_text())
    assert manifest["programs"][0]["command"] == ["callback", program]
    assert source in manifest["programs"][0]["version"]
    records = run.folder / "records.jsonl"
    records.write_text(records.read_text().replace('"answers":[', f'"answers":[{other_answer},', 1))
    assert not sr.replay(run).agrees
