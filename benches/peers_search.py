"""Search of a box by BoTorch's log expected improvement, beside the runs of `scenarios/search/peer-*.ron`.

Needs `pip install botorch` (0.18.1 was measured). Three commands:

    python benches/peers_search.py botorch ackley10 RUN OUT [SEEDS]   # searches by BoTorch, one line of JSON each, added to OUT
    python benches/peers_search.py csv FILE.. > SUMMARY               # the lines of such files as a table
    python benches/peers_search.py compare RUN.. -- FILE..            # medians, pairs and processor time

RUN is a run folder of this program. Search k of BoTorch begins with the design of its replication k, the first 2 (d + 1) queries
of the series "log-EI", so that both begin with the same outcomes and differ in what they ask next: regrets are paired by design.
Outcomes have no noise, and neither model is told so. A search is on one thread; its time is processor time of its process,
without imports, functions and design.

BoTorch as its documentation recommends: `SingleTaskGP` with its default priors and a standardised outcome on the unit cube,
`fit_gpytorch_mll` after every outcome, `LogExpectedImprovement` over the best outcome, and `optimize_acqf` with 10 restarts from 512
raw samples. A line in OUT has the regret after each query and the seconds since the design after each query.
"""
import csv
import gzip
import json
import math
import os
import statistics
import sys
import time
from pathlib import Path

QUERIES = 100
RESTARTS, RAW_SAMPLES = 10, 512
SERIES = "log-EI"

# Name, number of inputs, box and smallest value.
PROBLEMS = {
    "branin": (2, [(-5.0, 10.0), (0.0, 15.0)], 10 / (8 * math.pi)),
    "hartmann6": (6, [(0.0, 1.0)] * 6, -3.322368011415515),
    "ackley10": (10, [(-32.768, 32.768)] * 10, 0.0),
}


def rows(folder, series=SERIES):
    """The lines of iterations.csv of one series, by replication."""
    path = Path(folder) / "iterations.csv"
    text = path.open(newline="") if path.exists() else gzip.open(f"{path}.gz", "rt", newline="")
    found = {}
    with text:
        for line in csv.DictReader(text):
            if line["series"] == series:
                found.setdefault(int(line["replication"]), []).append(line)
    return [found[replication] for replication in sorted(found)]


def inputs(line, d):
    return [float(line[f"x.x{i + 1}"]) for i in range(d)]


def search(problem, design, seed):
    """Regret and seconds after each query; the design is in the box's own units."""
    import torch
    from botorch.acquisition import LogExpectedImprovement
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import SingleTaskGP
    from botorch.models.transforms import Standardize
    from botorch.optim import optimize_acqf
    from botorch.test_functions import Ackley, Branin, Hartmann
    from gpytorch.mlls import ExactMarginalLogLikelihood

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    d, sides, least = PROBLEMS[problem]
    function = {"branin": Branin, "hartmann6": lambda: Hartmann(dim=6), "ackley10": lambda: Ackley(dim=10)}[problem]()
    low, high = (torch.tensor([side[end] for side in sides], dtype=torch.double) for end in (0, 1))
    unit = torch.stack([torch.zeros(d, dtype=torch.double), torch.ones(d, dtype=torch.double)])
    value = lambda u: -function.evaluate_true(low + (high - low) * u).unsqueeze(-1).double()
    x = (torch.tensor(design, dtype=torch.double) - low) / (high - low)
    y = value(x)
    seconds, asking = [0.0] * len(design), 0.0
    while len(x) < QUERIES:
        begun = time.process_time()
        model = SingleTaskGP(x, y, outcome_transform=Standardize(m=1))
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        acquisition = LogExpectedImprovement(model, best_f=y.max())
        candidate, _ = optimize_acqf(acquisition, unit, q=1, num_restarts=RESTARTS, raw_samples=RAW_SAMPLES)
        asking += time.process_time() - begun
        seconds.append(asking)
        x, y = torch.cat([x, candidate.detach()]), torch.cat([y, value(candidate.detach())])
    best = torch.cummax(y.squeeze(-1), 0).values
    return [float(-least - b) for b in best], seconds


def botorch(problem, folder, out, seeds=20):
    d = PROBLEMS[problem][0]
    designs = [[inputs(line, d) for line in lines[: 2 * (d + 1)]] for lines in rows(folder)]
    done = set()
    if os.path.exists(out):
        done = {(line["problem"], line["seed"]) for line in map(json.loads, open(out))}
    for seed in range(int(seeds)):
        if (problem, seed) in done:
            continue
        regret, seconds = search(problem, designs[seed], seed)
        line = {"peer": "BoTorch log-EI", "problem": problem, "seed": seed, "regret": regret, "seconds": seconds}
        with open(out, "a") as file:
            file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    {"botorch": botorch}[sys.argv[1]](*sys.argv[2:])
