"""What the tests share: the program beside which results are held."""

import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = os.environ.get("PERP_PROGRAM", str(ROOT / "build" / "release" / "cli" / "perp"))


@pytest.fixture(scope="session")
def program():
    """Runs the program with arguments; standard output, standard error, exit status."""

    def run(*arguments, cwd=None):
        done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False, cwd=cwd)
        return done.stdout, done.stderr, done.returncode

    return run


@pytest.fixture(scope="session")
def csv_of(program):
    """The columns of a run of the program: names, rows of floats, modes."""
    import csv
    import io

    def columns(*arguments, cwd=None):
        text, errors, status = program(*arguments, "--quiet", cwd=cwd)
        assert status in (0, 3), errors
        header, *rows = list(csv.reader(io.StringIO(text)))
        return {name: [row[k] if name == "mode" else float(row[k]) for row in rows] for k, name in enumerate(header)}

    return columns
