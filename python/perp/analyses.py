"""Questions about models, as the commands of the program ask them."""

import json
import os

from . import _perp
from .answers import Answer, Check, Equilibria, Jumps, MlcpSolutions, Modes, Solutions, Tree
from .calls import by_name, flag, question, texts, whole
from .errors import InvalidInput, path_of
from .model import model_of, setting
from .names import keywords_of, unknown
from .running import resolved, say_midpoints, settings_of
from .values import number_of

_STEP = ("h", "scheme", "selector", "solver", "theta", "tol")
_TREE = ("h", "scheme", "theta")
_STUDY = ("cross_check", "policy", "scheme", "selector", "solver", "split_at_events", "theta", "tol")


def threads_of(threads):
    if threads is None:
        return min(os.cpu_count() or 1, 1024)
    return whole(threads, "threads", 1, 1024)


def _state(at):
    """Overrides of the starts of variables."""
    return [("variables." + name, setting(name, value)[1], f"at {setting(name, value)[2]}") for name, value in (at or {}).items()]


def _known(model, at):
    """Only variables have states."""
    if at is not None and not hasattr(at, "items"):
        raise InvalidInput(f"at: found {type(at).__name__}; expected values by name, as in {{'x1': 0.5}}")
    for name in at or {}:
        if name not in model.variables:
            raise unknown("variable", name, model.variables)


def _question(model, at, keys, options, parameters, hybrid=False):
    """The model with all that a question replaces, its options of reading and its overrides."""
    model = model_of(model)
    _known(model, at)
    more = resolved(model, settings_of(None, options, parameters)) + _state(at)
    reading = _perp.ReadingOptions(list(keys), hybrid)
    overrides = model.overrides(reading, more, keys)
    say_midpoints(model._read)
    return model, reading, overrides


def _time(t):
    return None if t is None else number_of(t, "t")


def _branches(mode):
    """A mode as the names or numbers (from 1) of its branches."""
    if mode is None:
        return []
    if not isinstance(mode, str) and not hasattr(mode, "__iter__"):
        raise InvalidInput(f"mode: found {mode!r}; expected a branch for each law, by name or number from 1, as in ['sliding', 2]")
    return [mode] if isinstance(mode, str) else [str(branch) for branch in mode]


def _positive(value, name):
    return None if value is None else whole(value, name)


@question
def solutions(model, at=None, t=None, h=None, mode=None, *, scheme=None, selector=None, solver=None, theta=None, tol=None,
              max_nodes=None, tree=0, **parameters):
    """Every solution of one step, and the one that the selector takes, as `perp solutions`; tree=N: of N steps.

    at: the state to step from, {"x": 1}; others have the model's start. mode: the present one, a branch for each law, by
    name or number from 1.

    >>> import perp
    >>> s = perp.solutions("switching_dae_repulsive", at={"x1": 0, "x2": -1}, h=0.1)
    >>> s.kind, s.complete, [round(x.norm, 9) for x in s]
    ('several', True, [0.05, 0.141421356])
    """
    options = {"h": h, "scheme": scheme, "selector": selector, "solver": solver, "theta": theta, "tol": tol}
    _positive(max_nodes, "max_nodes")
    tree = whole(tree, "tree", 0)
    if tree:
        if mode is not None:
            raise InvalidInput("mode is for the selector, but tree follows every solution")
        model, reading, overrides = _question(model, at, _TREE, options, parameters)
        members, text = _perp.tree(model._source.read(reading, overrides), _time(t), tree, max_nodes or 10_000)
        return Tree(json.loads(members), text)
    model, reading, overrides = _question(model, at, _STEP, options, parameters)
    members, text = _perp.solutions(model._source.read(reading, overrides), _time(t), _branches(mode), max_nodes)
    return Solutions(json.loads(members), text)


@question
def jumps(model, at=None, t=None, mode=None, *, max_nodes=None, **parameters):
    """Every jump after which a continuous solution starts, as `perp jumps`. mode: the one before, see `solutions`."""
    model, reading, overrides = _question(model, at, ("t",), {}, parameters)
    members, text = _perp.jumps(model._source.read(reading, overrides), _time(t), _branches(mode), _positive(max_nodes, "max_nodes"))
    return Jumps(json.loads(members), text)


@question
def equilibria(model, at=None, t=None, *, starts=None, reach=None, seed=None, tangents=False, virtual=False, **parameters):
    """Points at rest in every mode, with the eigenvalues of its flow, as `perp equilibria`.

    at: the first start; starts, reach, seed: of the others. virtual: also those beyond the ends of their mode's branches.
    """
    model, reading, overrides = _question(model, at, ("t",), {}, parameters)
    defaults = _perp.equilibria_defaults
    starts = _positive(starts, "starts") or defaults[0]
    for name, value in (("reach", reach), ("seed", seed)):
        if value is not None and starts == 1:
            raise InvalidInput(f"{name} is of the starts after the first: it has no effect with starts=1")
    if reach is not None and not 0 < number_of(reach, "reach"):
        raise InvalidInput(f"reach is {reach}; expected a finite number > 0")
    members, text = _perp.equilibria(model._source.read(reading, overrides), _time(t), starts, defaults[1] if reach is None else float(reach),
                                     defaults[2] if seed is None else whole(seed, "seed", 0), flag(tangents, "tangents"), flag(virtual, "virtual"))
    return Equilibria(json.loads(members), text)


@question
def modes(model, at=None, t=None, previous=None, **parameters):
    """The values of binaries in which a solution continues from a state, as `perp modes`.

    previous: the values just before, {"z1": 1}; those that are not named have the model's start.
    """
    model, _, overrides = _question(model, at, ("t",), {}, parameters, hybrid=True)
    given = [(name, number_of(value, name)) for name, value in by_name(previous, "previous", "{'z1': 1}").items()]
    members, text = _perp.modes(model._source, overrides, _time(t), given)
    return Modes(json.loads(members), text)


@question
def check(model, t=None, h=None, scheme=None, **options):
    """Index and C_i B of every mode, number of solutions of a step, consistency of the start, as `perp check`."""
    model = model_of(model)
    run = {key: options.pop(key) for key in ("selector", "solver", "theta", "tol", "policy", "split_at_events", "cross_check")
           if key in options}
    more = resolved(model, settings_of(t, {"h": h, "scheme": scheme, **run}, options))
    reading = _perp.ReadingOptions()
    overrides = model.overrides(reading, more)
    members, text = _perp.check(model._source, overrides)
    return Check(json.loads(members), text)


@keywords_of
def mlcp(M=None, q=None, lower=None, upper=None, *, p=0, norm=None, nearest=False, solver=None, max_nodes=None,
         arithmetic=None, name="mlcp", file=None):
    """All solutions of a mixed complementarity problem, as `perp mlcp`.

    0 = first p rows of M (u, lam) + q, w = the others, -w_i in N_[lower_i, upper_i](lam_i); the bounds default to 0 and
    inf, 0 <= w perp lam >= 0. norm: {"indices", "ref", "weights"}. nearest: the solution of minimal norm alone.
    solver: one solution by this method. arithmetic: "exact" (fractions too) or "double". file: a problem in JSON.

    >>> import perp
    >>> s = perp.mlcp([[-1.0]], [1.0])
    >>> s.kind, [piece.vertices.tolist() for piece in s]
    ('several', [[[0.0]], [[1.0]]])
    """
    texts([name, *([] if solver is None else [solver])], "name and solver", "text")
    nearest = flag(nearest, "nearest")
    if arithmetic not in (None, "exact", "double"):
        raise InvalidInput(f"arithmetic is {arithmetic!r}; expected 'exact' or 'double'")
    if nearest and solver:
        raise InvalidInput("solver finds one solution; it excludes nearest")
    if arithmetic and (nearest or solver):
        raise InvalidInput("arithmetic is of the enumeration; it has no effect with nearest or solver")
    if solver and max_nodes:
        raise InvalidInput("max_nodes has no effect with solver")
    if file is not None:
        text, name = _perp.read_text(path_of(file)), path_of(file)
    else:
        text = json.dumps(_problem(M, q, lower, upper, p, norm, name))
    answer = _perp.mlcp(text, name, "nearest" if nearest else solver or "", _positive(max_nodes, "max_nodes"), arithmetic or "")
    members = json.loads(answer)
    printed = json.dumps(members, indent=1) + "\n"
    return MlcpSolutions(members, printed) if "pieces" in members else Answer(members, printed)


def _numbers(values, name, expected):
    """An array of numbers, from arrays, sparse ones, or lists."""
    import numpy as np

    try:
        return np.asarray(values.toarray() if hasattr(values, "toarray") else values, dtype=float)
    except (TypeError, ValueError):
        raise InvalidInput(f"{name}: found {values!r}; expected {expected}") from None


def _problem(M, q, lower, upper, p, norm, name):
    """The problem as the program reads it."""
    import numpy as np

    if M is None or q is None:
        raise InvalidInput("M and q are missing; expected a problem, or file")
    M, q = _numbers(M, "M", "a matrix"), _numbers(q, "q", "numbers").ravel()
    if M.shape != (len(q), len(q)):
        raise InvalidInput(f"M must be {len(q)}x{len(q)}, as q has {len(q)} entries, but is {'x'.join(map(str, M.shape))}")
    if not np.all(np.isfinite(M)) or not np.all(np.isfinite(q)):
        raise InvalidInput("M or q holds nan or inf; expected finite numbers")
    p = whole(p, "p", 0, len(q))
    m = len(q) - p

    def bounds(values, default, word):
        values = _numbers(default if values is None else values, word, "numbers")
        values = np.broadcast_to(values, (m,)) if values.ndim == 0 else values.ravel()
        if len(values) != m:
            raise InvalidInput(f"{word} must have {m} entries but has {len(values)}")
        if np.isnan(values).any():
            raise InvalidInput(f"{word} holds nan; expected numbers, -inf or inf where there is no bound")
        return [value if abs(value) != float("inf") else ("inf" if value > 0 else "-inf") for value in values.tolist()]

    problem = {"name": name, "p": p, "m": m, "Auu": M[:p, :p].tolist(), "Aul": M[:p, p:].tolist(), "au": q[:p].tolist(),
               "Alu": M[p:, :p].tolist(), "All": M[p:, p:].tolist(), "al": q[p:].tolist(),
               "lower": bounds(lower, 0.0, "lower"), "upper": bounds(upper, float("inf"), "upper")}
    return {**problem, "norm": norm} if norm is not None else problem


__all__ = ["check", "equilibria", "jumps", "mlcp", "modes", "solutions", "threads_of"]
