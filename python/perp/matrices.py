"""Systems of matrices, as models."""

from . import _perp
from .errors import InvalidInput
from .model import RUN_KEYS, Model, _text_of
from .names import arguments_of, keywords_of
from .values import check_lists, check_texts, number_of, span_of


@keywords_of
def law(name, branches, *, memory=False):
    """A law of one's own for `perp.lcs`: branches (a, b, c, (w0, w1), (lam0, lam1), name) with a w + b lam = c.

    The ranges and the name may be missing, or None.
    """
    if not isinstance(name, str):
        raise InvalidInput(f"name: found {name!r}; expected text")
    check_lists(branches=branches)
    rows = []
    for number, branch in enumerate(branches):
        check_lists(**{f"law {name!r}, branch {number + 1}": branch})
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
    check_lists(**{name: matrix})
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
    values = values.toarray() if hasattr(values, "toarray") else values  # also a row
    if getattr(values, "ndim", 1) != 1:
        values = values.ravel()
    check_lists(**{name: values})
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
            raise InvalidInput(f"{key} is no keyword of perp.lcs and no option of a run{_perp.suggestion(key, [*arguments_of(lcs), *RUN_KEYS])}")
    check_lists(laws=laws, names=() if names is None else names)
    check_texts(name=name)
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
    run = {"t": span_of(t), "h": h, **run}
    tables = {"name": name, "parameters": parameters, "variables": dict(zip(names, starts)),
              "system": {k: v for k, v in system.items() if v is not None},
              "run": {k: v for k, v in run.items() if v is not None}}
    return Model.from_toml(_text_of({k: v for k, v in tables.items() if v}), name)
