"""Values of BoTorch for max-value entropy search, trust regions and the posterior of sample paths: writes search.json beside it.

Needs `pip install botorch` (0.18.1 was used, with torch 2.15.0):

    python tests/oracles/search.py

The model is that of acquisition.json. src/learners/acquisition/oracle.rs, trust_region.rs and src/gp/path.rs compare with the values.
"""
import json
import math
from pathlib import Path

import torch
from botorch.acquisition.max_value_entropy_search import qMaxValueEntropy
from botorch.acquisition.multi_objective.max_value_entropy_search import qLowerBoundMultiObjectiveMaxValueEntropySearch
from botorch.models import SingleTaskGP
from gpytorch.kernels import MaternKernel, ScaleKernel
from gpytorch.means import ConstantMean

HERE = Path(__file__).parent
torch.set_default_dtype(torch.double)
torch.set_num_threads(1)


def model_of(known, noise):
    """The model of acquisition.json with fixed hyperparameters and this variance of the noise."""
    x = torch.tensor(known["points"])
    y = torch.tensor(known["outcomes"]).unsqueeze(-1)
    kernel = ScaleKernel(MaternKernel(nu=2.5, ard_num_dims=2))
    kernel.outputscale = known["variance"]
    kernel.base_kernel.lengthscale = torch.tensor(known["length_scales"])
    mean = ConstantMean()
    mean.constant.data.fill_(known["prior_mean"])
    model = SingleTaskGP(x, y, train_Yvar=torch.full_like(y, noise), covar_module=kernel, mean_module=mean, outcome_transform=None)
    return model.eval()


def max_value_entropy(model, candidates, maxima):
    """Without noise at the candidate: exact, by the class for several objectives with one of them (MES-0)."""
    bounds = torch.stack([torch.full((len(maxima),), -1e10), torch.tensor(maxima)], dim=-1)
    search = qLowerBoundMultiObjectiveMaxValueEntropySearch(model, bounds.view(-1, 2, 1, 1), estimation_type="0")
    return [float(search(torch.tensor([[x]]))) for x in candidates]


def max_value_entropy_by_samples(model, candidates, maxima):
    """The class for one objective, whose expectation over the outcome is an average over samples. Its maxima are replaced."""
    search = qMaxValueEntropy(model, torch.tensor(candidates), num_mv_samples=len(maxima), num_y_samples=2**14)
    search.posterior_max_values = torch.tensor(maxima).unsqueeze(-1)
    return [float(search(torch.tensor([[x]]))) for x in candidates]


class State:
    """BoTorch's tutorial "BO with TuRBO-1 and TS/qEI": the rule of update_state, with the three successes of the paper."""

    def __init__(self, d):
        self.length, self.least, self.largest = 0.8, 0.5**7, 1.6
        self.failures, self.successes = 0, 0
        self.patience = math.ceil(max(4.0, float(d)))
        self.enough = 3
        self.best = -float("inf")

    def update(self, y):
        if y > self.best + 1e-3 * math.fabs(self.best):
            self.successes, self.failures = self.successes + 1, 0
        else:
            self.successes, self.failures = 0, self.failures + 1
        if self.successes == self.enough:
            self.length, self.successes = min(2.0 * self.length, self.largest), 0
        elif self.failures == self.patience:
            self.length, self.failures = self.length / 2.0, 0
        self.best = max(self.best, y)
        return self.length < self.least


def trust_region(d, seed):
    """Outcomes, with the length after each; the first ones are those of the design."""
    torch.manual_seed(seed)
    state, trace = State(d), []
    design = (torch.randn(4) - 3.0).tolist()
    state.best = max(design)
    level, climbing = state.best, True
    while True:
        # Phases of rising outcomes, some by less than a thousandth, and of falling ones.
        climbing = torch.rand(()).item() < (0.8 if climbing else 0.08)
        step = torch.rand(()).item() * (0.3 if torch.rand(()).item() < 0.8 else 1e-3)
        outcome = level + step if climbing else level - step
        level = max(level, outcome)
        ended = state.update(outcome)
        trace.append([outcome, state.length])
        if ended:
            return {"inputs": d, "design": design, "trace": trace}


def box(centre, length_scales, length):
    """The tutorial's generate_batch: the sides are proportional to length-scales whose geometric mean is 1."""
    x, weights = torch.tensor(centre), torch.tensor(length_scales)
    weights = weights / weights.mean()
    weights = weights / torch.prod(weights.pow(1.0 / len(weights)))
    low = torch.clamp(x - weights * length / 2.0, 0.0, 1.0)
    high = torch.clamp(x + weights * length / 2.0, 0.0, 1.0)
    return {"centre": centre, "length_scales": length_scales, "length": length, "low": low.tolist(), "high": high.tolist()}


def main():
    torch.manual_seed(0)
    known = json.loads((HERE / "acquisition.json").read_text())
    candidates, maxima = known["candidates"], [1.7, 2.0, 2.6, 3.5]
    noisy, exact = model_of(known, known["noise"]), model_of(known, 1e-6)
    with torch.no_grad():
        joint = noisy.posterior(torch.tensor(candidates))
        found = {
            "made_with": f"tests/oracles/search.py: botorch {__import__('botorch').__version__}, torch {torch.__version__}",
            "maxima": maxima,
            "mes": max_value_entropy(noisy, candidates, maxima),
            "mes_by_samples": max_value_entropy_by_samples(exact, candidates, maxima),
            "paths": {
                "mean": joint.mean.squeeze(-1).tolist(),
                "covariance": joint.distribution.covariance_matrix.tolist(),
            },
            "trust_regions": [trust_region(2, 1), trust_region(6, 2)],
            "boxes": [
                box([0.5, 0.1, 0.97], [0.3, 0.6, 1.5], 0.8),
                box([0.2, 0.4, 0.6], [0.02, 5.0, 0.7], 0.1),
                box([0.0, 1.0, 0.5], [1.0, 1.0, 1.0], 1.6),
            ],
        }
    (HERE / "search.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
