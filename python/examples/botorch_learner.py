"""A learner by BoTorch: a Gaussian process fitted to what was released, and the logarithm of expected improvement over the arms.

Needs `pip install subrosa-sim[botorch]`. `python examples/botorch_learner.py`
"""

from __future__ import annotations

from pathlib import Path

import botorch
import torch
from botorch.acquisition import LogExpectedImprovement
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.models.transforms import Standardize
from gpytorch.mlls import ExactMarginalLogLikelihood

import subrosa as sr


class BoTorch(sr.Learner):
    """Log expected improvement by BoTorch, over all arms at once."""

    version = f"botorch {botorch.__version__}, torch {torch.__version__}"
    threads = 1

    def start(self, inputs, noise, seed):
        torch.set_num_threads(self.threads)
        self.inputs = torch.tensor(inputs, dtype=torch.double)
        low, high = self.inputs.min(0).values, self.inputs.max(0).values
        self.inputs = (self.inputs - low) / (high - low).clamp_min(1e-12)
        self.arms, self.outcomes = [], []

    def tell(self, arm, outcome, at):
        self.arms.append(arm)
        self.outcomes.append(outcome)

    def ask(self, pending):
        if len(set(self.arms)) < 3:
            return int(self.rng.integers(self.problem.arms))
        # What BoTorch draws itself depends on the question only.
        torch.manual_seed(int(self.rng.integers(2**31)))
        outcomes = torch.tensor(self.outcomes, dtype=torch.double).unsqueeze(-1)
        model = SingleTaskGP(self.inputs[self.arms], outcomes, outcome_transform=Standardize(m=1))
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        with torch.no_grad():
            improvement = LogExpectedImprovement(model, best_f=outcomes.max())(self.inputs.unsqueeze(1))
        return int(improvement.argmax())


if __name__ == "__main__":
    scenario = Path(__file__).parents[2] / "scenarios" / "external" / "shell.ron"
    run = sr.run(scenario, replications=1, learners={"BoTorch": BoTorch}, **{"protocol.rounds": 10})
    print(run.regret)
