"""Functions that are made at random: what is traced has the values of the function, or it is refused."""

import importlib.util
import random

import numpy as np
import programs
import pytest
from evaluation import right_hand_side

import perp

POINTS = 24
PER_TEST = 60


def loaded(text, folder, number):
    """The function f of a text, from a file: its source is looked at."""
    file = folder / f"program{number}.py"
    file.write_text(text)
    spec = importlib.util.spec_from_file_location(f"program{number}", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def values_of(f, points):
    """The values of the function at the points, None where it raises."""
    values = []
    for t, x in points:
        try:
            values.append(np.array(f(t, x.copy()), dtype=float))
        except Exception:  # noqa: BLE001
            values.append(None)
    return values


def verdict(text, folder, number, unmodified=True):
    """traced, refused or undefined; what is traced is compared."""
    module = loaded(text, folder, number)
    draw = random.Random(number)
    points = [(draw.choice([0.0, 0.7, 2.0]), np.array([draw.choice([draw.uniform(-3, 3), draw.uniform(-1, 1)]) for _ in range(3)])) for _ in range(POINTS)]
    expected = values_of(module.f, points)
    known = [value for value in expected if value is not None and value.shape == (3,) and np.isfinite(value).all()]
    try:
        module.SHARED[:] = [0.0, 0.0]
        model = perp.trace(module.f, [0.1, 0.2, 0.3], unmodified=unmodified, t=(0, 1))
    except perp.PerpError as error:
        assert isinstance(error, perp.TraceError) or not known, error
        return "refused"
    except Exception:
        if known:
            raise
        return "undefined"
    rates = right_hand_side(model)
    for (t, x), value in zip(points, expected):
        if value is not None and value.shape == (3,) and np.isfinite(value).all():
            scale = np.max(np.abs(value), initial=1.0)
            assert np.max(np.abs(np.array(rates(t, x)) - value)) <= 1e-9 * scale, (t, x, rates(t, x), value)
    return "traced"


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("first", range(0, 4 * PER_TEST, PER_TEST))
def test_a_random_function_is_traced_with_its_values_or_refused(first, tmp_path):
    verdicts = [verdict(programs.Program(seed).text(), tmp_path, seed) for seed in range(first, first + PER_TEST)]
    assert verdicts.count("traced") > PER_TEST // 5, verdicts


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("first", range(0, 2 * PER_TEST, PER_TEST))
def test_a_random_function_without_conditions_is_traced_as_it_is_or_refused(first, tmp_path):
    verdicts = [verdict(programs.Program(seed, is_plain=True).text(), tmp_path, seed, unmodified=False) for seed in range(first, first + PER_TEST)]
    assert verdicts.count("traced") > PER_TEST // 5, verdicts
