"""proof_check.py PERP: scripts/check_proof shows proofs of perp enclose again, and sees it where one of their numbers is not so."""

import copy
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "check_proof"
PERP = None

# crossing by a wide set, sliding and its end, with functions of time; states that others give; gaps that fall at one time
# and a state at rest
MODELS = {
    "relay": """
[parameters]
m = "[3, 3.0078125]"
[variables]
x = 1
v = 0.5
[model]
equations = ["der(x) = v", "der(v) = 2*cos(3*t) - 0.2*v - x - m*sign(v)"]
[run]
t = [0, 1]
h = 0.25
""",
    "pendulum": """
[variables]
a = "[0.1, 0.2]"
w = 0
y = 0.1
[model]
equations = ["der(a) = w", "der(w) = -y - 0.1*w*sqrt(1 + w^2)*exp(-a) + 0.1*log(2 + t)/(1 + a^2)", "y = sin(a)"]
[run]
t = [0, 0.5]
h = 0.25
""",
    "surface": """
[variables]
x = "[0.5, 0.53125]"
y = "[-0.25, -0.21875]"
[model]
equations = ["der(x) = -sign(x + 0.5*y) + 0.25*y", "der(y) = 0.5 - 0.125*y"]
[run]
t = [0, 2]
h = 0.25
""",
    "nested": """
[variables]
x = "[2.5, 2.53125]"
v = 0
idle = 0
[model]
equations = ["der(x) = v", "der(v) = -if(abs(x) > 1, sign(x), 0)", "der(idle) = 3*idle*x"]
[run]
t = [0, 3]
h = 0.25
""",
}
# followed as one as well, since pieces are lost; a state that keeps what is in its frame while another one is reorganized
SLANT = """
[variables]
x = "[0.3, 1.3]"
y = "[0.7, 1.7]"
[model]
equations = ["der(x) = 1.7*step(sin(2*t)) - 1.1*sign(x)", "der(y) = -1.3*sat(x - y, -1, 1)"]
[run]
t = [0, 10]
"""
UNKNOWN = """
[variables]
x = 1
y = 0.5
[model]
equations = ["der(x) = -y", "y + y^3 = x"]
[run]
t = [0, 1]
h = 0.5
"""


def narrowed(pair):
    """An interval with its lower end in the middle."""
    low, high = map(float.fromhex, pair)
    return [(low + (high - low) / 2).hex(), pair[1]]


def later(step):
    return float.fromhex(step["t"]) > 0


def has_frame(step):
    return later(step) and any(low != high for low, high in step["after"]["r"])


class Proof(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.proofs = {name: cls.prove(name, text) for name, text in MODELS.items()}

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    @classmethod
    def prove(cls, name, text):
        (cls.folder / f"{name}.toml").write_text(text, encoding="utf-8")
        rows = []
        for options in ([], ["--proof", f"{name}.json"]):
            done = subprocess.run(
                [PERP, "enclose", f"{name}.toml", "-o", "-", "--quiet", "--order", "8", *options],
                cwd=cls.folder, capture_output=True, text=True, check=False,
            )
            if done.returncode != 0:
                raise AssertionError(done.stderr)
            rows.append(done.stdout)
        if rows[0] != rows[1]:
            raise AssertionError(f"{name}: a proof that is written down has other rows")
        return json.loads((cls.folder / f"{name}.json").read_text(encoding="utf-8"))

    def check(self, proof, *options):
        path = self.folder / "checked.json"
        path.write_text(json.dumps(proof), encoding="utf-8")
        return subprocess.run([sys.executable, CHECK, *options, path], capture_output=True, text=True, check=False)

    def refuses(self, name, step, change, message):
        """A proof of this step alone is shown again, and with this change it is not."""
        proof = copy.deepcopy(self.proofs[name])
        piece = proof["pieces"][0]
        piece["steps"] = [next(given for given in piece["steps"] if step(given))]
        del proof["pieces"][1:]
        done = self.check(proof)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        change(piece["steps"][0], piece)
        done = self.check(proof)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("NOT SHOWN: piece 0, step 0", done.stdout)
        self.assertIn(message, done.stdout)

    def test_proofs_are_shown_again(self):
        for name, every in (("relay", 6), ("pendulum", 6), ("surface", 3)):
            proof = self.proofs[name]
            done = self.check(proof, "--every", f"{every}")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            steps = sum(len(range(0, len(piece["steps"]), every)) for piece in proof["pieces"])
            self.assertIn(f" {steps} steps", done.stdout, name)
            self.assertIn(f"{len(proof['pieces'])} a start", done.stdout, name)
            self.assertIn("0 not judged", done.stdout, name)

    def test_pieces_and_the_whole_that_bounds_them_are_shown_again(self):
        (self.folder / "slant.toml").write_text(SLANT, encoding="utf-8")
        done = subprocess.run(
            [PERP, "enclose", "slant.toml", "-o", "-", "--quiet", "--pieces-max", "16", "--times", "1,2,5", "--proof", "slant.json"],
            cwd=self.folder, capture_output=True, text=True, check=False,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        proof = json.loads((self.folder / "slant.json").read_text(encoding="utf-8"))
        self.assertEqual(len(proof["pieces"]), 17)
        shown = self.check(proof)
        self.assertEqual(shown.returncode, 0, shown.stdout + shown.stderr)

    def test_a_bound_that_does_not_hold_the_remainder_is_seen(self):
        def change(step, _):
            step["V"] = [narrowed(narrowed(pair)) for pair in step["V"]]
        self.refuses("surface", later, change, "R is not inside of V")

    def test_sets_that_miss_members_are_seen(self):
        def narrow(part):
            def change(step, _):
                step["after"][part] = [narrowed(pair) for pair in step["after"][part]]
            return change

        def move(step, _):
            step["after"]["x"] = [(float.fromhex(x) + 1e-9).hex() for x in step["after"]["x"]]

        def turn(step, _):
            step["after"]["C"][0] = step["after"]["C"][1]
        self.refuses("surface", has_frame, narrow("r"), "misses members in direction")
        self.refuses("surface", later, narrow("box"), "the box after the step misses members")
        self.refuses("surface", later, narrow("r0"), "the reorganized set misses members")
        self.refuses("surface", later, move, "misses members")
        self.refuses("surface", later, turn, "the reorganized set misses members")

    def test_rows_that_miss_members_are_seen(self):
        def change(step, _):
            step["rows"][0]["box"] = [narrowed(pair) for pair in step["rows"][0]["box"]]
        self.refuses("surface", lambda step: later(step) and step["rows"], change, "the row at t = ")

    def test_gaps_with_another_sign_are_seen(self):
        def has_gaps(step):
            return later(step) and any(gap[3] == "positive" for gap in step["slices"][0]["gaps"])

        def change(step, _):
            del step["slices"][1:]
            for gap in step["slices"][0]["gaps"]:
                gap[1:] = [-gap[1], "falling", "positive"]
        self.refuses("surface", has_gaps, change, "gap ")

    def test_times_at_which_gaps_are_not_watched_are_seen(self):
        def without(place):
            def change(step, _):
                del step["slices"][place]
            return change
        self.refuses("surface", later, without(0), "not covered")
        self.refuses("surface", later, without(-1), "not watched to the end")

    def test_other_equations_have_other_solutions(self):
        def change(_, piece):
            for line in [line for flow in piece["flows"] for line in flow["tape"]]:
                if line[0] == "constant" and float.fromhex(line[1]) not in (0, 1, -1):
                    line[1] = (float.fromhex(line[1]) * (1 + 1e-6)).hex()
        self.refuses("surface", later, change, "misses members")

    def test_a_start_that_the_first_set_does_not_hold_is_seen(self):
        def change(step, _):
            step["before"]["r0"][0] = narrowed(step["before"]["r0"][0])
        self.refuses("surface", lambda step: not later(step), change, "the start is missed")

    def test_what_is_not_known_here_is_counted_as_such(self):
        done = self.check(self.prove("unknown", UNKNOWN))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r" 0 steps, .* [1-9]\d* not judged")

    def test_files_of_another_kind_are_refused(self):
        done = self.check({"pieces": [{}]})
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("expected a file of perp enclose --proof", done.stderr)


if __name__ == "__main__":
    PERP = sys.argv.pop(1)
    unittest.main()
