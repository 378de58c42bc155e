"""perp: nonsmooth dynamical systems, event by event, with all solutions of every step.

>>> import perp
>>> r = perp.solve("chatter")
>>> r.status, len(r.events), r.events[0].kind
('solved', 1, 'sliding_entry')

Models: `load`, `loads`, `Model`, `lcs`, `trace`. One run: `solve`, `solve_ivp`, `sensitivities`. Questions: `solutions`,
`jumps`, `equilibria`, `modes`, `check`, `mlcp`, `map`, `multilinear`, `sweep`, `converge`, `enclose`.
"""

from importlib import import_module as _import

from . import _perp
from .errors import FileError, InvalidInput, ModelError, NotSolved, PerpError, TraceError
from .matrices import law, lcs
from .model import Model, load, loads, var
from .running import sensitivities, solve, solve_ivp

__version__ = _perp.version

# Imported with their first use, so that `import perp` is quick.
_LATER = {
    "check": "analyses", "equilibria": "analyses", "jumps": "analyses", "mlcp": "analyses", "modes": "analyses",
    "solutions": "analyses", "multilinear": "forms", "Multilinear": "forms", "Map": "studies", "Study": "studies", "Enclosure": "studies", "map": "studies",
    "converge": "studies", "enclose": "studies", "Rows": "result", "Result": "result", "Event": "result", "ModeSpan": "result",
    "SavedResult": "tables", "resume": "checkpoints", "Sweep": "sweeping", "sweep": "sweeping", "read": "tables", "trace": "tracing", "unmodified": "rewriting", "if_": "numbers",
    "sign": "numbers", "step": "numbers", "sat": "numbers", "deadzone": "numbers", "piecewise": "numbers", "min": "numbers",
    "max": "numbers", "abs": "numbers", "sin": "numbers", "cos": "numbers", "tan": "numbers", "asin": "numbers",
    "acos": "numbers", "atan": "numbers", "atan2": "numbers", "sinh": "numbers", "cosh": "numbers", "tanh": "numbers",
    "exp": "numbers", "log": "numbers", "log10": "numbers", "sqrt": "numbers", "pow": "numbers", "zeros": "numbers",
    "and_": "numbers", "or_": "numbers", "not_": "numbers",
}

__all__ = ["FileError", "InvalidInput", "Model", "ModelError", "NotSolved", "PerpError", "TraceError", "law", "lcs", "load",
           "loads", "sensitivities", "solve", "solve_ivp", "var", "models", "laws", "schemes", "solvers", "map_quantities",
           "measures", "listing", "show_versions", *_LATER]


def __getattr__(name):
    if name not in _LATER:
        raise AttributeError(f"module 'perp' has no attribute '{name}'{_perp.suggestion(name, __all__)}")
    value = getattr(_import("." + _LATER[name], __name__), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted([*__all__, "__version__"])


def models():
    """Names of the models of the zoo."""
    return _perp.zoo()


def laws():
    """(name, meaning, how many numbers it takes) of every named law."""
    return _perp.listed("laws")


def schemes():
    """(name, meaning, options) of every scheme."""
    return _perp.listed("schemes")


def solvers():
    """(name, meaning) of every solver of steps that are not enumerated."""
    return _perp.listed("solvers")


def measures():
    """(form, meaning) of everything that a run can be asked to measure, as in perp.solve(..., measure={"top": "max(x)"})."""
    return _perp.listed("measures")


def listing(kind, options=False):
    """The table that `perp list` prints: of "models", "laws", "schemes" (options=True: their options), "solvers" or "measures"."""
    return _perp.list_text(kind, options)


def map_quantities():
    """(name, meaning, columns) of everything that `map` shows."""
    return [entry[:3] for entry in _perp.map_quantities()]


def show_versions():
    """Prints the versions of perp, Python and the packages that it uses where they are there."""
    import platform
    from importlib.metadata import PackageNotFoundError, version
    from importlib.util import find_spec

    print(f"perp {__version__}\npython {platform.python_version()} on {platform.platform()}")
    for package in ("numpy", "scipy", "matplotlib", "pandas", "xarray", "h5py"):
        try:
            found = version(package)
        except PackageNotFoundError:  # it may be there without the list of packages knowing it
            found = getattr(_import(package), "__version__", "?") if find_spec(package) else "-"
        print(package, found)
