"""An objective on a box, or a learner that searches it, by what the scenario asks for. See docs/external.md."""

import json
import math
import random
import sys


def value(point):
    """The accuracy of a pretended training: best at rate 0.03, depth 6 and solver "adam"."""
    off = math.log10(point["rate"] / 0.03)
    accuracy = 0.95 - 0.05 * off * off - 0.004 * (point["depth"] - 6) ** 2
    return accuracy - {"sgd": 0.08, "adam": 0.0, "rmsprop": 0.03}[point["solver"]]


def random_value(of, rng):
    """A value of one input."""
    if "values" in of:
        return rng.choice(of["values"])
    if of["whole"]:
        return rng.randint(int(of["low"]), int(of["high"]))
    if of["logarithmic"]:
        return min(max(of["low"] * (of["high"] / of["low"]) ** rng.random(), of["low"]), of["high"])
    return rng.uniform(of["low"], of["high"])


def suggest(box, outcomes, seed):
    """The best point so far with one input changed at random; a random point first, and one time in three."""
    rng = random.Random(seed)
    if not outcomes or rng.random() < 1 / 3:
        return {of["name"]: random_value(of, rng) for of in box}
    point = dict(max(outcomes, key=lambda step: step["outcome"])["point"])
    of = rng.choice(box)
    point[of["name"]] = random_value(of, rng)
    return point


box, outcomes = [], []
for line in sys.stdin:
    asked = json.loads(line)
    answer = {"id": asked["id"]}
    if asked["ask"] == "hello":
        answer.update(protocol=1, version="box 1")
    elif asked["ask"] == "begin":
        box, outcomes = asked["box"], [step for step in asked.get("past", []) if "outcome" in step]
    elif asked["ask"] == "value":
        answer["value"] = value(asked["point"])
    elif asked["ask"] == "suggest":
        outcomes += [step for step in asked["told"] if "outcome" in step]
        answer["point"] = suggest(box, outcomes, asked["seed"])
    print(json.dumps(answer), flush=True)
