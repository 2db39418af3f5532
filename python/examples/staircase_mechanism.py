"""A mechanism of one's own: staircase noise, which for a large epsilon is smaller than Laplace's at the same cost.

`python examples/staircase_mechanism.py`
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import subrosa as sr

EPSILON, LOW, HIGH = 3.0, -2.0, 3.0
WIDTH = HIGH - LOW
# The share of a step that is high (Geng and Viswanath 2014, Theorem 3: the smallest mean size of the noise).
GAMMA = 1 / (1 + np.exp(EPSILON / 2))


def staircase(rng: np.random.Generator, size: int | None = None):
    """Noise whose density falls by a factor of e^epsilon for every `WIDTH` (Geng and Viswanath 2014, Algorithm 1)."""
    step = rng.geometric(1 - np.exp(-EPSILON), size) - 1
    low = rng.random(size) >= GAMMA / (GAMMA + (1 - GAMMA) * np.exp(-EPSILON))
    within = np.where(low, GAMMA + (1 - GAMMA) * rng.random(size), GAMMA * rng.random(size))
    return rng.choice([-1, 1], size) * (step + within) * WIDTH


def variance() -> float:
    """The mean square: the density is constant on each step, and so its moments are sums."""
    decay, step = np.exp(-EPSILON), np.arange(60)
    height = (1 - decay) / (2 * WIDTH * (GAMMA + decay * (1 - GAMMA)))
    high, low = ((step + GAMMA) ** 3 - step**3) / 3, ((step + 1) ** 3 - (step + GAMMA) ** 3) / 3
    return float(2 * height * WIDTH**3 * (decay**step * (high + decay * low)).sum())


VARIANCE = variance()


@sr.mechanism(cost=sr.PureDp(EPSILON), variance=VARIANCE)
def answer(outcome, rng):
    """The outcome, clipped to the range, with staircase noise: epsilon-DP for any two outcomes."""
    return float(np.clip(outcome, LOW, HIGH)) + float(staircase(rng))


if __name__ == "__main__":
    scenario = Path(__file__).parents[2] / "scenarios" / "hospital.ron"
    laplace = sr.ron("ClippedLaplace", epsilon=EPSILON, range=sr.ron("Range", low=LOW, high=HIGH))
    series = [
        sr.ron("Series", name=name, release=sr.ron("Disclosure()"), outcomes=outcomes, learner=sr.ron("GpUcb()"))
        for name, outcomes in (("Laplace", laplace), ("staircase", answer.ron("staircase")))
    ]
    overrides = {"protocol.series": series, "protocol.rounds": 20}
    run = sr.run(scenario, replications=2, mechanisms={"staircase": answer}, **overrides)
    print(f"variance: Laplace {2 * (WIDTH / EPSILON) ** 2:.3f}, staircase {VARIANCE:.3f}")
    print(run.regret)
    print(run.privacy.query("protected == 'outcome' and accountant == 'tight'"))
