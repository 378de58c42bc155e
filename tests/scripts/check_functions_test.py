"""The check of functions counts what a function decides, and its list can only become shorter."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"
sys.path.insert(0, str(SCRIPTS))
import check_functions  # noqa: E402


def complexity(text):
    """{name: complexity} of the functions of a text."""
    return {name: number for name, _, _, number in check_functions.functions_of(text)}


def chain(decisions):
    """A function of so many decisions."""
    return "int f(int a) {\n" + "  if (a > 0) ++a;\n" * decisions + "  return a;\n}\n"


class Counting(unittest.TestCase):
    def test_every_decision_counts_once(self):
        self.assertEqual(complexity("int f() { return 1; }"), {"f": 1})
        self.assertEqual(complexity(
            "void A::f(int a) const { if (a && b || c) for (;;) while (a) x = a ? 1 : 2; }"), {"A::f": 7})
        self.assertEqual(complexity("int f(E e) { switch (e) { case E::a: return 1; case E::b: return 2; } }"), {"f": 3})
        self.assertEqual(complexity("void f() { try { g(); } catch (const E&) {} }"), {"f": 2})

    def test_comments_texts_references_and_the_preprocessor_do_not_count(self):
        self.assertEqual(complexity('#if A && B\n#endif\nvoid f(T&& a, auto&& b) { // if && ?\n  g("if ? {", \'"\', R"(&& {)"); /* || */ }'),
                         {"f": 1})

    def test_lambdas_belong_to_their_function_and_members_stand_alone(self):
        self.assertEqual(complexity("struct S { S() : a_(1), b_{2} { if (a_) b(); }\n bool operator==(int o) const { return o && a_; } };"),
                         {"S": 2, "operator==": 2})
        self.assertEqual(complexity("auto f() -> int { return sort([](int a) { return a ? 1 : 2; }); }\nvoid g(int);"), {"f": 2})


class TheList(unittest.TestCase):
    def check(self, text, listed=""):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, content in (("core/f.cpp", text), ("scripts/functions.txt", listed)):
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(content, encoding="utf-8")
            run = subprocess.run([sys.executable, SCRIPTS / "check_functions.py", folder],
                                 capture_output=True, text=True, check=False)
        return run.returncode, run.stdout

    def test_what_is_above_the_limit_must_be_listed_and_may_not_get_worse(self):
        self.assertEqual(self.check(chain(9))[0], 0)
        status, output = self.check(chain(10))
        self.assertEqual(status, 1)
        self.assertIn("core/f.cpp:1: f has the complexity 11, at most 10 is allowed", output)
        self.assertEqual(self.check(chain(10), "core/f.cpp f 11 13 to do\n")[0], 0)
        self.assertIn("at most 11 is allowed", self.check(chain(11), "core/f.cpp f 11 13 to do\n")[1])

    def test_what_became_better_is_written_down(self):
        self.assertIn("became better", self.check(chain(10), "core/f.cpp f 12 13 to do\n")[1])
        self.assertIn("does not exist any more", self.check(chain(1), "core/f.cpp g 12 13 to do\n")[1])

    def test_length_is_a_figure_too(self):
        self.assertIn("has the length 54", self.check("int f() {\n" + "  g();\n" * 52 + "}\n")[1])


if __name__ == "__main__":
    unittest.main()
