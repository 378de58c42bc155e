#!/usr/bin/env python3
"""Compares two texts, numbers with a tolerance:
    compare_output.py EXPECTED FOUND [--rtol R] [--atol A]
    compare_output.py EXPECTED --run PROGRAM ARGS...      the text is what the program prints

Words must be the same, line by line; numbers may differ by A + R |expected|. A line "..." in EXPECTED stands
for any lines. Exit status 1, with the first difference, if the texts differ.
"""

import argparse
import math
import pathlib
import re
import subprocess
import sys

NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?!\w)")


def same_line(expected, found, rtol, atol):
    """Same words, and numbers near each other?"""
    if NUMBER.sub("#", expected).split() != NUMBER.sub("#", found).split():
        return False
    pairs = zip(map(float, NUMBER.findall(expected)), map(float, NUMBER.findall(found)))
    return all(math.isclose(a, b, rel_tol=0, abs_tol=atol + rtol * abs(a)) for a, b in pairs)


def matches(want, have, rtol, atol):
    """Which prefixes of the lines agree, and the longest ones."""
    matched = [[False] * (len(have) + 1) for _ in range(len(want) + 1)]
    matched[0][0] = True
    furthest = (0, 0)
    for i, line in enumerate(want):
        for j in range(len(have) + 1):
            if line.strip() == "...":
                matched[i + 1][j] = matched[i][j] or (j > 0 and matched[i + 1][j - 1])
            elif j < len(have) and matched[i][j] and same_line(line, have[j], rtol, atol):
                matched[i + 1][j + 1] = True
                furthest = max(furthest, (i + 1, j + 1))
    return matched, furthest


def refreshed(expected, found, rtol=1e-5, atol=1e-9):
    """The expected text with the numbers of the text that was found; as it is where the two differ."""
    want = expected.rstrip().splitlines()
    have = found.rstrip().splitlines()
    matched, _ = matches(want, have, rtol, atol)
    if not matched[-1][-1]:
        return expected
    lines, j = list(want), len(have)
    for i in range(len(want), 0, -1):
        if want[i - 1].strip() == "...":
            while not matched[i - 1][j]:
                j -= 1
            continue
        j -= 1
        if want[i - 1].split() != have[j].split():
            lines[i - 1] = have[j]
    return "\n".join(lines) + expected[len(expected.rstrip()):]


def difference(expected, found, rtol=1e-5, atol=1e-9):
    """The first difference of two texts as a message, or None."""
    want = expected.rstrip().splitlines()
    have = found.rstrip().splitlines()
    matched, furthest = matches(want, have, rtol, atol)
    if matched[-1][-1]:
        return None
    i, j = furthest
    return (
        f"expected line {i + 1}: {want[i] if i < len(want) else '(end)'}\n"
        f"found line {j + 1}:    {have[j] if j < len(have) else '(end)'}"
    )


def main(arguments):
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("expected", type=pathlib.Path)
    parser.add_argument("found", type=pathlib.Path, nargs="?")
    parser.add_argument("--rtol", type=float, default=1e-5)
    parser.add_argument("--atol", type=float, default=1e-9)
    parser.add_argument("--run", nargs=argparse.REMAINDER)
    options = parser.parse_args(arguments)
    if bool(options.found) == bool(options.run):
        parser.error("either FOUND or --run PROGRAM")
    if options.run:
        run = subprocess.run(options.run, stdout=subprocess.PIPE, check=False)
        if run.returncode:
            print(f"{options.run[0]} ended with {run.returncode}")
            return 1
        found = run.stdout.decode()
    else:
        found = options.found.read_text(encoding="utf-8")
    message = difference(
        options.expected.read_text(encoding="utf-8"), found, options.rtol, options.atol
    )
    if message:
        print(message)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
