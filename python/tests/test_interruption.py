"""Ctrl-C: a first one stops before the next question, a second one ends a callback that hangs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

HANGS = """
import sys, time
import subrosa as sr

class Hangs(sr.Learner):
    def ask(self, pending):
        print("asked", flush=True)
        {hang}
        return 0

try:
    sr.run(sys.argv[1], out=sys.argv[2], threads=1, learners={{"mine": Hangs}})
except sr.Interrupted as stopped:
    print("interrupted", stopped.finished, flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no signals")
@pytest.mark.parametrize("hang", ["while True: pass", "time.sleep(1000)"])
def test_a_second_interruption_ends_a_callback_that_hangs(hang: str, small: Path, tmp_path: Path) -> None:
    script = tmp_path / "hangs.py"
    script.write_text(HANGS.format(hang=hang))
    run = subprocess.Popen(
        [sys.executable, str(script), str(small), str(tmp_path / "runs")], stdout=subprocess.PIPE, text=True
    )
    assert run.stdout is not None
    assert run.stdout.readline() == "asked\n"
    os.kill(run.pid, signal.SIGINT)
    time.sleep(0.5)
    assert run.poll() is None, "the first one waits for the answer"
    os.kill(run.pid, signal.SIGINT)
    # The call returns within seconds; a sleeping thread that is left behind is the process's affair.
    assert run.stdout.readline().startswith("interrupted 0")
    run.kill()
    run.wait()
