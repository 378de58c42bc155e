"""Pieces of syntax trees: what statements bind and read, how they jump, and calls that are put into them."""

import ast

DONE, VALUE, BROKEN, SKIPPED = "_perp_done", "_perp_value", "_perp_broken", "_perp_skipped"


def named(name, context=None):
    return ast.Name(name, context or ast.Load())


def our_call(function, *arguments):
    """A call of `merging`, which is not rewritten itself."""
    node = ast.Call(ours(function), list(arguments), [])
    node.is_ours = True
    return node


def ours(name):
    node = ast.Attribute(named("_perp"), name, ast.Load())
    node.is_ours = True
    return node


def assignment(name, value):
    return ast.Assign([named(name, ast.Store())], value)


class _Jumps(ast.NodeVisitor):
    """Which flags may statements set? Loops keep their own, functions all."""

    def __init__(self):
        self.found = set()

    def visit_Return(self, node):
        self.found.add(DONE)

    def visit_Break(self, node):
        self.found.add(BROKEN)

    def visit_Continue(self, node):
        self.found.add(SKIPPED)

    def visit_FunctionDef(self, node):
        pass

    visit_Lambda = visit_FunctionDef

    def visit_For(self, node):
        inner = jumps(node.body + node.orelse)
        self.found |= inner & {DONE}

    visit_While = visit_For


def _found(visitor, statements):
    for statement in statements:
        visitor.visit(statement)
    return visitor.found


def jumps(statements):
    return _found(_Jumps(), statements)


class _Stores(ast.NodeVisitor):
    """Names that statements bind."""

    def __init__(self):
        self.found = {}

    def visit_Name(self, node):
        if isinstance(node.ctx, ast.Store):
            self.found[node.id] = None

    def visit_FunctionDef(self, node):
        self.found[node.name] = None

    def visit_Import(self, node):
        for alias in node.names:
            self.found[alias.asname or alias.name.partition(".")[0]] = None

    visit_ImportFrom = visit_Import

    def visit_ListComp(self, node):  # its names are its own
        pass

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_Lambda = visit_ListComp


def stores(statements):
    return list(_found(_Stores(), statements))


def texts(names):
    return ast.Tuple([ast.Constant(name) for name in names], ast.Load())


def decided_names(function):
    """Names that get a value within an if or a loop: behind it they may have none."""
    inner = [node for node in ast.walk(function) if isinstance(node, (ast.If, ast.For, ast.While))]
    return set(stores([statement for node in inner for statement in ast.iter_child_nodes(node)]))


class _Loads(ast.NodeVisitor):
    """Names that statements read."""

    def __init__(self):
        self.found = {}

    def visit_Name(self, node):
        if isinstance(node.ctx, ast.Load):
            self.found[node.id] = None


def loads(statements):
    return list(_found(_Loads(), statements))


def delayed(value):
    empty = ast.arguments([], [], None, [], [], None, [])
    return ast.Lambda(empty, value)
