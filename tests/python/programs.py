"""Random right-hand sides, as text of Python: what test_traced_programs.py traces and calls."""

import random

HEAD = '''
import functools
import numpy as np

SHARED = [0.0, 0.0]


class Box:
    def __init__(self, value):
        self.value = value

    def put(self, value):
        self.value = value

    @property
    def twice(self):
        return 2 * self.value


def store(values, value):
    values[0] = value
    return values[0] + 1.0


def lower(v):
    if v < 0.3:
        return -v
    return v * 0.5


def scaled(g):
    @functools.wraps(g)
    def call(*arguments):
        return 1.5 * g(*arguments)
    return call


def powers(v, n=2, *more, scale=1.0):
    return 0.5 * v * powers(v, n - 1) * scale if n > 0 else 1.0 + sum(more)


def spread(values, v):
    values[0] += v
    if v > 0.5:
        values[-1] = v
    return values


class Sloped:
    slope = 0.5

    def __call__(self, v):
        return self.slope * v if v > 0 else v


sloped = Sloped()


@scaled
def bent(v):
    return v if v > 0.2 else 0.2 - v


'''


class Program:
    """One function f(t, x) of three states; a plain one has no conditions, so that it is traced as it is."""

    def __init__(self, seed, is_plain=False):
        self.is_plain = is_plain
        self.random = random.Random(seed)
        self.lines, self.count = [], 0

    def text(self):
        scope = {"num": ["a"], "read": ["t"], "list": {}, "array": ["x"], "dict": [], "call": ["abs"] if self.is_plain else ["lower", "bent", "powers", "sloped"], "flag": [], "matrix": [], "box": [], "iter": []}
        self.lines = ["def f(t, x):"]
        self.put(1, f"a = {self.constant()}")
        self.put(1, f"b = {self.number(scope)}")
        scope["num"].append("b")
        for _ in range(self.random.randint(5, 10) if self.is_plain else self.random.randint(2, 5)):
            self.statement(scope, 1, 2)
        everything = [*scope["num"], *(f"sum({name})" for name in [*scope["list"], *scope["array"]]), *(f"{name}.sum()" for name in scope["matrix"]),
                      *(f"sum({name}.values())" for name in scope["dict"]), *(f"{name}.value" for name in scope["box"]),
                      *(f"(1.0 if {name} else 0.25)" for name in scope["flag"])]
        result = [f"{self.number(scope, 1)} + {self.random.choice(scope['num'])}", " + ".join(everything), self.number(scope, 2)]
        self.put(1, self.random.choice(["return [{}, {}, {}]", "return np.array([{}, {}, {}])", "return ({}, {}, {})"]).format(*result))
        return HEAD + "\n".join(self.lines) + "\n"

    def put(self, depth, text):
        self.lines.append("    " * depth + text)

    def new(self, kind):
        self.count += 1
        return f"{kind}{self.count}"

    # Expressions -----------------------------------------------------------------------------------------------

    def constant(self):
        return self.random.choice(["0.5", "1.0", "2.0", "-1.5", "0.25", "1", "3"])

    def leaf(self, scope):
        r = self.random
        choices = [self.constant, lambda: f"x[{r.randrange(3)}]", lambda: r.choice(scope["num"] + scope["read"])]
        if scope["list"]:
            choices.append(lambda: f"{r.choice(list(scope['list']))}[{r.choice([0, 0, 1, -1])}]")
        if len(scope["array"]) > 1:
            choices.append(lambda: f"{r.choice(scope['array'])}[{r.randrange(2)}]")
        if scope["dict"]:
            choices.append(lambda: f"{r.choice(scope['dict'])}['{r.choice('uv')}']")
        if scope["box"]:
            choices.append(lambda: f"{r.choice(scope['box'])}.{r.choice(['value', 'value', 'twice'])}")
        return r.choice(choices)()

    def number(self, scope, depth=2):
        r = self.random
        if depth == 0 or r.random() < 0.25:
            return self.leaf(scope)

        def part():
            return self.number(scope, depth - 1)

        array = r.choice(scope["array"])
        if self.is_plain:
            return r.choice(self.plain(scope, array, part))()
        choices = [lambda: f"({part()} {r.choice('+-*')} {part()})"] * 4 + [
            lambda: f"abs({part()})", lambda: f"max({part()}, {part()})", lambda: f"min({part()}, {part()}, 1.0)",
            lambda: f"({part()} if {self.test(scope, 1)} else {part()})", lambda: f"{r.choice(scope['call'])}({part()})",
            lambda: f"np.sin({part()})", lambda: f"({part()}) ** 2", lambda: f"({part()} / (2.0 + abs({part()})))",
            lambda: f"{array}.sum()", lambda: f"({array} @ {array})", lambda: f"np.where({self.test(scope, 0)}, {part()}, {part()})",
            lambda: f"({self.comparison(scope)}) * {part()}", lambda: f"np.maximum({array}, {part()}).sum()",
            lambda: f"sum([{part()}, {part()}])", lambda: f"sum(v * {self.constant()} for v in {array})",
            lambda: f"np.clip({part()}, -1.0, 1.0)", lambda: f"({array} * {part()} + {array})[0]", lambda: f"np.dot({array}[:2], [1.0, -0.5])",
            lambda: f"float({part()})", lambda: f"sum([w for w in [1.0, {part()}, 2.0]][1:])", lambda: f"np.array([{part()}, {part()}]).mean()",
            lambda: f"np.where({array} > {self.constant()}, {array}, {self.constant()}).sum()", lambda: f"len({array})",
            lambda: f"(lambda v, w=1.0: v if v > w else -v)({part()})", lambda: f"powers({part()}, {r.randint(0, 2)}, scale={self.constant()})",
            lambda: f"sum([v if v > 0.2 else 1.0 for v in {array}])", lambda: f"max(v * v for v in {array})", lambda: f"({part()}, {part()})[{r.randrange(2)}]",
            lambda: f"spread([{part()}, 1.0], {part()})[-1]", lambda: f"spread(np.array([{part()}, 1.0]), {part()}).sum()",
            lambda: f"functools.reduce(lambda p, q: max(p, q), {array})", lambda: f"np.array({array})[::-1][0]", lambda: f"np.hstack([{array}, {part()}])[-1]",
            lambda: f"dict(u={part()}, v=1.0)[{r.choice(['chr(117)', repr('v')])}]", lambda: f"[{part()}, {part()}][int({r.choice(['True', 'False'])})]",
        ]
        if scope["flag"]:
            choices += [lambda: f"({part()} if {r.choice(scope['flag'])} else {part()})", lambda: f"{r.choice(scope['flag'])} * {part()}"] * 2
        if scope["matrix"]:
            name = r.choice(scope["matrix"])
            choices += [lambda: f"{name}[{r.randrange(2)}, {r.randrange(2)}]", lambda: f"({name} @ [{part()}, 1.0])[0]", lambda: f"{name}.T[1].sum()", lambda: f"np.trace({name})"]
        if scope["list"]:
            name = r.choice(list(scope["list"]))
            choices += [lambda: f"sum({name})", lambda: f"len({name})", lambda: f"max({name})", lambda: f"store({name}, {part()})"]
        if scope["iter"]:
            choices += [lambda: f"next({r.choice(scope['iter'])}, 0.0)"]
        return r.choice(choices)()

    def plain(self, scope, array, part):
        """Expressions without conditions."""
        r = self.random
        choices = [lambda: f"({part()} {r.choice('+-*')} {part()})"] * 4 + [
            lambda: f"np.{r.choice(['sin', 'cos', 'abs', 'square', 'tanh'])}({part()})", lambda: f"abs({part()})", lambda: f"({part()}) ** 2",
            lambda: f"({array} @ {array})", lambda: f"{array}.{r.choice(['sum', 'mean', 'prod', 'max', 'min', 'std'])}()", lambda: f"np.{r.choice(['sum', 'max', 'mean'])}({array})",
            lambda: f"np.cumsum({array})[1]", lambda: f"np.outer({array}, {array}).sum()", lambda: f"np.linalg.norm({array})", lambda: f"np.diff({array}).sum()",
            lambda: f"np.maximum({array}, {part()}).sum()", lambda: f"np.where({array} > {self.constant()}, {array}, {part()}).sum()",
            lambda: f"np.clip({array}, -1.0, {self.constant()})[0]", lambda: f"np.concatenate([{array}, {array} * 2.0]).sum()", lambda: f"np.sin({array}).sum()",
            lambda: f"(({array} > 0) & ({array} < 1.0)).sum()", lambda: f"np.interp({part()}, [0.0, 1.0, 3.0], [1.0, 2.0, -1.0])", lambda: f"({array}[::-1] * {array}).sum()",
            lambda: f"{array}.reshape(-1, 1).sum(axis=0)[0]", lambda: f"np.dot({array}[:2], [[1.0, 2.0], [0.5, 1.0]])[1]", lambda: f"np.zeros_like({array})[0]",
            lambda: f"({array} / (2.0 + {array} ** 2)).sum()", lambda: f"np.array([{part()}, {part()}])[1]", lambda: f"np.sign({array}).sum()", lambda: f"{array}[[1, 0]][0]",
            lambda: f"(-{array}).astype(float)[0]", lambda: f"np.hypot({part()}, 1.0)", lambda: f"np.stack([{array}, {array}]).T[1].sum()", lambda: f"sum({array})",
            lambda: f"np.roll({array}, 1)[0]", lambda: "float(np.array([1.0, 2.0])[1])", lambda: f"({array} > {self.constant()}).any() * {part()}",
            lambda: f"np.full_like({array}, {part()})[0]", lambda: f"np.vstack([{array}, {array}])[1, 0]", lambda: f"np.add.outer({array}, {array})[0, 1]",
            lambda: f"np.kron({array}, [1.0, 2.0])[1]", lambda: f"np.exp(-np.abs({part()}))", lambda: f"np.array({array}.tolist()).sum()", lambda: f"(np.ones(3) * {part()}).sum()",
        ]
        if scope["list"]:
            choices += [lambda: f"sum({r.choice(list(scope['list']))})"]
        return choices

    def comparison(self, scope):
        r = self.random
        left, right = self.number(scope, r.choice([0, 0, 1])), self.constant()
        choices = [f"{left} {r.choice(['<', '<=', '>', '>='])} {right}"] * 4 + [f"{right} < {left} < {self.number(scope, 0)}"]
        return r.choice(choices)

    def test(self, scope, depth):
        r = self.random
        if depth == 0 or r.random() < 0.5:
            return self.comparison(scope)
        parts = [self.test(scope, depth - 1) for _ in range(2)]
        choices = [f"({parts[0]} and {parts[1]})", f"({parts[0]} or {parts[1]})", f"not {parts[0]}", f"({parts[0]}) == ({parts[1]})",
                   f"any(v > {self.constant()} for v in {r.choice(scope['array'])})", f"isinstance(x, np.ndarray) and {parts[0]}", f"{r.choice(['True', 'len(x) > 2'])} and {parts[1]}",
                   f"all([{parts[0]}, {parts[1]}])", f"(({parts[0]}) & ({parts[1]}))", f"({parts[0]}) != ({parts[1]})", f"np.any({r.choice(scope['array'])} > 0.5)"]
        if scope["flag"]:
            choices += [r.choice(scope["flag"]), f"{r.choice(scope['flag'])} and {parts[0]}"]
        return r.choice(choices)

    # Statements ------------------------------------------------------------------------------------------------

    def block(self, scope, depth, size, inside=""):
        """Statements, and the names that they make known in a scope of their own."""
        mine = {kind: dict(names) if isinstance(names, dict) else list(names) for kind, names in scope.items()}
        for _ in range(self.random.randint(1, 2)):
            self.statement(mine, depth, size, inside)

    def statement(self, scope, depth, size, inside=""):
        r = self.random
        choices = [self.assign] * 4 + [self.change] * 5 + [self.make] * 3
        if self.is_plain:
            choices += [self.known] if depth == 1 else []
            return r.choice(choices)(scope, depth, size, inside)
        if size > 0:
            choices += [self.branch] * 6 + [self.loop] * 3 + [self.turns, self.inner]
        if depth > 1:
            choices += [self.leave]
            if inside:
                choices += [self.jump] * 3
        r.choice(choices)(scope, depth, size, inside)

    def assign(self, scope, depth, size, inside):
        r = self.random
        known = scope["num"]
        choices = [f"{r.choice(known)} = {self.number(scope)}", f"{r.choice(known)} += {self.number(scope, 1)}",
                   f"{', '.join(r.sample(known, 2))} = {self.number(scope, 1)}, {self.number(scope, 1)}" if len(known) > 1 else "a -= 0.5"]
        self.put(depth, r.choice(choices))

    def make(self, scope, depth, size, inside):
        r = self.random
        kind = r.choice(["list", "array", "array", "dict", "num", "alias", "box", "iter", "view", "flag", "flag", "matrix", "chosen"])
        kind = "num" if self.is_plain and kind in ("flag", "chosen", "iter") else kind
        name = self.new(kind)
        if kind == "list":
            self.put(depth, f"{name} = [{self.number(scope, 1)}, {self.number(scope, 1)}]")
            scope["list"][name] = 2
        elif kind == "array":
            array = r.choice(scope["array"])
            self.put(depth, f"{name} = " + r.choice([
                "np.zeros(3)", "np.ones(2)", f"np.array([{self.number(scope, 1)}, 1.0, 2.0])", f"{array}.copy()", f"{array} * 2.0", f"np.zeros_like({array})",
                f"np.concatenate([{array}, {array}])", "np.array([1, 2, 3])", "np.zeros(2, dtype=int)", f"np.full(2, {self.number(scope, 1)})", f"np.asarray({array})"]))
            scope["array"].append(name)
        elif kind == "flag":
            self.put(depth, f"{name} = {self.test(scope, 1)}")
            scope["flag"].append(name)
        elif kind == "matrix":
            self.put(depth, f"{name} = " + r.choice([f"np.array([[{self.number(scope, 1)}, 1.0], [0.5, {self.number(scope, 0)}]])", "np.zeros((2, 2))", "np.eye(2)",
                                                     f"np.outer({r.choice(scope['array'])}[:2], [1.0, 2.0])"]))
            scope["matrix"].append(name)
        elif kind == "chosen":
            array = r.choice(scope["array"])
            self.put(depth, f"{name} = {array} {r.choice(['+ 1.0', '', '.copy()'])} if {self.test(scope, 1)} else {r.choice(scope['array'])} * 2.0")
            scope["array"].append(name)
        elif kind == "view":
            self.put(depth, f"{name} = {r.choice(scope['array'])}{r.choice(['[:2]', '[::-1]', '[1:]', '[[1, 0]]', '.reshape(-1)'])}")
            scope["array"].append(name)
        elif kind == "dict":
            self.put(depth, f"{name} = {{'u': {self.number(scope, 1)}, 'v': 1.0}}")
            scope["dict"].append(name)
        elif kind == "alias" and scope["list"]:
            other = r.choice(list(scope["list"]))
            self.put(depth, f"{name} = {r.choice([other, other, other + '[:]', other + ' + [1.0]', f'[{other}, {other}][0]'])}")
            scope["list"][name] = 2
        elif kind == "box":
            self.put(depth, f"{name} = Box({self.number(scope, 1)})")
            scope["box"].append(name)
        elif kind == "iter":
            self.put(depth, f"{name} = iter([0.5, {self.number(scope, 1)}, 1.5])")
            scope["iter"].append(name)
        else:
            self.put(depth, f"{name} = {self.number(scope)}")
            scope["num"].append(name)

    def change(self, scope, depth, size, inside):
        """Something is changed in its place."""
        r = self.random
        value = self.number(scope, 1)
        array = r.choice(scope["array"])
        choices = [f"{array}[{r.randrange(2)}] = {value}", f"{array}[{r.randrange(2)}] += {value}", f"{array} {r.choice('+*-')}= {self.constant()}",
                   f"{array}[:2] = {value}", f"{array}[{array} > {self.constant()}] = {value}", f"SHARED[0] = {value}", f"{array}.fill({value})"]
        for name in scope["list"]:
            choices += [f"{name}[0] = {value}", f"{name}[-1] *= 0.5", f"{name}.append({value})", f"{name} += [{value}]", f"{name}.pop()",
                        f"{name}.insert(0, {value})", f"store({name}, {value})", f"{name} = [{value}, 1.0]", f"{name}.reverse()", f"{name}[:] = [1.0, {value}]"]
        for name in scope["dict"]:
            choices += [f"{name}['u'] = {value}", f"{name}.update(v={value})", f"{name} = {{'u': 1.0, 'v': {value}}}"]
        for name in scope["box"]:
            choices += [f"{name}.value = {value}", f"{name}.put({value})", f"setattr({name}, 'value', {value})"]
        for name in scope["matrix"]:
            choices += [f"{name}[0, 1] = {value}", f"{name}[1] += {value}", f"{name}[:, 0] = {value}", f"{name} *= 2.0", f"{name} = {name}.T"]
        for name in scope["flag"]:
            choices += [f"{name} = {self.test(scope, 0)}", f"{name} = not {name}"]
        choices += [f"spread({array}, {value})"] if not self.is_plain else []
        for name in scope["array"][1:]:
            choices += [f"{name} = {name} + {value}", f"{name} = {name}[::-1]", f"{name} = {array}"]
        self.put(depth, r.choice(choices))

    def branch(self, scope, depth, size, inside):
        self.put(depth, f"if {self.test(scope, 2)}:")
        self.block(scope, depth + 1, size - 1, inside)
        if self.random.random() < 0.3:
            self.put(depth, f"elif {self.test(scope, 1)}:")
            self.block(scope, depth + 1, size - 1, inside)
        if self.random.random() < 0.6:
            self.put(depth, "else:")
            self.block(scope, depth + 1, size - 1, inside)

    def loop(self, scope, depth, size, inside):
        r = self.random
        name, other = self.new("k"), self.new("v")
        array = r.choice(scope["array"])
        head = r.choice([f"for {name} in range({r.randint(1, 3)}):", f"for {name} in [0.5, {self.number(scope, 1)}, 1.5]:", f"for {name} in {array}:",
                         f"for {other}, {name} in enumerate({array}):", f"for {name}, {other} in zip({array}, [1.0, 2.0]):"])
        self.put(depth, head)
        mine = {**scope, "num": [*scope["num"], name]}
        self.block(mine, depth + 1, size - 1, "for")
        if r.random() < 0.5:
            self.jump(mine, depth + 1, size, "for")
            self.assign(mine, depth + 1, size, "for")
        scope["num"].append(name)

    def known(self, scope, depth, size, inside):
        name = self.new("k")
        self.put(depth, f"for {name} in range({self.random.randint(1, 3)}):")
        self.block({**scope, "read": [*scope["read"], name]}, depth + 1, 0)

    def turns(self, scope, depth, size, inside):
        name = self.new("n")
        self.put(depth, f"{name} = 0")
        self.put(depth, f"while {name} < {self.random.randint(1, 3)}:")
        self.put(depth + 1, f"{name} += 1")
        self.block({**scope, "read": [*scope["read"], name]}, depth + 1, size - 1)

    def jump(self, scope, depth, size, inside):
        self.put(depth, f"if {self.test(scope, 1)}:")
        self.put(depth + 1, self.random.choice(["break", "continue"]))

    def leave(self, scope, depth, size, inside):
        self.put(depth, f"if {self.test(scope, 1)}:")
        self.put(depth + 1, f"return [{self.number(scope, 1)}, {self.number(scope, 1)}, {self.number(scope, 0)}]")

    def inner(self, scope, depth, size, inside):
        r = self.random
        name = self.new("g")
        self.put(depth, f"def {name}(v{', w=2.0' if r.random() < 0.3 else ''}):")
        mine = {**scope, "num": ["v"], "read": [*scope["read"], *scope["num"]], "list": dict(scope["list"]), "call": ["lower"]}
        if scope["list"] and r.random() < 0.4:
            self.put(depth + 1, f"{r.choice(list(scope['list']))}[0] = v")
        self.put(depth + 1, f"if {self.test(mine, 1)}:")
        self.put(depth + 2, f"return {self.number(mine, 1)}")
        self.put(depth + 1, f"return {self.number(mine, 1)}")
        scope["call"].append(name)
