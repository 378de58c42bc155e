"""Columns of a run as pictures show them: with the states of events between rows, and interrupted where they jump."""

import re
from collections import defaultdict, namedtuple

Jump = namedtuple("Jump", "column t before after")
Curves = namedtuple("Curves", "t values mode jumps")
Curves.__doc__ = "Times (N), values (N, a column for each name), NaN where a curve is interrupted, text of the mode at each; jumps."

_DISCONTINUITY = 5  # a step this much longer than its neighbours
_ROUNDING = 1e-9
_JUMPS = ("jump", "inconsistent_start")


def differential_names(rows):
    """The variables that are continuous where nothing jumps; of a file all."""
    model = getattr(rows, "model", None)
    return list(rows.names) if model is None else model.differential


def resets_of(rows, event):
    """The names of the resets that an event is of."""
    is_reset = event.kind == "jump" and not event.law and event.note and rows.counts.get("resets", 0) > 0
    return event.note.split(", ") if is_reset and not event.note.startswith("no continuous solution ") else []


def data_of(event):
    """The name of the input whose data jump there."""
    words = re.fullmatch(r"([^: ]+): \S+ -> \S+", event.note) if event.kind == "mode_change" and not event.law else None
    return [words[1]] if words else []


def curves(rows, names):
    return _Builder(rows, names)()


class _Builder:
    """Goes through the intervals between rows in which something happens, and inserts it."""

    def __init__(self, rows, names):
        import numpy as np

        self.rows, self.t = rows, rows.t
        self.values = np.stack([np.asarray(rows.column(name), dtype=float) for name in names], axis=1)
        known = differential_names(rows)
        self.smooth = np.array([name in known or name == "t" for name in names])
        self.places = [list(rows.names).index(name) if name in rows.names else -1 for name in names]
        self.times = [j for j, name in enumerate(names) if name == "t"]
        number = {}
        self.mode = np.array([number.setdefault(text, len(number)) for text in rows.mode_text], dtype=int)
        self.texts = np.array([*number, ""], dtype=object)
        self.starts = np.array([span.start for span in rows.modes])
        self.is_moment = self.t[1:] == self.t[:-1]
        self.states = defaultdict(list)  # of events that are no jumps, by their times
        self.inserted, self.jumps, self.hidden = [], [], []

    def __call__(self):
        import numpy as np

        if len(self.t) < 2:
            return Curves(self.t, self.values, self.texts[self.mode], [])
        jumps = self._sort_events()
        changed = self.mode[1:] != self.mode[:-1]
        for k in sorted({*np.flatnonzero(self.is_moment).tolist(), *np.flatnonzero(changed).tolist(), *jumps}):
            if self.is_moment[k]:
                self._moment(k)
            elif k in jumps:
                self._jump(jumps[k], k)
            else:
                self._change_mode(k)
        return self._put_together()

    def _sort_events(self):
        """Notes the states of events; the jumps by the interval in which they are."""
        moments = set(self.t[1:][self.is_moment].tolist())
        jumps = defaultdict(list)
        for event in self.rows.events:
            if not len(event.x_before) or not len(event.x_after):
                continue
            if event.kind not in _JUMPS:
                self.states[event.t].append(event)
            elif self._is_before_first_row(event):
                self._note_start(event)
            elif event.t not in moments and event.t <= self.t[-1]:
                jumps[max(int(self.t.searchsorted(event.t)) - 1, 0)].append(event)  # one at a row is before it, but for the first
        return jumps

    def _is_before_first_row(self, event):
        """Does the run begin with the state behind a way to the constraints?"""
        import numpy as np

        after = self._of_variables(event.x_after)
        return event.kind == "inconsistent_start" and event.t == self.t[0] and bool(((after == self.values[0]) | np.isnan(after)).all())

    def _note_start(self, event):
        before, after = self._of_variables(event.x_before), self._of_variables(event.x_after)
        for j in self.smooth.nonzero()[0]:
            self._note_jump(int(j), event.t, before[j], after[j])

    def _put_together(self):
        import numpy as np

        values = self.values
        if self.hidden:
            values = values.copy()
            values[tuple(np.array(self.hidden).T)] = np.nan
        if not self.inserted:
            return Curves(self.t, values, self.texts[self.mode], self.jumps)
        places, times, between, modes = zip(*self.inserted)
        return Curves(np.insert(self.t, places, times), np.insert(values, places, np.array(between), axis=0),
                      self.texts[np.insert(self.mode, places, modes)], self.jumps)

    def _insert(self, before_row, t, values, mode):
        values[self.times] = t
        self.inserted.append((before_row, t, values, mode))

    def _of_variables(self, x):
        import numpy as np

        return np.array([x[place] if place >= 0 else np.nan for place in self.places])

    def _note_jump(self, j, t, before, after):
        """Notes a jump of a column. False: there is none but for rounding."""
        if not abs(after - before) > _ROUNDING * (abs(after) + abs(before)):
            return False
        self.jumps.append(Jump(j, float(t), float(before), float(after)))
        return True

    def _moment(self, k):
        """Rows k and k + 1 are the two sides of one moment: whatever differs jumps."""
        import numpy as np

        gap = self.values[k].copy()
        jumped = [self._note_jump(j, self.t[k], gap[j], self.values[k + 1, j]) for j in range(len(gap))]
        if any(jumped):
            gap[jumped] = np.nan
            self._insert(k + 1, self.t[k], gap, self.mode[k])

    def _jump(self, events, k):
        """Jumps between rows k and k + 1. After a reset the others are those of row k + 1, which else holds an impulse."""
        import numpy as np

        for event in events:
            is_reset = bool(resets_of(self.rows, event))
            left = np.where(self.smooth, self._of_variables(event.x_before), self.values[k])
            right = np.where(self.smooth, self._of_variables(event.x_after), self.values[k + 1] if is_reset else np.nan)
            for j in range(len(left)):
                self._note_jump(j, event.t, left[j], right[j])
            self._insert(k + 1, event.t, left, self.mode[k])
            self._insert(k + 1, event.t, np.full(len(left), np.nan), self.mode[k])
            self._insert(k + 1, event.t, right, self.mode[k + 1])
        if not is_reset:
            self.hidden += [(k + 1, j) for j in np.flatnonzero(~self.smooth)]

    def _change_mode(self, k):
        """Another mode from row k + 1 on: states as its events have them; what belongs to modes is interrupted where it jumps."""
        t = self._time_of_change(k)
        share = (t - self.t[k]) / (self.t[k + 1] - self.t[k])
        left = (1 - share) * self.values[k] + share * self.values[k + 1]
        right = left.copy()
        for events in filter(None, [self.states.get(t)]):
            for side, state in ((left, events[0].x_before), (right, events[-1].x_after)):
                side[self.smooth] = self._of_variables(state)[self.smooth]
        gap, has_gap = left.copy(), False
        for j in (~self.smooth).nonzero()[0]:
            after = self._end_of_break(k, j)
            if after is None:
                continue
            left[j], right[j], gap[j], has_gap = self.values[k, j], self.values[after, j], float("nan"), True
            self.hidden += [(k + 1, j)] if after > k + 1 else []
            self.jumps.append(Jump(int(j), float(t), float(left[j]), float(right[j])))
        self._insert(k + 1, t, left, self.mode[k])
        if has_gap:
            self._insert(k + 1, t, gap, self.mode[k])
        self._insert(k + 1, t, right, self.mode[k + 1])

    def _time_of_change(self, k):
        """When the mode of row k + 1 began."""
        first, last = self.starts.searchsorted(self.t[k], "left"), self.starts.searchsorted(self.t[k + 1], "right")
        begun = [span.start for span in self.rows.modes[first:last] if span.text == self.texts[self.mode[k + 1]]]
        return begun[-1] if begun else self.t[k + 1]

    def _end_of_break(self, k, j):
        """The row with the value after a discontinuity at the change of mode; None: it is none.

        One is much longer than the steps around it. The row at its end may hold a mean of both sides; then the next one counts.
        """
        column = self.values[:, j]

        def change(row):
            return abs(column[row + 1] - column[row]) if 0 <= row and row + 1 < len(column) else 0.0

        rounding = _ROUNDING * (abs(column[k]) + abs(column[k + 1]))
        has_mean = (k + 2 < len(column) and self.mode[k + 2] == self.mode[k + 1]
                    and change(k + 1) > _DISCONTINUITY * change(k + 2) + rounding)
        after = k + 2 if has_mean else k + 1
        whole = abs(column[after] - column[k])
        return after if whole > _DISCONTINUITY * max(change(k - 1), change(after)) + rounding else None
