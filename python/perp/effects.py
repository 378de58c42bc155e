"""What a rewritten function may do where a condition decides that changes during a run.

Both sides of such a condition are run. What they change is taken back and merged where it can be seen: names, and lists, dicts,
sets and arrays that are known by a name. Everything else must change nothing: it is a function of which that is known, or one
that is rewritten itself. What is made inside of a branch is its own and may be changed freely.
"""

import contextlib
import sys
import threading
import types

from .errors import TraceError

rewritten = set()  # the code of functions that are rewritten already
_local = threading.local()


def register(code):
    """The code of a function and of those within it."""
    rewritten.add(code)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            register(constant)


def refuse(line, reason):
    raise TraceError(f"{line}: {reason}")


class Branch:
    """One side of a condition that changes during a run, or an expression that is looked at on one side only."""

    def __init__(self, line, containers=()):
        self.line, self.made = line, {}
        self.containers = {id(root(value)): value for value in containers}

    def owns(self, value):
        return id(root(value)) in self.made

    def __enter__(self):
        open_branches().append(self)
        _watch()
        return self

    def __exit__(self, kind=None, error=None, trace=None):
        if error is not None:
            _decide(error)
        branches = open_branches()
        branches.pop()
        if branches:
            branches[-1].made.update(self.made)
        _watch()


def open_branches():
    if not hasattr(_local, "branches"):
        _local.branches, _local.frozen, _local.calls, _local.profile = [], {}, 0, None
    return _local.branches


def _decide(error):
    """It arose where a condition decides, which may never come to that."""
    error.is_decided = True


@contextlib.contextmanager
def within():
    """A call of a rewritten function: what it leaves open when it fails is closed."""
    depth = len(open_branches())
    _local.calls += 1
    try:
        yield
    except Exception as error:
        if len(_local.branches) > depth:
            _decide(error)
        raise
    finally:
        _local.calls -= 1
        while len(_local.branches) > depth:
            _local.branches[-1].__exit__()
        if not _local.calls:
            _local.frozen.clear()


# Python that is run without being called by name: properties, operators and iterators of a class of the user's ---------


def _watch():
    """Looks at every call of Python code as long as a branch is open."""
    is_open = bool(_local.branches)
    if is_open and _local.profile is None:
        _local.profile = (sys.getprofile(),)
        if hasattr(_local.profile[0], "disable"):  # cProfile's, which is no function, makes a pause
            _local.profile[0].disable()
        sys.setprofile(_seen)
    elif not is_open and _local.profile is not None:
        (before,), _local.profile = _local.profile, None
        sys.setprofile(before if callable(before) else None)
        if hasattr(before, "enable"):
            before.enable()


def _seen(frame, event, argument):
    (before,) = _local.profile or (None,)
    if callable(before):
        before(frame, event, argument)
    if event == "call" and frame.f_code not in _trusted and frame.f_code not in rewritten and _local.branches:
        _trust(frame)


_trusted = set()  # the code of ours, of numpy and of Python's own library


def _trust(frame):
    code = frame.f_code
    if is_of_user(frame.f_globals.get("__name__")) and code.co_filename != "<string>":  # where named tuples are made
        refuse(_local.branches[-1].line, f"'{code.co_name}' is run where a condition decides that changes during a run, and what it changes "
               "cannot be seen; expected it before the condition, or a function that is called by its name")
    _trusted.add(code)


@contextlib.contextmanager
def unwatched():
    """What is done here is not the user's."""
    is_watched = sys.getprofile() is _seen
    if is_watched:
        sys.setprofile(None)
    try:
        yield
    finally:
        if is_watched:
            sys.setprofile(_seen)


def is_of_user(module):
    """Is a module neither ours, nor numpy's, nor Python's?"""
    return (module or "").split(".")[0] not in ("perp", "numpy", "scipy", *sys.stdlib_module_names) or module == "__main__"


# Containers --------------------------------------------------------------------------------------------------------


def is_array(value):
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray)


def is_container(value):
    return type(value) in (list, dict, set) or is_array(value)


def root(value):
    """The array whose numbers a view shows."""
    while is_array(value) and is_array(value.base):
        value = value.base
    return value


def made(value, *sources):
    """A value that is new, unless it shows the numbers of one of the sources."""
    branches = open_branches()
    if branches and not isinstance(value, (int, float, str, types.FunctionType)) and not any(root(value) is root(s) for s in sources):
        branches[-1].made[id(root(value))] = root(value)
    return value


def freeze(value, line):
    """It takes the place of one of several containers: which one is changed would depend on the condition."""
    open_branches()
    _local.frozen[id(root(value))] = (root(value), line)


def any_frozen():
    return open_branches() is not None and bool(_local.frozen)


def check_frozen(value):
    if open_branches() is not None and id(root(value)) in _local.frozen:
        refuse(_local.frozen[id(root(value))][1], f"a {type(value).__name__} is one of two, as the condition of this line decides, and is "
               "changed later; expected its entries to be set in the branches, or a copy")


def _arrays_in(values):
    for value in values:
        if is_array(value):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _arrays_in(value)


def _is_same(array, old):
    """Has an array the very numbers of a copy?"""
    if array.dtype != object:
        return array.tobytes() == old.tobytes()
    return array.shape == old.shape and all(a is b for a, b in zip(array.ravel().tolist(), old.ravel().tolist()))


def unchanged(function, arguments, keywords, line, name):
    """The value of a function of numpy, whatever it is given an array for: it must leave the arrays as they are, but for its own."""
    arrays = list(_arrays_in([*arguments, *keywords.values()]))
    arrays = [array for array in arrays if id(root(array)) in _local.frozen or open_branches() and not open_branches()[-1].owns(array)]
    before = [array.copy() for array in arrays]
    value = function(*arguments, **keywords)
    if any(not _is_same(array, old) for array, old in zip(arrays, before)):
        refuse(line, f"'{name}' changes an array, and what of it depends on a condition that changes "
               "during a run; expected its result, or entries that are set")
    return value


def changing(value, line):
    """A container whose entries are set next."""
    check_frozen(value)
    for branch in reversed(open_branches()):
        if branch.owns(value):
            break
        if id(root(value)) not in branch.containers:
            refuse(line, f"what is in a {type(value).__name__} is changed where a condition decides that changes during a run, and it is "
                   "no list, dict, set or array of a name of the function with the condition, so that the change cannot be taken back; "
                   "expected a name, or the change before the condition")
    return value


def changing_entries(value, line):
    """A container an entry of which is changed in its place."""
    entries = value if type(value) is list else value.values() if type(value) is dict else ()
    for entry in entries:
        if is_container(entry):
            changing(entry, line)
    return changing(value, line)


def augmented(value, line):
    """The target of +=, which changes a container in its place."""
    return changing(value, line) if not isinstance(value, (int, float, str, tuple)) and hasattr(value, "__len__") else value


def storing(value, line):
    """What gets an attribute next."""
    return effect(line, "an attribute is set where a condition decides that changes during a run; expected a name or an entry of a list", value)


def effect(line, reason, value=None):
    """Something that cannot be taken back."""
    if open_branches() and not any(branch.owns(value) for branch in open_branches()[-1:]):
        refuse(line, reason)
    return value


def consumed(value, line):
    """An iterator that is read on, which ends it on both sides of a condition."""
    if hasattr(type(value), "__next__"):
        for branch in reversed(open_branches()):
            if branch.owns(value):
                break
            refuse(line, f"a {type(value).__name__} is read where a condition decides that changes during a run: how far depends on it; "
                   "expected a list")
    return value
