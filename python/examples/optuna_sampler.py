"""A sampler of Optuna as learner: the tree-structured Parzen estimator over the arms' numbers.

Needs `pip install subrosa-sim[optuna]`. `python examples/optuna_sampler.py`
"""

from __future__ import annotations

from pathlib import Path

import optuna
from optuna.distributions import FloatDistribution
from optuna.trial import create_trial

import subrosa as sr

optuna.logging.set_verbosity(optuna.logging.WARNING)


class Optuna(sr.Learner):
    """Optuna suggests a point among the released inputs; the arm that is closest to it is played."""

    version = f"optuna {optuna.__version__}"

    def start(self, inputs, noise, seed):
        self.points = inputs
        self.low, self.high = inputs.min(axis=0), inputs.max(axis=0)
        self.space = {
            f"x{column}": FloatDistribution(float(low), float(high))
            for column, (low, high) in enumerate(zip(self.low, self.high))
        }
        self.trials = []

    def tell(self, arm, outcome, at):
        point = {f"x{column}": float(value) for column, value in enumerate(self.points[arm])}
        self.trials.append(create_trial(params=point, distributions=self.space, value=outcome))

    def ask(self, pending):
        # A new study each time, so that a suggestion follows from the outcomes and the question's seed alone.
        sampler = optuna.samplers.TPESampler(seed=int(self.rng.integers(2**31)), n_startup_trials=3)
        study = optuna.create_study(direction="maximize", sampler=sampler)
        study.add_trials(self.trials)
        trial = study.ask(self.space)
        wanted = [trial.params[name] for name in self.space]
        width = (self.high - self.low).clip(min=1e-12)
        return int((((self.points - wanted) / width) ** 2).sum(axis=1).argmin())


if __name__ == "__main__":
    scenario = Path(__file__).parents[2] / "scenarios" / "external" / "shell.ron"
    run = sr.run(scenario, replications=2, learners={"Optuna": Optuna})
    print(run.regret)
