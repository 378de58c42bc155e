"""The source text of functions of the user's, as syntax trees."""

import ast
import inspect
import re
import textwrap

from .effects import unwatched
from .errors import TraceError


def _lambdas(text):
    """The lambdas of a piece of text, which may be part of a longer expression."""
    for start in (match.start() for match in re.finditer(r"\blambda\b", text)):
        for end in range(len(text), start, -1):
            try:
                node = ast.parse(f"({text[start:end]})", mode="eval").body
            except SyntaxError:
                continue
            if isinstance(node, ast.Lambda):
                yield node
                break


def _lambda_of(text, function, place):
    """The lambda of a line, as a function: the only one there with these names of arguments."""
    wanted = list(function.__code__.co_varnames[:function.__code__.co_argcount])
    found = [node for node in _lambdas(text) if [a.arg for a in node.args.args] == wanted]
    if len(found) != 1:
        raise TraceError(f"{place}: {len(found)} lambdas with the arguments {', '.join(wanted)} stand on this line; expected "
                         "one, or a function that is written with def")
    node = found[0]
    return ast.copy_location(ast.FunctionDef("_perp_lambda", node.args, [ast.copy_location(ast.Return(node.body), node.body)], []), node)


def parsed(function):
    """The syntax tree of a function, its file, and what is to be added to its lines."""
    try:
        with unwatched():  # Python's library asks modules of all kinds
            # Of the code itself: what decorators made of another function is not the text of that one.
            lines, first = inspect.getsourcelines(function.__code__)
            file = inspect.getsourcefile(function.__code__) or "<function>"
    except (OSError, TypeError):
        name = getattr(function, "__qualname__", repr(function))
        raise TraceError(f"the source text of {name} is not known; expected a function of a file or a notebook, or perp.if_, "
                         "perp.max, ... in place of if, max, ...") from None
    text = textwrap.dedent("".join(lines))
    if function.__name__ == "<lambda>":
        node = _lambda_of(text, function, f"{file}:{first}")
    else:
        node = next((node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)), None)
    if node is None:
        raise TraceError(f"{file}:{first}: the function is none that is written with def")
    return ast.increment_lineno(node, first - 1), file
