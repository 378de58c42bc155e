"""Columns of a run as pictures show them: with the states of events between rows, and interrupted where they jump."""

import re
from collections import namedtuple

from . import _perp

Jump = namedtuple("Jump", "column t before after")
Curves = namedtuple("Curves", "t values mode jumps")
Curves.__doc__ = "Times (N), values (N, a column for each name), NaN where a curve is interrupted, text of the mode at each; jumps."

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
    import numpy as np

    known = differential_names(rows)
    variables = [list(rows.names).index(name) if name in rows.names else -1 for name in names]
    number = {}
    mode = [number.setdefault(text, len(number)) for text in rows.mode_text]
    spans = [(span.start, number.get(span.text, -1)) for span in rows.modes]
    events = [(event.kind in _JUMPS, event.kind == "inconsistent_start", event.t, bool(resets_of(rows, event)), event.x_before, event.x_after)
              for event in rows.events]
    values = np.stack([np.asarray(rows.column(name), dtype=float) for name in names], axis=1)
    algebraic = [name not in known and name != "t" for name in names]
    t, shown, modes, jumps = _perp.curves(rows.t, values, mode, algebraic, variables, [name == "t" for name in names], spans, events)
    return Curves(t, shown, np.array([*number, ""], dtype=object)[modes], [Jump(*jump) for jump in jumps])
