#!/usr/bin/env python3
"""Checks docs/messages.md against the sources: check_messages.py ROOT [--list]

An entry is a heading "### name" with the texts of its messages below it, each a line "- `text`", "…" for what varies. Every
text must stand in the sources, and every message that the sources can give must stand in an entry. A message is a text of
at least three words in a statement that throws, fails, refuses, writes to standard error or sets a message or reason.
--list prints the messages without an entry only.
"""

import pathlib
import re
import sys

FOLDERS = ("core", "lcp", "schemes", "models", "analysis", "io", "cli")
TOKEN = re.compile(r'R"\((.*?)\)"|"((?:[^"\\\n]|\\.)*)"|\'(?:[^\'\\\n]|\\.)+\'|//[^\n]*|/\*.*?\*/|[;{}]', re.DOTALL)
RAISES = re.compile(
    r"\b(?:throw|fail\w*|refuse\w*|stop\w*|complain|end_run|InvalidInput|ModelError|ExpressionError|FileError|NoReference"
    r"|message\w*|reason\w*|note|why|stderr)\b"
)
HOLE = re.compile(r"\{[^{}]*\}")
ENTRY = re.compile(r"^### ([\w-]+)$", re.MULTILINE)
TEXT = re.compile(r"^- `(.*)`$", re.MULTILINE)
FEWEST_WORDS = 3
WHOLE = (  # whose texts are messages, also those that a function returns
    "core/expression/equation",
    "core/expression/expression",
    "core/recorder",
    "lcp/parametric/curve",
    "lcp/enumeration/enumerate",
    "lcp/nearest/nearest_search",
    "lcp/parametric/orientation",
    "lcp/residual_gate",
    "schemes/",
    "models/",
    "analysis/solutions/step_choice",
    "io/files/mlcp_file",
    "io/solutions/merged_tree_text",
    "io/solutions/path_text",
    "io/study/study_verdict",
    "io/text/well_posedness_text",
)
NO_MESSAGES = ("models/language/run_options.cpp",)  # meanings of options


def plain(text):
    """A text of the sources as it is printed, … for what varies."""
    text = text.replace('\\"', '"').replace("\\n", " ").replace("{{", "\0").replace("}}", "\1")
    text = HOLE.sub("…", text).replace("\0", "{").replace("\1", "}")
    return re.sub(r"(?:… ?)+…", "…", re.sub(r"\s+", " ", text)).strip()


def statements(source):
    """(code without its texts, [(line, text)]) of each statement; neighbouring literals are one text."""
    code, texts, glued, last = "", [], False, 0
    for token in TOKEN.finditer(source):
        between = source[last : token.start()]
        code += between
        glued = glued and not between.strip()
        last = token.end()
        word = token[1] if token[1] is not None else token[2]
        if word is not None:
            if glued:
                texts[-1] = (texts[-1][0], texts[-1][1] + word)
            else:
                texts.append((source.count("\n", 0, token.start()) + 1, word))
            glued = True
        elif token[0] in ";{}":
            yield code, texts
            code, texts, glued = "", [], False


def messages(root):
    """text -> its place."""
    found = {}
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*.[ch]pp")):
            name = str(file.relative_to(root))
            for code, texts in statements(file.read_text(encoding="utf-8")):
                if name in NO_MESSAGES or not (name.startswith(WHOLE) or RAISES.search(code)):
                    continue
                for line, text in ((line, plain(text)) for line, text in texts):
                    if sum(bool(re.search(r"[^\W\d_]{2,}", word)) for word in text.split()) >= FEWEST_WORDS:
                        found.setdefault(text, f"{name}:{line}")
    return found


def all_texts(root):
    return "\n".join(
        plain(text)
        for folder in FOLDERS
        for file in sorted((root / folder).rglob("*.[ch]pp"))
        for _, texts in statements(file.read_text(encoding="utf-8"))
        for _, text in texts
    )


def main(arguments):
    if len(arguments) not in (1, 2):
        print(__doc__, file=sys.stderr)
        return 2
    root = pathlib.Path(arguments[0])
    page = (root / "docs" / "messages.md").read_text(encoding="utf-8")
    told = TEXT.findall(page)
    complaints = []
    everything = "\n".join(told)
    for text, place in messages(root).items():
        if text not in everything:
            complaints.append(f"{place}: no entry of docs/messages.md has: {text}")
    if len(arguments) == 1:
        known = all_texts(root)
        for text in told:
            if text not in known:
                complaints.append(f"docs/messages.md: the sources do not have: {text}")
        names = ENTRY.findall(page)
        complaints += [f"docs/messages.md: {name} stands there twice" for name in names if names.count(name) > 1]
    for complaint in complaints:
        print(complaint)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
