"""The types that stand beside the package are those of the package."""

import ast
import inspect

import pytest
from conftest import ROOT

import perp

STUB = ast.parse((ROOT / "python" / "perp" / "__init__.pyi").read_text())
FUNCTIONS = {node.name: node for node in STUB.body if isinstance(node, ast.FunctionDef)}
CLASSES = {node.name: node for node in STUB.body if isinstance(node, ast.ClassDef)}


def test_every_public_name_has_a_type():
    assert set(perp.__all__) <= FUNCTIONS.keys() | CLASSES.keys()
    for name in FUNCTIONS.keys() | CLASSES.keys():
        assert hasattr(perp, name) or name in ("Variable", "Branch", "Law"), name


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_a_function_has_the_arguments_of_its_type(name):
    arguments = FUNCTIONS[name].args
    typed = [a.arg for a in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]]
    real = inspect.signature(getattr(perp, name)).parameters
    assert typed == [key for key, value in real.items() if value.kind not in (value.VAR_POSITIONAL, value.VAR_KEYWORD)]


@pytest.mark.parametrize("name", ["Model", "Rows", "Result", "Event", "ModeSpan"])
def test_a_class_has_the_members_of_its_type(name):
    members = [node.target.id if isinstance(node, ast.AnnAssign) else node.name for node in CLASSES[name].body
               if isinstance(node, (ast.AnnAssign, ast.FunctionDef))]
    some = perp.solve("chatter") if name in ("Rows", "Result") else getattr(perp, name)
    known = set(dir(some)) | set(vars(some)) | {"branches_complete"}
    assert [member for member in members if member not in known] == []


@pytest.mark.parametrize("name, make", [
    ("Map", lambda: perp.map("switching_dae_jump", {"B1": (-2.0, 2.0, 3)}, what="ac")), ("Study", lambda: perp.converge("chatter", h=[0.1, 0.05])),
    ("Enclosure", lambda: perp.enclose("chatter", times=[0.1])),
    ("Sweep", lambda: perp.sweep("chatter", {"run.h": [0.1]}, {"x": "end(x)"}, progress=False))])
def test_an_answer_has_what_its_type_says(name, make):
    some = make()
    members = [node.target.id if isinstance(node, ast.AnnAssign) else node.name for node in CLASSES[name].body
               if isinstance(node, (ast.AnnAssign, ast.FunctionDef))]
    assert len(members) > 5 and [member for member in members if not hasattr(some, member)] == []
    public = {member for member in (*vars(some), *dir(type(some))) if not member.startswith("_")}
    assert public - set(members) == set()


def test_a_saved_result_has_what_its_type_says_and_no_more(tmp_path):
    perp.solve("chatter").save(tmp_path / "r.npz")
    saved = perp.read(tmp_path / "r.npz")

    def members(name):
        return [node.target.id if isinstance(node, ast.AnnAssign) else node.name for node in CLASSES[name].body
                if isinstance(node, (ast.AnnAssign, ast.FunctionDef))]

    assert [member for member in members("Rows") if not hasattr(saved, member)] == []
    assert [member for member in members("Result") if hasattr(saved, member)] == []
    assert isinstance(saved, perp.Rows) and not isinstance(saved, perp.Result)


@pytest.mark.parametrize("line, word", [("both: list[perp.Rows] = [r, b]", ""), ("b.measures['x'] + r.rates['x'][0]", ""), ("len(b)", ""),
                                        ("b.sol(1.0)", "sol"), ("b.rates", "rates"), ("b.model", "model"), ("b.branches", "branches")])
def test_a_type_checker_agrees(line, word, tmp_path, monkeypatch):
    api = pytest.importorskip("mypy.api")
    monkeypatch.setenv("MYPYPATH", str(ROOT / "python"))
    (tmp_path / "use.py").write_text(f"import perp\n\nr = perp.solve('chatter')\nb = perp.read('r.npz')\n{line}\n")
    text, errors, status = api.run(["--cache-dir", str(tmp_path.parent / "mypy"), str(tmp_path / "use.py")])
    assert errors == "" and (status == 0 if not word else f'"SavedResult" has no attribute "{word}"' in text), text
