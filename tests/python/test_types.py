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


@pytest.mark.parametrize("name", ["Model", "Result", "Event", "ModeSpan"])
def test_a_class_has_the_members_of_its_type(name):
    members = [node.target.id if isinstance(node, ast.AnnAssign) else node.name for node in CLASSES[name].body
               if isinstance(node, (ast.AnnAssign, ast.FunctionDef))]
    some = perp.solve("chatter") if name == "Result" else getattr(perp, name)
    known = set(dir(some)) | set(vars(some)) | {"branches_complete"}
    assert [member for member in members if member not in known] == []
