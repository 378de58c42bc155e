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
import types

from . import effects, merging
from .errors import TraceError
from .sources import parsed
from .syntax import (BROKEN, DONE, SKIPPED, VALUE, assignment, decided_names, delayed, jumps, loads, named, our_call, ours, stores,
                     texts)

_REFUSED = {ast.Try: "try", ast.With: "with", ast.AsyncWith: "async with", ast.AsyncFor: "async for", ast.Await: "await",
            ast.Yield: "yield", ast.YieldFrom: "yield from", ast.Global: "global", ast.Nonlocal: "nonlocal", ast.Match: "match",
            ast.Delete: "del", ast.NamedExpr: ":=", ast.ClassDef: "class", ast.AsyncFunctionDef: "async def"}
if hasattr(ast, "TryStar"):
    _REFUSED[ast.TryStar] = "try"


def _placed(new, node):
    """What takes the place of a node has its line, for messages."""
    for one in new if isinstance(new, list) else [new]:
        if not hasattr(one, "lineno"):
            ast.copy_location(one, node)
            for inner in ast.iter_child_nodes(one):
                _placed(inner, node)
    return new


class _Rewriter(ast.NodeTransformer):
    """One function of a file."""

    def __init__(self, file):
        self.file, self.forks, self.loop, self.depth, self.perhaps = file, 0, 0, 0, set()

    def line(self, node):
        return ast.Constant(f"{self.file}:{node.lineno}")

    def refuse(self, node, reason):
        raise TraceError(f"{self.file}:{node.lineno}: {reason}")

    def visit(self, node):
        if hasattr(node, "is_ours"):
            return node
        if type(node) in _REFUSED:
            self.refuse(node, f"'{_REFUSED[type(node)]}' cannot be traced; expected assignments, if, for, while, return")
        return _placed(super().visit(node), node)

    def flags(self, statements):
        """The flags that statements may set: those of the loop around them have its number."""
        return {flag if flag == DONE else f"{flag}{self.loop}" for flag in jumps(statements)}

    # Statements ----------------------------------------------------------------------------------------------

    def block(self, statements):
        """Statements, those behind one that may jump guarded by its flags."""
        result = []
        for k, statement in enumerate(statements):
            flags = self.flags([statement])
            new = self.visit(statement)
            result += new if isinstance(new, list) else [new]
            rest = statements[k + 1:]
            if isinstance(statement, (ast.Return, ast.Break, ast.Continue)):
                break  # what follows is not reached
            if flags and rest:
                test = ast.UnaryOp(ast.Not(), our_call("or_", *[named(flag) for flag in sorted(flags)]))
                guarded = ast.copy_location(ast.If(test, rest, []), rest[0])
                return result + self.visit(guarded)
        return result or [ast.Pass()]

    def visit_FunctionDef(self, node):
        """Of the function itself the decorators, annotations and defaults are done; those of a function within it are to do."""
        outer, self.perhaps, self.depth = self.perhaps, self.perhaps | decided_names(node), self.depth + 1
        body = self.block(node.body)
        self.perhaps, self.depth = outer, self.depth - 1
        node.body = [assignment(DONE, ast.Constant(False)), assignment(VALUE, ours("UNSET")), *body,
                     ast.Return(our_call("returned", named(DONE), named(VALUE), self.line(node)))]
        node.returns = None
        arguments = node.args
        for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]:
            if argument is not None:
                argument.annotation = None
        inner = self.depth > 0
        arguments.defaults = [self.visit(value) if inner else ast.Constant(None) for value in arguments.defaults]
        arguments.kw_defaults = [value and (self.visit(value) if inner else ast.Constant(None)) for value in arguments.kw_defaults]
        node.decorator_list = [our_call("callee", self.visit(word), self.line(word)) for word in node.decorator_list] if inner else []
        return node

    def visit_AnnAssign(self, node):
        if node.value is None:
            return ast.Pass()
        return self.visit(ast.copy_location(ast.Assign([node.target], node.value), node))

    def visit_Assign(self, node):
        value = self.visit(node.value)
        targets = [self.visit(target) for target in node.targets]
        if any(isinstance(target, (ast.Tuple, ast.List)) for target in targets):
            value = our_call("unpacked", value, self.line(node))
        return ast.copy_location(ast.Assign(targets, value), node)

    def visit_AugAssign(self, node):
        value, target = self.visit(node.value), node.target
        if isinstance(target, ast.Name):
            check = ast.Expr(our_call("augmented", named(target.id), self.line(node)))
            return [check, ast.copy_location(ast.AugAssign(target, node.op, value), node)]
        target = self.visit(target)
        if isinstance(target, ast.Subscript):
            target.value = our_call("changing_entries", target.value, self.line(node))
        return ast.copy_location(ast.AugAssign(target, node.op, value), node)

    def visit_Raise(self, node):
        self.generic_visit(node)
        reason = f"'{type(node).__name__.lower()}' stands where a condition decides that changes during a run"
        return [ast.Expr(our_call("effect", self.line(node), ast.Constant(reason))), node]

    visit_Import = visit_ImportFrom = visit_Raise

    def visit_Return(self, node):
        value = self.visit(node.value) if node.value else ast.Constant(None)
        return [assignment(VALUE, value), assignment(DONE, ast.Constant(True))]

    def visit_Break(self, node):
        return [assignment(f"{BROKEN}{self.loop}", ast.Constant(True))]

    def visit_Continue(self, node):
        return [assignment(f"{SKIPPED}{self.loop}", ast.Constant(True))]

    def visit_If(self, node):
        test, inside = self.test(node.test), node.body + node.orelse
        flags = sorted(self.flags(inside))
        names = [*stores(inside), *flags, *([VALUE] if DONE in flags else [])]
        self.forks += 1
        fork, branch = f"_perp_fork{self.forks}", f"_perp_branch{self.forks}"
        here = our_call("Fork", test, texts(names), texts(loads(inside)), self.line(node))
        locals_ = ast.Call(ours("locals"), [], [])

        def method(name, *arguments):
            return ast.Call(ast.Attribute(named(fork), name, ast.Load()), list(arguments), [])

        def assigned(value):
            target = ast.Tuple([named(name, ast.Store()) for name in names], ast.Store())
            return ast.Assign([target], value) if names else ast.Expr(value)

        body, orelse = self.block(node.body), self.block(node.orelse) if node.orelse else [ast.Pass()]
        loop = ast.For(named(branch, ast.Store()), ast.Tuple([ast.Constant(True), ast.Constant(False)], ast.Load()), [
            ast.If(method("skips", named(branch)), [ast.Continue()], []),
            assigned(method("start", named(branch), locals_)),
            ast.If(named(branch), body, orelse),
            ast.Expr(method("end", named(branch), locals_)),
        ], [])
        return [assignment(fork, here), loop, assigned(method("merged"))]

    def _turns(self, node, ends):
        """The statements of a turn; with `ends` where none of these flags is set by the turns before."""
        if ends:
            inner = ast.If(ast.UnaryOp(ast.Not(), our_call("or_", *[named(flag) for flag in ends])), node.body, [])
            body = self.visit_If(ast.copy_location(inner, node))
        else:
            body = self.block(node.body)
        skipped = f"{SKIPPED}{self.loop}"
        return [assignment(skipped, ast.Constant(False)), *body] if skipped in self.flags(node.body) else body

    def _loop(self, node, make):
        """A loop, `make(ends)`, with flags of its own."""
        if node.orelse:
            self.refuse(node, "'else' of a loop cannot be traced; expected an if behind it")
        outer = self.loop
        self.forks += 1
        self.loop, broken = self.forks, f"{BROKEN}{self.forks}"
        flags = self.flags(node.body)
        loop = make(sorted(flags & {broken, DONE}))
        self.loop = outer
        return [*([assignment(broken, ast.Constant(False))] if broken in flags else []), loop]

    def visit_For(self, node):
        iterated, target = our_call("counted", self.visit(node.iter), self.line(node)), node.target

        def make(ends):
            if not ends:
                return ast.For(self.visit(target), iterated, self._turns(node, ends), [])
            turn = f"_perp_turn{self.loop}"  # the turns after a break leave the target as it is
            node.body.insert(0, ast.copy_location(ast.Assign([target], named(turn)), node))
            return ast.For(named(turn, ast.Store()), iterated, self._turns(node, ends), [])

        return self._loop(node, make)

    def visit_While(self, node):
        reason = ast.Constant("the number of turns of a loop depends on it")

        def make(ends):
            test = our_call("known", self.test(node.test), self.line(node), reason)
            if ends:
                ended = our_call("known", our_call("or_", *[named(flag) for flag in ends]), self.line(node), reason)
                test = ast.BoolOp(ast.And(), [ast.UnaryOp(ast.Not(), ended), test])
            return ast.While(test, self._turns(node, []), [])

        return self._loop(node, make)

    def visit_Assert(self, node):
        node.test = our_call("known", self.test(node.test), self.line(node), ast.Constant("an assertion depends on it"))
        return node

    # Expressions ---------------------------------------------------------------------------------------------

    def test(self, node):
        """An expression of which only the truth counts."""
        if hasattr(node, "is_ours"):
            return node
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return our_call("not_", self.test(node.operand))
        if isinstance(node, ast.BoolOp):
            parts = [delayed(self.test(value)) for value in node.values]
            return our_call("both" if isinstance(node.op, ast.And) else "either", self.line(node), *parts)
        return _placed(our_call("truth", self.visit(node), self.line(node)), node)

    def visit_IfExp(self, node):
        test, a, b = self.test(node.test), self.visit(node.body), self.visit(node.orelse)
        return our_call("choose", test, delayed(a), delayed(b), self.line(node))

    def visit_BoolOp(self, node):
        parts = [delayed(self.visit(value)) for value in node.values]
        return our_call("both" if isinstance(node.op, ast.And) else "either", self.line(node), *parts)

    def visit_UnaryOp(self, node):
        if isinstance(node.op, ast.Not):
            return our_call("not_", self.test(node.operand))
        self.generic_visit(node)
        return node

    def visit_BinOp(self, node):
        return our_call("binary", ast.Constant(type(node.op).__name__), self.visit(node.left), self.visit(node.right))

    def visit_Compare(self, node):
        words = ast.Tuple([ast.Constant(type(op).__name__) for op in node.ops], ast.Load())
        others = [delayed(self.visit(value)) for value in node.comparators]
        return our_call("chain", self.line(node), words, self.visit(node.left), *others)

    def visit_Name(self, node):
        return our_call("defined", node) if isinstance(node.ctx, ast.Load) and node.id in self.perhaps else node

    def visit_Subscript(self, node):
        if isinstance(node.ctx, ast.Load):
            return our_call("item", self.visit(node.value), self._key(node.slice), self.line(node))
        node.value, node.slice = our_call("changing", self.visit(node.value), self.line(node)), self.visit(node.slice)
        return node

    def _key(self, node):
        """An index, slices as values."""
        if isinstance(node, ast.Tuple):
            return ast.Tuple([self._key(part) for part in node.elts], ast.Load())
        if isinstance(node, ast.Slice):
            return our_call("slice", *[ast.Constant(None) if part is None else self.visit(part) for part in (node.lower, node.upper, node.step)])
        return self.visit(node)

    def visit_Attribute(self, node):
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Store):
            node.value = our_call("storing", node.value, self.line(node))
        return node

    def visit_Starred(self, node):
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load):
            node.value = our_call("unpacked", node.value, self.line(node))
        return node

    def visit_Dict(self, node):
        self.generic_visit(node)
        return our_call("made", node)

    visit_Set = visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_Dict

    def visit_List(self, node):
        self.generic_visit(node)
        return our_call("made", node) if isinstance(node.ctx, ast.Load) else node

    def visit_Call(self, node):
        if isinstance(node.func, ast.Name) and node.func.id in ("locals", "globals", "vars", "exec", "eval", "super"):
            self.refuse(node, f"'{node.func.id}' cannot be traced")
        self.generic_visit(node)
        return ast.Call(our_call("callee", node.func, self.line(node)), node.args, node.keywords)

    def visit_comprehension(self, node):
        place = self.line(node.iter)
        reason = ast.Constant("the length of a list depends on it")
        node.target = self.visit(node.target)
        node.ifs = [our_call("known", self.test(test), place, reason) for test in node.ifs]
        node.iter = our_call("counted", self.visit(node.iter), place)
        return node


@functools.lru_cache(maxsize=256)
def _code(function):
    node, file = parsed(function)
    new = _Rewriter(file).visit(node)
    free = function.__code__.co_freevars
    empty = ast.arguments([], [ast.arg(name) for name in free], None, [], [], None, [])
    factory = ast.copy_location(ast.FunctionDef("_perp_factory", empty, [new, ast.Return(named(new.name))], []), node)
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
    if f.__code__ in effects.rewritten or hasattr(f, "_perp_of"):
        return f
    _code(f)  # what cannot be rewritten is said now

    @functools.wraps(f)
    def call(*arguments, **keywords):
        try:
            with effects.within():
                return _built(f)(*arguments, **keywords)
        except Exception as error:
            if isinstance(error, (TraceError, TypeError, IndexError)) or hasattr(error, "is_decided"):
                raise merging.with_place(error) from None
            raise

    call._perp_of = f
    return call


def _built(f):
    """The new function, with the globals and the closure that f has now."""
    scope, code = {**f.__globals__, "_perp": merging}, _code(f)
    effects.register(code)
    exec(code, scope)  # noqa: S102
    try:
        cells = [cell.cell_contents for cell in f.__closure__ or ()]
    except ValueError:
        raise TraceError(f"{f.__qualname__} uses a name that has no value yet") from None
    new = scope["_perp_factory"](*cells)
    new.__defaults__, new.__kwdefaults__ = f.__defaults__, f.__kwdefaults__
    return new
