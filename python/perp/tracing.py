"""Models from Python functions, which are called once with recorded numbers."""

from .arrays import recorded_array
from .calls import by_name
from .errors import InvalidInput, TraceError, refusals
from .matrices import _column
from .model import Model
from .numbers import ADVICE, Number, count_cases, formula
from .recorded import Recorded
from .running import check_call
from .values import check_lists, number_of


def trace(f, x0, *, laws=(), args=(), names=None, parameters=None, outputs=None, t=None, h=None, name=None, unmodified=False,
          **run):
    """The model x' = f(t, x, *args, **parameters), or with `laws` x', w = f(t, x, lam, *args, **parameters).

    x0: the starts; laws: of each lam, "sign", "relay(-2, 2)", or with a name of the multiplier "F in sign". Parameters
    stay parameters of the model. outputs: {name: g}, g called like f. unmodified: see `perp.unmodified`.

    >>> import perp
    >>> m = perp.trace(lambda t, x, lam, mu: ([x[1], -x[0] - mu*lam[0]], [x[1]]), [1.0, 0.0], laws=["sign"],
    ...                parameters={"mu": 0.3}, t=(0, 10))
    >>> [law.name for law in m.laws]
    ['lambda1']
    """
    if not callable(f):
        raise InvalidInput(f"f is {type(f).__name__}; expected a function of t and x")
    parameters = _checked(args, names, parameters, outputs)
    check_call(f, "f", "a function of " + ("t, x, lam" if laws else "t, x") + ", args and parameters",
               *[None] * (3 if laws else 2), *args, **parameters)
    if unmodified:
        from .rewriting import unmodified as rewritten

        f = rewritten(f)
    x0 = _starts(x0)
    size = len(x0)
    names = list(names) if names is not None else [f"x{j + 1}" for j in range(size)]
    if len(names) != size:
        raise InvalidInput(f"names has {len(names)} entries; expected {size}, as x0 has")
    multipliers, words = _multipliers(laws)
    for word in [*parameters, *multipliers]:
        if word in names:
            raise InvalidInput(f"'{word}' is the name of a variable; expected another one")
    symbols = {word: Number(word) for word in parameters}

    def call(function):
        """A call with arrays of its own, which the function may change."""
        arrays = [recorded_array([Number(word) for word in words]) for words in ([names, multipliers] if laws else [names])]
        return _recording(function, Number("t"), *arrays, *args, **symbols)

    rates, arguments = _parts(call(f), size, len(multipliers))
    equations = [f"der({word}) = {rate.text}" for word, rate in zip(names, rates)]
    lines = [_law(multiplier, law, w) for multiplier, law, w in zip(multipliers, words, arguments)]
    columns = {word: formula(_single(call(g), word), f"output {word}").text for word, g in (outputs or {}).items()}
    return Model(dict(zip(names, x0)), equations, parameters or None, lines, outputs=columns or None, t=t, h=h,
                 name=name or getattr(f, "__name__", "traced").strip("<>"), **run)


def _checked(args, names, parameters, outputs):
    """The parameters; the others are looked at."""
    check_lists(args=args, names=() if names is None else names)
    for word in names or ():
        if not isinstance(word, str):
            raise InvalidInput(f"names: found {word!r}; expected text")
    for word, g in by_name(outputs, "outputs", "{'E': lambda t, x: x[1]**2/2}").items():
        if not callable(g):
            raise InvalidInput(f"output {word} is {type(g).__name__}; expected a function like f")
    return by_name(parameters, "parameters", "{'mu': 0.3}")


def _recording(function, *arguments, **keywords):
    """The value of a function of recorded numbers; what was refused on the way is not hidden by what followed."""
    count_cases()
    with refusals() as refused:
        try:
            value = function(*arguments, **keywords)
        except TraceError:
            raise
        except Exception as error:
            is_mixed = isinstance(error, TypeError) and "ufunc" in str(error)
            if not refused and not is_mixed:
                raise
            value = None
            refused.append(TraceError(f"{error}: an array of recorded numbers and others; expected it to be made of the state, as by "
                                      f"numpy.zeros_like(x) or numpy.concatenate{ADVICE}"))
    if refused:
        raise refused[0]
    return value


def _starts(x0):
    if isinstance(x0, str) or not hasattr(x0, "__len__") or getattr(x0, "shape", None) == ():
        raise InvalidInput(f"x0: found {x0!r}; expected a list of starts")
    starts = _column(x0, "x0", len(x0))
    for j, start in enumerate(starts):
        if not isinstance(start, str):
            number_of(start, f"x0[{j}]")
    return starts


def _multipliers(laws):
    """Names of the multipliers, and the laws."""
    multipliers, words = [], []
    if not isinstance(laws, str):
        check_lists(laws=laws)
    for number, law in enumerate([laws] if isinstance(laws, str) else laws):
        if not isinstance(law, str):
            raise InvalidInput(f"law {number + 1} is {type(law).__name__}; expected text, as 'sign' or 'relay(-2, 2)'")
        own, found, rest = law.partition(" in ")
        multipliers.append(own.strip() if found else f"lambda{number + 1}")
        words.append((rest if found else law).strip())
    return multipliers, words


def _law(multiplier, law, w):
    name, parenthesis, numbers = law.partition("(")
    return f"{multiplier} in {name.strip()}({w.text}{', ' + numbers if parenthesis else ')'}"


def _single(value, name):
    if not isinstance(value, Recorded) and hasattr(value, "__len__"):
        raise TraceError(f"output {name} has {len(value)} numbers; expected one")
    return value


def _numbers(values, size, what):
    values = values if isinstance(values, (list, tuple, Recorded)) or not hasattr(values, "tolist") else values.tolist()
    if isinstance(values, Recorded) or not hasattr(values, "__len__"):
        values = [values]
    values = [v[0] if isinstance(v, (list, tuple)) and len(v) == 1 else v for v in values]
    if len(values) != size:
        raise TraceError(f"f returned {len(values)} numbers for {what}; expected {size}")
    return [formula(value, f"{what}[{k}]") for k, value in enumerate(values)]


def _parts(value, n, m):
    if value is None:
        raise TraceError("f returned None; expected the rates of x" + (", and w" if m else ""))
    if m == 0:
        return _numbers(value, n, "x'"), []
    if not isinstance(value, tuple) or len(value) != 2:
        raise TraceError("f returned one value; expected two, x' and w, since there are laws")
    return _numbers(value[0], n, "x'"), _numbers(value[1], m, "w")
