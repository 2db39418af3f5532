"""Search of a box by BoTorch's log expected improvement, beside runs of this program: docs/search.md has a table.

Needs `pip install botorch` (0.18.1 was measured). Two commands:

    python benches/peers_search.py botorch PROBLEM RUN OUT [SEEDS]
    python benches/peers_search.py compare PROBLEM RUN OUT..

PROBLEM is branin, hartmann6 or ackley10, and RUN the folder of a run of scenarios/search/PROBLEM.ron. `botorch` adds a line of JSON
to OUT for each search: the regret after each query, and the processor seconds since the design after each. Searches in OUT are not
repeated. benches/egobox adds the same lines for egobox and for `Acquisition()` alone. `compare` prints medians over the searches that
both have. "equal regret" is the peer's median regret after its last query: its time until then, and ours until our median regret is
as low. Times of ours are those of `Acquisition()` alone. Last, for some regrets, when each program has a median regret as low.

Search k begins with the design of replication k, the first 2 (d + 1) queries of the series "log-EI": both begin with the same
outcomes and differ in what they ask next, so that regrets are paired by design. Outcomes have no noise, and no model is told so.
A search is on one thread, without the time of imports and of the function.

BoTorch as its documentation recommends: `SingleTaskGP` with its default priors and a standardised outcome on the unit cube,
`fit_gpytorch_mll` after every outcome, `LogExpectedImprovement` over the best outcome, and `optimize_acqf` with 10 restarts from
512 raw samples.
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
# The lines of the learner without network and report, which benches/egobox adds.
ALONE = "Acquisition() alone"
# Regrets for which `compare` states how long each program needs.
LEVELS = (10.0, 5.0, 1.0, 0.1, 0.01, 0.001, 0.0001)

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


def compare(problem, folder, *files):
    ours = [[float(line["simple_regret"]) for line in lines[:QUERIES]] for lines in rows(folder)]
    lines = [line for file in files for line in map(json.loads, open(file)) if line["problem"] == problem]
    median = lambda values: statistics.median(values) if values else float("nan")
    alone = [line["seconds"] for line in lines if line["peer"] == ALONE]
    asked = lambda query: median([seconds[query] for seconds in alone])
    print(f"{problem}: median regret over all {len(ours)} replications {median([trace[-1] for trace in ours]):.6f}")
    print(f"{problem} {ALONE}: {len(alone)} searches, seconds {asked(QUERIES - 1):.3f}")
    for peer in sorted({line["peer"] for line in lines} - {ALONE}):
        theirs = {line["seed"]: line for line in lines if line["peer"] == peer and line["seed"] < len(ours)}
        last = {seed: line["regret"][-1] for seed, line in theirs.items()}
        level = median(last.values())
        at = lambda query: median([ours[seed][query] for seed in last])
        equal = next((query for query in range(QUERIES) if at(query) <= level), None)
        lower = sum(ours[seed][-1] < regret for seed, regret in last.items())
        seconds = median([line["seconds"][-1] for line in theirs.values()])
        print(
            f"{problem} {peer}: {len(last)} searches, fewest queries {min(len(line['regret']) for line in theirs.values())}, median regret "
            f"ours {at(QUERIES - 1):.6f}, {peer} {level:.6f}; ours lower in {lower}; seconds {seconds:.2f}, divided by ours "
            f"{seconds / asked(QUERIES - 1):.1f}"
        )
        if equal is None:
            print("  ours never has a median regret as low")
        elif not asked(equal) > 0:
            print(f"  ours has a median regret as low after {equal + 1} queries, no measured time")
        else:
            factor = seconds / asked(equal)
            print(f"  equal regret: ours after {equal + 1} queries and {asked(equal):.3f} s, {factor:.0f} times less time")
        # The peer's own time until its median regret is that of ours after the last query.
        for query in range(min(len(line["regret"]) for line in theirs.values())):
            if median([line["regret"][query] for line in theirs.values()]) <= at(QUERIES - 1):
                needed = median([line["seconds"][query] for line in theirs.values()])
                print(f"  the last median regret of ours: {peer} after {query + 1} queries and {needed:.3f} s")
                break
    for peer in sorted({line["peer"] for line in lines}):
        theirs = [line for line in lines if line["peer"] == peer]
        for level in LEVELS:
            for query in range(min(len(line["regret"]) for line in theirs)):
                if median([line["regret"][query] for line in theirs]) <= level:
                    needed = median([line["seconds"][query] for line in theirs])
                    print(f"{problem} {peer}: median regret of at most {level:g} after {query + 1} queries, {needed:.3f} s")
                    break



if __name__ == "__main__":
    if len(sys.argv) < 5 or sys.argv[1] not in ("botorch", "compare"):
        sys.exit(__doc__)
    {"botorch": botorch, "compare": compare}[sys.argv[1]](*sys.argv[2:])
