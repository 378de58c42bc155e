"""Exceptions: all of them are PerpError."""

import contextlib
import os
import re
import threading

_PLACE = re.compile(r"(?P<file>.*?):(?P<line>\d+):(?P<column>\d+): ", re.DOTALL)
# What commands of the program are here, and flags are keywords.
_COMMANDS = {"perp run --all lists": "Result.tree() and perp.solutions(model, tree=N) list, and scheme='located' follows,"}
_FLAG = re.compile(r"(?<![\w-])--([a-z][a-z-]*)")


class PerpError(Exception):
    """Of everything that perp raises."""


class InvalidInput(PerpError, ValueError):
    """An argument or a model is wrong: what was found, what is expected, the nearest known name."""

    def __init__(self, message):
        for command, words in _COMMANDS.items():
            message = message.replace(command, words)
        super().__init__(_FLAG.sub(lambda flag: flag[1].replace("-", "_"), message))


class ModelError(InvalidInput):
    """A model is wrong at a known place: `file`, `line`, `column`, and the line with a caret below it, `excerpt`."""

    def __init__(self, message, excerpt=""):
        super().__init__(message)
        place = _PLACE.match(message)
        self.file = place["file"] if place else None
        self.line = int(place["line"]) if place else None
        self.column = int(place["column"]) if place else None
        self.excerpt = excerpt

    def __str__(self):
        message = super().__str__()
        return f"{message}\n{self.excerpt.rstrip()}" if self.excerpt else message


class FileError(PerpError, OSError):
    """A file could not be read or written."""


def path_of(file, name="file"):
    """The name of a file, as text."""
    if not isinstance(file, (str, os.PathLike)) or not isinstance(os.fspath(file), str):
        raise InvalidInput(f"{name} is {file!r}; expected the name of a file")
    return os.fspath(file)


class NotSolved(PerpError):
    """A computation ended early; everything that was computed is in `result`."""

    def __init__(self, message, result=None):
        super().__init__(message)
        self.result = result


_refusals = threading.local()
_SHOWN = 400  # characters of a message on each side of what is left out


class TraceError(PerpError, TypeError):
    """A traced function does what cannot be recorded: the message has the line and what to write instead."""

    def __init__(self, message):
        is_long = len(message) > 2 * _SHOWN  # formulas may fill pages
        super().__init__(f"{message[:_SHOWN]} ... {message[-_SHOWN:]}" if is_long else message)
        for watch in getattr(_refusals, "watches", ()):
            watch.append(self)


@contextlib.contextmanager
def refusals():
    """What is refused inside, so that neither numpy nor an `except` of the user's can hide it."""
    watch = []
    _refusals.watches = [*getattr(_refusals, "watches", ()), watch]
    try:
        yield watch
    finally:
        _refusals.watches = _refusals.watches[:-1]
