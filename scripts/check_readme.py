#!/usr/bin/env python3
"""Checks that a document tells the truth: check_readme.py DOCUMENT --root ROOT --program PERP

* In ```console blocks every line "$ COMMAND" is run, in a fresh folder where scripts/perp is the program and
  models/ and examples/ are those of ROOT; what follows the line must be what it prints (standard output, then
  standard error; numbers with a tolerance; "..." for any lines), with a last line "(exit status N)" if it is not 0.
* ```cpp and ```toml blocks must stand in a file of examples/ or models/ as they are.
* Links to files must lead to files.
* Tables after "<!-- perp list NAME -->" must have a first column that names what that command lists.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

from compare_output import difference

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([\w./-]*[./][\w./-]*?)(?:#[^)]*)?\)")
LISTED = re.compile(r"<!-- perp (list \w+) -->\n+((?:\|.*\n)+)")


def commands(block):
    """(command, expected output) pairs of a console block."""
    pairs = []
    for line in block.splitlines():
        if line.startswith("$ "):
            pairs.append((line[2:], []))
        elif pairs:
            pairs[-1][1].append(line)
    return [(command, "\n".join(output)) for command, output in pairs]


def run(command, folder):
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, capture_output=True, text=True, check=False, timeout=300
    )
    status = f"(exit status {done.returncode})\n" if done.returncode else ""
    return done.stdout + done.stderr + status


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def check_blocks(text, root, folder):
    for match in FENCE.finditer(text):
        kind, block = match[1], match[2]
        line = line_of(text, match.start())
        if kind == "console":
            for command, expected in commands(block):
                message = difference(expected, run(command, folder))
                if message:
                    yield f"{line}: $ {command}\n{message}"
        elif kind in ("cpp", "toml"):
            files = [*(root / "examples").glob("*.cpp"), *(root / "models").glob("*.toml")]
            if not any(block in file.read_text(encoding="utf-8") for file in files):
                yield f"{line}: this {kind} block is in no file of examples/ or models/"


def check_links(text, document):
    for match in LINK.finditer(text):
        if not (document.parent / match[1]).exists():
            yield f"{line_of(text, match.start())}: there is no {match[1]}"


def check_tables(text, folder):
    for match in LISTED.finditer(text):
        rows = match[2].splitlines()[2:]
        shown = [name for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[1])]
        header, *lines = run(f"scripts/perp {match[1]}", folder).splitlines()
        listed = [line.split()[0] for line in lines if line.strip()]
        line = line_of(text, match.start())
        if not header.startswith("name"):
            yield f"{line}: perp {match[1]} has no header"
        for name in shown:
            if name.split("(")[0] not in {entry.split("(")[0] for entry in listed}:
                yield f"{line}: perp {match[1]} does not list {name}"
        for name in listed:
            if name.split("(")[0] not in {entry.split("(")[0] for entry in shown}:
                yield f"{line}: {name} of perp {match[1]} is missing in the table"


def main(arguments):
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("document", type=pathlib.Path)
    parser.add_argument("--root", type=pathlib.Path, required=True)
    parser.add_argument("--program", type=pathlib.Path, required=True)
    options = parser.parse_args(arguments)
    root = options.root.resolve()
    text = options.document.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "scripts").mkdir()
        (folder / "scripts" / "perp").symlink_to(options.program.resolve())
        for part in ("models", "examples"):
            (folder / part).symlink_to(root / part)
        complaints = [
            *check_blocks(text, root, folder),
            *check_links(text, options.document),
            *check_tables(text, folder),
        ]
    for complaint in complaints:
        print(f"{options.document.name}:{complaint}")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
