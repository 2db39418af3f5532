"""What benches/gp.rs compares with: GP-UCB in NumPy, one column per round, and in scikit-learn, refitted each round.

Called with n, d and the rounds; prints seconds per round of both. Set SUBROSA_PYTHON to a Python that has both.
"""
import sys
import time

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF

n, d, rounds = (int(argument) for argument in sys.argv[1:4])
points = np.random.default_rng(1).normal(size=(n, d))
values = np.sin(points.sum(axis=1))
scale, noise = 1.0 * d**0.5, 1e-2


def incremental():
    mean, variance = np.zeros(n), np.ones(n)
    cache = np.empty((rounds, n))
    for t in range(rounds):
        arm = int(np.argmax(mean + 3.0 * np.sqrt(variance)))
        difference = points - points[arm]
        row = np.exp(-0.5 * np.einsum("ij,ij->i", difference, difference) / scale**2)
        row -= cache[:t, arm] @ cache[:t]
        pivot = variance[arm] + noise
        row /= pivot**0.5
        mean = mean + row * ((values[arm] - mean[arm]) / pivot**0.5)
        variance = np.maximum(variance - row * row, 0.0)
        cache[t] = row


def refitted():
    arms = [0]
    for _ in range(rounds):
        model = GaussianProcessRegressor(RBF(scale), alpha=noise, optimizer=None)
        model.fit(points[arms], values[arms])
        mean, sd = model.predict(points, return_std=True)
        arms.append(int(np.argmax(mean + 3.0 * sd)))


def seconds(function):
    function()
    start = time.perf_counter()
    function()
    return (time.perf_counter() - start) / rounds


print(seconds(incremental), seconds(refitted))
