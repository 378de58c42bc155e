"""What is part of a model's text, alone and in arrays."""

from .errors import TraceError

_LOOSE, _SUM, _PRODUCT, _POWER, _ATOM = range(5)  # how strongly a formula holds together
_MOST_TEXT = 1_000_000  # characters of one formula


class Recorded:
    """What is part of the model's text. `text`: the formula; `cases`: the comparisons by which rewritten branches of a
    function make it differ; `make(*parts)` makes it again of other parts."""

    __slots__ = ("text", "rank", "cases", "make", "parts")

    def __init__(self, text, rank=_ATOM, cases=frozenset(), make=None, parts=()):
        if len(text) > _MOST_TEXT:
            raise TraceError(f"a formula has more than {_MOST_TEXT} characters; expected a shorter one: name what is used "
                             "often as a variable with an algebraic equation")
        self.text, self.rank, self.cases, self.make, self.parts = text, rank, cases, make, parts

    def inside(self, rank):
        """The text as an operand of something that holds so strongly."""
        return self.text if self.rank >= rank else f"({self.text})"

    def __repr__(self):
        return self.text

    def __format__(self, spec):
        raise TraceError(f"'{self.text}' changes during a run and is no text while the function is traced")


def _filled(shape, value):
    import numpy as np

    array = np.empty(shape, dtype=object)
    array.fill(value)
    return array


def elementwise(function):
    """The function of numbers for arrays, which are made of one shape."""

    def of_arrays(*values):
        import numpy as np

        arrays = [value if isinstance(value, Recorded) else np.asarray(value, dtype=object) for value in values]
        shape = np.broadcast_shapes(*[value.shape for value in arrays if not isinstance(value, Recorded)])
        if shape == ():
            return function(*[value if isinstance(value, Recorded) else value.item() for value in arrays])
        full = [_filled(shape, value) if isinstance(value, Recorded) else np.broadcast_to(value, shape) for value in arrays]
        result = np.empty(shape, dtype=object)
        for index in np.ndindex(shape):
            result[index] = function(*[value[index] for value in full])
        return result

    return of_arrays
