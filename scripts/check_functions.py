#!/usr/bin/env python3
"""Checks the length and the complexity of the functions: check_functions.py ROOT [--write] [--worst N]

The complexity of a function is 1 and what it decides: if, for, while, case, catch, &&, || and ?:, those of its lambdas included.
No function has more than MAX_COMPLEXITY or MAX_LINES but those in scripts/functions.txt, which is there to become shorter: a line is
the function, its figures and what it is (`switch`: over an enum, it stays; `to do`). A function above its figures is a complaint,
one line file:line: message. --write writes the figures that became smaller. --worst N prints the N most complex functions.
"""

import argparse
import pathlib
import re
import sys

MAX_COMPLEXITY = 10
MAX_LINES = 50
FOLDERS = ("core", "lcp", "schemes", "models", "analysis", "io", "cli")
LIST = "scripts/functions.txt"
DECISIONS = {"if", "for", "while", "case", "catch", "&&", "||", "?"}
CONTROL = {"if", "for", "while", "switch", "catch", "return", "constexpr"}
TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'"""
    r"""|\#(?:\\\n|[^\n])*|[A-Za-z_]\w*|[0-9][\w.']*|::|->|\s&&\s|&&|\|\||<<|[{}()\[\];:?,<>=~]|\S""", re.S)


def tokens_of(text):
    """(token, line) without comments, texts and the preprocessor; && of a type is left out."""
    line = 1
    position = 0
    for match in TOKEN.finditer(text):
        line += text.count("\n", position, match.start())
        position = match.start()
        token = match[0]
        if token.startswith(("//", "/*", "#")) or token == "&&":
            continue
        if token[0] in "\"'" or token.startswith('R"'):
            token = '""'
        yield token.strip(), line


def matching(tokens, start, opening, closing):
    """The place of the bracket that closes the one at `start`."""
    depth = 0
    for k in range(start, len(tokens)):
        if tokens[k][0] == opening:
            depth += 1
        elif tokens[k][0] == closing:
            depth -= 1
            if depth == 0:
                return k
    return len(tokens) - 1


def name_before(tokens, parenthesis):
    """The name in front of a list of parameters: "Class::name", "operator==", or nothing."""
    for back in range(1, 5):  # operators have names of several tokens
        if parenthesis - back >= 0 and tokens[parenthesis - back][0] == "operator":
            return "operator" + "".join(t for t, _ in tokens[parenthesis - back + 1:parenthesis])
    k = parenthesis - 1
    if k < 0 or not re.fullmatch(r"[A-Za-z_]\w*", tokens[k][0]) or tokens[k][0] in CONTROL:
        return ""
    name = tokens[k][0]
    if k > 0 and tokens[k - 1][0] == "~":
        name, k = "~" + name, k - 1
    while k >= 2 and tokens[k - 1][0] == "::" and re.fullmatch(r"[A-Za-z_]\w*", tokens[k - 2][0]):
        name, k = tokens[k - 2][0] + "::" + name, k - 2
    return name


def body_after(tokens, k):
    """The place of the `{` of the body after the parameters that end before k, or None: a declaration, an expression."""
    while k < len(tokens):
        token = tokens[k][0]
        if token == "{":
            return k
        if token == ":":  # initialisers: a name and its brackets each
            k += 1
            while k < len(tokens):
                while tokens[k][0] not in "({;":
                    k += 1
                if tokens[k][0] == ";":
                    return None
                k = matching(tokens, k, tokens[k][0], ")" if tokens[k][0] == "(" else "}") + 1
                if k >= len(tokens) or tokens[k][0] != ",":
                    break
                k += 1
            continue
        if token == "(":  # noexcept(...), requires (...)
            k = matching(tokens, k, "(", ")") + 1
            continue
        if token in {";", "=", ",", ")", "}", "?"}:
            return None
        k += 1
    return None


def functions_of(text):
    """(name, first line, lines, complexity) of every function of a source file."""
    tokens = list(tokens_of(text))
    k = 0
    while k < len(tokens):
        if tokens[k][0] != "(":
            k += 1
            continue
        close = matching(tokens, k, "(", ")")
        name = name_before(tokens, k)
        body = body_after(tokens, close + 1) if name else None
        if body is None:
            k = close + 1 if not name else k + 1
            continue
        end = matching(tokens, body, "{", "}")
        decisions = sum(token in DECISIONS for token, _ in tokens[k:end])
        yield name, tokens[k][1], tokens[end][1] - tokens[k][1] + 1, 1 + decisions
        k = end + 1


def all_functions(root):
    """{"file function": (line, lines, complexity)}; of overloads the one that is worst."""
    found = {}
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*.[ch]pp")):
            relative = path.relative_to(root).as_posix()
            for name, line, lines, complexity in functions_of(path.read_text(encoding="utf-8")):
                key = f"{relative} {name}"
                if key not in found or (complexity, lines) > found[key][2:0:-1]:
                    found[key] = (line, lines, complexity)
    return found


def read_list(path):
    """{"file function": (complexity, lines, kind)}."""
    listed = {}
    for row in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        if row and not row.startswith("#"):
            file, name, complexity, lines, kind = row.split(None, 4)
            listed[f"{file} {name}"] = (int(complexity), int(lines), kind)
    return listed


def complaints_of(found, listed):
    for key, (line, lines, complexity) in found.items():
        file, name = key.split(" ", 1)
        most_complexity, most_lines, _ = listed.get(key, (MAX_COMPLEXITY, MAX_LINES, ""))
        for what, value, most in (("complexity", complexity, max(most_complexity, MAX_COMPLEXITY)),
                                  ("length", lines, max(most_lines, MAX_LINES))):
            if value > most:
                yield f"{file}:{line}: {name} has the {what} {value}, at most {most} is allowed"


def notes_of(found, listed):
    """What --write makes shorter."""
    for key, (most_complexity, most_lines, _) in listed.items():
        _, lines, complexity = found.get(key, (0, 0, 0))
        if key not in found:
            yield f"note: {LIST}: {key} does not exist any more; --write leaves it out"
        elif (complexity < most_complexity and most_complexity > MAX_COMPLEXITY) or (
                lines < most_lines and most_lines > MAX_LINES):
            yield f"note: {LIST}: {key} became better than its figures; --write writes them down"


HEAD = """# Functions above the figures of scripts/check_functions.py: file, function, complexity, lines, what it is. Only shorter.
"""


def write_list(path, found, listed, everything):
    rows = []
    for key, (_, lines, complexity) in sorted(found.items()):
        if complexity <= MAX_COMPLEXITY and lines <= MAX_LINES:
            continue
        if key in listed:
            before = listed[key]
            rows.append((key, min(complexity, before[0]), min(lines, before[1]), before[2]))
        elif everything:
            rows.append((key, complexity, lines, "to do"))
    path.write_text(HEAD + "".join(f"{key} {complexity} {lines} {kind}\n" for key, complexity, lines, kind in rows),
                    encoding="utf-8")


def share(values, part):
    values = sorted(values)
    return values[min(len(values) - 1, int(part * len(values)))] if values else 0


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--write-all", action="store_true", help=argparse.SUPPRESS)  # the first list
    parser.add_argument("--worst", type=int, default=0, metavar="N")
    options = parser.parse_args(arguments)
    found = all_functions(options.root)
    path = options.root / LIST
    listed = read_list(path)
    if options.write or options.write_all:
        write_list(path, found, listed, options.write_all)
        listed = read_list(path)
    for key, (line, lines, complexity) in sorted(found.items(), key=lambda item: -item[1][2])[: options.worst]:
        file, name = key.split(" ", 1)
        print(f"{complexity:4} {lines:4}  {file}:{line}: {name}")
    for note in notes_of(found, listed):
        print(note)
    complaints = list(complaints_of(found, listed))
    print("\n".join(complaints) if complaints else f"{len(found)} functions, no complaint, {len(listed)} are listed; 95 % have "
          f"at most the complexity {share([c for _, _, c in found.values()], 0.95)} "
          f"and {share([n for _, n, _ in found.values()], 0.95)} lines")
    return 1 if complaints or not found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
