"""Right-hand sides as they are written for SciPy: its solution and that of the rewritten function agree."""

import numpy as np
import pytest

import perp


def lorenz(t, y, sigma=10.0, rho=28.0, beta=8 / 3):
    u, v, w = y
    return np.array([sigma * (v - u), u * (rho - w) - v, u * v - beta * w])


def pendulum(t, y):
    angle, rate = y
    return rate, -9.81 * np.sin(angle)


def heat(t, u):
    d = np.zeros_like(u)
    d[1:-1] = u[2:] - 2 * u[1:-1] + u[:-2]
    d[0] = -u[0]
    d[-1] = -u[-1]
    return d


def heat_by_differences(t, u):
    return 3 * np.diff(np.concatenate(([0.0], u, [0.0])), 2)


def masses(t, y):
    q, v = y[:2], y[2:]
    mass, stiffness = np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([[3.0, -1.0], [-1.0, 2.0]])
    return np.r_[v, np.linalg.solve(mass, np.eye(2)) @ (-stiffness @ q - 0.1 * v * np.abs(v))]


def friction(t, y):
    x, v = y
    if v > 0:
        force = -0.3
    elif v < 0:
        force = 0.3
    else:
        force = 0.0
    return [v, -x + force]


def characteristic(t, y):
    return [-np.interp(y[0], [0, 1, 2], [0, 2, 3])]


def thermostat(t, y):
    heating = 1.0 if y[0] < 20 else 0.0
    return [-(y[0] - 15) * 0.5 + 5 * heating]


class Car:
    def __init__(self, mass):
        self.mass = mass

    def drag(self, v):
        return 0.1 * v * abs(v) if v > 1 else 0.1 * v

    def control(self, t):
        return 2.0 if t < 0.5 else -1.0

    def rates(self, t, y):
        return [y[1], (self.control(t) - self.drag(y[1])) / self.mass]


def reactor(t, y):
    """Rates of two species."""
    k = {"a": 1.0, "b": 0.5}
    rate = k["a"] * y[0] * y[1]
    out = np.empty(2)
    out[0] = -rate
    out[1] = k["b"] - rate
    return np.maximum(out, -0.4).tolist()


def each(t, y):
    dy = np.zeros(y.shape)
    for i in range(y.size):
        dy[i] = -y[i] if y[i] > 0.5 else -0.5 * y[i] ** 2
    return dy


def where(t, y):
    return np.where(y > 0.5, -1.0, -2 * y) * np.array([1, 2])


def lists(t, y):
    return np.dot([[0, 1], [-1, -0.1]], y)


def table(t, y):
    edges, slopes = [0.3, 0.6, 1.2], [1.0, 2.0, 4.0]
    slope = 8.0
    for edge, value in zip(edges, slopes):
        if y[0] <= edge:
            slope = value
            break
    return [-slope * y[0]]


@pytest.mark.parametrize("f, x0", [
    (lorenz, [1.0, 1.0, 1.0]), (pendulum, [1.0, 0.0]), (heat, np.linspace(0, 1, 8)), (heat_by_differences, np.linspace(0, 1, 6)),
    (masses, [1.0, 0.0, 0.0, 0.5]), (friction, [1.0, 2.0]), (characteristic, [1.5]), (thermostat, [10.0]), (Car(2.0).rates, [0.0, 0.0]),
    (lambda t, y: Car(1.0).rates(t, y), [0.0, 0.0]), (lambda t, y: -y, [1.0, 2.0]), (reactor, [1.0, 1.0]), (each, [1.0, 0.8, 0.2]),
    (where, [1.0, 0.3]), (lists, [1.0, 0.8]), (table, [1.4]),
])
def test_the_solution_is_that_of_scipy(f, x0):
    integrate = pytest.importorskip("scipy.integrate")
    r = perp.solve_ivp(f, (0, 1), x0, unmodified=True, tol=1e-10)
    expected = integrate.solve_ivp(f, (0, 1), x0, rtol=1e-10, atol=1e-12, max_step=0.01)
    assert r.success and r.y[:, -1] == pytest.approx(expected.y[:, -1], rel=1e-6, abs=1e-7)
