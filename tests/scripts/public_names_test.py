"""The names that perp.hpp declares are counted as a user's program sees them."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "public_names"
HEADER = """
#pragma once
#include <perp/part.hpp>
namespace perp {
struct Point { int x = {}; int f() { return x; } };
enum class Kind { one, two };
using Points = Point*;
inline constexpr int limit = 1'000;  inline const char* text = "{;";
template <class T> T twice(const T& value, Point start = {}) { return value + value; }
int twice(int value);
Point operator+(Point a, Point b);
inline int Inner::member() { return 1; }
namespace inner { class Hidden; void run(int (*f)(int)); }
}
"""
NAMES = {"Inner", "Point", "Kind", "Points", "limit", "text", "twice", "operator+", "inner::Hidden", "inner::run"}


class PublicNames(unittest.TestCase):
    def run_script(self, header, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            own = pathlib.Path(folder, "perp")
            own.mkdir()
            (own / "perp.hpp").write_text("#include <cstddef>\n" + header, encoding="utf-8")
            (own / "part.hpp").write_text("namespace perp { struct Inner { int member(); }; }\n", encoding="utf-8")
            return subprocess.run(
                [sys.executable, SCRIPT, folder, "--flags", "", *arguments], capture_output=True, text=True, check=False
            )

    def test_each_name_of_the_own_headers_counts_once_and_members_do_not(self):
        run = self.run_script(HEADER)
        self.assertEqual(run.returncode, 0, run.stderr)
        *lines, last = run.stdout.splitlines()
        found = {name.removeprefix("perp::") for line in lines for name in line.split(": ", 1)[1].split()}
        self.assertEqual(found, NAMES)
        self.assertEqual(last.split(), [str(len(NAMES)), "names"])

    def test_more_names_than_allowed_fail(self):
        self.assertEqual(self.run_script(HEADER, "--most", str(len(NAMES))).returncode, 0)
        self.assertEqual(self.run_script(HEADER, "--most", str(len(NAMES) - 1)).returncode, 1)

    def test_a_header_that_does_not_compile_is_an_error(self):
        self.assertEqual(self.run_script("#include <no_such_header>\n").returncode, 2)


if __name__ == "__main__":
    unittest.main()
