"""Comparing output: words exactly, numbers with a tolerance, "..." for any lines."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
from compare_output import difference  # noqa: E402


class CompareOutput(unittest.TestCase):
    def test_equal_texts_agree(self):
        self.assertIsNone(difference("x(10) = 4.33333 5.33333\n", "x(10) = 4.33333 5.33333"))

    def test_numbers_may_differ_by_the_tolerance_only(self):
        self.assertIsNone(difference("end 4.33333 -1e-3", "end 4.333333 -0.001"))
        self.assertIsNotNone(difference("end 4.33333", "end 4.33433"))
        self.assertIsNotNone(difference("end 1", "end -1"))
        self.assertIsNotNone(difference("end 1", "end nan"))
        self.assertIsNone(difference("end 0", "end 1e-12"))

    def test_words_are_compared_exactly(self):
        self.assertIsNotNone(difference("solved 1", "no_solution 1"))
        self.assertIsNotNone(difference("x1 = 2", "x2 = 2"))
        self.assertIsNone(difference("a   1   b", "a 1 b"))

    def test_missing_and_surplus_lines_are_differences(self):
        self.assertIsNotNone(difference("a\nb", "a"))
        self.assertIsNotNone(difference("a", "a\nb"))
        self.assertIsNotNone(difference("a", ""))

    def test_dots_stand_for_any_lines(self):
        self.assertIsNone(difference("a\n...\nz", "a\nb\nc\nz"))
        self.assertIsNone(difference("a\n...\nz", "a\nz"))
        self.assertIsNone(difference("a\n...", "a\nb\nc"))
        self.assertIsNotNone(difference("a\n...\nz", "a\nb\nc"))

    def test_the_first_difference_is_named(self):
        self.assertEqual(
            difference("a 1\nb 2\nc 3", "a 1\nb 7\nc 3"),
            "expected line 2: b 2\nfound line 2:    b 7",
        )


if __name__ == "__main__":
    unittest.main()
