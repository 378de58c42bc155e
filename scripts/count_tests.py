#!/usr/bin/env python3
"""Sums the results of test runs: count_tests.py CTEST_JUNIT_XML...

A program that prints a doctest summary counts with its test cases, every other test as one. A file that
is missing, a program that crashed or timed out, and one that failed without naming a failed case are one
failure each. A test that says itself that what it needs is not installed is named and is neither. The last line is "N passed, N failed"; exit status 1 if anything failed or nothing ran.
"""

import re
import sys
import xml.etree.ElementTree as ElementTree

SUMMARY = re.compile(
    r"\[doctest\] test cases:\s*\d+\s*\|\s*(\d+) passed\s*\|\s*(\d+) failed\s*\|"
)


def is_skipped(case):
    """By its own exit status; a program that is missing is no test that was skipped."""
    skipped = case.find("skipped")
    return skipped is not None and skipped.get("message", "").startswith("SKIP_RETURN_CODE")


def count_test(case):
    """(passed, failed) of one ctest test."""
    if is_skipped(case):
        return 0, 0
    ok = case.get("status") == "run" and case.find("failure") is None
    summaries = SUMMARY.findall(case.findtext("system-out") or "")
    if not summaries:
        return (1, 0) if ok else (0, 1)
    passed = sum(int(summary[0]) for summary in summaries)
    failed = sum(int(summary[1]) for summary in summaries)
    return passed, failed if ok else max(failed, 1)


def count_file(path):
    try:
        cases = ElementTree.parse(path).getroot().findall("testcase")
    except (OSError, ElementTree.ParseError) as error:
        return [(path, 0, 1, f"no result: {error}")]
    return [(f"{path}: {case.get('name')}", *count_test(case), "skipped" if is_skipped(case) else "") for case in cases]


def main(paths):
    rows = [row for path in paths for row in count_file(path)]
    for name, passed, failed, note in rows:
        if note == "skipped":
            print(f"SKIPPED {name}")
        elif failed:
            print(f"FAILED  {name}  ({passed} passed, {failed} failed) {note}".rstrip())
    passed = sum(row[1] for row in rows)
    failed = sum(row[2] for row in rows)
    print(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
