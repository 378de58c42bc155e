#!/usr/bin/env python3
"""Prints a header as Doxygen is to read it (INPUT_FILTER): formulas, which stand indented in comments, become verbatim blocks,
`names` become code, < and & stay what they are, 10'000 loses its separators, comparisons of members are left out. Lines keep their numbers."""

import pathlib
import re
import sys

COMMENT = re.compile(r"^(.*?)(///<?)(.*)$")
SEPARATOR = re.compile(r"(?<=\d)'(?=\d)")


def escaped(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def words(text):
    """The words of a comment, `names` in code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return escaped(text)
    return "".join(f"<tt>{escaped(part)}</tt>" if k % 2 else escaped(part) for k, part in enumerate(parts))


def comment_of(line):
    """The text of a line that is a comment alone, else None."""
    match = COMMENT.match(line)
    return match[3] if match and match[2] == "///" and not match[1].strip() else None


def is_formula(text):
    return text is not None and text.startswith("     ")


def block(texts):
    """Lines of comments as one comment of C, in which formulas may have several lines."""
    for k, text in enumerate(texts):
        begin, end = "/** " if k == 0 else "", " */" if k + 1 == len(texts) else ""
        if is_formula(text):
            begin += "" if k > 0 and is_formula(texts[k - 1]) else "@verbatim "
            end = ("" if k + 1 < len(texts) and is_formula(texts[k + 1]) else " @endverbatim") + end
            yield begin + text + end
        else:
            yield begin + words(text) + end


def code(line):
    match = COMMENT.match(line)
    if re.match(r" *friend bool operator==.*;", line):
        return ""
    if match is None:
        return SEPARATOR.sub("", line)
    return SEPARATOR.sub("", match[1]) + match[2] + words(match[3])


def filtered(lines):
    k = 0
    while k < len(lines):
        end = k
        while end < len(lines) and comment_of(lines[end]) is not None and "@" not in lines[end]:
            end += 1
        if end == k:
            yield code(lines[k])
            k += 1
        else:
            yield from block([comment_of(line) for line in lines[k:end]])
            k = end


print("\n".join(filtered(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8").splitlines())))
