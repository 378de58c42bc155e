"""Runs that are kept in a file while they last, and go on from there with the bits that they would have had."""

import hashlib
import json
import os

from . import _perp
from .errors import FileError, InvalidInput, path_of
from .model import RUN, Model
from .running import run_kept
from .values import number_of

_FIRST = b"perp python checkpoint\n"
_PAUSE = 10.0  # s


def _build():
    """The bytes of states are those of one build."""
    with open(_perp.__file__, "rb") as module:
        return hashlib.sha256(module.read()).hexdigest()


class Checkpoint:
    """The file of one run: the model, what replaces its values, and the state. It is written beside its place and renamed."""

    def __init__(self, file, every, model, more, arguments):
        if not path_of(file, "checkpoint"):
            raise InvalidInput(f"checkpoint is {file!r}; expected the name of a file")
        self.file, self.pause = os.fspath(file), _PAUSE if every is None else number_of(every, "checkpoint_every")
        if self.pause < 0:
            raise InvalidInput(f"checkpoint_every is {every}; expected seconds")
        folder = os.path.dirname(os.path.abspath(self.file))
        if os.path.isdir(self.file) or not os.access(folder, os.W_OK):  # told before the run
            raise FileError(f"{self.file}: cannot be written: {'is a directory' if os.path.isdir(self.file) else 'there is no such folder, or it may not be written'}")
        self._require_own()
        self._head = {"build": _build(), "text": model._source.text, "name": model._source.name, "folder": model._folder,
                      "overrides": [list(item) for item in model._overrides], "more": [list(item) for item in more], **arguments}

    def _require_own(self):
        """Another kind of file is not overwritten."""
        try:
            with open(self.file, "rb") as stream:
                start = stream.read(len(_FIRST))
        except FileNotFoundError:
            return
        except OSError as error:
            raise FileError(f"{self.file}: cannot be read: {error}") from None
        if start and start != _FIRST:
            raise InvalidInput(f"{self.file}: it is there, and no checkpoint; expected another file for checkpoint")

    def keep(self, state):
        body = json.dumps(self._head).encode() + b"\n" + state
        beside = f"{self.file}.new"  # of one name: who was killed leaves no more than that, which the next one overwrites
        try:
            with open(beside, "wb") as stream:
                stream.write(_FIRST + hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(beside, self.file)
        except OSError as error:
            raise FileError(f"{self.file}: cannot be written: {error}") from None


def keeper_in(file, every, model, more, arguments):
    """What keeps a run in a file; None where there is none."""
    if file is None and every is not None:
        raise InvalidInput("checkpoint_every is of checkpoint, which is not given")
    return None if file is None else Checkpoint(file, every, model, more, arguments)


def _read(file):
    """The head and the state."""
    try:
        with open(file, "rb") as stream:
            text = stream.read()
    except OSError as error:
        raise FileError(f"{file}: cannot be read: {error}") from None
    if not text.startswith(_FIRST):
        raise InvalidInput(f"{file}: it is no file of perp.solve(..., checkpoint=...)")
    digest, _, body = text[len(_FIRST):].partition(b"\n")
    if hashlib.sha256(body).hexdigest().encode() != digest:
        raise InvalidInput(f"{file}: it is damaged: its digest is that of other bytes")
    head, _, state = body.partition(b"\n")
    head = json.loads(head)
    if head["build"] != _build():
        raise InvalidInput(f"{file}: it is of another build of perp; a state is that of one build")
    return head, state


def resume(file, *, callback=None, progress=None, check=False, checkpoint=None, checkpoint_every=None):
    """Goes on with a run that `solve(..., checkpoint=file)` kept: the result, all rows included, is that of the undisturbed run.

    checkpoint: a file in which it is kept on, which may be the same; checkpoint_every: as in `solve`.
    """
    head, state = _read(path_of(file))
    overrides = [tuple(item) for item in head["overrides"]]
    model = Model.__new__(Model)._begin(head["text"], head["name"], overrides, folder=head["folder"])
    more = [tuple(item) for item in head["more"]]
    arguments = {name: head[name] for name in ("t_eval", "max_steps", "measure", "after", "until")}
    keeper = keeper_in(checkpoint, checkpoint_every, model, more, arguments)
    return run_kept(model.read(RUN, more), model, more, callback, progress, check, keeper, state, **arguments)


__all__ = ["Checkpoint", "resume"]
