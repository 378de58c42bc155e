"""The programs for matplotlib beside pictures draw what the pictures show."""

import os
import subprocess
import sys

import pytest

import perp

pytest.importorskip("matplotlib")
CHECK = """
import runpy, sys
import matplotlib
matplotlib.use("Agg")
drawn = runpy.run_path(sys.argv[1])
axes = drawn["axes"][:, 0]
print([ax.get_ylabel() for ax in axes])
print([[text.get_text() for text in ax.get_legend().get_texts()] for ax in axes])
print([text.get_text() for text in drawn["figure"].legends[0].get_texts()])
print(axes[0].lines[0].get_ydata()[0], axes[0].lines[0].get_ydata()[-1], axes[0].get_title())
"""


def test_the_program_for_matplotlib_has_the_curves_the_panels_and_the_modes(tmp_path):
    program = os.environ["PERP_PROGRAM"]
    run = subprocess.run([program, "run", "switching_dae_crossing", "--plot", "out.svg", "--quiet"], cwd=tmp_path, check=False)
    assert run.returncode == 0
    done = subprocess.run([sys.executable, "-c", CHECK, "out_matplotlib.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    labels, names, modes, ends = done.stdout.splitlines()
    assert labels == "['x1, x2, z', 'lambda1']"
    assert names == "[['x1', 'x2', 'z'], ['lambda1']]"
    assert modes == "['mode 1 (x1 < 0)', 'mode 3 (sliding)', 'mode 2 (x1 > 0)']"
    first, last, *title = ends.split()
    whole = perp.solve("switching_dae_crossing")
    assert float(first) == -5 and abs(float(last) - whole["x1"][-1]) < 1e-9
    assert " ".join(title) == "switching DAE, sliding-crossing"
    assert (tmp_path / "out_matplotlib.png").stat().st_size > 10000


def test_a_program_for_matplotlib_never_replaces_a_file_that_is_read(tmp_path):
    model = tmp_path / "m_matplotlib.py"
    model.write_text("[variables]\nx = 1\n[model]\nequations = ['der(x) = -x']\n[run]\nt = [0, 1]\n")
    run = subprocess.run([os.environ["PERP_PROGRAM"], "run", model, "--plot", tmp_path / "m.svg"], capture_output=True, text=True, check=False)
    assert run.returncode == 2 and "m_matplotlib.py" in run.stderr
    assert model.read_text().startswith("[variables]")
