"""Models: from the zoo, files, text, Python values, matrices."""

import os
from collections import namedtuple
from collections.abc import Mapping
from types import MappingProxyType

from . import _perp, data_files, toml_text
from .errors import FileError, InvalidInput, ModelError, path_of
from .names import Named, arguments_of, keywords_of
from .values import check_lists, check_names, check_texts, number_of, span_of

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
    _check_known(value, words or key)
    text = setting_text(value, words or key)
    return (key, text, f"{words or key}={text}")


def _check_known(value, what):
    """NaN is no number of a model: its language has no word for it."""
    if isinstance(value, (list, tuple)):
        for member in value:
            _check_known(member, what)
    elif not isinstance(value, str) and hasattr(value, "__float__") and value != value:
        raise InvalidInput(f"{what}: found nan; expected a number")


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
                known = [*arguments_of(Model.__init__)[1:], *RUN_KEYS]
                raise InvalidInput(f"{key} is no part of a model and no option of a run{_perp.suggestion(key, known)}")
        check_texts(name=name, source=source)
        for key, value in (("variables", variables), ("parameters", parameters or {}), ("outputs", outputs or {})):
            if not isinstance(value, Mapping):
                raise InvalidInput(f"{key}: found {type(value).__name__}; expected a dict, as in {{'x': 1.0}}")
        check_names(variables=variables, parameters=parameters, outputs=outputs, binaries=binaries, inputs=inputs, restitution=restitution)
        check_lists(equations=equations, laws=laws, when=when, constraints=constraints)
        body = {"equations": list(equations), "laws": list(laws), "when": list(when), "constraints": list(constraints),
                "outputs": outputs, "restitution": restitution}
        run = {"t": span_of(t), "h": h, **run}
        tables = {"name": name or "model", "source": source, "parameters": parameters, "variables": dict(variables),
                  "binaries": binaries, "inputs": inputs, "model": {k: v for k, v in body.items() if v},
                  "run": {k: v for k, v in run.items() if v is not None}}
        self._begin(_text_of({k: v for k, v in tables.items() if v or k == "variables"}), name or "model")

    def _begin(self, text, name, overrides=(), source=None, folder=None):
        self._named = source or _perp.Source(text, name)
        self._folder = data_files.folder_of(self._named.name) if folder is None else folder  # in which it looks for files
        self._overrides = tuple(overrides)
        try:
            self._read, self.has_span = self.read(), True
        except ModelError as error:
            if "'t' is missing in [run]" not in str(error):
                raise
            # Whoever solves it says from when to when; here it is read to be looked at.
            self._read, self.has_span = self.read(RUN, [("run.t", "[0, 1]", "t")]), False
        return self

    @property
    def _source(self):
        """Its text, under a name from which its files are found whatever the working folder is now."""
        name = self._named.name
        if data_files.folder_of(name) != self._folder and data_files.may_name(self._named.text):
            self._named = _perp.Source(self._named.text, os.path.join(self._folder, os.path.basename(name)))
        return self._named

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
        return MappingProxyType(Named("parameter", self._read.parameters))

    @property
    def variables(self):
        """Names and starts, units, nominal values."""
        return MappingProxyType(Named("variable", {v[0]: Variable(*v) for v in self._read.variables}))

    @property
    def inputs(self):
        """Names and what the text has for them: a formula of t, or a table {file, column, between}."""
        return MappingProxyType(Named("input", self._tables().get("inputs", {})))

    @property
    def binaries(self):
        """Names and what the text has for them: a start, or a table {size, start}."""
        return MappingProxyType(Named("binary", self._tables().get("binaries", {})))

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
        return MappingProxyType(Named("law", {law.name: [branch.name for branch in law.branches] for law in self.laws}))

    @property
    def outputs(self):
        """Names of further columns."""
        return list(self._read.columns["outputs"])

    @property
    def run(self):
        """How it is run: t, h, scheme, ..."""
        return MappingProxyType(Named("option of the run", self._read.run))

    def exact(self, t):
        """The exact solution that the model tells, or None."""
        import numpy as np

        x = self._read.exact(number_of(t, "t"))
        return np.array(x) if x else None

    def lowered(self):
        """The equations as the solver has them, and the laws that their operators became, as text."""
        return self._read.lowered()

    # Others made of it --------------------------------------------------------------------------------------

    def replace(self, values=None, /, **more):
        """The model with other parameters, starts of variables, options of its run, as --set."""
        if values is not None and not isinstance(values, Mapping):
            raise InvalidInput(f"values: found {type(values).__name__}; expected values by name, as in {{'x': 1.0}}")
        items = list((values or {}).items()) + list(more.items())
        for key, value in items:
            if not isinstance(key, str):
                raise InvalidInput(f"values: found the name {key!r}; expected text")
            if key in RUN_KEYS and self._table(key):
                raise ambiguity(key, value, f"{self._table(key)}.{key}", f"run.{key}")
        new = [setting(self._key(key), value, key) for key, value in items]
        given = {item[0] for item in new}
        kept = [item for item in self._overrides if item[0] not in given]
        return type(self).__new__(type(self))._begin("", "", kept + new, self._source, self._folder)

    def _table(self, name):
        """The table in which a name of the model stands; empty: it is none."""
        return "parameters" if name in self.parameters else "variables" if name.removesuffix("(0)") in self.variables else ""

    def _key(self, name):
        table = self._table(name)
        if table:
            return f"{table}.{name.removesuffix('(0)')}"
        if name in RUN_KEYS:
            return "run." + name
        tables = self._tables()
        table = next((table for table, mark in (("inputs", "."), ("binaries", "[")) if name.partition(mark)[0] in tables.get(table, {})), "")
        return f"{table}.{name}" if table else name

    def check(self, *arguments, **options):
        """`perp.check` of it."""
        from .analyses import check

        return check(self, *arguments, **options)

    def _tables(self):
        """Its text with what replaces values in it, parsed."""
        tables = _parsed(self._source.text)
        for key, value, _ in self._overrides:
            _put(tables, key, value)
        if any(key != "run.h" for key, _, _ in self._overrides):
            tables.pop("exact", None)  # it holds for the values of the file
        return tables

    def _text(self, folder=None):
        """Its text, with the files that it names from this folder, or from the root."""
        if not self._overrides and not data_files.may_name(self._source.text):
            return self._source.text
        tables = self._tables()
        moved = data_files.move(tables, self._folder, folder)
        return toml_text.document(tables) if moved or self._overrides else self._source.text

    def to_toml(self):
        """Its text, whatever folder it is read in: names of data files are absolute. `perp.loads(m.to_toml()) == m`."""
        return self._text()

    def save(self, file):
        """Writes its text; names of data files begin at the folder of the new file."""
        text = self._text(data_files.folder_of(path_of(file)))
        try:
            with open(file, "w", encoding="utf-8") as stream:
                stream.write(text)
        except OSError as error:
            raise FileError(f"{os.fspath(file)}: cannot be written: {error}") from None

    def __eq__(self, other):
        if not isinstance(other, Model):
            return NotImplemented
        return _parsed(self.to_toml()) == _parsed(other.to_toml())

    __hash__ = None

    def __reduce__(self):
        return _restored, (self._source.text, self._source.name, self._overrides, self._folder)

    def __repr__(self):
        laws = ", ".join(law.name for law in self.laws) or "none"
        values = ", ".join(f"{k} = {v:.6g}" for k, v in self.parameters.items()) or "none"
        starts = ", ".join(f"{v.name} = {v.start:.6g}" for v in self.variables.values())
        return f"perp.Model {self.name!r}\n  parameters  {values}\n  variables   {starts}\n  laws        {laws}"

    def solve(self, *arguments, **options):
        """`perp.solve` of it."""
        from .running import solve

        return solve(self, *arguments, **options)


def ambiguity(key, value, first, second):
    """The exception for a name that has two meanings."""
    return InvalidInput(f"{key}={value!r}: '{key}' is ambiguous; expected {first} or {second}, as in **{{'{first}': {value!r}}}")


def _parsed(text):
    import tomllib  # with its first use: `import perp` is quick

    return tomllib.loads(text)


def _restored(text, name, overrides, folder):
    return Model.__new__(Model)._begin(text, name, overrides, folder=folder)


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
    if table == "inputs":  # the whole of it, or one key of its table
        name, _, inner = name.partition(".")
        if inner:
            member, name = member[name], inner
        member[name] = value
    elif bracket and name not in member:  # an element of a family: its start tells it from the others
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


@keywords_of
def var(start=0.0, *, unit=None, nominal=None, bounds=None, at_bounds=None, size=None):
    """A variable of `perp.Model` with more than its start."""
    keys = {"start": start, "unit": unit, "nominal": nominal, "bounds": bounds, "at_bounds": at_bounds, "size": size}
    return {key: value for key, value in keys.items() if value is not None}


def load(model):
    """A model of the zoo by its name, or a model file by its path."""
    if not isinstance(model, (str, os.PathLike)):
        raise InvalidInput(f"the model is {type(model).__name__}; expected a name of the zoo or a file")
    path = _perp.find_model(os.fspath(model))
    return Model.from_toml(_perp.read_text(path), path)


def loads(text, name="model"):
    """A model from the text of a model file; `name` stands for the file in messages."""
    check_texts(text=text, name=name)
    if text is None or name is None:
        raise InvalidInput("the text of a model, or its name, is None; expected text")
    return Model.from_toml(text, name)


def model_of(model):
    """A model, or what `load` takes."""
    if isinstance(model, Model):
        return model
    if isinstance(model, (str, os.PathLike)):
        return load(model)
    raise InvalidInput(f"the model is {type(model).__name__}; expected a perp.Model, a name of the zoo or a file")
