"""A learner in Python: a Gaussian process by scikit-learn, and an upper confidence bound.

What it knows it was told: the arms' inputs as far as they were released, and outcomes as they were answered.
"""

import json
import sys

import numpy as np
import sklearn
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel


def model(begin):
    """The model that the scenario suggests, with its hyperparameters as they are."""
    kernel = begin["kernel"]
    assert kernel["shape"] == "SquaredExponential", kernel
    covariance = ConstantKernel(kernel["variance"]) * RBF(kernel["length_scale"])
    return GaussianProcessRegressor(covariance, alpha=max(begin["noise_variance"], 1e-6), optimizer=None)


arms, outcomes = [], []
for line in sys.stdin:
    question = json.loads(line)
    answer = {"id": question["id"]}
    for step in question.get("past", []) + question.get("told", []):
        if "outcome" in step:
            arms.append(step["arm"])
            outcomes.append(step["outcome"])
    if question["ask"] == "hello":
        answer |= {"protocol": 1, "version": f"GP-UCB by scikit-learn {sklearn.__version__}, numpy {np.__version__}"}
    elif question["ask"] == "begin":
        process, mean = model(question), question["mean"]
        inputs = np.array(question["inputs"])
    else:
        if outcomes:
            process.fit(inputs[arms], np.array(outcomes) - mean)
        centre, deviation = process.predict(inputs, return_std=True)
        answer["arm"] = int(np.argmax(centre + 2.0 * deviation))
    print(json.dumps(answer), flush=True)
