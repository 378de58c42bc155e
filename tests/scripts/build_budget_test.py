"""Times of a build: read from ninja's log, and a budget that is kept or not."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "build_budget"
LOG = (
    "# ninja log v5\n"
    "0\t2000\t1\ta.o\tx\n"
    "500\t90000\t1\tb.o\tx\n"
    "0\t1500\t1\ta.o\ty\n"  # a step that was made twice counts once
    "90000\t91000\t1\tprogram\tx\n"
)


class BuildBudget(unittest.TestCase):
    def run_script(self, log, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            if log is not None:
                pathlib.Path(folder, ".ninja_log").write_text(log, encoding="utf-8")
            return subprocess.run(
                [sys.executable, SCRIPT, folder, *arguments], capture_output=True, text=True, check=False
            )

    def test_the_elapsed_time_the_sum_and_the_slowest_steps_are_printed(self):
        run = self.run_script(LOG, "--slowest", "2")
        self.assertEqual(run.returncode, 0)
        first, *steps = run.stdout.splitlines()
        self.assertTrue(first.endswith("91 s for 3 steps, 92 s one after the other"), first)
        self.assertEqual([step.split()[-1] for step in steps], ["b.o", "a.o"])

    def test_a_budget_is_kept_or_not(self):
        self.assertEqual(self.run_script(LOG, "--budget", "91").returncode, 0)
        late = self.run_script(LOG, "--budget", "90.9")
        self.assertEqual(late.returncode, 1)
        self.assertIn("budget of 90.9 s", late.stderr)

    def test_a_folder_that_was_not_built_is_an_error(self):
        self.assertEqual(self.run_script(None).returncode, 2)
        self.assertEqual(self.run_script("# ninja log v5\n").returncode, 2)


if __name__ == "__main__":
    unittest.main()
