#!/usr/bin/env python3
"""Checks the layers of the source tree: check_layers.py ROOT

A room, a folder with its sub-folders, may include only the rooms listed for it below, as <perp/folder/file.hpp>; the library does not
print; factorizations are made in one folder; no source file is longer than MAX_LINES; a folder holds at most MAX_FILES source
files of its own. Every violation is one line
file:line: message.
"""

import collections
import pathlib
import re
import sys

MAX_LINES = 400
MAX_FILES = 20
ANY = None
MAY_INCLUDE = {  # own room included; a room that is not listed obeys the rule of the folder it is in
    "core/base": {"core/base"},
    "core/tape": {"core/base", "core/tape"},
    "core/expression": {"core/base", "core/tape", "core/expression"},
    "core/interval": {"core/base", "core/tape", "core/expression", "core/interval"},
    "core/linear": {"core/base", "core/linear"},
    "core": {"core"},
    "lcp": {"core", "lcp"},
    "schemes": {"core", "lcp", "schemes"},
    "models": {"core", "models"},  # a model states mathematics, not a method
    "analysis": {"core", "lcp", "schemes", "models", "analysis"},  # questions about a model
    "analysis/hybrid": {"core", "lcp", "schemes", "models", "analysis/hybrid"},
    "analysis/run": {"core", "lcp", "schemes", "models", "analysis/hybrid", "analysis/run", "analysis/solutions"},
    "analysis/solutions": {"core", "lcp", "schemes", "models", "analysis/run", "analysis/solutions"},
    "analysis/enclosure": {"core", "lcp", "schemes", "models", "analysis/enclosure", "analysis/parallel.hpp"},
    "io": {"core", "lcp", "schemes", "models", "analysis", "io"},  # what results are written as
    "io/files": {"core", "lcp", "models", "analysis", "io/files", "io/json.hpp", "io/hdf5_objects.hpp"},
    "cli": ANY,
    "python": ANY,
    "tests": ANY,
    "bench": ANY,
    "examples": ANY,
}
LIBRARY = {"core", "lcp", "schemes", "models", "analysis", "io"}
PRINTING = {"iostream", "cstdio", "stdio.h", "print"}
SUFFIXES = {".hpp", ".cpp", ".h", ".c", ".cc", ".cxx", ".hxx"}
LINEAR_DOOR = "core/linear"  # the only place that knows how matrices are factorized
FACTORIZATIONS = {"Eigen/LU", "Eigen/QR", "Eigen/SVD", "Eigen/Cholesky", "Eigen/Eigenvalues", "Eigen/Dense", "lapacke.h", "btf.h", "klu.h"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def room_of(folder):
    """The room with a rule that a folder is in, or None."""
    while folder and folder not in MAY_INCLUDE:
        folder = folder.rpartition("/")[0]
    return folder or None


def sources(root):
    """Source files below root; hidden and build folders are not part of the tree."""
    for path in sorted(root.rglob("*")):
        parts = path.relative_to(root).parts
        if parts[0] in {"build", "out"} or any(part.startswith(".") for part in parts):
            continue
        if path.suffix in SUFFIXES and path.is_file():
            yield path


def check_include(root, path, room, quote, target):
    """The complaint about one include, or None."""
    folder = room.split("/")[0]
    if quote == '"':
        return f'write <perp/...> instead of "{target}"'
    if folder in LIBRARY | {"cli"} and target in FACTORIZATIONS and not path.is_relative_to(root / LINEAR_DOOR):
        return f"<{target}>: only {LINEAR_DOOR} factorizes matrices"
    if folder in LIBRARY and target in PRINTING:
        return f"<{target}>: the library does not print"
    if not target.startswith("perp/"):
        if (root / target).is_file() or (root / folder / target).is_file():
            return f"write <perp/...> instead of <{target}>"
        return None
    inner = target.removeprefix("perp/")
    if not (root / inner).is_file():
        return f"<{target}> does not exist"
    allowed = MAY_INCLUDE[room]
    if allowed is not ANY and not any(inner == other or inner.startswith(f"{other}/") for other in allowed):
        return f"{room} may not include <{target}> (only {', '.join(sorted(allowed))})"
    return None


def check_file(root, path):
    relative = path.relative_to(root)
    folder = relative.parts[0] if len(relative.parts) > 1 else None
    lines = path.read_text(encoding="utf-8").splitlines()
    if len(lines) > MAX_LINES:
        yield f"{relative}:{MAX_LINES + 1}: {len(lines)} lines, at most {MAX_LINES} are allowed"
    if folder is None:
        if relative.name != "perp.hpp":
            yield f"{relative}:1: a source file must be in a folder"
        return
    room = room_of(relative.parent.as_posix())
    if room is None:
        yield f"{relative}:1: folder '{folder}' has no rule in check_layers.py"
        return
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        complaint = match and check_include(root, path, room, match[1], match[2])
        if complaint:
            yield f"{relative}:{number}: {complaint}"


def check_folders(root, files):
    """Folders with too many source files of their own."""
    counts = collections.Counter(path.relative_to(root).parent.as_posix() for path in files)
    for folder, count in sorted(counts.items()):
        if count > MAX_FILES:
            yield f"{folder}:1: {count} source files, at most {MAX_FILES} are allowed in a folder"


def main(arguments):
    if len(arguments) != 1 or not pathlib.Path(arguments[0]).is_dir():
        print(__doc__, file=sys.stderr)
        return 2
    root = pathlib.Path(arguments[0]).resolve()
    files = list(sources(root))
    complaints = [complaint for path in files for complaint in check_file(root, path)]
    complaints += check_folders(root, files)
    print("\n".join(complaints) if complaints else f"{len(files)} files, no complaint")
    return 1 if complaints or not files else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
