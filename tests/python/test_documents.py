"""Sessions in the documents and in the package are true."""

import doctest
import importlib
import pathlib
import pkgutil
import re

import pytest
from conftest import ROOT

import perp

SESSION = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = [page for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))] if SESSION.search(page.read_text())]
MODULES = [name for _, name, _ in pkgutil.iter_modules(perp.__path__) if not name.startswith("_")]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_sessions_of_a_page_print_what_stands_there(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = page.read_text()
    # Everything else is blank, so that lines keep their numbers.
    kept = ["" if line.startswith("```") else line for line in text.splitlines()]
    inside = [False] * len(kept)
    for match in SESSION.finditer(text):
        first = text.count("\n", 0, match.start(1))
        for k in range(first, first + match[1].count("\n")):
            inside[k] = True
    source = "\n".join(line if is_inside else "" for line, is_inside in zip(kept, inside))
    test = doctest.DocTestParser().get_doctest(source, {}, page.name, str(page), 0)
    # `inspect` finds functions of a session through doctest's lines.
    report = []
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    runner.run(test, out=report.append)
    assert runner.failures == 0 and runner.tries > 0, "".join(report)


@pytest.mark.parametrize("name", MODULES)
def test_sessions_of_the_package_print_what_stands_there(name):
    result = doctest.testmod(importlib.import_module(f"perp.{name}"), optionflags=FLAGS)
    assert result.failed == 0


def test_every_page_with_sessions_is_looked_at():
    assert pathlib.Path(ROOT / "docs" / "python.md") in PAGES
