"""Learners and objectives in Python: asked what a program is asked, kept, repeated without them, and what fails."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT, SMALL, assert_replays_without_python, play

import subrosa as sr

sys.path.insert(0, str(ROOT / "python" / "examples"))

from gp_ucb import PlainGpUcb  # noqa: E402


class Told(sr.Learner):
    """Plays arms in turn, and remembers what it was told."""

    lives: list[Told] = []

    def start(self, inputs, noise, seed):
        self.begun, self.heard, self.waiting = (inputs, noise, seed), [], []
        Told.lives.append(self)

    def ask(self, pending):
        self.waiting.append(list(pending))
        self.next = getattr(self, "next", -1) + 1
        return self.next % self.problem.arms

    def tell(self, arm, outcome, at):
        self.heard.append((arm, outcome, at))


def test_gp_ucb_in_python_makes_the_queries_of_the_library(small: Path, tmp_path: Path) -> None:
    run = sr.run(small, out=tmp_path, threads=1, learners={"mine": PlainGpUcb})
    arms = run.iterations.set_index(["series", "replication", "t"]).arm
    assert len(arms["GP-UCB"]) == 27 and arms["GP-UCB"].tolist() == arms["mine"].tolist()
    # Common random numbers: equal choices have equal outcomes.
    outcomes = run.iterations.set_index("series").outcome
    assert outcomes["GP-UCB"].tolist() == outcomes["mine"].tolist()
    # And not because any learner does.
    other = type("Other", (PlainGpUcb,), {"beta": lambda self, t, arms: 0.01})
    run = sr.run(small, out=tmp_path, threads=1, learners={"mine": other})
    arms = run.iterations.set_index(["series", "replication", "t"]).arm
    assert arms["GP-UCB"].tolist() != arms["mine"].tolist()


def test_a_learner_is_told_what_was_released(small: Path, tmp_path: Path) -> None:
    Told.lives.clear()
    run = sr.run(small, out=tmp_path, threads=1, replications=1, learners={"told": Told}, **{"protocol.rounds": 5})
    (learner,) = Told.lives
    inputs, noise, seed = learner.begun
    assert learner.problem.arms == 36 and inputs.shape == (36, 2) and 0 <= seed < 2**31
    assert noise == learner.problem.noise_variance > 0 and learner.problem.rounds == 5
    mine = run.iterations.query("series == 'told'")
    chosen = [(arm, outcome) for arm, outcome in zip(mine.arm, mine.outcome)]
    heard = [(arm, outcome) for arm, outcome, _ in learner.heard]
    # Outcomes as they were released; the last comes after the last choice.
    assert heard and heard == chosen[: len(heard)]
    assert [at for *_, at in learner.heard] == sorted(at for *_, at in learner.heard)
    assert all(len(pending) <= 1 for pending in learner.waiting)


def test_withheld_inputs_stay_withheld(tmp_path: Path) -> None:
    class Blind(Told):
        inputs = False

    Told.lives.clear()
    text = SMALL.replace('name: "random"', 'name: "blind"')
    sr.run(text, out=tmp_path, threads=1, replications=1, learners={"blind": Blind})
    (learner,) = Told.lives
    assert learner.begun[:2] == (None, None) and learner.problem.kernel is None


def test_a_replay_needs_no_python(small: Path, tmp_path: Path, command_line: Path) -> None:
    run = sr.run(small, out=tmp_path, threads=1, learners={"mine": PlainGpUcb})
    assert_replays_without_python(run, command_line, program="mine", source="PlainGpUcb", other_answer="1")


def test_an_exception_ends_its_replication_only(small: Path, tmp_path: Path) -> None:
    mended = tmp_path / "mended"

    class Fails(sr.Learner):
        def ask(self, pending):
            # One seed in three has its third question refused.
            self.asked = getattr(self, "asked", 0) + 1
            if not mended.exists() and self.asked == 3 and self.first % 3 == 0:
                raise RuntimeError("no such model")
            return 0

        def start(self, inputs, noise, seed):
            self.first = seed

    with pytest.warns(sr.FailedReplications, match="no such model"):
        run = sr.run(small, out=tmp_path, threads=1, replications=12, learners={"mine": Fails})
    failed = {failure.replication for failure in run.failures}
    there = set(run.results.replication)
    assert failed and there and failed | there == set(range(12)) and not failed & there
    assert not run.complete
    assert "RuntimeError: no such model" in run.failures[0].reason and "in ask" in run.failures[0].reason
    # Once the cause is gone, and the class is the same, the same call plays what is left.
    mended.touch()
    whole = sr.run(small, out=tmp_path, threads=1, replications=12, learners={"mine": Fails})
    assert whole.complete and whole.folder == run.folder


def test_what_is_no_answer_ends_the_replication(small: Path, tmp_path: Path) -> None:
    for number, wrong in enumerate([99, -1, "seven", 1.5, None]):
        kind = type("Wrong", (sr.Learner,), {"ask": lambda self, pending, wrong=wrong: wrong, "version": str(number)})
        with pytest.raises(sr.SubrosaError, match="3 of 3 replications failed"):
            sr.run(small, out=tmp_path, threads=1, learners={"mine": kind})


def test_another_source_is_another_study(small: Path, tmp_path: Path) -> None:
    folders = set()
    for text in ("return 0", "return 1", "return 0"):
        space: dict[str, type[sr.Learner]] = {}
        source = f"import subrosa as sr\nclass Mine(sr.Learner):\n    def ask(self, pending):\n        {text}\n"
        exec(compile(source, f"<{text}>", "exec"), space)  # noqa: S102
        folders.add(sr.run(small, out=tmp_path, threads=1, replications=1, learners={"mine": space["Mine"]}).folder)
    assert len(folders) == 2


def test_a_run_that_is_interrupted_goes_on_as_if_nothing_had_happened(small: Path, tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    calls: list[int] = []

    class Cut(PlainGpUcb):
        def ask(self, pending):
            calls.append(len(pending))
            if len(calls) > 5 and not whole.exists():
                raise RuntimeError("cut off")
            return super().ask(pending)

    with pytest.raises(sr.SubrosaError, match="cut off"):
        sr.run(small, out=tmp_path, threads=1, replications=1, learners={"mine": Cut})
    whole.touch()
    went_on = sr.run(small, out=tmp_path, threads=1, replications=1, learners={"mine": Cut})
    arms = went_on.iterations.set_index("series").arm
    # PlainGpUcb counts its own questions; a new object counts from one again, so that only the first five are compared.
    assert arms["mine"].tolist()[:5] == arms["GP-UCB"].tolist()[:5] and len(arms["mine"]) == 9
    assert sr.replay(went_on).agrees


def test_an_objective_in_python(small: Path, tmp_path: Path, command_line: Path) -> None:
    asked = []

    @sr.objective(bounds=[(0, 1), (1, 100)], values=[3, 3], logarithmic=[False, True], noise=0.1)
    def peak(x, rng):
        asked.append((x.tolist(), float(rng.random())))
        return -((x[0] - 0.5) ** 2) - (np.log10(x[1]) - 1) ** 2

    run = sr.run(small, out=tmp_path, threads=1, objective=peak)
    assert len(asked) == 9
    points = sorted(point for point, _ in asked)
    assert [point[0] for point in points] == [0, 0, 0, 0.5, 0.5, 0.5, 1, 1, 1]
    assert points[1][1] == pytest.approx(10) and len({draw for _, draw in asked}) == 9
    best = run.iterations.value.max()
    assert best == pytest.approx(0, abs=1e-12) and (run.iterations.simple_regret >= 0).all()
    # Kept: nothing is asked again, by a replay least of all.
    assert play(command_line, "replay", run.folder, "--threads", 1).returncode == 0
    again = sr.run(small, out=tmp_path, threads=1, objective=peak, replications=4)
    assert len(asked) == 9 and again.complete


FEDERATION = """
Scenario(
    name: "three agents", seed: 5, replications: 1,
    parties: { "server": Party(), "agent": Party(count: 3) },
    network: Network(topology: Star(hub: "server"), default: Link(latency: Constant("20ms"))),
    objective: BraninHoo(grid: [6, 6]),
    protocol: Federated(
        server: "server", groups: [AgentGroup(members: "agent")], rounds: 4, initial_points: 2, features: 10,
        series: [Series(name: "alone", sharing: Alone())],
    ),
)
"""


def test_parties_have_objectives_of_their_own(tmp_path: Path) -> None:
    asked = []

    @sr.objective(bounds=[(0, 1)], values=11, noise=0.0, parties=3)
    def nearest(x, party, rng):
        asked.append((party, round(x[0] * 10), float(rng.random())))
        return -abs(x[0] - party / 2)

    run = sr.run(FEDERATION, out=tmp_path, threads=1, objective=nearest)
    assert [(party, place) for party, place, _ in asked] == [(party, place) for party in range(3) for place in range(11)]
    assert len({draw for *_, draw in asked}) == 33
    # Means over the agents of their own outcomes, which are whole tenths. The mean of the three functions is nowhere above -1/3.
    thirtieths = -30 * run.iterations.query("t > 0").outcome
    assert np.allclose(thirtieths, thirtieths.round(), atol=1e-9) and run.iterations.outcome.max() > -1 / 3 + 1e-9
    assert sr.replay(run).agrees and len(asked) == 33
    with pytest.raises(sr.SubrosaError, match="has data of 2 agents"):
        few = sr.objective(bounds=[(0, 1)], values=11, parties=2)(lambda x, party, rng: -x[0])
        sr.run(FEDERATION, out=tmp_path, threads=1, objective=few)


def test_an_objective_that_all_share_may_take_the_party(small: Path, tmp_path: Path) -> None:
    parties = set()

    @sr.objective(bounds=[(0, 1)], values=3)
    def one(x, party, rng):
        parties.add(party)
        return x[0]

    assert sr.run(small, out=tmp_path, threads=1, replications=1, objective=one).complete and parties == {0}
    with pytest.raises(TypeError, match=r"expected \(x, party, rng\)"):
        sr.objective(bounds=[(0, 1)])(lambda x: x[0])


def test_a_scenario_may_name_its_callbacks(tmp_path: Path) -> None:
    text = SMALL.replace("GpUcb()", 'External(command: ["callback", "mine"])')
    run = sr.run(text, out=tmp_path, threads=1, learners={"mine": PlainGpUcb})
    assert set(run.results.series) == {"GP-UCB", "random"}
    with pytest.raises(sr.ScenarioError) as caught:
        sr.check(text)
    assert "callback" in str(caught.value.problems[0].expected) and "Python" in str(caught.value.problems[0].cure)
    with pytest.raises(sr.SubrosaError, match="no series with a learner"):
        sr.check(ROOT / "scenarios" / "federated.ron", learners={"mine": PlainGpUcb})


def test_learners_may_be_several(small: Path, tmp_path: Path) -> None:
    run = sr.run(small, out=tmp_path, threads=2, learners={"one": PlainGpUcb, "two": Told, "GP-UCB": PlainGpUcb})
    assert list(dict.fromkeys(run.results.series)) == ["GP-UCB", "random", "one", "two"]


BOX = {"rate": sr.Real(1e-3, 1.0, log=True), "depth": sr.Integer(1, 5), "solver": sr.Categorical(["sgd", "adam"])}


@sr.objective_on_box(BOX, noise=1e-3, best=1.0)
def height(x, rng):
    return 1 - 0.1 * abs(np.log10(x["rate"] / 0.1)) - 0.05 * abs(x["depth"] - 3) - (x["solver"] == "sgd") * 0.2


class Turns(sr.Learner):
    """Takes the solvers in turn, with NumPy's numbers."""

    def ask(self, pending):
        names = [one["name"] for one in self.problem.box]
        assert names == ["rate", "depth", "solver"] and self.problem.arms == 0
        turn = len(self.points)
        return {"rate": np.float64(0.1), "depth": np.int64(1 + turn % 5), "solver": ["sgd", "adam"][turn % 2]}

    def tell(self, arm, outcome, at):
        assert abs(outcome - height(self.points[arm], 0, None)) < 0.01


def test_points_of_a_box_are_dicts_by_name(tmp_path: Path) -> None:
    scenario = tmp_path / "box.ron"
    scenario.write_text(
        """Scenario(name: "box", seed: 3, replications: 2, parties: { "service": Party(), "users": Party() },
        network: Network(topology: Mesh(), default: Link(latency: Constant("10ms"))),
        objective: TestFunction(function: Branin),
        protocol: Local(service: "service", users: "users", rounds: 12, series: [
            Series(name: "log-EI", report: Disclosure(), learner: Acquisition()),
            Series(name: "turns", report: Disclosure(), learner: External(command: ["callback", "turns"])),
        ]))"""
    )
    run = sr.run(scenario, out=tmp_path / "out", threads=1, objective=height, learners={"turns": Turns})
    mine = run.iterations.query("series == 'turns'")
    column = next(name for name in mine.columns if name.startswith("x.solver"))
    assert mine[column].tolist() == [0, 1] * 12
    value = 1 - 0.05 * (mine["x.depth"] - 3).abs() - 0.2 * (mine[column] == 0)
    assert np.allclose(mine.value, value)
    assert (run.iterations.simple_regret >= 0).all()
    assert sr.replay(run).agrees
