"""study_check.py PERP: scripts/study, with few step lengths, finds the numbers it is about."""

import csv
import math
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

STUDY = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "study"
PERP = None


def run(folder, program):
    return subprocess.run(
        [sys.executable, STUDY, folder, "--quick", "--program", program],
        capture_output=True,
        text=True,
        check=False,
    )


class Study(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        done = run(cls.folder, PERP)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        with open(cls.folder / "numbers.csv", encoding="utf-8", newline="") as stream:
            cls.numbers = {row["name"]: float(row["value"]) for row in csv.DictReader(stream)}

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def matching(self, pattern, count):
        """The numbers whose name matches the pattern; at least `count`, so that none hides."""
        found = [value for name, value in self.numbers.items() if re.fullmatch(pattern, name)]
        self.assertGreaterEqual(len(found), count, pattern)
        return found

    def assert_all(self, pattern, count, low, high):
        for value in self.matching(pattern, count):
            self.assertGreaterEqual(value, low, pattern)
            self.assertLessEqual(value, high, pattern)

    def number(self, name):
        self.assertIn(name, self.numbers)
        return self.numbers[name]

    def test_figure_2_the_cones_are_those_in_which_perp_finds_one_and_two_solutions(self):
        self.assert_all(r"figure 2, sliding-\w+: points of the grid inside", 2, 300, 500)
        self.assert_all(r"figure 2, sliding-\w+: points with another number of solutions", 2, 0, 0)
        self.assert_all(r"figure 2, from A- to the (left|right): largest error", 2, 0, 1e-12)
        self.assertEqual(self.number("figure 2: largest distance of |C_i B| from perp check"), 0)
        corners = (self.folder / "figure02_sliding-repulsive.csv").read_text(encoding="utf-8")
        self.assertIn("1,-2,2", corners)  # where B1 + B2 = 0 meets the square

    def test_figure_3_filippov_slides_as_the_dae_does_or_not_at_all(self):
        slides = "figure 3, sliding-repulsive: sliding rate of "
        self.assertAlmostEqual(self.number(slides + "Filippov"), self.number(slides + "the DAE"), delta=1e-12)
        self.assertAlmostEqual(self.number(slides + "the DAE"), 0.5, delta=1e-12)
        self.assertAlmostEqual(self.number(slides + "the reduced equations"), 0.5, delta=1e-12)
        self.assertGreater(self.number("figure 3, sliding-crossing: lowest x1' of the hull"), 0.6)
        missed = self.number("figure 3, sliding-crossing: distance of the reduced solution from the constraint")
        self.assertAlmostEqual(missed, 2, delta=1e-9)

    def test_figure_4_every_case_has_the_solutions_of_the_two_graphs(self):
        found = [self.number(f"figure 4, a - b {case}: solutions") for case in ("> 0, a + b > 0", "< 0, a + b > 0", "< 0, a + b < 0")]
        self.assertEqual(found, [1, 2, 3])
        self.assert_all(r"figure 4, .*: largest distance from the two graphs", 3, 0, 1e-12)
        self.assert_all(r"figure 4, .*: is the list complete", 3, 1, 1)

    def test_figure_5_there_is_a_jump_where_the_line_is_steeper_than_the_constraint(self):
        found = [self.number(f"figure 5, B = {B}: jumps") for B in ("(1, 2)", "(1, 3)", "(1, 1)", "(2, 1)")]
        self.assertEqual(found, [1, 1, 0, 0])
        self.assert_all(r"figure 5, .*: error", 4, 0, 1e-12)

    def test_figure_6_the_relay_form_is_exact_at_the_grid_points(self):
        self.assert_all(r"figure 6, B1 = -0\.(49|5): largest error", 2, 0, 1e-12)

    def test_figure_6_newton_needs_the_right_derivative(self):
        name = r"figure 6, Newton, B1 = -0\.(49|5), derivative {}: reached t"
        self.assert_all(name.format(r"1 \+ x1"), 2, 10, 10)
        self.assert_all(name.format("x1"), 2, 1.3, 1.55)  # sliding begins at 1.5 and 1.53

    def test_figure_6_every_method_that_runs_the_lcp_form_is_exact(self):
        self.assert_all(r"figure 6, \w+, B1 = -0\.(49|5): largest error", 6, 0, 1e-12)
        for method in ("enumerate", "lemke", "mode_search"):
            self.matching(rf"figure 6, {method}, B1 = -0\.(49|5): largest error", 2)

    def test_figures_7_and_8_are_exact_at_the_grid_points(self):
        self.assert_all(r"figures 7 and 8, h = 0\.[39]: largest error", 2, 0, 1e-12)

    def test_figure_9_as_published_has_slope_one_with_A_0(self):
        name = r"figure 9, sliding-(crossing|repulsive), ceil \+ 1: slope against x\(T\)"
        self.assert_all(name, 2, 0.9, 1.1)

    def test_figure_9_that_error_is_the_distance_of_t_N_from_T(self):
        name = r"figure 9, sliding-(crossing|repulsive), .*: not explained by t_N"
        self.assert_all(name, 6, 0, 1e-5)

    def test_figure_9_with_A_0_there_is_rounding_at_t_N(self):
        name = r"figure 9, sliding-(crossing|repulsive), .*: error at t_N"
        self.assert_all(name, 6, 0, 1e-10)

    def test_figure_9_variant_37_has_order_one_and_its_errors(self):
        for h, error in (("0.0129", 7.5e-4), ("0.00129", 7.5e-5)):
            found = self.numbers[f"figure 9, variant (37), h = {h}: error at T"]
            self.assertAlmostEqual(found / error, 1, delta=0.01)
        self.assert_all(r"figure 9, variant \(37\), h = .*: order", 1, 0.99, 1.01)
        self.assert_all(r"perp converge, variant \(37\), .*: order", 2, 0.99, 1.01)

    def test_figure_9_perp_converge_claims_no_order_with_A_0(self):
        report = (self.folder / "study.md").read_text(encoding="utf-8")
        self.assertEqual(len(re.findall("^no order: ", report, re.MULTILINE)), 2)

    def test_figures_10_and_11_have_the_error_of_implicit_euler(self):
        # largest at the last grid point in the sliding mode: x2 = 1/(1 - h/2)^k - 1 against
        # exp(k h/2) - 1, k = 1 for h = 0.9 and 4 for h = 0.3
        for h, k in ((0.9, 1), (0.3, 4)):
            error = 1 / (1 - h / 2) ** k - math.exp(k * h / 2)
            found = self.numbers[f"figures 10 and 11, h = {h}: largest error"]
            self.assertAlmostEqual(found, error, delta=1e-12)

    def test_whole_steps_of_all_forms_are_the_same(self):
        self.assert_all(r"forms, .*: whole steps", 15, 0, 1e-12)

    def test_every_picture_is_drawn_and_shown(self):
        report = (self.folder / "study.md").read_text(encoding="utf-8")
        for figure in ("02", "03", "04", "05", "06", "07", "08", "09", "10", "11"):
            picture = self.folder / f"figure{figure}.png"
            self.assertGreater(picture.stat().st_size, 5000)
            self.assertIn(f"({picture.name})", report)

    def test_a_program_that_is_not_there_is_one_clear_message(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run(folder, "/nowhere/perp")
        self.assertEqual(done.returncode, 1)
        message = "scripts/study: /nowhere/perp cannot be started: No such file or directory\n"
        self.assertEqual(done.stderr, message)


if __name__ == "__main__":
    PERP = sys.argv.pop(1)
    unittest.main()
