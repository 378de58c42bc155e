#!/usr/bin/env python3
"""A law, a solver, a scheme, an analysis and a command are one new file each: extension_check.py BUILD [CMAKE]

Lays each new file beside the sources of a scratch copy, lets the build's own rules make their tables of it, compiles the
new files and these tables alone, links the program of BUILD anew with them, and asks it for what is new.
"""

import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]

NEW = {
    "core/laws/ramp.cpp": """
#include <perp/core/laws/law_table.hpp>
namespace perp::law_files {
namespace {
constexpr NamedLaw ramps[] = {
    {"zz_ramp", 1, "lambda = w from -1 to u", [](const double* a) { return saturation(-1, a[0]); }}};
}
extern const NamedLaws ramp;
const NamedLaws ramp{ramps};
}
""",
    "lcp/solvers/guess.cpp": """
#include <perp/lcp/solver.hpp>
namespace perp {
namespace {
std::string any(const Mlcp&) { return {}; }
SolveResult zero(const Mlcp& problem, const SolveOptions&) {
  SolveResult result;
  result.status = Status::solved;
  result.solution.u = Vector::Zero(problem.p());
  result.solution.lambda = Vector::Zero(problem.m());
  return result;
}
constexpr MlcpSolver guesses[] = {{"zz_guess", "zero, which the residual judges", any, zero}};
}
extern const MlcpSolvers guess;
const MlcpSolvers guess{guesses};
}
""",
    "analysis/schemes/zz_half.cpp": """
#include <perp/analysis/run/schemes.hpp>
#include <perp/models/language/scheme_table.hpp>
namespace perp::scheme_files {
namespace {
Trajectory run_half(const Model& model, const IntegrateOptions& options) {
  BackwardEuler scheme = backward_euler_options(model);
  scheme.h *= model.run.own.at("zz_share");
  return integrate(model.lcs(), model.x0(), model.run.span, scheme, options);
}
}
extern const SchemeEntry zz_half;
const SchemeEntry zz_half{
    .name = "zz_half",
    .meaning = "backward Euler at a share of the step",
    .options = {{.key = "h",
                 .member = &RunOptions::h,
                 .placeholder = "H",
                 .meaning = "the whole step",
                 .allowed = positive_number},
                {.key = "zz_share",
                 .member = RunOption::Own{0.5},
                 .placeholder = "SHARE",
                 .meaning = "the share that is made",
                 .allowed = {0, 1, false, "a number in [0, 1]"}}},
    .run = run_half};
}
""",
    "analysis/maps/quantities/size.cpp": """
#include <perp/analysis/maps/quantity_table.hpp>
namespace perp::quantity_files {
namespace {
MapAnswer ask_size(const Model& model) { return {{model.x0().norm()}, "somewhere", true}; }
const MapQuantity sizes[] = {{"zz_size", "the norm of the start", {"size"}, ask_size, {"t"}}};
}
extern const MapQuantities size;
const MapQuantities size{sizes};
}
""",
    "cli/zz_hello.cpp": """
#include <fmt/format.h>
#include <perp/cli/command.hpp>
namespace perp::cli {
namespace {
Action configure(CommandLine&) { return [] { fmt::print("hello\\n"); return exit_solved; }; }
}
extern const Command zz_hello;
const Command zz_hello{"zz_hello", "says hello", "", configure};
}
""",
}

TABLES = """
list(APPEND CMAKE_MODULE_PATH {root}/cmake)
set(PROJECT_BINARY_DIR {tables})
set(PROJECT_SOURCE_DIR {copy})
include(table)
file(GLOB_RECURSE library {copy}/core/*.cpp {copy}/lcp/*.cpp {copy}/analysis/*.cpp)
perp_solver_table(library)
perp_scheme_table(library)
perp_law_table(library)
perp_quantity_table(library)
file(GLOB_RECURSE program {copy}/cli/*.cpp)
perp_command_table(program)
"""

MODEL = """
[variables]
x = 1
[system]
A = [[0]]
B = [[-1]]
C = [[1]]
laws = ["zz_ramp(0.25)"]
[run]
t = [0, 1]
"""


def run(command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        sys.exit(f"{shlex.join(map(str, command))}\nended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def refused(command):
    """The message of a command that is wrong input."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode != 2:
        sys.exit(f"{shlex.join(map(str, command))}\nended with {done.returncode}, not 2:\n{done.stdout}{done.stderr}")
    return done.stderr


def scratch_copy(folder, without_siconos):
    """The folders that are collected, as links, with the new files beside them."""
    for name in {str(pathlib.PurePath(new).parent) for new in NEW}:
        (folder / name).mkdir(parents=True)
        for source in (ROOT / name).glob("*.cpp"):
            if not (without_siconos and source.name.startswith("siconos")):
                (folder / name / source.name).symlink_to(source)
    for name, text in NEW.items():
        (folder / name).write_text(text, encoding="utf-8")


def compile_command(build):
    """Compiler and flags of the program's main.cpp, or of what it is in, without the files."""
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        if "perp_program.dir" in entry["command"] and entry["file"].endswith(".cxx" if "Unity" in entry["file"] else "main.cpp"):
            words = shlex.split(entry["command"])
            start = next(k for k, word in enumerate(words) if re.search(r"(\+\+|clang|gcc)[-\d.]*$", word) and "ccache" not in word)
            kept, skip = [], False
            for word in words[start:]:
                if skip or word in {"-o", "-c", "-include", "-Xclang"}:  # the last one: its precompiled header
                    skip = not skip
                elif word not in {"-Winvalid-pch"} and not word.startswith("-O"):
                    kept.append(word)
            return kept
    sys.exit("the program is not in compile_commands.json")


def link(build, objects, program):
    """The program's own link with the new objects, in place of its table of commands."""
    words = shlex.split(run(["ninja", "-C", build, "-t", "commands", "cli/perp"]).strip().splitlines()[-1])
    words = words[words.index("&&") + 1 : len(words) - 1 - words[::-1].index("&&")] if "&&" in words else words
    words = [word for word in words if not word.endswith("command_table.cpp.o")]
    words[words.index("-o") + 1] = str(program)
    first = next(k for k, word in enumerate(words) if word.endswith(".a"))
    run(words[:first] + objects + words[first:], cwd=build)


def expect(text, *parts):
    for part in parts:
        if part not in text:
            sys.exit(f"'{part}' is missing in:\n{text}")


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    cmake = sys.argv[2] if len(sys.argv) > 2 else "cmake"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        scratch_copy(folder / "copy", "siconos" not in (build / "solver_table.cpp").read_text(encoding="utf-8"))
        (folder / "tables.cmake").write_text(TABLES.format(root=ROOT, tables=folder / "tables", copy=folder / "copy"))
        run([cmake, "-P", folder / "tables.cmake"])
        sources = sorted((folder / "tables").glob("*.cpp")) + [folder / "copy" / new for new in NEW]
        (folder / "all.cpp").write_text("".join(f'#include "{source}"\n' for source in sources), encoding="utf-8")
        run(compile_command(build) + ["-O0", "-c", folder / "all.cpp", "-o", folder / "all.o"], cwd=build)
        program = folder / "perp"
        link(build, [str(folder / "all.o")], program)

        (folder / "m.toml").write_text(MODEL, encoding="utf-8")
        expect(run([program, "zz_hello"]), "hello")
        expect(run([program, "list", "laws"]), "zz_ramp", "relay")
        expect(run([program, "list", "schemes"]), "zz_half", "located")
        expect(run([program, "list", "solvers"]), "zz_guess", "lemke")
        # x = 1 - t/4 above 1/4: by the new law, at half the step of the new scheme.
        rows = run([program, "run", folder / "m.toml", "--scheme", "zz_half", "--h", "0.25", "--quiet"]).split()
        if len(rows) != 1 + 9 or float(rows[-1].split(",")[1]) != 0.75:
            sys.exit(f"zz_half made other steps: {rows}")
        # Its own option is a key, a flag, checked, listed, refused to others and part of the provenance.
        half = ["run", folder / "m.toml", "--scheme", "zz_half", "--h", "0.25"]
        table = folder / "o.csv"
        run([program, *half, "--zz-share", "0.25", "--quiet", "-o", table])
        if len(table.read_text(encoding="utf-8").split()) != 1 + 17:
            sys.exit("--zz-share 0.25 made other steps")
        expect((folder / "o.csv.json").read_text(encoding="utf-8"), '"zz_share": 0.25')
        expect(run([program, "list", "schemes", "--options"]), "the share that is made")
        expect(refused([program, *half, "--zz-share", "2"]), "a number in [0, 1]")
        expect(refused([program, "run", folder / "m.toml", "--zz-share", "1"]), "scheme backward_euler has no option 'zz_share'")
        expect(run([program, "map", folder / "m.toml", "--vary", "x=0:1:2", "--what", "zz_size"]), "1,1,somewhere")
    print("a law, a solver, a scheme, an analysis and a command were one file each")


if __name__ == "__main__":
    main()
