"""The right-hand sides of traced models, computed by numpy."""

import re
import tomllib

import numpy as np


def right_hand_side(model):
    """The rates of a model from its text, with the numbers of numpy."""
    lines = [line.split(" = ", 1)[1] for line in tomllib.loads(model.to_toml())["model"]["equations"]]
    codes = [compile(re.sub(r"\bif\(", "if_(", line.replace("^", "**")), "model", "eval") for line in lines]
    words = {"if_": lambda c, a, b: a if c else b, "max": lambda *v: max(v), "min": lambda *v: min(v), "abs": abs, "sin": np.sin,
             "sqrt": np.sqrt, "sign": np.sign, "inf": np.inf, "cos": np.cos, "tanh": np.tanh, "exp": np.exp,
             "piecewise": lambda v, *points: np.interp(v, points[::2], points[1::2])}

    def rates(t, x):
        numbers = {"t": np.float64(t), **{f"x{j + 1}": value for j, value in enumerate(x)}}
        return [float(eval(code, words, numbers)) for code in codes]  # noqa: S307

    return rates


def evaluated(model, x, t=0.0):
    """The rates at a state."""
    return right_hand_side(model)(t, x)
