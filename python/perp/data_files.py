"""The files with data that the text of a model names: tables of inputs, matrices."""

import os
from collections.abc import Mapping

_MATRICES = ("file", "S", "Phi_f", "Phi_g")


def folder_of(file):
    """The folder of a file, whatever the working folder will be."""
    try:
        return os.path.dirname(os.path.abspath(file))
    except FileNotFoundError:  # the working folder was removed
        return os.path.dirname(file)


def may_name(text):
    """Can the text name a file? False is certain."""
    return "file" in text or "multilinear" in text


def _places(tables):
    """(table, key) of each name of a file."""
    for entry in tables.get("inputs", {}).values():
        if isinstance(entry, Mapping) and "file" in entry:
            yield entry, "file"
    matrices = tables.get("multilinear", {})
    yield from ((matrices, key) for key in _MATRICES if isinstance(matrices.get(key), str))
    for parts in (matrices.get("F"), matrices.get("phi")):
        if isinstance(parts, Mapping):
            yield from ((parts, key) for key, value in parts.items() if isinstance(value, str))


def _moved(name, old, new):
    """A name that begins at the folder `old`, from the folder `new` or, where it is not found from there, from the root."""
    place = name.rfind(":/")  # "file.h5:/group/S" is the object /group/S of file.h5
    file, rest = (name[:place], name[place:]) if place >= 2 else (name, "")
    path = os.path.normpath(os.path.join(old, file))
    if new is None or os.path.isabs(file):
        return path + rest
    near = os.path.relpath(path, new)
    is_found = os.path.exists(os.path.join(new, near)) and os.path.samefile(os.path.join(new, near), path)
    return (near if is_found else path) + rest


def move(tables, old, new=None):
    """Rewrites names that begin at the folder `old` for a text in the folder `new`, None: anywhere. Did any change?"""
    changed = False
    for table, key in _places(tables):
        name = _moved(table[key], old, new)
        changed = changed or name != table[key]
        table[key] = name
    return changed
