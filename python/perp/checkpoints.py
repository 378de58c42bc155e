"""Runs and enclosures that are kept in a file while they last, and go on from there with the bits that they would have had."""

import hashlib
import json
import os

from . import _perp
from .errors import FileError, InvalidInput, path_of
from .model import RUN, Model
from .names import keywords_of
from .running import run_kept
from .values import number_of

_FIRST = b"perp python checkpoint\n"
_PAUSE = 10.0  # s
_OF_RUNS = ("t_eval", "max_steps", "measure", "after", "until")
_OF_ENCLOSURES = ("enclosure",)


def _build():
    """The bytes of states are those of one build."""
    with open(_perp.__file__, "rb") as module:
        return hashlib.sha256(module.read()).hexdigest()


class Checkpoint:
    """The file of one run or enclosure: the model, what replaces its values, and the state. It is written beside its place and renamed."""

    def __init__(self, file, every, model, more, digest, arguments):
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
                      "overrides": [list(item) for item in model._overrides], "more": [list(item) for item in more], "hash": digest, **arguments}

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


def keeper_in(file, every, model, more, digest, arguments):
    """What keeps a run or an enclosure in a file; None where there is none."""
    if file is None and every is not None:
        raise InvalidInput("checkpoint_every is of checkpoint, which is not given")
    return None if file is None else Checkpoint(file, every, model, more, digest, arguments)


def _read(file):
    """The head and the state."""
    try:
        with open(file, "rb") as stream:
            text = stream.read()
    except OSError as error:
        raise FileError(f"{file}: cannot be read: {error}") from None
    if not text.startswith(_FIRST):
        raise InvalidInput(f"{file}: it is no file of perp.solve(..., checkpoint=...) or perp.enclose(..., checkpoint=...)")
    digest, _, body = text[len(_FIRST):].partition(b"\n")
    if hashlib.sha256(body).hexdigest().encode() != digest:
        raise InvalidInput(f"{file}: it is damaged: its digest is that of other bytes")
    head, _, state = body.partition(b"\n")
    head = json.loads(head)
    if head["build"] != _build():
        raise InvalidInput(f"{file}: it is of another build of perp; a state is that of one build")
    return head, state


def _require_same(file, head, digest):
    """The hash of a model is that of its text, what replaces its values, and its files of data."""
    if head["hash"] != digest:
        raise InvalidInput(f"{file}: a file that its model names, of data or of matrices, has changed: the model was {head['hash']} "
                           f"and is {digest}; expected the file as it was")


def _read_model(head, model, more):
    if "enclosure" not in head:
        return model.read(RUN, more)
    from .studies import read_exactly

    return read_exactly(model, more)


def _goes_on_enclosing(model, more, head, state, keeper, of_runs):
    from .studies import enclose_kept

    for name, value in of_runs.items():
        if value is not None and value is not False:
            raise InvalidInput(f"{name} is of runs: it has no effect on an enclosure")
    return enclose_kept(model, more, keeper, state, head["enclosure"])


@keywords_of
def resume(file, *, callback=None, progress=None, check=False, checkpoint=None, checkpoint_every=None):
    """Goes on with a run that `solve(..., checkpoint=file)` kept: the result, all rows included, is that of the undisturbed run.
    So it does with an enclosure that `enclose(..., checkpoint=file)` kept; callback, progress and check are of runs.

    checkpoint: a file in which it is kept on, which may be the same; checkpoint_every: as in `solve`.
    """
    head, state = _read(path_of(file))
    overrides = [tuple(item) for item in head["overrides"]]
    model = Model.__new__(Model)._begin(head["text"], head["name"], overrides, folder=head["folder"])
    more = [tuple(item) for item in head["more"]]
    arguments = {name: head[name] for name in (_OF_ENCLOSURES if "enclosure" in head else _OF_RUNS)}
    read = _read_model(head, model, more)
    _require_same(path_of(file), head, read.hash)
    keeper = keeper_in(checkpoint, checkpoint_every, model, more, read.hash, arguments)
    if "enclosure" in head:
        return _goes_on_enclosing(model, more, head, state, keeper, {"callback": callback, "progress": progress, "check": check})
    return run_kept(read, model, more, callback, progress, check, keeper, state, **arguments)


__all__ = ["Checkpoint", "resume"]
