#!/usr/bin/env python3
"""What a build from nothing took, by ninja's own log: build_budget.py BUILD [--budget SECONDS] [--slowest N]

Prints the time from the first to the last step, the sum over all of them and the slowest ones, of a folder that was
built in one go (a later, partial build counts from 0 again). With --budget the exit status is 1 above it.

The first build of a user and that of the tests:
    rm -rf build/release && CCACHE_DISABLE=1 scripts/perp --version && scripts/build_budget.py build/release --budget 150
    rm -rf build/release && CCACHE_DISABLE=1 scripts/test && scripts/build_budget.py build/release --budget 480
"""

import argparse
import pathlib
import sys


def steps_of(log):
    """{output: (start, end)} in seconds, the last entry of each output."""
    steps = {}
    for line in log.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        start, end, _, output, _ = line.split("\t")
        steps[output] = (int(start) / 1000, int(end) / 1000)
    return steps


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, help="folder of a build by ninja")
    parser.add_argument("--budget", type=float, metavar="SECONDS", help="exit status 1 above it")
    parser.add_argument("--slowest", type=int, default=10, metavar="N", help="steps that are listed (default 10)")
    arguments = parser.parse_args()
    log = arguments.build / ".ninja_log"
    if not log.is_file():
        print(f"build_budget.py: {log}: no such file; build first, e.g. scripts/test", file=sys.stderr)
        return 2
    steps = steps_of(log)
    if not steps:
        print(f"build_budget.py: {log}: nothing has been built", file=sys.stderr)
        return 2

    elapsed = max(end for _, end in steps.values()) - min(start for start, _ in steps.values())
    total = sum(end - start for start, end in steps.values())
    print(f"{arguments.build}: {elapsed:.0f} s for {len(steps)} steps, {total:.0f} s one after the other")
    slowest = sorted(steps.items(), key=lambda step: (step[1][0] - step[1][1], step[0]))
    for output, (start, end) in slowest[: arguments.slowest]:
        print(f"{end - start:7.1f} s  {output}")
    if arguments.budget is not None and elapsed > arguments.budget:
        print(f"build_budget.py: above the budget of {arguments.budget:g} s", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
