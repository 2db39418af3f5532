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
    """Squared distances by one product of BLAS, and no temporary arrays."""
    mean, variance = np.zeros(n), np.ones(n)
    cache = np.empty((rounds, n))
    halves = 0.5 * np.einsum("ij,ij->i", points, points)
    buffer = np.empty(n)
    for t in range(rounds):
        np.sqrt(variance, out=buffer)
        buffer *= 3.0
        buffer += mean
        arm = int(buffer.argmax())
        row = cache[t]
        np.dot(points, points[arm], out=row)
        row -= halves
        row -= halves[arm]
        row *= 1.0 / scale**2
        np.exp(row, out=row)
        np.dot(cache[:t, arm].copy(), cache[:t], out=buffer)
        row -= buffer
        pivot = variance[arm] + noise
        row *= pivot**-0.5
        np.multiply(row, (values[arm] - mean[arm]) * pivot**-0.5, out=buffer)
        mean += buffer
        np.multiply(row, row, out=buffer)
        variance -= buffer
        np.maximum(variance, 0.0, out=variance)


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
