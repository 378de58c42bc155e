"""The check of the page of messages finds what is missing on it and what stands there in vain."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "check_messages.py"

SOURCE = """
void check(double h) {
  if (h <= 0) throw InvalidInput(fmt::format("h must be {} "  // a comment
                                             "but is {}", "positive", h));
  fmt::print("a table of three words\\n");
}
"""

PAGE = """# Messages

### step-length

- `h must be … but is …`

It must be positive.
"""


class CheckMessages(unittest.TestCase):
    def check(self, page, source=SOURCE):
        with tempfile.TemporaryDirectory() as name:
            root = pathlib.Path(name)
            for folder in ("docs", "core"):
                (root / folder).mkdir()
            (root / "core" / "a.cpp").write_text(source, encoding="utf-8")
            (root / "docs" / "messages.md").write_text(page, encoding="utf-8")
            run = subprocess.run(
                [sys.executable, SCRIPT, root], capture_output=True, text=True, check=False
            )
        self.assertEqual(run.stderr, "")
        return run.returncode, run.stdout

    def test_a_page_that_has_every_message_passes(self):
        self.assertEqual(self.check(PAGE), (0, ""))

    def test_a_message_without_an_entry_is_found(self):
        status, output = self.check(PAGE, SOURCE.replace("positive\"", "more than zero here\""))
        self.assertEqual(status, 1)
        self.assertIn("core/a.cpp:4: no entry of docs/messages.md has: more than zero here", output)

    def test_a_text_that_no_source_has_is_found(self):
        status, output = self.check(PAGE.replace("must be", "has to be"))
        self.assertEqual(status, 1)
        self.assertIn("the sources do not have: h has to be … but is …", output)

    def test_an_entry_that_stands_twice_is_found(self):
        status, output = self.check(PAGE + PAGE)
        self.assertEqual(status, 1)
        self.assertIn("step-length stands there twice", output)


if __name__ == "__main__":
    unittest.main()
