"""Every mutant of scripts/mutants.toml fits the sources, exactly once, and one that does not is refused before anything is built."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MUTANT = """[[mutant]]
name = "{name}"
about = "a test"
file = "{file}"
judges = ["{judge}"]
old = "{old}"
new = "{new}"
"""


class Mutants(unittest.TestCase):
    def run_script(self, *arguments):
        return subprocess.run(
            [sys.executable, ROOT / "scripts" / "mutants", *arguments], capture_output=True, text=True, check=False
        )

    def run_table(self, *tables, arguments=()):
        usual = {"name": "A", "file": "scripts/mutants", "judge": "core:interval", "old": "class Copy:", "new": "class Other:"}
        with tempfile.TemporaryDirectory() as folder:
            table = pathlib.Path(folder, "table.toml")
            table.write_text("".join(MUTANT.format(**{**usual, **change}) for change in tables), encoding="utf-8")
            return self.run_script("--list", "--table", table, *arguments)

    def refuses(self, message, *tables, arguments=()):
        run = self.run_table(*tables, arguments=arguments)
        self.assertEqual(run.returncode, 2)
        self.assertIn(message, run.stderr)

    def test_every_mutant_of_the_table_fits_the_sources_exactly_once(self):
        run = self.run_script("--list")
        self.assertEqual(run.returncode, 0, run.stderr)
        names = [line.split()[0] for line in run.stdout.splitlines()]
        wanted = [f"{kind}{k}" for kind, count in (("A", 16), ("S", 7), ("E", 13)) for k in range(1, count + 1)]
        self.assertEqual([name for name in names if name in wanted], wanted)

    def test_a_mutant_that_fits_is_listed_with_its_file(self):
        run = self.run_table({}, {"name": "B"}, arguments=("--only", "B"))
        self.assertEqual((run.returncode, run.stdout), (0, "B    scripts/mutants: a test\n"))

    def test_a_text_that_is_not_there_or_stands_twice_is_refused(self):
        self.refuses("its text stands 0 times", {"old": "no such text"})
        self.refuses("expected once", {"old": "def "})

    def test_a_mutant_that_changes_nothing_is_refused(self):
        self.refuses("another after", {"new": "class Copy:"})

    def test_wrong_names_files_and_judges_are_refused(self):
        self.refuses("two mutants have this name", {}, {})
        self.refuses("there is no file nowhere.cpp", {"file": "nowhere.cpp"})
        self.refuses("'core:nobody' is no judge", {"judge": "core:nobody"})
        self.refuses("no mutant is called C", {}, arguments=("--only", "C"))


if __name__ == "__main__":
    unittest.main()
