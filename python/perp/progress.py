"""A bar on standard error for runs that take longer than half a second."""

import sys
import time

_SILENCE = 0.5  # s
_WIDTH = 30


class Bar:
    """Called with what a run has reached, now and then: its time t, or what `quantity` says."""

    def __init__(self, start, end, quantity="t ="):
        self._start, self._end, self._quantity = start, end, quantity
        self._since = time.monotonic()
        self._shown = False

    def __call__(self, t, more=""):
        if time.monotonic() - self._since < _SILENCE or t != t:
            return
        share = min(1.0, max(0.0, (t - self._start) / (self._end - self._start)))
        bar = "=" * int(share * _WIDTH)
        sys.stderr.write(f"\r[{bar:<{_WIDTH}}] {100 * share:3.0f} %  {self._quantity} {t:.6g} of {self._end:.6g}{more}")
        sys.stderr.flush()
        self._shown = True

    def clear(self):
        if self._shown:
            sys.stderr.write("\r" + " " * (_WIDTH + 60) + "\r")
            sys.stderr.flush()
