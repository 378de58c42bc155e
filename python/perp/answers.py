"""Answers of the analyses: what the program writes as JSON, with names and arrays."""

import html as markup
from collections.abc import Mapping, Sequence

from . import _perp

_INFINITE = {"inf": float("inf"), "-inf": float("-inf"), "nan": float("nan")}


def numbers(values):
    """A list of JSON as an array; null is not known."""
    import numpy as np

    def number(value):
        if isinstance(value, list):
            return [number(v) for v in value]
        return float("nan") if value is None else _INFINITE.get(value, value)

    return np.array([number(v) for v in values], dtype=float)


class Answer(Mapping):
    """The members of the program's JSON, as keys and as attributes."""

    _arrays = ("x", "lambda", "w", "vertices", "rays", "lines", "xdot", "rates", "eigenvalues", "C_i B")

    def __init__(self, members, text=""):
        self._members = members
        self._text = text

    def __getitem__(self, key):
        value = self._members[key]
        return numbers(value) if key in self._arrays and isinstance(value, list) else value

    def __iter__(self):
        return iter(self._members)

    def __len__(self):
        return len(self._members)

    def __getattr__(self, name):
        key = {"lam": "lambda", "class_": "class"}.get(name, name)  # those are words of Python
        if name.startswith("_") or key not in self._members:
            raise AttributeError(f"{type(self).__name__} has no '{name}'{_perp.suggestion(name, list(self._members))}")
        return self[key]

    def __dir__(self):
        return [*super().__dir__(), *self._members]

    def text(self):
        """What the program prints."""
        return self._text

    def to_dict(self):
        """All of it, as the program writes it with --json."""
        return self._members

    def __repr__(self):
        return self._text.rstrip() or f"{type(self).__name__}({', '.join(map(str, self._members))})"

    def _repr_html_(self):
        return f"<pre>{markup.escape(repr(self))}</pre>"


class Answers(Answer, Sequence):
    """An answer that is a list of others: len(), [i], iteration."""

    _list = "solutions"
    _item = Answer

    @property
    def items_(self):
        return [self._item(item) for item in self._members[self._list]]

    def __getitem__(self, key):
        return super().__getitem__(key) if isinstance(key, str) else self.items_[key]

    def __iter__(self):
        return iter(self.items_)

    def __len__(self):
        return len(self._members[self._list])

    def __contains__(self, key):
        return key in self._members

    def __bool__(self):
        return True

    __eq__ = object.__eq__
    __hash__ = object.__hash__
    __reversed__ = Sequence.__reversed__


class Eigen(Answer):
    """A point at rest: kind, modes, x, lam, w, eigenvalues (complex), stability, ..."""

    @property
    def eigenvalues(self):
        pairs = numbers(self._members["eigenvalues"])
        return pairs[:, 0] + 1j * pairs[:, 1] if len(pairs) else pairs.astype(complex)


class Solutions(Answers):
    """The solutions of one step: len(), [i].x, .lam, .mode, .norm; .chosen, .complete, .reason, .kind."""

    class _item(Answer):
        @property
        def mode(self):
            return " or ".join(self._members["modes"])

    @property
    def kind(self):
        """none, unique, several, continuum; where the search ended or Newton's method made it: one found, 2 found, ..."""
        word = self._members["class"]["x_lambda"]
        return "several" if word == "finite" else word

    @property
    def chosen(self):
        """The solution that the selector takes: x, lam, norm; None where it takes none."""
        chosen = self._members["chosen"]
        return None if chosen is None else Answer(chosen)

    @property
    def reason(self):
        """Why the list is known to be complete, or how far the search got."""
        return self._members["certificate"]


class Tree(Answers):
    """The states that several steps lead to: len(), [i].x, .t, .level, .ways; .edges, .complete, .kind."""

    _list = "nodes"

    @property
    def edges(self):
        return [Answer(edge) for edge in self._members["edges"]]

    @property
    def kind(self):
        """none, unique, several: the states at the end; where not all of them are known: 2 found, ..."""
        count = self._members["end_states"]
        if not self._members["complete"]:
            return f"{count or 'none'} found"
        return "several" if count > 1 else "unique" if count else "none"


class Jumps(Answers):
    """The jumps from a state: len(), [i].x, .amplitude, .impulse_x, .mode (afterwards); .status, .proof, .proved."""

    _list = "jumps"

    class _item(Answer):
        @property
        def mode(self):
            """In which it goes on, as in the text; of several all."""
            return "; ".join(continuation["mode"] for continuation in self._members["continuations"])

    @property
    def kind(self):
        """none, unique, several, continuum, or what was found of them."""
        return self._members["class"].split(" (")[0].removeprefix("a ")


class Equilibria(Answers):
    """The points at rest: len(), [i].x, .kind, .stability, .eigenvalues; .tangent_points."""

    _list = "equilibria"
    _item = Eigen


class Modes(Answers):
    """The values of binaries that continue: len(), [i].z, ...; .chosen, .decided_by."""

    _list = "continuations"


class Check(Answer):
    """Is a model well-posed? .modes (index, "C_i B", singular_step), .unique_step, .one_step, .first_step."""

    @property
    def modes(self):
        """Of each mode; none of a model whose binaries no laws of their own stand for: see text()."""
        return [Answer(mode) for mode in self._members.get("modes", [])]

    @property
    def warnings(self):
        """Sentences: modes without an index, steps that have not exactly one solution."""
        found = [f"{mode['mode']}: {mode['fault'] or 'singular: not well-posed'}" for mode in self._members.get("modes", [])
                 if mode["fault"] or not mode["regular"]]
        lines = self._members.get("one_step", "").splitlines()
        return found + [line.partition("warning: ")[2] for line in lines if "warning: " in line]

    def _repr_html_(self):
        head = "".join(f"<th>{name}</th>" for name in ("mode", "DAE in this mode", "|C_i B|", "step matrix"))
        rows = "".join("<tr>" + "".join(f"<td>{markup.escape(cell)}</td>" for cell in _mode_cells(mode)) + "</tr>"
                       for mode in self._members.get("modes", []))
        told = "".join(f"<li>{markup.escape(words)}</li>" for words in self.warnings)
        return (f"<table><tr>{head}</tr>{rows}</table><p>one step: {markup.escape(self._members.get('one_step', ''))}</p>"
                + (f"<ul>{told}</ul>" if told else "") + f"<pre>{markup.escape(self._text)}</pre>")


def _mode_cells(mode):
    """A mode in words, as in the text."""
    solvable = mode["fault"] or (f"regular, index {mode['index']}" if mode["regular"] else "singular")
    sizes = ", ".join(f"{abs(value):.3g}" for value in numbers(mode["C_i B"]).ravel().tolist()) or "-"
    step = "singular" if mode["singular_step"] else f"regular, 1/condition {numbers([mode['reciprocal_condition']])[0]:.1e}"
    return mode["mode"], solvable, sizes, step


class MlcpSolutions(Answers):
    """The solutions of one problem: len(), [i].vertices, .active_sets, .dim; .kind, .status, .certificate."""

    _list = "pieces"

    @property
    def kind(self):
        word = self._members["class"]["u_lambda"]
        return "several" if word == "finite" else word
