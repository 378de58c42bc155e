"""The table of claims names tests that exist, and every test of tests/claims."""

import pathlib
import re
import unittest

TESTS = pathlib.Path(__file__).resolve().parents[1]
LITERALS = re.compile(r'TEST_CASE\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)\)')
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')


def test_cases(folder):
    """Names of all test cases below a folder; literals that stand side by side are one name."""
    names = set()
    for path in sorted(folder.rglob("*_test.cpp")):
        for found in LITERALS.findall(path.read_text(encoding="utf-8")):
            names.add("".join(LITERAL.findall(found)))
    return names


def named():
    """Names in double quotes in the last column of the table."""
    names = set()
    for line in (TESTS / "claims" / "README.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("| ") and not line.startswith("| ---"):
            cells = re.split(r"(?<!\\)\|", line)
            names.update(name.replace("\\|", "|") for name in re.findall(r'"([^"]+)"', cells[3]))
    return names


class ClaimsTable(unittest.TestCase):
    def test_every_named_test_exists(self):
        self.assertEqual(sorted(named() - test_cases(TESTS)), [])

    def test_every_claim_test_is_named(self):
        self.assertEqual(sorted(test_cases(TESTS / "claims") - named()), [])

    def test_there_is_something_to_compare(self):
        self.assertGreater(len(test_cases(TESTS / "claims")), 80)
        self.assertGreater(len(named()), 100)


if __name__ == "__main__":
    unittest.main()
