"""Derivatives of variables, as the equations have them at each row."""

import numpy as np
import pytest

import perp


def test_rates_are_those_of_the_exact_solution():
    r = perp.solve(perp.Model({"x": 1.0, "v": 0.0}, ["der(x) = v", "der(v) = -x"], t=(0, 3)), scheme="located", tol=1e-10)
    np.testing.assert_allclose(r.rates["x"], -np.sin(r.t), atol=1e-9)
    np.testing.assert_allclose(r.rates["v"], -np.cos(r.t), atol=1e-9)


def test_rates_have_the_multiplier_of_the_row():
    # x falls with 1/2 until t = 2 and slides at 0 from then on.
    for scheme in ("backward_euler", "located"):
        r = perp.solve(perp.Model({"x": 1.0}, ["der(x) = 1/2 - sign(x)"], t=(0, 4), h=0.125), scheme=scheme)
        before, after = r.t < 2, r.t > 2
        assert before.any() and after.any()
        np.testing.assert_allclose(r.rates["x"][before], -0.5, rtol=1e-12)
        np.testing.assert_allclose(r.rates["x"][after], 0, atol=1e-12)


def test_rates_of_an_implicit_equation_are_solved_for():
    r = perp.solve(perp.Model({"x": 1.0}, ["2*der(x) + x = 0"], t=(0, 1), h=0.25))
    np.testing.assert_allclose(r.rates["x"], -r["x"] / 2, rtol=1e-13)


def test_an_algebraic_variable_has_no_rate():
    r = perp.solve(perp.Model({"x": 1.0, "z": 2.0}, ["der(x) = -z", "z = 2*x"], t=(0, 1), h=0.25))
    assert list(r.rates) == ["x"] and not r.rates["x"].flags.writeable
    np.testing.assert_allclose(r.rates["x"], -r["z"], rtol=1e-13)
    with pytest.raises(KeyError, match=r"there is no column 'der\(z\)'"):
        r["der(z)"]
    with pytest.raises(KeyError, match="there is no column 'z'"):
        r.rates["z"]


def test_a_rate_is_a_column_by_its_name_and_is_drawn():
    r = perp.solve("stick_slip", t=(0, 5))
    np.testing.assert_array_equal(r["der(x2)"], r.rates["x2"])
    np.testing.assert_array_equal(r.column("der(x1)"), r.rates["x1"])
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    axes = r.plot(["der(x2)"])
    times, values = axes.lines[0].get_data()
    at_rows = np.isin(times, r.t)  # others are the moments of events
    np.testing.assert_array_equal(values[at_rows], r.rates["x2"])
    assert 0 < (~at_rows).sum() <= 2 * len(r.events) + np.isnan(values).sum()
    phase = r.plot_phase("x2", "der(x2)")
    points = {tuple(point) for line in phase.lines for point in line.get_xydata()}
    assert set(zip(r["x2"], r.rates["x2"])) <= points and phase.get_ylabel() == "der(x2)"
    plt.close("all")
