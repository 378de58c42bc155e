"""Models: from the zoo, files, text, Python values, matrices."""

import os
from collections import namedtuple
from collections.abc import Mapping
from types import MappingProxyType

from . import _perp, toml_text
from .errors import InvalidInput, ModelError

Variable = namedtuple("Variable", "name start unit nominal")
Variable.__doc__ = "A variable of a model."
Branch = namedtuple("Branch", "name a b c w lam sliding")
Branch.__doc__ = "A straight piece a w + b lam = c of a law, with the ranges of w and lam."
Law = namedtuple("Law", "name branches memory constraint")
Law.__doc__ = "A set-valued relation between w and lam."

RUN_KEYS = tuple(_perp.run_keys())
RUN = _perp.ReadingOptions(hybrid=True)  # what a run depends on: the keys of its scheme


def setting_text(value, what):
    """A value as it stands behind --set NAME=."""
    if isinstance(value, str):
        return value
    try:
        return toml_text.value_text(value)
    except (TypeError, ValueError):
        raise InvalidInput(f"{what}: found {type(value).__name__}; expected a number or an expression") from None


def setting(key, value, words=None):
    """An override of the reader: its key, its value as text, and what messages call it."""
    if isinstance(value, bool) and not key.startswith("run."):
        raise InvalidInput(f"{words or key}: found {value}; expected a number or an expression")
    if getattr(value, "shape", ()) != ():
        raise InvalidInput(f"{words or key}: found an array; expected a number, or [a, b] for an interval (perp.sweep runs many values)")
    text = setting_text(value, words or key)
    return (key, text, f"{words or key}={text}")


def _check_lists(**values):
    for key, value in values.items():
        if isinstance(value, (str, Mapping)) or not hasattr(value, "__iter__"):
            raise InvalidInput(f"{key}: found {type(value).__name__}; expected a list")


class Model:
    """A model, which is its text in TOML: parameters, variables, equations, laws.

    >>> import perp
    >>> m = perp.Model(variables={"x": 1.0, "v": 0.0}, parameters={"mu": 0.3},
    ...                equations=["der(x) = v", "der(v) = -x - mu*sign(v)"], t=(0, 10))
    >>> list(m.variables), dict(m.parameters)
    (['x', 'v'], {'mu': 0.3})
    """

    def __init__(self, variables, equations, parameters=None, laws=(), when=(), outputs=None, t=None, h=None, *,
                 name=None, source=None, binaries=None, constraints=(), inputs=None, restitution=None, **run):
        for key in run:
            if key not in RUN_KEYS:
                raise InvalidInput(f"{key} is no option of a run{_perp.suggestion(key, list(RUN_KEYS))}")
        for key, value in (("variables", variables), ("parameters", parameters or {}), ("outputs", outputs or {})):
            if not isinstance(value, Mapping):
                raise InvalidInput(f"{key}: found {type(value).__name__}; expected a dict, as in {{'x': 1.0}}")
        _check_lists(equations=equations, laws=laws, when=when, constraints=constraints)
        body = {"equations": list(equations), "laws": list(laws), "when": list(when), "constraints": list(constraints),
                "outputs": outputs, "restitution": restitution}
        run = {"t": None if t is None else list(t), "h": h, **run}
        tables = {"name": name or "model", "source": source, "parameters": parameters, "variables": dict(variables),
                  "binaries": binaries, "inputs": inputs, "model": {k: v for k, v in body.items() if v},
                  "run": {k: v for k, v in run.items() if v is not None}}
        self._begin(_text_of({k: v for k, v in tables.items() if v or k == "variables"}), name or "model")

    def _begin(self, text, name, overrides=(), source=None):
        self._source = source or _perp.Source(text, name)
        self._overrides = tuple(overrides)
        try:
            self._read, self.has_span = self.read(), True
        except ModelError as error:
            if "'t' is missing in [run]" not in str(error):
                raise
            # Whoever solves it says from when to when; here it is read to be looked at.
            self._read, self.has_span = self.read(RUN, [("run.t", "[0, 1]", "t")]), False
        return self

    @classmethod
    def from_toml(cls, text, name="model"):
        """A model from the text of a model file."""
        return cls.__new__(cls)._begin(text, name)

    def read(self, options=RUN, more=()):
        """What the reader of model files makes of it; `more` overrides stand for those of the model."""
        return self._source.read(options, self.overrides(options, more))

    def overrides(self, options=RUN, more=(), keys=()):
        """The overrides that a question takes: without those of [run] on which it does not depend, if `keys` tells."""
        given = {item[0] for item in more}
        mine = [o for o in self._overrides if o[0] not in given and (not keys or not o[0].startswith("run.") or o[0][4:] in keys)]
        return mine + list(more)

    # What it consists of ------------------------------------------------------------------------------------

    @property
    def name(self):
        return self._read.name

    @property
    def source(self):
        return self._read.source

    @property
    def file(self):
        return self._read.file

    @property
    def parameters(self):
        """Names and values."""
        return MappingProxyType(dict(self._read.parameters))

    @property
    def variables(self):
        """Names and starts, units, nominal values."""
        return MappingProxyType({v[0]: Variable(*v) for v in self._read.variables})

    @property
    def differential(self):
        """Names of the variables whose derivative the model holds."""
        names = list(self.variables)
        return [names[j] for j in self._read.differential]

    @property
    def laws(self):
        return [Law(law["name"], [Branch(**b) for b in law["branches"]], law["memory"], law["constraint"])
                for law in self._read.laws]

    @property
    def modes(self):
        """The names of the branches of each law."""
        return MappingProxyType({law.name: [branch.name for branch in law.branches] for law in self.laws})

    @property
    def outputs(self):
        """Names of further columns."""
        return list(self._read.columns["outputs"])

    @property
    def run(self):
        """How it is run: t, h, scheme, ..."""
        return MappingProxyType(self._read.run)

    def exact(self, t):
        """The exact solution that the model tells, or None."""
        import numpy as np

        x = self._read.exact(float(t))
        return np.array(x) if x else None

    def lowered(self):
        """The equations as the solver has them, and the laws that their operators became, as text."""
        return self._read.lowered()

    # Others made of it --------------------------------------------------------------------------------------

    def replace(self, values=None, /, **more):
        """The model with other parameters, starts of variables, options of its run, as --set."""
        items = list((values or {}).items()) + list(more.items())
        new = [setting(self._key(key), value, key) for key, value in items]
        given = {item[0] for item in new}
        kept = [item for item in self._overrides if item[0] not in given]
        return type(self).__new__(type(self))._begin("", "", kept + new, self._source)

    def _key(self, name):
        if name in self.parameters:
            return "parameters." + name
        if name.removesuffix("(0)") in self.variables:
            return "variables." + name.removesuffix("(0)")
        return "run." + name if name in RUN_KEYS else name

    def check(self, **options):
        """Is it well-posed? Index and C_i B of every mode, number of solutions of a step, consistency of the start."""
        from .analyses import check

        return check(self, **options)

    def to_toml(self):
        """Its text. `perp.loads(m.to_toml()) == m`."""
        if not self._overrides:
            return self._source.text
        tables = _parsed(self._source.text)
        for key, value, _ in self._overrides:
            _put(tables, key, value)
        if any(key != "run.h" for key, _, _ in self._overrides):
            tables.pop("exact", None)  # it holds for the values of the file
        return toml_text.document(tables)

    def save(self, file):
        """Writes its text."""
        with open(file, "w", encoding="utf-8") as stream:
            stream.write(self.to_toml())

    def __eq__(self, other):
        if not isinstance(other, Model):
            return NotImplemented
        return _parsed(self.to_toml()) == _parsed(other.to_toml())

    __hash__ = None

    def __reduce__(self):
        return _restored, (self._source.text, self._source.name, self._overrides)

    def __repr__(self):
        laws = ", ".join(law.name for law in self.laws) or "none"
        values = ", ".join(f"{k} = {v:.6g}" for k, v in self.parameters.items()) or "none"
        starts = ", ".join(f"{v.name} = {v.start:.6g}" for v in self.variables.values())
        return f"perp.Model {self.name!r}\n  parameters  {values}\n  variables   {starts}\n  laws        {laws}"

    def solve(self, *arguments, **options):
        """`perp.solve` of it."""
        from .running import solve

        return solve(self, *arguments, **options)


def _parsed(text):
    import tomllib  # with its first use: `import perp` is quick

    return tomllib.loads(text)


def _restored(text, name, overrides):
    return Model.__new__(Model)._begin(text, name, overrides)


def _value_of(text):
    """The value of a setting as a file has it: a number, a list, else text."""
    try:
        return _parsed(f"value = {text}")["value"]
    except ValueError:
        return text


def _put(tables, key, text):
    """Writes a setting into the tables of a file."""
    table, _, name = key.partition(".")
    member = tables.setdefault(table, {})
    family, bracket, index = name.partition("[")
    value = _value_of(text)
    if bracket and name not in member:  # an element of a family: its start tells it from the others
        old = member[family].get("start", 0)
        tests = [f"{letter} = {k.strip()}" for letter, k in zip("ij", index.rstrip("]").split(","))]
        member[family]["start"] = f"if({' and '.join(tests)}, {value}, {old})"
    elif isinstance(member.get(name), Mapping):
        member[name]["start"] = value
    else:
        member[name] = value


def _text_of(tables):
    try:
        return toml_text.document(tables)
    except TypeError as error:
        raise InvalidInput(f"model: {error}") from None


def var(start=0.0, *, unit=None, nominal=None, bounds=None, at_bounds=None, size=None):
    """A variable of `perp.Model` with more than its start."""
    keys = {"start": start, "unit": unit, "nominal": nominal, "bounds": bounds, "at_bounds": at_bounds, "size": size}
    return {key: value for key, value in keys.items() if value is not None}


def law(name, branches, *, memory=False):
    """A law of one's own for `perp.lcs`: branches (a, b, c, (w0, w1), (lam0, lam1), name) with a w + b lam = c.

    The ranges and the name may be missing, or None.
    """
    rows = []
    for number, branch in enumerate(branches):
        if not 3 <= len(branch) <= 6:
            raise InvalidInput(f"law {name!r}: branch {number + 1} has {len(branch)} entries; expected a, b, c and, where "
                               "they are not everything, the range of w, that of lam, a name")
        a, b, c, w, lam, words = (*branch, *[None] * (6 - len(branch)))
        for value in (a, b, c):
            if not isinstance(value, str):
                number_of(value, f"law {name!r}, branch {number + 1}")
        row = {"a": a, "b": b, "c": c, "w": w, "lambda": lam, "name": words}
        rows.append({key: value for key, value in row.items() if value is not None})
    return {"name": name, "branches": rows, "memory": memory}


def _dense(matrix, name, shape=None):
    """Rows of an array, a sparse matrix or nested lists, of numbers and expressions."""
    if matrix is None:
        return None
    if hasattr(matrix, "toarray"):
        matrix = matrix.toarray()
    rows = matrix.tolist() if hasattr(matrix, "tolist") else [list(row) if hasattr(row, "__len__") and not isinstance(row, str)
                                                              else row for row in matrix]
    rows = [row if isinstance(row, list) else [row] for row in rows]
    widths = {len(row) for row in rows}
    found = (len(rows), widths.pop() if len(widths) == 1 else -1)
    if shape is not None and found != shape and not (0 in shape and found[0] == 0):
        words = "rows of different lengths" if found[1] < 0 else f"{found[0]}x{found[1]}"
        raise InvalidInput(f"{name} must be {shape[0]}x{shape[1]} but is {words}")
    return rows


def _column(values, name, size):
    if values is None:
        return None
    values = values.tolist() if hasattr(values, "tolist") else list(values)
    values = [v[0] if isinstance(v, list) and len(v) == 1 else v for v in values]
    if len(values) != size:
        raise InvalidInput(f"{name} must have {size} entries but has {len(values)}")
    return values


def lcs(A, B=None, C=None, D=None, E=None, b=None, q=None, laws=(), x0=None, t=None, h=None, *, names=None,
        parameters=None, name="lcs", **run):
    """A linear complementarity system E x' = A x + B lam + b(t), w = C x + D lam + q(t).

    Matrices are arrays, scipy.sparse, or lists; entries of lists may be expressions of `parameters`, those of b and q
    of t as well. `laws`: one for each lam, "sign", "relay(-2, 2)", or `perp.law(...)`.
    """
    for key in run:
        if key not in RUN_KEYS:
            raise InvalidInput(f"{key} is no option of a run{_perp.suggestion(key, list(RUN_KEYS))}")
    _check_lists(laws=laws, names=() if names is None else names)
    A = _dense(A, "A")
    if not A:
        raise InvalidInput("A is empty; expected a row for each variable")
    n, laws = len(A), list(laws)
    m = len(laws)
    A = _dense(A, "A", (n, n))
    B, C, D, E = (_dense(M, word, shape) for M, word, shape in ((B, "B", (n, m)), (C, "C", (m, n)), (D, "D", (m, m)),
                                                              (E, "E", (n, n))))
    if m and (B is None or C is None):
        raise InvalidInput("B and C are missing; expected them where there are laws")
    names = list(names) if names is not None else [f"x{j + 1}" for j in range(n)]
    if len(names) != n:
        raise InvalidInput(f"names has {len(names)} entries; expected {n}, as A has rows")
    starts = _column(x0, "x0", n) if x0 is not None else [0.0] * n
    system = {"E": E, "A": A, "B": B if m else [[] for _ in range(n)], "b": _column(b, "b", n), "C": C if m else [], "D": D,
              "q": _column(q, "q", m), "laws": laws or None}
    run = {"t": None if t is None else list(t), "h": h, **run}
    tables = {"name": name, "parameters": parameters, "variables": dict(zip(names, starts)),
              "system": {k: v for k, v in system.items() if v is not None},
              "run": {k: v for k, v in run.items() if v is not None}}
    return Model.from_toml(_text_of({k: v for k, v in tables.items() if v}), name)


def load(model):
    """A model of the zoo by its name, or a model file by its path."""
    if not isinstance(model, (str, os.PathLike)):
        raise InvalidInput(f"the model is {type(model).__name__}; expected a name of the zoo or a file")
    path = _perp.find_model(os.fspath(model))
    return Model.from_toml(_perp.read_text(path), path)


def loads(text, name="model"):
    """A model from the text of a model file; `name` stands for the file in messages."""
    return Model.from_toml(text, name)


def number_of(value, what):
    """One finite number."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise InvalidInput(f"{what}: found {value!r}; expected a number") from None
    if not abs(number) < float("inf"):
        raise InvalidInput(f"{what} is {number}; expected a finite number")
    return number


def numbers_of(values, what):
    """Finite numbers."""
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        raise InvalidInput(f"{what}: found {values!r}; expected numbers")
    return [number_of(value, what) for value in values]


def model_of(model):
    """A model, or what `load` takes."""
    if isinstance(model, Model):
        return model
    if isinstance(model, (str, os.PathLike)):
        return load(model)
    raise InvalidInput(f"the model is {type(model).__name__}; expected a perp.Model, a name of the zoo or a file")
