"""The layer check finds every kind of violation in a small bad tree, and nothing in a good one."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "check_layers.py"

GOOD = {
    "perp.hpp": "#include <perp/core/law.hpp>\n#include <perp/schemes/euler.hpp>\n",
    "core/law.hpp": "#include <vector>\n",
    "core/base/types.hpp": "#include <vector>\n",
    "lcp/solve.hpp": "#include <perp/core/law.hpp>\n",
    "lcp/solve.cpp": "  #  include <perp/lcp/solve.hpp>\n// #include <perp/cli/print.hpp>\n",
    "schemes/euler.hpp": "#include <perp/lcp/solve.hpp>\n",
    "models/circuit.hpp": "#include <perp/core/law.hpp>\n",
    "cli/print.hpp": "#include <iostream>\n#include <perp/perp.hpp>\n",
    "tests/core/law_test.cpp": "#include <perp/cli/print.hpp>\n",
    "build/release/generated.cpp": '#include "anything.hpp"\n',
    ".hidden/core.cpp": '#include "anything.hpp"\n',
}


class CheckLayers(unittest.TestCase):
    def check(self, **changes):
        """Exit status and output for the good tree with some files replaced."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {**GOOD, **changes}.items():
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            run = subprocess.run(
                [sys.executable, SCRIPT, folder], capture_output=True, text=True, check=False
            )
        return run.returncode, run.stdout

    def complains(self, message, **changes):
        status, output = self.check(**changes)
        self.assertEqual(output.splitlines(), [message])
        self.assertEqual(status, 1)

    def test_a_good_tree_has_no_complaint(self):
        self.assertEqual(self.check(), (0, "9 files, no complaint\n"))

    def test_core_may_not_include_lcp(self):
        self.complains(
            "core/law.hpp:2: core may not include <perp/lcp/solve.hpp> (only core)",
            **{"core/law.hpp": "#include <vector>\n#include <perp/lcp/solve.hpp>\n"},
        )

    def test_a_room_obeys_the_rule_of_its_own(self):
        self.complains(
            "core/base/types.hpp:1: core/base may not include <perp/core/law.hpp> (only core/base)",
            **{"core/base/types.hpp": "#include <perp/core/law.hpp>\n"},
        )

    def test_matrices_are_factorized_in_one_folder(self):
        self.complains(
            "lcp/solve.hpp:1: <Eigen/LU>: only core/linear factorizes matrices",
            **{"lcp/solve.hpp": "#include <Eigen/LU>\n", "core/linear/lu.cpp": "#include <Eigen/LU>\n"},
        )

    def test_lcp_may_not_include_schemes(self):
        self.complains(
            "lcp/solve.hpp:1: lcp may not include <perp/schemes/euler.hpp> (only core, lcp)",
            **{"lcp/solve.hpp": "#include <perp/schemes/euler.hpp>\n"},
        )

    def test_schemes_may_not_include_models(self):
        self.complains(
            "schemes/euler.hpp:1: schemes may not include <perp/models/circuit.hpp>"
            " (only core, lcp, schemes)",
            **{"schemes/euler.hpp": "#include <perp/models/circuit.hpp>\n"},
        )

    def test_models_may_include_core_only(self):
        self.complains(
            "models/circuit.hpp:1: models may not include <perp/lcp/solve.hpp> (only core, models)",
            **{"models/circuit.hpp": "#include <perp/lcp/solve.hpp>\n"},
        )

    def test_the_library_may_not_include_everything_at_once(self):
        self.complains(
            "core/base/types.hpp:1: core/base may not include <perp/perp.hpp> (only core/base)",
            **{"core/base/types.hpp": "#include <perp/perp.hpp>\n"},
        )

    def test_quoted_includes_are_refused(self):
        self.complains(
            'cli/print.hpp:1: write <perp/...> instead of "print.hpp"',
            **{"cli/print.hpp": '#include "print.hpp"\n'},
        )

    def test_own_headers_without_the_prefix_are_refused(self):
        self.complains(
            "lcp/solve.hpp:1: write <perp/...> instead of <core/law.hpp>",
            **{"lcp/solve.hpp": "#include <core/law.hpp>\n"},
        )

    def test_a_header_that_does_not_exist_is_named(self):
        self.complains(
            "cli/print.hpp:1: <perp/core/lwa.hpp> does not exist",
            **{"cli/print.hpp": "#include <perp/core/lwa.hpp>\n"},
        )

    def test_the_library_does_not_print(self):
        self.complains(
            "core/base/types.hpp:1: <iostream>: the library does not print",
            **{"core/base/types.hpp": "#include <iostream>\n"},
        )

    def test_long_files_are_refused(self):
        self.complains(
            "tests/core/law_test.cpp:401: 401 lines, at most 400 are allowed",
            **{"tests/core/law_test.cpp": "\n" * 401},
        )

    def test_crowded_folders_are_refused(self):
        crowd = {f"core/law_{k}.cpp": "\n" for k in range(20)}  # beside core/law.hpp
        self.complains("core:1: 21 source files, at most 20 are allowed in a folder", **crowd)

    def test_sub_folders_do_not_crowd_a_folder(self):
        crowd = {f"core/laws/law_{k}.cpp": "\n" for k in range(20)}
        self.assertEqual(self.check(**crowd), (0, "29 files, no complaint\n"))

    def test_the_library_may_not_include_the_commands(self):
        self.complains(
            "io/table.hpp:1: io may not include <perp/cli/print.hpp>"
            " (only analysis, core, io, lcp, models, schemes)",
            **{"io/table.hpp": "#include <perp/cli/print.hpp>\n"},
        )

    def test_a_folder_without_a_rule_is_refused(self):
        self.complains(
            "utilities/a.cpp:1: folder 'utilities' has no rule in check_layers.py",
            **{"utilities/a.cpp": "\n"},
        )

    def test_every_violation_is_listed(self):
        status, output = self.check(
            **{"core/law.hpp": '#include "a.hpp"\n#include <cstdio>\n', "stray.cpp": "\n"}
        )
        self.assertEqual(status, 1)
        self.assertEqual(len(output.splitlines()), 3)


if __name__ == "__main__":
    unittest.main()
