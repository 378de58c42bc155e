#!/usr/bin/env python3
"""Sweeps on several processes of one machine: mpi_check.py PERP [MODULES]. Exit status 77: no MPI here."""

import csv
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PERP = pathlib.Path(sys.argv.pop(1)).resolve()
MODULES = pathlib.Path(sys.argv.pop(1)).resolve()
SWEEP = ["sweep", "stick_slip", "--random", "Fs=normal(0.35,0.02)", "--runs", "200", "--measure", "T=period(sliding_entry)"]
# Seconds of work in chunks that take long enough to be interrupted.
LONG_SWEEP = ["sweep", "stick_slip", "--vary", "Fs=0.31:0.39:12", "--h", "6e-5", "--measure", "T=period(sliding_entry)"]


def on_ranks(ranks, *arguments):
    """A command that mpirun starts, whose own words are left out."""
    return ["mpirun", "-q", "--oversubscribe", "--allow-run-as-root", "-n", str(ranks), str(PERP), *arguments]


class Sweeps(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def run_on(self, ranks, *arguments):
        command = on_ranks(ranks, *arguments) if ranks else [str(PERP), *arguments]
        return subprocess.run(command, cwd=self.path, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)

    def bytes_of(self, name):
        return (self.path / name).read_bytes()

    def test_several_processes_write_the_bytes_of_one(self):
        self.assertEqual(self.run_on(0, *SWEEP, "-o", "one.h5", "--quiet").returncode, 0)
        for ranks in (1, 3):
            made = self.run_on(ranks, *SWEEP, "-o", f"{ranks}.h5")
            self.assertEqual((made.returncode, made.stderr), (0, ""))
            self.assertEqual(made.stdout.count("written"), 1)
            self.assertEqual(self.bytes_of("one.h5"), self.bytes_of(f"{ranks}.h5"))
        self.assertFalse((self.path / "3.h5.chunks").exists())

    def test_a_process_that_dies_ends_the_job_and_the_same_command_goes_on(self):
        self.assertEqual(self.run_on(0, *LONG_SWEEP, "-o", "one.csv", "--quiet").returncode, 0)
        job = subprocess.Popen(on_ranks(2, *LONG_SWEEP, "-o", "all.csv"), cwd=self.path, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        chunks = self.path / "all.csv.chunks"
        while job.poll() is None and not list(chunks.glob("chunk-*")):
            time.sleep(0.01)
        ranks = subprocess.run(["pgrep", "-P", str(job.pid)], capture_output=True, text=True).stdout.split()
        os.kill(int(ranks[-1]), signal.SIGKILL)
        self.assertNotEqual(job.wait(timeout=60), 0)
        kept = {file.name: file.stat().st_mtime_ns for file in chunks.glob("chunk-*")}
        self.assertTrue(kept)
        self.assertFalse((self.path / "all.csv").exists())
        self.assertEqual(self.run_on(2, *LONG_SWEEP, "-o", "all.csv", "--quiet").returncode, 0)
        self.assertEqual(self.bytes_of("one.csv"), self.bytes_of("all.csv"))

    def test_a_run_that_is_no_model_fails_alone_and_is_told_once(self):
        model = "[parameters]\na = 1\n[variables]\nx = \"sqrt(a)\"\n[model]\nequations = [\"der(x) = -x\"]\n[run]\nt = [0, 1]\nh = 0.1\n"
        (self.path / "m.toml").write_text(model)
        arguments = ["sweep", "m.toml", "--vary", "a=4:-1:101", "--measure", "x=end(x)", "--quiet"]
        alone, shared = self.run_on(0, *arguments, "-o", "one.csv"), self.run_on(3, *arguments, "-o", "three.csv")
        self.assertEqual((alone.returncode, shared.returncode), (3, 3))
        self.assertEqual(self.bytes_of("one.csv"), self.bytes_of("three.csv"))
        self.assertEqual(alone.stderr.replace("one.csv", ""), shared.stderr.replace("three.csv", ""))

    def test_a_model_that_is_not_there_is_told_once(self):
        made = self.run_on(3, "sweep", "nowhere", "--vary", "a=1,2", "--measure", "x=end(x)", "-o", "x.csv")
        self.assertEqual((made.returncode, made.stderr.count("there is no model 'nowhere'")), (2, 1))

    def test_a_table_without_a_file_is_refused(self):
        made = self.run_on(2, *SWEEP)
        self.assertEqual((made.returncode, made.stderr.count("processes share a sweep")), (2, 1))


MEMBRANE = """
[parameters]
N = 5
[variables]
u = { size = ["N", "N"], start = "0.1*sin(pi*i/(N+1))*sin(pi*j/(N+1))" }
[model]
equations = ["for i in 1:N, j in 1:N: der(u[i,j]) = (N+1)^2*(if(i > 1, u[i-1,j], 0) + if(j > 1, u[i,j-1], 0) - 4*u[i,j] + if(i < N, u[i+1,j], 0) + if(j < N, u[i,j+1], 0)) - 8 + r[i,j]"]
laws = ["for i in 1:N, j in 1:N: 0 <= u[i,j] + 0.05 perp r[i,j] >= 0"]
[run]
t = [0, 0.015]
h = 1e-3
"""
# Blocks on springs with dry friction: the multipliers are unknowns, whose rows have no diagonal.
FRICTION = """
[variables]
x = { size = 6, start = "0" }
v = { size = 6, start = "0.3*i" }
[model]
equations = ["for i in 1:6: der(x[i]) = v[i]", "for i in 1:6: der(v[i]) = -9*x[i] - s[i]"]
laws = ["for i in 1:6: s[i] in sign(v[i])"]
[run]
t = [0, 0.4]
h = 2e-2
"""
# Arguments that are variables alone, which a law that slides holds at 0: nothing of their rows is left to measure rounding by.
RELAYS = """
[variables]
v = { size = 6, start = "0.5*sin(i) + 0.1" }
[model]
equations = ["for i in 1:6: der(v[i]) = 4*(if(i > 1, v[i-1], 0) - 2*v[i] + if(i < 6, v[i+1], 0)) + 2*sin(3*t + i) - s[i]"]
laws = ["for i in 1:6: s[i] in sign(v[i])"]
[run]
t = [0, 0.3]
h = 1e-2
"""


@unittest.skipUnless((MODULES / "libperp_petsc.so").exists(), "no PETSc here (scripts/setup mpi)")
class OneSystem(Sweeps):
    """Runs of solver petsc; `Sweeps` lends how a command is run."""

    test_several_processes_write_the_bytes_of_one = None
    test_a_process_that_dies_ends_the_job_and_the_same_command_goes_on = None
    test_wrong_input_of_a_run_is_told_once = None
    test_a_model_that_is_not_there_is_told_once = None
    test_a_table_without_a_file_is_refused = None

    def rows(self, name):
        with open(self.path / name, newline="") as file:
            return list(csv.reader(file))

    def is_same(self, name, ranks, *options):
        """Numbers to 1e-10 of their size in the run, the same modes, of newton_min and of petsc on so many ranks."""
        made = self.run_on(ranks, "run", name, "--solver", "petsc", "-o", "petsc.csv", *options)
        self.assertEqual((made.returncode, made.stderr), (0, ""))
        self.assertEqual(made.stdout.count("petsc.csv\n"), 1)
        ours, theirs = self.rows("newton_min.csv"), self.rows("petsc.csv")
        self.assertEqual([len(ours), ours[0]], [len(theirs), theirs[0]])
        for k, title in enumerate(ours[0]):
            a, b = [row[k] for row in ours[1:]], [row[k] for row in theirs[1:]]
            if title == "mode" or a == b:
                self.assertEqual(a, b, title)
                continue
            a, b = [float(value) for value in a], [float(value) for value in b]
            size = max(map(abs, a))
            self.assertLessEqual(max(abs(x - y) for x, y in zip(a, b)), 1e-10 * size, title)
        return made.stdout

    def of(self, text):
        (self.path / "m.toml").write_text(text)
        made = self.run_on(0, "run", "m.toml", "--solver", "newton_min", "-o", "newton_min.csv")
        self.assertEqual(made.returncode, 0, made.stderr)

    def test_a_membrane_on_an_obstacle_is_that_of_newton_min(self):
        self.of(MEMBRANE)
        for ranks in (0, 2, 4):
            self.assertNotIn("not_enumerated", self.is_same("m.toml", ranks))
        self.is_same("m.toml", 2, "--petsc", "-pc_type jacobi")

    def test_blocks_with_dry_friction_are_those_of_newton_min(self):
        self.of(FRICTION)
        self.is_same("m.toml", 0)

    def test_relays_that_hold_their_variables_at_0_are_those_of_newton_min(self):
        self.of(RELAYS)
        for ranks in (0, 2):
            self.assertIn("split 3", self.is_same("m.toml", ranks))

    def test_wrong_input_is_refused_by_one_process(self):
        (self.path / "m.toml").write_text(MEMBRANE)
        for arguments, word in ((["--petsc", "-pc_tipe jacobi"], "does not read -pc_tipe"), (["--scheme", "theta"], "theta < 1"),
                                (["--selector", "minimal_norm"], "expected selector keep_mode")):
            made = self.run_on(2, "run", "m.toml", "--solver", "petsc", "-o", "x.csv", *arguments)
            self.assertEqual((made.returncode, made.stderr.count(word)), (2, 1), made.stderr)
        made = self.run_on(0, "run", "m.toml", "--petsc", "-pc_type jacobi", "-o", "x.csv")
        self.assertEqual((made.returncode, made.stderr.count("'petsc' has no effect")), (2, 1))

    def test_what_diverges_is_not_solved_with_its_reason(self):
        (self.path / "m.toml").write_text(MEMBRANE)
        made = self.run_on(0, "run", "m.toml", "--solver", "petsc", "-o", "x.csv", "--petsc", "-pc_type none -ksp_max_it 1")
        self.assertEqual((made.returncode, "DIVERGED_ITS" in made.stderr), (3, True))
        self.assertEqual(self.rows("x.csv")[1][0], "0")


if __name__ == "__main__":
    if not (MODULES / "libperp_mpi.so").exists() or shutil.which("mpirun") is None:
        print("skipped: no MPI here (scripts/setup mpi)")
        sys.exit(77)
    unittest.main()
