"""The check of documents runs their commands and notices what is not true."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "check_readme.py"

PROGRAM = """#!/bin/sh
case "$1" in
  help) test "$2" = run && echo "  --plot FILE" || exit 2 ;;
  list) echo "name          meaning"; echo "sign          lambda in sign(w)"; echo "relay(l, u)   lambda = l | u" ;;
  fail) echo "no" >&2; exit 3 ;;
  *) echo "end 4.3333333"; echo "summary" >&2; test -d models ;;
esac
"""

GOOD = """# Title [link](examples/a.cpp)

```console
$ scripts/perp run
end 4.33333333
summary
$ scripts/perp fail
no
(exit status 3)
```

```cpp
int main() {}
```

```toml
# own.toml
x = 1
```

```console
$ cat own.toml |
> wc -l
2
```

```sh
scripts/perp run      # takes minutes
```

`perp run --plot x.svg` draws; see [above](#title-link).

<!-- perp list laws -->

| law | meaning |
| --- | --- |
| `sign` | x |
| `relay(l, u)` | y |
"""


class CheckReadme(unittest.TestCase):
    def check(self, old="", new="", *options):
        self.assertIn(old, GOOD)
        with tempfile.TemporaryDirectory() as name:
            root = pathlib.Path(name)
            for folder in ("models", "examples", "scripts"):
                (root / folder).mkdir()
            (root / "examples" / "a.cpp").write_text("// a\nint main() {}\n", encoding="utf-8")
            (root / "scripts" / "perp").write_text("", encoding="utf-8")
            program = root / "perp"
            program.write_text(PROGRAM, encoding="utf-8")
            program.chmod(0o755)
            document = root / "README.md"
            document.write_text(GOOD.replace(old, new), encoding="utf-8")
            run = subprocess.run(
                [sys.executable, SCRIPT, document, "--root", root, "--program", program, *options],
                capture_output=True,
                text=True,
                check=False,
            )
            self.text = document.read_text(encoding="utf-8")
        self.assertEqual(run.stderr, "")
        return run.returncode, run.stdout

    def complains(self, part, old, new):
        status, output = self.check(old, new)
        self.assertEqual(status, 1)
        self.assertIn(part, output)

    def test_a_true_document_passes(self):
        self.assertEqual(self.check(), (0, ""))

    def test_update_writes_the_digits_that_are_printed_and_nothing_else(self):
        self.assertEqual(self.check("", "", "--update"), (0, ""))
        self.assertEqual(self.text, GOOD.replace("4.33333333", "4.3333333"))
        status, output = self.check("4.33333333", "4.34", "--update")
        self.assertEqual(status, 1)  # what is no rounding stays, and is told
        self.assertEqual(self.text, GOOD.replace("4.33333333", "4.34"))

    def test_the_readme_of_the_tree_has_at_most_120_lines(self):
        self.assertLessEqual(len((SCRIPT.parents[1] / "README.md").read_text(encoding="utf-8").splitlines()), 120)

    def test_a_wrong_number_is_found(self):
        self.complains("README.md:3: $ scripts/perp run", "4.33333333", "4.34")

    def test_a_missing_line_of_output_is_found(self):
        self.complains("$ scripts/perp run", "summary\n", "")

    def test_another_exit_status_is_found(self):
        self.complains("$ scripts/perp fail", "(exit status 3)", "(exit status 2)")
        self.complains("$ scripts/perp fail", "(exit status 3)\n", "")

    def test_a_program_that_is_not_in_the_tree_is_found(self):
        self.complains("in no file", "int main() {}", "int main() { }")

    def test_a_dead_link_is_found(self):
        self.complains("README.md:1: there is no examples/b.cpp", "examples/a.cpp", "examples/b.cpp")

    def test_a_block_that_names_a_file_becomes_it(self):
        self.complains("$ cat own.toml", "# own.toml", "# other.toml")
        self.complains("in no file", "# own.toml\n", "")

    def test_a_command_that_nothing_would_check_is_found(self):
        self.complains("not checked", "| law | meaning |", "    scripts/perp run\n\n| law | meaning |")
        self.complains("'bash' is no kind", "```sh", "```bash")
        self.complains("there is no scripts/no", "scripts/perp run      #", "scripts/no      #")

    def test_an_option_or_command_in_a_sentence_must_exist(self):
        self.complains("has no --plit", "`perp run --plot", "`perp run --plit")
        self.complains("no command walk", "`perp run --plot", "`perp walk --plot")

    def test_a_link_to_a_heading_that_is_not_there_is_found(self):
        self.complains("no heading #title", "#title-link", "#title")

    def test_tables_and_lists_must_have_the_same_names(self):
        self.complains("does not list signum", "`sign`", "`signum`")
        self.complains("relay(l, of perp", "| `relay(l, u)` | y |\n", "")


if __name__ == "__main__":
    unittest.main()
