#!/usr/bin/env python3
"""Checks that a document tells the truth: check_readme.py DOCUMENT --root ROOT --program PERP

* In ```console blocks every line "$ COMMAND" (and its further lines "> ...") is run, in a fresh folder where
  scripts/perp is the program and models/ and examples/ are those of ROOT; what follows must be what it prints
  (standard output, then standard error; numbers with a tolerance; "..." for any lines), with a last line
  "(exit status N)" if it is not 0.
* ```toml, ```cpp and ```json blocks whose first line names a file ("# relay.toml", "// jump.cpp") become that file in the
  folder; after "<!-- file NAME -->" so does any block. Others must stand in a file of examples/ or models/ as they are.
* ```sh blocks are not run: commands that install, build or take minutes. The scripts that they name must exist.
* ```python blocks are sessions (">>> "), which tests/python/test_documents.py runs.
* ```text blocks are formulas. No block of another kind, and no command in an indented one.
* `perp COMMAND --option` or `scripts/NAME` within a sentence: there is such a command with such an option, such a script.
* Links to files must lead to files, those to a part of a document to a heading.
* Tables after "<!-- perp list NAME -->" must, together, have a first column that names what that command lists.
"""

import argparse
import contextlib
import pathlib
import re
import subprocess
import sys
import tempfile

from compare_output import difference, refreshed

FENCE = re.compile(r"^(`{3,})([^\n`]*)\n(.*?)^\1$", re.MULTILINE | re.DOTALL)
FILE_COMMENT = re.compile(r"<!-- file ([\w.-]+) -->\s*\Z")
FILE_LINE = re.compile(r"(?:#|//) ([\w-]+\.(?:toml|cpp|json|csv))\n")
INDENTED = re.compile(r"^ {4,}\$? ?(?:scripts/|perp |cmake |\./)", re.MULTILINE)
INLINE = re.compile(r"`(?:scripts/)?perp ([a-z]+)([^`]*)`")
SCRIPT = re.compile(r"`(scripts/\w+(?:\.py)?)")
OPTION = re.compile(r"(?<!\S)(--[a-z][a-z-]*)")
LINK = re.compile(r"\]\(([\w./-]*[./][\w./-]*?)?(?:#([\w.-]*))?\)")
LISTED = re.compile(r"<!-- perp (list \w+) -->\n+((?:\|.*\n)+)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
SOURCES = {"cpp": "examples", "toml": "models"}


def commands(block):
    """(command, expected output) pairs of a console block."""
    pairs = []
    for line in block.splitlines():
        if line.startswith("$ "):
            pairs.append((line[2:], []))
        elif line.startswith("> ") and pairs and not pairs[-1][1]:
            pairs[-1] = (pairs[-1][0] + "\n" + line[2:], [])
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


def prose(text):
    """The text with its fenced blocks blanked, so that places stay."""
    return FENCE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def check_console(block, folder):
    for command, expected in commands(block):
        message = difference(expected, run(command, folder))
        if message:
            yield f"$ {command}\n{message}"


def refresh(text, folder):
    """The document with the digits that its commands print now."""

    def block(match):
        if match[2].strip() == "console":
            body = match[3]
            for command, expected in commands(body):
                before = "$ " + command.replace("\n", "\n> ") + "\n"
                new = refreshed(expected, run(command, folder)) if expected.strip() else expected
                body = body.replace(before + expected, before + new, 1)
            return f"{match[1]}{match[2]}\n{body}{match[1]}"
        name = FILE_COMMENT.search(text[: match.start()]) or FILE_LINE.match(match[3])
        if name:
            (folder / name[1]).write_text(match[3], encoding="utf-8")
        return match[0]

    return FENCE.sub(block, text)


def check_source(kind, block, name, root, folder):
    """Writes the file that a block is, or looks for it in the tree."""
    name = name or FILE_LINE.match(block)
    if name:
        (folder / name[1]).write_text(block, encoding="utf-8")
    elif kind not in SOURCES or not any(
        block in file.read_text(encoding="utf-8")
        for file in (root / SOURCES[kind]).glob(f"*.{kind}")
    ):
        yield f"this {kind} block is in no file of examples/ or models/ and names none"


def check_shell(block, root):
    for name in re.findall(r"(?:^|\s)(scripts/\w+)", block):
        if not (root / name).exists():
            yield f"there is no {name}"


def check_block(match, text, root, folder):
    kind, block = match[2].strip(), match[3]
    if kind == "console":
        return check_console(block, folder)
    if kind in ("toml", "cpp", "json"):
        name = FILE_COMMENT.search(text, 0, match.start())
        return check_source(kind, block, name, root, folder)
    if kind == "sh":
        return check_shell(block, root)
    if kind == "python":
        return () if block.startswith(">>> ") else ("a python block is a session: it begins with '>>> '",)
    if kind == "text" or kind.startswith("{"):
        return ()
    return (f"'{kind}' is no kind of block that is checked",)


def check_blocks(text, root, folder):
    for match in FENCE.finditer(text):
        for message in check_block(match, text, root, folder):
            yield f"{line_of(text, match.start())}: {message}"


def check_sentences(text, root, folder):
    words = prose(text)
    for match in INDENTED.finditer(words):
        yield f"{line_of(words, match.start())}: a command that is not checked; expected ```console or ```sh"
    for match in SCRIPT.finditer(words):
        if not (root / match[1]).exists():
            yield f"{line_of(words, match.start())}: there is no {match[1]}"
    for match in INLINE.finditer(words):
        command, rest = match[1], match[2]
        line = line_of(words, match.start())
        shown = run(f"scripts/perp help {command}", folder)
        if "exit status" in shown:
            yield f"{line}: perp has no command {command}"
            continue
        for option in OPTION.findall(rest):
            if not re.search(rf"{option}\b", shown):
                yield f"{line}: perp {command} has no {option}"


def anchors(document):
    """The anchors of the headings of a document."""
    slugs = set()
    for title in HEADING.findall(prose(document.read_text(encoding="utf-8"))):
        title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title)
        slugs.add(re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-"))
    return slugs


def check_links(text, document):
    for match in LINK.finditer(text):
        target = document.parent / match[1] if match[1] else document
        line = line_of(text, match.start())
        if not target.exists():
            yield f"{line}: there is no {match[1]}"
        elif match[2] and target.suffix == ".md" and match[2] not in anchors(target):
            yield f"{line}: there is no heading #{match[2]} in {target.name}"


def check_tables(text, folder):
    """All tables of a page after the same comment together have what the command lists."""
    tables = {}
    for match in LISTED.finditer(text):
        rows = match[2].splitlines()[2:]
        shown = [name for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[1])]
        tables.setdefault(match[1], (line_of(text, match.start()), []))[1].extend(shown)
    for command, (line, shown) in tables.items():
        header, *lines = run(f"scripts/perp {command}", folder).splitlines()
        listed = [entry.split()[0] for entry in lines if entry.strip()]
        if not header.startswith("name"):
            yield f"{line}: perp {command} has no header"
        for name in shown:
            if name.split("(")[0] not in {entry.split("(")[0] for entry in listed}:
                yield f"{line}: perp {command} does not list {name}"
        for name in listed:
            if name.split("(")[0] not in {entry.split("(")[0] for entry in shown}:
                yield f"{line}: {name} of perp {command} is missing in the table"


@contextlib.contextmanager
def place(root, program):
    """A fresh folder in which the commands of a document run."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "scripts").mkdir()
        (folder / "scripts" / "perp").symlink_to(program.resolve())
        for part in ("models", "examples"):
            (folder / part).symlink_to(root / part)
        yield folder


def main(arguments):
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("document", type=pathlib.Path)
    parser.add_argument("--root", type=pathlib.Path, required=True)
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--update", action="store_true", help="write the digits that the commands print now")
    options = parser.parse_args(arguments)
    root = options.root.resolve()
    text = options.document.read_text(encoding="utf-8")
    if options.update:
        with place(root, options.program) as folder:
            text = refresh(text, folder)
        options.document.write_text(text, encoding="utf-8")
    with place(root, options.program) as folder:
        complaints = [
            *check_blocks(text, root, folder),
            *check_sentences(text, root, folder),
            *check_links(text, options.document),
            *check_tables(text, folder),
        ]
    for complaint in complaints:
        print(f"{options.document.name}:{complaint}")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
