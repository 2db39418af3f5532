"""subrosa: a discrete-event simulator of privacy-preserving Bayesian optimisation.

A scenario says who runs a search, over which network, on which objective, and what is released by which mechanism. A run
answers three questions together: how good the result is (regret), what it cost (virtual time, messages, losses), and who
learned what about whom (the ledger of releases). Version, scenario and seed determine the answers bit by bit; they are the
same as those of the command line.

>>> import subrosa as sr
>>> run = sr.run("scenarios/hospital.ron", replications=5)    # doctest: +SKIP
>>> run.regret; run.privacy; run.network; run.iterations      # doctest: +SKIP
"""

from ._accounting import (
    AboveThreshold,
    Account,
    ApproximateDp,
    Calibrated,
    ExponentialMechanism,
    FixedSizeGaussian,
    Gaussian,
    Laplace,
    PureDp,
    RandomizedResponse,
    RepeatedGaussian,
    Release,
    SparseVector,
    TreeAggregation,
    Unprotected,
    UnsupportedEvent,
    ZeroConcentratedDp,
    account,
    calibrate,
    from_dp_event,
    from_opacus,
    to_dp_event,
    to_opacus,
)
from ._callbacks import (
    Categorical,
    Integer,
    Learner,
    Mechanism,
    Objective,
    Point,
    Problem,
    Real,
    mechanism,
    objective,
    objective_on_box,
)
from ._errors import (
    Diagnostic,
    FailedReplications,
    Failure,
    Interrupted,
    RunFailed,
    ScenarioError,
    SubrosaError,
)
from ._figures import Figure
from ._native import BUILD, VERSION
from ._ron import Ron, ron
from ._runs import Audit, Checked, Frame, Replay, Run, audit, check, load, replay, run

__version__ = VERSION

__all__ = [
    "BUILD",
    "AboveThreshold",
    "Account",
    "ApproximateDp",
    "Audit",
    "Calibrated",
    "Categorical",
    "Checked",
    "Diagnostic",
    "ExponentialMechanism",
    "FailedReplications",
    "Failure",
    "Figure",
    "FixedSizeGaussian",
    "Frame",
    "Gaussian",
    "Integer",
    "Interrupted",
    "Laplace",
    "Learner",
    "Mechanism",
    "Objective",
    "Point",
    "Problem",
    "PureDp",
    "RandomizedResponse",
    "Real",
    "RepeatedGaussian",
    "Release",
    "Replay",
    "Ron",
    "Run",
    "RunFailed",
    "ScenarioError",
    "SparseVector",
    "SubrosaError",
    "TreeAggregation",
    "Unprotected",
    "UnsupportedEvent",
    "ZeroConcentratedDp",
    "account",
    "audit",
    "calibrate",
    "check",
    "from_dp_event",
    "from_opacus",
    "load",
    "mechanism",
    "objective",
    "objective_on_box",
    "replay",
    "ron",
    "run",
    "to_dp_event",
    "to_opacus",
]
