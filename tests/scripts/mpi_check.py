#!/usr/bin/env python3
"""Sweeps on several processes of one machine: mpi_check.py PERP [MODULES]. Exit status 77: no MPI here."""

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

    def test_wrong_input_of_a_run_is_told_once(self):
        model = "[parameters]\na = 1\n[variables]\nx = \"sqrt(a)\"\n[model]\nequations = [\"der(x) = -x\"]\n[run]\nt = [0, 1]\nh = 0.1\n"
        (self.path / "m.toml").write_text(model)
        arguments = ["sweep", "m.toml", "--vary", "a=4:-1:101", "--measure", "x=end(x)", "-o", "x.csv"]
        alone, shared = self.run_on(0, *arguments), self.run_on(3, *arguments)
        self.assertEqual((alone.returncode, shared.returncode), (2, 2))
        self.assertEqual(alone.stderr.strip(), shared.stderr.strip())

    def test_a_model_that_is_not_there_is_told_once(self):
        made = self.run_on(3, "sweep", "nowhere", "--vary", "a=1,2", "--measure", "x=end(x)", "-o", "x.csv")
        self.assertEqual((made.returncode, made.stderr.count("there is no model 'nowhere'")), (2, 1))

    def test_a_table_without_a_file_is_refused(self):
        made = self.run_on(2, *SWEEP)
        self.assertEqual((made.returncode, made.stderr.count("processes share a sweep")), (2, 1))


if __name__ == "__main__":
    if not (MODULES / "libperp_mpi.so").exists() or shutil.which("mpirun") is None:
        print("skipped: no MPI here (scripts/setup mpi)")
        sys.exit(77)
    unittest.main()
