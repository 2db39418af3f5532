"""Mechanisms in Python: priced, answered, kept, repeated without them, and what fails."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT, SMALL, assert_replays_without_python

import subrosa as sr

sys.path.insert(0, str(ROOT / "python" / "examples"))

from gp_ucb import PlainGpUcb  # noqa: E402

asked: list[tuple[float, float]] = []


@sr.mechanism(cost=sr.PureDp(0.5), variance=2 * 12.0**2)
def noisy(outcome, rng):
    answer = float(np.clip(outcome, -3, 3)) + rng.laplace(0, 12.0)
    asked.append((outcome, answer))
    return answer


class Hears(PlainGpUcb):
    """GP-UCB that never plays an arm twice, and remembers what it was told."""

    lives: list[Hears] = []

    def start(self, inputs, noise, seed):
        super().start(inputs, noise, seed)
        self.heard = []
        Hears.lives.append(self)

    def ask(self, pending):
        best = super().ask(pending)
        return best if best not in self.arms else next(arm for arm in range(36) if arm not in self.arms)

    def tell(self, arm, outcome, at):
        super().tell(arm, outcome, at)
        self.heard.append((arm, outcome))


def test_outcomes_are_answered_by_a_function_and_priced(small: Path, tmp_path: Path) -> None:
    asked.clear()
    Hears.lives.clear()
    given = {"learners": {"mine": Hears}, "mechanisms": {"mine": noisy}}
    run = sr.run(small, out=tmp_path, threads=1, replications=1, **given)
    (learner,) = Hears.lives
    rows = run.iterations.query("series == 'mine'")
    # What was measured goes in, and what was answered is told.
    assert [outcome for outcome, _ in asked] == rows.outcome.tolist() and len(asked) == 9
    answers = [answer for _, answer in asked]
    assert [outcome for _, outcome in learner.heard] == answers[: len(learner.heard)] and len(learner.heard) >= 8
    # Noise is drawn anew for each answer, and its variance is known to the learner beside the objective's own.
    noise = [answer - np.clip(outcome, -3, 3) for outcome, answer in asked]
    assert len(set(noise)) == 9
    plain = sr.run(small, out=tmp_path, threads=1, replications=1, learners={"mine": Hears})
    assert plain.folder != run.folder
    assert learner.noise == pytest.approx(Hears.lives[-1].noise + 288)
    # Each row's outcome is released once, at the stated cost, on the stated condition.
    losses = run.privacy.query("series == 'mine' and unit == 'Outcome' and standing != 'not-a-bound'")
    pure = losses[losses.accountant == "basic"]
    assert len(pure) and pure.epsilon.tolist() == pytest.approx([0.5] * len(pure))
    assert set(losses.epsilon) - {np.inf} and losses.basis.str.contains("onditional").all()
    assert "keeping the cost that is stated" in losses.note.iloc[0]
    booked = run.ledger.query("series == 'mine'")
    assert "a program's mechanism" in set(booked.mechanism)


def test_answers_follow_from_the_seed_and_a_replay_needs_no_python(
    small: Path, tmp_path: Path, command_line: Path
) -> None:
    asked.clear()
    run = sr.run(small, out=tmp_path / "one", threads=1, mechanisms={"GP-UCB": noisy})
    first = list(asked)
    assert first
    again = sr.run(small, out=tmp_path / "two", threads=2, mechanisms={"GP-UCB": noisy})
    assert again.digest == run.digest and sorted(asked[len(first) :]) == sorted(first)
    other = sr.run(small, out=tmp_path / "two", threads=1, seed=99, mechanisms={"GP-UCB": noisy})
    assert other.digest != run.digest
    asked.clear()
    assert_replays_without_python(run, command_line, program="outcomes of GP-UCB", source="noisy", other_answer="0.125")


def test_answers_have_the_same_bits_in_a_replay(small: Path, tmp_path: Path) -> None:
    odd = [-0.0, 1e-310, -7.0, 3.0, 1e300, 0.1 + 0.2, 2.0**60, -1e-5]

    @sr.mechanism(cost=sr.Gaussian(2.0), variance=1.0)
    def fixed(outcome, rng):
        return odd[int(rng.integers(len(odd)))]

    run = sr.run(small, out=tmp_path, threads=1, replications=6, mechanisms={"random": fixed})
    assert sr.replay(run).agrees and sr.replay(run).compared == 6
    text = (run.folder / "records.jsonl").read_text()
    kept = [answer for part in text.split('"answers":[')[1:] for answer in part.split("]")[0].split(",")]
    assert {float(answer).hex() for answer in kept} == {value.hex() for value in odd}


def test_an_exception_ends_its_replication_and_the_same_call_goes_on(small: Path, tmp_path: Path) -> None:
    given: list[float] = []
    calls: list[float] = []

    @sr.mechanism(cost=sr.PureDp(1.0), variance=1.0)
    def fails(outcome, rng):
        calls.append(outcome)
        if len(calls) == 12:
            raise RuntimeError("no entropy")
        given.append(outcome)
        return outcome + rng.laplace()

    with pytest.warns(sr.FailedReplications, match="no entropy"):
        run = sr.run(small, out=tmp_path, threads=1, mechanisms={"GP-UCB": fails})
    assert len(run.failures) == 1 and "in fails" in run.failures[0].reason and not run.complete
    # What was answered before is kept, and asked for no second time.
    before = len(given)
    whole = sr.run(small, out=tmp_path, threads=1, mechanisms={"GP-UCB": fails})
    assert whole.complete and whole.folder == run.folder and sr.replay(whole).agrees
    assert not set(given[before:]) & set(given[:before]) and len(given) > before


def test_what_is_no_answer_ends_the_replication(small: Path, tmp_path: Path) -> None:
    for number, wrong in enumerate([float("nan"), float("inf"), None, "high"]):
        made = sr.mechanism(cost=sr.PureDp(1.0), variance=1.0, version=str(number))
        mechanism = made(lambda outcome, rng, wrong=wrong: wrong)
        with pytest.raises(sr.SubrosaError, match="3 of 3 replications failed"):
            sr.run(small, out=tmp_path, threads=1, mechanisms={"GP-UCB": mechanism})


def test_a_cost_is_that_of_one_answer(small: Path) -> None:
    for cost in (sr.PureDp(1.0, count=2), sr.Gaussian(1.0, rate=0.1), sr.FixedSizeGaussian(9, 3, 1.0), sr.Unprotected()):
        mechanism = sr.mechanism(cost=cost, variance=1.0)(lambda outcome, rng: 0.0)
        with pytest.raises(sr.ScenarioError) as caught:
            sr.check(small, mechanisms={"GP-UCB": mechanism})
        assert any(str(problem.path or problem.override).count("outcomes") for problem in caught.value.problems)
    with pytest.raises(sr.SubrosaError, match="no series 'nobody'.*'GP-UCB', 'random'"):
        sr.check(small, mechanisms={"nobody": noisy})


def test_a_scenario_may_name_its_mechanism(tmp_path: Path) -> None:
    recipe = noisy.ron("mine")
    text = SMALL.replace("learner: GpUcb()", f"outcomes: {recipe}, learner: GpUcb()")
    asked.clear()
    assert sr.run(text, out=tmp_path, threads=1, replications=1, mechanisms={"mine": noisy}).complete and asked
    file = tmp_path / "named.ron"
    file.write_text(text)
    with pytest.raises(sr.ScenarioError):
        sr.check(file)
    # An audit starts nothing, and says what it leaves out.
    file.write_text(text.replace("release: Disclosure()", "release: NoisyRows(epsilon: 1, delta: 1e-5)"))
    found = sr.audit(file, trials=500, threads=1)
    assert len(found.findings) and "random" not in set(found.findings.get("name", []))
    assert any("a program answers its outcomes" in part["why"] and part["protected"] for part in found.not_audited)
