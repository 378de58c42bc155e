"""The solution between the rows of a run."""

from functools import cached_property

from . import _perp
from .errors import InvalidInput


class Dense:
    """x(t). Between the rows of a capturing scheme, and the states before and after its events, it is linear, as the
    scheme's own error allows; where rows are not all steps, and for scheme located, whose steps are long, the run is made
    again to hit these times."""

    def __init__(self, result):
        self._result = result

    def __call__(self, t, side="-"):
        import numpy as np

        if side not in ("-", "+"):
            raise InvalidInput(f"side is {side!r}; expected '-' or '+', before or after an event at this time")
        result = self._result
        try:
            wanted = np.asarray(t, dtype=float)
        except (TypeError, ValueError):
            raise InvalidInput(f"t: found {t!r}; expected a time, or an array of times") from None
        flat = np.atleast_1d(wanted).ravel()
        last = result._run.end[0]
        if len(flat) and not (np.all(flat >= result.t[0]) and np.all(flat <= last)):
            raise InvalidInput(f"t: the run has states from {result.t[0]:.10g} to {last:.10g}")
        run = result._run
        if not run.is_every_step or run.model.run["scheme"] == "located":
            times = sorted(set(flat.tolist()))
            run = _perp.run(run.model, _perp.RunArguments(times, 0, None, None))
            x = self._at_rows(run.t, run.x, flat, side)
        else:
            x = self._between(flat, side)
        sides = self._sides(side)
        for k, time in enumerate(flat.tolist()):
            if time in sides and time > result.t[0]:
                x[k] = sides[time]
        return x[0] if wanted.ndim == 0 else x.T

    def _sides(self, side):
        """The states at events, by their times: before the first of a moment, or after the last."""
        events = [e for e in self._result.events if len(e.x_before) and len(e.x_after)]
        return {e.t: e.x_before for e in reversed(events)} if side == "-" else {e.t: e.x_after for e in events}

    @staticmethod
    def _row(times, t, side):
        """The row of a time that is one: of several the first, or the last."""
        k = times.searchsorted(t, "left" if side == "-" else "right")
        return k if side == "-" else k - 1

    def _at_rows(self, times, x, wanted, side):
        return x[self._row(times, wanted, side)]

    @cached_property
    def _knots(self):
        """The rows and, between them, the states before and after events, at the moments of these."""
        import numpy as np

        result = self._result
        rows = set(result.t.tolist())
        events = [e for e in result.events if len(e.x_before) and len(e.x_after) and e.t not in rows and result.t[0] < e.t < result.t[-1]]
        times = np.concatenate([result.t, np.repeat([e.t for e in events], 2)])
        x = np.concatenate([result.x, *[state[None] for e in events for state in (e.x_before, e.x_after)]])
        order = np.argsort(times, kind="stable")
        return times[order], x[order]

    def _between(self, wanted, side):
        import numpy as np

        times, x = self._knots
        if len(times) == 1:
            return np.repeat(x, len(wanted), axis=0)
        after = np.clip(times.searchsorted(wanted, "left" if side == "-" else "right"), 1, len(times) - 1)
        before = after - 1
        length = times[after] - times[before]
        share = np.where(length > 0, (wanted - times[before]) / np.where(length > 0, length, 1), 1.0)[:, None]
        return np.where(share == 0, x[before], np.where(share == 1, x[after], (1 - share) * x[before] + share * x[after]))
