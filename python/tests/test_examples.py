"""The examples and the notebooks run; the types are those of the stubs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

PYTHON = ROOT / "python"
NEEDS = {
    "gp_ucb.py": [],
    "staircase_mechanism.py": [],
    "botorch_learner.py": ["botorch"],
    "optuna_sampler.py": ["optuna"],
    "scikit_learn_objective.py": ["sklearn"],
}


@pytest.mark.parametrize("name", sorted(path.name for path in (PYTHON / "examples").glob("*.py")))
def test_an_example_runs(name: str, tmp_path: Path) -> None:
    for package in NEEDS[name]:
        pytest.importorskip(package)
    done = subprocess.run(
        [sys.executable, str(PYTHON / "examples" / name)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "simple_regret" in done.stdout
    (folder,) = (tmp_path / "runs").iterdir()
    replay = [sys.executable, "-m", "subrosa", "replay", str(folder), "--threads", "1"]
    assert subprocess.run(replay, capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("name", sorted(path.name for path in (PYTHON / "notebooks").glob("*.ipynb")))
def test_a_notebook_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    pytest.importorskip("matplotlib")
    monkeypatch.setenv("SUBROSA_ROOT", str(ROOT))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    notebook = nbformat.read(PYTHON / "notebooks" / name, as_version=4)
    resources = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3", resources=resources).execute()
    assert any(cell.get("outputs") for cell in notebook.cells)


def test_types_are_checked() -> None:
    pytest.importorskip("mypy")
    environment = {**os.environ, "MYPYPATH": ""}
    command = [sys.executable, "-m", "mypy", "--config-file", str(PYTHON / "pyproject.toml"), str(PYTHON / "subrosa")]
    command += ["--cache-dir", os.devnull]
    done = subprocess.run(command, cwd=PYTHON, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
