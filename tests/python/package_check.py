#!/usr/bin/env python3
"""A wheel is made and used: package_check.py ROOT BUILD PROGRAM

The wheel is built of the libraries of BUILD, put into a new virtual environment with the system's packages, and used from another
folder: it brings the zoo along and has the bits of PROGRAM.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import venv

root, build, program = map(pathlib.Path, sys.argv[1:4])
CODE = """
import csv, io, subprocess, sys, perp
assert "site-packages" in perp.__file__, perp.__file__
assert "site-packages" in perp.load("chatter").file and len(perp.models()) > 50
r = perp.solve("chatter")
assert abs(r["x"][-1] - 31/34) < 1e-12
rows = list(csv.reader(io.StringIO(subprocess.run([sys.argv[1], "run", "chatter", "--quiet"], capture_output=True, text=True).stdout)))[1:]
assert [float(row[1]) for row in rows] == list(r["x"]) and [float(row[2]) for row in rows] == list(r["y"])
print(perp.__version__, r["x"][-1])
"""


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **options)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    source = folder / "clone"
    shutil.copytree(root, source, ignore=shutil.ignore_patterns("build", "out", ".git", "_skbuild", "__pycache__", "*.egg-info"))
    environment = {**os.environ, "PERP_LIBRARIES": str(build)}
    environment.pop("PYTHONPATH", None)
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-index", "-w", folder / "wheels", source, env=environment)
    wheel = next((folder / "wheels").glob("*.whl"))
    size = wheel.stat().st_size
    if size > 5e6:
        sys.exit(f"{wheel.name} has {size} bytes; expected less than 5 MB")
    venv.create(folder / "venv", system_site_packages=True, with_pip=True)
    python = folder / "venv" / "bin" / "python"
    run(python, "-m", "pip", "install", "--no-index", "--no-deps", wheel, env=environment)
    print(wheel.name, size, run(python, "-c", CODE, program, cwd=folder, env=environment))
