"""GP-UCB in Python: the same choices as the library's `GpUcb`, by the textbook's formulas. `python examples/gp_ucb.py`"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import subrosa as sr


class PlainGpUcb(sr.Learner):
    """The arm with the largest mean + sqrt(beta_t) sd of a Gaussian process (Srinivas et al. 2010, Theorem 1)."""

    delta = 0.025

    def start(self, inputs, noise, seed):
        kernel = self.problem.kernel
        scaled = inputs / np.asarray(kernel["length_scale"])
        squares = ((scaled[:, None, :] - scaled[None, :, :]) ** 2).sum(axis=2)
        assert kernel["shape"] == "SquaredExponential"
        self.covariance = kernel["variance"] * np.exp(-squares / 2)
        self.noise, self.arms, self.outcomes, self.asked = noise, [], [], 0

    def tell(self, arm, outcome, at):
        self.arms.append(arm)
        self.outcomes.append(outcome - self.problem.mean)

    def ask(self, pending):
        self.asked += 1
        mean, variance = np.zeros(self.problem.arms), np.diag(self.covariance).copy()
        if self.arms:
            seen = self.covariance[np.ix_(self.arms, self.arms)] + self.noise * np.eye(len(self.arms))
            weights = np.linalg.solve(seen, self.covariance[self.arms])
            mean = weights.T @ np.array(self.outcomes)
            variance -= (self.covariance[self.arms] * weights).sum(axis=0)
        beta = self.beta(self.asked, self.problem.arms)
        return int(np.argmax(mean + np.sqrt(beta * np.maximum(variance, 0))))

    def beta(self, t, arms):
        return 2 * np.log(arms * t**2 * np.pi**2 / (6 * self.delta))


if __name__ == "__main__":
    scenario = Path(__file__).parents[2] / "scenarios" / "hospital.ron"
    run = sr.run(scenario, replications=2, learners={"mine": PlainGpUcb})
    print(run.regret)
