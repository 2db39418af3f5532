"""The same lists of releases, priced by `sr.account` and by dp_accounting, side by side: epsilon and seconds.

Needs the Python module and dp_accounting: `pip install ./python dp-accounting`, then `python benches/peers.py`.
"""
import time

import dp_accounting as dp
from dp_accounting import pld, rdp

import subrosa as sr

LISTS = {
    "40 x Gaussian, z = 1, q = 0.25": ([sr.Gaussian(1.0, 0.25, 40)], 1e-5),
    "1000 x Gaussian, z = 1, q = 0.01": ([sr.Gaussian(1.0, 0.01, 1000)], 1e-5),
    "100 x Gaussian, z = 5": ([sr.Gaussian(5.0, 1.0, 100)], 1e-6),
    "50 x Laplace, b = 10": ([sr.Laplace(10.0, 50)], 1e-6),
    "30 x Gaussian, z = 4, 30 x Laplace, b = 20": ([sr.Gaussian(4.0, 1.0, 30), sr.Laplace(20.0, 30)], 1e-5),
    "DP-SGD: q = 256/60000, z = 1.1, 60 epochs": ([sr.Gaussian(1.1, 256 / 60000, 14063)], 1e-5),
}


def timed(work):
    begun = time.perf_counter()
    result = work()
    return result, time.perf_counter() - begun


def theirs(accountant, event, delta):
    return timed(lambda: accountant().compose(event).get_epsilon(delta))


print(f"{'':44} {'subrosa tight':>22} {'dp_accounting PLD':>22} {'dp_accounting RDP':>22}")
for name, (releases, delta) in LISTS.items():
    event = sr.to_dp_event(releases)
    assert sr.from_dp_event(event) == releases
    columns = [timed(lambda: sr.account(releases, delta).epsilon)]
    columns.append(theirs(pld.PLDAccountant, event, delta))
    columns.append(theirs(rdp.RdpAccountant, event, delta) if dp.rdp.RdpAccountant().supports(event) else (float("nan"),) * 2)
    print(f"{name:44} " + " ".join(f"{epsilon:11.5f} {seconds:8.3f} s" for epsilon, seconds in columns))
