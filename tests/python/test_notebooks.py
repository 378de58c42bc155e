"""The notebooks of the documentation run from their first cell to their last."""

import os
import pathlib
import sys

import pytest
from conftest import ROOT

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def test_notebooks_are_kept_without_what_they_print():
    import json

    assert len(NOTEBOOKS) >= 4
    for notebook in NOTEBOOKS:
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        assert all(not cell["outputs"] and cell["execution_count"] is None for cell in cells if cell["cell_type"] == "code"), notebook


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(notebook, tmp_path, monkeypatch):
    pytest.importorskip("ipykernel")
    nbformat, preprocessors = pytest.importorskip("nbformat"), pytest.importorskip("nbconvert.preprocessors")
    # The kernel is this interpreter, with the package that is tested.
    monkeypatch.setenv("PATH", str(pathlib.Path(sys.executable).parent) + os.pathsep + os.environ["PATH"])
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    run = preprocessors.ExecutePreprocessor(timeout=300, kernel_name="python3")
    document = nbformat.read(notebook, as_version=4)
    run.preprocess(document, {"metadata": {"path": str(tmp_path)}})
    outputs = [output for cell in document.cells if cell.cell_type == "code" for output in cell.outputs]
    assert outputs and not any(output.output_type == "error" for output in outputs)
