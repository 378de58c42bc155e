"""The source text of functions of the user's, as syntax trees."""

import ast
import inspect
import linecache
import textwrap

from .effects import unwatched
from .errors import TraceError


def _is_within(body, places):
    """Do all these places stand in the body?"""
    return all((body.lineno, body.col_offset) <= place < (body.end_lineno, body.end_col_offset) for place in places)


def _lambda_of(function, file):
    """A lambda, as a function: of several on its line the one from whose columns the code was made."""
    code = function.__code__
    first, wanted = code.co_firstlineno, list(code.co_varnames[:code.co_argcount])
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        raise TraceError(f"{file}:{first}: the text around the lambda cannot be read; expected a function that is written with def") from None
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Lambda) and node.lineno == first and
             [a.arg for a in [*node.args.posonlyargs, *node.args.args]] == wanted]
    if len(found) > 1 and hasattr(code, "co_positions"):
        places = {(line, column) for line, _, column, _ in code.co_positions() if line and column is not None} - {(first, 0)}
        found = [node for node in found if _is_within(node.body, places)]
    if len(found) != 1:
        raise TraceError(f"{file}:{first}: {len(found)} lambdas with the arguments {', '.join(wanted)} stand on this line; expected "
                         "one, or a function that is written with def")
    node = found[0]
    return ast.copy_location(ast.FunctionDef("_perp_lambda", node.args, [ast.copy_location(ast.Return(node.body), node.body)], []), node)


def parsed(function):
    """The syntax tree of a function, and its file."""
    try:
        with unwatched():  # Python's library asks modules of all kinds
            # Of the code itself: what decorators made of another function is not the text of that one.
            lines, first = inspect.getsourcelines(function.__code__)
            file = inspect.getsourcefile(function.__code__) or "<function>"
    except (OSError, TypeError):
        name = getattr(function, "__qualname__", repr(function))
        raise TraceError(f"the source text of {name} is not known; expected a function of a file or a notebook, or perp.if_, "
                         "perp.max, ... in place of if, max, ...") from None
    if function.__code__.co_name == "<lambda>":
        return _lambda_of(function, file), file
    text = textwrap.dedent("".join(lines))
    node = next((node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)), None)
    if node is None:
        raise TraceError(f"{file}:{first}: the function is none that is written with def")
    return ast.increment_lineno(node, first - 1), file
