"""The memory and time that `check` states for every scenario of the repository, beside what one replication takes.

    cargo build --release
    python3 benches/estimates.py              # all files below scenarios and tests/golden
    python3 benches/estimates.py FILE...      # only these

Each scenario runs once with `--replications 1`, in a folder that is deleted afterwards. Time is processor time of
the run and of the programs that it starts; memory is the largest resident set. A run ends after SECONDS of processor time, and is
then counted as not measured. The last lines count the scenarios whose estimate is within a factor of 3.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

SECONDS = int(os.environ.get("SECONDS_OF_A_RUN", "300"))
ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "target/release/subrosa"


def estimate(file):
    """MiB and seconds, or the first line of the refusal."""
    command = [PROGRAM, "check", "--replications", "1", "--memory", "1000GiB", "--format", "json", file]
    answer = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    if answer.returncode != 0:
        return (answer.stderr + answer.stdout).strip().splitlines()[0]
    needs = json.loads(answer.stdout)["needs"]
    return needs["bytes"] / 2**20, needs["seconds"]


def measure(file):
    """MiB and seconds, or why there is none."""
    with tempfile.TemporaryDirectory() as folder:
        command = [PROGRAM, "run", "--replications", "1", "--memory", "1000GiB", "--out", folder + "/run", file]
        command = [str(word) for word in command]
        child = os.fork()
        if child == 0:
            resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
            nothing = os.open(os.devnull, os.O_RDWR)
            for number in range(3):
                os.dup2(nothing, number)
            os.chdir(ROOT)
            os.execv(command[0], command)
        _, status, usage = os.wait4(child, 0)
        if os.WIFSIGNALED(status):
            return f"stopped after {SECONDS} s"
        code = os.WEXITSTATUS(status)
        if code not in (0, 4):
            return f"exit code {code}"
        return usage.ru_maxrss / 1024, usage.ru_utime + usage.ru_stime


def main():
    files = sys.argv[1:] or sorted(
        str(file.relative_to(ROOT)) for folder in ("scenarios", "tests/golden") for file in (ROOT / folder).rglob("*.ron")
    )
    print("| scenario | memory, MiB: estimate | measured | time, s: estimate | measured |\n|---|---|---|---|---|")
    factors = []
    for file in files:
        stated = estimate(file)
        if isinstance(stated, str):
            print(f"| `{file}` | {stated} | | | |", flush=True)
            continue
        taken = measure(file)
        if isinstance(taken, str):
            print(f"| `{file}` | {stated[0]:.0f} | {taken} | {stated[1]:.2g} | |", flush=True)
            continue
        print(f"| `{file}` | {stated[0]:.0f} | {taken[0]:.0f} | {stated[1]:.2g} | {taken[1]:.2g} |", flush=True)
        factors.append((file, stated[0] / taken[0], stated[1] / taken[1]))
    for name, column in (("memory", 1), ("time", 2)):
        beyond = [f"{row[0]} ({row[column]:.2f})" for row in factors if not 1 / 3 <= row[column] <= 3]
        print(f"{name}: {len(factors) - len(beyond)} of {len(factors)} within a factor of 3; not within: {', '.join(beyond) or 'none'}")


main()
