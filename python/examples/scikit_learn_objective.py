"""An objective by scikit-learn: the accuracy of a classifier, tuned by users who report it with local differential privacy.

Needs `pip install subrosa-sim[scikit-learn]`. `python examples/scikit_learn_objective.py`
"""

from __future__ import annotations

import sklearn
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import subrosa as sr

RECORDS, LABELS = load_breast_cancer(return_X_y=True)


@sr.objective(
    bounds=[(1e-3, 10)], values=6, logarithmic=True, noise=0.02, mean=0.95, variance=0.001,
    version=f"scikit-learn {sklearn.__version__}, breast cancer",
)
def accuracy(x, party, rng):
    """Accuracy in cross-validation, by the inverse strength of regularisation."""
    model = make_pipeline(StandardScaler(), LogisticRegression(C=float(x[0]), random_state=int(rng.integers(2**31))))
    return cross_val_score(model, RECORDS, LABELS, cv=3).mean()


SCENARIO = """
Scenario(
    name: "tuning in Python",
    seed: 1,
    replications: 2,
    parties: { "curator": Party(), "modeler": Party() },
    network: Network(topology: Mesh(), default: Link(latency: Constant("20ms"), loss: Independent(0.05))),
    objective: BraninHoo(grid: [4, 4]),
    protocol: Outsourced(
        curator: "curator", modeler: "modeler", rounds: 8,
        series: [
            Series(name: "GP-UCB", release: Disclosure(), learner: GpUcb()),
            Series(name: "random", release: Withheld(), learner: Random()),
        ],
    ),
)
"""

if __name__ == "__main__":
    run = sr.run(SCENARIO, objective=accuracy)
    print(run.regret)
