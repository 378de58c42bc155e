"""Functions with ordinary if, min, max, abs and loops, rewritten through their syntax tree so that they can be traced.

    if c: A            f = fork(c)                       each branch is run from the same state,
    else: B     ->     for branch in (True, False):      then what they leave is merged: v = if_(c, v of A, v of B)
                           if f.skips(branch): continue  (where c is known, one of them is skipped)
                           v, = f.start(branch, ...)
                           A or B
                           f.end(branch, ...)
                       v, = f.merged()

`return`, `break` and `continue` become flags, by which the statements behind them are guarded.
"""

import ast
import functools
import inspect
import re
import textwrap
import types

from . import merging
from .errors import TraceError

_REFUSED = {ast.Try: "try", ast.With: "with", ast.AsyncWith: "async with", ast.AsyncFor: "async for", ast.Await: "await",
            ast.Yield: "yield", ast.YieldFrom: "yield from", ast.Global: "global", ast.Nonlocal: "nonlocal", ast.Match: "match",
            ast.Delete: "del", ast.NamedExpr: ":="}
_DONE, _VALUE, _BROKEN, _SKIPPED = "_perp_done", "_perp_value", "_perp_broken", "_perp_skipped"


def _name(name, context=None):
    return ast.Name(name, context or ast.Load())


def _call(function, *arguments):
    """A call of `merging`, which is not rewritten itself."""
    node = ast.Call(ast.Attribute(_name("_perp"), function, ast.Load()), list(arguments), [])
    node.is_ours = True
    return node


def _assign(name, value):
    return ast.Assign([_name(name, ast.Store())], value)


class _Jumps(ast.NodeVisitor):
    """Which flags may statements set? Loops keep their own, functions all."""

    def __init__(self):
        self.found = set()

    def visit_Return(self, node):
        self.found.add(_DONE)

    def visit_Break(self, node):
        self.found.add(_BROKEN)

    def visit_Continue(self, node):
        self.found.add(_SKIPPED)

    def visit_FunctionDef(self, node):
        pass

    visit_Lambda = visit_FunctionDef

    def visit_For(self, node):
        inner = _jumps(node.body + node.orelse)
        self.found |= inner & {_DONE}

    visit_While = visit_For


def _jumps(statements):
    visitor = _Jumps()
    for statement in statements:
        visitor.visit(statement)
    return visitor.found


class _Stores(ast.NodeVisitor):
    """Names that statements bind."""

    def __init__(self):
        self.found = {}

    def visit_Name(self, node):
        if isinstance(node.ctx, ast.Store):
            self.found[node.id] = None

    def visit_FunctionDef(self, node):
        self.found[node.name] = None

    def visit_ListComp(self, node):  # its names are its own
        pass

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_Lambda = visit_ListComp


def _stores(statements):
    visitor = _Stores()
    for statement in statements:
        visitor.visit(statement)
    return list(visitor.found)


def _texts(names):
    return ast.Tuple([ast.Constant(name) for name in names], ast.Load())


def _reason(node):
    """Why a statement cannot stand where a condition of the state decides; None: it can."""
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        return "an attribute is set there"
    if isinstance(node, (ast.Raise, ast.Import, ast.ImportFrom)):
        return f"'{type(node).__name__.lower()}' stands there"
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
        base = node.value
        while isinstance(base, ast.Subscript):
            base = base.value
        if not isinstance(base, ast.Name):
            return "an entry of what has no name is set there"
    return None


class _Rewriter(ast.NodeTransformer):
    """One function of a file."""

    def __init__(self, file):
        self.file, self.forks = file, 0

    def line(self, node):
        return ast.Constant(f"{self.file}:{node.lineno}")

    def refuse(self, node, reason):
        raise TraceError(f"{self.file}:{node.lineno}: {reason}")

    def visit(self, node):
        if hasattr(node, "is_ours"):
            return node
        if type(node) in _REFUSED:
            self.refuse(node, f"'{_REFUSED[type(node)]}' cannot be traced; expected assignments, if, for, while, return")
        return super().visit(node)

    # Statements ----------------------------------------------------------------------------------------------

    def block(self, statements):
        """Statements, those behind one that may jump guarded by its flags."""
        result = []
        for k, statement in enumerate(statements):
            flags = _jumps([statement])
            new = self.visit(statement)
            result += new if isinstance(new, list) else [new]
            rest = statements[k + 1:]
            if isinstance(statement, (ast.Return, ast.Break, ast.Continue)):
                break  # what follows is not reached
            if flags and rest:
                test = ast.UnaryOp(ast.Not(), _call("or_", *[_name(flag) for flag in sorted(flags)]))
                guarded = ast.copy_location(ast.If(test, rest, []), rest[0])
                return result + self.visit(guarded)
        return result or [ast.Pass()]

    def visit_FunctionDef(self, node):
        node.decorator_list = []
        node.returns = None
        body = self.block(node.body)
        node.body = [_assign(_DONE, ast.Constant(False)), _assign(_VALUE, ast.Constant(None)), *body,
                     ast.Return(_call("returned", _name(_DONE), _name(_VALUE), self.line(node)))]
        return node

    def visit_Return(self, node):
        value = self.visit(node.value) if node.value else ast.Constant(None)
        return [_assign(_VALUE, value), _assign(_DONE, ast.Constant(True))]

    def visit_Break(self, node):
        return [_assign(_BROKEN, ast.Constant(True))]

    def visit_Continue(self, node):
        return [_assign(_SKIPPED, ast.Constant(True))]

    def visit_If(self, node):
        test = self.visit(node.test)
        stores = _stores(node.body + node.orelse)
        flags = sorted(_jumps(node.body + node.orelse))
        names = [*stores, *flags, *([_VALUE] if _DONE in flags else [])]
        bases = {}
        for inner in ast.walk(ast.Module(node.body + node.orelse, [])):
            if not hasattr(inner, "lineno"):
                continue
            reason = _reason(inner)
            if reason:
                test = _call("known", test, self.line(inner), ast.Constant(reason))
            if isinstance(inner, ast.Subscript) and isinstance(inner.ctx, ast.Store) and isinstance(inner.value, ast.Name):
                bases[inner.value.id] = None
        self.forks += 1
        fork, branch = f"_perp_fork{self.forks}", f"_perp_branch{self.forks}"
        here = _call("Fork", test, _texts(names), _texts(bases), self.line(node))
        locals_ = ast.Call(_name("locals"), [], [])

        def method(name, *arguments):
            return ast.Call(ast.Attribute(_name(fork), name, ast.Load()), list(arguments), [])

        def assigned(value):
            target = ast.Tuple([_name(name, ast.Store()) for name in names], ast.Store())
            return ast.Assign([target], value) if names else ast.Expr(value)

        body, orelse = self.block(node.body), self.block(node.orelse) if node.orelse else [ast.Pass()]
        loop = ast.For(_name(branch, ast.Store()), ast.Tuple([ast.Constant(True), ast.Constant(False)], ast.Load()), [
            ast.If(method("skips", _name(branch)), [ast.Continue()], []),
            assigned(method("start", _name(branch), locals_)),
            ast.If(_name(branch), body, orelse),
            ast.Expr(method("end", _name(branch), locals_)),
        ], [])
        return [_assign(fork, here), loop, assigned(method("merged"))]

    def _loop(self, node, flags):
        """The body of a loop, with its flags; they are reset where they belong."""
        body = self.block(node.body)
        if _SKIPPED in flags:
            body.insert(0, _assign(_SKIPPED, ast.Constant(False)))
        return body

    def _guarded(self, node, flags):
        """A loop whose turns end early: each one is run where no flag of the ones before is set."""
        ends = sorted(flags & {_BROKEN, _DONE})
        if not ends:
            return self._loop(node, flags)
        inner = ast.copy_location(ast.If(ast.UnaryOp(ast.Not(), _call("or_", *[_name(flag) for flag in ends])), node.body, []), node)
        body = self.visit_If(inner)
        if _SKIPPED in flags:
            body.insert(0, _assign(_SKIPPED, ast.Constant(False)))
        return body

    def visit_For(self, node):
        if node.orelse:
            self.refuse(node, "'else' of a loop cannot be traced; expected an if behind it")
        flags = _jumps(node.body)
        iterated = _call("counted", self.visit(node.iter), self.line(node))
        body = self._guarded(node, flags)
        new = [ast.For(node.target, iterated, body, [])]
        return [*([_assign(_BROKEN, ast.Constant(False))] if _BROKEN in flags else []), *new]

    def visit_While(self, node):
        if node.orelse:
            self.refuse(node, "'else' of a loop cannot be traced; expected an if behind it")
        flags = _jumps(node.body)
        reason = ast.Constant("the number of turns of a loop depends on it")
        ends = sorted(flags & {_BROKEN, _DONE})
        go_on = ast.UnaryOp(ast.Not(), _call("known", _call("or_", *[_name(flag) for flag in ends]), self.line(node), reason))
        test = _call("known", self.visit(node.test), self.line(node), reason)
        test = ast.BoolOp(ast.And(), [go_on, test]) if ends else test
        body = self._loop(node, flags)
        return [*([_assign(_BROKEN, ast.Constant(False))] if _BROKEN in flags else []), ast.While(test, body, [])]

    def visit_Assert(self, node):
        node.test = _call("known", self.visit(node.test), self.line(node), ast.Constant("an assertion depends on it"))
        return node

    # Expressions ---------------------------------------------------------------------------------------------

    def visit_IfExp(self, node):
        test, a, b = self.visit(node.test), self.visit(node.body), self.visit(node.orelse)
        return _call("choose", test, _delayed(a), _delayed(b), self.line(node))

    def visit_BoolOp(self, node):
        parts = [_delayed(self.visit(value)) for value in node.values]
        return _call("both" if isinstance(node.op, ast.And) else "either", self.line(node), *parts)

    def visit_UnaryOp(self, node):
        self.generic_visit(node)
        return _call("not_", node.operand) if isinstance(node.op, ast.Not) else node

    def visit_Compare(self, node):
        self.generic_visit(node)
        if len(node.ops) == 1:
            return node
        words = ast.Tuple([ast.Constant(type(op).__name__) for op in node.ops], ast.Load())
        return _call("chain", self.line(node), words, node.left, *node.comparators)

    def visit_Call(self, node):
        if isinstance(node.func, ast.Name) and node.func.id in ("locals", "globals", "vars", "exec", "eval", "super"):
            self.refuse(node, f"'{node.func.id}' cannot be traced")
        self.generic_visit(node)
        return ast.Call(_call("callee", node.func, self.line(node)), node.args, node.keywords)

    def visit_comprehension(self, node):
        place = self.line(node.iter)
        reason = ast.Constant("the length of a list depends on it")
        node.ifs = [_call("known", self.visit(test), place, reason) for test in node.ifs]
        node.iter = _call("counted", self.visit(node.iter), place)
        return node


def _delayed(value):
    empty = ast.arguments([], [], None, [], [], None, [])
    return ast.Lambda(empty, value)


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


def _parsed(function):
    """The syntax tree of a function, its file, and what is to be added to its lines."""
    try:
        lines, first = inspect.getsourcelines(function)
        file = inspect.getsourcefile(function) or "<function>"
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


@functools.lru_cache(maxsize=256)
def _code(function):
    node, file = _parsed(function)
    new = _Rewriter(file).visit(node)
    free = function.__code__.co_freevars
    empty = ast.arguments([], [ast.arg(name) for name in free], None, [], [], None, [])
    factory = ast.copy_location(ast.FunctionDef("_perp_factory", empty, [new, ast.Return(_name(new.name))], []), node)
    module = ast.fix_missing_locations(ast.Module([factory], []))
    return compile(module, file, "exec")


def unmodified(f):
    """The function with if, min, max, abs, and, or, not and loops over known counts rewritten, so that it can be traced.

    What cannot be rewritten raises `TraceError` with its line and the reason. Functions that it calls are rewritten too.

    >>> import perp
    >>> def f(t, x):
    ...     return [-1.0 if x[0] > 0 else 1.0]
    """
    if isinstance(f, types.MethodType):
        return types.MethodType(unmodified(f.__func__), f.__self__)
    if isinstance(f, functools.partial):
        return functools.partial(unmodified(f.func), *f.args, **f.keywords)
    if not isinstance(f, types.FunctionType):
        raise TraceError(f"unmodified: found {type(f).__name__}; expected a function that is written with def or lambda")
    if f.__code__ in merging.rewritten or hasattr(f, "_perp_of"):
        return f
    _code(f)  # what cannot be rewritten is said now

    @functools.wraps(f)
    def call(*arguments, **keywords):
        try:
            return _built(f)(*arguments, **keywords)
        except (TraceError, TypeError, IndexError) as error:
            raise merging.with_place(error) from None

    call._perp_of = f
    return call


def _built(f):
    """The new function, with the globals and the closure that f has now."""
    scope = {**f.__globals__, "_perp": merging}
    exec(_code(f), scope)  # noqa: S102
    try:
        cells = [cell.cell_contents for cell in f.__closure__ or ()]
    except ValueError:
        raise TraceError(f"{f.__qualname__} uses a name that has no value yet") from None
    new = scope["_perp_factory"](*cells)
    new.__defaults__, new.__kwdefaults__ = f.__defaults__, f.__kwdefaults__
    merging.register(new.__code__)
    return new
