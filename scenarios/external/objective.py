"""An objective that trains a model: logistic regression by gradient descent, and its accuracy on records held out.

Needs nothing but Python. A setting is (strength of the regularisation, learning rate); its value the accuracy.
"""

import json
import math
import random
import sys


def records(count, seed):
    """Two clouds of points that overlap."""
    draw = random.Random(seed)
    rows = []
    for index in range(count):
        label = index % 2
        rows.append(([draw.gauss(0.7 * label, 1.0), draw.gauss(-0.5 * label, 1.0), 1.0], label))
    return rows


TRAINING, HELD_OUT = records(120, 1), records(200, 2)


def score(weights, x):
    return sum(weight * value for weight, value in zip(weights, x))


def accuracy(strength, rate, steps=60):
    weights = [0.0, 0.0, 0.0]
    for _ in range(steps):
        gradient = [strength * weight for weight in weights]
        for x, label in TRAINING:
            error = 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, score(weights, x))))) - label
            for index, value in enumerate(x):
                gradient[index] += error * value / len(TRAINING)
        weights = [weight - rate * slope for weight, slope in zip(weights, gradient)]
    return sum((score(weights, x) > 0) == (label == 1) for x, label in HELD_OUT) / len(HELD_OUT)


for line in sys.stdin:
    question = json.loads(line)
    answer = {"id": question["id"]}
    if question["ask"] == "hello":
        answer |= {"protocol": 1, "version": "accuracy of a logistic regression 1.0"}
    elif question["ask"] == "value":
        strength, rate = question["inputs"]
        answer["value"] = accuracy(strength, rate)
    print(json.dumps(answer), flush=True)
