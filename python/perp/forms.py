"""Models with binaries as the sparse matrices of their multilinear form."""

from . import _perp
from .calls import by_name, question
from .errors import path_of
from .model import model_of
from .analyses import _question
from .values import number_of


class SparseMatrix:
    """A sparse matrix by its entries: shape, row, column, value; names of its rows and columns where they have some."""

    def __init__(self, entries, row_names=None, column_names=None):
        import numpy as np

        rows, columns, row, column, value = entries
        self.shape = (rows, columns)
        self.row, self.column, self.value = np.array(row, dtype=int), np.array(column, dtype=int), np.array(value, dtype=float)
        self.row_names, self.column_names = row_names, column_names

    def toarray(self):
        """All of it, as a matrix of numpy."""
        import numpy as np

        matrix = np.zeros(self.shape)
        matrix[self.row, self.column] = self.value
        return matrix

    def to_scipy(self):
        """As scipy.sparse has it."""
        from scipy.sparse import coo_matrix

        return coo_matrix((self.value, (self.row, self.column)), shape=self.shape)

    def __array__(self, dtype=None, copy=None):
        return self.toarray() if dtype is None else self.toarray().astype(dtype)

    def __repr__(self):
        return f"SparseMatrix({self.shape[0]} x {self.shape[1]}, {len(self.value)} entries)"


class MultilinearPoint:
    """f and g at some values of the signals, by the names of their rows, and .jacobian over the signals."""

    def __init__(self, answer, rows, signals):
        import numpy as np

        values, jacobian, self._text = answer
        self.values = np.array(values)
        self.rows = rows
        self.jacobian = SparseMatrix(jacobian, rows, signals)

    def __getitem__(self, row):
        return self.values[self.rows.index(row)]

    def text(self):
        """What the program prints with --at."""
        return self._text

    def __repr__(self):
        return self._text.rstrip()


class Linearization:
    """E xi' = A xi + B u - f, g = C xi + D u near some values of the signals; xi are the states, then the algebraic variables."""

    def __init__(self, answer):
        import numpy as np

        self.f, self.g = np.array(answer["f"]), np.array(answer["g"])
        for name in "EABCD":
            setattr(self, name, SparseMatrix(answer[name]))
        self.constraints_hold_rates = answer["constraints_hold_rates"]
        self._text = answer["text"]

    def text(self):
        """What the program prints with --linearize."""
        return self._text

    def __repr__(self):
        return self._text.rstrip()


class Multilinear:
    """f_j = sum_k Phi_jk prod_i (1 - |S_ik| + S_ik v_i) over the signals v = (der(x), x, u, y, z): .S, .phi_f, .phi_g, .signals."""

    def __init__(self, form):
        self._form = form
        self.signals, self.rows = form.signals, form.rows
        self.S = SparseMatrix(form.S, self.signals)
        self.phi_f = SparseMatrix(form.phi_f, self.rows[:form.phi_f[0]])
        self.phi_g = SparseMatrix(form.phi_g, self.rows[form.phi_f[0]:])

    def at(self, values=None):
        """Values and derivatives at these signals, {"T": 20}; others are 0."""
        return MultilinearPoint(self._form.at(_given(values, "at")), self.rows, self.signals)

    def linearize(self, values=None):
        """E, A, B, C, D near these signals; others are 0."""
        return Linearization(self._form.linearized(_given(values, "linearize")))

    def save(self, folder, linearize=None):
        """Writes S.mtx, Phi_f.mtx, Phi_g.mtx and model.toml to a folder, which is a model like any other; with values of
        signals in `linearize` E.mtx, A.mtx, B.mtx, C.mtx and D.mtx too."""
        given = None if linearize is None else _given(linearize, "linearize")
        self._form.write(path_of(folder))
        if given is not None:
            self._form.write_linearization(path_of(folder), given)

    def text(self):
        """What the program prints."""
        return self._form.text

    def __repr__(self):
        return self._form.text.rstrip()


def _given(values, what):
    return [(name, number_of(value, name)) for name, value in by_name(values, what, "{'x1': 20}").items()]


@question
def multilinear(model, **parameters):
    """A model with equations, binaries and constraints as the sparse matrices S and Phi, as `perp multilinear`.

    >>> import perp
    >>> form = perp.multilinear("rooms", N=2)
    >>> form.signals
    ['der(x[1])', 'der(x[2])', 'x[1]', 'x[2]', 'z[1]', 'z[2]']
    """
    model, _, overrides = _question(model_of(model), None, ("t",), {}, parameters, hybrid=True)
    return Multilinear(_perp.multilinear(model._source, overrides))


__all__ = ["Linearization", "Multilinear", "MultilinearPoint", "SparseMatrix", "multilinear"]
