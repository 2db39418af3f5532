"""Accounting for others: lists of releases, events of dp_accounting, histories of Opacus."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace

import pytest
from conftest import ROOT

import subrosa as sr


def test_a_list_is_priced_by_every_accountant() -> None:
    found = sr.account([sr.Gaussian(z=1.0, rate=0.25)] * 40, delta=1e-5)
    assert found.releases == 40 and found.delta == 1e-5
    table = found.table.set_index("accountant").epsilon
    assert {"tight", "rdp", "moments", "optimal", "advanced", "basic", "gdp"} <= set(table.index)
    assert found.epsilon == table["tight"] <= table["rdp"] <= table["moments"]
    # A count and a list are the same.
    assert sr.account(sr.Gaussian(1.0, 0.25, count=40), delta=1e-5).epsilon == found.epsilon
    assert found.table.set_index("accountant").loc["gdp", "standing"] == "not a bound"


def test_exact_values() -> None:
    # One Gaussian release: delta(epsilon) of Balle and Wang 2018, Theorem 8, at z = 1 and epsilon = 1.
    def phi(x: float) -> float:
        return math.erfc(-x / math.sqrt(2)) / 2

    delta = phi(0.5 - 1.0) - math.e * phi(-0.5 - 1.0)
    assert sr.account([sr.Gaussian(1.0)], delta=delta).epsilon == pytest.approx(1, rel=1e-3)
    # Pure mechanisms at a delta that is next to nothing.
    assert sr.account([sr.PureDp(0.5), sr.Laplace(2.0)], delta=1e-12).epsilon == pytest.approx(1, abs=1e-3)
    assert sr.account([sr.Unprotected()]).epsilon == math.inf
    assert sr.account([]).epsilon == 0


def test_the_sparse_vector_technique_costs_the_epsilon_of_its_noise() -> None:
    # 1 / threshold_scale + 2 cutoff / number_scale, at a delta that is next to nothing.
    for release, epsilon in (
        (sr.AboveThreshold(0.5), 0.5),
        (sr.AboveThreshold(0.5, count=3), 1.5),
        (sr.SparseVector(4, 8), 0.25 + 2 / 8),
        (sr.SparseVector(4, 8, cutoff=3), 0.25 + 6 / 8),
        (sr.SparseVector(4, 8, cutoff=3, monotonic=True), 0.25 + 3 / 8),
        (sr.SparseVector(4, 8, cutoff=3, monotonic=True, value_scale=6), 0.25 + 3 / 8 + 3 / 6),
    ):
        found = sr.account([release], delta=1e-12)
        assert found.epsilon == pytest.approx(epsilon, abs=1e-3) and found.releases == release.count
        assert release.epsilon * release.count == pytest.approx(epsilon)


def test_the_sums_of_a_tree_cost_one_gaussian_release() -> None:
    # A value is in floor(log2 of the tree's steps) + 1 partial sums. With two contributions to trees of one step, in two.
    for tree, squared in (
        (sr.TreeAggregation(steps=1000, z=8), 10),
        (sr.TreeAggregation(steps=1000, z=8, restart=100), 7),
        (sr.TreeAggregation(steps=1000, z=8, contributions=2, restart=1), 2),
    ):
        same = sr.account([sr.Gaussian(8 / math.sqrt(squared))] * 3).epsilon
        assert sr.account([tree] * 3).epsilon == pytest.approx(same, rel=1e-9)


def test_numbers_out_of_range_are_refused() -> None:
    for wrong in (
        sr.Gaussian(-1.0),
        sr.Gaussian(1.0, rate=1.5),
        sr.FixedSizeGaussian(5, 9, 1.0),
        sr.AboveThreshold(0.0),
        sr.AboveThreshold(-1.0),
        sr.SparseVector(1.0, 2.0, cutoff=0),
        sr.SparseVector(1.0, 2.0, value_scale=-1.0),
        sr.TreeAggregation(0, 1.0),
        sr.TreeAggregation(10, 1.0, restart=0),
    ):
        with pytest.raises(sr.ScenarioError):
            sr.account([wrong])
    with pytest.raises(sr.ScenarioError):
        sr.account([sr.Gaussian(1.0)], delta=2)
    with pytest.raises(TypeError):
        sr.account([1.0])


def test_calibration_and_accounting_agree() -> None:
    found = sr.calibrate(epsilon=1, delta=1e-5, rounds=40, rate=0.25)
    assert found.noise_multiplier is not None and found.epsilon_reached <= 1
    there = sr.account([sr.Gaussian(found.noise_multiplier, 0.25)] * 40, delta=1e-5).epsilon
    assert there == pytest.approx(found.epsilon_reached, rel=1e-9)
    less = sr.account([sr.Gaussian(found.noise_multiplier * 0.99, 0.25)] * 40, delta=1e-5).epsilon
    assert less > 1
    most = sr.calibrate(epsilon=1, delta=1e-5, noise=found.noise_multiplier, rate=0.25).rounds
    assert most is not None and most >= 40
    with pytest.raises(sr.SubrosaError, match="either"):
        sr.calibrate(epsilon=1)
    with pytest.raises(sr.SubrosaError, match="delta"):
        sr.calibrate(epsilon=1, delta=0, rounds=3)


def test_a_run_is_priced_as_its_report_says(tmp_path: Path) -> None:
    overrides = {"protocol.rounds": 3}
    run = sr.run(ROOT / "scenarios" / "hospital.ron", out=tmp_path, threads=1, replications=1, **overrides)
    table = sr.account(run)
    assert set(table.accountant) >= {"tight", "rdp"} and (table.delta == 1e-3).all()
    finite = table[(table.accountant == "tight") & (table.epsilon < math.inf)]
    reported = run.privacy[(run.privacy.accountant == "tight") & (run.privacy.epsilon < math.inf)]
    assert len(finite) and set(finite.epsilon) <= set(reported.epsilon)
    assert (sr.account(run.folder, delta=1e-2).delta == 1e-2).all()


def test_opacus_histories_come_and_go() -> None:
    history = [(1.0, 0.01, 500), (0.8, 0.01, 100), (1.0, 0.01, 7)]
    releases = sr.from_opacus(SimpleNamespace(history=history))
    assert releases == [sr.Gaussian(1.0, 0.01, 507), sr.Gaussian(0.8, 0.01, 100)]
    assert sr.to_opacus(releases) == [(1.0, 0.01, 507), (0.8, 0.01, 100)]
    assert sr.account(history).epsilon == sr.account({"history": history, "mechanism": "rdp"}).epsilon
    assert sr.account([(0.0, 0.01, 3)]).epsilon == math.inf
    with pytest.raises(sr.UnsupportedEvent):
        sr.to_opacus([sr.Laplace(1.0)])
    with pytest.raises(sr.UnsupportedEvent):
        sr.account([(1.0, 2.0)])


def test_opacus_itself_takes_the_history() -> None:
    opacus = pytest.importorskip("opacus.accountants")
    accountant = opacus.RDPAccountant()
    for _ in range(100):
        accountant.step(noise_multiplier=1.0, sample_rate=0.01)
    releases = sr.from_opacus(accountant)
    assert sr.account(accountant).epsilon <= accountant.get_epsilon(1e-5) * 1.001
    other = opacus.RDPAccountant()
    other.history = sr.to_opacus(releases)
    assert other.get_epsilon(1e-5) == accountant.get_epsilon(1e-5)


def test_events_of_dp_accounting_come_and_go() -> None:
    dp = pytest.importorskip("dp_accounting")
    from dp_accounting import pld, rdp

    step = dp.PoissonSampledDpEvent(0.25, dp.GaussianDpEvent(1.0))
    tree = dp.ComposedDpEvent([dp.SelfComposedDpEvent(step, 39), step, dp.NoOpDpEvent(), dp.LaplaceDpEvent(3.0)])
    releases = sr.from_dp_event(tree)
    assert releases == [sr.Gaussian(1.0, 0.25, 40), sr.Laplace(3.0)]
    ours = sr.account(tree, delta=1e-5)
    # The relation of dp_accounting's default: one unit added or removed.
    theirs = pld.PLDAccountant(value_discretization_interval=1e-3).compose(sr.to_dp_event(releases))
    assert ours.epsilon == pytest.approx(theirs.get_epsilon(1e-5), rel=2e-3)
    assert ours.epsilon <= rdp.RdpAccountant().compose(tree).get_epsilon(1e-5)
    assert sr.from_dp_event(sr.to_dp_event(releases)) == releases


def test_events_about_one_sample_are_one_release() -> None:
    dp = pytest.importorskip("dp_accounting")
    from dp_accounting import rdp

    both = dp.ComposedDpEvent([dp.GaussianDpEvent(3.0), dp.GaussianDpEvent(4.0)])
    (release,) = sr.from_dp_event(dp.PoissonSampledDpEvent(0.1, both))
    assert isinstance(release, sr.Gaussian)
    assert release.z == pytest.approx(2.4) and release.rate == 0.1  # 1/9 + 1/16 = 1/2.4^2
    theirs = rdp.RdpAccountant().compose(dp.PoissonSampledDpEvent(0.1, both), 10).get_epsilon(1e-5)
    table = sr.account([release] * 10, delta=1e-5).table.set_index("accountant").epsilon
    assert table["tight"] <= theirs and table["rdp"] == pytest.approx(theirs, rel=0.02)
    inner = dp.PoissonSampledDpEvent(0.5, dp.GaussianDpEvent(2.0))
    assert sr.from_dp_event(dp.PoissonSampledDpEvent(0.5, inner)) == [sr.Gaussian(2.0, 0.25)]


def test_events_without_a_cost_are_refused() -> None:
    dp = pytest.importorskip("dp_accounting")
    for event in (
        dp.SampledWithoutReplacementDpEvent(100, 10, dp.GaussianDpEvent(1.0)),
        dp.PoissonSampledDpEvent(0.1, dp.ComposedDpEvent([dp.LaplaceDpEvent(1.0), dp.GaussianDpEvent(1.0)])),
        dp.PoissonSampledDpEvent(0.1, dp.ZCDpEvent(0.5)),
        dp.UnsupportedDpEvent(),
        dp.ZCDpEvent(0.5, 0.1),
        dp.SelfComposedDpEvent(dp.SampledWithReplacementDpEvent(100, 10, dp.GaussianDpEvent(1.0)), 4),
    ):
        with pytest.raises(sr.UnsupportedEvent):
            sr.account(event)
    assert sr.account(dp.NonPrivateDpEvent()).epsilon == math.inf
    response = dp.RandomizedResponseDpEvent(0.5, 2)
    (release,) = sr.from_dp_event(response)
    assert isinstance(release, sr.RandomizedResponse) and release.epsilon == pytest.approx(math.log(3))
    assert sr.to_dp_event(sr.from_dp_event(response)).event.noise_parameter == pytest.approx(0.5)
    with pytest.raises(sr.UnsupportedEvent):
        sr.to_dp_event([sr.ApproximateDp(1.0, 1e-6)])


def test_pure_events_on_a_poisson_sample_have_a_bound() -> None:
    dp = pytest.importorskip("dp_accounting")
    from dp_accounting import pld

    event = dp.PoissonSampledDpEvent(0.1, dp.LaplaceDpEvent(1.0))
    (release,) = sr.from_dp_event(event)
    assert isinstance(release, sr.PureDp) and release.epsilon == pytest.approx(math.log1p(0.1 * math.expm1(1.0)))
    # At next to no delta the bound is the exact value, and above it otherwise.
    for delta, close in ((1e-12, 1e-3), (1e-2, 1.0)):
        exact = pld.PLDAccountant(value_discretization_interval=1e-5).compose(event).get_epsilon(delta)
        ours = sr.account(event, delta=delta).epsilon
        assert exact * (1 - 1e-3) <= ours <= exact * (1 + close) + 1e-3
    # Several on one sample add up before it counts.
    both = dp.PoissonSampledDpEvent(0.1, dp.SelfComposedDpEvent(dp.LaplaceDpEvent(1.0), 2))
    assert sr.from_dp_event(both)[0].epsilon == pytest.approx(math.log1p(0.1 * math.expm1(2.0)))
    assert sr.from_dp_event(dp.PoissonSampledDpEvent(0.5, dp.LaplaceDpEvent(1e-3)))[0].epsilon < 1000


def test_pure_mechanisms_become_their_worst_case() -> None:
    dp = pytest.importorskip("dp_accounting")
    from dp_accounting import pld

    releases = [sr.PureDp(0.7, count=9), sr.ExponentialMechanism(0.3, count=5)]
    # dp_accounting knows randomised response for neighbours that differ in a unit's value.
    accountant = pld.PLDAccountant(dp.NeighboringRelation.REPLACE_ONE, value_discretization_interval=1e-4)
    theirs = accountant.compose(sr.to_dp_event(releases)).get_epsilon(1e-5)
    pure = sr.account([sr.PureDp(0.7, count=9), sr.PureDp(0.3, count=5)], delta=1e-5).epsilon
    assert theirs == pytest.approx(pure, rel=2e-3) and sr.account(releases, delta=1e-5).epsilon <= theirs * 1.001


def test_trees_and_the_sparse_vector_technique_come_and_go() -> None:
    dp = pytest.importorskip("dp_accounting")
    from dp_accounting import pld, rdp

    # Trees of 100, 1000 and 17 steps: each unit is in one of them.
    event = dp.SelfComposedDpEvent(dp.SingleEpochTreeAggregationDpEvent(8.0, [100, 1000, 17]), 3)
    (tree,) = sr.from_dp_event(event)
    assert tree == sr.TreeAggregation(1000, 8.0, count=3)
    assert sr.from_dp_event(dp.SingleEpochTreeAggregationDpEvent(8.0, 1000)) == [sr.TreeAggregation(1000, 8.0)]
    table = sr.account(event, delta=1e-5).table.set_index("accountant").epsilon
    # The only relation for which dp_accounting prices trees: a unit's values become zero.
    zeroed = rdp.RdpAccountant(neighboring_relation=dp.NeighboringRelation.REPLACE_SPECIAL)
    assert table["rdp"] == pytest.approx(zeroed.compose(event).get_epsilon(1e-5), rel=0.02)
    # Randomised response is known there for neighbours that differ in a unit's value, for which Gaussian noise counts half.
    trees, pure = [tree, sr.TreeAggregation(40, 5.0, restart=16)], [sr.AboveThreshold(0.2, count=2), sr.SparseVector(8, 16)]
    for releases, relation in (
        (trees, dp.NeighboringRelation.ADD_OR_REMOVE_ONE),
        (pure, dp.NeighboringRelation.REPLACE_ONE),
    ):
        accountant = pld.PLDAccountant(relation, value_discretization_interval=1e-4)
        theirs = accountant.compose(sr.to_dp_event(releases)).get_epsilon(1e-5)
        assert sr.account(releases, delta=1e-5).epsilon == pytest.approx(theirs, rel=2e-3)
    with pytest.raises(sr.UnsupportedEvent):
        sr.to_dp_event([sr.TreeAggregation(40, 5.0, contributions=2)])


def test_what_is_no_list_of_releases_is_named() -> None:
    with pytest.raises(TypeError, match="expected a list of releases"):
        sr.account(None)
    with pytest.raises(sr.UnsupportedEvent, match="no history"):
        sr.account({})
    assert len(repr(sr.account([sr.Gaussian(1.0)]))) < 2500 and "document" not in repr(sr.account([]))
