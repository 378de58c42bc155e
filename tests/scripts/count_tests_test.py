"""Counting test results: nothing that failed is lost, and no result is not a success."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "count_tests.py"
SUMMARY = "[doctest] test cases: {} | {} passed | {} failed | 0 skipped\n[doctest] Status: ...\n"


def case(name, status, output="", failure=""):
    return (
        f'<testcase name="{name}" classname="{name}" time="1" status="{status}">'
        f"{failure}<system-out>{output}</system-out></testcase>"
    )


FAILURE = '<failure message="Failed"/>'


class CountTests(unittest.TestCase):
    def count(self, *files):
        """Exit status and last line of output for JUnit files of these contents; None: no such file."""
        with tempfile.TemporaryDirectory() as folder:
            paths = [pathlib.Path(folder, f"{i}.xml") for i in range(len(files))]
            for path, text in zip(paths, files):
                if text is not None:
                    path.write_text(text, encoding="utf-8")
            run = subprocess.run(
                [sys.executable, SCRIPT, *paths], capture_output=True, text=True, check=False
            )
        return run.returncode, run.stdout.splitlines()[-1]

    def suite(self, *cases):
        return f'<?xml version="1.0"?><testsuite name="x">{"".join(cases)}</testsuite>'

    def test_doctest_cases_and_other_tests_are_summed_over_all_files(self):
        unit = case("unit", "run", SUMMARY.format(12, 12, 0))
        text = self.suite(unit, case("layers", "run", "fine"))
        self.assertEqual(self.count(text, text), (0, "26 passed, 0 failed"))

    def test_failed_cases_are_counted(self):
        text = self.suite(case("unit", "fail", SUMMARY.format(12, 10, 2), FAILURE))
        self.assertEqual(self.count(text), (1, "10 passed, 2 failed"))

    def test_a_crash_without_a_summary_is_a_failure(self):
        text = self.suite(case("unit", "fail", "Segmentation fault", FAILURE))
        self.assertEqual(self.count(text), (1, "0 passed, 1 failed"))

    def test_a_failure_after_a_good_summary_is_a_failure(self):
        text = self.suite(case("unit", "fail", SUMMARY.format(5, 5, 0) + "leak", FAILURE))
        self.assertEqual(self.count(text), (1, "5 passed, 1 failed"))

    def test_a_test_that_did_not_run_is_a_failure(self):
        text = self.suite(case("unit", "notrun"), case("layers", "run"))
        self.assertEqual(self.count(text), (1, "1 passed, 1 failed"))

    def test_a_test_that_skips_itself_is_neither(self):
        text = self.suite(case("page", "notrun", "", '<skipped message="SKIP_RETURN_CODE=77"/>'), case("layers", "run"))
        self.assertEqual(self.count(text), (0, "1 passed, 0 failed"))

    def test_a_program_that_is_not_there_is_a_failure(self):
        text = self.suite(case("unit", "notrun", "", '<skipped message="Unable to find executable"/>'), case("layers", "run"))
        self.assertEqual(self.count(text), (1, "1 passed, 1 failed"))

    def test_a_missing_or_broken_file_is_a_failure(self):
        good = self.suite(case("layers", "run"))
        self.assertEqual(self.count(good, None), (1, "1 passed, 1 failed"))
        self.assertEqual(self.count(good, "<testsuite"), (1, "1 passed, 1 failed"))

    def test_nothing_run_is_no_success(self):
        self.assertEqual(self.count(self.suite()), (1, "0 passed, 0 failed"))
        self.assertEqual(self.count(), (1, "0 passed, 0 failed"))


if __name__ == "__main__":
    unittest.main()
